//! A backup of a header in a new file.

use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::secrets::{PasswordSource, Subject, Wanted, one_standard_input};
use crate::unlock::Family;
use keyway_volume::bitlocker::{self, HeaderBackup};
use keyway_volume::veracrypt;
use std::path::Path;

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackedUp {
    /// Of which volumes.
    pub family: Family,
    /// The file's length.
    pub bytes: u64,
    /// Whether the hidden volume's header is in it, too.
    pub hidden: bool,
    /// What the volume's owner should know.
    pub warnings: Vec<String>,
}

/// Writes a volume's header to a new file. With `hidden`, the hidden volume's as well; its secret comes from there.
///
/// A BitLocker volume needs no secret for that: its metadata lies open but for its keys.
///
/// # Errors
/// The volume can't be read or opened; the file exists, or can't be written and is removed again.
pub fn backup(
    volume: &LockedVolume<'_>,
    file: &Path,
    hidden: Option<&PasswordSource>,
) -> Result<BackedUp, Error> {
    match super::family(volume)? {
        Family::BitLocker if hidden.is_some() => Err(Misuse::NoHidden.into()),
        Family::BitLocker => of_bitlocker(volume, file),
        Family::VeraCrypt => of_veracrypt(volume, file, hidden),
    }
}

fn of_bitlocker(volume: &LockedVolume<'_>, file: &Path) -> Result<BackedUp, Error> {
    let store = volume.to_look()?;
    let seen = bitlocker::look(&store).map_err(|e| volume.said(e))?;
    let warnings = seen.warnings.iter().map(ToString::to_string).collect();
    let written = HeaderBackup::take(&store, &seen.metadata).and_then(|backup| backup.write(file));
    let bytes = written.map_err(|e| volume.said(e))?;
    Ok(BackedUp { family: Family::BitLocker, bytes, hidden: false, warnings })
}

fn of_veracrypt(
    volume: &LockedVolume<'_>,
    file: &Path,
    hidden: Option<&PasswordSource>,
) -> Result<BackedUp, Error> {
    one_standard_input([Some(&volume.sources.password), hidden].into_iter().flatten())?;
    let secret = volume.veracrypt_key()?;
    let inner = Subject::Hidden(volume.path.clone());
    let hidden = hidden.map(|source| source.read(Wanted::Password, &inner, volume.secrets)).transpose()?;
    let store = volume.to_look()?;
    let drive = volume.system_drive()?;
    let request = volume.arguments.veracrypt_request(&secret, None, drive.as_ref());
    let done = veracrypt::header_backup(&store, &request, hidden.as_ref(), file);
    let done = done.map_err(|e| volume.said(e))?;
    Ok(BackedUp { family: Family::VeraCrypt, bytes: done.bytes, hidden: done.hidden, warnings: Vec::new() })
}
