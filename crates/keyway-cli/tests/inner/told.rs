//! Sentences are found by what is so, and facts stand in them as they are to be read.

use super::*;
use serde_json::json;

#[test]
fn the_first_sentence_that_fits_is_said() {
    let of = |facts| said("drive erase-range", &facts);
    let done = of(json!({"device": "/dev/sda", "range": 1}));
    assert_eq!(done, "/dev/sda: range 1 has a new media key; what was in it is gone.");
    let of_a_user = of(json!({"device": "/dev/sda", "range": 1, "user": "user2"}));
    assert!(of_a_user.starts_with(&done) && of_a_user.contains("user2's password is empty"), "{of_a_user}");
    let global = said("drive lose erase-range", &json!({"device": "/dev/sda", "range": 0}));
    assert!(global.starts_with("Everything outside of other ranges of /dev/sda"), "{global}");
    assert_eq!(said("drive not-saved", &json!({"for_resume": false})), "");
    assert_eq!(said("drive erase", &json!({})), "");
}

#[test]
fn facts_are_written_as_their_sentence_wants_them() {
    let backup = json!({"file": "a\u{1b}b", "bytes": 1 << 20, "hidden": false});
    assert!(said("header backup", &backup).starts_with("a\\u{1b}b holds the header (1 MiB)."));
    // Bytes that are no text.
    let file = json!({"file": [47, 255], "bytes": 512});
    assert!(said("header backup", &file).starts_with("/\\xff holds the header (512 bytes)."));
    let shares = json!({"device": "d", "seconds": 1.25, "users": ["user1", "user2"]});
    assert!(said("drive decrypted", &shares).ends_with("That took the drive 1.2 s."));
    assert!(said("drive give-to-users", &shares).ends_with("now: user1, user2."));
    // A fact's braces are its own.
    assert!(said("drive lock", &json!({"device": "{range}", "range": 1})).starts_with("{range} is"));
}

#[test]
fn every_word_stands_once_under_each_condition() {
    let mut seen = std::collections::BTreeSet::new();
    for line in TOLD.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (key, _) = line.split_once(" = ").expect("a sentence");
        assert!(seen.insert(key), "{key}");
    }
}
