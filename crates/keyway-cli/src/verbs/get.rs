//! `get`: files out of a volume, with no mount and no root.

use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::inside::{self, not_all};
use crate::output::{Output, bytes};
use crate::shown::shown;
use crate::volume;
use keyway_engine::Access;
use keyway_fs::files::{Entry, Files, Taken, parse};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Copy a file or a folder out of a volume, with no mount and no root
///
/// What is copied is for its owner alone. Nothing is overwritten, links are left out, and no name in the
/// volume leads out of the folder that is made.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway get secret.hc /photos
  $ keyway get secret.hc /notes.txt - | less
  $ keyway get /dev/sdb1 /Users/ann/Documents backup --recovery-password paper.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    target: VolumeArgs,
    /// The file or folder in it
    path: OsString,
    /// Where it goes: a folder, or a new name; `-` is standard output. This folder when left out
    #[arg(default_value = ".")]
    to: PathBuf,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    let path = parse(&args.path)?;
    let place = if args.to == Path::new("-") { None } else { Some(place(&args.to, path.last())?) };
    let mut files = inside::open(&args.target, Access::ReadOnly, args.target.given()?, None, out)?;
    let about = |e: keyway_fs::files::FilesError| volume::about(&args.target.volume, e);
    let found = files.find(&path).map_err(about)?;
    match place {
        None => to_stdout(&mut files, &found).map_err(|e| volume::about(&args.target.volume, e)),
        Some((folder, name)) => to_folder(&mut files, &found, args, &folder, &name, out),
    }
}

/// The folder it goes to, and the new name there.
fn place(to: &Path, own: Option<&OsString>) -> Result<(PathBuf, OsString), Failure> {
    if to.is_dir() {
        let own = own.ok_or_else(|| {
            Failure::usage(
                "everything in the volume needs a new folder to go to",
                "name one that does not exist yet: keyway get VOLUME / FOLDER",
            )
        })?;
        return Ok((to.to_owned(), own.clone()));
    }
    let name = to.file_name().ok_or_else(|| {
        Failure::usage(
            format!("{} is no name for something new", to.display()),
            "name a folder, or a new file",
        )
    })?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((folder.to_owned(), name.to_owned()))
}

fn to_stdout(files: &mut Files, found: &Entry) -> Result<(), Failure> {
    let failed = |e: &io::Error| Failure::io("write to", Path::new("standard output"), e);
    // Not `std::io::stdout`: that one looks for line ends in what it is given.
    let mut to = io::stdout().as_fd().try_clone_to_owned().map(File::from).map_err(|e| failed(&e))?;
    let mut broken = None;
    let read = files.read(found, |piece| {
        to.write_all(piece).map_err(|e| {
            broken = Some(e);
            io::Error::other("not written")
        })
    });
    match broken {
        // A reader that went away has what it wanted.
        Some(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Some(e) => Err(failed(&e)),
        None => Ok(read?),
    }
}

fn to_folder(
    files: &mut Files,
    found: &Entry,
    args: &Args,
    folder: &Path,
    name: &OsStr,
    out: Output,
) -> Result<(), Failure> {
    let (mut left_out, mut failed) = (Vec::new(), Vec::new());
    let note = |list: &mut Vec<Value>, path: &Path, why: &str| {
        out.warn(&format!("{}: {why}", shown(path.as_os_str())));
        list.push(json!({"path": path.to_string_lossy(), "reason": why}));
    };
    let got = files.get(found, folder, name, &mut |taken| match taken {
        Taken::Made(_) => {}
        Taken::LeftOut(path, why) => note(&mut left_out, path, why),
        Taken::Failed(path, e) => {
            let text = e.to_string();
            note(&mut failed, path, &text);
        }
    });
    let (got, all) = got.map_err(|e| volume::about(&args.target.volume, e))?;
    let to = folder.join(name);
    let document = json!({
        "volume": args.target.volume,
        "path": args.path.to_string_lossy(),
        "to": to,
        "files": got.files,
        "folders": got.folders,
        "bytes": got.bytes,
        "left_out": left_out,
        "failed": failed,
    });
    if !all {
        return Err(not_all("not everything could be copied", document));
    }
    out.result(&document, || {
        let files = if got.files == 1 { "1 file".to_owned() } else { format!("{} files", got.files) };
        format!("{files} ({}) copied to {}.", bytes(got.bytes), shown(&to))
    })
}
