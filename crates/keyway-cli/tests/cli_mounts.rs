//! What is in an open volume and where it is mounted: at once, later, beside what others have mounted there, and what can't be.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, has_fuse, two_lines};
use keyway_testkit::{NbdFuse, require_root, require_tool, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

fn volumes(cli: &Cli) -> Vec<serde_json::Value> {
    cli.json(0, "status")["volumes"].as_array().expect("a list").clone()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A process that begins a mount namespace of its own, as containers do, has a copy of every mount that there is then.
#[test]
fn a_copy_of_the_mount_in_another_namespace_keeps_no_volume_open() {
    let tools = ["unshare", "losetup"];
    if !has_fuse() || !require_root() || tools.iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let cli = Cli::new();
    cli.volume("v");
    let opened = cli.json(0, "open @v --password-file @pw --pim 1 --attach fuse");
    let pid = opened["pid"].as_i64().expect("a process");
    let mut sleeper = keyway_testkit::own_mounts(Path::new("unshare"), &[], &cli.path(""));
    let mut sleeper = sleeper.args(["sleep", "600"]).spawn().expect("it starts");
    let copies = format!("/proc/{}/mountinfo", sleeper.id());
    let file = opened["file"].as_str().expect("a file").trim_end_matches("/volume").to_owned();
    // As many namespaces, and the copy in its own.
    let own = std::fs::read_link("/proc/self/ns/mnt").expect("a namespace");
    wait_until("a namespace of its own", || {
        std::fs::read_link(format!("/proc/{}/ns/mnt", sleeper.id())).is_ok_and(|theirs| theirs != own)
            && std::fs::read(format!("/proc/{}/comm", sleeper.id())).is_ok_and(|name| name == b"sleep\n")
    });
    assert!(std::fs::read_to_string(copies).expect("its mounts").contains(&file), "it has no copy");
    cli.ends(0, "close @v");
    wait_until("the server's end", || !Path::new(&format!("/proc/{pid}")).exists());
    assert!(volumes(&cli).is_empty());
    sleeper.kill().expect("it runs");
    sleeper.wait().expect("it ended");
}

/// Whether it can be mounted the kernel says itself: what was promised is what it does.
/// In a container nobody may mount, root neither: what works all the same is named.
#[test]
fn where_nothing_may_be_mounted_what_works_without_is_named() {
    let Some(setpriv) = require_tool("setpriv").filter(|_| require_root() && has_fuse()) else { return };
    let cli = Cli::new();
    cli.volume("v");
    std::fs::create_dir(cli.path("mnt")).expect("a folder");
    for how in [" @mnt", " --attach fuse"] {
        let open = cli.command(cli.words(&format!("open @v{how} --json --password-file @pw --pim 1")));
        let mut barred = Command::new(&setpriv);
        barred.args(["--bounding-set", "-sys_admin"]).arg(open.get_program()).args(open.get_args());
        let variables = open.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let done = barred.envs(variables).output().expect("it starts");
        let told: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        assert_eq!(done.status.code(), Some(5), "{told}");
        let hint = told["error"]["hint"].as_str().unwrap_or_default();
        for verb in ["keyway ls", "keyway get", "keyway cat"] {
            assert!(hint.contains(verb), "{how}: {hint}");
        }
    }
}

#[test]
fn what_is_open_and_not_mounted_says_what_it_holds_and_what_reaches_it() {
    if !require_root() || !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    std::fs::create_dir(cli.path("mnt")).expect("a folder");
    for (made, held) in [("ext4", "ext4"), ("fat", "vfat"), ("none", "")] {
        if made != "none" && require_tool(&format!("mkfs.{made}")).is_none() {
            continue;
        }
        let with = "--password-file @pw --pim 1";
        cli.ends(0, &format!("create @{made} --size 12M --quick --filesystem {made} {with}"));
        let opened = cli.json(0, &format!("open @{made} --attach fuse {with}"));
        assert_eq!(opened["filesystem"].as_str().unwrap_or_default(), held, "{opened}");
        let status = cli.json(0, &format!("status @{made}"));
        assert_eq!((&status["filesystem"], &status["bytes_read"]), (&opened["filesystem"], &0.into()));
        let path = cli.path(made).display().to_string();
        if let Some(next) = opened["next"].as_str() {
            if next != format!("keyway open {path} FOLDER") {
                // Nothing here mounts it: by what opened it, its files are shown, and not without.
                let pw = cli.path("pw").display().to_string();
                assert_eq!(
                    next,
                    format!("keyway open {path} FOLDER --attach files --password-file {pw} --pim 1")
                );
                assert_eq!(cli.run(&format!("open @{made} @mnt")).status.code(), Some(5));
                cli.ends(0, &format!("close @{made}"));
                cli.fails(5, "mount", "--attach files", &format!("open @{made} @mnt {with}"));
            }
            cli.ends(0, &next.replacen("keyway ", "", 1).replace("FOLDER", "@mnt"));
        } else {
            assert_eq!(made, "none", "{opened}");
        }
        cli.ends(0, &format!("close @{made} --if-open"));
        let said = text(&cli.ends(0, &format!("open @{made} --attach fuse {with}")).stdout);
        let held = held.replace("vfat", "FAT");
        assert_eq!(said.contains(&format!("It holds {held}")), made != "none", "{said}");
    }
}

/// A file system that ends behind its volume, or is damaged, is no lack of this machine's; and the loop device that shows it is
/// no part of the drive on which the volume lies.
#[test]
fn what_can_not_be_mounted_is_told_by_what_is_wrong_with_it() {
    if !require_root() || !has_fuse() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    std::fs::create_dir(cli.path("mnt")).expect("a folder");
    let with = "--attach fuse --password-file @pw --pim 1";
    // Blocks in its superblock, and that one's checksum.
    for (name, at, says) in [("short", 1024 + 4, "copy all of it again"), ("broken", 2048 - 4, "e2fsck -f")] {
        cli.ends(
            0,
            &format!("create @{name} --size 12M --quick --filesystem ext4 --password-file @pw --pim 1"),
        );
        let opened = cli.json(0, &format!("open @{name} {with}"));
        let device = opened["device"].as_str().expect("a device");
        let medium = OpenOptions::new().read(true).write(true).open(device).expect("it opens");
        let mut field = [0; 4];
        medium.read_exact_at(&mut field, at).expect("read");
        field[2] ^= 0x10;
        medium.write_all_at(&field, at).expect("written");
        medium.sync_all().expect("synced");
        drop(medium);
        cli.fails(4, "damaged-filesystem", says, &format!("open @{name} @mnt"));
        for verb in ["info", "setup --recovery-sheet @sheet --yes --password-file @pw"] {
            cli.fails(4, "not-a-drive", "it is a loop device", &format!("drive {verb} {device}"));
        }
        cli.ends(0, &format!("close @{name}"));
        cli.fails(4, "damaged-filesystem", says, &format!("open @{name} @mnt {with}"));
        assert!(volumes(&cli).is_empty(), "it is open");
    }
}

/// Nobody is asked for a secret a second time, and closing unmounts it.
#[test]
fn what_is_open_is_mounted_later() {
    if !require_root() || !has_fuse() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --size 24M --quick --filesystem ext4 --password-file @pw --pim 1");
    cli.ends(0, "open @v --attach fuse --password-file @pw --pim 1");
    cli.fails(1, "not-found", "mkdir -p", "open @v @mnt");
    std::fs::create_dir(cli.path("mnt")).expect("a folder");
    // What its driver does not know is told, here and where it is mounted at once.
    let unknown = "--mount-options noatime,foo=bar";
    cli.refused("usage", "foo=bar is no option", &format!("open @v @mnt {unknown}"));
    cli.ends(0, "close @v");
    let with = "--attach fuse --password-file @pw --pim 1";
    cli.refused("usage", "leave it out of --mount-options", &format!("open @v @mnt {unknown} {with}"));
    cli.ends(0, &format!("open @v {with}"));
    let planned = cli.json(0, "open @v @mnt --dry-run");
    assert_eq!(planned["plan"]["mount"].as_str(), cli.path("mnt").to_str());
    let mounted = cli.json(0, "open @v @mnt");
    assert_eq!(mounted["mountpoint"].as_str(), cli.path("mnt").to_str(), "{mounted}");
    std::fs::write(cli.path("mnt").join("letter"), "written").expect("it is mounted");
    let by_folder = cli.json(0, &format!("status {}", cli.path("mnt").display()));
    assert_eq!(by_folder["volume"].as_str(), cli.path("v").to_str());
    cli.fails(6, "already-open", "", "open @v @mnt");
    // In use, nothing is taken away.
    let held = std::fs::File::open(cli.path("mnt").join("letter")).expect("the file");
    cli.fails(6, "busy", "", "close @v");
    assert_eq!(std::fs::read(cli.path("mnt").join("letter")).expect("still mounted"), b"written");
    drop(held);
    cli.ends(0, "close @v");
    assert!(!cli.path("mnt").join("letter").exists(), "it was unmounted");
    let listed = cli.json(0, "ls @v --password-file @pw --pim 1");
    let entries = listed["entries"].as_array().expect("a list");
    assert!(entries.iter().any(|entry| entry["name"] == "letter"), "{listed}");

    // What was unmounted by hand can be mounted again, and is not taken away twice.
    cli.ends(0, "open @v --attach fuse --password-file @pw --pim 1");
    for _ in 0..2 {
        cli.ends(0, "open @v @mnt --read-only");
        assert!(std::fs::write(cli.path("mnt").join("letter"), "again").is_err(), "read-only");
        cli_support::checked(Command::new("umount").arg(cli.path("mnt")));
    }
    cli.ends(0, "close @v");
    // Below one's home the folder is made.
    let words = cli.words("open @v @home/stick --attach fuse --password-file @pw --pim 1");
    let done = cli.command(words).env("HOME", cli.path("home")).output().expect("keyway starts");
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(cli.path("home/stick/letter").exists());
    cli.ends(0, "close @v");
    // So it goes again, and one that was there before stays.
    assert!(!cli.path("home/stick").exists() && cli.path("home").exists() && cli.path("mnt").exists());
    cli.ends(0, &format!("open @v @mnt {with}"));
    cli.ends(0, "close @v");
    assert!(cli.path("mnt").exists());
    // Whatever unmounts it.
    let words = cli.words(&format!("open @v @home/stick {with}"));
    let done = cli.command(words).env("HOME", cli.path("home")).output().expect("keyway starts");
    assert!(done.status.success(), "{}", text(&done.stderr));
    cli_support::checked(Command::new("umount").arg(cli.path("home/stick")));
    wait_until("the folder is gone", || !cli.path("home/stick").exists());
    // One that was made later as well.
    cli.ends(0, &format!("open @v {with}"));
    let mut later = cli.command(cli.words("open @v @home/stick"));
    cli_support::checked(later.env("HOME", cli.path("home")));
    assert!(cli.path("home/stick/letter").exists());
    cli.ends(0, "close @v");
    assert!(!cli.path("home/stick").exists());
}

#[test]
fn the_folder_that_close_is_called_in_is_closed() {
    if !require_root() || !has_fuse() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let with = "--attach fuse --password-file @pw --pim 1";
    cli.ends(0, "create @v --size 24M --quick --filesystem ext4 --password-file @pw --pim 1");
    std::fs::create_dir(cli.path("mnt")).expect("a folder");
    for words in ["close .", "close --all", "close @v"] {
        cli.ends(0, &format!("open @v @mnt {with}"));
        let mut close = cli.command(cli.words(words));
        cli_support::checked(close.current_dir(cli.path("mnt").join("lost+found/..")));
        assert!(!cli.path("mnt").join("lost+found").exists(), "{words}");
    }
    // Whoever else works there is told, and `close` itself is not.
    cli.ends(0, &format!("open @v @mnt {with}"));
    let mut shell = Command::new("sh");
    shell.args(["-c", r#""$0" close .; echo "$?""#, env!("CARGO_BIN_EXE_keyway")]);
    shell.env("KEYWAY_RUNTIME_DIR", cli.keyway.runtime_folder().join("sessions"));
    let done = shell.current_dir(cli.path("mnt")).output().expect("sh");
    let told = text(&done.stderr);
    assert!(done.stdout == b"6\n" && told.contains("sh (") && !told.contains("keyway ("), "{told}");
    cli.ends(0, "close @v");
}

/// What else is mounted on its folder, in it, or of it, is not taken away with a volume, and nothing of the volume is while
/// that is there.
#[test]
fn what_else_is_mounted_there_stays() {
    if !require_root() || !has_fuse() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let with = "--attach fuse --password-file @pw --pim 1";
    for name in ["v", "w"] {
        cli.ends(
            0,
            &format!("create @{name} --size 24M --quick --filesystem ext4 --password-file @pw --pim 1"),
        );
    }
    for folder in ["mnt", "second"] {
        std::fs::create_dir(cli.path(folder)).expect("a folder");
    }
    cli.ends(0, &format!("open @v @mnt {with}"));
    cli.fails(6, "busy", "is mounted on", &format!("open @w @mnt {with}"));
    cli.ends(0, &format!("open @w {with}"));
    cli.fails(6, "busy", "is mounted on", "open @w @mnt");
    cli.ends(0, "close @w");
    std::fs::create_dir(cli.path("mnt").join("in")).expect("a folder inside");
    let mount = |arguments: &[&str], at: &Path| {
        cli_support::checked(Command::new("mount").args(arguments).arg(at));
    };
    let of_memory = ["-t", "tmpfs", "none"];
    let own = cli.path("mnt");
    let own = own.to_str().expect("text");
    for (arguments, at, why) in [
        (&of_memory[..], "mnt", "something else is mounted over it"),
        (&of_memory[..], "mnt/in", "something else is mounted in it"),
        (&["--bind", own][..], "second", "as well"),
    ] {
        let at = cli.path(at);
        mount(arguments, &at);
        std::fs::write(at.join("theirs"), "kept").expect("written");
        for words in ["close @v --dry-run", "close @v", "close --all"] {
            let (what, advice) = two_lines(&cli.ends(6, words));
            assert!(what.contains(why), "{what}");
            assert!(advice.contains(&format!("umount {}", at.display())), "{advice}");
            assert_eq!(std::fs::read(at.join("theirs")).expect("still mounted"), b"kept");
        }
        cli_support::checked(Command::new("umount").arg(&at));
        assert!(cli.path("mnt").join("in").exists(), "the volume is no longer mounted");
        let _ = std::fs::remove_file(cli.path("mnt").join("theirs"));
    }
    cli.ends(0, "close @v");
    assert!(!cli.path("mnt").join("in").exists(), "it was unmounted");
}

/// A server may be killed while the kernel waits for it: here it puts a loop device on the file, flushes that for it, and the
/// medium takes its time. A thread of the server that waited for the server would stay, and hold the locks of all loop devices.
#[test]
fn a_server_killed_while_a_loop_device_is_put_on_its_file_holds_none_up() {
    let tools = ["nbdkit", "dd", "timeout", "losetup"];
    if !has_fuse() || !require_root() || tools.iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let cli = Cli::new();
    cli.volume("v");
    std::fs::copy(cli.path("v"), cli.path("other")).expect("room");
    let (image, hold, held, socket) = (cli.path("v"), cli.path("hold"), cli.path("held"), cli.path("s"));
    // Each flush says that it has come, and waits until it may go.
    let mut medium = Command::new("nbdkit");
    medium.args(["--foreground", "--exit-with-parent", "--unix"]).arg(&socket).arg("eval");
    let (image, hold_at, held_at) = (image.display(), hold.display(), held.display());
    medium.arg(format!("get_size=stat -L -c %s {image}"));
    medium.arg(format!("pread=dd if={image} skip=$4 count=$3 iflag=skip_bytes,count_bytes 2> /dev/null"));
    medium.arg(format!("pwrite=dd of={image} seek=$4 conv=notrunc oflag=seek_bytes 2> /dev/null"));
    medium.arg(format!("flush=touch {held_at}; while [ -e {hold_at} ]; do sleep 0.05; done"));
    let mut medium = medium.args(["can_write=exit 0", "can_flush=exit 0"]).spawn().expect("nbdkit starts");
    let Some(client) = NbdFuse::mount(&cli.path("disk"), &socket) else {
        medium.kill().and_then(|()| medium.wait()).expect("nbdkit ends");
        return;
    };
    std::os::unix::fs::symlink(client.file(), cli.path("slow")).expect("room");

    std::fs::write(&hold, "").expect("room");
    let words = "open @slow --password-file @pw --pim 1 --attach fuse";
    let mut opening = cli.command(cli.words(words)).spawn().expect("it starts");
    wait_until("the kernel flushes the file", || held.exists());
    let pid = volumes(&cli)[0]["pid"].as_i64().expect("a process");
    let server = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(server, Signal::KILL).expect("ours");
    std::fs::remove_file(&hold).expect("it was there");
    wait_until("the server's end", || !Path::new(&format!("/proc/{pid}")).exists());
    assert!(!opening.wait().expect("it ends").success());
    // Nobody waits for it.
    let listed = Command::new("timeout").args(["60", "losetup", "--list"]).output().expect("it runs");
    assert!(listed.status.success(), "{}", text(&listed.stderr));
    for volume in ["@other", "@slow"] {
        cli.ends(0, &format!("open {volume} --password-file @pw --pim 1 --attach fuse"));
        cli.ends(0, &format!("close {volume}"));
    }
    assert!(volumes(&cli).is_empty());
    drop(client);
    let _ = medium.kill();
    medium.wait().expect("nbdkit ends");
}
