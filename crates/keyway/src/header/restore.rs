//! A header put back, from a backup file or from the copy at the end of the volume.

use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::medium;
use crate::secrets::{Subject, Wanted};
use crate::unlock::Family;
use keyway_volume::bitlocker::{HeaderBackup, UnlockRequest};
use keyway_volume::veracrypt::{self, KeysGuard, Place, RestoreFrom};
use std::path::Path;

/// A header that is to be overwritten. Nothing has been written yet, and nobody asked for a secret.
pub struct RestorePlan<'a> {
    volume: &'a LockedVolume<'a>,
    from: Origin<'a>,
    other_keys: bool,
}

/// What is put back.
enum Origin<'a> {
    BitLocker(Box<HeaderBackup>),
    File(&'a Path),
    Copy,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restored {
    /// A VeraCrypt or TrueCrypt volume's header.
    VeraCrypt {
        /// It was a hidden volume's.
        hidden: bool,
        /// The copies that were written, in order.
        places: Vec<Place>,
    },
    /// A BitLocker volume's first sector and the three copies of its metadata.
    BitLocker,
}

/// Plans to put a volume's header back from a file; from the copy at the end of the volume when there is none. With
/// `other_keys`, even if the volume has other keys now and would become unreadable.
///
/// # Errors
/// The volume can't be written, or the file is no backup.
pub fn restore<'a>(
    volume: &'a LockedVolume<'a>,
    file: Option<&'a Path>,
    other_keys: bool,
) -> Result<RestorePlan<'a>, Error> {
    let family = super::family(volume)?;
    if family == Family::BitLocker && file.is_none() {
        return Err(Misuse::NoBackupFile.into());
    }
    medium::must_be_writable(&volume.path)?;
    file.map_or(Ok(()), medium::must_exist)?;
    let from = match (family, file) {
        (Family::BitLocker, Some(file)) => Origin::BitLocker(Box::new(HeaderBackup::read(file)?)),
        (_, Some(file)) => Origin::File(file),
        (_, None) => Origin::Copy,
    };
    Ok(RestorePlan { volume, from, other_keys })
}

impl RestorePlan<'_> {
    /// Which volumes' header it is.
    pub fn family(&self) -> Family {
        if matches!(self.from, Origin::BitLocker(_)) { Family::BitLocker } else { Family::VeraCrypt }
    }

    /// Asks for the secret, and puts the header back.
    ///
    /// # Errors
    /// The secret doesn't open the backup; the volume has other keys; it can't be written.
    pub fn run(self) -> Result<Restored, Error> {
        let Self { volume, from, other_keys } = self;
        let (from, subject) = match from {
            Origin::BitLocker(backup) => {
                let secrets = volume.bitlocker_key()?;
                let store = volume.to_change()?;
                let restored = backup.restore(&store, &UnlockRequest::new(&secrets), other_keys);
                return restored.map(|()| Restored::BitLocker).map_err(|e| volume.said(e));
            }
            Origin::File(file) => (RestoreFrom::File(file), Subject::Backup(file.to_owned())),
            Origin::Copy => (RestoreFrom::Embedded, Subject::Volume(volume.path.clone())),
        };
        let secret = volume.sources.password.read(Wanted::Password, &subject, volume.secrets)?;
        let guard = if other_keys { KeysGuard::Any } else { KeysGuard::Same };
        let store = volume.to_change()?;
        let drive = volume.system_drive()?;
        let request = volume.arguments.veracrypt_request(&secret, None, drive.as_ref());
        let done = veracrypt::header_restore(&store, from, &request, guard).map_err(|e| volume.said(e))?;
        Ok(Restored::VeraCrypt { hidden: done.hidden, places: done.places })
    }
}
