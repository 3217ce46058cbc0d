//! What shall open a new BitLocker volume, and the files that its keys are written to.

use crate::error::{Error, Misuse};
use crate::key_file::{NewKeyFile, must_be_new, must_take_files_in};
use crate::secrets::{PasswordSource, SecretFrom, Secrets, Subject, Wanted};
use keyway_attach::path_text;
use keyway_volume::bitlocker::{
    Block, CreateError, Guid, NewProtectors, Protection, RecoveryPassword, StartupKey, check_password,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What shall open a new BitLocker volume. As it is made: a password, and a recovery password that is shown at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProtectorOptions {
    /// A password is set.
    pub password: bool,
    /// A recovery password is made.
    pub recovery_password: bool,
    /// It goes to this new file, and is not shown.
    #[serde(with = "path_text")]
    pub recovery_file: Option<PathBuf>,
    /// A startup key is made, and its file goes into this folder.
    #[serde(with = "path_text")]
    pub startup_key_folder: Option<PathBuf>,
}

impl Default for ProtectorOptions {
    fn default() -> Self {
        Self { password: true, recovery_password: true, recovery_file: None, startup_key_folder: None }
    }
}

impl ProtectorOptions {
    /// Whether it is as volumes have it where nobody says otherwise.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a recovery password will be shown when all is done, since it goes into no file; and whether nothing else opens
    /// the volume then.
    pub fn told_once(&self) -> Option<bool> {
        let shown = self.recovery_password && self.recovery_file.is_none();
        shown.then_some(!self.password && self.startup_key_folder.is_none())
    }

    /// What can be refused before anyone types a password. `source` is where that comes from.
    ///
    /// # Errors
    /// What was named doesn't go together, or nothing would open the volume.
    pub fn check(&self, path: &Path, source: &PasswordSource) -> Result<(), Error> {
        if !source.keyfiles.is_empty() || source.pim.is_some() {
            return Err(Misuse::NewKeyfiles.into());
        }
        if !self.password && source.password.is_some() {
            return Err(Misuse::PasswordAndNone.into());
        }
        if !self.password && !self.recovery_password && self.startup_key_folder.is_none() {
            return Err(Error::from(CreateError::NoProtector).at(path));
        }
        if let Some(from @ SecretFrom::File(file)) = &source.password
            && file.is_file()
        {
            must_be_taken(path, &from.read()?)?;
        }
        self.startup_key_folder.as_deref().map_or(Ok(()), must_take_files_in)?;
        self.recovery_file.as_deref().map_or(Ok(()), must_be_new)
    }

    /// The same for a volume that is made in place of what is there: whatever interrupts that, its keys must be known.
    ///
    /// # Errors
    /// As [`ProtectorOptions::check`]; or nobody would know a key before the end.
    pub fn check_in_place(&self, path: &Path, source: &PasswordSource) -> Result<(), Error> {
        self.check(path, source)?;
        if !self.password && self.recovery_file.is_none() && self.startup_key_folder.is_none() {
            return Err(Misuse::RecoveryShownAtTheEnd.into());
        }
        Ok(())
    }

    /// Makes what is to open the volume; a password that was not named is asked for.
    ///
    /// # Errors
    /// Nobody answers, or there are no random numbers.
    pub fn make(
        &self,
        source: &PasswordSource,
        path: &Path,
        subject: &Subject,
        secrets: &dyn Secrets,
    ) -> Result<NewProtectors, Error> {
        let password = self.password.then(|| source.read(Wanted::NewBitLockerPassword, subject, secrets));
        let password = password.transpose()?.map(|secret| secret.password);
        password.as_deref().map_or(Ok(()), |password| must_be_taken(path, password))?;
        let recovery = self.recovery_password.then(RecoveryPassword::random);
        let recovery = recovery.transpose().map_err(CreateError::from)?;
        let startup_key = self.startup_key_folder.as_ref().map(|_| StartupKey::random());
        let startup_key = startup_key.transpose().map_err(CreateError::from)?;
        Ok(NewProtectors { password, recovery, startup_key })
    }

    /// Makes the files that the keys will be written to, empty: before the volume, whose keys must be kept.
    ///
    /// # Errors
    /// One exists, or can't be made.
    pub fn claim_files(&self, protectors: &NewProtectors) -> Result<KeyFiles, Error> {
        KeyFiles::claim(self.recovery_file.as_deref(), self.startup_key_folder.as_deref(), protectors)
    }
}

/// Refuses a password that Windows does not take: before anything is made for it.
fn must_be_taken(path: &Path, password: &[u8]) -> Result<(), Error> {
    let refused = |e| Error::from(CreateError::Protector(e)).at(path);
    check_password(password).map_err(refused)
}

/// The identifier of a new volume's protector of this kind.
pub fn protector_id(block: &Block, protection: Protection) -> Option<Guid> {
    block.dataset.entries.protectors().find(|p| p.protection == protection).map(|p| p.id)
}

/// The files that keys are written to; removed again when no volume comes of it.
#[derive(Default)]
pub struct KeyFiles {
    recovery: Option<NewKeyFile>,
    startup_key: Option<NewKeyFile>,
}

impl KeyFiles {
    /// Makes them, empty.
    ///
    /// # Errors
    /// One exists, or can't be made.
    pub fn claim(
        recovery_file: Option<&Path>,
        startup_key_folder: Option<&Path>,
        protectors: &NewProtectors,
    ) -> Result<Self, Error> {
        let mut files = Self::default();
        if let Some(path) = recovery_file {
            files.recovery = Some(NewKeyFile::claim(path.to_owned())?);
        }
        if let (Some(folder), Some(key)) = (startup_key_folder, &protectors.startup_key) {
            files.startup_key = Some(NewKeyFile::claim_startup_key(folder, key)?);
        }
        Ok(files)
    }

    /// Writes the keys, and puts them on the medium.
    ///
    /// # Errors
    /// One can't be written.
    pub fn write(&mut self, protectors: &NewProtectors, block: &Block) -> Result<(), Error> {
        let id = protector_id(block, Protection::RecoveryPassword);
        if let (Some(file), Some(recovery), Some(id)) = (&mut self.recovery, &protectors.recovery, id) {
            file.write_recovery(id, recovery)?;
        }
        if let (Some(file), Some(key)) = (&mut self.startup_key, &protectors.startup_key) {
            file.write_startup_key(key)?;
        }
        Ok(())
    }

    /// They stay; where the startup key is.
    pub fn keep(self) -> Option<PathBuf> {
        self.recovery.map(NewKeyFile::keep);
        self.startup_key.map(NewKeyFile::keep)
    }
}
