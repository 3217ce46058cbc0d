//! `open`: unlock a volume and attach it.

use super::name_of;
use crate::failure::{Exit, Failure};
use crate::given::{self, Family, KeyArgs};
use crate::machine;
use crate::narrow::NarrowArgs;
use crate::output::{Output, bytes, pairs};
use crate::searching::SearchBar;
use crate::secrets_in::{ProtectArgs, SecretArgs, one_stdin};
use crate::session_words;
use crate::shown::shown;
use crate::volume::{self, Which};
use keyway::session::{Attachment, NbdAddress, Session, SessionPlan, SessionSecrets, SessionState, Way};
use keyway_attach::session;
use keyway_attach::{AttachError, dmcrypt, ublk};
use keyway_store::{InUse, OpenMode, Operation, StoreError, refuse_if_claimed};
use serde::Serialize;
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

/// A way to attach as a word.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum AttachArg {
    /// The best this machine offers
    Auto,
    /// A file, and as root a loop device on it
    Fuse,
    /// A socket for network block device clients
    Nbd,
    /// A socket for virtual machines (vhost-user-blk)
    VhostUser,
    /// A block device of the kernel's ublk driver; root's outlives its server, users need udev's help
    Ublk,
    /// A block device of the kernel's own: the key goes to dm-crypt, which does the work (needs root)
    DmCrypt,
}

/// What `open` and `serve` print.
#[derive(Serialize)]
pub(crate) struct Opened<'a> {
    attachment: &'a str,
    device: Option<&'a Path>,
    cache: Option<&'a Path>,
    file: Option<&'a Path>,
    socket: Option<&'a str>,
    mountpoint: Option<&'a Path>,
    pid: u32,
    volume: &'a Path,
    read_only: bool,
    size_bytes: u64,
    sector_bytes: u32,
    filesystem: Option<&'a str>,
    why: Option<&'a str>,
    warnings: &'a [String],
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.volume)?;
    if !args.read_only {
        volume::must_be_writable(&args.volume)
            .map_err(|e| e.hint("add --read-only, or run it as a user who may write to it"))?;
    }
    session::clean_stale_before(&args.volume)?;
    refuse_if_taken(&args.volume, args.read_only)?;
    let (own, protect) = (args.secret.source(), args.protect.source());
    let protecting = args.protect_hidden || protect.is_given();
    if args.cache && protecting {
        return Err(Failure::usage(
            "writes that would damage the hidden volume must be refused when they are made, not when the page cache gets to them",
            "leave out --cache",
        ));
    }
    let (way, otherwise) = attachment(args, protecting, out)?;
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

fn told_of(session: &Session, foreground: bool, out: Output) -> Result<(), Failure> {
    let mut warnings = session.warnings.clone();
    if !session.keys_locked {
        warnings.push(session_words::NOT_LOCKED.to_owned());
    }
    tell(&session.state, &warnings, foreground, out)
}

pub(crate) fn tell(
    state: &SessionState,
    warnings: &[String],
    foreground: bool,
    out: Output,
) -> Result<(), Failure> {
    for warning in warnings {
        out.warn(warning);
    }
    let document = Opened {
        attachment: &state.attachment,
        device: state.device.as_deref(),
        cache: state.cache.as_deref(),
        file: state.file.as_deref(),
        socket: state.socket.as_deref(),
        mountpoint: state.mountpoint.as_deref(),
        pid: state.pid,
        volume: &state.volume,
        read_only: state.read_only,
        size_bytes: state.size_bytes,
        sector_bytes: state.sector_bytes,
        filesystem: state.filesystem.as_deref(),
        why: state.why.as_deref(),
        warnings,
    };
    out.result(&document, || {
        let mut text = format!("{} is open ({}).\n", shown(&state.volume), bytes(state.size_bytes));
        text.push_str(&pairs(&places(state)));
        let end = if foreground { "Ctrl-C or " } else { "" };
        text.push_str(&format!("Close it with: {end}keyway close {}\n", shown(&state.volume)));
        text
    })
}

/// Where a session can be reached, for people.
pub(crate) fn places(state: &SessionState) -> Vec<(&'static str, String)> {
    let path = |p: &PathBuf| p.display().to_string();
    let mut rows = Vec::new();
    rows.extend(state.mountpoint.as_ref().map(|p| ("  mounted at", path(p))));
    rows.extend(state.device.as_ref().map(|p| ("  device", path(p))));
    rows.extend(state.file.as_ref().map(|p| ("  file", path(p))));
    let socket = match state.attachment.as_str() {
        "vhost-user" => "  vhost-user socket",
        "nvme-tcp" => "  NVMe/TCP address",
        _ => "  NBD socket",
    };
    rows.extend(state.socket.as_ref().map(|s| (socket, s.clone())));
    if state.read_only {
        rows.push(("  access", "read-only".to_owned()));
    }
    rows.extend(state.cache.as_ref().map(|p| ("  through the cache of", path(p))));
    let mut label = "  attached by";
    for (i, reason) in state.why.iter().flat_map(|why| why.split("; ")).enumerate() {
        let way = if i == 0 { format!("{}: ", state.attachment) } else { String::new() };
        rows.push((label, format!("{way}{reason}")));
        label = "";
    }
    rows
}

/// A volume that is served already, or whose bytes somebody has by another name, is busy; said before anyone types a
/// password.
pub(crate) fn refuse_if_open(path: &Path, read_only: bool) -> Result<(), Failure> {
    // What a killed process left may hold the volume: a mapping of the kernel's does.
    session::clean_stale()?;
    refuse_if_taken(path, read_only)
}

fn refuse_if_taken(path: &Path, read_only: bool) -> Result<(), Failure> {
    if let Some(state) = session::find(&path.to_string_lossy())? {
        return Err(AttachError::AlreadyOpen { volume: state.volume.display().to_string() }.into());
    }
    let mode = if read_only { OpenMode::ReadOnly } else { OpenMode::ReadWrite };
    let error = match refuse_if_claimed(path, mode) {
        Ok(()) => return Ok(()),
        Err(e) => e,
    };
    let by = error.get_ref().and_then(|inner| inner.downcast_ref::<InUse>()).and_then(InUse::process);
    let volume = session::list()?.into_iter().find(|state| Some(state.pid) == by).map(|state| state.volume);
    let failure = Failure::from(StoreError::new(Operation::Open, path.display().to_string(), 0, 0, error))
        .kind(keyway_error::Kind::AlreadyOpen);
    Err(match volume {
        // By whichever name it goes here.
        Some(volume) => failure.hint(format!("close it first: keyway close {}", volume.display())),
        None => failure.kind(keyway_error::Kind::Busy),
    })
}

/// The way to attach, and how it was chosen where that was left to us.
fn attachment(args: &Args, protecting: bool, out: Output) -> Result<(Way, Option<Way>), Failure> {
    let (wanted, mount) = (args.attach, args.mountpoint.is_some());
    if mount && matches!(wanted, AttachArg::Nbd | AttachArg::VhostUser) {
        return Err(Failure::usage(
            "a mount point needs a block device, which --attach nbd and vhost-user do not make",
            "leave out --attach, or the mount point",
        ));
    }
    if args.cache {
        return cached(wanted, mount);
    }
    match wanted {
        AttachArg::Nbd => Ok((Attachment::Nbd(NbdAddress::Session).into(), None)),
        AttachArg::VhostUser => Ok((Attachment::VhostUser(None).into(), None)),
        AttachArg::DmCrypt if protecting => Err(Failure::usage(
            "the kernel would not protect the hidden volume: dm-crypt writes whatever it is given",
            "leave out --attach dm-crypt, or the --protect-… options",
        )),
        AttachArg::DmCrypt => {
            dmcrypt::available().map_err(AttachError::from)?;
            Ok((Attachment::DmCrypt.into(), None))
        }
        AttachArg::Ublk => {
            ublk::available().map_err(AttachError::from)?;
            if mount && !machine::is_root() {
                return Err(Failure::new(
                    Exit::NotPermitted,
                    "only root may mount a block device",
                    "run it as root (sudo), or leave the mount point out and use the device",
                ));
            }
            Ok((Attachment::Ublk.into(), None))
        }
        AttachArg::Fuse => Ok((by_fuse(mount)?.0.into(), None)),
        AttachArg::Auto if session::waiting(&args.volume)?.is_some() => {
            let why = "its block device waits for a server since the last one was killed";
            Ok((because(Attachment::Ublk, why), None))
        }
        AttachArg::Auto => {
            let kernel = match protecting {
                true => Err("dm-crypt would not protect the hidden volume".to_owned()),
                false => machine::dm_crypt().map_err(|why| format!("dm-crypt can't be had: {why}")),
            };
            let (attachment, why) = match (ourselves(mount, kernel.is_ok(), out), &kernel) {
                (Ok(ours), _) => ours,
                // There is nothing else that could be mounted.
                (Err(_), Ok(())) => return Ok((Attachment::DmCrypt.into(), None)),
                (Err(e), Err(_)) => return Err(e),
            };
            Ok(match kernel {
                Ok(()) => (because(Attachment::DmCrypt, BY_KERNEL), Some(because(attachment, why))),
                Err(not) => (because(attachment, format!("{why}; {not}")), None),
            })
        }
    }
}

/// Why dm-crypt, when nobody asked for it.
const BY_KERNEL: &str = "the kernel has this volume's cipher, and does all the work without a detour";

fn because(attachment: Attachment, why: impl Into<String>) -> Way {
    let mut way = Way::from(attachment);
    way.why = Some(why.into());
    way
}

/// A loop device that goes through the page cache, or why there can be none.
fn cached(wanted: AttachArg, mount: bool) -> Result<(Way, Option<Way>), Failure> {
    if !matches!(wanted, AttachArg::Auto | AttachArg::Fuse) {
        return Err(Failure::usage(
            "--cache is for the loop device on a FUSE file, which this --attach does not make",
            "leave out --attach, or --cache",
        ));
    }
    let (way, _) = by_fuse(mount)?;
    if let Err(why) = machine::loop_devices() {
        return Err(Failure::new(
            Exit::NotPermitted,
            format!("--cache needs a loop device: {why}"),
            "run it as root (sudo), or leave out --cache",
        ));
    }
    Ok((way.into(), None))
}

/// The best way in which every request passes through a process of ours, and what speaks for it.
fn ourselves(mount: bool, kernel: bool, out: Output) -> Result<(Attachment, String), Failure> {
    let not = match machine::ublk() {
        Ok(()) if ublk::outlives_its_server() => {
            let why = "a block device of the kernel's that outlives the process that serves it";
            return Ok((Attachment::Ublk, why.to_owned()));
        }
        Ok(()) => "without root a ublk device ends with the process that serves it".to_owned(),
        Err(not) => format!("ublk can't be had: {not}"),
    };
    match by_fuse(mount) {
        Err(e) if !mount => {
            if !kernel {
                out.warn(&format!("{}; serving NBD on a socket instead", e.message));
            }
            let why = "without FUSE a socket is what is left".to_owned();
            Ok((Attachment::Nbd(NbdAddress::Session), why))
        }
        ours => ours.map(|(way, why)| (way, format!("{why}; {not}"))),
    }
}

/// A way in which every request passes through this process.
pub(crate) fn attachment_of_ours(mount: bool, out: Output) -> Result<Attachment, Failure> {
    match by_fuse(mount) {
        Err(e) if !mount => {
            out.warn(&format!("{}; serving NBD on a socket instead", e.message));
            Ok(Attachment::Nbd(NbdAddress::Session))
        }
        ours => Ok(ours?.0),
    }
}

/// FUSE, with a loop device where this user may have one, and what speaks for it.
pub(crate) fn by_fuse(mount: bool) -> Result<(Attachment, &'static str), Failure> {
    let loop_device = machine::loop_devices();
    if mount && let Err(why) = &loop_device {
        return Err(Failure::new(
            Exit::NotPermitted,
            format!("mounting needs a loop device: {why}"),
            "run it as root (sudo), or leave the mount point out and use the file that appears",
        ));
    }
    machine::fuse().map_err(|why| {
        Failure::new(
            Exit::NotPermitted,
            format!("FUSE can't be used here: {why}"),
            "`keyway doctor` tells more; --attach nbd works without it",
        )
    })?;
    let why = match loop_device {
        Ok(()) => "a block device that every kernel can have",
        Err(_) => "a file, because loop devices and mounts need root",
    };
    Ok((Attachment::Fuse { loop_device: loop_device.is_ok() }, why))
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
