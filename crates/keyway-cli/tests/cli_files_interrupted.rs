//! `get` and `put` that are interrupted, killed, and begun again.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::with_files::{OPEN, fat, written};
use cli_support::{Cli, PASSWORD, checked};
use keyway_testkit::require_tool;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Has a verb interrupted later and later, until that meets its work: what it says then. `between` looks what is there after
/// each time, and makes it as it was before.
fn interrupted(cli: &Cli, words: &str, signal: Signal, between: impl Fn(Option<i32>)) -> String {
    let mut wait = Duration::from_millis(50);
    for _ in 0..300 {
        let child = cli.command(cli.words(words)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let child = child.expect("it starts");
        std::thread::sleep(wait);
        kill_process(Pid::from_child(&child), signal).expect("ours");
        let done = child.wait_with_output().expect("it ends");
        between(done.status.code());
        match done.status.code() {
            Some(1) => return String::from_utf8_lossy(&done.stderr).into_owned(),
            // It was through.
            Some(0) => wait /= 2,
            // It asked for the secret still.
            _ => wait += Duration::from_millis(30),
        }
    }
    panic!("{words} was never met at its work")
}

#[test]
fn a_copy_that_is_interrupted_leaves_no_part_of_a_file() {
    const LARGE: u64 = 160 << 20;
    for filesystem in written() {
        let cli = Cli::new();
        cli.keyway.secret("pw", PASSWORD);
        fs::create_dir(cli.path("tree")).unwrap();
        fs::write(cli.path("tree/before"), "before").unwrap();
        fs::File::create(cli.path("tree/large")).unwrap().set_len(LARGE).unwrap();
        let opens = format!("{OPEN} --hash sha512");
        let new = || {
            let _ = fs::remove_file(cli.path("volume"));
            cli.ends(0, &format!("create @volume --size 200M --quick --filesystem {filesystem} {opens}"));
        };
        new();
        let names = || String::from_utf8(cli.ends(0, &format!("ls @volume -r {opens}")).stdout).unwrap();
        let put = format!("put @volume @tree {opens}");
        let said = interrupted(&cli, &put, Signal::INT, |code| {
            let listed = names();
            assert_eq!(listed.contains("large"), code == Some(0), "{filesystem}: {code:?} {listed}");
            if code == Some(0) {
                new();
            }
        });
        let told =
            |said: &str| said.contains("interrupted with") && said.contains("is missing, and whatever");
        assert!(told(&said) && said.contains("each of them in full: /tree"), "{said}");
        assert_eq!(names().contains("before"), said.contains("with 1 files"), "what was put before stays");
        fs::write(cli.path("plain"), cli.ends(0, &format!("cat @volume {opens}")).stdout).unwrap();
        if let Some(fsck) = require_tool(&format!("fsck.{filesystem}")) {
            checked(Command::new(fsck).arg("-n").arg(cli.path("plain")));
        }
        fs::remove_file(cli.path("plain")).unwrap();
        new();
        cli.ends(0, &put);
        for signal in [Signal::INT, Signal::TERM] {
            let get = format!("get @volume /tree @got {opens}");
            let said = interrupted(&cli, &get, signal, |code| {
                let large = cli.path("got/large");
                assert_eq!(large.exists(), code == Some(0), "{filesystem}: {code:?}");
                if code != Some(1) {
                    let _ = fs::remove_dir_all(cli.path("got"));
                }
            });
            assert!(told(&said), "{said}");
            let before = fs::read(cli.path("got/before")).ok();
            assert_eq!(
                before.is_some_and(|before| before == b"before"),
                said.contains("with 1 files"),
                "{said}"
            );
            fs::remove_dir_all(cli.path("got")).unwrap();
        }
        // One of its own, to whose name nothing stands afterwards.
        let get = format!("get @volume /tree/large @got {opens}");
        let said = interrupted(&cli, &get, Signal::INT, |code| {
            assert_eq!(cli.path("got").exists(), code == Some(0), "{filesystem}: {code:?}");
            let _ = fs::remove_file(cli.path("got"));
        });
        assert!(told(&said) && said.contains("got is missing"), "{said}");
        cli.ends(0, &get);
        assert_eq!(fs::metadata(cli.path("got")).unwrap().len(), LARGE);
    }
}

/// Nobody takes a part of a file for all of it, whatever ended the copy.
#[test]
fn a_copy_that_is_killed_leaves_no_part_under_a_name() {
    const LARGE: u64 = 100 << 20;
    if require_tool("mkfs.exfat").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let opens = format!("{OPEN} --hash sha512");
    fs::File::create(cli.path("large")).unwrap().set_len(LARGE).unwrap();
    cli.ends(0, &format!("create @volume --size 120M --quick --filesystem exfat {opens}"));
    cli.ends(0, &format!("put @volume @large {opens}"));
    let got = cli.path("out/got");
    let begun = (0..200).any(|tried| {
        let _ = fs::remove_dir_all(cli.path("out"));
        fs::create_dir(cli.path("out")).unwrap();
        let words = cli.words(&format!("get @volume /large @out/got {opens}"));
        let mut child =
            cli.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        std::thread::sleep(Duration::from_millis(20 + 20 * (tried % 50)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(fs::metadata(&got).map_or(LARGE, |about| about.len()) == LARGE, "a part of it");
        !got.exists() && fs::read_dir(cli.path("out")).unwrap().count() == 1
    });
    assert!(begun, "it was never met at its work");
    // What is left of it stands in nobody's way.
    cli.ends(0, &format!("get @volume /large @out/got {opens}"));
    assert_eq!(fs::metadata(&got).unwrap().len(), LARGE);
}

#[test]
fn an_interrupted_copy_out_goes_on() {
    let cli = Cli::new();
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    fat(&cli);
    fs::create_dir_all(cli.path("all/deep")).unwrap();
    for name in ["all/one", "all/two", "all/deep/three"] {
        fs::write(cli.path(name), name).unwrap();
    }
    cli.ends(0, &format!("put @volume @all {OPEN}"));
    fs::create_dir(cli.path("out")).unwrap();
    cli.ends(0, &format!("get @volume /all @out {OPEN}"));
    // As if it had been cut off: one is missing, one has a part of its length, one is somebody's own of that length.
    fs::remove_file(cli.path("out/all/one")).unwrap();
    fs::write(cli.path("out/all/two"), "a").unwrap();
    fs::write(cli.path("out/all/deep/three"), "ALL/deep/three").unwrap();
    cli.fails(1, "exists", "--force", &format!("get @volume /all @out {OPEN}"));
    let again = cli.json(1, &format!("get @volume /all @out --skip-existing {OPEN}"));
    let numbers = |got: &serde_json::Value| ["files", "kept"].map(|key| got[key].as_u64());
    assert_eq!(again["error"]["kind"], "not-all-copied");
    assert_eq!(numbers(&again), [Some(1), Some(1)]);
    assert!(again["failed"][0]["path"].as_str().unwrap().ends_with("out/all/two"), "{again}");
    assert_eq!(fs::read(cli.path("out/all/two")).unwrap(), b"a", "nothing is overwritten unasked");
    let both = cli.json(0, &format!("get @volume /all @out --skip-existing --force {OPEN}"));
    assert_eq!(numbers(&both), [Some(1), Some(2)]);
    assert_eq!(fs::read(cli.path("out/all/two")).unwrap(), b"all/two");
    assert_eq!(fs::read(cli.path("out/all/deep/three")).unwrap(), b"ALL/deep/three");
    // All of them anew; a link is replaced, not followed, and a folder is no file.
    let outside = cli.path("outside");
    fs::write(&outside, "precious").unwrap();
    fs::remove_file(cli.path("out/all/one")).unwrap();
    std::os::unix::fs::symlink(&outside, cli.path("out/all/one")).unwrap();
    assert_eq!(cli.json(0, &format!("get @volume /all @out --force {OPEN}"))["files"], 3);
    assert_eq!(fs::read(&outside).unwrap(), b"precious");
    assert!(cli.path("out/all/one").symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read(cli.path("out/all/deep/three")).unwrap(), b"all/deep/three");
    cli.ends(0, &format!("get @volume /all/two @out/all/one --force {OPEN}"));
    assert_eq!(fs::read(cli.path("out/all/one")).unwrap(), b"all/two");
    fs::create_dir(cli.path("two")).unwrap();
    fs::create_dir(cli.path("two/two")).unwrap();
    cli.fails(1, "exists", "", &format!("get @volume /all/two @two --force {OPEN}"));
    let left: Vec<_> =
        fs::read_dir(cli.path("out/all")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("keyway")), "{left:?}");
}
