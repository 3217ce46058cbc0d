//! docs/reference/errors.md is made of the kinds and of one of each error below; this holds it to them.
#![allow(clippy::expect_used, reason = "helpers of tests fail as tests do")]

use super::{Failure, samples};
use keyway_error::{Advice, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const INTRODUCTION: &str = "# Errors\n
An error says what happened and what helps. Scripts read its kind (`error.kind` with `--json`), a word that never changes, \
and the exit code, which says whose fault it was: 1 it failed, 2 wrong usage, 3 wrong secret, 4 not a volume or a damaged \
one, 5 not permitted or not possible on this machine, 6 busy.\n
This page is made from the errors; the test that compares the two writes it anew where `KEYWAY_WRITE_ERRORS` is set. \
Names and figures are examples.\n
With `--json` each step that helps stands in `error.advice`, as an object: its word as `kind`, and its parameters. [All of \
them](#advice) are listed at the end. Where `hint` has words of the command line alone, `advice` is empty. `error.path` is the file or \
device that the error is about.\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is said, by kind and exit code.
fn page() -> String {
    let mut told: BTreeMap<(&str, u8), Vec<Failure>> = BTreeMap::new();
    for failure in samples::all() {
        let rows = told.entry((failure.kind.word(), failure.exit as u8)).or_default();
        if !rows.contains(&failure) {
            rows.push(failure);
        }
    }
    let mut kinds = Kind::ALL.to_vec();
    kinds.sort_by_key(|kind| kind.word());
    let mut page = INTRODUCTION.to_owned();
    for kind in kinds {
        let _ = write!(page, "\n## {}\n\n{}\n", kind.word(), kind.meaning());
        for ((_, code), rows) in told.range((kind.word(), 0)..=(kind.word(), u8::MAX)) {
            let _ = write!(page, "\n| Exit code {code} | What helps |\n|---|---|\n");
            for Failure { message, hint, .. } in rows {
                let _ = writeln!(page, "| {} | {} |", message.replace('|', "\\|"), hint.replace('|', "\\|"));
            }
        }
    }
    page.push_str("\n## Advice\n\nSizes are in bytes, times in seconds.\n\n| `kind` | Parameters | Meaning |\n|---|---|---|\n");
    for (word, parameters, meaning) in Advice::ALL {
        let _ = writeln!(page, "| {word} | {} | {} |", parameters.join(", "), meaning);
    }
    page
}

#[test]
fn the_page_says_what_the_program_says() {
    let (path, page) = (root().join("docs/reference/errors.md"), page());
    if std::env::var_os("KEYWAY_WRITE_ERRORS").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    let there = std::fs::read_to_string(&path).expect("docs/reference/errors.md");
    for (line, (there, told)) in there.lines().zip(page.lines()).enumerate() {
        assert_eq!(there, told, "line {} of docs/reference/errors.md", line + 1);
    }
    assert_eq!(there.lines().count(), page.lines().count());
}

/// Nobody is left with what went wrong alone: but for who stopped it themselves.
#[test]
fn every_error_has_a_next_step() {
    let left_alone = |failure: &Failure| failure.hint.is_empty() && failure.kind != Kind::Interrupted;
    let left_alone: Vec<Failure> = samples::all().into_iter().filter(left_alone).collect();
    assert!(left_alone.is_empty(), "nothing helps: {left_alone:#?}");
}

/// What tests say: the files of the crates' folders `tests`, and what stands in their sources behind `#[cfg(test)]`.
fn tests(folder: &Path, whole: bool, said: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests(&path, whole || path.ends_with("tests"), said);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("text");
            let from = if whole { Some(0) } else { text.find("#[cfg(test)]\nmod tests {") };
            said.push_str(from.and_then(|from| text.get(from..)).unwrap_or_default());
        }
    }
}

/// Adds the sources of a folder.
fn sources(folder: &Path, text: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("absent") {
            sources(&path, text);
        } else if path.extension().is_some_and(|e| e == "rs") {
            text.push(std::fs::read_to_string(&path).expect("text"));
        }
    }
}

/// Each row of each error's table has a sample: where several tables have a row of one name, as many samples.
#[test]
fn each_row_of_a_table_is_among_the_samples() {
    let (mut crates, mut samples) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        sources(&entry.expect("a crate").path().join("src"), &mut crates);
    }
    sources(&root().join("crates/keyway-cli/tests/inner/samples"), &mut samples);
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    let word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().map_or(0, str::len);
    for text in &crates {
        for table in text.split("\nexplain! {").skip(1).filter_map(|rest| rest.split("\n} }").next()) {
            let patterns = table.lines().filter_map(|line| line.strip_prefix("    Self::"));
            let names = patterns.flat_map(|line| line.split(" => ").next().unwrap_or(line).split("| Self::"));
            let names: BTreeSet<&str> = names.map(|name| &name[..word(name)]).collect();
            names.into_iter().for_each(|name| *rows.entry(name).or_default() += 1);
        }
    }
    assert!(rows.len() > 300, "the tables were not found: {rows:?}");
    let samples = samples.concat();
    let number = |name: &str| {
        let named = |after: &&str| after.get(..word(after)) == Some(name);
        samples.split("::").skip(1).filter(named).count()
    };
    let missing: Vec<_> = rows.iter().filter(|(name, tables)| number(name) < **tables).collect();
    assert!(missing.is_empty(), "no samples of {missing:?}");
}

/// A test produces a kind where it names the word or the variant, or where it is among the samples.
#[test]
fn each_kind_is_produced_by_a_test() {
    let mut said = String::new();
    tests(&root().join("crates"), false, &mut said);
    let samples: Vec<Kind> = samples::all().iter().map(|failure| failure.kind).collect();
    let named = |kind: &Kind| {
        let (word, variant) = (format!("\"{}\"", kind.word()), format!("Kind::{kind:?}"));
        let variants = said.match_indices(&variant);
        let mut after = variants.filter_map(|(at, _)| said.get(at + variant.len()..)?.chars().next());
        said.contains(&word) || after.any(|c| !c.is_alphanumeric())
    };
    let never: Vec<Kind> =
        Kind::ALL.iter().copied().filter(|kind| !samples.contains(kind) && !named(kind)).collect();
    assert!(never.is_empty(), "no test produces {never:?}");
}
