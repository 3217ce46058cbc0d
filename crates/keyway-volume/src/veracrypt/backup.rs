//! Header backups, to a file as VeraCrypt writes and reads it.
//!
//! A backup file holds the normal volume's header at byte 0 and the hidden volume's at 65,536, each
//! encrypted anew under a fresh salt; everything else in its 131,072 bytes is random, also in place
//! of a hidden volume's header that is not there (VeraCrypt's documentation, "Tools → Backup
//! Volume Header"). Volumes from before TrueCrypt 6.0 have backups of 1,024 bytes, 512 for each.
//!
//! The backup of an encrypted system is the header alone, 512 bytes: the form of `svh_bak` on
//! VeraCrypt's rescue disk.

use super::change::{header_is_here, same_seal};
use super::change_error::ChangeError;
use super::create_error::CreateError;
use super::create_target::{Existing, Space, Target};
use super::header_location::{HEADER_BYTES, HEADER_SPACE_BYTES, HeaderLocation};
use super::random::Noise;
use super::restore::{BACKUP_BYTES, OLD_BACKUP_BYTES, SYSTEM_BACKUP_BYTES};
use super::unlock::{UnlockRequest, Unlocked, unlock};
use crate::{ReadBack, Secrets, VolumeError};
use keyway_store::Store;
use std::path::Path;

/// What is in a new backup file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackedUp {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Whether the hidden volume's header is in it.
    pub hidden: bool,
}

/// Writes a backup of the header that `request` opens, and of the hidden volume's if its secret is
/// given, to a new file that only its owner may read.
///
/// # Errors
/// A secret is wrong or opens the other volume; the file exists or could not be written, in which
/// case it is removed.
pub fn header_backup(
    store: &dyn Store,
    request: &UnlockRequest<'_>,
    hidden: Option<&Secrets>,
    to: &Path,
) -> Result<BackedUp, ChangeError> {
    let outer = unlock(store, request)?;
    header_is_here(outer.opened(), request)?;
    let system = outer.opened().place == HeaderLocation::System;
    if outer.info.hidden {
        return Err(ChangeError::IsHidden);
    }
    if system && hidden.is_some() {
        return Err(ChangeError::NotHidden);
    }
    let mut headers = vec![(outer, request.secrets)];
    if let Some(secrets) = hidden {
        let inner = unlock(store, &UnlockRequest::new(secrets)).map_err(|error| match error {
            wrong @ VolumeError::WrongSecret { .. } => ChangeError::HiddenSecret(wrong),
            other => other.into(),
        })?;
        if !inner.info.hidden {
            return Err(ChangeError::NotHidden);
        }
        headers.push((inner, secrets));
    }
    let has_slots = headers.iter().any(|(volume, _)| volume.opened().header.has_sizes());
    let (bytes, slot) = match (system, has_slots) {
        (true, _) => (SYSTEM_BACKUP_BYTES, 0),
        (false, true) => (BACKUP_BYTES, HEADER_SPACE_BYTES),
        (false, false) => (OLD_BACKUP_BYTES, HEADER_BYTES as u64),
    };
    let target = Target::new_file(to, bytes, Existing::Refuse, Space::Reserved)?;
    let mut content = vec![0u8; bytes as usize];
    Noise::new().map_err(CreateError::from)?.fill(&mut content);
    for ((volume, secrets), at) in headers.iter().zip([0, slot]) {
        seal_into(&mut content, volume, secrets, at)?;
    }
    ReadBack::new(target.store()).put(&content, 0).map_err(CreateError::from)?;
    target.keep()?;
    Ok(BackedUp { bytes, hidden: headers.len() > 1 })
}

/// Seals a header once more into what the backup file will be, and proves that it opens.
fn seal_into(content: &mut [u8], volume: &Unlocked, secrets: &Secrets, at: u64) -> Result<(), ChangeError> {
    let opened = volume.opened();
    let password = secrets.header_password(opened.header.format)?;
    let seal = same_seal(opened, &password);
    let [sealed] = seal.fresh(&opened.header)?;
    for (to, from) in content.iter_mut().skip(at as usize).zip(sealed.bytes()) {
        *to = *from;
    }
    Ok(seal.prove(&sealed, &opened.header)?)
}
