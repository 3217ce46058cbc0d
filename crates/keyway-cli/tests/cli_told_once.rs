//! What is told once, a recovery password, reaches somebody; where it can't, nothing is made that it opens, and what was made
//! says how it is told again.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::wait_until;
use std::io::{self, BufRead, BufReader};
use std::process::{Command, Output, Stdio};

const NEW: &str = "create @lost --format bitlocker --size 70M";

/// The program in a shell, with standard output where that says.
fn to(cli: &Cli, words: &str, output: &str) -> (Option<i32>, String) {
    let script = format!("exec \"$0\" \"$@\" {output}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_keyway")]).args(cli.words(words));
    shell.env("KEYWAY_RUNTIME_DIR", cli.keyway.runtime_folder().join("sessions")).stdin(Stdio::null());
    let done = shell.output().expect("it starts");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

/// Makes a volume, and goes away from the end of its pipe as soon as there is something of it.
fn left_alone(cli: &Cli, words: &str) -> Output {
    left_when(cli, words, || cli.path("lost").exists())
}

fn left_when(cli: &Cli, words: &str, begun: impl FnMut() -> bool) -> Output {
    let (read, write) = io::pipe().expect("a pipe");
    let mut made = cli.command(cli.words(words));
    let child = made.stdout(write).stderr(Stdio::piped()).spawn().expect("it starts");
    // The command holds its end of the pipe as well.
    drop(made);
    wait_until("something of it", begun);
    drop(read);
    child.wait_with_output().expect("it ends")
}

#[test]
fn nothing_is_made_whose_recovery_password_nobody_would_read() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let pw = "--password-file @pw";
    for (words, output) in [
        (format!("{NEW} --quick --no-password"), ">/dev/full"),
        (format!("{NEW} --quick --no-password"), ">&-"),
        (format!("{NEW} --quick --no-password"), ">/dev/null"),
        (format!("{NEW} --quick {pw}"), ">/dev/full"),
        (format!("{NEW} --quick {pw}"), ">&-"),
    ] {
        let (code, said) = to(&cli, &words, output);
        assert_eq!(code, Some(1), "{words} {output}: {said}");
        assert!(said.contains("the recovery password can't be told"), "{words} {output}: {said}");
        assert!(said.contains("--recovery-file"), "{words} {output}: {said}");
        assert!(!cli.path("lost").exists(), "{words} {output}");
    }
    // Whoever has another way in may throw the words away: they are told again.
    let (code, said) = to(&cli, &format!("{NEW} --quick {pw}"), ">/dev/null");
    assert_eq!(code, Some(0), "{said}");
    cli.ends(0, &format!("protector recovery @lost {pw}"));

    let before = std::fs::read(cli.path("lost")).expect("the volume");
    for output in [">/dev/full", ">&-", ">/dev/null"] {
        let (code, said) = to(&cli, &format!("protector add @lost recovery-password {pw}"), output);
        assert_eq!(code, Some(1), "{output}: {said}");
        assert!(said.contains("the recovery password can't be told"), "{output}: {said}");
    }
    assert!(std::fs::read(cli.path("lost")).expect("the volume") == before, "it was touched");
    let told = cli.ends(0, &format!("protector change @lost {pw} --new-password-file @pw")).stdout;
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("opens by its new password (protector "), "{told}");

    // Before anything is looked at, and so before anything is asked or made smaller.
    let (code, said) = to(&cli, &format!("encrypt @lost --format bitlocker --yes {pw}"), ">/dev/full");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the recovery password can't be told"), "{said}");
}

#[test]
fn what_was_done_is_said_to_be_where_its_answer_can_not_be_written() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let (code, said) = to(&cli, "create @v --size 1M --quick --password-file @pw", ">/dev/full");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("what was asked for is done; only its answer could not be written"), "{said}");
    cli.ends(0, "info @v --password-file @pw");
}

/// Bytes, a secret, a table and help: whoever asked has none of it, and must not think so.
#[test]
fn what_was_asked_for_is_not_swallowed_where_nothing_takes_it() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let pw = "--password-file @pw";
    cli.ends(0, &format!("{NEW} --quick {pw}"));
    for words in [
        &*format!("cat @lost --length 4K {pw}"),
        &*format!("protector recovery @lost {pw}"),
        &*format!("info @lost {pw} --json"),
        "help cat",
        "--version",
    ] {
        // Closed; full; open for reading alone.
        for output in [">&-", ">/dev/full", "1</dev/null"] {
            let (code, said) = to(&cli, words, output);
            assert_eq!(code, Some(1), "{words} {output}: {said}");
            assert!(said.contains("could not write to standard output: "), "{words} {output}: {said}");
        }
        // Thrown away on purpose, as a shell has it, and as Python's DEVNULL is.
        for output in [">/dev/null", "1<>/dev/null"] {
            let (code, said) = to(&cli, words, output);
            assert_eq!(code, Some(0), "{words} {output}: {said}");
        }
    }
}

#[test]
fn what_became_of_a_file_system_tells_its_recovery_password_later() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    if cli.make("lost", 80 << 20, "mkfs.fat", &["-F", "32"]).is_none() {
        return;
    }
    let encrypt = "encrypt @lost --format bitlocker --grow --yes --limit 20 --password-file @pw";
    let done = left_when(&cli, encrypt, || {
        let status: serde_json::Value =
            serde_json::from_slice(&cli.run("status @lost --json").stdout).unwrap_or_default();
        status["pid"].is_number()
    });
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("the recovery password can't be told"), "{said}");
    assert!(said.contains("it is in force: `keyway protector recovery"), "{said}");
    let told = cli.json(0, "protector recovery @lost --password-file @pw");
    assert_eq!(told["recovery_passwords"].as_array().map(Vec::len), Some(1), "{told}");
}

/// Whoever pauses a conversion, or has it killed, has been told by then; and is told what tells it again.
#[test]
fn a_conversion_tells_its_recovery_password_before_the_long_work() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    if cli.make("lost", 80 << 20, "mkfs.fat", &["-F", "32"]).is_none() {
        return;
    }
    let words = "encrypt @lost --format bitlocker --grow --yes --limit 2 --password-file @pw";
    let mut command = cli.command(cli.words(words));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    // It ends with its output, if it tells nothing.
    let told = lines.by_ref().map_while(Result::ok).find(|line| line.trim().split('-').count() == 8);
    let told = told.expect("a recovery password");
    cli.ends(0, "pause @lost");
    let done = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    let again = format!("`keyway protector recovery {}`", cli.path("lost").display());
    assert!(said.contains(&format!("{again} tells its recovery password")), "{said}");
    cli.ends(0, &format!("cat @lost --length 512 --recovery-password {}", told.trim()));
    let done = cli.ends(0, "resume @lost --password-file @pw").stdout;
    let said = String::from_utf8_lossy(&done);
    assert!(said.contains(&format!("{again} tells it")), "{said}");
}

#[test]
fn a_volume_whose_recovery_password_was_told_to_nobody_goes_again_or_tells_it_later() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let done = left_alone(&cli, &format!("{NEW} --no-password"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("was removed again"), "{said}");
    assert!(!cli.path("lost").exists());

    let done = left_alone(&cli, &format!("{NEW} --password-file @pw"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("keyway protector recovery"), "{said}");
    let told = cli.json(0, "protector recovery @lost --password-file @pw");
    assert_eq!(told["recovery_passwords"].as_array().map(Vec::len), Some(1), "{told}");
}
