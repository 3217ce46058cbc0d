//! `ls`: the files in a volume, with no mount and no root.

use crate::verbs::*;
use keyway::files::parse;
use keyway::inside::ListedFile;

/// List the files in a volume, with no mount and no root
///
/// FAT, exFAT, NTFS and ext2/3/4 are read. Patterns are those of `get`: '*.jpg', '/photos/**/*.jpg'.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Folders in folders, too
    #[arg(long, short)]
    recursive: bool,
    #[command(flatten)]
    confined: SandboxArgs,
    #[command(flatten)]
    target: VolumeArgs,
    /// The folder in it, one file, or a pattern in quotes
    #[arg(default_value = "/")]
    path: OsString,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = parse(&args.path)?;
    let mut inside = args.confined.around(args.target.locked()?).open_files(Access::ReadOnly)?;
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
fn words(entries: &[ListedFile]) -> String {
    if entries.is_empty() {
        return "It is empty.".to_owned();
    }
    let size = |entry: &ListedFile| entry.size_bytes.map(|size| size.to_string()).unwrap_or_default();
    // Sizes stand right, names after them left: so the table is cut before the names.
    let widest = entries.iter().map(|entry| size(entry).len()).max().unwrap_or(0);
    let rows = entries.iter().map(|entry| {
        let (time, size) = (entry.modified.clone().unwrap_or_default(), size(entry));
        vec![entry.kind.to_owned(), time, format!("{size:>widest$}"), shown(&entry.path)]
    });
    table(&["kind", "modified", "bytes", "name"], 4, rows)
}
