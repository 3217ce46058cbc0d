//! A soak in the guest of what needs its kernel: ublk, dm-crypt, the kernel's NBD client, a loop device. `fio --verify`
//! writes while servers are killed; what was flushed before must be there by whatever way comes next, and nothing may
//! be left.
//!
//! Only with `KEYWAY_SOAK=SECONDS` (of the guest's clock), or `KEYWAY_SLOW=1` for ten minutes: the host's soak and the
//! tests of ublk and dm-crypt kill servers without it.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, Volume, leave_out, require_tool};

#[test]
fn what_was_flushed_is_there_whatever_happens() {
    let asked = std::env::var("KEYWAY_SOAK").ok().and_then(|text| text.parse::<u64>().ok());
    let slow = std::env::var_os("KEYWAY_SLOW").map(|_| 600);
    let Some(seconds) = asked.or(slow) else {
        leave_out("the guest's soak takes minutes (KEYWAY_SOAK=SECONDS, KEYWAY_SLOW=1)");
        return;
    };
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_soak.sh"));
    job.program(env!("CARGO_BIN_EXE_keyway"));
    job.put("password", Volume::PASSWORD);
    job.put("seconds", seconds.to_string());
    let volume = keyway.volume("24M");
    let disk = volume.path().to_string_lossy().into_owned();
    let guest = Guest::new().disk(&disk).qemu("-cpu").qemu("Nehalem,+aes");
    let Some(ran) = guest.run(job.path()) else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = job.said();
    let count = |key: &str| said.get(key).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    let wrong = said.get("wrong");
    assert_eq!(wrong, None, "the guest said:\n{}", ran.output);
    for way in ["ublk", "dm-crypt", "nbd", "fuse"] {
        assert!(count(way) > 0, "{way} had no turn:\n{}", ran.output);
    }
    assert!(count("killed") > 0 && count("recovered") > 0, "{said:?}");
    println!("{seconds} s in the guest: {said:?}");
}
