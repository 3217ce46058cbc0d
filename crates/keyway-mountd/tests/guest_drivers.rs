//! The drivers of a stock kernel take the options that the helper gives them, and what has no owners is its user's alone.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_fs::FileSystemKind;
use keyway_mountd::options::driver;
use keyway_testkit::{Guest, Job, require_tool};
use std::process::Command;

#[test]
fn a_kernels_drivers_take_the_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases: [(FileSystemKind, &str, &[&str]); 3] = [
        (FileSystemKind::Fat, "mkfs.fat", &["-F", "16"]),
        (FileSystemKind::ExFat, "mkfs.exfat", &[]),
        (FileSystemKind::Ntfs, "mkfs.ntfs", &["-q", "-F", "-Q"]),
    ];
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let job = Job::new(folder.path().join("job"), include_str!("guest_drivers.sh"));
    let mut drivers = String::new();
    for (kind, tool, words) in cases {
        let Some(tool) = require_tool(tool) else { return };
        let image = job.path().join(kind.mount_type());
        std::fs::File::create(&image).expect("made").set_len(16 << 20).expect("sized");
        let done = Command::new(tool).args(words).arg(&image).output().expect("it starts");
        assert!(done.status.success(), "{kind}: {}", String::from_utf8_lossy(&done.stderr));
        let driver = driver(kind, false, 1000, 1000).expect("it is mounted for users");
        drivers += &format!("{} {} {}\n", driver.name, kind.mount_type(), driver.options);
    }
    job.put("drivers", drivers);
    let Some(run) = Guest::new().run(job.path()) else { return };
    assert_eq!(run.code, Some(0), "{}", run.output);
    let said = job.said();
    for (kind, ..) in cases {
        let of = |what: &str| said.get(&format!("{}.{what}", kind.mount_type())).map(String::as_str);
        assert_eq!(of("mounted"), Some("0"), "{kind}: {}", run.output);
        assert_eq!(of("written"), Some("0"), "{kind}: the user writes\n{}", run.output);
        // NTFS' driver applies masks to what is made later alone, and not as they say: there the folder that it is mounted in
        // is what keeps others out.
        if kind == FileSystemKind::Ntfs {
            assert!(of("owner").is_some_and(|owner| owner.starts_with("1000:1000:")), "{kind}");
        } else {
            assert_eq!(of("owner"), Some("1000:1000:600"), "{kind}");
            assert!(of("other").is_some_and(|code| code != "0"), "{kind}: nobody else gets in");
        }
        assert_eq!(of("again"), Some("a letter"), "{kind}");
    }
}
