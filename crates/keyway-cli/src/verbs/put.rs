//! `put`: a file into a volume, with no mount and no root.

use crate::unlock_args::ProtectArgs;
use crate::verbs::*;
use keyway::files::parse;
use keyway::inside::NewFile;

/// Copy a file into a volume (FAT), with no mount and no root
///
/// The volume must not be open. Others than FAT are written by the kernel alone: mount them
/// (`sudo keyway open VOLUME FOLDER`). Losing power while it writes may leave the file system to be
/// checked, as with any FAT.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Put it in the place of a file of that name
    #[arg(long)]
    force: bool,
    /// Refuse writes that would damage the hidden volume; asks for its secret
    #[arg(long)]
    protect_hidden: bool,
    #[command(flatten)]
    confined: SandboxArgs,
    #[command(flatten)]
    on: TargetArgs,
    /// The file here
    file: PathBuf,
    /// Where it goes: a folder in the volume that exists, or a new name
    #[arg(default_value = "/")]
    to: OsString,
    #[command(flatten)]
    protect: ProtectArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut volume = args.confined.around(args.on.target.locked()?);
    volume.must_be_free(Access::ReadWrite)?;
    let to = parse(&args.to)?;
    let file = NewFile::open(&args.file)?;
    volume.protect = args.protect.wanted(args.protect_hidden);
    let access = if args.on.dry.dry_run { Access::ReadOnly } else { Access::ReadWrite };
    let mut inside = volume.open_files(access)?;
    out.warnings(&inside.warnings);
    let plan = inside.plan_put(&file, &to, args.force)?;
    if !args.on.dry.go_on(&plan, None, out)? {
        return Ok(());
    }
    inside.put(&plan, &file)?;
    out.result(&plan, || {
        let size = bytes(plan.bytes);
        format!("{} ({size}) is in the volume as {}.", shown(&plan.file), shown(&plan.path))
    })
}
