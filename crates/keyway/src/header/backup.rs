//! A backup of a header in a new file.

use super::family::family;
use crate::description::named;
use crate::detect::must_be_noise;
use crate::error::{Error, Misuse};
use crate::key_file::must_take_files;
use crate::locked::LockedVolume;
use crate::log_file;
use crate::secrets::{PasswordSource, Subject, Wanted, one_standard_input};
use crate::shown::shown;
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_volume::bitlocker::{self, HeaderBackup};
use keyway_volume::veracrypt::{self, CreateError};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A header that is to be written to a new file. Nothing has been written yet, and nobody asked for a secret.
#[derive(Serialize)]
#[non_exhaustive]
pub struct BackupPlan<'a> {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its format's family.
    pub format: Family,
    /// The new file.
    #[serde(with = "path_text")]
    pub file: PathBuf,
    /// The hidden volume's header goes into it, too.
    pub hidden: bool,
    #[serde(skip)]
    locked: &'a LockedVolume<'a>,
    #[serde(skip)]
    inner: Option<PasswordSource>,
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BackedUp {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Of which volumes.
    #[serde(skip)]
    pub format: Family,
    /// The file.
    #[serde(with = "path_text")]
    pub file: PathBuf,
    /// The file's length.
    pub bytes: u64,
    /// Whether the hidden volume's header is in it, too.
    pub hidden: bool,
    /// What the volume's owner should know.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Plans to write a volume's header to a new file. With `hidden`, the hidden volume's as well; its secret comes from
/// there.
///
/// # Errors
/// The volume can't be read, or has no hidden one; or the file exists.
pub fn backup<'a>(
    volume: &'a LockedVolume<'a>,
    file: &Path,
    hidden: Option<PasswordSource>,
) -> Result<BackupPlan<'a>, Error> {
    let format = family(volume)?;
    if format == Family::BitLocker && hidden.is_some() {
        return Err(Misuse::NoHidden.into());
    }
    if format == Family::VeraCrypt {
        must_be_noise(&volume.path, &volume.arguments)?;
    }
    if file.symlink_metadata().is_ok() {
        return Err(CreateError::Exists(file.to_owned()).into());
    }
    one_standard_input(std::iter::once(&volume.sources.password).chain(&hidden))?;
    must_take_files(file)?;
    let (path, file) = (volume.path.clone(), file.to_owned());
    Ok(BackupPlan { volume: path, format, file, hidden: hidden.is_some(), locked: volume, inner: hidden })
}

impl BackupPlan<'_> {
    /// Writes it. A BitLocker volume needs no secret for that: its metadata lies open but for its keys.
    ///
    /// # Errors
    /// The volume can't be read or opened; the file exists, or can't be written and is removed again.
    pub fn run(self) -> Result<BackedUp, Error> {
        let path = self.volume.clone();
        log_file::step(
            "header backup",
            &path,
            || self.save(),
            |saved| format!("{} bytes in {}", saved.bytes, shown(&saved.file)),
        )
    }

    fn save(self) -> Result<BackedUp, Error> {
        let (bytes, hidden, warnings) = match self.format {
            Family::BitLocker => self.of_bitlocker()?,
            Family::VeraCrypt => self.of_veracrypt()?,
        };
        Ok(BackedUp { volume: self.volume, format: self.format, file: self.file, bytes, hidden, warnings })
    }

    fn of_bitlocker(&self) -> Result<(u64, bool, Vec<String>), Error> {
        let volume = self.locked;
        let store = volume.to_look()?;
        let seen = bitlocker::look(&store).map_err(|e| volume.said(e))?;
        let warnings = named(&seen.warnings, &volume.path);
        let written = HeaderBackup::take(&store, &seen.metadata).and_then(|backup| backup.write(&self.file));
        Ok((written.map_err(|e| volume.said(e))?, false, warnings))
    }

    fn of_veracrypt(&self) -> Result<(u64, bool, Vec<String>), Error> {
        let volume = self.locked;
        let secret = volume.veracrypt_key()?;
        let inner = Subject::Hidden(volume.path.clone());
        let hidden = self.inner.as_ref().map(|source| source.read(Wanted::Password, &inner, volume.secrets));
        let hidden = hidden.transpose()?;
        let store = volume.to_look()?;
        let drive = volume.system_drive()?;
        let request = volume.arguments.veracrypt_request(&secret, None, drive.as_ref(), &volume.progress);
        let done = veracrypt::header_backup(&store, &request, hidden.as_ref(), &self.file);
        let done = done.map_err(|e| volume.said(e))?;
        Ok((done.bytes, done.hidden, Vec::new()))
    }
}
