//! Wrong words are told in one voice, with the nearest right ones and a next step that exists.

use super::*;
use crate::args::with_help_of;
use std::os::unix::ffi::OsStrExt;

#[path = "manual.rs"]
mod manual;

/// What is said of these words, and what helps.
fn said_of(line: &str) -> (String, String) {
    let words = words(format!("keyway {line}").split_whitespace().map(OsString::from));
    let error = Cli::of(&words).map(drop).expect_err("wrong words");
    let Failure { message, hint, .. } = failure(&error, &words);
    (message, hint)
}

fn says(line: &str, message: &str, hint: &str) {
    assert_eq!(said_of(line), (message.to_owned(), hint.to_owned()), "{line}");
}

#[test]
fn no_verb_and_none_of_ours() {
    says("", "no verb was named", "`keyway --help` lists the verbs; `keyway demo` is the tour");
    says(
        "header",
        "keyway header needs a verb of its own: backup, restore, repair, check",
        "`keyway header --help` explains it",
    );
    let all = "`keyway --help` lists all verbs";
    says("opne v", "there is no verb called \"opne\"", &format!("did you mean `keyway open`? {all}"));
    says("Mount v", "there is no verb called \"Mount\"", &format!("did you mean `keyway open`? {all}"));
    says("xyzzy", "there is no verb called \"xyzzy\"", "`keyway --help` lists the verbs");
    let (message, hint) = said_of("header backpu v f");
    assert_eq!(message, "keyway header has no verb called \"backpu\"");
    assert!(hint.starts_with("did you mean `keyway header backup`?"), "{hint}");
    // No verb that only Keyway itself calls is offered to anybody.
    let (_, hint) = said_of("serve-volum");
    assert!(!hint.contains("serve-volume"), "{hint}");
}

#[test]
fn a_volume_where_a_verb_belongs() {
    let volume = tempfile::Builder::new().prefix("a b").tempfile().expect("a file");
    let words = [OsString::from("keyway"), volume.path().into()];
    let error = Cli::of(&words).map(drop).expect_err("no verb");
    let hint = failure(&error, &words).hint;
    let (open, info) = (format!("`keyway open '{0}'`", volume.path().display()), "`keyway info '");
    assert!(hint.starts_with(&open) && hint.contains(info), "{hint}");
    // A name that is no text.
    let folder = tempfile::tempdir().expect("a folder");
    let volume = folder.path().join(OsStr::from_bytes(b"b\xff.hc"));
    std::fs::write(&volume, b"content").expect("written");
    let words = [OsString::from("keyway"), volume.into()];
    let error = Cli::of(&words).map(drop).expect_err("no verb");
    let Failure { message, hint, .. } = failure(&error, &words);
    assert!(message.contains("b\\xff.hc\""), "{message}");
    assert!(hint.starts_with("`keyway open $'") && hint.contains("xff.hc'` opens it"), "{hint}");
}

#[test]
fn options_and_values() {
    says(
        "open v --read-olny",
        "keyway open has no option --read-olny",
        "did you mean --read-only? `keyway open --help` lists all options",
    );
    says(
        "info v w",
        "\"w\" is one word too many",
        "it goes like this: keyway info [OPTIONS] <VOLUME>; quote names with spaces",
    );
    says("open", "VOLUME is missing", "it goes like this: keyway open <VOLUME> [MOUNTPOINT]");
    says(
        "open v --format bitloker",
        "--format can't be \"bitloker\": there are veracrypt, truecrypt, bitlocker",
        "did you mean \"bitlocker\"? `keyway open --help` explains them",
    );
    says(
        "cat v --offset ten",
        "--offset: \"ten\" is not a size: write a number with K, M, G or T, such as 512M or 10G",
        "`keyway cat --help` explains it",
    );
    says("cat v --offset", "--offset needs a value", "`keyway cat --help` explains it");
    says("cat v --offset 1 --offset 2", "--offset can be given only once", "leave all but one of them out");
    says(
        "open v --read-only --cache --allow-discards",
        "--read-only does not go with --allow-discards",
        "leave one of them out",
    );
    for (line, helps) in [
        ("--dismount v", "`keyway close`"),
        ("open v -k f", "--keyfile PATH"),
        ("open v --slot 3", "its own path"),
        ("create v --volume-type hidden", "--hidden SIZE"),
    ] {
        let (message, hint) = said_of(line);
        assert!(message.contains("has no option") && hint.contains(helps), "{line}: {message}: {hint}");
    }
    says(
        "open v --pim x",
        "--pim can't be \"x\": write a whole number, and none that is too large",
        "`keyway open --help` explains it",
    );
    says(
        "create v --password x",
        "a password is never an argument: there every program on this machine can read it",
        "use --password-file FILE or --password-fd N, or be asked for it",
    );
}

#[test]
fn nothing_steers_the_terminal() {
    for line in [
        "\u{1b}[2J",
        "open v \u{1b}[2J x",
        "open v --\u{1b}[2J",
        "open v --format \u{1b}[2J",
        "cat v --offset \u{1b}[2J",
    ] {
        let (message, hint) = said_of(line);
        assert!(!format!("{message}{hint}").contains('\u{1b}'), "{line:?}: {message:?} {hint:?}");
    }
}

#[test]
fn what_others_call_our_verbs_are_verbs_of_ours() {
    let catalogue = include_str!("../../words/told.txt");
    let lines = catalogue.lines().filter_map(|line| line.strip_prefix("verb ")?.split_once(" = "));
    for (theirs, ours) in lines {
        assert!(with_help_of(|_| true).find_subcommand(theirs).is_none(), "{theirs} is one of ours");
        let help = format!("keyway {ours} --help");
        let shown = Cli::of(&help.split(' ').collect::<Vec<_>>()).map(drop).expect_err("help");
        assert!(!shown.use_stderr(), "{ours}: {shown}");
    }
}

#[test]
fn help_is_a_verb_as_elsewhere() {
    let of = |line: &str| words(line.split(' ').map(OsString::from));
    assert_eq!(of("keyway help"), of("keyway --help"));
    assert_eq!(of("keyway help lab run"), of("keyway lab run --help"));
}

#[test]
fn missing_words_stand_in_one_line() {
    let text = "error: what:\n  <VOLUME>\n  --size\n\nUsage: …\n";
    assert_eq!(first_paragraph(text), "what: <VOLUME> --size");
}
