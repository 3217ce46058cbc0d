//! `drive setup`, from the factory's state to a locked drive in one command; `encrypt --hardware` and `decrypt --hardware`,
//! the words of software encryption for a drive that encrypts by itself.

use super::act::{Mode, SecretArgs, done, secrets, source};
use super::told;
use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::secrets_in::SecretSource;
use keyway::drive::{DriveChange, DriveError, DriveOutcome, HARDWARE_ENCRYPTION, PasswordHash, SetUp};
use std::path::{Path, PathBuf};

/// Take a drive from its factory state to a locked one; what is on it stays
///
/// The password unlocks the drive from day to day (as user1). The owner's secret, which may do
/// everything, is made up and written to the recovery sheet, or given by you.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive setup /dev/nvme0n1 --recovery-sheet /media/stick/sheet.txt
  $ keyway drive setup virtual.drive --recovery-sheet sheet.txt --password-file pw.txt --json")]
pub(crate) struct Args {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    #[command(flatten)]
    owner: OwnerArgs,
    #[command(flatten)]
    secret: SecretArgs,
}

/// Where the owner's secret goes or comes from, and how the drive is left.
#[derive(clap::Args, Debug, Clone, Default)]
#[group(skip)]
pub(crate) struct OwnerArgs {
    /// Make up the owner's secret, and write it to this new file. Not onto the drive itself
    #[arg(long, value_name = "FILE", help_heading = "Drive")]
    recovery_sheet: Option<PathBuf>,
    /// Read the owner's secret from FILE instead; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "recovery_sheet", help_heading = "Drive")]
    admin_password_file: Option<PathBuf>,
    /// Read the owner's secret from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with_all = ["recovery_sheet", "admin_password_file"], help_heading = "Drive")]
    admin_password_fd: Option<u32>,
    /// Leave the drive unlocked until it loses power
    #[arg(long, help_heading = "Drive")]
    leave_unlocked: bool,
    /// Have the drive belong to its user alone: the owner can erase it, and not unlock it (Single User Mode)
    #[arg(long, help_heading = "Drive")]
    single_user: bool,
}

/// Runs the verb.
pub(super) fn run(Args { device, owner, secret }: &Args, mode: Mode) -> Result<(), Failure> {
    match owner.set_up(device, secret.hash.hash, &secret.source(), mode)? {
        Some(outcome) => mode.out.result(&outcome, || told::outcome(&outcome)),
        None => Ok(()),
    }
}

impl OwnerArgs {
    /// Whether any of it was.
    pub(crate) fn is_given(&self) -> bool {
        self.leave_unlocked || self.single_user || self.recovery_sheet.is_some() || self.secret().is_given()
    }

    fn secret(&self) -> SecretSource {
        source(&self.admin_password_file, self.admin_password_fd)
    }

    /// Sets a drive up. `own` is the user's password.
    fn set_up(
        &self,
        device: &Path,
        hash: PasswordHash,
        own: &SecretSource,
        mode: Mode,
    ) -> Result<Option<DriveOutcome>, Failure> {
        if self.recovery_sheet.is_none() && !self.secret().is_given() {
            return Err(DriveError::NoOwnersSecret.into());
        }
        let Self { recovery_sheet, leave_unlocked, single_user, .. } = self.clone();
        let change = DriveChange::SetUp(SetUp { recovery_sheet, leave_unlocked, single_user });
        done(device, change, None, &secrets(own, &self.secret(), hash)?, mode)
    }
}

/// Whether the drive is to do it, and how it is told the password.
#[derive(clap::Args, Debug, Clone, Default)]
#[group(skip)]
pub(crate) struct HardwareArgs {
    /// Have the drive do it, which encrypts by itself (TCG Opal): at once, whatever is on it. DEVICE is the whole
    /// drive
    #[arg(long, help_heading = "Drive", conflicts_with_all = ["journal", "limit", "keyfile", "pim"])]
    hardware: bool,
    /// How the password becomes what the drive is told: sedutil, sedutil-sha512 or plain (see `keyway drive`)
    #[arg(long, value_name = "HOW", default_value_t, help_heading = "Drive", requires = "hardware")]
    drive_hash: PasswordHash,
}

impl HardwareArgs {
    /// Whether the drive is to do it.
    pub(crate) const fn wanted(&self) -> bool {
        self.hardware
    }
}

/// Has a drive lock what it encrypts anyway: that takes as long as a few commands to it.
pub(crate) fn encrypt(
    device: &Path,
    how: &HardwareArgs,
    owner: &OwnerArgs,
    own: &SecretSource,
    (dry, out): (DryRunArgs, Output),
) -> Result<(), Failure> {
    let Some(outcome) = owner.set_up(device, how.drive_hash, own, Mode { out, dry })? else { return Ok(()) };
    out.result(&outcome.conversion(), || {
        let (name, seconds, next) = (device.display(), outcome.took.as_secs_f64(), told::set_up(&outcome));
        format!("{name} is encrypted ({HARDWARE_ENCRYPTION}); that took the drive {seconds:.1} s. {next}")
    })
}

/// Has a drive lock no more. What is outside of ranges stays.
pub(crate) fn decrypt(
    device: &Path,
    how: &HardwareArgs,
    own: &SecretSource,
    (dry, out): (DryRunArgs, Output),
) -> Result<(), Failure> {
    let secrets = secrets(own, &SecretSource::default(), how.drive_hash)?;
    let Some(outcome) = done(device, DriveChange::Release, None, &secrets, Mode { out, dry })? else {
        return Ok(());
    };
    out.result(&outcome.conversion(), || {
        let (name, seconds) = (device.display(), outcome.took.as_secs_f64());
        format!(
            "{name} locks no more and has no owner; its data are kept, and lie open. That took the drive {seconds:.1} s."
        )
    })
}
