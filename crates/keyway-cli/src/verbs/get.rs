//! `get`: files out of a volume, with no mount and no root.

use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::output::{Output, STANDARD_OUTPUT, bytes, raw_stdout};
use crate::searching::SearchBar;
use crate::shown::shown;
use keyway::Access;
use keyway::files::parse;
use keyway::inside::Destination;
use keyway::medium::must_exist;
use keyway_error::Kind;
use serde_json::json;
use std::ffi::OsString;
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
    must_exist(&args.target.volume)?;
    let path = parse(&args.path)?;
    let to = match args.to.to_str() {
        Some("-") => None,
        _ => Some(Destination::find(&args.to, path.last().map(OsString::as_os_str))?),
    };
    let bar = SearchBar::new();
    let mut inside = args.target.locked(&bar)?.open_files(Access::ReadOnly)?;
    out.warnings(&inside.warnings);
    let Some(to) = to else {
        return Ok(inside.read(&path, raw_stdout()?, Path::new(STANDARD_OUTPUT))?);
    };
    let mut copied = inside.get(&path, &to, &mut |one| out.not_done(one))?;
    copied.path = PathBuf::from(&args.path);
    if !copied.is_complete {
        let hint = "the warnings say which and why; the rest was copied";
        return Err(Failure::new(Exit::Failed, "not everything could be copied", hint)
            .kind(Kind::NotAllCopied)
            .with(json!(copied)));
    }
    out.result(&copied, || {
        let files = if copied.files == 1 { "1 file".to_owned() } else { format!("{} files", copied.files) };
        format!("{files} ({}) copied to {}.", bytes(copied.bytes), shown(&copied.to))
    })
}
