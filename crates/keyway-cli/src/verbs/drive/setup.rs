//! `drive setup`: from the factory's state to a locked drive in one command.

use super::args::{DeviceArgs, SecretArgs, secrets, source};
use super::{Wanted, tell};
use crate::verbs::*;
use keyway::drive::{DriveChange, DriveError, DriveOutcome, PasswordHash, SetUp};
use keyway::secrets::PasswordSource;

/// Take a drive from its factory state to a locked one; what is on it stays
///
/// The password unlocks the drive from day to day (as user1). The owner's secret, which may do
/// everything, is made up and written to the recovery sheet, or given by you.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    on: DeviceArgs,
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

impl Args {
    /// What is wanted.
    pub(super) fn wanted(&self) -> Result<Wanted<'_>, Failure> {
        let Self { on: DeviceArgs { device, dry }, owner, secret } = self;
        owner.wanted(device, secret.hash.hash, secret.source(), *dry)
    }
}

impl OwnerArgs {
    /// Whether any of it was.
    pub(crate) fn is_given(&self) -> bool {
        self.leave_unlocked || self.single_user || self.recovery_sheet.is_some() || self.secret().is_given()
    }

    fn secret(&self) -> PasswordSource {
        source(self.admin_password_file.as_ref(), self.admin_password_fd)
    }

    /// A drive is to be set up so. `own` is the user's password.
    pub(super) fn wanted<'a>(
        &self,
        device: &'a Path,
        hash: PasswordHash,
        own: PasswordSource,
        dry: DryRunArgs,
    ) -> Result<Wanted<'a>, Failure> {
        if self.recovery_sheet.is_none() && !self.secret().is_given() {
            return Err(DriveError::NoOwnersSecret.into());
        }
        let Self { recovery_sheet, leave_unlocked, single_user, .. } = self.clone();
        let change = DriveChange::SetUp(SetUp { recovery_sheet, leave_unlocked, single_user });
        Ok(Wanted { device, change, by: None, secrets: secrets(own, self.secret(), hash)?, dry })
    }
}

/// What someone should know who has set a drive up.
pub(super) fn next(done: &DriveOutcome) -> String {
    tell("state", done) + &tell("sheet", done)
}
