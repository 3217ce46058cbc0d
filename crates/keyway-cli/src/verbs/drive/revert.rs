//! `drive revert`, `drive block` and `drive reset`: back to the factory's state, and resets.

use super::hardware::release;
use super::secret::{SecretArgs, psid};
use super::target::{Target, must_be_opal};
use crate::failure::Failure;
use crate::output::Output;
use crate::shown::shown;
use crate::verbs::name_of;
use keyway_sed::host::Credential;
use keyway_sed::password::PasswordHash;
use keyway_sed::uid::authority;
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;

/// Take a drive back to its factory state, by its owner or by the PSID on its label
///
/// Everything on the drive is lost, unless it is told --keep-data: then locking is switched off and the
/// owner's password forgotten, and what is outside of ranges stays.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive revert /dev/nvme0n1 --psid psid.txt
  $ sudo keyway drive revert /dev/nvme0n1 --keep-data --password-file admin.txt")]
pub(crate) struct Args {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Use the PSID from the drive's label: its characters, or a file that holds them
    #[arg(long, value_name = "TEXT-OR-FILE", conflicts_with_all = ["keep_data", "password_file", "password_fd"])]
    psid: Option<OsString>,
    /// Only switch locking off; what is outside of ranges stays readable
    #[arg(long)]
    keep_data: bool,
    #[command(flatten)]
    secret: SecretArgs,
}

/// Block the owner's authority until the next power cycle, as firmware does
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive block /dev/nvme0n1
  $ keyway drive block virtual.drive --json")]
pub(crate) struct BlockArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Let a hardware reset end it, too
    #[arg(long)]
    until_hardware_reset: bool,
}

/// End every session with the drive that a program has left behind
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive reset /dev/nvme0n1
  $ sudo keyway drive reset /dev/nvme0n1 --tper")]
pub(crate) struct ResetArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Reset the whole security side (TPER_RESET), which may lock ranges
    #[arg(long)]
    tper: bool,
}

/// Runs `revert`.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut target = Target::open(&args.device, args.secret.hash.hash)?;
    must_be_opal(&args.device, target.host.discovery())?;
    if args.keep_data {
        return keep_data(args, target, out);
    }
    target.must_be_unused()?;
    out.confirm(&format!("Everything on {} will be lost for ever.", args.device.display()))?;
    let (who, pin) = if args.psid.is_some() {
        (authority::PSID, psid(args.psid.as_ref())?)
    } else {
        let what = format!("the owner of {}", name_of(&args.device));
        (authority::SID, args.secret.pin(&what, &target.serial())?)
    };
    target.with(|host| host.revert(Credential { authority: who, pin: &pin }))?;
    out.result(&json!({"device": args.device, "reverted": true, "data_kept": false}), || {
        format!("{} is in its factory state again; what was on it is gone.", shown(&args.device))
    })
}

fn keep_data(args: &Args, mut target: Target, out: Output) -> Result<(), Failure> {
    release(&mut target, &args.secret.source(), out)?;
    out.result(&json!({"device": args.device, "reverted": true, "data_kept": true}), || {
        format!("{} does not lock any more and has no owner; its data are kept.", shown(&args.device))
    })
}

/// Runs `block`.
pub(crate) fn block(args: &BlockArgs, out: Output) -> Result<(), Failure> {
    let mut target = Target::open(&args.device, PasswordHash::default())?;
    target.with(|host| host.block_sid(args.until_hardware_reset))?;
    out.result(&json!({"device": args.device, "sid_blocked": true}), || {
        format!("{}: nobody can become its owner until the next power cycle.", shown(&args.device))
    })
}

/// Runs `reset`.
pub(crate) fn reset(args: &ResetArgs, out: Output) -> Result<(), Failure> {
    let mut target = Target::open(&args.device, PasswordHash::default())?;
    target.with(|host| if args.tper { host.tper_reset() } else { host.stack_reset() })?;
    out.result(&json!({"device": args.device, "reset": true}), || {
        format!("{}: every session is ended.", shown(&args.device))
    })
}
