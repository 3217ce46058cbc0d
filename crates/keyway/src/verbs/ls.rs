//! `ls`: the files in a volume, with no mount and no root.

use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::inside::{self, shown};
use crate::output::{Output, table};
use crate::volume;
use keyway_engine::Access;
use keyway_files::{Entry, Files, FilesError, Kind, parse, utc};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How deep --recursive goes, and how many entries it lists.
const DEEPEST: usize = 128;
const MOST: usize = 10_000_000;
/// Folders that can't be read, before it is clear that no more will come of it.
const MOST_PROBLEMS: usize = 100;

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
    volume::must_exist(&args.target.volume)?;
    let path = parse(&args.path)?;
    let mut files = inside::open(&args.target, Access::ReadOnly, args.target.given()?, None, out)?;
    let about = |e: FilesError| volume::about(&args.target.volume, e);
    let found = files.find(&path).map_err(about)?;
    let mut listing =
        Listing { files: &mut files, recursive: args.recursive, out, all: Vec::new(), problems: 0 };
    match found.kind {
        Kind::Folder => listing.add(&found, Path::new(""), 0).map_err(about)?,
        _ => listing.all.push((PathBuf::from(&found.name), found)),
    }
    let all = listing.all;
    let folder: PathBuf = std::iter::once(OsString::from("/")).chain(path).collect();
    let document = json!({
        "filesystem": files.kind(),
        "path": folder.to_string_lossy(),
        "entries": all.iter().map(|(path, entry)| describe(path, entry)).collect::<Vec<_>>(),
    });
    out.result(&document, || {
        if all.is_empty() {
            return "It is empty.".to_owned();
        }
        let rows = all.iter().map(|(path, entry)| {
            let size = if entry.kind == Kind::File { entry.size.to_string() } else { String::new() };
            let time = entry.modified.and_then(utc).unwrap_or_default();
            vec![entry.kind.word().to_owned(), time, size, shown(path.as_os_str())]
        });
        // Sizes stand right, names after them left: so the table is cut before the names.
        let rows: Vec<Vec<String>> = rows.collect();
        let widest = rows.iter().filter_map(|row| row.get(2)).map(String::len).max().unwrap_or(0);
        let aligned = rows.into_iter().map(|mut row| {
            if let Some(size) = row.get_mut(2) {
                *size = format!("{size:>widest$}");
            }
            row
        });
        table(&["kind", "modified", "bytes", "name"], 4, aligned)
    })
}

/// A listing under way.
struct Listing<'a> {
    files: &'a mut Files,
    recursive: bool,
    out: Output,
    all: Vec<(PathBuf, Entry)>,
    problems: usize,
}

impl Listing<'_> {
    /// Adds what is in a folder. A folder in it that can't be read is told, and the rest goes on.
    fn add(&mut self, folder: &Entry, path: &Path, depth: usize) -> Result<(), FilesError> {
        for entry in self.files.entries(folder)? {
            let path = path.join(entry.name.to_string_lossy().trim_start_matches('/'));
            self.all.push((path.clone(), entry.clone()));
            if self.all.len() > MOST {
                return Err(FilesError::Endless("more than ten million entries"));
            }
            if !self.recursive || entry.kind != Kind::Folder {
                continue;
            }
            let deeper = match depth {
                DEEPEST.. => Err(FilesError::Endless("folders lie in each other without end")),
                _ => self.add(&entry, &path, depth + 1),
            };
            match deeper {
                Err(e) if self.problems < MOST_PROBLEMS => {
                    self.problems += 1;
                    self.out.warn(&format!("{}: {}", shown(path.as_os_str()), Failure::from(e).message));
                }
                other => other?,
            }
        }
        Ok(())
    }
}

fn describe(path: &Path, entry: &Entry) -> Value {
    json!({
        "name": entry.name.to_string_lossy(),
        "path": path.to_string_lossy(),
        "kind": entry.kind.word(),
        "size_bytes": (entry.kind == Kind::File).then_some(entry.size),
        "modified": entry.modified.and_then(utc),
    })
}
