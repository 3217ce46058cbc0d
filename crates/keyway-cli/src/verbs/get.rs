//! `get`: files out of a volume, with no mount and no root.

use crate::failure::STANDARD_OUTPUT;
use crate::output::raw_stdout;
use crate::progress::stop_on_signals;
use crate::verbs::*;
use keyway::files::parse;
use keyway::inside::{Destination, Existing};

/// Copy files and folders out of a volume, with no mount and no root
///
/// What is copied is for its owner alone. Nothing is overwritten but with --force, links are left out, and no name in the
/// volume leads out of the folder that is made.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Put them in the place of files of these names
    #[arg(long)]
    force: bool,
    /// Leave files of these names and lengths as they are: an interrupted copy goes on
    #[arg(long)]
    skip_existing: bool,
    #[command(flatten)]
    confined: SandboxArgs,
    #[command(flatten)]
    target: VolumeArgs,
    /// The file or folder in it, or a pattern for several: '*.jpg', '/photos/**'
    path: OsString,
    /// Where it goes: a folder, or a new name; `-` is standard output. This folder when left out
    #[arg(default_value = ".")]
    to: PathBuf,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = parse(&args.path)?;
    let existing = Existing { replace: args.force, keep_same: args.skip_existing };
    let to = Destination::named(&args.to, path.last().map(OsString::as_os_str), existing)?;
    let mut volume = args.confined.around(args.target.locked()?);
    volume.sandbox = volume.sandbox.map(|sandbox| sandbox.copying_to(to.as_ref().map(Destination::folder)));
    let mut inside = volume.open_files(Access::ReadOnly)?;
    out.warnings(&inside.warnings);
    let Some(to) = to else {
        return Ok(inside.read(&path, raw_stdout()?, Path::new(STANDARD_OUTPUT))?);
    };
    inside.meet(existing);
    inside.stop_when(stop_on_signals()?);
    let mut copied = inside.get(&path, &to, &mut |one| out.not_done(one))?;
    copied.path = PathBuf::from(&args.path);
    if !copied.is_complete {
        return Err(Failure::in_part(json!(copied)));
    }
    out.result(&copied, || said("get done", &facts(&copied, json!({"one": copied.files == 1}))))
}
