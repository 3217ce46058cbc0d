//! `put`: files into a volume.

use crate::progress::Later;
use crate::session_words::serving;
use crate::unlock_args::ProtectArgs;
use crate::verbs::*;
use keyway::inside::{Existing, NewFiles, PutHow, PutPlan};

/// Copy files and folders into a volume
///
/// A folder comes with everything in it but links. The volume must not be open. exFAT and FAT are written with no mount and no root; any
/// other file system is mounted meanwhile where nobody else gets: by the kernel for root; NTFS and ext4 else by ntfs-3g and fuse2fs.
/// Losing power while it writes may leave the file system to be checked; what was in an exFAT before stays whole.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Put them in the place of files of these names
    #[arg(long)]
    force: bool,
    /// Leave files of these names and lengths as they are: an interrupted copy goes on
    #[arg(long)]
    skip_existing: bool,
    /// Copy the rest where some have names that the file system can't hold; it ends with 1 then
    #[arg(long)]
    skip_unfit: bool,
    /// The folder in the volume that all of them go to, so that none of the words is one
    #[arg(long, value_name = "PATH")]
    to: Option<OsString>,
    /// Refuse writes that would damage the hidden volume; asks for its secret
    #[arg(long)]
    protect_hidden: bool,
    #[command(flatten)]
    confined: SandboxArgs,
    #[command(flatten)]
    on: TargetArgs,
    /// The files and folders here; and, as the last of two or more words, where they go: a folder in the volume that exists,
    /// or a new name for one. `/` when left out
    #[arg(required = true, value_name = "FILE... [TO]")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    protect: ProtectArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut volume = args.confined.around(args.on.target.locked()?);
    volume.must_be_free(Access::ReadWrite)?;
    let (files, to) = NewFiles::named(&args.files, args.to.as_deref())?;
    files.left_out.iter().for_each(|one| out.not_done(one));
    volume.sandbox = volume.sandbox.map(|sandbox| sandbox.copying_from(files.sources()));
    volume.protect = args.protect.wanted(args.protect_hidden);
    let access = if args.on.dry.dry_run { Access::ReadOnly } else { Access::ReadWrite };
    let copying = Later::new(|_| "copying".to_owned());
    let opened = volume.open_to_put(access, &serving(), &copying);
    let mut inside = opened.inspect_err(|_| volume.cut_off().iter().for_each(|why| out.warn(why)))?;
    out.warnings(&inside.warnings);
    let existing = Existing { replace: args.force, keep_same: args.skip_existing };
    let plan = inside.plan_put(&files, &to, PutHow { existing, skip_unfit: args.skip_unfit })?;
    plan.unfit.iter().for_each(|one| out.not_done(one));
    let in_part = !plan.unfit.is_empty() && !args.on.dry.dry_run;
    let put = |plan: PutPlan| inside.put(&plan, &files).inspect(|()| copying.done()).map(|()| plan);
    if in_part {
        return Err(Failure::in_part(json!(put(plan)?)));
    }
    let told = |plan: &PutPlan| said("put done", &facts(plan, json!({"one": plan.is_one()})));
    args.on.dry.carry_out(plan, None, put, told, out)
}
