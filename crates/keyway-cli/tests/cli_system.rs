//! A partition of an encrypted system by itself, as a device and as an image, and its password
//! changed on the drive. The drive was made by VeraCrypt.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, two_lines};
use keyway_testkit::{require_root, require_tool, skip, unpack_xz, volumes};
use std::path::{Path, PathBuf};
use std::process::Command;

const DRIVE: &str = "tcrypt/sys_vc_1_mbr_part-sha256-xts-aes.xz";
/// Its one partition, as its boot sector says: first byte and size.
const PARTITION: (usize, usize) = (2048 * 512, 32_768 * 512);
const WITH: &str = "--password-file @pw --hash sha256";

/// The drive, its password's file and its partition's image in the program's folder.
fn drive(cli: &Cli) -> Option<()> {
    let image = unpack_xz(&volumes()?.join(DRIVE))?;
    let bytes = std::fs::read(image.path()).expect("the drive");
    cli.keyway.secret("pw", "aaaaaaaaaaaa");
    cli.keyway.secret("header", &bytes[31_744..32_256]);
    cli.keyway.secret("partition", &bytes[PARTITION.0..PARTITION.0 + PARTITION.1]);
    cli.keyway.secret("drive", bytes);
    Some(())
}

#[test]
fn an_image_of_the_partition_opens_with_the_header_from_its_drive() {
    let cli = Cli::new();
    let Some(()) = drive(&cli) else { return };
    let whole = cli.ends(0, &format!("cat @drive {WITH}")).stdout;
    assert_eq!(whole.len(), PARTITION.1);
    for header in ["@drive", "@header"] {
        let found = cli.ends(0, &format!("cat @partition --system-header {header} {WITH}")).stdout;
        assert!(found == whole, "{header}");
    }
    let info = cli.json(0, &format!("info @partition --system-header @header {WITH}"));
    assert_eq!((info["system"].as_bool(), info["header_used"].as_str()), (Some(true), Some("system")));
    assert_eq!(info["filesystem"]["uuid"], "DEAD-BABE", "{info}");
    cli.fails(1, "not-found", "check the path", &format!("cat @partition --system-header @nothing {WITH}"));
    // What holds no header is named, and not the partition.
    let told = cli.json(4, &format!("info @partition --system-header @pw {WITH}"));
    assert_eq!(told["error"]["path"], cli.path("pw").to_str().expect("text"), "{told}");
    cli.keyway.secret("other", "another one");
    let wrong = "info @partition --system-header @drive --password-file @other --hash sha256";
    cli.fails(3, "wrong-secret", "check that this is the right one", wrong);
    // Over NBD too: the serving process gets the header's place.
    let opened = cli.json(0, &format!("open @partition --attach nbd --system-header @header {WITH}"));
    assert_eq!(opened["size_bytes"], PARTITION.1);
    cli.ends(0, "close @partition");
}

#[test]
fn only_the_password_of_a_system_changes_and_its_header_is_saved() {
    let cli = Cli::new();
    let Some(()) = drive(&cli) else { return };
    let whole = cli.ends(0, &format!("cat @drive {WITH}")).stdout;
    let saved = cli.json(0, &format!("header backup @drive @saved {WITH}"));
    assert_eq!(saved["bytes"], 512);
    cli.keyway.secret("new", "typed on an American keyboard");
    cli.keyway.secret("odd", "getippt auf einer deutschen: ü");
    let change = format!("protector change @drive {WITH} --new-password-file");
    for refused in ["@new --new-hash blake2s", "@new --new-pim 5", "@new --new-keyfile @pw", "@odd"] {
        let (what, advice) = two_lines(&cli.ends(2, &format!("{change} {refused}")));
        assert!(what.contains("encrypted system") && !advice.is_empty(), "{what}\n{advice}");
    }
    let elsewhere = "protector change @partition --system-header @drive --new-password-file @new";
    let (what, advice) = two_lines(&cli.ends(2, &format!("{elsewhere} {WITH}")));
    assert!(what.contains("lies outside") && advice.contains("drive"), "{what}\n{advice}");

    cli.ends(0, &format!("{change} @new"));
    let now = "--password-file @new --hash sha256";
    assert!(cli.ends(0, &format!("cat @drive {now}")).stdout == whole);
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        &format!("cat @drive {WITH} --system"),
    );
    cli.ends(0, &format!("header restore @drive @saved {WITH} --yes"));
    assert!(cli.ends(0, &format!("cat @drive {WITH}")).stdout == whole);
}

#[test]
fn a_system_is_erased_by_its_drive_only() {
    let cli = Cli::new();
    let Some(()) = drive(&cli) else { return };
    let before = std::fs::read(cli.path("partition")).expect("the partition");
    let erase = format!("erase @partition --system-header @drive {WITH} --yes");
    let (what, advice) = two_lines(&cli.ends(2, &erase));
    assert!(what.contains("lies outside") && advice.contains("drive"), "{what}\n{advice}");
    assert!(std::fs::read(cli.path("partition")).expect("the partition") == before);
    cli.ends(0, &format!("erase @drive {WITH} --yes"));
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        &format!("cat @drive {WITH} --system"),
    );
    let drive = std::fs::read(cli.path("drive")).expect("the drive");
    assert!(drive[PARTITION.0..PARTITION.0 + PARTITION.1] == before);
}

/// A loop device of the drive that shows its partition.
struct LoopDrive(PathBuf);

impl LoopDrive {
    fn on(image: &Path) -> Option<Self> {
        let (losetup, addpart) = (require_tool("losetup")?, require_tool("addpart")?);
        let done = Command::new(losetup)
            .args(["--find", "--show", "--partscan"])
            .arg(image)
            .output()
            .expect("losetup runs");
        if !done.status.success() {
            skip(&format!("losetup gives no loop device: {}", String::from_utf8_lossy(&done.stderr)));
            return None;
        }
        let drive = Self(String::from_utf8_lossy(&done.stdout).trim().into());
        // A kernel that can't read partition tables is told; one that can has it already.
        let sectors = [PARTITION.0 / 512, PARTITION.1 / 512].map(|n| n.to_string());
        let _ = Command::new(addpart).arg(&drive.0).arg("1").args(sectors).output();
        if !drive.partition().exists() {
            skip("loop devices show no partitions here");
            return None;
        }
        Some(drive)
    }

    fn partition(&self) -> PathBuf {
        format!("{}p1", self.0.display()).into()
    }
}

impl Drop for LoopDrive {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn the_bare_partition_device_opens() {
    if !require_root() {
        return;
    }
    let cli = Cli::new();
    let Some(()) = drive(&cli) else { return };
    let whole = cli.ends(0, &format!("cat @drive {WITH}")).stdout;
    let Some(drive) = LoopDrive::on(&cli.path("drive")) else { return };
    let partition = drive.partition().display().to_string();
    assert!(cli.ends(0, &format!("cat {partition} {WITH}")).stdout == whole);
    // Written through the partition, read through the drive.
    let opened = cli.json(0, &format!("open {partition} --attach fuse {WITH}"));
    let device = opened["device"].as_str().expect("a device");
    let file = std::fs::File::options().write(true).open(device).expect("the device opens");
    std::os::unix::fs::FileExt::write_all_at(&file, &[0xa5; 4096], 8 << 20).expect("a write");
    file.sync_all().expect("a flush");
    drop(file);
    cli.ends(0, &format!("close {partition}"));
    let mut expected = whole;
    expected[8 << 20..(8 << 20) + 4096].fill(0xa5);
    assert!(cli.ends(0, &format!("cat @drive {WITH}")).stdout == expected);
}
