//! Passwords typed on a terminal: not shown, asked for twice when new.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, Typed};
use std::process::{Command, Stdio};

#[test]
fn a_typed_password_is_not_shown() {
    let cli = Cli::new();
    let Some(mut typed) = Typed::new(&cli, "create @v --size 1M --quick --pim 1") else { return };
    typed.answer("New password of v: ", &format!("{PASSWORD}\r"));
    typed.answer("The same again: ", &format!("x\u{7f}{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("twenty"), "{shown}");

    let Some(mut typed) = Typed::new(&cli, "info @v --ask --pim 1") else { return };
    typed.answer("Password of v: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("veracrypt") && !shown.contains("twenty"), "{shown}");
}

#[test]
fn two_different_passwords_make_no_volume() {
    let cli = Cli::new();
    let Some(mut typed) = Typed::new(&cli, "create @v --size 1M --quick --pim 1") else { return };
    for _ in 0..3 {
        typed.answer("New password of v: ", "one-password-of-twenty\r");
        typed.answer("The same again: ", "another-one-of-twenty\r");
    }
    let (code, shown) = typed.end();
    assert_eq!(code, Some(2), "{shown}");
    assert!(!cli.path("v").exists());

    let mut typed = Typed::new(&cli, "create @v --size 1M --quick --pim 1").expect("script");
    typed.answer("New password of v: ", "one-password-of-twenty\r");
    typed.answer("The same again: ", "another-one-of-twenty\r");
    typed.answer("New password of v: ", &format!("{PASSWORD}\r"));
    typed.answer("The same again: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "info @v --password-file @pw --pim 1");
}

#[test]
fn control_c_ends_a_question() {
    let cli = Cli::new();
    cli.volume("v");
    let Some(mut typed) = Typed::new(&cli, "info @v --ask") else { return };
    typed.answer("Password of v: ", "half a pass\u{3}");
    let (code, shown) = typed.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("interrupted: nothing was changed"), "{shown}");
    let before = std::fs::read(cli.path("v")).expect("the volume");
    for (keys, code) in [("\u{3}", 1), ("y\u{3}", 1), ("no\r", 1)] {
        let Some(mut typed) = Typed::new(&cli, "encrypt @v --reencrypt --pim 1 --password-file @pw") else {
            return;
        };
        typed.answer("Type `yes` to go on: ", keys);
        let (ended, shown) = typed.end();
        assert_eq!(ended, Some(code), "{shown}");
        let says = if keys.ends_with('\r') { "nothing was done" } else { "interrupted: nothing was changed" };
        assert!(shown.contains(says), "{keys:?}: {shown}");
    }
    assert!(std::fs::read(cli.path("v")).expect("the volume") == before);
}

#[test]
fn a_recovery_password_is_known_wherever_it_is_typed() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let made = "create @v --format bitlocker --size 64M --quick --filesystem none --password-file @pw";
    let made = cli.json(0, made);
    let text = |key: &str| made[key].as_str().expect("text").to_owned();
    let (digits, id) = (text("recovery_password"), text("recovery_password_id"));
    let Some(mut typed) = Typed::new(&cli, "info @v --ask") else { return };
    typed.answer("Password of v: ", &format!("{digits}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains(&digits[..6]), "{shown}");

    // The last group's check digit.
    let last = if digits.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &digits[..digits.len() - 1]);
    let mut typed = Typed::new(&cli, "info @v --ask").expect("script");
    typed.answer("Password of v: ", &format!("{mistyped}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("group 8"), "{shown}");

    // A wrong password: what else opens it.
    let mut typed = Typed::new(&cli, "info @v --ask").expect("script");
    typed.answer("Password of v: ", "not the password\r");
    let (code, shown) = typed.end();
    assert_eq!(code, Some(3), "{shown}");
    // As the terminal's lines end.
    let running = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(running.contains(&format!("it also opens by recovery password {}…", &id[..8])), "{shown}");

    // No secret in the shell's history.
    let mut typed = Typed::new(&cli, "cat @v --length 1 --recovery-password").expect("script");
    typed.answer("Recovery password of v: ", &format!("{}\r", digits.replace('-', "")));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
}

/// What standard error says, which must be JSON objects, one in a line.
fn objects(done: &std::process::Output) -> Vec<serde_json::Value> {
    let text = String::from_utf8_lossy(&done.stderr);
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn progress_is_told_as_it_was_asked_for() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for (name, quiet) in [("a", ""), ("b", " -q")] {
        let words = format!("create @{name} --size 2M --password-file @pw --pim 1 --progress json{quiet}");
        let told = objects(&cli.ends(0, &words));
        let first = told.first().expect("an object");
        assert_eq!(first["total_bytes"], 2 << 20, "{first}");
        assert!(first["progress"].is_string() && first["done_bytes"].is_u64(), "{first}");
    }
    for (name, option) in [("c", "none"), ("d", "line")] {
        let words = format!("create @{name} --size 2M --password-file @pw --pim 1 --progress {option}");
        let done = cli.ends(0, &words);
        assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{option}: so short a time has no line");
    }
    cli.refused("usage", "none, line, json", "status --progress bar");
}

#[test]
fn a_long_search_for_the_key_is_announced_and_ctrl_c_ends_it() {
    use std::os::unix::process::ExitStatusExt;
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("wrong", "not-this-one-of-twenty");
    cli.ends(0, "create @v --size 1M --quick --password-file @pw");
    let told = cli.command(cli.words("info @v --password-file @wrong"));
    // Who runs the tests in the background may have Ctrl-C ignored, and so would whatever is started.
    let mut afresh = Command::new("env");
    afresh.arg("--default-signal=INT").arg(told.get_program()).args(told.get_args());
    told.get_envs().filter_map(|(name, value)| Some((name, value?))).for_each(|(name, value)| {
        afresh.env(name, value);
    });
    let mut child = afresh.stderr(Stdio::piped()).spawn().expect("keyway starts");
    let mut said = std::io::BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).expect("a line");
    assert!(line.starts_with("keyway: looking for the key: ") && line.contains("--hash sha512"), "{line}");
    // Each hash on the primary header, the hidden one and the copies of both, for VeraCrypt and TrueCrypt.
    let count = line.split_whitespace().find_map(|word| word.parse::<u32>().ok()).expect("a number");
    assert!((20..60).contains(&count), "{line}");
    // Nothing has begun that could be left half done: the signal itself ends it.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("told");
    assert_eq!(child.wait().expect("ended").signal(), Some(2));
}

#[test]
fn a_bar_gives_way_to_what_is_said() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("wrong", "not-this-one-of-twenty");
    cli.ends(0, "create @v --size 1M --quick --password-file @pw");
    let words = "info @v --password-file @wrong --hash argon2id";
    let Some(typed) = Typed::new(&cli, words) else { return };
    let (code, shown) = typed.end();
    assert_eq!(code, Some(3), "{shown}");
    // On a fast machine it may be through before there is anything to show.
    if let Some((before, after)) = shown.rsplit_once("looking for the key  ") {
        assert!(before.ends_with('\r') && after.contains("\r\u{1b}[Kkeyway: "), "{shown:?}");
        assert!(after.contains("left"), "{shown:?}");
    }
}
