//! The protectors of a BitLocker volume.

use super::name::ProtectorName;
use crate::description::named;
use crate::detect::{look_at_bitlocker, must_be_noise};
use crate::disk::Part;
use crate::error::{Error, Misuse};
use crate::key_file::{NewKeyFile, must_be_new};
use crate::locked::LockedVolume;
use crate::searching::Searched;
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_engine::Access;
use keyway_secret::SecretBytes;
use keyway_volume::bitlocker::{
    self, BitLockerError, ChangeError, Guid, NewProtector, OpenedKeys, Protection, RecoveryPassword,
    RewriteError, Secret, StartupKey,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The protectors of a BitLocker volume that opened.
pub struct Protectors<'a> {
    pub(super) volume: &'a LockedVolume<'a>,
    pub(super) store: Part,
    pub(super) keys: OpenedKeys,
    /// What the volume's owner should know.
    pub warnings: Vec<String>,
}

/// A secret to be set.
pub(super) enum NewSecret {
    /// A password.
    Password(SecretBytes),
    /// A recovery password.
    Recovery(RecoveryPassword),
    /// A startup key.
    StartupKey(StartupKey),
}

/// A protector that is in force now.
pub(super) struct Added {
    pub(super) id: Guid,
    pub(super) kind: Protection,
    /// The file that its secret is in, if it is in one.
    pub(super) file: Option<PathBuf>,
    /// A copy of the metadata that could not be written.
    pub(super) warning: Option<RewriteError>,
}

impl NewSecret {
    fn protector(&self) -> NewProtector<'_> {
        match self {
            Self::Password(password) => NewProtector::Password(password),
            Self::Recovery(recovery) => NewProtector::RecoveryPassword(recovery),
            Self::StartupKey(key) => NewProtector::StartupKey(key),
        }
    }

    /// The file that its owner keeps it in: a new one for a recovery password, one in a folder for a startup key.
    fn write(&self, id: Guid, to: Option<&Path>) -> Result<Option<NewKeyFile>, Error> {
        match (self, to) {
            (Self::StartupKey(key), Some(folder)) => {
                let mut file = NewKeyFile::claim_startup_key(folder, key)?;
                file.write_startup_key(key)?;
                Ok(Some(file))
            }
            (Self::Recovery(recovery), Some(path)) => recovery_file(path, id, recovery).map(Some),
            _ => Ok(None),
        }
    }
}

impl<'a> Protectors<'a> {
    /// Opens the volume, to look at its recovery passwords, or at the one of that name. One may be to go to that new file.
    ///
    /// # Errors
    /// It is no BitLocker volume, can't be read, or nothing that was named or answered opens it; there is no such recovery
    /// password, or there can't be that file.
    pub fn look(
        volume: &'a LockedVolume<'a>,
        name: Option<&ProtectorName>,
        to: Option<&Path>,
    ) -> Result<Self, Error> {
        only_bitlocker(volume)?;
        to.map_or(Ok(()), must_be_new)?;
        must_have_recovery(volume, name, to.is_some())?;
        Self::open(volume, Access::ReadOnly)
    }

    /// The same, or to change what opens it.
    pub(super) fn open(volume: &'a LockedVolume<'a>, access: Access) -> Result<Self, Error> {
        if access == Access::ReadWrite {
            volume.must_be_free(Access::ReadWrite)?;
        }
        let secrets = volume.bitlocker_key()?;
        Self::unlock(volume, &secrets, access)
    }

    /// The same of one whose protection is suspended: it needs no secret.
    pub(super) fn open_suspended(volume: &'a LockedVolume<'a>) -> Result<Self, Error> {
        volume.must_be_free(Access::ReadWrite)?;
        Self::unlock(volume, &[], Access::ReadWrite).map_err(|error| match error {
            Error::At { error, .. } if matches!(*error, Error::BitLocker(BitLockerError::NoSecret(_))) => {
                volume.said(ChangeError::NotSuspended)
            }
            other => other,
        })
    }

    fn unlock(volume: &'a LockedVolume<'a>, secrets: &[Secret], access: Access) -> Result<Self, Error> {
        let store = if access == Access::ReadWrite { volume.to_change()? } else { volume.to_look()? };
        let opened = {
            // One whose first sector is lost is read by what is left of it, and not changed.
            let search = access == Access::ReadOnly && volume.arguments.searches();
            let request = bitlocker::UnlockRequest { search, ..bitlocker::UnlockRequest::new(secrets) };
            let searched = Searched::new(&store, volume.progress);
            let opened = bitlocker::unlock(&searched, &request).map_err(Error::from);
            searched.unless_stopped(opened).map_err(|e| volume.said(e))?
        };
        let warnings = named(&opened.warnings, &volume.path);
        Ok(Self { volume, store, keys: opened.opened, warnings })
    }

    /// What it has: identifiers and kinds.
    pub fn all(&self) -> impl Iterator<Item = (Guid, Protection)> + '_ {
        let entries = &self.keys.metadata.block().dataset.entries;
        entries.protectors().map(|p| (p.id, p.protection))
    }

    /// The protector of that identifier; its password without one.
    pub(super) fn find(&self, id: Option<Guid>) -> Option<(Guid, Protection)> {
        self.all().find(|(own, kind)| id.map_or(*kind == Protection::Password, |id| *own == id))
    }

    /// Adds a protector, or puts it in the place of another one. Its file, if it has one, is written
    /// first: a protector whose secret nobody has would be worse than a file that opens nothing.
    pub(super) fn put(
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
        let file = file.map(NewKeyFile::keep);
        Ok(Added { id, kind: new.protector().protection(), file, warning })
    }

    /// Its recovery passwords, or only the one of that name.
    ///
    /// # Errors
    /// There is none, or there are several of that name.
    pub fn recovery_passwords(
        &self,
        name: Option<&ProtectorName>,
    ) -> Result<Vec<(Guid, RecoveryPassword)>, Error> {
        let id = name.map(|name| name.among(&self.volume.path, self.all())).transpose()?;
        let found: Vec<_> = self
            .all()
            .filter(|(own, kind)| *kind == Protection::RecoveryPassword && id.is_none_or(|id| id == *own))
            .filter_map(|(own, _)| Some((own, self.keys.recovery_password(own)?)))
            .collect();
        match found.is_empty() {
            true => Err(Error::NoRecoveryPassword(self.volume.path.clone())),
            false => Ok(found),
        }
    }

    /// Writes its one recovery password, or the one of that name, to a new file in the words of Windows.
    ///
    /// # Errors
    /// There is none, or several; the file exists or can't be written.
    pub fn save_recovery_password(
        &self,
        name: Option<&ProtectorName>,
        file: &Path,
    ) -> Result<SavedRecovery, Error> {
        let path = &self.volume.path;
        match self.recovery_passwords(name)?.as_slice() {
            [(id, password)] => {
                let file = recovery_file(file, *id, password)?.keep();
                Ok(SavedRecovery { volume: path.clone(), id: *id, file })
            }
            all => Err(Misuse::SeveralRecoveryPasswords { path: path.clone(), number: all.len() }.into()),
        }
    }
}

/// A recovery password that is in a file now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SavedRecovery {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// The protector.
    pub id: Guid,
    /// The file.
    #[serde(with = "path_text")]
    pub file: PathBuf,
}

/// Writes a recovery password to a new file in the words of Windows.
pub(crate) fn recovery_file(path: &Path, id: Guid, password: &RecoveryPassword) -> Result<NewKeyFile, Error> {
    let mut file = NewKeyFile::claim(path.to_owned())?;
    file.write_recovery(id, password)?;
    Ok(file)
}

/// Refuses what the metadata tells before anyone types a secret: that there is no recovery password, none of that name, or
/// several where one is to be saved. Of a volume whose metadata has to be looked for, whoever opens it tells.
fn must_have_recovery(
    volume: &LockedVolume<'_>,
    name: Option<&ProtectorName>,
    saved: bool,
) -> Result<(), Error> {
    let path = &volume.path;
    if volume.arguments.searches() {
        return Ok(());
    }
    let Ok(seen) = look_at_bitlocker(path, &volume.arguments, volume.progress) else { return Ok(()) };
    let all = || seen.info.key_protectors.iter().map(|protector| (protector.id, protector.kind));
    let id = name.map(|name| name.among(path, all())).transpose()?;
    let is_meant = |(own, kind): &(Guid, Protection)| {
        *kind == Protection::RecoveryPassword && id.is_none_or(|id| id == *own)
    };
    match all().filter(is_meant).count() {
        0 => Err(Error::NoRecoveryPassword(path.clone())),
        number @ 2.. if saved => Err(Misuse::SeveralRecoveryPasswords { path: path.clone(), number }.into()),
        _ => Ok(()),
    }
}

/// Refuses other volumes, which have one secret, to be changed.
///
/// # Errors
/// It is no BitLocker volume, plainly no volume at all, or can't be looked at.
pub fn only_bitlocker(volume: &LockedVolume<'_>) -> Result<(), Error> {
    match volume.family()? {
        Family::BitLocker => Ok(()),
        Family::VeraCrypt => {
            must_be_noise(&volume.path, &volume.arguments)?;
            Err(Misuse::OneSecret(volume.path.clone()).into())
        }
    }
}

/// A new secret that some copy of the metadata has is in force, even where another copy could not be
/// written, and one that a copy may have may be: its owner must get it, with a warning.
pub(super) fn in_force(
    result: Result<Guid, ChangeError>,
    id: Guid,
) -> Result<(Guid, Option<RewriteError>), ChangeError> {
    match result {
        Err(ChangeError::Write(e @ (RewriteError::Partly(_) | RewriteError::Unsure(_)))) => Ok((id, Some(e))),
        other => other.map(|id| (id, None)),
    }
}
