//! The processes that hold keys have given up what they do not need: the kernel says so of each of their threads.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, has_fuse};
use keyway_testkit::{leave_out, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

const WITH: &str = "--password-file @pw --pim 1";

/// Whether this kernel has all layers; says so visibly where not.
fn has_all(cli: &Cli) -> bool {
    let doctor = cli.json(0, "doctor");
    let has = doctor["sandbox"]["usable"] == true;
    if !has {
        leave_out(&format!("a kernel with all layers of the sandbox: {}", doctor["sandbox"]["reason"]));
    }
    has
}

/// A line of a thread's `status` (proc(5)).
fn line<'a>(status: &'a str, name: &str) -> &'a str {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or_default().trim()
}

/// All threads of a process are confined, and have no capability but to lock memory and to pass limits.
fn assert_confined(pid: &str, what: &str) {
    let tasks = Path::new("/proc").join(pid).join("task");
    // Those that tried other hashes end when they have tried the one that they are at.
    wait_until("no other hash is tried any more", || {
        let tasks = std::fs::read_dir(&tasks).expect("it runs").flatten();
        tasks
            .map(|task| std::fs::read_to_string(task.path().join("comm")))
            .all(|name| name.is_ok_and(|name| name.trim() != "keyway-unlock"))
    });
    let tasks = std::fs::read_dir(&tasks).expect("it runs");
    let mut threads = 0;
    for task in tasks.flatten() {
        let Ok(status) = std::fs::read_to_string(task.path().join("status")) else { continue };
        let name = line(&status, "Name");
        assert_eq!((line(&status, "NoNewPrivs"), line(&status, "Seccomp")), ("1", "2"), "{what}: {name}");
        let capabilities = u64::from_str_radix(line(&status, "CapEff"), 16).expect("a mask");
        // CAP_IPC_LOCK and CAP_SYS_RESOURCE (`linux/capability.h`).
        assert_eq!(capabilities & !(1 << 14 | 1 << 24), 0, "{what}: {name}");
        threads += 1;
    }
    assert!(threads > 0, "{what}");
}

#[test]
fn what_serves_is_confined_by_every_way_and_closes_cleanly() {
    let cli = Cli::new();
    if !has_all(&cli) {
        return;
    }
    let socket = cli.path("socket").display().to_string();
    let ways = [
        ("open @volume --attach nbd", "network"),
        ("open @volume --attach vhost-user", "vhost-user"),
        ("open @volume --attach fuse", "fuse"),
        ("serve @volume --background --nbd tcp:127.0.0.1:0", "network"),
        ("serve @volume --background --nvme-tcp 127.0.0.1:0", "network"),
        (&format!("serve @volume --background --nbd unix:{socket}"), "network"),
    ];
    cli.volume("volume");
    for (words, role) in ways {
        if words.ends_with("fuse") && !has_fuse() {
            continue;
        }
        let opened = cli.json(0, &format!("{words} {WITH} --require-sandbox"));
        assert_eq!(opened["sandbox"], serde_json::json!({"role": role, "missing": []}), "{words}");
        assert_confined(&opened["pid"].to_string(), words);
        // Asked over its socket, and by way of what it opened before.
        let status = cli.json(0, "status @volume");
        assert_eq!((&status["answers"], &status["sandbox"]["role"]), (&true.into(), &role.into()), "{words}");
        cli.ends(0, "close @volume");
        assert_eq!(cli.json(0, "status")["volumes"], serde_json::json!([]), "{words}");
        assert!(!Path::new(&socket).exists(), "{words}: its socket is left");
    }
}

/// The warden of a serving process: its child.
fn warden(server: &str) -> Pid {
    let children = format!("/proc/{server}/task/{server}/children");
    let children = std::fs::read_to_string(children).expect("it runs");
    let child = children.split_whitespace().next().expect("it has a warden");
    Pid::from_raw(child.parse().expect("a number")).expect("a process")
}

#[test]
fn a_session_whose_warden_was_killed_is_cleared_up_by_the_next_command() {
    let cli = Cli::new();
    if !has_all(&cli) || !has_fuse() {
        return;
    }
    cli.volume("volume");
    let opened = cli.json(0, &format!("open @volume --attach fuse {WITH}"));
    let server = opened["pid"].to_string();
    let file = opened["file"].as_str().expect("a file").to_owned();
    kill_process(warden(&server), Signal::KILL).expect("ours");
    let written = std::fs::OpenOptions::new().write(true).open(&file);
    std::io::Write::write_all(&mut written.expect("it serves on"), &[7; 4096]).expect("it serves on");
    cli.ends(1, "close @volume");
    wait_until("the server is gone", || !Path::new("/proc").join(&server).exists());
    assert_eq!(cli.json(0, "status")["volumes"], serde_json::json!([]));
    // `status` changes nothing; who reads the volume wants it free.
    assert_eq!(cli.plain("volume").get(..4096), Some(&[7; 4096][..]), "what was written is there");
    assert!(!Path::new(&file).exists(), "it is still mounted");
}

/// `cat` waits for somebody who reads; it is confined by then.
#[test]
fn who_reads_a_volume_for_somebody_is_confined_when_the_first_byte_comes() {
    let cli = Cli::new();
    if !has_all(&cli) {
        return;
    }
    cli.volume("volume");
    let words = cli.words(&format!("cat @volume {WITH} --require-sandbox"));
    let mut cat = cli.command(words).stdout(Stdio::piped()).spawn().expect("keyway starts");
    let mut out = cat.stdout.take().expect("piped");
    out.read_exact(&mut [0; 512]).expect("its first bytes");
    assert_confined(&cat.id().to_string(), "cat");
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).expect("the others");
    assert!(cat.wait().expect("it ends").success());
    assert!(rest.len() > 512 << 10, "{}", rest.len());
}
