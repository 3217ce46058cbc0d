//! `encrypt --hardware` and `decrypt --hardware`: the words of software encryption, for a drive that encrypts by
//! itself.

use super::recognise::METHOD;
use super::secret::derive;
use super::setup::{self, OwnerArgs};
use super::target::Target;
use crate::failure::Failure;
use crate::output::Output;
use crate::secrets_in::SecretSource;
use crate::verbs::name_of;
use keyway_sed::host::setup::USER;
use keyway_sed::password::PasswordHash;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

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
    out: Output,
) -> Result<(), Failure> {
    let took = setup::set_up(device, how.drive_hash, own, owner, out)?;
    let lock_status = if owner.leave_unlocked { "Unlocked" } else { "Locked" };
    let document = json!({"volume": device, "conversion": "encryption", "state": "done", "format": "opal",
        "encryption_method": METHOD, "lock_status": lock_status, "seconds": took.as_secs_f64(),
        "user": format!("user{USER}"), "hash": how.drive_hash.name(), "recovery_sheet": owner.recovery_sheet});
    out.result(&document, || {
        format!(
            "{} is encrypted ({METHOD}); that took the drive {:.1} s. {}",
            device.display(),
            took.as_secs_f64(),
            owner.what_next(device)
        )
    })
}

/// Has a drive lock no more. What is outside of ranges stays.
pub(crate) fn decrypt(
    device: &Path,
    how: &HardwareArgs,
    own: &SecretSource,
    out: Output,
) -> Result<(), Failure> {
    let mut target = Target::open(device, how.drive_hash)?;
    let took = release(&mut target, own, out)?;
    let document = json!({"volume": device, "conversion": "decryption", "state": "done", "format": "opal",
        "encryption_method": METHOD, "lock_status": "Unlocked", "seconds": took});
    out.result(&document, || {
        format!(
            "{} locks no more and has no owner; its data are kept, and lie open. That took the drive {took:.1} s.",
            device.display()
        )
    })
}

/// Gives a drive up, keeping its data, by the owner's secret; the seconds that it took.
pub(super) fn release(target: &mut Target, own: &SecretSource, out: Output) -> Result<f64, Failure> {
    target.must_be_owned()?;
    let path = target.path.clone();
    out.confirm(&format!(
        "{} will not be locked any more, and what is in ranges other than the global one is lost.",
        path.display()
    ))?;
    let password = own.read(&format!("the owner of {}", name_of(&path)))?.password;
    let pin = derive(&password, target.hash, &target.serial())?;
    let begun = Instant::now();
    target.with(|host| host.release(&pin))?;
    Ok(begun.elapsed().as_secs_f64())
}
