//! Judges of the virtual drive other than ourselves, in the guest: a Linux kernel's NVMe driver and its
//! sed-opal, sedutil, and cryptsetup with `--hw-opal`; and cryptsetup's own test suite for drives with Opal
//! (`tests/compat-test-opal` of its source), where `KEYWAY_CRYPTSETUP_OPAL_TEST` names that file.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Keyway, require_tool, skip};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `keyway drive emulate`, ended when dropped.
struct Emulator(Child);

impl Emulator {
    /// Takes the drive's power away and gives it back: SIGUSR1.
    fn power_cycle(&self) {
        let sent = Command::new("kill").args(["-USR1", &self.0.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_kernel_sedutil_and_cryptsetup_take_it_for_a_drive() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = keyway.path("job");
    std::fs::create_dir(&job).expect("the job's folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest_opal.sh");
    std::fs::copy(script, job.join("run.sh")).expect("the job's script");
    let suite = std::env::var_os("KEYWAY_CRYPTSETUP_OPAL_TEST");
    match &suite {
        Some(suite) => drop(std::fs::copy(suite, job.join("suite")).expect("cryptsetup's test suite")),
        None => eprintln!("SKIP: cryptsetup's own suite, without KEYWAY_CRYPTSETUP_OPAL_TEST"),
    }

    let words = ["drive", "emulate", "--size", "256M", "--nvme-tcp", "127.0.0.1:0", "--json"];
    let mut command = keyway.command(words);
    let child = command.arg(keyway.path("drive")).stdout(Stdio::piped()).spawn().expect("keyway starts");
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
    let port = address.rsplit(':').next().expect("a port").to_owned();
    for (name, content) in
        [("port", port), ("nqn", said("nqn")), ("psid", said("psid")), ("msid", said("msid"))]
    {
        std::fs::write(job.join(name), content).expect("the job's note");
    }

    let limit = Duration::from_secs(if suite.is_some() { 1800 } else { 500 });
    let over = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let cycle = job.join("cycle");
            while !over.load(Ordering::Acquire) {
                if cycle.exists() {
                    emulator.power_cycle();
                    // The signal is acted on by another process: it says nothing when it is done.
                    std::thread::sleep(Duration::from_millis(500));
                    std::fs::remove_file(&cycle).expect("the job's note");
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let ran = Guest::new().timeout(limit).run(&job);
        over.store(true, Ordering::Release);
        ran
    });
    let Some(ran) = ran else { return skip("no guest") };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let told = std::fs::read_to_string(job.join("said.tsv")).expect("what it found");
    let log = || std::fs::read_to_string(job.join("log")).unwrap_or_default();
    let suite_log = || std::fs::read_to_string(job.join("suite.log")).unwrap_or_default();
    let wrong: Vec<&str> = told.lines().filter(|line| !line.ends_with("\tok")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{}\n{}", log(), suite_log());
    assert!(told.contains("finished\tok"), "{told}");
    assert_eq!(told.contains("cryptsetup-suite\tok"), suite.is_some());
}
