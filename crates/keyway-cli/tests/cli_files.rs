//! `ls`, `get` and `put`: the files in an encrypted volume, with no mount and no root.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::with_files::{OPEN, fat, with, written};
use cli_support::{Cli, PASSWORD, checked, has_fuse};
use keyway_testkit::{require_root, require_tool, unpack_xz, volumes};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;

#[test]
fn what_is_put_is_listed_and_comes_back() {
    for filesystem in written() {
        comes_back(filesystem);
    }
}

fn comes_back(filesystem: &str) {
    let cli = Cli::new();
    with(&cli, filesystem);
    let content: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    fs::write(cli.path("letter.bin"), &content).unwrap();
    let put = cli.json(0, &format!("put @volume @letter.bin {OPEN}"));
    assert_eq!((put["path"].as_str(), put["bytes"].as_u64()), (Some("/letter.bin"), Some(1_200_000)));
    let listed = cli.json(0, &format!("ls @volume {OPEN}"));
    let entry = &listed["entries"][0];
    assert_eq!(listed["filesystem"], if filesystem == "fat" { "vfat" } else { filesystem });
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
    assert_eq!((entry["name"].as_str(), entry["kind"].as_str()), (Some("letter.bin"), Some("file")));
    assert_eq!(entry["size_bytes"].as_u64(), Some(1_200_000));
    let text = String::from_utf8(cli.ends(0, &format!("ls @volume / -r {OPEN}")).stdout).unwrap();
    assert!(
        text.lines().any(|line| line.starts_with("file") && line.ends_with("1200000  letter.bin")),
        "{text}"
    );
    // To a new name, into a folder, to standard output.
    let got = cli.json(0, &format!("get @volume /letter.bin @copy.bin {OPEN}"));
    assert_eq!((got["files"].as_u64(), got["bytes"].as_u64()), (Some(1), Some(1_200_000)));
    cli.ends(0, &format!("get @volume / @all {OPEN}"));
    let piped = cli.ends(0, &format!("get @volume letter.bin - {OPEN}")).stdout;
    assert!(fs::read(cli.path("copy.bin")).unwrap() == content);
    assert!(fs::read(cli.path("all/letter.bin")).unwrap() == content && piped == content);
    // An outside judge: mtools and fsck.exfat, on the decrypted bytes.
    fs::write(cli.path("plain"), cli.ends(0, &format!("cat @volume {OPEN}")).stdout).unwrap();
    if filesystem == "exfat" {
        let Some(fsck) = require_tool("fsck.exfat") else { return };
        let judged = Command::new(fsck).arg("-n").arg(cli.path("plain")).output().unwrap();
        assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
    } else if require_tool("mtype").is_some() {
        let read =
            Command::new("mtype").arg("-i").arg(cli.path("plain")).arg("::letter.bin").output().unwrap();
        assert!(read.stdout == content);
    }
}

#[test]
fn several_files_and_folders_are_put_and_patterns_bring_them_back() {
    for filesystem in written() {
        patterns_bring_them_back(filesystem);
    }
}

fn patterns_bring_them_back(filesystem: &str) {
    let cli = Cli::new();
    with(&cli, filesystem);
    fs::create_dir_all(cli.path("photos/2024/may")).unwrap();
    for name in ["a.jpg", "b.JPG", "c.txt", "photos/d.jpg", "photos/2024/may/e.jpg", "photos/2024/f[1].txt"] {
        fs::write(cli.path(name), name).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", cli.path("photos/link")).unwrap();
    // As before with two words: a file and its new name. With more, the last one is a folder in the volume.
    cli.ends(0, &format!("put @volume @a.jpg /z.jpg {OPEN}"));
    let plan = cli.json(0, &format!("put @volume @a.jpg @b.JPG @photos / --dry-run {OPEN}"));
    let counts =
        |plan: &serde_json::Value| ["files", "folders", "bytes"].map(|key| plan[key].as_u64().unwrap());
    assert_eq!(counts(&plan["plan"]), [5, 3, 5 + 5 + 12 + 21 + 20]);
    // What is put is no backup.
    let told = cli.ends(0, &format!("put @volume @photos --dry-run {OPEN}")).stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains("\n  from ") && !told.contains("backup"), "{told}");
    let put = cli.json(0, &format!("put @volume @a.jpg @b.JPG @photos / {OPEN}"));
    assert_eq!(put["left_out"][0]["reason"], "links are not copied");
    assert_eq!((counts(&put), put["path"].as_str()), ([5, 3, 63], Some("/")));
    let one = cli.ends(0, &format!("put @volume @c.txt --to /photos {OPEN}"));
    assert!(String::from_utf8_lossy(&one.stdout).contains("/photos/c.txt"));
    let again = cli.ends(0, &format!("put @volume @c.txt --to /photos --skip-existing {OPEN}"));
    let told = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(told.contains("was there already") && told.contains("nothing was put"), "{told}");
    // The last one is no folder there, and nothing was put.
    let words = format!("put @volume @a.jpg @b.JPG @c.txt --force {OPEN}");
    cli.fails(
        1,
        "not-suitable",
        "c.txt is none\nname one that is there, as the last word or with --to",
        &words,
    );
    cli.fails(1, "not-suitable", "made by putting a folder of here", &words);
    cli.fails(1, "exists", "--force", &format!("put @volume @c.txt @photos / {OPEN}"));
    // What ends in a slash, and what --to names, is a folder.
    for to in ["/nosuch/", "nosuch/.", "/z.jpg/"] {
        cli.fails(1, "not-found", "without the / at its end", &format!("put @volume @c.txt {to} {OPEN}"));
    }
    cli.fails(1, "not-suitable", "/nosuch is none", &format!("put @volume @c.txt --to /nosuch {OPEN}"));
    let listed = cli.json(0, &format!("ls @volume -r {OPEN}"));
    let names: Vec<_> =
        listed["entries"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
    let all = [
        "a.jpg",
        "b.JPG",
        "photos",
        "photos/2024",
        "photos/2024/f[1].txt",
        "photos/2024/may",
        "photos/2024/may/e.jpg",
        "photos/c.txt",
        "photos/d.jpg",
        "z.jpg",
    ];
    assert_eq!(names, all);
    // Out again: names of any case, into a folder that is there or made.
    fs::create_dir(cli.path("out")).unwrap();
    // As `ls` shows them before, from the part without wildcards.
    for (words, base, paths) in [
        ("*.jpg", "/", &["a.jpg", "b.JPG", "z.jpg"][..]),
        ("/photos/**/*.jpg", "/photos", &["d.jpg", "2024/may/e.jpg"]),
        ("photos/20*", "/photos", &["2024"]),
        ("photos/20* -r", "/photos", &["2024", "2024/f[1].txt", "2024/may", "2024/may/e.jpg"]),
        ("/photos/2024/**", "/photos/2024", &["f[1].txt", "may", "may/e.jpg"]),
        ("photos/2024/f[1].txt", "/photos/2024/f[1].txt", &["f[1].txt"]),
    ] {
        let listed = cli.json(0, &format!("ls @volume {words} {OPEN}"));
        let found = listed["entries"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap());
        assert_eq!(
            (listed["path"].as_str(), found.collect::<Vec<_>>()),
            (Some(base), paths.to_vec()),
            "{words}"
        );
    }
    cli.fails(1, "not-found", "keyway ls", &format!("ls @volume *.png {OPEN}"));
    cli.fails(2, "usage", "]", &format!("ls @volume *[.png {OPEN}"));
    assert_eq!(cli.json(0, &format!("get @volume *.jpg @out {OPEN}"))["files"], 3);
    assert_eq!(fs::read(cli.path("out/b.JPG")).unwrap(), b"b.JPG");
    assert_eq!(cli.json(0, &format!("get @volume /photos/**/*.jpg @jpgs {OPEN}"))["files"], 2);
    assert_eq!(fs::read(cli.path("jpgs/2024/may/e.jpg")).unwrap(), b"photos/2024/may/e.jpg");
    assert!(!cli.path("jpgs/2024/f[1].txt").exists());
    let whole = cli.json(0, &format!("get @volume /photos/** @whole {OPEN}"));
    assert_eq!((whole["files"].as_u64(), whole["folders"].as_u64()), (Some(4), Some(2)));
    // A name that is there is no pattern.
    cli.ends(0, &format!("get @volume /photos/2024/f[1].txt @f {OPEN}"));
    assert_eq!(fs::read(cli.path("f")).unwrap(), b"photos/2024/f[1].txt");
    assert_eq!(cli.json(0, &format!("get @volume /photos/2024/f[[]?].t* @one {OPEN}"))["files"], 1);
    cli.fails(1, "not-found", "keyway ls", &format!("get @volume *.png @none {OPEN}"));
    assert!(!cli.path("none").exists(), "nothing is made for nothing");
    cli.fails(2, "usage", "bracket", &format!("get @volume [a @none {OPEN}"));
    // What ends in a slash becomes no file; what is a folder gets that name.
    for to in ["@nosuch/", "@nosuch/."] {
        cli.fails(1, "not-found", "without the / at its end", &format!("get @volume /z.jpg {to} {OPEN}"));
    }
    cli.fails(1, "exists", "c.txt", &format!("get @volume /z.jpg @c.txt/ {OPEN}"));
    assert!(!cli.path("nosuch").exists());
    cli.ends(0, &format!("get @volume /photos/2024 @year/ {OPEN}"));
    assert!(cli.path("year/may/e.jpg").exists());
    let piped = format!("get @volume *.jpg - {OPEN}");
    cli.fails(2, "usage", "a pattern does not go to standard output", &piped);
    cli.fails(1, "not-found", "keyway ls", &format!("get @volume none.jpg - {OPEN}"));
    // What is here already stays, is told, and the rest is copied.
    fs::remove_file(cli.path("out/a.jpg")).unwrap();
    let some = cli.json(1, &format!("get @volume *.jpg @out {OPEN}"));
    assert_eq!((some["files"].as_u64(), some["failed"].as_array().unwrap().len()), (Some(1), 2));
}

#[test]
fn refusals_have_their_exit_codes() {
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    let cli = Cli::new();
    fat(&cli);
    fs::write(cli.path("file"), b"content").unwrap();
    let kind = |code, words: &str| cli.json(code, &format!("{words} {OPEN}"))["error"]["kind"].clone();
    assert_eq!(kind(0, "put @volume @file"), serde_json::Value::Null);
    assert_eq!(kind(1, "put @volume @file"), "exists");
    assert_eq!(kind(0, "put @volume @file / --force"), serde_json::Value::Null);
    assert_eq!(kind(1, "get @volume /file @file"), "exists");
    assert_eq!(kind(1, "get @volume /missing @new"), "not-found");
    assert_eq!(kind(2, "get @volume /../file @new"), "usage");
    assert_eq!(kind(2, "put @volume @file /a?b"), "usage");
    assert_eq!(kind(1, "ls @volume /missing"), "not-found");
    cli.keyway.secret("wrong", "another-password-entirely");
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "ls @volume --password-file @wrong --pim 1",
    );
    // No file system that is known.
    cli.ends(0, &format!("create @bare --size 1M --quick --filesystem none {OPEN}"));
    assert_eq!(kind(4, "ls @bare"), "no-filesystem");
    cli.fails(4, "no-filesystem", "keyway open", &format!("get @bare / @new {OPEN}"));
}

/// What is on the medium is older than what somebody sees who has the volume open. Nothing is given here that could open
/// it, so that a question would be another error.
#[test]
fn what_is_open_is_neither_read_nor_changed_beside_it() {
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    let cli = Cli::new();
    fat(&cli);
    fs::write(cli.path("file"), b"content").unwrap();
    cli.ends(0, &format!("put @volume @file {OPEN}"));
    cli.ends(0, &format!("header backup @volume @backup {OPEN}"));
    cli.ends(0, &format!("open @volume --attach nbd {OPEN}"));
    let verbs = [
        "ls @volume",
        "get @volume /file @copy",
        "get @volume /file -",
        "cat @volume",
        "put @volume @file /again",
        "protector change @volume",
        "header restore @volume @backup",
        "header restore @volume",
        "resize @volume --size 11M",
        "erase @volume --yes",
        "open @volume",
    ];
    for verb in verbs {
        let error = &cli.json(6, verb)["error"];
        let volume = cli.path("volume").display().to_string();
        assert_eq!(
            [&error["kind"], &error["message"], &error["hint"]],
            [
                "already-open",
                &format!("{volume} is already open"),
                &format!("close it first: keyway close {volume}")
            ],
            "{verb}"
        );
    }
    assert!(!cli.path("copy").exists());
    cli.ends(0, &format!("info @volume {OPEN}"));
    cli.ends(0, "close @volume");
    // What nobody can write to stays as it is.
    cli.ends(0, &format!("open @volume --attach nbd --read-only {OPEN}"));
    cli.ends(0, &format!("ls @volume {OPEN}"));
    assert_eq!(cli.ends(0, &format!("get @volume /file - {OPEN}")).stdout, b"content");
    cli.fails(6, "already-open", "keyway close", "put @volume @file /again");
    cli.ends(0, "close @volume");
}

/// The outer volume's file system does not know of the hidden one.
#[test]
fn a_root_folder_that_can_not_grow_is_full_before_anything_is_written() {
    let Some(fsck) = require_tool("fsck.fat") else { return };
    let cli = Cli::new();
    fat(&cli);
    fs::create_dir(cli.path("all")).unwrap();
    // Four entries each, of the 512 that are there.
    let names: Vec<String> = (100..240).map(|n| format!("all/a name of thirty letters {n}")).collect();
    for name in &names {
        fs::write(cli.path(name), name).unwrap();
    }
    let put = |files: &[String], to: &str| {
        let files = files.iter().map(|name| cli.path(name).into_os_string());
        let words = cli.words(&format!("put @volume --to {to} --json {OPEN}"));
        cli.command(words.into_iter().map(Into::into).chain(files)).output().unwrap()
    };
    let full = put(&names, "/");
    let said: serde_json::Value = serde_json::from_slice(&full.stdout).unwrap();
    assert_eq!((full.status.code(), said["error"]["kind"].as_str()), (Some(1), Some("no-space")), "{said}");
    assert!(said["error"]["hint"].as_str().unwrap().contains("--to FOLDER"), "{said}");
    assert_eq!(cli.json(0, &format!("ls @volume {OPEN}"))["entries"].as_array().map(Vec::len), Some(0));
    // In a folder there is room for all, and in the root for fewer.
    cli.ends(0, &format!("put @volume @all {OPEN}"));
    assert!(put(&names[..100], "/").status.success());
    assert!(put(&names, "/all").status.code() == Some(1), "they exist");
    fs::write(cli.path("plain"), cli.ends(0, &format!("cat @volume {OPEN}")).stdout).unwrap();
    checked(Command::new(fsck).arg("-n").arg(cli.path("plain")));
}

/// Where nothing that is removed would help, nobody is sent to do so; and nobody protects what a BitLocker volume can't have.
#[test]
fn what_can_not_fit_at_all_is_told_as_that() {
    let cli = Cli::new();
    let refused = |volume: &str, file: &str, mib: u64| {
        fs::File::create(cli.path(file)).unwrap().set_len(mib << 20).unwrap();
        let pim = if volume == "volume" { "--pim 1" } else { "" };
        let told = cli.json(1, &format!("put @{volume} @{file} --password-file @pw {pim}"));
        assert_eq!(told["error"]["kind"], "no-space", "{told}");
        let [message, hint] =
            ["message", "hint"].map(|name| told["error"][name].as_str().unwrap().to_owned());
        (message, hint)
    };
    if written().contains(&"fat") {
        fat(&cli);
        fs::write(cli.path("first"), vec![7; 9 << 20]).unwrap();
        cli.ends(0, &format!("put @volume @first {OPEN}"));
        let (message, hint) = refused("volume", "all", 20);
        assert!(message.contains("in all, and 20 MiB are to be written"), "{message}");
        assert!(hint.contains("keyway create") && !hint.contains("remove"), "{hint}");
        let (message, hint) = refused("volume", "huge", 5 << 10);
        assert!(
            message.contains("no file in FAT has 4 GiB or more") && hint.contains("exfat"),
            "{message}: {hint}"
        );
        let (_, hint) = refused("volume", "second", 9);
        assert!(hint.contains("remove something first") && hint.contains("--protect-hidden"), "{hint}");
    }
    if written().contains(&"exfat") {
        cli.keyway.secret("pw", PASSWORD);
        let with = "--format bitlocker --filesystem exfat --no-recovery-password --password-file @pw";
        cli.ends(0, &format!("create @b --size 64M --quick {with}"));
        fs::write(cli.path("first"), vec![7; 40 << 20]).unwrap();
        cli.ends(0, "put @b @first --password-file @pw");
        let (message, hint) = refused("b", "all", 100);
        assert!(message.contains("in all, and 100 MiB are to be written"), "{message}");
        assert!(hint.contains("larger volume") && !hint.contains("hidden"), "{hint}");
        let (_, hint) = refused("b", "second", 40);
        assert!(hint.contains("remove something first") && !hint.contains("hidden"), "{hint}");
    }
}

#[test]
fn put_does_not_touch_a_protected_hidden_volume() {
    for filesystem in written() {
        the_hidden_one_stays(filesystem);
    }
}

fn the_hidden_one_stays(filesystem: &str) {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("hidden", "what-is-hidden-in-the-other-one");
    let hidden = "--hidden-password-file @hidden --hidden-pim 1";
    cli.ends(
        0,
        &format!("create @volume --size 12M --hidden 8M --quick --filesystem {filesystem} {OPEN} {hidden}"),
    );
    let inside = || cli.ends(0, "cat @volume --password-file @hidden --pim 1").stdout;
    let before = inside();
    fs::write(cli.path("large"), vec![7; 9 << 20]).unwrap();
    let protect = "--protect-password-file @hidden --protect-pim 1";
    let refused = cli.json(1, &format!("put @volume @large {OPEN} {protect}"));
    assert_eq!(refused["error"]["kind"], "hidden-volume");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("before the hidden volume, and 9 MiB are to be written"), "{message}");
    assert!(inside() == before, "the hidden volume was written to");
    // Nothing half done is left, and what has room goes in.
    assert_eq!(cli.json(0, &format!("ls @volume {OPEN}"))["entries"].as_array().unwrap().len(), 0);
    fs::write(cli.path("small"), vec![8; 300_000]).unwrap();
    cli.ends(0, &format!("put @volume @small {OPEN} {protect}"));
    assert!(cli.ends(0, &format!("get @volume small - {OPEN}")).stdout == vec![8; 300_000]);
    assert!(inside() == before, "the hidden volume was written to");
}

/// What of a file system can't be read is told, and the exit code says so: nobody takes a listing that lacks
/// something, or a copy, for whole.
#[test]
fn what_is_damaged_is_told_and_the_rest_is_there() {
    let (Some(mkfs), Some(debugfs)) = (require_tool("mkfs.ext4"), require_tool("debugfs")) else { return };
    if !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let (content, image) = (cli.path("content"), cli.path("image"));
    fs::create_dir_all(content.join("one/two")).unwrap();
    fs::create_dir_all(content.join("gone")).unwrap();
    for name in ["top", "one/first", "one/second", "one/two/deep", "gone/lost"] {
        fs::write(content.join(name), name).unwrap();
    }
    fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    checked(Command::new(mkfs).args(["-q", "-F", "-d"]).arg(&content).arg(&image));
    // Without an inode: one file, and one folder with what is in it.
    for name in ["/one/first", "/gone"] {
        checked(Command::new(&debugfs).args(["-w", "-R", &format!("clri {name}")]).arg(&image));
    }
    cli.ends(0, &format!("create @volume --size 20M --quick --filesystem none {OPEN}"));
    let opened = cli.json(0, &format!("open @volume --attach fuse {OPEN}"));
    let mut file = fs::OpenOptions::new().write(true).open(opened["file"].as_str().unwrap()).unwrap();
    std::io::copy(&mut fs::File::open(&image).unwrap(), &mut file).unwrap();
    file.sync_all().unwrap();
    drop(file);
    cli.ends(0, "close @volume");
    let told = |document: &serde_json::Value| -> Vec<String> {
        let all = document["failed"].as_array().unwrap().iter();
        all.map(|one| one["path"].as_str().unwrap().to_owned()).collect()
    };
    let listed = cli.json(1, &format!("ls @volume / --recursive {OPEN}"));
    assert_eq!(listed["error"]["kind"], "not-all-listed");
    let names: Vec<_> =
        listed["entries"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["lost+found", "one", "one/second", "one/two", "one/two/deep", "top"]);
    assert_eq!(told(&listed), ["gone", "one/first"]);
    let done = cli.ends(1, &format!("ls @volume / --recursive {OPEN}"));
    assert!(String::from_utf8_lossy(&done.stdout).contains("one/two/deep"), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stderr).contains("warning: one/first: "), "{done:?}");
    assert_eq!(told(&cli.json(1, &format!("ls @volume /one {OPEN}"))), ["first"]);
    cli.ends(0, &format!("ls @volume /one/two {OPEN}"));
    assert_eq!(cli.json(4, &format!("ls @volume /gone {OPEN}"))["error"]["kind"], "damaged-filesystem");
    assert_eq!(
        cli.json(4, &format!("get @volume /one/first @new {OPEN}"))["error"]["kind"],
        "damaged-filesystem"
    );
    let got = cli.json(1, &format!("get @volume / @all {OPEN}"));
    assert_eq!((got["error"]["kind"].as_str(), got["files"].as_u64()), (Some("not-all-copied"), Some(3)));
    assert_eq!(told(&got).len(), 2, "{got}");
    assert!(cli.path("all/one/two/deep").exists());
}

/// Foreign volumes had their unused blocks wiped, and with them what leads to the files: told as damage.
#[test]
fn wiped_foreign_volumes_are_told_as_damaged() {
    let Some(folder) = volumes() else { return };
    let cli = Cli::new();
    cli.keyway.secret("pw", "anaconda");
    let image = folder.join("bitlocker/bitlk-aes-xts-128.img.xz");
    let Some(unpacked) = unpack_xz(&image) else { return };
    fs::rename(unpacked.path(), cli.path("volume")).unwrap();
    let error = &cli.json(4, "ls @volume --recursive --password-file @pw")["error"];
    assert_eq!(error["kind"], "damaged-filesystem");
}

/// With sudo, as most people come to a drive: what is copied is the user's, and what lies in a home is found.
#[test]
fn root_copies_from_and_to_what_is_a_users() {
    if !require_root() {
        return;
    }
    let cli = Cli::new();
    fat(&cli);
    let home = cli.path("home");
    fs::create_dir(&home).expect("a folder");
    fs::write(home.join("letter"), "a letter").expect("room");
    for (path, mode) in [(home.join("letter"), 0o600), (home.clone(), 0o700)] {
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("ours");
        chown(&path, Some(65534), Some(65534)).expect("we are root");
    }
    cli.ends(0, &format!("put @volume @home/letter {OPEN}"));
    cli.ends(0, &format!("get @volume letter @home/back {OPEN}"));
    assert_eq!(fs::read(home.join("back")).expect("it came back"), b"a letter");
    cli.ends(0, &format!("put @volume @home --to / {OPEN}"));
    cli.ends(0, &format!("get @volume home @home {OPEN}"));
    for name in ["back", "home", "home/letter"] {
        let about = fs::metadata(home.join(name)).expect("it came back");
        assert_eq!((about.uid(), about.gid(), about.mode() & 0o077), (65534, 65534, 0), "{name}");
    }
}

/// `.` has a name where it is.
#[test]
fn the_folder_one_is_in_is_put() {
    let cli = Cli::new();
    fat(&cli);
    fs::create_dir(cli.path("here")).expect("a folder");
    fs::write(cli.path("here/file"), "in it").expect("room");
    let mut put = cli.command(cli.words(&format!("put @volume . {OPEN}")));
    let done = put.current_dir(cli.path("here")).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    cli.ends(0, &format!("get @volume here/file @back {OPEN}"));
    assert_eq!(fs::read(cli.path("back")).expect("it came back"), b"in it");
}

/// `put V *.jpg` where two match: neither is put in the other's name.
#[test]
fn two_files_are_not_one_with_a_new_name() {
    let cli = Cli::new();
    fat(&cli);
    for name in ["one.jpg", "two.jpg"] {
        fs::write(cli.path(name), name).expect("room");
    }
    for name in ["DCIM", "pics"] {
        fs::create_dir(cli.path(name)).expect("room");
        fs::write(cli.path(&format!("{name}/inside.jpg")), name).expect("room");
    }
    fs::write(cli.path("a:b.jpg"), "a name that FAT can't hold").expect("room");
    let files = ["one.jpg two.jpg", "@one.jpg @two.jpg", "--force one.jpg two.jpg"];
    let folders = ["DCIM pics", "DCIM pics/", "@DCIM @pics", "one.jpg pics", "a:b.jpg pics --skip-unfit"];
    for words in files.into_iter().chain(folders) {
        let mut put = cli.command(cli.words(&format!("put @volume {OPEN} {words}")));
        let done = put.current_dir(cli.path("")).output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && said.contains("`--to /` puts all of them"), "{words}: {said}");
    }
    cli.ends(0, &format!("put @volume --to / @one.jpg @two.jpg {OPEN}"));
    // A path in the volume is a name, whatever is here.
    cli.ends(0, &format!("put @volume @one.jpg /three.jpg {OPEN}"));
    cli.ends(0, &format!("put @volume @DCIM /pics {OPEN}"));
    // What is a folder there takes it, whatever is here.
    let mut put = cli.command(cli.words(&format!("put @volume DCIM pics {OPEN}")));
    assert!(put.current_dir(cli.path("")).output().expect("it runs").status.success());
    cli.ends(0, &format!("ls @volume /pics/DCIM {OPEN}"));
    let listed = cli.ends(0, &format!("ls @volume {OPEN}"));
    let listed = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.contains("two.jpg") && listed.contains("three.jpg"), "{listed}");
}

#[test]
fn names_that_windows_has_not_stop_nothing_half_way() {
    for filesystem in written() {
        let cli = Cli::new();
        with(&cli, filesystem);
        fs::create_dir_all(cli.path("all/bad. /inside")).unwrap();
        for name in ["all/a", "all/b:c", "all/bad. /inside/d", "all/z."] {
            fs::write(cli.path(name), name).unwrap();
        }
        let said = cli.json(2, &format!("put @volume @all {OPEN}"));
        let (message, hint) =
            (said["error"]["message"].as_str().unwrap(), said["error"]["hint"].as_str().unwrap());
        assert!(message.contains("can hold 3 of these names"), "{message}");
        assert!(["all/b:c", "all/bad. ", "all/z."].iter().all(|name| message.contains(name)), "{message}");
        assert!(hint.contains("--skip-unfit"), "{hint}");
        assert_eq!(cli.json(0, &format!("ls @volume {OPEN}"))["entries"].as_array().unwrap().len(), 0);
        // The rest of them, and it is not passed over.
        let some = cli.json(1, &format!("put @volume @all --skip-unfit {OPEN}"));
        assert_eq!((&some["error"]["kind"], &some["files"]), (&"not-all-copied".into(), &1.into()));
        assert_eq!(some["unfit"].as_array().unwrap().len(), 3, "{some}");
        let listed = cli.json(0, &format!("ls @volume -r {OPEN}"));
        let names: Vec<_> =
            listed["entries"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
        assert_eq!(names, ["all", "all/a"]);
        // What is there with its length stays, what has another is in the way.
        fs::write(cli.path("all/new"), "new").unwrap();
        let more = cli.json(1, &format!("put @volume @all --skip-unfit --skip-existing {OPEN}"));
        assert_eq!((&more["files"], &more["kept"]), (&1.into(), &1.into()), "{more}");
        fs::write(cli.path("all/a"), "longer than before").unwrap();
        let words = format!("put @volume @all --skip-unfit --skip-existing {OPEN}");
        cli.fails(1, "exists", "--force", &words);
        cli.ends(1, &format!("{words} --force"));
        assert_eq!(cli.ends(0, &format!("get @volume /all/a - {OPEN}")).stdout, b"longer than before");
    }
}

#[test]
fn what_is_to_be_replaced_needs_room_beside_it_and_that_is_told() {
    for filesystem in written() {
        let cli = Cli::new();
        with(&cli, filesystem);
        fs::write(cli.path("large"), vec![1; 6 << 20]).unwrap();
        cli.ends(0, &format!("put @volume @large {OPEN}"));
        let said = cli.json(1, &format!("put @volume @large --force {OPEN}"));
        let message = said["error"]["message"].as_str().unwrap();
        assert!(message.contains("beside the 6 MiB that are to be replaced"), "{message}");
        let hint = said["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("delete the old one first") && hint.contains("sudo keyway open /"), "{said}");
        assert!(cli.ends(0, &format!("get @volume large - {OPEN}")).stdout == vec![1; 6 << 20]);
    }
}
