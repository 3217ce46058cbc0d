//! Judges of `keyway drive` other than ourselves, in the guest: sedutil and cryptsetup on a virtual drive
//! that a Linux kernel takes for a disk with Opal. What one program sets up the other unlocks.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod drive_support;

use drive_support::Served;
use keyway_testkit::require_tool;

#[test]
fn sedutil_cryptsetup_and_keyway_share_a_drive() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let served = Served::new("guest_drive.sh", "64M", &[]);
    for (name, content) in
        [("pw", "the password"), ("admin", "the owner's password"), ("wrong", "another password")]
    {
        served.note(name, content);
    }
    let Some(ran) = served.run() else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let told = served.told("said.tsv");
    for check in [
        "kept-by-sedutil",
        "unlocked-by-keyway",
        "unlocked-by-sedutil",
        "unlocked-by-sedutil-again",
        "unlocked-by-user",
        "unlocked-by-kernel",
        "not-written-by-kernel",
        "reverted-by-sedutil",
        "no-sheet-on-the-drive-/dev/nvme0n1",
        "no-sheet-on-the-drive-/dev/nvme0",
        "not-locked-while-mounted-/dev/nvme0n1",
        "not-locked-while-mounted-/dev/nvme0",
        "cryptsetup",
    ] {
        assert!(told.lines().any(|line| line == format!("{check}\tok")), "{check} in {told}");
    }
    let status = served.told("status.txt");
    assert!(status.contains("Hardware Encryption") && status.contains("Locked"), "{status}");
    let wrong = served.told("wrong.json");
    assert!(wrong.contains("hashed it differently"), "{wrong}");
}
