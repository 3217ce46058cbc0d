//! ublk devices that begin and end in other ways, in the guest: a server killed while it makes one leaves nothing that
//! nobody knows of; a user without root has devices, too, and they end with their server.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, Volume, leave_out, require_tool};

#[test]
fn nothing_is_left_of_who_is_killed_at_birth_and_users_have_devices() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_ublk_ends.sh"));
    job.program(env!("CARGO_BIN_EXE_keyway"));
    job.put("password", Volume::PASSWORD);
    if std::env::var_os("KEYWAY_SLOW").is_some() {
        job.put("long", "");
    }
    let volume = keyway.volume("24M");
    std::fs::copy(volume.path(), job.path().join("volume")).expect("room");
    let guest = Guest::new().qemu("-cpu").qemu("Nehalem,+aes");
    let Some(ran) = guest.run(job.path()) else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = job.said();
    let expected = [
        ("birth.left", ""),
        ("birth.opens", "ublk 0"),
        // As root hands nothing out.
        ("user.refused", "5 1"),
        ("user.doctor", "1"),
        // The control device alone: a device is made whose node stays root's. The next try makes none.
        ("user.stuck", "5 1"),
        ("user.again", "5 1"),
        ("user.helped", ""),
        ("user.auto", "nbd"),
        ("user.attachment", "ublk"),
        ("user.nodes", "1000 1000 600 1000 1000 600"),
        ("user.verified", "0"),
        ("user.others", "denied"),
        ("user.roots", "1"),
        ("user.closed", "0"),
        ("user.left", ""),
        ("user.failed", "failed"),
        ("user.killed", "0"),
        ("user.gone", ""),
        ("user.anew", "ublk same"),
        ("user.again_gone", "ublk"),
        ("other.opened", "0 ublk another"),
        ("other.roots", "0 4096"),
        ("other.left", ""),
        ("other.number", "same"),
        ("other.device", "ublk same"),
        ("other.lives", "yes"),
        ("end.left", ""),
    ];
    for (key, value) in expected {
        let found = said.get(key).map_or("", String::as_str);
        assert_eq!(found, value, "{key}; the guest said:\n{}", ran.output);
    }
    let unborn: u32 = said.get("birth.unborn").and_then(|n| n.parse().ok()).unwrap_or(0);
    if unborn == 0 {
        leave_out(
            "nobody was killed between making a device and showing it: this machine is too fast for that",
        );
    }
}
