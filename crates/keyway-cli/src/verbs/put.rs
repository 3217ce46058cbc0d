//! `put`: a file into a volume, with no mount and no root.

use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::{Output, bytes};
use crate::searching::SearchBar;
use crate::secrets_in::ProtectArgs;
use crate::shown::shown;
use keyway::Access;
use keyway::files::parse;
use keyway::inside::NewFile;
use keyway::medium::{must_be_writable, must_exist};
use keyway::session::refuse_if_open;
use std::ffi::OsString;
use std::path::PathBuf;

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
    dry: DryRunArgs,
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
    must_exist(path)?;
    must_be_writable(path)?;
    refuse_if_open(path, Access::ReadWrite)?;
    let to = parse(&args.to)?;
    let file = NewFile::open(&args.file)?;
    let bar = SearchBar::new();
    let mut volume = args.target.locked(&bar)?;
    volume.protect = args.protect.wanted(args.protect_hidden);
    let access = if args.dry.dry_run { Access::ReadOnly } else { Access::ReadWrite };
    let mut inside = volume.open_files(access)?;
    out.warnings(&inside.warnings);
    let plan = inside.plan_put(&file, &to, args.force)?;
    if !args.dry.go_on(&plan, None, out)? {
        return Ok(());
    }
    inside.put(&plan, &file)?;
    out.result(&plan, || {
        let size = bytes(plan.bytes);
        format!("{} ({size}) is in the volume as {}.", shown(&plan.file), shown(&plan.path))
    })
}
