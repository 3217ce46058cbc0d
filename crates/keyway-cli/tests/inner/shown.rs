//! What others wrote does nothing to a terminal.

use super::*;

#[test]
fn names_do_not_steer_terminals() {
    assert_eq!(shown("a\u{1b}[2Jb\n\t\r"), "a\\u{1b}[2Jb\\n\\t\\r");
    assert_eq!(shown("gpj.\u{202e}exe"), "gpj.\\u{202e}exe");
    assert_eq!(shown("\u{9b}2J\u{7f}\u{2066}\u{200f}"), "\\u{9b}2J\\u{7f}\\u{2066}\\u{200f}");
    assert_eq!(shown("größe 漢字.txt"), "größe 漢字.txt");
}

#[test]
fn what_was_there_can_be_told() {
    assert_eq!(shown(OsStr::from_bytes(b"a\xff\xc3")), "a\\xff\\xc3");
    assert_eq!(shown("a\\n"), "a\\\\n");
    assert_ne!(shown("\\u{1b}"), shown("\u{1b}"));
}

#[test]
fn sentences_stay_in_their_lines() {
    assert_eq!(line("one\nkeyway: done"), "one\\nkeyway: done");
    assert_eq!(lines("one\n\ttwo\u{1b}[2J\r"), "one\n\ttwo\\u{1b}[2J\\r");
    assert_eq!(line("C:\\ and \\u{1b}"), "C:\\ and \\u{1b}");
}

#[test]
fn json_means_the_same() {
    let value = serde_json::json!({"name": "a\u{1b}\u{9b}\u{7f}\u{202e}\n\u{2066}ü\\"});
    let text = json(&serde_json::to_string_pretty(&value).unwrap_or_default());
    assert!(text.chars().all(|c| c == '\n' || !steers(c)), "{text:?}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
}
