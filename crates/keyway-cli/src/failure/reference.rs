//! docs/reference/errors.md is made of the kinds and of one of each error below; this holds it to them.

use super::{Failure, samples};
use keyway_error::Kind;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const INTRODUCTION: &str = "# Errors\n
An error says what happened and what helps. Scripts read its kind (`error.kind` with `--json`), a word that never changes, \
and the exit code, which says whose fault it was: 1 it failed, 2 wrong usage, 3 wrong secret, 4 not a volume or a damaged \
one, 5 not permitted or not possible on this machine, 6 busy.\n
This page is made from the program: `KEYWAY_WRITE_ERRORS=1 cargo test -p keyway-cli --bin keyway reference` writes it anew. \
Names and figures are examples.\n";

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
