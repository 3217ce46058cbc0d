//! `ls`: the files in a volume, with no mount and no root.

use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::inside;
use crate::output::{Output, table};
use crate::shown::shown;
use crate::volume;
use keyway_engine::Access;
use keyway_fs::files::{Entry, EntryKind, Files, FilesError, Problem, parse, utc};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How deep --recursive goes, and how many entries it lists.
const DEEPEST: usize = 128;
const MOST: usize = 10_000_000;
/// Problems that are told, before it is clear that no more will come of it.
const MOST_PROBLEMS: usize = 1000;

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
        Listing { files: &mut files, recursive: args.recursive, out, all: Vec::new(), failed: Vec::new() };
    match found.kind {
        EntryKind::Folder => listing.all_of(&found).map_err(about)?,
        _ => listing.all.push((PathBuf::from(&found.name), found)),
    }
    let Listing { all, failed, .. } = listing;
    let folder: PathBuf = std::iter::once(OsString::from("/")).chain(path).collect();
    let document = json!({
        "filesystem": files.kind(),
        "path": folder.to_string_lossy(),
        "entries": all.iter().map(|(path, entry)| describe(path, entry)).collect::<Vec<_>>(),
        "failed": failed,
    });
    if failed.is_empty() {
        return out.result(&document, || words(&all));
    }
    if !all.is_empty() {
        out.say(&words(&all))?;
    }
    let hint = "the warnings say which and why; the rest is listed";
    Err(Failure::new(Exit::Failed, "not everything could be listed", hint)
        .kind(keyway_error::Kind::NotAllListed)
        .with(document))
}

/// The listing as a table.
fn words(all: &[(PathBuf, Entry)]) -> String {
    if all.is_empty() {
        return "It is empty.".to_owned();
    }
    let rows = all.iter().map(|(path, entry)| {
        let size = if entry.kind == EntryKind::File { entry.size.to_string() } else { String::new() };
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
}

/// A listing under way.
struct Listing<'a> {
    files: &'a mut Files,
    recursive: bool,
    out: Output,
    all: Vec<(PathBuf, Entry)>,
    failed: Vec<Value>,
}

impl Listing<'_> {
    /// Adds a folder; an error is that nothing of it can be read.
    fn all_of(&mut self, folder: &Entry) -> Result<(), FilesError> {
        match self.add(folder, Path::new("."), 0) {
            Err(e) if self.all.is_empty() && self.failed.is_empty() => Err(e),
            // What ended the listing is one more that is told.
            Err(e) => {
                self.tell(Path::new("."), &e);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Adds what is in a folder. What in it can't be read is told, and the rest goes on.
    fn add(&mut self, folder: &Entry, path: &Path, depth: usize) -> Result<(), FilesError> {
        let contents = self.files.entries(folder)?;
        for Problem { name, error } in contents.problems {
            let path = name.map_or_else(|| path.to_owned(), |name| below(path, &name));
            self.failed(&path, error)?;
        }
        for entry in contents.entries {
            let path = below(path, &entry.name);
            self.all.push((path.clone(), entry.clone()));
            if self.all.len() > MOST {
                return Err(FilesError::Endless("more than ten million entries"));
            }
            if !self.recursive || entry.kind != EntryKind::Folder {
                continue;
            }
            let deeper = match depth {
                DEEPEST.. => Err(FilesError::Endless("folders lie in each other without end")),
                _ => self.add(&entry, &path, depth + 1),
            };
            if let Err(e) = deeper {
                self.failed(&path, e)?;
            }
        }
        Ok(())
    }

    /// Tells what could not be read; one too many ends the listing.
    fn failed(&mut self, path: &Path, error: FilesError) -> Result<(), FilesError> {
        if self.failed.len() >= MOST_PROBLEMS {
            return Err(error);
        }
        self.tell(path, &error);
        Ok(())
    }

    fn tell(&mut self, path: &Path, error: &FilesError) {
        let why = error.to_string();
        self.out.warn(&format!("{}: {why}", shown(path.as_os_str())));
        self.failed.push(json!({"path": path.to_string_lossy(), "reason": why}));
    }
}

/// The path of an entry, for people: no name makes it begin at another root.
fn below(folder: &Path, name: &OsStr) -> PathBuf {
    let folder = if folder == Path::new(".") { Path::new("") } else { folder };
    let name = name.as_bytes();
    let start = name.iter().take_while(|byte| **byte == b'/').count();
    folder.join(OsStr::from_bytes(name.get(start..).unwrap_or_default()))
}

fn describe(path: &Path, entry: &Entry) -> Value {
    json!({
        "name": entry.name.to_string_lossy(),
        "path": path.to_string_lossy(),
        "kind": entry.kind.word(),
        "size_bytes": (entry.kind == EntryKind::File).then_some(entry.size),
        "modified": entry.modified.and_then(utc),
    })
}
