//! Judges of `keyway drive` other than ourselves, in the guest: sedutil and cryptsetup on a virtual drive
//! that a Linux kernel takes for a disk with Opal. What one program sets up the other unlocks.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Keyway, require_tool};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `keyway drive emulate`, ended when dropped.
struct Emulator(Child);

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn sedutil_cryptsetup_and_keyway_share_a_drive() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = keyway.path("job");
    std::fs::create_dir(&job).expect("the job's folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest_drive.sh");
    std::fs::copy(script, job.join("run.sh")).expect("the job's script");
    std::fs::copy(env!("CARGO_BIN_EXE_keyway"), job.join("keyway")).expect("the program");

    let drive = keyway.path("drive");
    let words = ["drive", "emulate", "--size", "64M", "--nvme-tcp", "127.0.0.1:0", "--json"];
    let mut command = keyway.command(words);
    let child = command.arg(&drive).stdout(Stdio::piped()).spawn().expect("keyway starts");
    let mut emulator = Emulator(child);
    let printed = BufReader::new(emulator.0.stdout.take().expect("piped"));
    let mut text = String::new();
    for line in printed.lines().map_while(Result::ok) {
        text.push_str(&line);
        if line == "}" {
            break;
        }
    }
    let made: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let said = |key: &str| made[key].as_str().expect("text").to_owned();
    let address = said("address");
    let port = address.rsplit(':').next().expect("a port");
    let files = [
        ("port", port.to_owned()),
        ("nqn", said("nqn")),
        ("psid", said("psid")),
        ("pw", "the password".to_owned()),
        ("admin", "the owner's password".to_owned()),
        ("wrong", "another password".to_owned()),
    ];
    for (name, content) in files {
        std::fs::write(job.join(name), content).expect("the job's note");
    }

    let over = AtomicBool::new(false);
    let pid = rustix::process::Pid::from_child(&emulator.0);
    let ran = std::thread::scope(|scope| {
        // The drive's power switch, for the guest.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if std::fs::remove_file(job.join("cycle")).is_ok() {
                    rustix::process::kill_process(pid, rustix::process::Signal::USR1).expect("it is there");
                    std::thread::sleep(Duration::from_millis(500));
                    std::fs::write(job.join("cycled"), "").expect("the job's note");
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let ran = Guest::new().timeout(Duration::from_secs(500)).run(&job);
        over.store(true, Ordering::Relaxed);
        ran
    });
    let Some(ran) = ran else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = std::fs::read_to_string(job.join("said.tsv")).expect("the guest's notes");
    for check in [
        "kept-by-sedutil",
        "unlocked-by-keyway",
        "unlocked-by-sedutil",
        "unlocked-by-sedutil-again",
        "unlocked-by-user",
        "reverted-by-sedutil",
        "cryptsetup",
    ] {
        assert!(said.lines().any(|line| line == format!("{check}\tok")), "{check} in {said}");
    }
    let status = std::fs::read_to_string(job.join("status.txt")).expect("status");
    assert!(status.contains("Hardware Encryption") && status.contains("Locked"), "{status}");
    let wrong = std::fs::read_to_string(job.join("wrong.json")).expect("the refusal");
    assert!(wrong.contains("hashed it differently"), "{wrong}");
}
