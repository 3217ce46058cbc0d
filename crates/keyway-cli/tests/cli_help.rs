//! The words of the command line: verbs, help with examples, wrong usage.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, two_lines};

const VERBS: [&str; 23] = [
    "demo",
    "create",
    "open",
    "close",
    "status",
    "info",
    "cat",
    "ls",
    "get",
    "put",
    "protector",
    "header",
    "erase",
    "encrypt",
    "decrypt",
    "pause",
    "resume",
    "resize",
    "serve",
    "drive",
    "bench",
    "lab",
    "doctor",
];

#[test]
fn every_verb_has_help_with_two_examples() {
    let cli = Cli::new();
    let overview = String::from_utf8(cli.ends(0, "--help").stdout).expect("text");
    for verb in VERBS {
        assert!(overview.lines().any(|line| line.trim_start().starts_with(verb)), "{verb} in {overview}");
        let help = String::from_utf8(cli.ends(0, &format!("{verb} --help")).stdout).expect("text");
        let example = format!("keyway {verb}");
        let examples = help.lines().filter(|l| l.trim_start().starts_with("$ ") && l.contains(&example));
        assert!(examples.count() >= 2, "{help}");
    }
    assert!(!overview.contains("serve-volume"), "the inner verb is nobody's business");
}

#[test]
fn options_of_secrets_are_explained() {
    let cli = Cli::new();
    let help = String::from_utf8(cli.ends(0, "open --help").stdout).expect("text");
    for option in ["--password-file", "--password-fd", "--keyfile", "--pim", "--protect-password-file"] {
        assert!(help.contains(option), "{option}");
    }
    let running: Vec<&str> = help.split_whitespace().collect();
    assert!(running.join(" ").contains("One trailing newline is dropped"), "{help}");
}

#[test]
fn a_verb_s_own_options_stand_under_no_group_s_heading() {
    let cli = Cli::new();
    let narrowing = ["--format", "--hash", "--header", "--partition", "--system", "--system-header"];
    for verb in
        ["cat", "info", "ls", "get", "put", "header backup", "header restore", "resize", "serve", "erase"]
    {
        let help = String::from_utf8(cli.ends(0, &format!("{verb} --help")).stdout).expect("text");
        let group = help.lines().skip_while(|line| *line != "Narrowing the search:").skip(1);
        let options = group
            .take_while(|line| line.is_empty() || line.starts_with(' '))
            .filter_map(|line| line.split_whitespace().next().filter(|word| word.starts_with("--")));
        // Of a disk `resize` takes the partition's own device, and an encrypted system's size is its drive's.
        let has = if verb == "resize" { &narrowing[..3] } else { &narrowing };
        assert_eq!(options.collect::<Vec<_>>(), has, "{verb}");
    }
}

#[test]
fn what_does_not_exist_is_wrong_usage() {
    let cli = Cli::new();
    cli.refused("usage", "no verb was named", "");
    cli.refused("usage", "there is no verb called \"frobnicate\"", "frobnicate");
    for (verb, missing) in
        [("encrypt", "DEVICE"), ("decrypt", "VOLUME"), ("resize", "VOLUME"), ("erase", "VOLUME")]
    {
        cli.refused("usage", &format!("{missing} is missing"), verb);
    }
    for verb in ["lab", "drive"] {
        cli.refused("usage", "needs a verb of its own: ", verb);
    }
    cli.refused("usage", "VOLUME is missing", "info");
    cli.refused("usage", "has no option --frobnicate", "bench --frobnicate");
    let error = &cli.json(2, "frobnicate")["error"];
    assert_eq!(error["code"], 2);
    assert_eq!(error["kind"], "usage");
    assert!(error["message"].as_str().is_some_and(|m| m.contains("frobnicate")), "{error}");
    assert!(error["hint"].is_string());
}

#[test]
fn help_is_asked_for_as_elsewhere() {
    let cli = Cli::new();
    let told = |words: &str| cli.ends(0, words).stdout;
    assert_eq!(told("help"), told("--help"));
    assert_eq!(told("help header backup"), told("header backup --help"));
    cli.refused("usage", "did you mean `keyway open`?", "help opne");
}

#[test]
fn the_version_is_the_package_s() {
    let said = String::from_utf8(Cli::new().ends(0, "--version").stdout).expect("text");
    assert_eq!(said.trim(), format!("keyway {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_error_is_one_line_that_says_what_and_one_that_says_what_to_do() {
    let cli = Cli::new();
    let done = cli.ends(1, "info @nothing");
    let (what, advice) = two_lines(&done);
    assert!(what.starts_with("keyway: ") && what.contains("nothing"), "{what}");
    assert!(advice.starts_with("        ") && advice.trim().len() > 5, "{advice}");
    assert!(done.stdout.is_empty());
}

#[test]
fn what_is_cut_off_because_the_reader_went_away_ends_with_141_and_no_word() {
    use std::io::Read;
    use std::process::Stdio;
    if keyway_testkit::require_tool("mkfs.fat").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", cli_support::PASSWORD);
    let with = "--password-file @pw --pim 1";
    cli.ends(0, &format!("create @big --size 24M --quick --filesystem fat {with}"));
    // More than a pipe holds.
    std::fs::write(cli.path("file"), vec![7; 1 << 20]).expect("written");
    cli.ends(0, &format!("put @big @file {with}"));
    for words in ["cat @big", "cat @big --json", "get @big /file -"] {
        for taken in [0, 1000] {
            let (mut reads, writes) = std::io::pipe().expect("a pipe");
            let mut command = cli.command(cli.words(&format!("{words} {with}")));
            let child = command.stdout(writes).stderr(Stdio::piped()).spawn().expect("keyway starts");
            drop(command);
            reads.read_exact(&mut vec![0; taken]).expect("bytes");
            drop(reads);
            let done = child.wait_with_output().expect("it ends");
            assert_eq!(done.status.code(), Some(141), "{words}, {taken} bytes taken");
            assert!(done.stderr.is_empty(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }
    // A reader that has what was asked for may go.
    assert_eq!(cli.ends(0, &format!("cat @big --length 1000 {with}")).stdout.len(), 1000);
    // What was done is done, whoever hears of it.
    let (reads, writes) = std::io::pipe().expect("a pipe");
    drop(reads);
    let words = cli.words(&format!("create @other --size 1M --quick --filesystem none {with}"));
    let made = cli.command(words).stdout(writes).status().expect("keyway starts");
    assert!(made.success() && cli.path("other").exists());
}
