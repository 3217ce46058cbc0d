//! The files in a volume in a folder, by a user that the kernel mounts nothing for: what other programs put in comes out
//! as it went in, nothing can be changed, and nothing is left behind.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::nobody::as_nobody;
use cli_support::{Cli, PASSWORD, checked, has_fuse};
use keyway_testkit::{FailingDisk, Fault, Rng, require_root, require_tool, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

const WITH: &str = "--password-file @pw --pim 1";

/// What goes into every volume: files of all lengths, many in a folder, folders in folders.
fn fill(tree: &Path) {
    let make = |name: &str, len: usize| {
        fs::write(tree.join(name), Rng::new(len as u64).bytes(len)).expect("room");
    };
    fs::create_dir_all(tree.join("one/two/Größe und 漢字")).expect("room");
    fs::create_dir(tree.join("many")).expect("room");
    for (i, len) in [0, 1, 511, 4096, 70_000, 5 << 20].into_iter().enumerate() {
        make(&format!("file {i}.bin"), len);
    }
    for i in 0..300 {
        make(&format!("many/a rather long name that needs several entries {i:03}"), i);
    }
    make("one/two/Größe und 漢字/inner", 99);
}

/// A volume with that file system, filled by the tools of others; `None` after a visible skip.
fn volume(cli: &Cli, kind: &str, from: &Path, change: impl FnOnce(&Path)) -> Option<()> {
    let image = cli.path("image");
    match kind {
        "vfat" => {
            require_tool("mcopy")?;
            cli.make("image", 16 << 20, "mkfs.fat", &["-F", "16", "-s", "4"])?;
            let all = fs::read_dir(from).expect("it is there").map(|entry| entry.expect("readable").path());
            let mut mcopy = Command::new(require_tool("mcopy")?);
            checked(mcopy.env("LC_ALL", "C.UTF-8").arg("-smi").arg(&image).args(all).arg("::"));
        }
        "ntfs" => {
            let ntfscp = require_tool("ntfscp")?;
            cli.make("image", 16 << 20, "mkfs.ntfs", &["-q", "-F", "-Q"])?;
            // It makes files in the root folder alone.
            for entry in
                fs::read_dir(from).expect("it is there").flatten().filter(|entry| entry.path().is_file())
            {
                checked(Command::new(&ntfscp).arg("-q").arg(&image).arg(entry.path()).arg(entry.file_name()));
            }
        }
        "ext4" => cli.make("image", 16 << 20, "mkfs.ext4", &["-q", "-d", from.to_str()?])?,
        other => panic!("{other}"),
    }
    change(&image);
    cli.keyway.secret("pw", PASSWORD);
    let create = format!("create @volume --size 17M --quick --filesystem none {WITH}");
    cli.ends(0, &create);
    let bytes = fs::read(&image).expect("it is there");
    let opened = cli.json(0, &format!("open @volume --attach fuse {WITH}"));
    let file = opened["file"].as_str().expect("a file").to_owned();
    let file = File::options().write(true).open(file).expect("ours");
    file.write_all_at(&bytes, 0).and_then(|()| file.sync_all()).expect("room");
    drop(file);
    cli.ends(0, "close @volume");
    Some(())
}

#[test]
fn a_user_without_root_has_the_files_in_a_folder() {
    if !require_root() || !has_fuse() {
        return;
    }
    for kind in ["vfat", "ntfs", "ext4"] {
        let (cli, from) = (Cli::new(), tempfile::tempdir().expect("a folder"));
        fs::set_permissions(from.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        fill(from.path());
        if kind == "ntfs" {
            // What was not put in.
            fs::remove_dir_all(from.path().join("one")).expect("ours");
            fs::remove_dir_all(from.path().join("many")).expect("ours");
        }
        if volume(&cli, kind, from.path(), |_| ()).is_none() {
            continue;
        }
        let from = from.path().display();
        let script = format!(
            "mkdir -p files; $K open $V files $W --mount-options noatime,ro --json | tr -d ' \\n' >opened; grep -q '\"attachment\":\"files\"' opened
                 grep -q '\"filesystem\":\"{kind}\"' opened; grep -q '\"read_only\":true' opened
                 grep -q '\"role\":\"fuse\"' opened || grep -q '\"sandbox\":null' opened
                 diff -r --exclude=lost+found {from} files
                 cp -a files copy; diff -r --exclude=lost+found {from} copy
                 test $(find files | wc -l) = $(find copy | wc -l)
                 test $(stat -c %u files/'file 5.bin') = 65534
                 fails touch files/new; fails rm files/'file 0.bin'; fails sh -c 'echo >>files/\"file 1.bin\"'
                 grep -q ' {}/files fuse.keyway ro,nosuid,nodev' /proc/mounts
                 $K status $V | grep -q 'mounted at'
                 tail -f files/'file 5.bin' >/dev/null & sleep=$!
                 until ls -l /proc/$sleep/fd | grep -q 'file 5'; do :; done
                 fails $K close $V; kill $sleep; wait $sleep || true
                 $K close files; fails grep $D /proc/mounts; fails sh -c 'ls files | grep .'
                 fails $K open $V files --mount-options uid=7 $W >said 2>&1; grep -q 'leave out --mount-options' said
                 fails $K open $V {} $W </dev/null >said 2>&1; grep -q 'a folder of your own' said
                 fails $K get $V x {}/new </dev/null >said 2>&1; grep -q 'could not make' said
                 fails sh -c 'ls run | grep -v lock'",
            cli.path("theirs").display(),
            cli.path("roots").display(),
            cli.path("roots").display()
        );
        let _ = fs::create_dir(cli.path("roots"));
        for name in ["volume", "pw"] {
            fs::set_permissions(cli.path(name), fs::Permissions::from_mode(0o644)).expect("ours");
        }
        let volume = cli.path("volume").display().to_string();
        let with = format!("--password-file {} --pim 1", cli.path("pw").display());
        let Some(said) = as_nobody(&cli, &[], &[("V", volume), ("W", with)], &script) else { return };
        assert!(said.contains("is in use by tail"), "{said}");
    }
}

/// An ext4 with a folder that holds itself, besides files.
fn looped(cli: &Cli) -> Option<()> {
    let from = tempfile::tempdir().expect("a folder");
    fill(from.path());
    let debugfs = require_tool("debugfs")?;
    volume(cli, "ext4", from.path(), |image| {
        checked(Command::new(debugfs).args(["-w", "-R", "ln one one/two/again"]).arg(image));
    })
}

fn is_mounted(at: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/mounts").expect("Linux");
    mounts.contains(&format!(" {} ", at.display()))
}

#[test]
fn a_killed_server_a_failing_medium_and_a_folder_in_itself() {
    let cli = Cli::new();
    if !require_root() || !has_fuse() || looped(&cli).is_none() {
        return;
    }
    let at = cli.path("files");
    fs::create_dir(&at).expect("room");
    let open = |name: &str| {
        let opened = cli.json(0, &format!("open @{name} @files --attach files {WITH}"));
        assert_eq!(
            (&opened["mountpoint"], &opened["read_only"]),
            (&at.display().to_string().into(), &true.into())
        );
        opened["pid"]
            .as_i64()
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw)
            .expect("a process")
    };
    let server = open("volume");
    let found = Command::new("find").arg(&at).output().expect("it ends");
    let names = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(names.contains("/one/two/") && !names.contains("again/"), "{names}");
    assert!(!found.status.success(), "it is said that a folder can't be looked into");
    kill_process(server, Signal::KILL).expect("ours");
    wait_until("it is gone", || fs::metadata(&at).is_err_and(|e| e.raw_os_error() == Some(107)));
    cli.ends(0, "close @volume");
    assert!(!is_mounted(&at) && fs::read_dir(&at).expect("it is a folder again").next().is_none());
    let Some(disk) = FailingDisk::on(&cli.path("volume"), &cli.path("disk")) else { return };
    std::os::unix::fs::symlink(disk.file(), cli.path("failing")).expect("room");
    open("failing");
    assert_eq!(
        fs::read(at.join("many").join("a rather long name that needs several entries 299"))
            .expect("read")
            .len(),
        299
    );
    disk.fail(Fault::Reads);
    let failed = fs::read(at.join("file 5.bin")).expect_err("the medium fails");
    assert_eq!(failed.raw_os_error(), Some(5), "{failed}");
    disk.mend();
    assert_eq!(fs::read(at.join("file 5.bin")).expect("it works again").len(), 5 << 20);
    cli.ends(0, "close @failing");
    assert!(!is_mounted(&at));
}

#[test]
fn what_can_not_be_shown_is_said_and_nothing_is_left() {
    let cli = Cli::new();
    if !has_fuse() {
        return;
    }
    cli.keyway.secret("pw", PASSWORD);
    fs::create_dir(cli.path("files")).expect("room");
    cli.ends(0, &format!("create @volume --size 2M --quick --filesystem none {WITH}"));
    cli.fails(
        4,
        "no-filesystem",
        "no file system in the volume",
        &format!("open @volume @files --attach files {WITH}"),
    );
    assert!(!is_mounted(&cli.path("files")));
    cli.fails(
        2,
        "usage",
        "here the files are shown by this program",
        &format!("open @volume @files --attach files --mount-options uid=7 {WITH}"),
    );
    assert_eq!(cli.json(0, "status")["volumes"], serde_json::json!([]));
}
