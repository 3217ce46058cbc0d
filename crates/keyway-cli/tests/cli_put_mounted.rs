//! Files into file systems that the program does not write itself: mounted for that moment, by the kernel or by ntfs-3g. Their own
//! tools find them in order, what can't be put leaves nothing behind, and nothing stays open.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked, has_fuse, nobody};
use keyway_testkit::{Rng, leave_out, require_root, require_tool, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WITH: &str = "--password-file @pw --pim 1 --hash sha512";

/// A volume with that file system, changed by its own tools before; `None` after a visible skip.
fn volume(cli: &Cli, kind: &str, bytes: u64, change: impl FnOnce(&Path)) -> Option<()> {
    let image = cli.path("image");
    let (mkfs, arguments): (_, &[&str]) = match kind {
        "ext4" => ("mkfs.ext4", &["-q"]),
        "ext2" => ("mkfs.ext2", &["-q", "-b", "1024"]),
        "ntfs" => ("mkfs.ntfs", &["-q", "-F", "-Q"]),
        "xfs" => ("mkfs.xfs", &["-q"]),
        "btrfs" => ("mkfs.btrfs", &["-q"]),
        other => panic!("{other}"),
    };
    cli.make("image", bytes, mkfs, arguments)?;
    change(&image);
    cli.keyway.secret("pw", PASSWORD);
    let create = format!("create @volume --size {} --quick --filesystem none {WITH}", bytes + (256 << 10));
    cli.ends(0, &create);
    let opened = cli.json(0, &format!("open @volume --attach fuse {WITH}"));
    let file = File::options().write(true).open(opened["file"].as_str().expect("a file")).expect("ours");
    // What is not zero: the rest of a new container is.
    let from = File::open(&image).expect("it is there");
    let mut piece = vec![0; 1 << 20];
    for at in (0..bytes).step_by(1 << 20) {
        let n = piece.len().min((bytes - at) as usize);
        from.read_exact_at(&mut piece[..n], at).expect("read");
        file.write_all_at(&piece[..n], at).expect("room");
    }
    file.sync_all().expect("room");
    drop(file);
    cli.ends(0, "close @volume");
    Some(())
}

/// Whether everything is there that the kernel's drivers need.
fn root_with_loops() -> bool {
    let loops = Path::new("/dev/loop-control").exists();
    if !loops {
        leave_out("this kernel has no loop devices");
    }
    require_root() && has_fuse() && loops
}

/// The file system as it lies in the volume.
fn plain(cli: &Cli) -> PathBuf {
    let at = cli.path("plain");
    let file = File::create(&at).expect("room");
    checked(cli.command(cli.words(&format!("cat @volume {WITH}"))).stdout(file));
    at
}

/// What its own checker says of it.
fn in_order(cli: &Cli, kind: &str) {
    let at = plain(cli);
    let (tool, arguments): (_, &[&str]) = match kind {
        "ext2" | "ext4" => ("e2fsck", &["-f", "-n"]),
        "ntfs" => ("ntfsfix", &["-n"]),
        "xfs" => ("xfs_repair", &["-n"]),
        _ => ("btrfs", &["check", "--readonly"]),
    };
    let Some(tool) = require_tool(tool) else { return };
    checked(Command::new(tool).args(arguments).arg(at));
}

/// Where the program keeps what is open.
fn sessions(cli: &Cli) -> PathBuf {
    cli.keyway.runtime_folder().join("sessions")
}

/// Nothing is open or mounted, and no session's folder is left.
#[track_caller]
fn nothing_is_left(cli: &Cli) {
    assert_eq!(cli.json(0, "status")["volumes"].as_array().map(Vec::len), Some(0));
    let runtime = sessions(cli);
    let mounts = fs::read_to_string("/proc/mounts").expect("Linux");
    assert!(!mounts.contains(&runtime.display().to_string()), "{mounts}");
    let mut left = fs::read_dir(&runtime).expect("it is there").flatten().map(|entry| entry.file_name());
    assert_eq!(left.find(|name| name != "lock"), None);
}

/// Files and folders of many kinds.
fn fill(tree: &Path) {
    fs::create_dir_all(tree.join("one/two/Größe und 漢字")).expect("room");
    for (i, len) in [0, 1, 511, 4096, 70_000, 5 << 20].into_iter().enumerate() {
        fs::write(tree.join(format!("file {i}.bin")), Rng::new(i as u64).bytes(len)).expect("room");
    }
    fs::write(tree.join("one/two/Größe und 漢字/inner"), "inner").expect("room");
    fs::create_dir(tree.join("empty")).expect("room");
    let script = tree.join("one/run");
    fs::write(&script, "#!/bin/sh\n").expect("room");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).expect("ours");
    // Zeros up to its end, and between.
    let large = File::create(tree.join("large")).expect("room");
    large.write_all_at(b"middle", 60 << 20).and_then(|()| large.set_len(120 << 20)).expect("room");
}

#[test]
fn what_is_put_into_other_file_systems_is_there_and_their_tools_find_them_in_order() {
    if !root_with_loops() {
        return;
    }
    for (kind, size) in [
        ("ext4", 200 << 20),
        ("ext2", 160 << 20),
        ("ntfs", 200 << 20),
        ("xfs", 320 << 20),
        ("btrfs", 320 << 20),
    ] {
        let cli = Cli::new();
        if volume(&cli, kind, size, |_| ()).is_none() {
            continue;
        }
        let tree = cli.path("tree");
        fs::create_dir(&tree).expect("room");
        fill(&tree);
        let before = fs::read(cli.path("volume")).expect("read");
        let plan = cli.json(0, &format!("put @volume @tree --dry-run {WITH}"));
        assert_eq!((&plan["dry_run"], &plan["plan"]["files"]), (&Value::Bool(true), &9.into()), "{kind}");
        assert!(fs::read(cli.path("volume")).expect("read") == before, "{kind}: a dry run writes nothing");
        drop(before);
        let put = cli.json(0, &format!("put @volume @tree {WITH}"));
        assert_eq!((&put["files"], &put["path"]), (&9.into(), &"/tree".into()), "{kind}: {put}");
        // Into a folder that is there, under a name of its own.
        cli.ends(0, &format!("put @volume @pw /tree/empty/copy {WITH}"));
        fs::copy(cli.path("pw"), tree.join("empty/copy")).expect("room");
        nothing_is_left(&cli);
        if matches!(kind, "ext4" | "ext2" | "ntfs") {
            cli.ends(0, &format!("get @volume /tree @out {WITH}"));
            checked(Command::new("diff").arg("-r").arg(&tree).arg(cli.path("out")));
        }
        fs::create_dir(cli.path("mnt")).expect("room");
        cli.ends(0, &format!("open @volume @mnt --read-only {WITH}"));
        checked(Command::new("diff").arg("-r").arg(&tree).arg(cli.path("mnt/tree")));
        if kind != "ntfs" {
            let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
            assert_eq!(mode(&cli.path("mnt/tree/one/run")), 0o750, "{kind}");
        }
        let modified = |path: &Path| path.metadata().expect("there").modified().expect("Linux");
        let there = modified(&cli.path("mnt/tree/large"));
        let apart = modified(&tree.join("large")).duration_since(there).unwrap_or_else(|e| e.duration());
        assert!(apart.as_secs() < 2, "{kind}: {apart:?}");
        cli.ends(0, "close @volume");
        in_order(&cli, kind);
        if kind == "ntfs"
            && let (Some(ntfsls), Some(ntfscat)) = (require_tool("ntfsls"), require_tool("ntfscat"))
        {
            let listed =
                Command::new(ntfsls).arg("-p").arg("/tree").arg(cli.path("plain")).output().expect("it runs");
            assert!(String::from_utf8_lossy(&listed.stdout).contains("file 5.bin"), "{listed:?}");
            let bytes = Command::new(ntfscat)
                .arg(cli.path("plain"))
                .arg("/tree/file 5.bin")
                .output()
                .expect("it runs");
            assert!(bytes.stdout == fs::read(tree.join("file 5.bin")).expect("read"));
        }
    }
}

#[test]
fn what_can_not_be_put_into_other_file_systems_leaves_nothing_behind() {
    if !root_with_loops() {
        return;
    }
    let cli = Cli::new();
    let Some(debugfs) = require_tool("debugfs") else { return };
    let made = volume(&cli, "ext4", 24 << 20, |image| {
        for request in ["mkdir folder", "symlink out /etc", "symlink away ../../../../tmp"] {
            checked(Command::new(&debugfs).args(["-w", "-R", request]).arg(image));
        }
    });
    if made.is_none() {
        return;
    }
    fs::write(cli.path("file"), "file").expect("room");
    cli.ends(0, &format!("put @volume @file {WITH}"));
    cli.fails(1, "exists", "--force", &format!("put @volume @file {WITH}"));
    fs::write(cli.path("file"), "another").expect("room");
    cli.ends(0, &format!("put @volume @file / --force {WITH}"));
    assert_eq!(cli.ends(0, &format!("get @volume /file - {WITH}")).stdout, b"another");
    fs::write(cli.path("folder"), "no folder").expect("room");
    cli.fails(1, "not-suitable", "folder is a folder", &format!("put @volume @folder / --force {WITH}"));
    // No link leads anywhere, neither as the folder nor as what is written over.
    for to in ["/out/passwd2", "/away/file"] {
        cli.fails(1, "not-suitable", "is a link", &format!("put @volume @file {to} {WITH}"));
    }
    cli.fails(1, "exists", "out", &format!("put @volume @file /out --force {WITH}"));
    cli.fails(1, "not-found", "nowhere", &format!("put @volume @file /nowhere/file {WITH}"));
    cli.fails(1, "not-found", "without the / at its end", &format!("put @volume @file /nowhere/ {WITH}"));
    cli.fails(1, "not-suitable", "/nowhere is none", &format!("put @volume @file --to /nowhere {WITH}"));
    // Bytes that are no text are a name like any other.
    let odd = cli.path("").join(OsStr::from_bytes(b"od\xffd: 'name'?"));
    fs::write(&odd, "odd").expect("room");
    let words = cli.words(&format!("put @volume --to /folder {WITH}"));
    checked(&mut cli.command(words.iter().map(OsStr::new).chain([odd.as_os_str()])));
    // What there is no room for is refused before the first, the small one.
    let large = File::create(cli.path("large")).expect("room");
    large.set_len(40 << 20).expect("room");
    let words = format!("put @volume @pw @large / {WITH}");
    let told = |before: &str, helps: &str| {
        let refused = cli.json(1, &words);
        let [said, hint] = ["message", "hint"].map(|name| refused["error"][name].as_str().expect("words"));
        assert!(refused["error"]["kind"] == "no-space" && hint.contains(helps), "{refused}");
        let room = said.split_once(before).and_then(|(_, said)| said.split_once(" MiB")).expect(said).0;
        (room.parse::<f64>().expect("a number") * f64::from(1 << 20)) as u64
    };
    // What would not fit if there were nothing else, is no reason to remove something.
    let all = told("has room for ", "larger volume");
    large.set_len(all - all / 100).expect("room");
    // What there is said to be room for, there is: the kernel keeps a part of what is free.
    let room = told("there is room for ", "remove something first");
    large.set_len(room - room / 64).expect("room");
    cli.ends(0, &format!("put @volume @large /as-much {WITH}"));
    large.set_len(1).expect("shorter");
    cli.ends(0, &format!("put @volume @large /as-much --force {WITH}"));
    nothing_is_left(&cli);
    let listed = cli.json(0, &format!("ls @volume / --recursive {WITH}"));
    let names: Vec<_> =
        listed["entries"].as_array().into_iter().flatten().filter_map(|file| file["path"].as_str()).collect();
    assert!(!names.iter().any(|name| name.contains("pw") || name.contains("large")), "{names:?}");
    in_order(&cli, "ext4");
    let seen = Command::new(&debugfs)
        .args(["-R", "ls -p /folder"])
        .arg(cli.path("plain"))
        .output()
        .expect("it runs");
    assert!(
        seen.stdout.windows(8).any(|bytes| bytes == b"od\xffd: 'n"),
        "{}",
        String::from_utf8_lossy(&seen.stdout)
    );
}

#[test]
fn names_of_windows_are_kept_apart_in_ntfs() {
    let cli = Cli::new();
    if !root_with_loops()
        || require_tool("ntfs-3g").is_none()
        || volume(&cli, "ntfs", 24 << 20, |_| ()).is_none()
    {
        return;
    }
    for (name, text) in [("Letter.txt", "first"), ("LETTER.TXT", "second"), ("a:b", "bad")] {
        fs::write(cli.path(name), text).expect("room");
    }
    fs::create_dir(cli.path("PHOTOS")).expect("room");
    fs::write(cli.path("PHOTOS/new"), "new").expect("room");
    cli.fails(
        1,
        "exists",
        "two of them would be LETTER.TXT",
        &format!("put @volume @Letter.txt @LETTER.TXT / {WITH}"),
    );
    cli.ends(0, &format!("put @volume @Letter.txt {WITH}"));
    cli.fails(1, "exists", "LETTER.TXT", &format!("put @volume @LETTER.TXT {WITH}"));
    cli.fails(2, "usage", "a:b", &format!("put @volume @a:b {WITH}"));
    cli.ends(0, &format!("put @volume @LETTER.TXT / --force {WITH}"));
    assert_eq!(cli.ends(0, &format!("get @volume /Letter.txt - {WITH}")).stdout, b"second");
    // A folder that is there is that one, however it is written.
    fs::create_dir(cli.path("photos")).expect("room");
    cli.ends(0, &format!("put @volume @photos {WITH}"));
    cli.ends(0, &format!("put @volume @PHOTOS {WITH}"));
    assert_eq!(cli.ends(0, &format!("get @volume /photos/new - {WITH}")).stdout, b"new");
    let listed = cli.json(0, &format!("ls @volume {WITH}"));
    assert_eq!(listed["entries"].as_array().map(Vec::len), Some(2), "{listed}");
    nothing_is_left(&cli);
    in_order(&cli, "ntfs");
}

#[test]
fn a_file_system_that_was_not_left_in_order_is_mended_by_its_mount_or_refused() {
    if !root_with_loops() {
        return;
    }
    // NTFS's mark of a volume to be checked: in the flags of $Volume, record 3 of the MFT.
    let cli = Cli::new();
    let dirty = |image: &Path| {
        let mut bytes = fs::read(image).expect("read");
        let number = |at: usize, len: usize| {
            bytes[at..at + len].iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b))
        };
        let cluster = number(11, 2) * number(13, 1);
        let record = (number(48, 8) * cluster + 3 * 1024) as usize;
        let flags = (record..record + 900)
            .step_by(8)
            .find(|at| number(*at, 4) == 0x70)
            .map(|at| at + number(at + 20, 2) as usize + 10)
            .expect("it has flags");
        bytes[flags] |= 1;
        fs::write(image, bytes).expect("room");
    };
    if volume(&cli, "ntfs", 24 << 20, dirty).is_some() {
        let before = fs::read(cli.path("volume")).expect("read");
        cli.fails(1, "unclean", "chkdsk", &format!("put @volume @pw {WITH}"));
        assert!(fs::read(cli.path("volume")).expect("read") == before, "nothing was written");
        nothing_is_left(&cli);
    }
    // A Windows sleeps in it: who mounts that would only read, and not say why.
    let cli = Cli::new();
    let Some(ntfscp) = require_tool("ntfscp") else { return };
    let asleep = |begin: &'static [u8]| {
        let (sleeps, ntfscp) = (cli.path("sleeps"), ntfscp.clone());
        move |image: &Path| {
            fs::write(&sleeps, [begin, &[7; 5000]].concat()).expect("room");
            checked(Command::new(ntfscp).arg(image).arg(&sleeps).arg("hiberfil.sys"));
        }
    };
    if volume(&cli, "ntfs", 24 << 20, asleep(b"HIBR")).is_some() {
        let before = fs::read(cli.path("volume")).expect("read");
        cli.fails(1, "unclean", "shutdown /s /t 0", &format!("put @volume @pw {WITH}"));
        assert!(fs::read(cli.path("volume")).expect("read") == before, "nothing was written");
        nothing_is_left(&cli);
        fs::remove_file(cli.path("volume")).expect("ours");
        // It has woken up, and shut down.
        volume(&cli, "ntfs", 24 << 20, asleep(b"wake")).expect("as before");
        let error = cli.run(&format!("put @volume @pw --dry-run --json {WITH}")).stdout;
        assert!(!String::from_utf8_lossy(&error).contains("unclean"), "{error:?}");
    }
    // ext4: faults are for its checker.
    let cli = Cli::new();
    let Some(debugfs) = require_tool("debugfs") else { return };
    let set = |state: &'static str| {
        let debugfs = debugfs.clone();
        move |image: &Path| {
            checked(
                Command::new(&debugfs).args(["-w", "-R", &format!("set_super_value {state}")]).arg(image),
            );
        }
    };
    if volume(&cli, "ext4", 24 << 20, set("state 2")).is_some() {
        cli.fails(1, "unclean", "e2fsck", &format!("put @volume @pw {WITH}"));
        nothing_is_left(&cli);
    }
    // What its journal holds is replayed, as whenever it is mounted.
    let cli = Cli::new();
    let journal = |image: &Path| {
        fs::write(cli.path("journaled"), Rng::new(1).bytes(70_000)).expect("room");
        let at = tempfile::tempdir().expect("a folder");
        checked(Command::new("mount").args(["-o", "loop"]).arg(image).arg(at.path()));
        fs::copy(cli.path("journaled"), at.path().join("journaled")).expect("room");
        checked(Command::new("sync").arg("-f").arg(at.path()));
        // As a power cut leaves it.
        let copy = fs::read(image).expect("read");
        checked(Command::new("umount").arg(at.path()));
        fs::write(image, copy).expect("room");
    };
    if volume(&cli, "ext4", 24 << 20, journal).is_some() {
        let plan = cli.json(0, &format!("put @volume @pw --dry-run {WITH}"));
        assert_eq!(plan["plan"]["files"], 1);
        cli.ends(0, &format!("put @volume @pw {WITH}"));
        assert_eq!(cli.ends(0, &format!("get @volume /pw - {WITH}")).stdout, PASSWORD.as_bytes());
        in_order(&cli, "ext4");
    }
}

/// Where the file system is mounted that a `put` has begun to write that file into.
fn begun(cli: &Cli, name: &str) -> Option<PathBuf> {
    let sessions = fs::read_dir(sessions(cli)).ok()?.flatten();
    sessions.map(|entry| entry.path().join("inside")).find(|at| at.join(name).exists())
}

#[test]
fn ctrl_c_takes_back_what_was_begun_and_a_crash_leaves_what_can_be_closed() {
    let cli = Cli::new();
    if !root_with_loops() || volume(&cli, "ext4", 700 << 20, |_| ()).is_none() {
        return;
    }
    fs::write(cli.path("before"), "before").expect("room");
    let piece = Rng::new(7).bytes(64 << 20);
    let large = File::create(cli.path("large")).expect("room");
    for at in 0..8 {
        large.write_all_at(&piece, at * (64 << 20)).expect("room");
    }
    let start = |words: &str| {
        let words = cli.words(&format!("put @volume {words} {WITH}"));
        let child = cli.command(words).stderr(Stdio::piped()).spawn().expect("it starts");
        wait_until("it writes", || begun(&cli, "large").is_some());
        child
    };
    let child = start("@before @large /");
    kill_process(Pid::from_child(&child), Signal::INT).expect("ours");
    let done = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.code() == Some(1) && said.contains("interrupted"), "{:?} {said}", done.status);
    nothing_is_left(&cli);
    let names = cli.ends(0, &format!("ls @volume {WITH}")).stdout;
    let names = String::from_utf8_lossy(&names).into_owned();
    assert!(names.contains("before") && !names.contains("large"), "what was put before stays: {names}");
    // Killed, it leaves the volume open, and everybody is told.
    let mut child = start("@large");
    child.kill().expect("ours");
    child.wait().expect("it ends");
    let status = cli.json(0, "status");
    let open = &status["volumes"][0];
    assert_eq!(open["volume"].as_str(), cli.path("volume").to_str(), "{status}");
    assert_eq!(open["mountpoint"].as_str().map(PathBuf::from), begun(&cli, "large"), "{status}");
    cli.fails(6, "already-open", "keyway close", &format!("put @volume @before /again {WITH}"));
    cli.ends(0, "close @volume");
    nothing_is_left(&cli);
    // It gets full meanwhile: what was begun goes, and what was put before stays, as is told.
    cli.ends(0, &format!("put @volume @before /large --force {WITH}"));
    fs::hard_link(cli.path("large"), cli.path("filled")).expect("one folder");
    let words = cli.words(&format!("put @volume @before @filled / --force {WITH}"));
    let child = cli.command(words).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_until("it writes", || begun(&cli, "filled").is_some());
    let others = begun(&cli, "filled").expect("mounted").join("others");
    // As much as there is, where that is less by now.
    Command::new("fallocate").args(["-l", "450M"]).arg(&others).output().expect("util-linux");
    let done = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "{said}");
    for part in ["there is no room any more for /filled", "what was put before it stays"] {
        assert!(said.contains(part), "{said}");
    }
    nothing_is_left(&cli);
    let names = String::from_utf8_lossy(&cli.ends(0, &format!("ls @volume {WITH}")).stdout).into_owned();
    assert!(names.contains("before") && names.contains("others") && !names.contains("filled"), "{names}");
    in_order(&cli, "ext4");
}

/// A host disk that takes no more, as far as a test can have one: whoever serves may write no file beyond 80 MiB. What has mounted the
/// volume says nothing but that there was an error.
#[test]
fn why_the_medium_did_not_take_a_file_is_told() {
    if !root_with_loops() {
        return;
    }
    let cli = Cli::new();
    if volume(&cli, "ext4", 128 << 20, |_| ()).is_none() {
        return;
    }
    for name in ["a", "b", "c", "d"] {
        fs::write(cli.path(name), Rng::new(7).bytes(26 << 20)).expect("room");
    }
    let put = cli.command(cli.words(&format!("put @volume @a @b @c @d / {WITH}")));
    let mut sh = Command::new("sh");
    sh.args(["-c", "trap '' XFSZ; ulimit -f 163840; exec \"$@\"", "sh"]);
    sh.arg(put.get_program()).args(put.get_args());
    sh.envs(put.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = sh.output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("File too large"), "{said}");
    nothing_is_left(&cli);
}

#[test]
fn a_hidden_volume_in_an_ext4_is_kept_whole() {
    let cli = Cli::new();
    if !root_with_loops() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("hidden", "another-password-of-twenty");
    cli.ends(0, &format!("create @volume --size 60M --quick --filesystem ext4 {WITH}"));
    let hidden = "--hidden-password-file @hidden --hidden-pim 1";
    cli.ends(
        0,
        &format!("create @volume --hidden 30M --filesystem none --quick --yes --force {hidden} {WITH}"),
    );
    let inner = |cli: &Cli| cli.ends(0, "cat @volume --password-file @hidden --pim 1 --hash sha512").stdout;
    let before = inner(&cli);
    let protect = "--protect-hidden --protect-password-file @hidden --protect-pim 1";
    // What has room in front of it is there.
    fs::write(cli.path("small"), Rng::new(4).bytes(3 << 20)).expect("room");
    cli.ends(0, &format!("put @volume @small {protect} {WITH}"));
    assert!(cli.ends(0, &format!("get @volume /small - {WITH}")).stdout == Rng::new(4).bytes(3 << 20));
    assert!(inner(&cli) == before, "it was not touched");
    nothing_is_left(&cli);
    in_order(&cli, "ext4");
    fs::write(cli.path("large"), Rng::new(3).bytes(44 << 20)).expect("room");
    let words = format!("put @volume @large {protect} {WITH}");
    cli.fails(1, "hidden-volume", "before the hidden volume, and 44 MiB are to be written", &words);
    assert!(cli.run(&format!("ls @volume /large {WITH}")).status.code() != Some(0), "nothing was begun");
    assert!(inner(&cli) == before, "not one byte of it was written");
    nothing_is_left(&cli);
}

/// Runs a script as nobody, with a copy of the volume, which is what the tests have afterwards.
fn as_user(cli: &Cli, without: &[&str], script: &str) -> Option<String> {
    ["volume", "pw"].iter().for_each(|name| nobody::give(cli, name));
    let with = ("W", "--password-file pw --pim 1 --hash sha512".to_owned());
    let said = nobody::as_nobody(cli, without, &[with], script)?;
    fs::copy(nobody::folder(cli).join("volume"), cli.path("volume")).expect("room");
    Some(said)
}

/// What a user does who is not root, and leaves nothing behind.
const USES: &str = "
    mkdir -p tree/sub; echo one >tree/one; echo 'two words' >'tree/sub/two words'; head -c 9000000 /dev/urandom >tree/large
    $K put volume tree $W; $K put volume tree/one /tree/sub/again $W
    $K get volume /tree back $W; diff tree/one back/sub/again; rm back/sub/again; diff -r tree back
    fails $K put volume tree/one /tree/one $W; echo other >other; $K put volume other /tree/one --force $W
    $K get volume /tree/one - $W | grep -q other
    fails grep theirs/run /proc/mounts; fails sh -c 'ls run | grep -v lock'
    head -c 60000000 /dev/urandom >huge; fails $K put volume huge $W >said 2>&1; grep -q 'has room for .* in all' said
    fails $K get volume /huge - $W
    fails grep theirs/run /proc/mounts; fails sh -c 'ls run | grep -v lock'";

fn a_user_puts_files_into(kind: &str, program: &str) {
    let cli = Cli::new();
    if root_with_loops()
        && require_tool(program).is_some()
        && volume(&cli, kind, 40 << 20, |_| ()).is_some()
        && as_user(&cli, &[], USES).is_some()
    {
        in_order(&cli, kind);
    }
}

#[test]
fn a_user_without_root_puts_files_into_an_ntfs() {
    a_user_puts_files_into("ntfs", "ntfs-3g");
}

#[test]
fn a_user_without_root_puts_files_into_an_ext4() {
    a_user_puts_files_into("ext4", "fuse2fs");
}

#[test]
fn where_nothing_writes_to_it_the_package_or_root_is_named() {
    if !root_with_loops() {
        return;
    }
    for (kind, size, shown, helps) in [
        ("xfs", 320 << 20, "XFS", "sudo"),
        ("ext4", 24 << 20, "ext4", "fuse2fs"),
        ("ntfs", 24 << 20, "NTFS", "ntfs-3g"),
    ] {
        let cli = Cli::new();
        if volume(&cli, kind, size, |_| ()).is_none() {
            continue;
        }
        if kind == "xfs" {
            let (volume, pw) = (cli.path("volume"), cli.path("pw"));
            let (volume, pw) = (volume.display(), pw.display());
            let mounts =
                format!("sudo keyway open {volume} FOLDER --hash sha512 --password-file {pw} --pim 1 (");
            cli.fails(5, "unsupported", &mounts, &format!("ls @volume {WITH}"));
        }
        let script = "fails $K put volume pw $W >said 2>&1; cat said; fails sh -c 'ls run | grep -v lock'";
        let Some(said) = as_user(&cli, &["fuse2fs", "ntfs-3g"], script) else { return };
        let told = format!("nothing here writes to {shown} without root");
        assert!(said.contains(&told) && said.contains(helps), "{said}");
        assert!(said.contains("sudo keyway put volume pw --hash sha512 --password-file"), "{said}");
    }
    // What is there can't be used: FUSE lacks what mounts it for a user.
    let cli = Cli::new();
    if require_tool("fuse2fs").is_some() && volume(&cli, "ext4", 24 << 20, |_| ()).is_some() {
        let script = "fails $K put volume pw $W >said 2>&1; cat said; fails sh -c 'ls run | grep -v lock'";
        let Some(said) = as_user(&cli, &["fusermount3", "fusermount"], script) else { return };
        assert!(said.contains("FUSE can't be used: fusermount3 is missing"), "{said}");
        assert!(said.contains("fuse3") && said.contains("sudo keyway put volume"), "{said}");
    }
}
