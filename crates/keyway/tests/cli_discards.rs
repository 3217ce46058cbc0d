//! Discards reach the medium with `--allow-discards` and not without: holes in a container, and
//! through BLKDISCARD of a device in the file behind that.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, two_lines};
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
    assert!(allocated(&cli.path("v")) >= whole, "nothing was discarded");
    assert!(cli.plain("v")[8192..] == before[8192..], "nothing has changed");
    discard(&cli, &qemu_io, "@v", "--allow-discards");
    let left = allocated(&cli.path("v"));
    if left == whole {
        return skip("the file system of temporary folders makes no holes");
    }
    assert_eq!(left + 3 * MIB as u64, whole);
    check_rest(&cli, &before);
}

/// A loop device of its own number on a file: one that others have used may have been told to
/// forgo discards (`queue/discard_max_bytes`), and stays so.
struct Loop {
    number: u32,
}

impl Loop {
    fn on(image: &Path) -> Option<Self> {
        let losetup = require_tool("losetup")?;
        let fresh = Self { number: 100_000 + std::process::id() % 900_000 };
        // LOOP_CTL_ADD, `include/uapi/linux/loop.h`.
        let made = fresh.control(0x4C80)?
            && Command::new(losetup).arg(fresh.device()).arg(image).status().expect("losetup runs").success();
        if !made {
            skip("no loop device of a number of its own can be made here");
        }
        made.then_some(fresh)
    }

    fn device(&self) -> PathBuf {
        format!("/dev/loop{}", self.number).into()
    }

    /// Asks `/dev/loop-control` to do something with the number.
    fn control(&self, request: u32) -> Option<bool> {
        let ask =
            "import fcntl, sys; fcntl.ioctl(open('/dev/loop-control'), int(sys.argv[1]), int(sys.argv[2]))";
        let arguments = [request, self.number].map(|n| n.to_string());
        let done = Command::new(require_tool("python3")?).args(["-c", ask]).args(arguments).output();
        Some(done.expect("python3 runs").status.success())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(self.device()).status();
        // LOOP_CTL_REMOVE.
        let _ = self.control(0x4C81);
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
    assert!(allocated(&cli.path("v")) >= whole, "nothing was discarded");
    discard(&cli, &qemu_io, &name, "--allow-discards");
    assert_eq!(allocated(&cli.path("v")) + 3 * MIB as u64, whole);
    drop(medium);
    check_rest(&cli, &before);
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
    cli.ends(2, &format!("open @v --read-only --allow-discards {WITH}"));
}
