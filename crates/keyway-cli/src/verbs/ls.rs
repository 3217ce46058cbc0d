//! `ls`: the files in a volume, with no mount and no root.

use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::output::{Output, table};
use crate::searching::SearchBar;
use crate::shown::shown;
use keyway::Access;
use keyway::files::parse;
use keyway::inside::Listed;
use keyway::medium::must_exist;
use keyway_error::Kind;
use serde_json::json;
use std::ffi::OsString;

/// List the files in a volume, with no mount and no root
///
/// FAT, exFAT, NTFS and ext2/3/4 are read.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway ls secret.hc
  $ keyway ls /dev/sdb1 /Users/ann --recursive --json --password-file pw.txt")]
pub(crate) struct Args {
    /// Folders in folders, too
    #[arg(long, short)]
    recursive: bool,
    #[command(flatten)]
    target: VolumeArgs,
    /// The folder in it, or one file
    #[arg(default_value = "/")]
    path: OsString,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    must_exist(&args.target.volume)?;
    let path = parse(&args.path)?;
    let bar = SearchBar::new();
    let mut inside = args.target.locked(&bar)?.open_files(Access::ReadOnly)?;
    out.warnings(&inside.warnings);
    let listing = inside.list(&path, args.recursive, &mut |one| out.not_done(one))?;
    if listing.failed.is_empty() {
        return out.result(&listing, || words(&listing.entries));
    }
    if !listing.entries.is_empty() {
        out.say(&words(&listing.entries))?;
    }
    let hint = "the warnings say which and why; the rest is listed";
    Err(Failure::new(Exit::Failed, "not everything could be listed", hint)
        .kind(Kind::NotAllListed)
        .with(json!(listing)))
}

/// The listing as a table.
fn words(entries: &[Listed]) -> String {
    if entries.is_empty() {
        return "It is empty.".to_owned();
    }
    let size = |entry: &Listed| entry.size_bytes.map(|size| size.to_string()).unwrap_or_default();
    // Sizes stand right, names after them left: so the table is cut before the names.
    let widest = entries.iter().map(|entry| size(entry).len()).max().unwrap_or(0);
    let rows = entries.iter().map(|entry| {
        let (time, size) = (entry.modified.clone().unwrap_or_default(), size(entry));
        vec![entry.kind.to_owned(), time, format!("{size:>widest$}"), shown(&entry.path)]
    });
    table(&["kind", "modified", "bytes", "name"], 4, rows)
}
