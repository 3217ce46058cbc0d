//! `get`: files out of a volume, with no mount and no root.

use crate::failure::STANDARD_OUTPUT;
use crate::output::raw_stdout;
use crate::progress::stop_on_signals;
use crate::verbs::*;
use keyway::inside::{Existing, ToGet};

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
    on: TargetArgs,
    /// The files and folders in it, or patterns: '*.jpg', '/photos/**'; and, as the last of two or more words, where they go:
    /// a folder, or for one a new name; `-` is standard output. This folder when left out
    #[arg(required = true, value_name = "PATH... [TO]")]
    paths: Vec<OsString>,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let existing = Existing { replace: args.force, keep_same: args.skip_existing };
    let what = ToGet::named(&args.on.target.volume, &args.paths, existing)?;
    let mut volume = args.confined.around(args.on.target.locked()?);
    volume.sandbox = volume.sandbox.map(|sandbox| sandbox.copying_to(what.folder()));
    let mut inside = volume.open_files(Access::ReadOnly)?;
    out.warnings(&inside.warnings);
    inside.meet(existing);
    if args.on.dry.dry_run {
        let plan = inside.plan_get(&what, &mut |one| out.not_done(one))?;
        return args.on.dry.go_on(&plan, None, out).map(drop);
    }
    if what.folder().is_none() {
        return Ok(inside.read(&what, raw_stdout()?, Path::new(STANDARD_OUTPUT))?);
    }
    inside.stop_when(stop_on_signals()?);
    let copied = inside.get(&what, &mut |one| out.not_done(one))?;
    if !copied.is_complete {
        return Err(Failure::in_part(json!(copied)));
    }
    out.result(&copied, || said("get done", &facts(&copied, json!({"one": copied.what.files == 1}))))
}
