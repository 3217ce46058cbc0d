//! What is done to a drive, or to some of its ranges: locked, unlocked, erased, reverted, reset.

use super::Wanted;
use super::args::{ChangeArgs, DeviceArgs, SecretArgs};
use crate::verbs::*;
use keyway::drive::{Authority, DriveChange, DriveSecrets, PsidSource};

#[derive(clap::Subcommand, Debug)]
pub(super) enum Action {
    /// Lock a drive's ranges now, without waiting for a power cycle
    Lock(WhichArgs),
    /// Unlock a drive's ranges until they are locked or the drive loses power
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
    Erase {
        /// Which range; 0, everything that no other covers, when left out
        #[arg(long, value_name = "N", default_value_t = 0)]
        range: u16,
        #[command(flatten)]
        admin: ChangeArgs,
    },
    /// Take a drive back to its factory state, by its owner or by the PSID on its label
    ///
    /// Everything on the drive is lost. With --keep-data locking is switched off and the owner's password forgotten;
    /// what is in ranges of their own is lost, and everything else stays.
    Revert {
        #[command(flatten)]
        on: DeviceArgs,
        /// Use the PSID from the drive's label: its characters, or a file that holds them
        #[arg(long, value_name = "TEXT-OR-FILE", conflicts_with_all = ["keep_data", "password_file", "password_fd"])]
        psid: Option<OsString>,
        /// Only switch locking off; what is outside of ranges of their own stays readable
        #[arg(long)]
        keep_data: bool,
        #[command(flatten)]
        secret: SecretArgs,
    },
    /// Block the owner's authority until the next power cycle, as firmware does
    Block {
        #[command(flatten)]
        on: DeviceArgs,
        /// Let a hardware reset end it, too
        #[arg(long)]
        until_hardware_reset: bool,
    },
    /// End every session with the drive that a program has left behind
    Reset {
        #[command(flatten)]
        on: DeviceArgs,
        /// Reset the whole security side (TPER_RESET), which may lock ranges
        #[arg(long)]
        tper: bool,
    },
}

#[derive(clap::Args, Debug)]
pub(super) struct WhichArgs {
    #[command(flatten)]
    on: DeviceArgs,
    /// Which range; 0, everything that no other covers, when left out. Repeatable
    #[arg(long = "range", value_name = "N", default_value = "0", hide_default_value = true)]
    ranges: Vec<u16>,
    /// Whose password it is: admin1, user1 …; user1 and then admin1 when left out
    #[arg(long = "as", value_name = "WHO")]
    who: Option<Authority>,
    #[command(flatten)]
    secret: SecretArgs,
}

/// What one of them wants.
pub(super) fn wanted(action: &Action) -> Result<Wanted<'_>, Failure> {
    let nobody = || SecretArgs::default().alone();
    Ok(match action {
        Action::Lock(WhichArgs { on, ranges, who, secret }) => {
            on.wanted(DriveChange::Lock { ranges: ranges.clone() }, *who, secret.alone()?)
        }
        Action::Unlock { read_only, for_resume, by_kernel, which: WhichArgs { on, ranges, who, secret } } => {
            let (read_only, for_resume, by_kernel) = (*read_only, *for_resume, *by_kernel);
            let change = DriveChange::Unlock { ranges: ranges.clone(), read_only, by_kernel, for_resume };
            on.wanted(change, *who, secret.alone()?)
        }
        Action::Erase { range, admin } => admin.wanted(DriveChange::EraseRange { range: *range })?,
        Action::Revert { on, psid, keep_data, secret } => {
            let by_label = psid.is_some();
            let change = if *keep_data { DriveChange::Release } else { DriveChange::Revert { by_label } };
            let psid = psid.clone().map(PsidSource);
            on.wanted(change, None, DriveSecrets { psid, ..secret.alone()? })
        }
        Action::Block { on, until_hardware_reset: until } => {
            on.wanted(DriveChange::BlockOwner { until_hardware_reset: *until }, None, nobody()?)
        }
        Action::Reset { on, tper } => on.wanted(DriveChange::Reset { whole: *tper }, None, nobody()?),
    })
}
