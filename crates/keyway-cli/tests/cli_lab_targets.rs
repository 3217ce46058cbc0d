//! `lab` on other targets than files of its own, and ended early: paths that need root, drives that are
//! named, folders, modelled drives that encrypt by themselves, Ctrl-C, a full disk.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use keyway_testkit::{require_fuse, require_root, require_tool, wait_for, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Seconds matter here, not figures.
const SHORT: &str = "--quick --seconds 0.04 --minutes 0.01 --size 16M";

fn has(document: &Value, cell: &str, target: &str) -> bool {
    let rows = document["cells"].as_array().expect("cells");
    rows.iter().any(|r| r["cell"] == cell && r["target"] == target && r["value"].as_f64() > Some(0.0))
}

fn disk(cli: &Cli) {
    std::fs::create_dir(cli.path("disk")).expect("a folder");
}

#[test]
fn the_paths_through_fuse_reach_the_volume_and_are_taken_down() {
    if !require_fuse() {
        return;
    }
    let cli = Cli::new();
    disk(&cli);
    let paths: &[&str] = if require_root() { &["fuse", "fuse-loop"] } else { &["fuse"] };
    for path in paths {
        let words =
            format!("lab compare --with veracrypt:aes --drive @disk --path {path} --workload quick {SHORT}");
        let document = cli.json(0, &words);
        assert!(has(&document, "RND4K Q32T1 write", "veracrypt:aes"), "{path}: {document}");
        assert_eq!(document["path"], *path);
        assert_eq!(std::fs::read_dir(cli.path("disk")).expect("there").count(), 0, "the file is removed");
        let mounts = std::fs::read_to_string("/proc/self/mounts").expect("a list");
        let ours = cli.keyway.folder().display().to_string();
        assert!(!mounts.contains(&ours), "{path}: {mounts}");
    }
    // Nothing said about the way: the one that a volume would be opened by.
    let document =
        cli.json(0, &format!("lab compare --with veracrypt:aes --drive @disk --workload quick {SHORT}"));
    assert_eq!(document["path"], *paths.last().expect("one at least"));
    assert_eq!(document["cells"][0]["baseline"], "bare");
    // A modelled drive's own time is not to be hidden by that of a way.
    let model =
        "lab compare --with veracrypt:aes --drive model:samsung-990-pro --reads-only --workload quick";
    let document = cli.json(0, &format!("{model} {SHORT}"));
    assert_eq!(document["path"], "in-process");
    let against_plain = cli.json(0, &format!("{model} --no-bare {SHORT}"));
    assert!(has(&against_plain, "RND4K Q1T1 read", "veracrypt:aes"));
    assert_eq!(against_plain["cells"][0]["baseline"], "plain");
    assert!(against_plain["cells"][0]["path_cost"].is_null());
}

/// Where the driver is, the guest measures by it (`guest_ublk`).
#[test]
fn a_way_that_this_kernel_lacks_is_refused_before_anything_is_touched() {
    if Path::new("/dev/ublk-control").exists() {
        keyway_testkit::leave_out("this kernel has ublk: that it can be missing was not seen");
        return;
    }
    let cli = Cli::new();
    disk(&cli);
    let words =
        format!("lab compare --with veracrypt:aes --drive @disk --path ublk --workload quick {SHORT}");
    let error = &cli.json(5, &words)["error"];
    assert_eq!(error["kind"], "missing", "{error}");
    assert!(error["message"].as_str().is_some_and(|told| told.contains("ublk")), "{error}");
    assert!(error["hint"].as_str().is_some_and(|told| told.contains("--path in-process")), "{error}");
    assert_eq!(std::fs::read_dir(cli.path("disk")).expect("there").count(), 0);
}

#[test]
fn a_drive_that_encrypts_by_itself_is_a_side_like_any_other() {
    let cli = Cli::new();
    disk(&cli);
    std::fs::write(cli.path("opal"), vec![7; 64 << 20]).expect("written");
    // An unlocked drive that is named, beside files of our own.
    let words = format!(
        "lab compare --with hardware:@opal --with veracrypt:aes --drive @disk --workload quick {SHORT}"
    );
    assert_eq!(cli.json(2, &words)["error"]["kind"], "would-destroy");
    let document = cli.json(0, &format!("{words} --destroy-data --yes"));
    let name = format!("hardware:{}", cli.path("opal").display());
    assert!(has(&document, "RND4K Q1T1 write", &name), "{document}");
    // A modelled one, set up by the protocol, and encrypting on turning it on.
    let words = "lab compare --with hardware --with veracrypt:aes --drive model:samsung-840-pro --workload";
    let document = cli.json(0, &format!("{words} quick {SHORT} --reads-only"));
    assert!(has(&document, "RND4K Q1T1 read", "hardware"), "{document}");
    assert!(document["calibration"].as_array().is_some_and(|rows| rows.len() > 3), "{document}");
    let document = cli.json(0, &format!("{words} in-place-time --scale 0.001 --runs 1"));
    assert!(has(&document, "encryption in place", "hardware"), "{document}");
    let told = cli.json(2, &format!("{words} in-place-time"));
    assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains("1 GiB")), "{told}");
    cli.json(2, &format!("lab compare --with hardware --drive @disk --workload quick {SHORT}"));
}

#[test]
fn trees_and_files_are_copied_in_folders_and_what_is_written_is_verified() {
    let cli = Cli::new();
    for name in ["plain", "encrypted", "disk"] {
        std::fs::create_dir(cli.path(name)).expect("a folder");
    }
    for (workload, cell) in [("diskbench", "copy of the tree"), ("cp5g", "copy out")] {
        let words = format!(
            "lab compare --baseline @plain --with @encrypted --workload {workload} --scale 0.0001 --runs 1"
        );
        let target = cli.path("encrypted").display().to_string();
        assert!(has(&cli.json(0, &words), cell, &target));
        for name in ["plain", "encrypted"] {
            assert_eq!(std::fs::read_dir(cli.path(name)).expect("there").count(), 0, "{workload}");
        }
    }
    cli.json(2, "lab compare --with veracrypt:aes --drive @disk --workload diskbench --scale 0.0001");
    let words = "lab compare --with bitlocker:aes-xts-128 --drive @disk --verify --workload quick \
                 --quick --seconds 0.04 --size 64M";
    assert!(has(&cli.json(0, words), "RND4K Q32T1 write", "bitlocker:aes-xts-128"));
}

/// Interrupts a run after that time; what it printed, and what it kept, if it had measured anything by then.
fn interrupted(cli: &Cli, after: Duration) -> Option<(Output, Value)> {
    // So many runs that the first test is never through.
    let words = "lab run --drive @disk --no-bare --workload quick --seconds 0.4 --runs 1000 --size 16M \
                 --save @part.json --html @part.html --json";
    let _ = std::fs::remove_file(cli.path("part.json"));
    let child = cli.command(cli.words(words)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it starts");
    wait_until("it begins", || std::fs::read_dir(cli.path("disk")).expect("there").count() > 0);
    std::thread::sleep(after);
    kill_process(Pid::from_child(&child), Signal::INT).expect("it lives");
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(std::fs::read_dir(cli.path("disk")).expect("there").count(), 0, "the file is removed");
    let kept: Value = serde_json::from_slice(&std::fs::read(cli.path("part.json")).ok()?).expect("JSON");
    let samples = |s: &Value| s["samples"].as_array().map_or(0, Vec::len);
    let measured: usize = kept["series"].as_array().expect("series").iter().map(samples).sum();
    (measured > 0).then_some((done, kept))
}

#[test]
fn a_run_that_is_interrupted_tells_what_it_has_and_what_is_missing() {
    let cli = Cli::new();
    disk(&cli);
    // Longer than the file takes and the first turns.
    let mut after = Duration::from_secs(1);
    let (done, kept) = wait_for("a run that has measured something", || {
        after *= 2;
        interrupted(&cli, after)
    });
    let missing = kept["missing"].as_array().expect("a list");
    assert!(missing.iter().any(|m| m.as_str().is_some_and(|m| m.contains("turns done"))), "{kept}");
    let page = std::fs::read_to_string(cli.path("part.html")).expect("kept");
    assert!(page.contains("This run was not finished"));
    let told: Value = serde_json::from_slice(&done.stdout).expect("one JSON document");
    assert_eq!((&told["error"]["kind"], &told["missing"]), (&"interrupted".into(), &kept["missing"]));
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(words.contains("stopped before everything was measured"), "{words}");
}

/// A small file system in memory, unmounted when it is dropped.
struct Small<'a>(&'a Path);

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_is_one_clear_error_and_nothing_stays() {
    if !require_root() || require_tool("mount").is_none() {
        return;
    }
    let cli = Cli::new();
    disk(&cli);
    let at = cli.path("disk");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "small"]).arg(&at).status();
    assert!(mounted.expect("mount runs").success());
    let small = Small(&at);
    let told = cli.json(1, &format!("lab run --drive @disk --workload quick {SHORT}"));
    assert_eq!(told["error"]["kind"], "no-space", "{told}");
    let told = cli.json(1, "lab compare --baseline @disk --with @disk --workload cp5g --scale 0.01 --runs 1");
    assert!(told.to_string().contains("space"), "{told}");
    assert_eq!(std::fs::read_dir(&at).expect("there").count(), 0);
    drop(small);
}

#[test]
fn what_a_drive_costs_is_found_by_reading_and_told_from_then_on() {
    let cli = Cli::new();
    let drive = cli.path("drive.img");
    let bytes: Vec<u8> = (0..48u32 << 18).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
    std::fs::write(&drive, &bytes).expect("written");
    assert_eq!(cli.json(0, "doctor @drive.img")["costs"], serde_json::json!([]), "nobody has measured it");
    let document = cli.json(0, "doctor @drive.img --measure --minutes 0.05");
    let [cost] = &**document["costs"].as_array().expect("costs") else { panic!("{document}") };
    let cells = cost["cells"].as_array().expect("cells");
    let is_read = |cell: &Value| cell["cell"].as_str().is_some_and(|name| name.ends_with(" read"));
    assert!(!cells.is_empty() && cells.iter().all(is_read), "{cells:?}");
    let against_bare = |cell: &&Value| cell["target"] == "veracrypt:aes" && cell["baseline"] == "bare";
    assert_eq!(cells.iter().filter(against_bare).count(), 4, "{cells:?}");
    assert!(cells.iter().all(|cell| cell["value"].as_f64() > Some(0.0)), "{cells:?}");
    assert!(cost["answer"].as_array().is_some_and(|lines| !lines.is_empty()), "{cost}");
    assert!(std::fs::read(&drive).expect("read") == bytes, "not a byte of it is another");
    // By itself, under another name, and with the day on which it was.
    assert_eq!(cli.json(0, "doctor @drive.img")["costs"][0], *cost);
    std::os::unix::fs::symlink(&drive, cli.path("link.img")).expect("a link");
    assert_eq!(cli.json(0, "doctor @link.img")["costs"][0], *cost);
    let day = cost["date"].as_str().and_then(|date| date.split('T').next()).expect("a date").to_owned();
    let told = String::from_utf8(cli.ends(0, "doctor @drive.img").stdout).expect("text");
    assert!(told.contains(&format!("read on {day}")), "{told}");
    // The newer one takes the place of the older one.
    let again = cli.json(0, "doctor @drive.img --measure --minutes 0.05");
    assert_eq!(again["costs"].as_array().map(Vec::len), Some(1), "{again}");
    std::fs::write(cli.path("small.img"), [0; 4096]).expect("written");
    let small = cli.json(1, "doctor @small.img --measure");
    assert_eq!(small["error"]["kind"], "too-small", "{small}");
    assert_eq!(small["error"]["hint"], "name another", "no option makes it larger");
}

/// Of what is encrypted already, what it has is measured where that can be told; and nobody is told to encrypt it.
#[test]
fn a_drive_that_is_encrypted_already_is_measured_as_what_it_is() {
    let cli = Cli::new();
    cli.keyway.secret("pw", "correct horse battery staple");
    let with = "--password-file @pw -q";
    cli.ends(
        0,
        &format!(
            "create @b --size 64M --format bitlocker --cipher aes-xts-256 --no-recovery-password {with}"
        ),
    );
    cli.ends(0, &format!("create @v --size 48M --pim 1 {with}"));
    for (drive, target, says) in [
        ("b", "bitlocker:aes-xts-256", "It is a BitLocker volume already (aes-xts-256)"),
        (
            "v",
            "veracrypt:aes",
            "It may be encrypted already, with what only a secret tells: what is told is what AES costs",
        ),
    ] {
        let document = cli.json(0, &format!("doctor @{drive} --measure --minutes 0.05"));
        let cost = &document["costs"][0];
        let cells = cost["cells"].as_array().expect("cells");
        assert!(cells.iter().any(|cell| cell["target"] == target), "{cost}");
        let targets = |cell: &Value| cell["target"] == target || cell["target"] == "plain";
        assert!(cells.iter().all(targets), "{cost}");
        let answer = cost["answer"].to_string();
        assert!(answer.contains(says) && !answer.contains("Encrypt"), "{answer}");
    }
    // What was measured before it was encrypted says so afterwards.
    std::fs::File::create(cli.path("p")).and_then(|file| file.set_len(64 << 20)).expect("room");
    let plain = cli.json(0, "doctor @p --measure --minutes 0.05");
    assert_eq!(
        (&plain["costs"][0]["encrypted"], plain["costs"][0]["answer"].to_string().contains("already")),
        (&Value::Bool(false), false),
        "{plain}"
    );
    let told = || String::from_utf8(cli.ends(0, "doctor @p").stdout).expect("text");
    assert!(!told().contains("encrypted by now"), "{}", told());
    cli.ends(
        0,
        &format!("create @p --size 64M --force --yes --format bitlocker --no-recovery-password {with}"),
    );
    assert!(told().contains("encrypted by now"), "{}", told());
    std::fs::remove_file(cli.path("p")).expect("it is there");
    // What is no drive of this machine's is told by the plain verb as well, as long as it is there.
    let devices = |document: &Value| document["costs"].as_array().expect("costs").len();
    assert_eq!(devices(&cli.json(0, "doctor")), 2);
    std::fs::remove_file(cli.path("v")).expect("it is there");
    assert_eq!(devices(&cli.json(0, "doctor")), 1);
}

#[test]
fn a_device_that_may_not_be_written_is_measured() {
    if !require_root() {
        return;
    }
    let cli = Cli::new();
    std::fs::write(cli.path("drive.img"), vec![7; 96 << 20]).expect("written");
    let drive = cli.path("drive.img");
    let device = Command::new("losetup").args(["--find", "--show", "--read-only"]).arg(&drive).output();
    let device = device.expect("losetup");
    let device = String::from_utf8(device.stdout).expect("a name").trim().to_owned();
    let words = format!(
        "lab compare --with veracrypt:aes --with bitlocker:aes-xts-128 --drive {device} --reads-only"
    );
    let document = cli.json(0, &format!("{words} --workload quick {SHORT}"));
    assert!(Command::new("losetup").args(["--detach", &device]).status().expect("losetup").success());
    for target in ["veracrypt:aes", "bitlocker:aes-xts-128", "plain"] {
        assert!(has(&document, "RND4K Q32T1 read", target), "{target}: {document}");
    }
}
