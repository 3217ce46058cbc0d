//! `open --cache`: a loop device through the page cache holds what fio and ext4 put there, also when memory is scarce,
//! and is refused where it could not keep what is promised.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked, has_fuse, two_lines};
use keyway_testkit::{is_root, require_root, require_tool, skip};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `O_EXCL`: of a block device, as long as nobody else claims it.
const EXCL: i32 = 0o200;

const WITH: &str = "--password-file @pw --pim 1 --hash sha512";

/// A volume of so many MiB without a file system.
fn volume(cli: &Cli, mib: u32) {
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, &format!("create @v --size {mib}M --quick --filesystem none --password-file @pw --pim 1"));
}

fn device(opened: &serde_json::Value) -> String {
    opened["device"].as_str().expect("a loop device").to_owned()
}

/// fio with a pattern that says where each block belongs; `option` decides whether it writes or checks.
fn fio(device: &str, megabytes: u32, option: &str) -> Command {
    let mut command = Command::new("fio");
    command.args(["--name=x", "--rw=randwrite", "--bsrange=512-256k", "--blockalign=512", "--direct=1"]);
    command.args([
        "--ioengine=libaio",
        "--iodepth=16",
        "--verify=crc32c",
        "--randseed=7",
        "--verify_state_save=0",
    ]);
    command.args([format!("--filename={device}"), format!("--size={megabytes}M"), option.to_owned()]);
    command
}

#[test]
fn what_fio_writes_it_finds_again_past_the_cache() {
    if !require_root() || !has_fuse() || require_tool("fio").is_none() {
        return;
    }
    for transport in ["", "dev"] {
        let cli = Cli::new();
        volume(&cli, 24);
        let mut open = cli.command(cli.words(&format!("open @v --cache --json {WITH}")));
        let opened = open.env("KEYWAY_FUSE", transport).output().expect("keyway starts");
        let opened = serde_json::from_slice(&opened.stdout).expect("JSON");
        checked(&mut fio(&device(&opened), 20, "--do_verify=1"));
        let status = cli.json(0, "status @v");
        let below = status["cache"].as_str().expect("another loop device");
        // Nobody else can claim that one, to mount it, and it names the volume.
        let claimed = std::fs::OpenOptions::new().read(true).custom_flags(EXCL).open(below);
        assert_eq!(claimed.expect_err("it is claimed").kind(), std::io::ErrorKind::ResourceBusy);
        assert_eq!(cli.json(0, &format!("status {below}"))["id"], status["id"]);
        cli.ends(0, "close @v");
        let opened = cli.json(0, &format!("open @v --attach fuse --read-only {WITH}"));
        checked(&mut fio(&device(&opened), 20, "--verify_only"));
        cli.ends(0, "close @v");
    }
}

/// A folder of the kernel's memory controller whose processes may have so many bytes, page cache included.
struct Scarce(PathBuf);

impl Scarce {
    fn new(bytes: u64) -> Option<Self> {
        let name = format!("keyway-test-{}", std::process::id());
        // Version 1, where it is mounted so; else version 2.
        let tries = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        for (root, limit) in tries {
            let folder = Path::new(root).join(&name);
            if std::fs::create_dir(&folder).is_ok() {
                let made = Self(folder);
                if std::fs::write(made.0.join(limit), bytes.to_string()).is_ok() {
                    return Some(made);
                }
            }
        }
        skip("no memory controller here");
        None
    }

    /// The command, run by a shell that is in there.
    fn run(&self, command: &Command) -> Command {
        let mut shell = Command::new("timeout");
        shell.args(["120", "sh", "-c", "echo $$ >\"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.0);
        shell.arg(command.get_program()).args(command.get_args());
        shell
    }
}

impl Drop for Scarce {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The pages that are to be written out are those that there is no more room for: who waits for that must not be
/// who does it.
#[test]
fn little_memory_makes_it_slow_and_nothing_else() {
    if !require_root() || !has_fuse() || require_tool("fio").is_none() {
        return;
    }
    let Some(scarce) = Scarce::new(32 << 20) else { return };
    let cli = Cli::new();
    volume(&cli, 100);
    // The server and who writes have a third of the volume's size between them.
    let open = cli.command(cli.words(&format!("open @v --cache --json {WITH}")));
    let mut opened = scarce.run(&open);
    opened.env("KEYWAY_RUNTIME_DIR", cli.keyway.runtime_folder().join("sessions"));
    let opened = opened.output().expect("keyway starts");
    let opened = serde_json::from_slice(&opened.stdout).expect("JSON");
    checked(&mut scarce.run(&fio(&device(&opened), 96, "--do_verify=1")));
    cli.ends(0, "close @v");
}

#[test]
fn a_file_system_is_whole_after_closing() {
    let tools = ["mkfs.ext4", "e2fsck"];
    if !require_root() || !has_fuse() || tools.iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let cli = Cli::new();
    volume(&cli, 24);
    let opened = cli.json(0, &format!("open @v --cache {WITH}"));
    checked(Command::new("mkfs.ext4").arg("-q").arg(device(&opened)));
    cli.ends(0, "close @v");
    let at = cli.path("mnt");
    std::fs::create_dir(&at).expect("a folder");
    cli.json(0, &format!("open @v @mnt --cache {WITH}"));
    let content = PASSWORD.repeat(100_000);
    for name in ["one", "two", "three"] {
        std::fs::write(at.join(name), &content).expect("room");
    }
    std::fs::remove_file(at.join("two")).expect("ours");
    cli.ends(0, "close @v");
    let plain = cli.keyway.secret("plain", cli.plain("v"));
    checked(Command::new("e2fsck").arg("-fn").arg(&plain));
    cli.json(0, &format!("open @v @mnt --read-only {WITH}"));
    assert!(std::fs::read_to_string(at.join("three")).expect("it is there") == content);
    cli.ends(0, "close @v");
}

#[test]
fn a_refused_close_changes_nothing() {
    if !require_root() || !has_fuse() {
        return;
    }
    let cli = Cli::new();
    volume(&cli, 4);
    let opened = cli.json(0, &format!("open @v --cache {WITH}"));
    let below = opened["cache"].as_str().expect("the loop device below");
    let user = std::fs::File::open(below).expect("root may");
    cli.fails(6, "busy", "(`lsof` or `fuser -vm` tells what that is)", "close @v");
    let backing = Path::new("/sys/block").join(device(&opened).trim_start_matches("/dev/"));
    let backing = std::fs::read_to_string(backing.join("loop/backing_file"));
    let status = cli.json(0, "status @v");
    drop(user);
    cli.ends(0, "close @v");
    assert_eq!(backing.expect("the upper one is there still").trim(), below);
    assert_eq!((&status["device"], &status["cache"]), (&opened["device"], &opened["cache"]));
}

#[test]
fn it_is_refused_where_it_can_not_be() {
    let cli = Cli::new();
    volume(&cli, 1);
    for way in ["nbd", "vhost-user", "ublk", "dm-crypt"] {
        let (what, advice) = two_lines(&cli.ends(2, &format!("open @v --cache --attach {way} {WITH}")));
        assert!(what.contains("--cache") && advice.contains("--attach"), "{what}\n{advice}");
    }
    let protect = "--protect-password-file @pw --protect-pim 1";
    let (what, advice) = two_lines(&cli.ends(2, &format!("open @v --cache {protect} {WITH}")));
    assert!(what.contains("hidden volume") && advice.contains("--cache"), "{what}\n{advice}");
    cli.refused(
        "usage",
        "--cache does not go with --allow-discards",
        &format!("open @v --cache --allow-discards {WITH}"),
    );
    if !is_root() && has_fuse() {
        let (what, _) = two_lines(&cli.ends(5, &format!("open @v --cache {WITH}")));
        assert!(what.contains("loop device"), "{what}");
    }
}
