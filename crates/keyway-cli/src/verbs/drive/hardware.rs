//! `encrypt --hardware` and `decrypt --hardware`: the words of software encryption for a drive that encrypts by itself.

use super::args::secrets;
use super::{OwnerArgs, Wanted, setup, tell};
use crate::verbs::*;
use keyway::drive::{DriveChange, DriveError, PasswordHash};
use keyway::secrets::PasswordSource;

/// Whether the drive is to do it, and how it is told the password.
#[derive(clap::Args, Debug, Clone, Default)]
#[group(skip)]
pub(crate) struct HardwareArgs {
    /// Have the drive do it, which encrypts by itself (TCG Opal): at once, whatever is on it. DEVICE is the whole
    /// drive
    #[arg(long, help_heading = "Drive", conflicts_with_all = ["journal", "limit", "require_sandbox", "keyfile", "pim"])]
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
    own: PasswordSource,
    (dry, out): (DryRunArgs, Output),
) -> Result<(), Failure> {
    let Some(done) = owner.wanted(device, how.drive_hash, own, dry)?.done(out)? else { return Ok(()) };
    out.result(&done.conversion(), || format!("{} {}", tell("encrypted", &done), setup::next(&done)))
}

/// Has a drive lock no more. What is outside of ranges stays.
pub(crate) fn decrypt(
    device: &Path,
    how: &HardwareArgs,
    own: PasswordSource,
    (dry, out): (DryRunArgs, Output),
) -> Result<(), Failure> {
    let secrets = secrets(own, PasswordSource::new(), how.drive_hash)?;
    let wanted = Wanted { device, change: DriveChange::Release, by: None, secrets, dry };
    let Some(done) = wanted.done(out)? else { return Ok(()) };
    if done.plan.nothing_to_do {
        let failure = Failure::from(DriveError::NotSetUp(device.to_owned()));
        return Err(failure.hint("nothing is to be done: it locks nothing"));
    }
    out.result(&done.conversion(), || tell("decrypted", &done))
}
