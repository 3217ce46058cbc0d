//! The protectors of a BitLocker volume.

use crate::error::Error;
use crate::key_file::NewFile;
use crate::locked::LockedVolume;
use crate::medium;
use keyway_engine::Access;
use keyway_secret::SecretBytes;
use keyway_store::FileStore;
use keyway_volume::bitlocker::{
    self, BitLockerError, ChangeError, Guid, LastProtector, NewProtector, OpenedKeys, Protection,
    RecoveryPassword, RewriteError, Secret, StartupKey,
};
use std::path::{Path, PathBuf};

/// The protectors of a BitLocker volume that opened.
pub struct Protectors<'a> {
    pub(super) volume: &'a LockedVolume<'a>,
    pub(super) store: FileStore,
    pub(super) keys: OpenedKeys,
    /// What the volume's owner should know.
    pub warnings: Vec<String>,
}

/// A secret to be set.
pub enum NewSecret {
    /// A password.
    Password(SecretBytes),
    /// A recovery password.
    Recovery(RecoveryPassword),
    /// A startup key.
    StartupKey(StartupKey),
}

/// A protector that is in force now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Added {
    /// Its identifier.
    pub id: Guid,
    /// Its kind.
    pub kind: Protection,
    /// The file that its secret is in, if it is in one.
    pub file: Option<PathBuf>,
    /// A copy of the metadata that could not be written.
    pub warning: Option<RewriteError>,
}

/// What opens a volume after a protector was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Left {
    /// Enough.
    Secrets,
    /// Only the clear key of its suspended protection: anybody reads it.
    ClearKey,
    /// Only a TPM: if that machine fails, so does the volume.
    Tpm,
}

impl NewSecret {
    /// A new recovery password.
    ///
    /// # Errors
    /// The system gave no random numbers.
    pub fn recovery() -> Result<Self, Error> {
        Ok(RecoveryPassword::random().map(Self::Recovery)?)
    }

    /// A new startup key.
    ///
    /// # Errors
    /// The system gave no random numbers.
    pub fn startup_key() -> Result<Self, Error> {
        Ok(StartupKey::random().map(Self::StartupKey)?)
    }

    fn protector(&self) -> NewProtector<'_> {
        match self {
            Self::Password(password) => NewProtector::Password(password),
            Self::Recovery(recovery) => NewProtector::RecoveryPassword(recovery),
            Self::StartupKey(key) => NewProtector::StartupKey(key),
        }
    }

    /// The file that its owner keeps it in: a new one for a recovery password, one in a folder for a startup key.
    fn write(&self, id: Guid, to: Option<&Path>) -> Result<Option<NewFile>, Error> {
        match (self, to) {
            (Self::StartupKey(key), Some(folder)) => {
                let mut file = NewFile::claim_startup_key(folder, key)?;
                file.write_startup_key(key)?;
                Ok(Some(file))
            }
            (Self::Recovery(recovery), Some(path)) => recovery_file(path, id, recovery).map(Some),
            _ => Ok(None),
        }
    }
}

impl<'a> Protectors<'a> {
    /// Opens the volume, to look at what its keys tell or to change what opens it.
    ///
    /// # Errors
    /// It can't be read or written, or nothing that was named or answered opens it.
    pub fn open(volume: &'a LockedVolume<'a>, access: Access) -> Result<Self, Error> {
        if access == Access::ReadWrite {
            medium::must_be_writable(&volume.path)?;
        }
        let secrets = volume.bitlocker_key()?;
        Self::unlock(volume, &secrets, access)
    }

    /// The same of one whose protection is suspended: it needs no secret.
    ///
    /// # Errors
    /// It can't be written, or its protection is not suspended.
    pub fn open_suspended(volume: &'a LockedVolume<'a>) -> Result<Self, Error> {
        medium::must_be_writable(&volume.path)?;
        Self::unlock(volume, &[], Access::ReadWrite).map_err(|error| match error {
            Error::At { error, .. } if matches!(*error, Error::BitLocker(BitLockerError::NoSecret(_))) => {
                volume.said(ChangeError::NotSuspended)
            }
            other => other,
        })
    }

    fn unlock(volume: &'a LockedVolume<'a>, secrets: &[Secret], access: Access) -> Result<Self, Error> {
        let store = if access == Access::ReadWrite { volume.to_change()? } else { volume.to_look()? };
        let request = bitlocker::UnlockRequest::new(secrets);
        let opened = bitlocker::unlock(&store, &request).map_err(|e| volume.said(e))?;
        let warnings = opened.warnings.iter().map(ToString::to_string).collect();
        Ok(Self { volume, store, keys: opened.opened, warnings })
    }

    /// What it has: identifiers and kinds.
    pub fn all(&self) -> impl Iterator<Item = (Guid, Protection)> + '_ {
        let entries = &self.keys.metadata.block().dataset.entries;
        entries.protectors().map(|p| (p.id, p.protection))
    }

    /// The protector of that identifier; its password without one.
    pub fn find(&self, id: Option<Guid>) -> Option<(Guid, Protection)> {
        self.all().find(|(own, kind)| id.map_or(*kind == Protection::Password, |id| *own == id))
    }

    /// Adds a protector, or puts it in the place of another one. Its file, if it has one, is written
    /// first: a protector whose secret nobody has would be worse than a file that opens nothing.
    ///
    /// # Errors
    /// The file exists or can't be written; there is no such protector, or one already; the metadata can't be written.
    pub fn put(
        &mut self,
        new: &NewSecret,
        replaces: Option<Guid>,
        to: Option<&Path>,
    ) -> Result<Added, Error> {
        let id = match replaces {
            Some(id) => id,
            None => Guid::random()?,
        };
        let file = new.write(id, to)?;
        let new_id = if let NewSecret::StartupKey(key) = new { key.id } else { id };
        let result = match replaces {
            Some(id) => self.keys.replace_protector(&self.store, id, &new.protector()),
            None => self.keys.add_protector(&self.store, id, &new.protector()),
        };
        let (id, warning) = in_force(result, new_id).map_err(|e| self.volume.said(e))?;
        let file = file.map(NewFile::keep);
        Ok(Added { id, kind: new.protector().protection(), file, warning })
    }

    /// Removes a protector. The last one only where that is what is wanted: nobody opens the volume again then.
    ///
    /// # Errors
    /// There is none of that identifier, it is the last one, or the metadata can't be written.
    pub fn remove(&mut self, id: Guid, last: LastProtector) -> Result<Left, Error> {
        self.keys.remove_protector(&self.store, id, last).map_err(|e| self.volume.said(e))?;
        let is_tpm = |(_, kind): (Guid, Protection)| kind.name().starts_with("tpm");
        Ok(if self.all().next().is_none() {
            Left::Secrets
        } else if self.all().all(|(_, kind)| kind == Protection::ClearKey) {
            Left::ClearKey
        } else if self.all().all(is_tpm) {
            Left::Tpm
        } else {
            Left::Secrets
        })
    }

    /// Its recovery passwords, or only the one of that identifier.
    pub fn recovery_passwords(&self, id: Option<Guid>) -> Vec<(Guid, RecoveryPassword)> {
        self.all()
            .filter(|(own, kind)| *kind == Protection::RecoveryPassword && id.is_none_or(|id| id == *own))
            .filter_map(|(own, _)| Some((own, self.keys.recovery_password(own)?)))
            .collect()
    }

    /// Suspends the protection: the volume opens without a secret. The identifier of its clear key.
    ///
    /// # Errors
    /// It is suspended already, or the metadata can't be written.
    pub fn suspend(&mut self) -> Result<Guid, Error> {
        self.keys.suspend(&self.store).map_err(|e| self.volume.said(e))
    }

    /// Ends that.
    ///
    /// # Errors
    /// It isn't suspended, nothing else would open it, or the metadata can't be written.
    pub fn resume(&mut self) -> Result<(), Error> {
        self.keys.resume(&self.store).map_err(|e| self.volume.said(e))
    }
}

/// Writes a recovery password to a new file in the words of Windows.
pub(crate) fn recovery_file(path: &Path, id: Guid, password: &RecoveryPassword) -> Result<NewFile, Error> {
    let mut file = NewFile::claim(path.to_owned())?;
    file.write_recovery(id, password)?;
    Ok(file)
}

/// A new secret that some copy of the metadata has is in force, even where another copy could not be
/// written: its owner must get it, with a warning.
pub(super) fn in_force(
    result: Result<Guid, ChangeError>,
    id: Guid,
) -> Result<(Guid, Option<RewriteError>), ChangeError> {
    match result {
        Err(ChangeError::Write(e @ RewriteError::Partly(_))) => Ok((id, Some(e))),
        other => other.map(|id| (id, None)),
    }
}
