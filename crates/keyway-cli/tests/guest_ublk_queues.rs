//! A ublk device with several queues in a guest with two CPUs: its server is killed while all of them are used, `status`
//! says that the device waits, and another server takes all of them over.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, Volume, require_tool};

#[test]
fn all_queues_outlive_their_server() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_ublk_queues.sh"));
    job.program(env!("CARGO_BIN_EXE_keyway"));
    job.put("password", Volume::PASSWORD);
    let volume = keyway.volume("24M");
    let disk = volume.path().to_string_lossy().into_owned();
    let guest = Guest::new().disk(&disk).qemu("-smp").qemu("2").qemu("-cpu").qemu("Nehalem,+aes");
    let Some(ran) = guest.run(job.path()) else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = job.said();
    let expected = [
        ("queues", "2"),
        ("waiting.1", "/dev/ublkb0 Locked"),
        ("words.1", "1"),
        ("recovered.1", "/dev/ublkb0"),
        ("waiting.2", "/dev/ublkb0 Locked"),
        ("words.2", "1"),
        ("recovered.2", "/dev/ublkb0"),
        ("verified.0", "0"),
        ("verified.1", "0"),
        ("open", "1"),
        ("closed", "0"),
        ("left", "0"),
    ];
    for (key, value) in expected {
        let found = said.get(key).map_or("", String::as_str);
        assert_eq!(found, value, "{key}; the guest said:\n{}", ran.output);
    }
}
