//! Each step and cause has a sentence, each sentence a step or cause, and what stands in one is there to be told.

use super::*;
use std::collections::BTreeSet;

/// Parameters for scripts alone; the message tells people.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("shrink-inside", "bytes"),
    ("shrink-file-system", "bytes"),
    ("cant-shrink-so-grow-file", "bytes"),
    ("cant-shrink-so-grow-partition", "bytes"),
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
    // A name may have braces.
    let busy = sentence(&Advice::CloseNamed { volume: "{volume}".to_owned() });
    assert_eq!(busy, "close it first: keyway close {volume}");
}

#[test]
fn a_cause_says_what_is_known() {
    let hashed = cause(&Cause::HashedOtherwise { hash: PasswordHash::Plain });
    let told = "another program has set it and hashed it differently (now: not hashed, as the kernel and cryptsetup do; \
                it may be sedutil or sedutil-sha512)";
    assert_eq!(hashed, told);
}
