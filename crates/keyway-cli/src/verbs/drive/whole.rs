//! What is done to a drive, or to some of its ranges: locked, unlocked, erased, reverted, reset.

use super::act::{AdminArgs, Mode, NewSecretArgs, SecretArgs, act};
use crate::failure::Failure;
use clap::Subcommand;
use keyway::drive::{Authority, DriveChange, PsidSource};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(super) enum Action {
    /// Lock a drive's ranges now, without waiting for a power cycle
    #[command(after_help = "Examples:
  $ sudo keyway drive lock /dev/nvme0n1
  $ keyway drive lock virtual.drive --range 1 --password-file pw.txt --json")]
    Lock(WhichArgs),
    /// Unlock a drive's ranges until they are locked or the drive loses power
    #[command(after_help = "Examples:
  $ sudo keyway drive unlock /dev/nvme0n1
  $ sudo keyway drive unlock /dev/nvme0n1 --read-only --password-file pw.txt
  $ sudo keyway drive unlock /dev/sda --for-resume")]
    Unlock {
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
    },
    /// Destroy what is in a range at once: the drive makes a new media key for it
    #[command(after_help = "Examples:
  $ sudo keyway drive erase /dev/nvme0n1
  $ keyway drive erase virtual.drive --range 1 --password-file admin.txt --yes")]
    Erase {
        /// Which range; 0, everything that no other covers, when left out
        #[arg(long, value_name = "N", default_value_t = 0)]
        range: u16,
        #[command(flatten)]
        admin: AdminArgs,
    },
    /// Take a drive back to its factory state, by its owner or by the PSID on its label
    ///
    /// Everything on the drive is lost, unless it is told --keep-data: then locking is switched off and the
    /// owner's password forgotten, and what is outside of ranges stays.
    #[command(after_help = "Examples:
  $ sudo keyway drive revert /dev/nvme0n1 --psid psid.txt
  $ sudo keyway drive revert /dev/nvme0n1 --keep-data --password-file admin.txt")]
    Revert {
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
    },
    /// Block the owner's authority until the next power cycle, as firmware does
    #[command(after_help = "Examples:
  $ sudo keyway drive block /dev/nvme0n1
  $ keyway drive block virtual.drive --json")]
    Block {
        /// The drive's device, or a virtual drive's file
        device: PathBuf,
        /// Let a hardware reset end it, too
        #[arg(long)]
        until_hardware_reset: bool,
    },
    /// End every session with the drive that a program has left behind
    #[command(after_help = "Examples:
  $ sudo keyway drive reset /dev/nvme0n1
  $ sudo keyway drive reset /dev/nvme0n1 --tper")]
    Reset {
        /// The drive's device, or a virtual drive's file
        device: PathBuf,
        /// Reset the whole security side (TPER_RESET), which may lock ranges
        #[arg(long)]
        tper: bool,
    },
}

#[derive(clap::Args, Debug)]
pub(super) struct WhichArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Which range; 0, everything that no other covers, when left out. Repeatable
    #[arg(long = "range", value_name = "N", default_value = "0", hide_default_value = true)]
    ranges: Vec<u16>,
    /// Whose password it is: admin1, user1 …; user1 and then admin1 when left out
    #[arg(long = "as", value_name = "WHO")]
    who: Option<Authority>,
    #[command(flatten)]
    secret: SecretArgs,
}

/// Runs one of them.
pub(super) fn run(action: &Action, mode: Mode) -> Result<(), Failure> {
    let nothing = (SecretArgs::default(), NewSecretArgs::default());
    let alone = |secret: &SecretArgs| secret.and(&nothing.1);
    let (device, change, by, secrets) = match action {
        Action::Lock(WhichArgs { device, ranges, who, secret }) => {
            (device, DriveChange::Lock { ranges: ranges.clone() }, *who, alone(secret)?)
        }
        Action::Unlock { read_only, for_resume, by_kernel, which } => {
            let (read_only, for_resume, by_kernel) = (*read_only, *for_resume, *by_kernel);
            let ranges = which.ranges.clone();
            let change = DriveChange::Unlock { ranges, read_only, by_kernel, for_resume };
            (&which.device, change, which.who, alone(&which.secret)?)
        }
        Action::Erase { range, admin } => return admin.act(DriveChange::EraseRange { range: *range }, mode),
        Action::Revert { device, psid, keep_data, secret } => {
            let by_label = psid.is_some();
            let change = if *keep_data { DriveChange::Release } else { DriveChange::Revert { by_label } };
            let mut secrets = alone(secret)?;
            secrets.psid = psid.clone().map(PsidSource);
            (device, change, None, secrets)
        }
        Action::Block { device, until_hardware_reset } => {
            let until_hardware_reset = *until_hardware_reset;
            (device, DriveChange::BlockOwner { until_hardware_reset }, None, alone(&nothing.0)?)
        }
        Action::Reset { device, tper } => {
            (device, DriveChange::Reset { whole: *tper }, None, alone(&nothing.0)?)
        }
    };
    act(device, change, by, &secrets, mode)
}
