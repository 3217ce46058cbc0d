//! Where `get` puts what it copies: what is there already, and what is never replaced.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked, has_fuse};
use keyway_testkit::{require_root, require_tool};
use std::fs;
use std::os::unix::fs::FileExt;

const OPEN: &str = "--password-file @pw --pim 1 --hash sha512";

/// A volume with a FAT file system, which `keyway create` makes.
fn fat(cli: &Cli) {
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @volume --size 12M --quick --filesystem fat --password-file @pw --pim 1");
}

/// The volume that is read from is somebody's whole disk: a file in it that happens to have its name does not replace it.
#[test]
fn no_copy_replaces_a_volume() {
    let cli = Cli::new();
    fat(&cli);
    for name in ["letter", "volume", "w"] {
        fs::write(cli.path(name).with_extension("in"), name).unwrap();
        cli.ends(0, &format!("put @volume @{name}.in /{name} {OPEN}"));
    }
    cli.volume("w");
    fs::create_dir(cli.path("out")).unwrap();
    fs::write(cli.path("out/letter"), "here").unwrap();
    fs::hard_link(cli.path("volume"), cli.path("out/volume")).unwrap();
    std::os::unix::fs::symlink(cli.path("volume"), cli.path("link")).unwrap();
    let before = fs::read(cli.path("volume")).unwrap();
    for words in [
        "get @volume /letter @volume",
        "get @link /letter @volume",
        "get @volume /letter @link",
        "get @volume /letter @out/volume",
        "get @volume /volume @.",
        "get @volume / @out",
        "get @volume /* @out",
        "get @volume /**/vol* @out",
    ] {
        cli.fails(1, "exists", "is the volume itself", &format!("{words} --force {OPEN}"));
        assert!(fs::read(cli.path("volume")).unwrap() == before, "{words}: it was replaced");
        assert_eq!(
            fs::read(cli.path("out/letter")).unwrap(),
            b"here",
            "{words}: something was written before"
        );
    }
    assert!(cli.path("link").is_symlink());
    if has_fuse() {
        cli.ends(0, "open @w --attach fuse --password-file @pw --pim 1 --read-only");
        cli.fails(6, "in-use", "is a volume that is open", &format!("get @volume /w @w --force {OPEN}"));
    }
    cli.ends(0, &format!("get @volume /letter @out/letter --force {OPEN}"));
    assert_eq!(fs::read(cli.path("out/letter")).unwrap(), b"letter");
    // What is no file stays, and nobody is told to add what would not help.
    checked(std::process::Command::new("mkfifo").arg(cli.path("out/w")));
    for words in ["get @volume /w @out/w", "get @volume /w @out", "get @volume /w @out --force"] {
        let refused = cli.json(1, &format!("{words} {OPEN}"));
        let (kind, hint) = (&refused["error"]["kind"], refused["error"]["hint"].as_str().unwrap_or_default());
        assert!(kind == "exists" && !hint.contains("--force"), "{words}: {refused}");
    }
}

/// What was interrupted goes on under the name that it got, and is not copied once more into it.
#[test]
fn a_copy_under_another_name_goes_on() {
    let cli = Cli::new();
    fat(&cli);
    fs::create_dir_all(cli.path("photos/2024")).unwrap();
    for name in ["photos/a", "photos/b", "photos/2024/c"] {
        fs::write(cli.path(name), name).unwrap();
    }
    cli.ends(0, &format!("put @volume @photos {OPEN}"));
    for (from, files) in [("photos", 3), ("/", 3)] {
        let words = format!("get @volume {from} @new {OPEN}");
        cli.ends(0, &words);
        let top = if from == "/" { "new/photos" } else { "new" };
        // As it is when it was killed in the middle.
        fs::remove_file(cli.path(top).join("2024/c")).unwrap();
        fs::write(cli.path(top).join(".keyway-put-0123456789abcdef"), "half").unwrap();
        let more = cli.json(0, &format!("{words} --skip-existing"));
        assert_eq!((&more["files"], &more["kept"]), (&1.into(), &(files - 1).into()), "{more}");
        assert_eq!(fs::read(cli.path(top).join("2024/c")).unwrap(), b"photos/2024/c");
        assert!(!cli.path("new/photos/photos").exists() && (from == "/" || !cli.path("new/photos").exists()));
        fs::remove_dir_all(cli.path("new")).unwrap();
    }
    // A folder that holds something else gets it inside, as ever.
    fs::create_dir(cli.path("out")).unwrap();
    fs::write(cli.path("out/other"), "other").unwrap();
    cli.ends(0, &format!("get @volume photos @out --skip-existing {OPEN}"));
    assert!(cli.path("out/photos/2024/c").exists());
}

/// As cp has it: several, and where they go as the last word.
#[test]
fn several_are_copied_into_a_folder_that_is_there() {
    let cli = Cli::new();
    fat(&cli);
    fs::create_dir(cli.path("photos")).unwrap();
    for name in ["photos/a.jpg", "b", "c"] {
        fs::write(cli.path(name), name).unwrap();
    }
    cli.ends(0, &format!("put @volume @photos @b @c / {OPEN}"));
    // Two words are a path and its new name, as ever.
    cli.ends(0, &format!("get @volume b @new {OPEN}"));
    assert_eq!(fs::read(cli.path("new")).unwrap(), b"b");
    let words = format!("get @volume b photos /c @out {OPEN}");
    cli.fails(1, "not-suitable", "mkdir -p", &words);
    cli.fails(1, "not-suitable", "", &words.replace("@out", "-"));
    fs::create_dir(cli.path("out")).unwrap();
    // One that is not there is known before anything is written, and so is one that is in the way.
    cli.fails(1, "not-found", "keyway ls", &words.replace("/c", "/none"));
    fs::write(cli.path("out/c"), "mine").unwrap();
    cli.fails(1, "exists", "--force", &words);
    cli.fails(1, "exists", "two of them would be", &words.replace("/c", "B").replace(" b ", " b /b "));
    assert_eq!(fs::read_dir(cli.path("out")).unwrap().count(), 1);
    let got = cli.json(0, &format!("{words} --force"));
    assert_eq!(
        (&got["files"], &got["folders"], &got["path"]),
        (&3.into(), &1.into(), &serde_json::Value::Null)
    );
    assert_eq!(got["to"].as_str(), cli.path("out").to_str());
    for (name, content) in [("out/b", "b"), ("out/photos/a.jpg", "photos/a.jpg"), ("out/c", "c")] {
        assert_eq!(fs::read(cli.path(name)).unwrap(), content.as_bytes());
    }
    let more = cli.json(0, &format!("get @volume photos/*.jpg b @out --skip-existing {OPEN}"));
    assert_eq!((&more["files"], &more["kept"]), (&1.into(), &1.into()), "{more}");
    assert!(cli.path("out/a.jpg").exists());
}

/// A table of noise has no free cluster, and is not full.
#[test]
fn a_damaged_fat_is_told_as_that() {
    let cli = Cli::new();
    fat(&cli);
    fs::write(cli.path("letter"), vec![7; 100_000]).unwrap();
    cli.ends(0, &format!("put @volume @letter {OPEN}"));
    let plain = cli.ends(0, &format!("cat @volume {OPEN}")).stdout;
    let field = |at: usize| usize::from(u16::from_le_bytes([plain[at], plain[at + 1]]));
    // Where both tables lie (Microsoft's FAT specification).
    let tables = field(14) * field(11)..(field(14) + usize::from(plain[16]) * field(22)) * field(11);
    let first = tables.start..tables.start + field(22) * field(11);
    if !has_fuse() {
        return;
    }
    for (range, byte) in [(tables.clone(), 0xa5), (tables, 0), (first, 0xff)] {
        let open = cli.json(0, &format!("open @volume --attach fuse {OPEN}"));
        let to = open["device"].as_str().or(open["file"].as_str()).expect("somewhere");
        let to = fs::OpenOptions::new().write(true).open(to).unwrap();
        to.write_all_at(&plain, 0).unwrap();
        let begin = (range.start + 8) as u64;
        let from = if byte == 0xff { begin } else { range.start as u64 };
        to.write_all_at(&vec![byte; range.len() - (from - range.start as u64) as usize], from).unwrap();
        to.sync_all().unwrap();
        drop(to);
        cli.ends(0, "close @volume");
        for words in
            [format!("put @volume @letter /new {OPEN}"), format!("put @volume @letter --dry-run /new {OPEN}")]
        {
            cli.fails(4, "damaged-filesystem", "then fsck.fat", &words);
        }
    }
    cli.fails(4, "damaged-filesystem", "then fsck.fat", &format!("get @volume letter @out {OPEN}"));
    assert!(!cli.path("out").exists());
}

/// Nothing here repairs an NTFS.
#[test]
fn a_damaged_ntfs_is_for_windows_to_repair() {
    if !has_fuse() || require_tool("mkfs.ntfs").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, &format!("create @volume --size 12M --quick --filesystem ntfs {OPEN}"));
    let plain = cli.ends(0, &format!("cat @volume --length 512 {OPEN}")).stdout;
    // Its root folder is the record 5 of the table that begins at this cluster.
    let cluster = u64::from(plain[13]) * u64::from(u16::from_le_bytes([plain[11], plain[12]]));
    let table = u64::from_le_bytes(plain[48..56].try_into().unwrap()) * cluster;
    let open = cli.json(0, &format!("open @volume --attach fuse {OPEN}"));
    let to = open["device"].as_str().or(open["file"].as_str()).expect("somewhere");
    let to = fs::OpenOptions::new().write(true).open(to).unwrap();
    to.write_all_at(&[0xa5; 1024], table + 5 * 1024).unwrap();
    to.sync_all().unwrap();
    drop(to);
    cli.ends(0, "close @volume");
    for words in ["ls @volume", "get @volume /a @a", "get @volume / @all"] {
        cli.fails(4, "damaged-filesystem", "let Windows repair it (chkdsk /f)", &format!("{words} {OPEN}"));
    }
}

#[test]
fn what_would_be_copied_is_told_and_not_copied() {
    let cli = Cli::new();
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    fat(&cli);
    fs::create_dir(cli.path("photos")).unwrap();
    for name in ["a.jpg", "b.jpg"] {
        fs::write(cli.path("photos").join(name), "12345").unwrap();
    }
    cli.ends(0, &format!("put @volume @photos {OPEN}"));
    for (words, found) in [
        ("/photos @out", (2, 0, 10)),
        ("/photos/a.jpg @new.jpg", (1, 0, 5)),
        ("/photos/*.jpg @out", (2, 0, 10)),
        ("/ @out", (2, 1, 10)),
        ("/photos/a.jpg -", (1, 0, 5)),
    ] {
        let told = cli.json(0, &format!("get @volume {words} --dry-run {OPEN}"));
        let plan = &told["plan"];
        let counted = ["files", "folders", "bytes"].map(|name| plan[name].as_u64().unwrap());
        assert_eq!((counted[0], counted[1], counted[2]), found, "{words}: {told}");
    }
    let out = String::from_utf8(cli.ends(0, &format!("get @volume /photos @out --dry-run {OPEN}")).stdout);
    assert!(out.unwrap().starts_with("Nothing was done. This would be:\n"));
    assert!(!cli.path("out").exists() && !cli.path("new.jpg").exists());
    // What would be refused is.
    cli.fails(1, "not-found", "keyway ls", &format!("get @volume /none @out --dry-run {OPEN}"));
    fs::write(cli.path("new.jpg"), "mine").unwrap();
    cli.fails(1, "exists", "--force", &format!("get @volume /photos/a.jpg @new.jpg --dry-run {OPEN}"));
}

/// Nobody who names two takes the first one's copy for both.
#[test]
fn two_that_are_in_the_volume_are_not_one_with_a_new_name() {
    let cli = Cli::new();
    fat(&cli);
    for name in ["DCIM", "pics", "out"] {
        fs::create_dir(cli.path(name)).unwrap();
        fs::write(cli.path(name).join("a.jpg"), name).unwrap();
    }
    cli.ends(0, &format!("put @volume @DCIM @pics / {OPEN}"));
    fs::remove_dir_all(cli.path("pics")).unwrap();
    fs::remove_dir_all(cli.path("DCIM")).unwrap();
    let get = |words: &str| {
        let mut get = cli.command(cli.words(&format!("get @volume {words} {OPEN}")));
        get.current_dir(cli.keyway.folder()).output().unwrap()
    };
    for words in
        ["DCIM pics", "DCIM/a.jpg DCIM/A.JPG --dry-run", "DCIM pics --dry-run", "DCIM/a.jpg pics/b.jpg"]
    {
        let done = get(words);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let refused = words.starts_with("DCIM pics");
        assert_eq!(
            said.contains("pics is in the volume, too") && said.contains("./NAME"),
            refused,
            "{words}: {said}"
        );
        assert!(!cli.path("pics").exists() && !cli.path("DCIM").exists(), "{words}");
    }
    for words in ["DCIM ./pics", "/DCIM new", "DCIM pics out", "DCIM dcim"] {
        let done = get(words);
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    }
    assert_eq!(fs::read(cli.path("pics/a.jpg")).unwrap(), b"DCIM");
    assert_eq!(fs::read(cli.path("out/pics/a.jpg")).unwrap(), b"pics");
    assert!(cli.path("new/a.jpg").exists() && cli.path("dcim/a.jpg").exists());
    // What is here is a folder, whatever is in the volume.
    assert!(get("DCIM pics").status.success() && cli.path("pics/DCIM/a.jpg").exists());
}

#[test]
fn words_that_were_exchanged_are_noticed() {
    let cli = Cli::new();
    fat(&cli);
    cli.fails(1, "not-found", "the volume comes first", &format!("get @a.jpg @volume {OPEN}"));
    fs::write(cli.path("a.jpg"), "a").unwrap();
    cli.ends(0, &format!("put @volume @a.jpg {OPEN}"));
    fs::remove_file(cli.path("a.jpg")).unwrap();
    let mut get = cli.command(cli.words(&format!("get @volume new.jpg a.jpg --json {OPEN}")));
    let told = get.current_dir(cli.keyway.folder()).output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("where it goes comes last") && told.contains(" a.jpg new.jpg"), "{told}");
    // What is in neither place is only missing.
    let other = cli.json(1, &format!("get @volume none @none.jpg {OPEN}"));
    assert!(!other["error"]["hint"].to_string().contains("comes last"), "{other}");
}

/// A small file system in a folder, which is taken away at the end of a test.
struct Small(std::path::PathBuf);

impl Small {
    fn mounted(at: std::path::PathBuf, options: &str) -> Self {
        fs::create_dir(&at).unwrap();
        let mut mount = std::process::Command::new("mount");
        checked(mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(&at));
        Self(at)
    }

    fn names(&self) -> usize {
        self.0.read_dir().unwrap().count()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

/// Nobody waits for the end of a copy that can't come to it: nothing is written.
#[test]
fn a_copy_without_room_is_refused_before_it_begins() {
    if !require_root() {
        return;
    }
    let cli = Cli::new();
    fat(&cli);
    fs::create_dir_all(cli.path("many")).unwrap();
    for number in 0..1000 {
        fs::write(cli.path("many").join(number.to_string()), "small").unwrap();
    }
    fs::write(cli.path("large"), vec![7; 80 << 10]).unwrap();
    cli.ends(0, &format!("put @volume @many @large / {OPEN}"));
    let small = Small::mounted(cli.path("small"), "size=1M");
    for more in ["", "--dry-run", "--skip-existing"] {
        cli.fails(1, "no-space", "are free in ", &format!("get @volume many @small {more} {OPEN}"));
        cli.fails(1, "no-space", "free some space", &format!("get @volume /** @small/new {more} {OPEN}"));
    }
    assert_eq!(small.names(), 0);
    // The old one stays until the new one is whole; what is there needs nothing.
    let full = Small::mounted(cli.path("full"), "size=100k");
    cli.ends(0, &format!("get @volume large @full {OPEN}"));
    cli.fails(1, "no-space", "are free in ", &format!("get @volume large @full --force {OPEN}"));
    cli.ends(0, &format!("get @volume large @full --skip-existing {OPEN}"));
    assert_eq!(fs::metadata(full.0.join("large")).unwrap().len(), 80 << 10);
    let few = Small::mounted(cli.path("few"), "size=20M,nr_inodes=50");
    cli.fails(1, "no-space", "more files in ", &format!("get @volume many @few {OPEN}"));
    assert_eq!(few.names(), 0);
}

/// What is there already need not be copied once more.
#[test]
fn a_copy_that_had_no_room_says_how_it_goes_on() {
    let (true, Some(mkfs)) = (require_root() && has_fuse(), require_tool("mkfs.ext4")) else { return };
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    fs::create_dir_all(cli.path("content/many")).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(cli.path("content/many").join(name), vec![7; 40 << 10]).unwrap();
    }
    let image = cli.path("image");
    fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    checked(std::process::Command::new(mkfs).args(["-q", "-F", "-d"]).arg(cli.path("content")).arg(&image));
    cli.ends(0, &format!("create @volume --size 20M --quick --filesystem none {OPEN}"));
    let opened = cli.json(0, &format!("open @volume --attach fuse {OPEN}"));
    let mut file = fs::OpenOptions::new().write(true).open(opened["file"].as_str().unwrap()).unwrap();
    std::io::copy(&mut fs::File::open(&image).unwrap(), &mut file).unwrap();
    file.sync_all().unwrap();
    drop(file);
    cli.ends(0, "close @volume");
    let small = Small::mounted(cli.path("small"), "size=100k");
    // Files of an ext4 may be mostly holes: nobody can tell before.
    let told = cli.ends(1, &format!("get @volume many @small {OPEN}"));
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("are free here") && told.contains("with --skip-existing goes on"), "{told}");
    // No part of the file for which there was no room.
    let (there, missing): (Vec<_>, Vec<_>) =
        ["a", "b", "c"].into_iter().partition(|name| small.0.join("many").join(name).exists());
    let whole = |name: &&str| fs::metadata(small.0.join("many").join(name)).unwrap().len() == 40 << 10;
    assert!(there.len() == 2 && there.iter().all(whole), "{there:?}");
    let one = &cli.json(1, &format!("get @volume many/{} @small {OPEN}", missing[0]))["error"];
    assert!(one["kind"] == "no-space" && !one["hint"].to_string().contains("--skip-existing"), "{one}");
    assert_eq!(small.names(), 1);
}
