//! `drive lock` and `drive unlock`.

use super::kernel::Unlock;
use super::secret::{SecretArgs, Who};
use super::target::Target;
use crate::failure::Failure;
use crate::output::Output;
use crate::shown::shown;
use crate::verbs::name_of;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::{HostError, Session};
use keyway_sys::{OpalLock, reread_partitions};
use serde_json::json;
use std::fs::File;
use std::path::PathBuf;

/// Lock a drive's ranges now, without waiting for a power cycle
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive lock /dev/nvme0n1
  $ keyway drive lock virtual.drive --range 1 --password-file pw.txt --json")]
pub(crate) struct LockArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Unlock a drive's ranges until they are locked or the drive loses power
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive unlock /dev/nvme0n1
  $ sudo keyway drive unlock /dev/nvme0n1 --read-only --password-file pw.txt
  $ sudo keyway drive unlock /dev/sda --for-resume")]
pub(crate) struct UnlockArgs {
    /// Only for reading
    #[arg(long)]
    read_only: bool,
    /// Leave the secret with the kernel, which unlocks the drive with it when the machine wakes up (--save).
    /// It stays in the kernel's memory
    #[arg(long, alias = "save")]
    for_resume: bool,
    /// Have the kernel unlock it, by its own Opal code: as it does when the machine wakes up
    #[arg(long)]
    by_kernel: bool,
    #[command(flatten)]
    which: WhichArgs,
}

#[derive(clap::Args, Debug)]
struct WhichArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Which range; 0, everything that no other covers, when left out. Repeatable
    #[arg(long, value_name = "N")]
    range: Vec<u16>,
    /// Whose password it is: admin1, user1 …; user1 and then admin1 when left out
    #[arg(long = "as", value_name = "WHO")]
    who: Option<Who>,
    #[command(flatten)]
    secret: SecretArgs,
}

impl WhichArgs {
    fn ranges(&self) -> Vec<u16> {
        if self.range.is_empty() { vec![0] } else { self.range.clone() }
    }
}

/// Runs `lock`.
pub(crate) fn lock(args: &LockArgs, out: Output) -> Result<(), Failure> {
    let args = &args.which;
    let mut target = Target::open(&args.device, args.secret.hash.hash)?;
    target.must_be_set_up()?;
    target.must_be_unused()?;
    let pin = args.secret.pin(&name_of(&args.device), &target.serial())?;
    let ranges = args.ranges();
    let (who, ()) = target.locking_as_any(args.who, &pin, |session| {
        ranges.iter().try_for_each(|range| must_lock(session, *range))
    })?;
    let document = json!({"device": args.device, "ranges": ranges, "state": "locked", "as": who.to_string()});
    out.result(&document, || format!("{} is locked.", shown(&args.device)))
}

/// A range whose locking is not enabled takes the word and stays open.
fn must_lock(session: &mut Session<'_>, range: u16) -> Result<(), HostError> {
    session.lock(range, Lock::Locked)?;
    match session.range(range) {
        Ok(now) if !now.read_lock_enabled && !now.write_lock_enabled => Err(HostError::Asked(
            "this range can't be locked yet; have an administrator do `keyway drive range enable DEVICE N`",
        )),
        // Whoever may lock it need not be allowed to see it.
        _ => Ok(()),
    }
}

/// Runs `unlock`.
pub(crate) fn unlock(args: &UnlockArgs, out: Output) -> Result<(), Failure> {
    let UnlockArgs { which, read_only, for_resume, by_kernel } = args;
    let mut target = Target::open(&which.device, which.secret.hash.hash)?;
    target.must_be_set_up()?;
    if *by_kernel && !target.is_device() {
        return Err(Failure::usage(
            "no kernel knows a virtual drive's file",
            "serve it (`keyway drive emulate --nvme-tcp`), or leave out --by-kernel",
        ));
    }
    let pin = which.secret.pin(&name_of(&which.device), &target.serial())?;
    let ranges = which.ranges();
    let shadowed = target.host.discovery().locking().is_some_and(|l| l.mbr_enabled && !l.mbr_done);
    let lock = if *read_only { OpalLock::ReadOnly } else { OpalLock::ReadWrite };
    let through_kernel = Unlock { ranges: &ranges, lock, pin: &pin };
    let (who, uncovered) = if *by_kernel {
        (through_kernel.by_kernel(&target, which.who)?, !shadowed)
    } else {
        let lock = if *read_only { Lock::ReadOnly } else { Lock::Unlocked };
        target.locking_as_any(which.who, &pin, |session| {
            ranges.iter().try_for_each(|range| session.lock(*range, lock))?;
            if !shadowed {
                return Ok(true);
            }
            match session.shadow_done(true) {
                Ok(()) => Ok(true),
                Err(e) if e.status().is_some() => Ok(false),
                Err(e) => Err(e),
            }
        })?
    };
    if !uncovered {
        let why = if *by_kernel { "the kernel does not lift it" } else { "whoever unlocked may not lift it" };
        out.warn(&format!(
            "the MBR shadow still covers the drive's beginning, and {why}: `keyway drive mbr done --as admin1` does"
        ));
    }
    let mut saved = false;
    if target.is_device() {
        let device = File::open(&which.device).map_err(|e| Failure::io("open", &which.device, &e))?;
        // A file system that is in use keeps the old table; then nothing has changed there either.
        let _ = reread_partitions(&device);
        if *for_resume {
            through_kernel.save(&target, who)?;
            saved = true;
        }
    } else if *for_resume {
        out.warn("--for-resume does nothing for a virtual drive's file: no kernel knows it");
    }
    let document = json!({"device": which.device, "ranges": ranges, "as": who.to_string(),
        "state": if *read_only { "read-only" } else { "unlocked" }, "saved_for_resume": saved});
    out.result(&document, || {
        let how = if *read_only { "for reading" } else { "for reading and writing" };
        format!("{} is unlocked {how}, as {who}.", shown(&which.device))
    })
}
