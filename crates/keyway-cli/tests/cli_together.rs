//! Two who want to change one volume at the same time: the second is refused before it has touched anything.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD, Typed};
use keyway_testkit::{require_fuse, require_tool};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

const SECRET: &str = "--pim 1 --hash sha512";
const KEY: &str = "--password-file @pw --pim 1 --hash sha512";

/// The verb's process, as the refusal of somebody else names it.
fn holder(error: &Value) -> bool {
    error["message"].as_str().unwrap_or_default().contains("keyway (process ")
}

#[test]
fn whoever_asks_for_a_password_has_the_volume() {
    let cli = Cli::new();
    cli.volume("v");
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --no-recovery-password --password-file @pw");
    let before = ["v", "b"].map(|name| std::fs::read(cli.path(name)).expect("made"));
    for (words, question, others) in [
        (
            format!("resize @v --size 2M {SECRET}"),
            "Password of v: ",
            [
                format!("resize @v --size 3M --yes {KEY}"),
                format!("decrypt @v --yes {KEY}"),
                format!("open @v {KEY}"),
            ],
        ),
        (
            "resize @b --size 80M".to_owned(),
            "Password of b: ",
            ["resize @b --size 90M --yes", "protector suspend @b --yes", "decrypt @b --yes"]
                .map(|words| format!("{words} --password-file @pw")),
        ),
        (
            format!("encrypt @v --reencrypt {SECRET} --yes"),
            "Password of v: ",
            [
                format!("encrypt @v --reencrypt --yes {KEY}"),
                format!("resize @v --size 3M --yes {KEY}"),
                format!("protector change @v --new-pim 2 {KEY} --new-password-file @pw"),
            ],
        ),
    ] {
        let Some(mut first) = Typed::new(&cli, &words) else { return };
        first.answer(question, "");
        for words in &others {
            let error = &cli.json(6, words)["error"];
            assert!(error["kind"] == "busy" && holder(error), "{words}: {error}");
        }
        first.answer("", "\u{3}");
        let (code, shown) = first.end();
        assert!(code == Some(1), "{words}: {code:?}: {shown}");
    }
    assert!(["v", "b"].map(|name| std::fs::read(cli.path(name)).expect("there")) == before);
    cli.ends(0, &format!("resize @v --size 2M --yes {KEY}"));
}

/// Starts it and does not wait.
fn start(cli: &Cli, words: &str) -> Child {
    let mut command = cli.keyway.command(cli.words(words));
    command.arg("--json").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

/// How each of two ended that were started at once.
fn at_once(cli: &Cli, words: [&str; 2]) -> [Output; 2] {
    words.map(|words| start(cli, words)).map(|child| child.wait_with_output().expect("ends"))
}

/// One did what it was asked for; the other one was refused, or came when that was through.
fn one_at_least(ends: &[Output; 2], words: &str) {
    let codes = ends.each_ref().map(|end| end.status.code());
    let said = || ends.each_ref().map(|end| String::from_utf8_lossy(&end.stdout).into_owned());
    assert!(codes.contains(&Some(0)), "{words}: {codes:?}: {:?}", said());
    for end in ends.iter().filter(|end| end.status.code() == Some(6)) {
        let said: Value = serde_json::from_slice(&end.stdout).expect("one document");
        // By the other one's process, or by the volume that it has open for the file system's tool.
        assert!(["busy", "already-open"].map(Value::from).contains(&said["error"]["kind"]), "{said}");
        let text = said["error"].to_string();
        assert!(!text.contains("could not get") && !text.contains("damaged"), "it touched nothing: {said}");
    }
}

/// What its checker says of the file system in the volume.
fn is_sound(cli: &Cli, checker: &std::path::Path) {
    std::fs::write(cli.path("plain"), cli.ends(0, &format!("cat @v {KEY}")).stdout).expect("written");
    let done = std::process::Command::new(checker).args(["-f", "-n"]).arg(cli.path("plain")).output();
    let done = done.expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
fn of_two_at_once_one_resizes_and_the_file_system_stays_whole() {
    let (Some(_), Some(checker), true) = (require_tool("mkfs.ext4"), require_tool("e2fsck"), require_fuse())
    else {
        return;
    };
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let make = format!("create @v --size 20M --filesystem ext4 --quick --force --yes {KEY}");
    for sizes in [[32, 24], [14, 32], [24, 32], [32, 14]] {
        cli.ends(0, &make);
        let words = sizes.map(|size| format!("resize @v --size {size}M --yes {KEY}"));
        let ends = at_once(&cli, [&words[0], &words[1]]);
        one_at_least(&ends, &words.join(" & "));
        is_sound(&cli, &checker);
        let long = cli.path("v").metadata().expect("there").len() >> 20;
        assert!(sizes.contains(&long), "{sizes:?}: {long}");
        cli.json(0, &format!("header check @v {KEY}"));
    }
}

/// The session that only the resize uses is nobody else's to close.
#[test]
fn who_comes_while_a_resize_works_inside_is_told_that() {
    let (Some(_), Some(tool), true) = (require_tool("mkfs.ext4"), require_tool("resize2fs"), require_fuse())
    else {
        return;
    };
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, &format!("create @v --size 20M --filesystem ext4 --quick {KEY}"));
    // The file system's tool says that it has begun, and takes its time.
    let (tools, begun) = (cli.path("tools"), cli.path("begun"));
    std::fs::create_dir(&tools).expect("made");
    let (at, tool) = (begun.display(), tool.display());
    let script = format!("#!/bin/sh\n: > {at}\nwhile test -e {at}; do sleep 0.1; done\nexec {tool} \"$@\"\n");
    std::fs::write(tools.join("resize2fs"), script).expect("written");
    std::fs::set_permissions(tools.join("resize2fs"), Permissions::from_mode(0o755)).expect("permitted");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut first = cli.keyway.command(cli.words(&format!("resize @v --size 14M --yes {KEY}")));
    let mut first =
        first.env("PATH", path).stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("starts");
    let began = Instant::now();
    while !begun.exists() {
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = [format!("resize @v --size 16M --yes {KEY}"), format!("open @v {KEY}")]
        .map(|words| cli.json(6, &words)["error"].clone());
    std::fs::remove_file(&begun).expect("removed");
    assert!(first.wait().expect("ends").success());
    for error in told {
        let (message, hint) = (error["message"].to_string(), error["hint"].to_string());
        let is_told = error["kind"] == "busy" && message.contains("is being resized by process");
        assert!(is_told && !hint.contains("close"), "{error}");
    }
    assert_eq!(cli.path("v").metadata().expect("there").len(), 14 << 20);
}

#[test]
fn of_two_at_once_one_encrypts() {
    let (Some(mkfs), Some(checker)) = (require_tool("mkfs.ext4"), require_tool("e2fsck")) else { return };
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for _ in 0..3 {
        std::fs::File::create(cli.path("v")).and_then(|file| file.set_len(20 << 20)).expect("made");
        let done = std::process::Command::new(&mkfs).args(["-q", "-F"]).arg(cli.path("v")).status();
        assert!(done.expect("runs").success());
        let words = "encrypt @v --password-file @pw --pim 1 --yes";
        let ends = at_once(&cli, [words, words]);
        one_at_least(&ends, words);
        is_sound(&cli, &checker);
    }
}
