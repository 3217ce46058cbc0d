//! The processes that hold keys have given up what they do not need: the kernel says so of each of their threads.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, has_fuse};
use keyway_testkit::{leave_out, require_tool, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};

const WITH: &str = "--password-file @pw --pim 1";

const PASSWORD_ONLY: &str = "--password-file @pw";

/// What a thread is called that tries hashes.
const SEARCHES: &str = "keyway-unlock";

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

/// The names of a process's threads; none of one that has ended.
fn threads(pid: &str) -> Vec<String> {
    let tasks = std::fs::read_dir(Path::new("/proc").join(pid).join("task")).into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.map(|name| name.trim().to_owned()).collect()
}

/// All threads of a process are confined, and have no capability but to lock memory and to pass limits.
fn assert_confined(pid: &str, what: &str) {
    // Those that tried other hashes end when they have tried the one that they are at.
    wait_until("no other hash is tried any more", || !threads(pid).iter().any(|name| name == SEARCHES));
    assert_threads_confined(pid, what);
}

fn assert_threads_confined(pid: &str, what: &str) {
    let tasks = std::fs::read_dir(Path::new("/proc").join(pid).join("task")).expect("it runs");
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

/// Headers are parsed, and keys are derived, by a process that has nothing but the volume and the password.
#[test]
fn who_searches_for_a_key_is_confined_meanwhile() {
    let cli = Cli::new();
    if !has_all(&cli) {
        return;
    }
    cli.volume("volume");
    let before = std::fs::read(cli.path("volume")).expect("read");
    // With that PIM the search takes minutes; nobody is asked for another password.
    let slow = "@volume --password-file @pw --pim 60000 --hash sha512";
    std::fs::write(cli.path("key"), "a keyfile").expect("room");
    for words in [
        format!("cat {slow} --keyfile @key --require-sandbox"),
        format!("info {slow} --keyfile @key"),
        format!("protector list {slow} --keyfile @key"),
        format!("ls {slow} --require-sandbox"),
        format!("get {slow} --require-sandbox /file @file"),
        format!("cat {slow} --require-sandbox"),
        format!("info {slow}"),
        format!("header check {slow}"),
        format!("protector list {slow}"),
        format!("erase {slow} --yes"),
    ] {
        let words = cli.words(&words);
        let (out, err) = (Stdio::null(), Stdio::null());
        let mut child = cli.command(&words).stdout(out).stderr(err).spawn().expect("keyway starts");
        let pid = child.id().to_string();
        wait_until("it searches", || threads(&pid).iter().any(|name| name == SEARCHES));
        assert_threads_confined(&pid, &words.join(" "));
        child.kill().expect("ours");
        child.wait().expect("it ends");
    }
    assert!(std::fs::read(cli.path("volume")).expect("read") == before, "it was written to");
}

/// What the search needs is there without paths: memory for Argon2id, whose amount is asked for anew, and the words of what failed.
#[test]
fn a_search_in_the_sandbox_finds_and_tells_what_it_did() {
    let cli = Cli::new();
    cli.volume("volume");
    cli.keyway.secret("wrong", "not-the-password-of-it");
    std::fs::write(cli.path("key"), "a keyfile").expect("room");
    cli.ends(0, "create @argon --size 1M --quick --hash argon2id --password-file @pw --pim 1");
    cli.ends(0, "create @files --size 1M --quick --password-file @pw --keyfile @key --pim 1");
    assert_eq!(cli.json(0, &format!("info @argon {WITH}"))["hash"], "argon2id");
    cli.ends(0, &format!("info @files {WITH} --keyfile @key"));
    cli.ends(0, &format!("header check @files {WITH} --keyfile @key"));
    let listed = cli.json(0, &format!("protector list @files {WITH} --keyfile @key"));
    assert_eq!(listed["key_protectors"][0]["keyfiles"], 1);
    cli.ends(0, &format!("cat @files {WITH} --keyfile @key --require-sandbox"));
    // What is said of the password is said of what was typed into its file, not of what the keyfile made of it.
    cli.keyway.secret("spaced", " not-the-password-of-it");
    for keyfile in ["", " --keyfile @key"] {
        let wrong = format!("info @files --password-file @spaced --pim 1{keyfile}");
        cli.fails(3, "wrong-secret", "begins or ends with a blank", &wrong);
    }
    for words in ["info @volume", "header check @volume", "cat @volume", "erase @volume --yes"] {
        cli.fails(
            3,
            "wrong-secret",
            "check the password",
            &format!("{words} --password-file @wrong --pim 1"),
        );
    }
    cli.ends(0, &format!("erase @files {WITH} --keyfile @key --yes"));
    cli.ends(0, &format!("erase @argon {WITH} --yes"));
    cli.fails(3, "wrong-secret", "check the password", &format!("info @argon {WITH} --hash argon2id"));
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    cli.ends(
        0,
        &format!("create @bitlocker --size 64M --format bitlocker --quick --filesystem fat {PASSWORD_ONLY}"),
    );
    for words in ["info @bitlocker", "header check @bitlocker"] {
        cli.ends(0, &format!("{words} {PASSWORD_ONLY}"));
        let wrong = format!("{words} --password-file @wrong");
        cli.fails(3, "wrong-secret", "check the password", &wrong);
    }
    cli.ends(0, "header check @bitlocker");
    cli.ends(0, "protector list @bitlocker");
    cli.ends(3, "erase @bitlocker --password-file @wrong --yes");
    cli.ends(0, &format!("erase @bitlocker {PASSWORD_ONLY} --yes"));
    cli.ends(4, "info @bitlocker");
}

/// What hides a favourite is told by a process without paths as well.
#[test]
fn a_favourite_that_is_hidden_is_named_after_a_wrong_password() {
    let cli = Cli::new();
    cli.volume("v.hc");
    cli.volume("pics");
    cli.keyway.secret("wrong", "not-the-password-of-it");
    let here = |words: &str| {
        let mut command = cli.command(cli.words(words));
        command.current_dir(cli.keyway.folder()).output().expect("keyway starts")
    };
    assert!(here("favourite add v.hc --pim 1 --name pics").status.success());
    let done = here("info pics --password-file @wrong --pim 1 --hash sha512");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("goes before the favourite pics"), "{said}");
}

/// Starts a slow conversion of `@volume`, and waits until its first segments are converted.
fn converting(cli: &Cli, words: &str) -> Child {
    let words = cli.words(&format!("{words} @volume {WITH} --limit 1 --require-sandbox --yes"));
    let child = cli.command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let sessions = cli.keyway.runtime_folder().join("sessions");
    // What it says of itself; what is there before may be an earlier one's.
    let is_at_work = |text: Vec<u8>| {
        let said: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        said["pid"] == child.id() && said["bytes_per_second"].as_u64() > Some(0)
    };
    wait_until("it converts", || {
        let entries = std::fs::read_dir(&sessions).into_iter().flatten().flatten();
        let states = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("converting-"));
        states.filter_map(|state| std::fs::read(state.path()).ok()).any(is_at_work)
    });
    child
}

/// What is left of conversions in the folder of this user's sessions, and beside the volume.
fn left_of_conversions(cli: &Cli) -> Vec<String> {
    let folders = [cli.keyway.runtime_folder().join("sessions"), cli.keyway.folder().to_owned()];
    let entries = folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).expect("it is there"));
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("converting-") || name.ends_with("-journal")).collect()
}

/// It holds the keys of two volumes, and writes all of a drive.
#[test]
fn who_converts_a_volume_is_confined_until_it_is_through_and_leaves_nothing() {
    let cli = Cli::new();
    if !has_all(&cli) || require_tool("mkfs.fat").is_none() {
        return;
    }
    cli.keyway.secret("pw", cli_support::PASSWORD);
    cli.ends(0, &format!("create @volume --size 16M --quick --filesystem fat {WITH}"));
    let before = cli.plain("volume");
    let mut child = converting(&cli, "encrypt --reencrypt --cipher serpent");
    assert_confined(&child.id().to_string(), "encrypt");
    let paused = cli.json(0, "pause @volume");
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{paused}");
    assert_eq!(
        left_of_conversions(&cli).len(),
        2,
        "the journal, and what says that there is something to go on with"
    );
    // Another process goes on, and comes to an end.
    let mut child = converting(&cli, "resume");
    assert_confined(&child.id().to_string(), "resume");
    kill_process(Pid::from_child(&child), Signal::TERM).expect("ours");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    cli.ends(0, &format!("resume @volume {WITH} --require-sandbox"));
    assert_eq!(left_of_conversions(&cli), [] as [&str; 0]);
    assert!(cli.plain("volume") == before, "its content is another");
    // All the ways that there are, with and without a journal's file.
    cli.ends(0, &format!("decrypt @volume {WITH} --require-sandbox --yes"));
    cli.ends(0, &format!("encrypt @volume {WITH} --require-sandbox --grow --journal @other-journal --yes"));
    assert_eq!(left_of_conversions(&cli), [] as [&str; 0]);
    // Behind the file system is what nobody has written.
    assert!(cli.plain("volume").starts_with(&before[..15 << 20]), "its content is another");
}

#[test]
fn a_conversion_without_its_warden_comes_to_its_end_and_says_what_it_left() {
    let cli = Cli::new();
    if !has_all(&cli) {
        return;
    }
    cli.keyway.secret("pw", cli_support::PASSWORD);
    cli.ends(0, &format!("create @volume --size 8M --quick {WITH}"));
    let before = cli.plain("volume");
    let child = converting(&cli, "encrypt --reencrypt");
    kill_process(warden(&child.id().to_string()), Signal::KILL).expect("ours");
    let done = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("is not needed any more, and could not be removed"), "{said}");
    assert!(cli.plain("volume") == before, "its content is another");
    // Who is called next clears up what says how far it is; the journal is the person's.
    cli.json(0, "status");
    assert_eq!(left_of_conversions(&cli), ["volume.keyway-journal"]);
}

/// A volume that stays in use: what serves it converts it.
#[test]
fn who_converts_a_volume_that_is_in_use_is_confined_and_leaves_nothing() {
    let cli = Cli::new();
    if !has_all(&cli) || !has_fuse() {
        return;
    }
    cli.keyway.secret("pw", cli_support::PASSWORD);
    cli.ends(0, &format!("create @volume --size 16M --quick {WITH}"));
    let before = cli.plain("volume");
    let mut child = converting(&cli, "encrypt --reencrypt --online");
    let pid = child.id().to_string();
    let status = cli.json(0, "status");
    assert_eq!(
        status["volumes"][0]["sandbox"],
        serde_json::json!({"role": "fuse", "missing": []}),
        "{status}"
    );
    assert_confined(&pid, "encrypt --online");
    cli.ends(0, "close @volume");
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "it goes on later");
    assert_eq!(
        left_of_conversions(&cli).len(),
        2,
        "the journal, and what says that there is something to go on with"
    );
    cli.ends(0, &format!("resume @volume {WITH} --require-sandbox"));
    assert_eq!(left_of_conversions(&cli), [] as [&str; 0]);
    assert!(cli.plain("volume") == before, "its content is another");
    cli.refused("usage", "--require-sandbox", "decrypt @volume --hardware --require-sandbox");
}
