//! What people read: each verb's help, the common errors, and what is told of a volume or drive, as `tests/cmd` shows them.
//!
//! Whoever changes a word runs this with `TRYCMD=overwrite` and reads the difference.

#![allow(clippy::expect_used, reason = "tests fail by panicking")]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use trycmd::TestCases;

#[test]
fn what_people_read_is_what_was_reviewed() {
    let private = PermissionsExt::from_mode(0o700);
    let sessions = tempfile::Builder::new().permissions(private).tempdir().expect("a folder");
    let cases = TestCases::new();
    cases.register_bin("keyway", PathBuf::from(env!("CARGO_BIN_EXE_keyway")));
    // No session of the user's own is told of, and a line is as long as it is anywhere.
    cases.env("KEYWAY_RUNTIME_DIR", sessions.path().display().to_string()).env("COLUMNS", "100");
    cases.case("tests/cmd/*.trycmd").case("tests/cmd/help/*.trycmd").run();
}

#[test]
fn every_verb_s_help_is_among_them() {
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_keyway")).arg("--help").output();
    let help = String::from_utf8(said.expect("keyway starts").stdout).expect("text");
    let verbs =
        help.split("\nCommands:\n").nth(1).expect("verbs").lines().take_while(|line| !line.is_empty());
    let verbs =
        verbs.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    for verb in verbs.filter(|verb| *verb != "help") {
        assert!(
            PathBuf::from(format!("tests/cmd/help/{verb}.trycmd")).exists(),
            "tests/cmd/help has no {verb}"
        );
    }
}
