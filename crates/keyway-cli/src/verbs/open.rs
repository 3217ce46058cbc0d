//! `open`: unlock a volume and attach it.

use super::name_of;
use crate::attach_words::AttachArg;
use crate::failure::Failure;
use crate::given::{self, Family, KeyArgs};
use crate::narrow::NarrowArgs;
use crate::output::Output;
use crate::searching::SearchBar;
use crate::secrets_in::{ProtectArgs, SecretArgs, one_stdin};
use crate::session_words::{self, told_of};
use crate::volume::{self, Which};
use keyway::session::{SessionPlan, SessionSecrets, Wish};
use keyway_attach::session;
use keyway_engine::Access;
use std::path::{Path, PathBuf};

/// Unlock a volume and attach it: as a file, as root also as a block device, mounted where asked
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway open secret.hc /mnt/secret
  $ keyway open secret.hc --attach nbd --read-only --password-file pw.txt --json
  $ keyway open outer.hc --protect-hidden --protect-password-fd 3 3< hidden-pw.txt")]
pub(crate) struct Args {
    /// The volume's file or block device
    volume: PathBuf,
    /// Mount the file system inside on this folder (needs root)
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
    secret: SecretArgs,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    protect: ProtectArgs,
    #[command(flatten)]
    narrow: NarrowArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.volume)?;
    if !args.read_only {
        volume::must_be_writable(&args.volume)
            .map_err(|e| e.hint("add --read-only, or run it as a user who may write to it"))?;
    }
    session::clean_stale_before(&args.volume)?;
    keyway::session::refuse_if_taken(&args.volume, access(args.read_only))?;
    let (own, protect) = (args.secret.source(), args.protect.source());
    let protecting = args.protect_hidden || protect.is_given();
    if args.cache && protecting {
        return Err(Failure::usage(
            "writes that would damage the hidden volume must be refused when they are made, not when the page cache gets to them",
            "leave out --cache",
        ));
    }
    let wish = Wish { mount: args.mountpoint.is_some(), protect_hidden: protecting };
    let (way, otherwise) = args.attach.way(&args.volume, wish, args.cache, out)?;
    let mountpoint = args.mountpoint.as_deref().map(folder).transpose()?;
    if args.allow_discards && protecting {
        return Err(Failure::usage(
            "discards would show where the hidden volume lies: everything else is discarded around it",
            "leave out --allow-discards",
        ));
    }
    if args.read_only && protecting {
        return Err(Failure::usage(
            "a volume that is only read needs no protection of the hidden one",
            "leave out --read-only, or the --protect-… options",
        ));
    }
    one_stdin([&own, &protect])?;
    let which = Which::new(&args.volume, &args.narrow);
    if protecting && volume::family(&which)? == Family::BitLocker {
        return Err(Failure::usage(
            "a BitLocker volume has no hidden one to protect",
            "leave out the --protect-… options",
        ));
    }
    let hidden = format!("the hidden volume in {}", name_of(&args.volume));
    let mut secrets = SessionSecrets::from(given::read(&which, &own, &args.keys)?);
    secrets.protect = protecting.then(|| protect.read(&hidden)).transpose()?;
    let mut plan = which.to_serve(way)?;
    (plan.otherwise, plan.mount) = (otherwise, mountpoint);
    (plan.read_only, plan.discards, plan.cache) = (args.read_only, args.allow_discards, args.cache);
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

/// A volume that is served already, or whose bytes somebody has by another name, is busy.
pub(crate) fn refuse_if_open(path: &Path, read_only: bool) -> Result<(), Failure> {
    Ok(keyway::session::refuse_if_open(path, access(read_only))?)
}

fn access(read_only: bool) -> Access {
    if read_only { Access::ReadOnly } else { Access::ReadWrite }
}

/// An existing folder, by a path that holds anywhere.
pub(crate) fn folder(path: &Path) -> Result<PathBuf, Failure> {
    let full = path.canonicalize().map_err(|e| Failure::io("use the mount point", path, &e))?;
    if full.is_dir() {
        return Ok(full);
    }
    Err(Failure::usage(
        format!("the mount point {} is not a folder", path.display()),
        "make one with mkdir and name it",
    ))
}
