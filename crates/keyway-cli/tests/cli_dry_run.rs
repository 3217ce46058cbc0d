//! `--dry-run`: every verb that writes says what it would do, and does nothing.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use serde_json::Value;
use std::collections::BTreeMap;

const WITH: &str = "--password-file @pw --pim 1";

/// All that lies in the folder.
fn files(cli: &Cli) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(cli.path(".")).expect("the folder").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files
        .map(|entry| {
            let content = std::fs::read(entry.path()).expect("read");
            (entry.file_name().to_string_lossy().into_owned(), content)
        })
        .collect()
}

/// The plan of these words; nothing in the folder is another than before, and nobody is asked.
fn plan(cli: &Cli, words: &str) -> Value {
    let before = files(cli);
    let document = cli.json(0, &format!("{words} --dry-run"));
    assert_eq!(document["dry_run"], true, "{words}: {document}");
    let told = String::from_utf8(cli.ends(0, &format!("{words} --dry-run")).stdout).expect("text");
    assert!(told.starts_with("Nothing was done. This would be:\n"), "{words}: {told}");
    assert!(files(cli) == before, "{words}: something was changed");
    document["plan"].clone()
}

#[test]
fn headers_and_keys_stay_where_only_a_plan_is_wanted() {
    let cli = Cli::new();
    cli.volume("v");
    let erase = plan(&cli, &format!("erase @v {WITH}"));
    assert_eq!((&erase["format"], erase["volume"].is_string()), (&"veracrypt".into(), true), "{erase}");
    cli.ends(3, "erase @v --password-file @pw --pim 2 --hash sha512 --dry-run");
    let backup = plan(&cli, &format!("header backup @v @h {WITH}"));
    assert_eq!(backup["hidden"], false, "{backup}");
    cli.ends(0, &format!("header backup @v @h {WITH}"));
    let restore = plan(&cli, &format!("header restore @v @h {WITH}"));
    assert!(restore["file"].as_str().is_some_and(|file| file.ends_with("/h")), "{restore}");
}
