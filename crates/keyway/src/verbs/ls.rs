//! `ls`: the files in a volume, with no mount and no root.

use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::inside::{self, shown};
use crate::output::{Output, table};
use crate::volume;
use keyway_engine::Access;
use keyway_files::{Entry, Files, Kind, parse, utc};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;

/// How deep --recursive goes.
const DEEPEST: usize = 128;

/// List the files in a volume, with no mount and no root
///
/// FAT, exFAT, NTFS and ext2/3/4 are read.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway ls secret.hc
  $ keyway ls /dev/sdb1 /Users/ann --recursive --json --password-file pw.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    target: VolumeArgs,
    /// The folder in it, or one file
    #[arg(default_value = "/")]
    path: OsString,
    /// Folders in folders, too
    #[arg(long, short)]
    recursive: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    let path = parse(&args.path)?;
    let mut files = inside::open(&args.target, Access::ReadOnly, args.target.given()?, None, out)?;
    let about = |e: keyway_files::FilesError| volume::about(&args.target.volume, e);
    let found = files.find(&path).map_err(about)?;
    let mut all = Vec::new();
    match found.kind {
        Kind::Folder => {
            list(&mut files, &found, "".into(), args.recursive, 0, out, &mut all).map_err(about)?
        }
        _ => all.push((PathBuf::from(&found.name), found)),
    }
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

fn list(
    files: &mut Files,
    folder: &Entry,
    path: PathBuf,
    recursive: bool,
    depth: usize,
    out: Output,
    all: &mut Vec<(PathBuf, Entry)>,
) -> Result<(), keyway_files::FilesError> {
    for entry in files.entries(folder)? {
        let path = path.join(entry.name.to_string_lossy().trim_start_matches('/'));
        let inner = recursive && entry.kind == Kind::Folder;
        all.push((path.clone(), entry.clone()));
        if inner && depth >= DEEPEST {
            out.warn(&format!("{} lies too deep to look into", shown(path.as_os_str())));
        } else if inner && let Err(e) = list(files, &entry, path.clone(), recursive, depth + 1, out, all) {
            out.warn(&format!("{}: {}", shown(path.as_os_str()), Failure::from(e).message));
        }
    }
    Ok(())
}

fn describe(path: &std::path::Path, entry: &Entry) -> Value {
    json!({
        "name": entry.name.to_string_lossy(),
        "path": path.to_string_lossy(),
        "kind": entry.kind.word(),
        "size_bytes": (entry.kind == Kind::File).then_some(entry.size),
        "modified": entry.modified.and_then(utc),
    })
}
