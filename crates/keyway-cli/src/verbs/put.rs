//! `put`: a file into a volume, with no mount and no root.

use super::{name_of, open};
use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::inside;
use crate::output::{Output, bytes};
use crate::secrets_in::{ProtectArgs, one_stdin};
use crate::shown::shown;
use crate::volume;
use keyway_engine::Access;
use keyway_fs::files::{EntryKind, FilesError, parse};
use serde_json::json;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// Copy a file into a volume, with no mount and no root; into FAT file systems only
///
/// The volume must not be open. Others than FAT are written by the kernel alone: mount them
/// (`sudo keyway open VOLUME FOLDER`). Losing power while it writes may leave the file system to be
/// checked, as with any FAT.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway put stick.hc letter.pdf
  $ keyway put stick.hc letter.pdf /post/2024.pdf --force --password-file pw.txt")]
pub(crate) struct Args {
    /// Put it in the place of a file of that name
    #[arg(long)]
    force: bool,
    /// Refuse writes that would damage the hidden volume; asks for its secret
    #[arg(long)]
    protect_hidden: bool,
    #[command(flatten)]
    target: VolumeArgs,
    /// The file here
    file: PathBuf,
    /// Where it goes: a folder in the volume that exists, or a new name
    #[arg(default_value = "/")]
    to: OsString,
    #[command(flatten)]
    protect: ProtectArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.target.volume;
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    open::refuse_if_open(path, false)?;
    let mut to = parse(&args.to)?;
    let from = File::open(&args.file).map_err(|e| Failure::io("open", &args.file, &e))?;
    let meta = from.metadata().map_err(|e| Failure::io("look at", &args.file, &e))?;
    if !meta.is_file() {
        return Err(Failure::usage(
            format!("{} is not a file", args.file.display()),
            "put the files in it one by one",
        ));
    }
    let protect = args.protect.source();
    one_stdin([&args.target.source(), &protect])?;
    let protecting = args.protect_hidden || protect.is_given();
    if protecting && volume::family(&args.target.which())? == Family::BitLocker {
        return Err(Failure::usage(
            "a BitLocker volume has no hidden one to protect",
            "leave out the --protect-… options",
        ));
    }
    let given = args.target.given()?;
    let hidden =
        protecting.then(|| protect.read(&format!("the hidden volume in {}", name_of(path)))).transpose()?;
    let mut files = inside::open(&args.target, Access::ReadWrite, given, hidden.as_ref(), out)?;
    let about = |e: FilesError| volume::about(path, e);
    let is_folder = match files.find(&to) {
        Ok(found) => found.kind == EntryKind::Folder,
        Err(FilesError::NotFound(_)) => false,
        Err(e) => return Err(about(e)),
    };
    if is_folder {
        to.extend(args.file.file_name().map(OsString::from));
    }
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| i64::try_from(since.as_secs()).ok());
    files.put(&to, &from, meta.len(), modified, args.force).map_err(about)?;
    let inside: PathBuf = std::iter::once(OsString::from("/")).chain(to).collect();
    let document =
        json!({"volume": path, "file": args.file, "path": inside.to_string_lossy(), "bytes": meta.len()});
    out.result(&document, || {
        format!("{} ({}) is in the volume as {}.", shown(&args.file), bytes(meta.len()), shown(&inside))
    })
}
