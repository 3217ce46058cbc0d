//! Each step and cause has a sentence, each sentence a step or cause, and what stands in one is there to be told.

use super::*;
use std::collections::BTreeSet;

/// Parameters for scripts alone; the message tells people.
const NOT_SHOWN: &[(&str, &str)] = &[
    // Which of the sentences it is.
    ("give-any-secret", "password"),
    ("give-any-secret", "recovery_password"),
    ("give-any-secret", "startup_key"),
    ("give-any-secret", "tpm"),
    ("secrets-as-begun", "pim"),
    ("give-capability", "to_open"),
    ("other-protectors", "recovery_password"),
    ("other-protectors", "startup_key"),
    ("other-protectors", "tpm"),
    // It is the volume that is told of, by its name.
    ("resize-for-bitlocker", "path"),
    ("resize-for-conversion", "path"),
    ("shrink-inside", "bytes"),
    ("shrink-file-system", "bytes"),
    ("cant-shrink-so-grow-file", "bytes"),
    ("copy-to-new-volume", "is_file"),
    ("larger-size-or-room", "bytes"),
    ("larger-size-or-room", "most"),
    ("copy-to-smaller", "bytes"),
    ("copy-to-smaller", "most"),
];

/// The lines of a catalogue: words, and their sentences.
fn entries(catalogue: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    catalogue.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "))
}

/// The names in braces in all sentences of a word.
fn placeholders(catalogue: &'static str, word: &str) -> BTreeSet<&'static str> {
    let of_it = entries(catalogue).filter(|(known, _)| known.split('[').next() == Some(word));
    let parts = of_it.flat_map(|(_, sentence)| sentence.split('{').skip(1));
    parts.filter_map(|part| part.split(['}', ':']).next()).collect()
}

#[test]
fn each_word_has_one_sentence() {
    let advice: BTreeSet<&str> = Advice::ALL.iter().map(|(word, ..)| *word).collect();
    for (catalogue, words) in [(ADVICE, advice), (CAUSES, Cause::ALL.iter().copied().collect())] {
        let told: Vec<&str> = entries(catalogue).map(|(word, _)| word).collect();
        let lines = catalogue.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(told.len(), lines, "a line that is no sentence");
        assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), lines, "a word stands there twice");
        let whole = |word: &&str| !word.contains('[');
        assert_eq!(told.iter().copied().filter(whole).collect::<BTreeSet<_>>(), words);
        let of_one = told.iter().filter_map(|word| word.split_once('['));
        of_one.for_each(|(word, _)| assert!(words.contains(word), "{word}"));
    }
}

#[test]
fn what_stands_in_a_sentence_is_its_words() {
    for (word, parameters, _) in Advice::ALL {
        let hidden = NOT_SHOWN.iter().filter(|(step, _)| step == word).map(|(_, parameter)| *parameter);
        let has: BTreeSet<&str> = parameters.iter().copied().collect();
        let told: BTreeSet<&str> = placeholders(ADVICE, word).into_iter().chain(hidden).collect();
        assert_eq!(told, has, "{word}");
    }
    for word in Cause::ALL {
        let has: &[&str] = match *word {
            "hashed-otherwise" => &["hash", "others"],
            "not-enabled" => &["user"],
            _ => &[],
        };
        assert_eq!(placeholders(CAUSES, word), has.iter().copied().collect(), "{word}");
    }
}

#[test]
fn numbers_are_told_as_people_say_them() {
    let tries = [0, 1, 2].map(|tries| sentence(&Advice::TriesLeft { tries }));
    assert_eq!(
        tries,
        [
            "it was the last try before the TPM locks itself",
            "1 more try before the TPM locks itself",
            "2 more tries before the TPM locks itself"
        ]
    );
    let every = [90, 600, 7200].map(|seconds| sentence(&Advice::ForgetsOneEvery { seconds }));
    for (told, time) in every.iter().zip(["90 seconds", "10 minutes", "2 hours"]) {
        assert!(told.contains(time), "{told}");
    }
    // A name may have braces, and what a shell would take apart.
    let busy = sentence(&Advice::CloseNamed { volume: "{volume} of mine".into() });
    assert_eq!(busy, "close it first: keyway close '{volume} of mine'");
}

#[test]
fn a_cause_says_what_is_known() {
    let hashed = cause(&Cause::HashedOtherwise { hash: PasswordHash::Plain });
    let told = "another program has set it and hashed it differently (now: not hashed, as the kernel and cryptsetup do; \
                it may be sedutil or sedutil-sha512)";
    assert_eq!(hashed, told);
}

#[test]
fn the_first_sentence_that_fits_is_said() {
    let of = |facts| said("drive erase-range", &facts);
    let done = of(json!({"device": "/dev/sda", "range": 1}));
    assert_eq!(done, "/dev/sda: range 1 has a new media key; what was in it is gone.");
    let of_a_user = of(json!({"device": "/dev/sda", "range": 1, "user": "user2"}));
    assert!(of_a_user.starts_with(&done) && of_a_user.contains("user2's password is empty"), "{of_a_user}");
    let global = said("drive lose erase-range", &json!({"device": "/dev/sda", "range": 0}));
    assert!(global.starts_with("Everything outside of other ranges of /dev/sda"), "{global}");
    let roots = |pids: &[u32]| {
        said("status none", &json!({"roots": pids, "count": pids.len(), "several": pids.len() > 1}))
    };
    assert_eq!(roots(&[7]), "None of yours is open; root has one open (process 7).");
    assert_eq!(roots(&[7, 9]), "None of yours is open; root has 2 open (processes 7, 9).");
    assert_eq!(roots(&[]), "No volume is open.");
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
    assert!(said("drive lock", &json!({"device": "{ranges}", "ranges": "0"})).starts_with("{ranges} is"));
}

#[test]
fn every_word_stands_once_under_each_condition() {
    let mut seen = BTreeSet::new();
    for line in TOLD.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (key, _) = line.split_once(" = ").expect("a sentence");
        assert!(seen.insert(key), "{key}");
    }
}

#[path = "sentences.rs"]
mod sentences;

/// Whoever protects a hidden volume now is not sent to open the one around it without that.
#[test]
fn no_next_step_writes_around_a_hidden_volume_unprotected() {
    for (next, filesystem) in [
        ("folder", "ext4"),
        ("mount-as-root", "xfs"),
        ("files", "vfat"),
        ("files", "ntfs"),
        ("folder-alone", "ntfs"),
    ] {
        // As the options were given.
        let facts = json!({"volume": "/v.hc", "filesystem": filesystem, "next": next, "protected": true,
            "given": " --protect-hidden"});
        for words in [said("open next", &facts), said("open command", &facts)] {
            let writes = words.contains("keyway open") || words.contains("put");
            assert!(!words.is_empty() && (!writes || words.contains("--protect-hidden")), "{next}: {words}");
        }
    }
}
