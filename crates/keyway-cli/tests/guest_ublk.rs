//! Volumes as ublk devices in the guest: verified under load, and with their server killed under it; another takes
//! them over and no request is lost.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, Volume, require_tool};

#[test]
fn a_ublk_device_outlives_its_server() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_ublk.sh"));
    job.program(env!("CARGO_BIN_EXE_keyway"));
    job.put("password", Volume::PASSWORD);
    if std::env::var_os("KEYWAY_SLOW").is_some() {
        job.put("speed", "");
    }
    let volume = keyway.volume("24M");
    let size = volume.plain().len().to_string();
    std::fs::copy(volume.path(), job.path().join("volume")).expect("room");
    let disk = volume.path().to_string_lossy().into_owned();
    let guest = Guest::new().disk(&disk).qemu("-cpu").qemu("Nehalem,+aes");
    let Some(ran) = guest.run(job.path()) else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = job.said();
    let of = |key: &str| said.get(key).map_or("", String::as_str);
    for name in ["memory", "disk"] {
        let expected = [
            ("attachment", "ublk"),
            ("limits", "512 1 write back "),
            ("discards", "1"),
            ("size", &size),
            ("verified", "0"),
            ("fua", "0"),
            ("discarded", "0"),
            ("zeroed", "0"),
            ("recovered", "ublk same"),
            ("under", "yes"),
            ("killed", "0"),
            ("busy", "6"),
            ("closed", "0"),
            ("left", ""),
        ];
        for (key, value) in expected {
            assert_eq!(of(&format!("{name}.{key}")), value, "{name}.{key}; the guest said:\n{}", ran.output);
        }
    }
    let expected = [
        ("mounted.at", "/tmp/at"),
        ("mounted.kept", "/tmp/at"),
        ("mounted.trimmed", "yes"),
        ("mounted.counted", "1"),
        ("mounted.closed", "0"),
        ("mounted.left", ""),
        ("mounted.checked", "0"),
        ("mounted.same", "yes"),
        ("waiting.refused", "6"),
        ("waiting.closed", "0"),
        ("waiting.left", ""),
        ("unused.attachment", "fuse"),
        ("unused.left", ""),
        // The kernel does not look for them; `partx` does.
        ("partitions.before", "0"),
        ("partitions.reread", ""),
        ("partitions.found", "2"),
        ("partitions.search", ""),
        ("partitions.lost", ""),
        ("partitions.busy", "6"),
        ("partitions.closed", "0"),
        ("partitions.left", ""),
        ("partitions.kept", "yes"),
        ("lab.measured", "0"),
        ("lab.path", "path:ublk"),
        ("lab.left", ""),
        ("end.left", ""),
    ];
    for (key, value) in expected {
        assert_eq!(of(key), value, "{key}; the guest said:\n{}", ran.output);
    }
    let mut speeds: Vec<_> = said.iter().filter(|(key, _)| key.starts_with("speed.")).collect();
    speeds.sort();
    for (what, iops) in speeds {
        println!("{what}: {iops} reads of 4 KiB in a second, one at a time and 32 at once");
    }
}
