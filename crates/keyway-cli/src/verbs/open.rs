//! `open`: unlock a volume and attach it.

use crate::attach_words::{AttachArg, warn_of_a_socket};
use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::Output;
use crate::searching::SearchBar;
use crate::secrets_in::ProtectArgs;
use crate::session_words::{self, told_of};
use keyway::session::{AttachRequest, SessionPlan, SessionSecrets};
use std::path::{Path, PathBuf};

/// Unlock a volume and attach it: as a file, as root also as a block device, mounted where asked
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway open secret.hc /mnt/secret
  $ keyway open secret.hc --attach nbd --read-only --password-file pw.txt --json
  $ keyway open outer.hc --protect-hidden --protect-password-fd 3 3< hidden-pw.txt")]
pub(crate) struct Args {
    /// Mount the file system inside on this folder (needs root)
    #[arg(index = 2)]
    mountpoint: Option<PathBuf>,
    /// How the volume reaches you
    #[arg(long, value_enum, default_value = "auto")]
    attach: AttachArg,
    /// Refuse every write
    #[arg(long)]
    read_only: bool,
    /// Pass discards (TRIM) on to the medium: keeps an SSD fast and a file sparse, and shows which parts are unused
    #[arg(long, conflicts_with = "read_only")]
    allow_discards: bool,
    /// Let the block device go through a page cache, as a plain loop device does: reads come from memory where they can,
    /// writes wait there for a flush (needs root; a mounted file system has a page cache of its own)
    #[arg(long, conflicts_with_all = ["protect_hidden", "allow_discards"])]
    cache: bool,
    /// Refuse writes that would damage the hidden volume; asks for its secret
    #[arg(long, conflicts_with = "read_only")]
    protect_hidden: bool,
    /// Stay here until the volume is closed or Ctrl-C comes
    #[arg(long)]
    foreground: bool,
    #[command(flatten)]
    dry: DryRunArgs,
    #[command(flatten)]
    target: VolumeArgs,
    #[command(flatten)]
    protect: ProtectArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let mut volume = args.target.locked(&bar)?;
    volume.protect = args.protect.wanted(args.protect_hidden);
    let mut request = AttachRequest::new(&volume.path, volume.arguments.clone(), args.attach.into());
    request.mount.clone_from(&args.mountpoint);
    (request.read_only, request.discards, request.cache) = (args.read_only, args.allow_discards, args.cache);
    request.protect_hidden = volume.protect.is_some();
    let plan = request.plan()?;
    warn_of_a_socket(&plan.way, out);
    if !args.dry.go_on(&plan, None, out)? {
        return Ok(());
    }
    let (key, protect) = volume.keys()?;
    let mut secrets = SessionSecrets::from(key);
    secrets.protect = protect;
    serve(&plan, secrets, args.foreground, out)
}

/// Serves in a process of its own or in this one, and tells what is where.
pub(crate) fn serve(
    plan: &SessionPlan,
    secrets: SessionSecrets,
    foreground: bool,
    out: Output,
) -> Result<(), Failure> {
    if foreground {
        let mut told = Ok(());
        plan.serve(secrets, SearchBar::new(), |session| told = told_of(session, true, out))?;
        return told;
    }
    let session = session_words::start(plan, &secrets)?;
    drop(secrets);
    told_of(&session, false, out)
}

/// An existing folder, by a path that holds anywhere.
pub(crate) fn folder(path: &Path) -> Result<PathBuf, Failure> {
    Ok(keyway::session::mount_point(path)?)
}
