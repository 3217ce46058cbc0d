//! Discards reach the medium with `--allow-discards` and not without: holes in a container, and
//! through BLKDISCARD of a device in the file behind that; from NBD's clients, and from a file system on a
//! loop device. What is zeroed reads as zeros all the same.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, has_fuse, two_lines};
use keyway_testkit::{require_root, require_tool, skip};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const WITH: &str = "--password-file @pw --pim 1 --hash sha512";
const MIB: usize = 1 << 20;

/// A container of 8 MiB in which every byte is written.
fn full_volume(cli: &Cli) {
    cli.keyway.secret("pw", PASSWORD);
    let create = "create @v --size 8M --filesystem none --password-file @pw --pim 1";
    cli.ends(0, create);
}

/// Bytes that a file takes on its disk.
fn allocated(path: &Path) -> u64 {
    path.metadata().expect("it is there").blocks() * 512
}

/// Whether a file takes so many bytes, but for what its file system needs to find them: a tree of extents gets
/// another block with another hole.
fn is_about(allocated: u64, bytes: u64) -> bool {
    allocated.abs_diff(bytes) <= 64 << 10
}

/// Serves `volume`, discards 3 MiB from 2 MiB on as a client would, and closes it.
fn discard(cli: &Cli, qemu_io: &Path, volume: &str, option: &str) {
    cli.ends(0, &format!("serve {volume} --nbd unix:@s --background {option} {WITH}"));
    let uri = format!("nbd+unix:///?socket={}", cli.path("s").display());
    let done = Command::new(qemu_io)
        .args(["-f", "raw", "-d", "unmap", "-c", "write -P 7 0 8k", "-c", "discard 2M 3M", "-c", "flush"])
        .arg(&uri)
        .output()
        .expect("qemu-io runs");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && said.contains("discard 3145728/3145728"), "{said}");
    cli.ends(0, &format!("close {volume}"));
}

/// Everything but what was discarded is as it was.
fn check_rest(cli: &Cli, before: &[u8]) {
    let after = cli.plain("v");
    assert!(after[..8192].iter().all(|byte| *byte == 7));
    assert!(after[8192..2 * MIB] == before[8192..2 * MIB] && after[5 * MIB..] == before[5 * MIB..]);
    assert_eq!(cli.json(0, &format!("header check @v {WITH}"))["good"], true);
}

#[test]
fn a_container_gets_holes_when_allowed_and_not_before() {
    let Some(qemu_io) = require_tool("qemu-io") else { return };
    let cli = Cli::new();
    full_volume(&cli);
    let (before, whole) = (cli.plain("v"), allocated(&cli.path("v")));
    discard(&cli, &qemu_io, "@v", "");
    assert!(is_about(allocated(&cli.path("v")), whole), "nothing was discarded");
    assert!(cli.plain("v")[8192..] == before[8192..], "nothing has changed");
    discard(&cli, &qemu_io, "@v", "--allow-discards");
    let left = allocated(&cli.path("v"));
    if is_about(left, whole) {
        return skip("the file system of temporary folders makes no holes");
    }
    assert!(is_about(left + 3 * MIB as u64, whole), "{left} of {whole}");
    check_rest(&cli, &before);
}

/// A loop device of its own number (of those that there also are where each may have partitions) on a file: one that others have used may have been told to
/// forgo discards (`queue/discard_max_bytes`), and stays so.
struct Loop {
    number: u32,
}

impl Loop {
    fn on(image: &Path) -> Option<Self> {
        let losetup = require_tool("losetup")?;
        // A number may be somebody else's by chance: the next one is tried.
        let first = 1000 + std::process::id() % 30_000;
        for number in first..first + 20 {
            if control(ADD, number)? {
                let fresh = Self { number };
                let made = Command::new(&losetup).arg(fresh.device()).arg(image).status();
                if made.expect("losetup runs").success() {
                    return Some(fresh);
                }
            }
        }
        skip("no loop device of a number of its own can be made here");
        None
    }

    fn device(&self) -> PathBuf {
        format!("/dev/loop{}", self.number).into()
    }
}

/// LOOP_CTL_ADD and LOOP_CTL_REMOVE, `include/uapi/linux/loop.h`.
const ADD: u32 = 0x4C80;
const REMOVE: u32 = 0x4C81;

/// Asks `/dev/loop-control` to do something with a loop device.
fn control(request: u32, number: u32) -> Option<bool> {
    let ask = "import fcntl, sys; fcntl.ioctl(open('/dev/loop-control'), int(sys.argv[1]), int(sys.argv[2]))";
    let arguments = [request, number].map(|n| n.to_string());
    let done = Command::new(require_tool("python3")?).args(["-c", ask]).args(arguments).output();
    Some(done.expect("python3 runs").status.success())
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(self.device()).status();
        let _ = control(REMOVE, self.number);
    }
}

#[test]
fn a_device_is_told_when_allowed() {
    let (true, Some(qemu_io)) = (require_root(), require_tool("qemu-io")) else { return };
    let cli = Cli::new();
    full_volume(&cli);
    let (before, whole) = (cli.plain("v"), allocated(&cli.path("v")));
    let Some(medium) = Loop::on(&cli.path("v")) else { return };
    let name = medium.device().display().to_string();
    discard(&cli, &qemu_io, &name, "");
    assert!(is_about(allocated(&cli.path("v")), whole), "nothing was discarded");
    discard(&cli, &qemu_io, &name, "--allow-discards");
    let left = allocated(&cli.path("v"));
    assert!(is_about(left + 3 * MIB as u64, whole), "{left} of {whole}");
    drop(medium);
    check_rest(&cli, &before);
}

/// Runs a tool that must succeed; what it printed.
fn judge(tool: &str, arguments: &[&str]) -> String {
    let done = Command::new(tool).args(arguments).env("LC_ALL", "C.UTF-8").output().expect("it runs");
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{tool} {arguments:?}: {said}");
    said
}

/// The kernel's version: since 6.10 a loop device whose file can't zero goes on to offer discards.
fn kernel() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux");
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok());
    (parts.next().expect("a version"), parts.next().expect("a version"))
}

/// A setting that the kernel tells of a block device's queue.
fn queue_limit(device: &str, name: &str) -> String {
    let number = device.rsplit('/').next().expect("a name");
    let setting = std::fs::read_to_string(format!("/sys/block/{number}/queue/{name}"));
    setting.expect("a setting").trim().to_owned()
}

#[test]
fn a_loop_device_passes_discards_on_and_zeroes_in_full() {
    let tools = ["blkdiscard", "mkfs.ext4", "e2fsck", "fstrim", "mount", "umount", "losetup"];
    if !require_root() || !has_fuse() || tools.iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let cli = Cli::new();
    full_volume(&cli);
    let (before, whole) = (cli.plain("v"), allocated(&cli.path("v")));
    // A loop device whose file refused discards offers none ever after, and is the next one to be free.
    let opened = cli.json(0, &format!("open @v --attach fuse {WITH}"));
    let spent = opened["device"].as_str().expect("a loop device").to_owned();
    let _ = Command::new("blkdiscard").arg(&spent).output().expect("it runs");
    let spent = queue_limit(&spent, "discard_max_bytes");
    cli.ends(0, "close @v");
    let opened = cli.json(0, &format!("open @v --attach fuse --allow-discards {WITH}"));
    let device = opened["device"].as_str().expect("a loop device").to_owned();
    let limit = |name: &str| queue_limit(&device, name);
    if limit("discard_max_bytes") == "0" {
        cli.ends(0, "close @v");
        assert!(kernel() < (6, 10), "a loop device of this kernel has discards to offer");
        // Not a failure anywhere: a kernel can't be installed as a tool can.
        keyway_testkit::leave_out("this kernel's loop devices can't tell discards from zeroing");
        return;
    }
    assert_eq!(spent, "0", "the refused discard is remembered of the device that is free again");
    assert_eq!(limit("write_zeroes_max_bytes"), "0", "zeroing would be a discard");
    assert!(std::fs::read(&device).expect("readable") == before, "to find that out changed nothing");

    judge("blkdiscard", &["--offset", "2M", "--length", "3M", &device]);
    judge("blkdiscard", &["--zeroout", "--offset", "4M", "--length", "2M", &device]);
    let left = allocated(&cli.path("v"));
    let has_holes = is_about(left + 2 * MIB as u64, whole);
    if !has_holes {
        assert!(
            is_about(left, whole),
            "the first two of what was discarded, and none of what was zeroed: {left}"
        );
        skip("the file system of temporary folders makes no holes");
    }
    cli.ends(0, "close @v");
    let after = cli.plain("v");
    assert!(after[4 * MIB..6 * MIB].iter().all(|byte| *byte == 0), "zeros, also the next time");
    assert!(after[..2 * MIB] == before[..2 * MIB] && after[6 * MIB..] == before[6 * MIB..]);

    // A file system of its own making that is trimmed while it is in use.
    let opened = cli.json(0, &format!("open @v --attach fuse --allow-discards {WITH}"));
    let device = opened["device"].as_str().expect("a loop device");
    judge("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device]);
    let (mounted, kept) = (cli.path("mnt"), cli.path("mnt/kept"));
    std::fs::create_dir(&mounted).expect("a folder");
    let at = mounted.to_str().expect("plain");
    judge("mount", &[device, at]);
    let content: Vec<u8> = before[..MIB].to_vec();
    std::fs::write(&kept, &content).expect("room");
    std::fs::write(mounted.join("removed"), &before[MIB..4 * MIB]).expect("room");
    judge("sync", &["-f", at]);
    let full = allocated(&cli.path("v"));
    std::fs::remove_file(mounted.join("removed")).expect("ours");
    judge("sync", &["-f", at]);
    let said = judge("fstrim", &["-v", at]);
    let freed = full.saturating_sub(allocated(&cli.path("v")));
    judge("umount", &[at]);
    assert!(said.contains("trimmed"), "{said}");
    assert!(!has_holes || freed >= 2 * MIB as u64, "{freed} bytes less: {said}");
    judge("e2fsck", &["-f", "-n", device]);
    judge("mount", &["-o", "ro", device, at]);
    let same = std::fs::read(&kept).expect("it is there") == content;
    judge("umount", &[at]);
    assert!(same);
    cli.ends(0, "close @v");
    let plain = cli.keyway.secret("plain", cli.plain("v"));
    judge("e2fsck", &["-f", "-n", plain.to_str().expect("plain")]);
}

#[test]
fn discards_that_would_show_a_hidden_volume_are_refused() {
    let cli = Cli::new();
    full_volume(&cli);
    cli.keyway.secret("hidden", "twenty-other-characters-and-more");
    cli.ends(
        0,
        &format!(
            "create @v --hidden 1M --yes --filesystem none --hidden-password-file @hidden --hidden-pim 1 {WITH}"
        ),
    );
    let hidden = "--password-file @hidden --pim 1 --hash sha512";
    for refused in [
        format!("serve @v --nbd unix:@s --background --allow-discards {hidden}"),
        format!("open @v --attach nbd --allow-discards {hidden}"),
        format!(
            "open @v --attach nbd --allow-discards {WITH} --protect-password-file @hidden --protect-pim 1"
        ),
    ] {
        let (what, advice) = two_lines(&cli.ends(2, &refused));
        assert!(what.contains("hidden volume") && advice.contains("--allow-discards"), "{what}\n{advice}");
    }
    cli.refused(
        "usage",
        "--read-only does not go with --allow-discards",
        &format!("open @v --read-only --allow-discards {WITH}"),
    );
}
