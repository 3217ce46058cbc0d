//! Restores headers from backups, and the main header from the copy at the end.
//!
//! The header is encrypted anew, so that nobody can tell from the volume that it was restored. The copy that is most
//! likely broken is written first, then the other one.
//!
//! A system's header says how far the encryption had come when the backup was made: it is not restored over one that
//! says something else.

use super::change::{other_copy, rewrite, same_seal};
use super::change_error::ChangeError;
use super::create_header::{Seal, get};
use super::header::{Header, HeaderFault};
use super::header_location::{
    BACKUP_GROUP_BYTES, HEADER_BYTES, HEADER_SPACE_BYTES, HEADERS_BYTES, HeaderLocation,
};
use super::plain_sectors::Plain;
use super::unlock::{HeaderChoice, OpenedHeader, UnlockRequest, Unlocked, unlock};
use crate::info::Warning;
use crate::overlay::Overlay;
use crate::{VolumeError, inspect};
use keyway_engine::Layout;
use keyway_fs::Superblock;
use keyway_store::Store;
use std::path::Path;

/// Bytes of a backup: two header slots.
pub(crate) const BACKUP_BYTES: u64 = 2 * HEADER_SPACE_BYTES;

/// Bytes of a backup of a volume from before TrueCrypt 6.0: two headers.
pub(super) const OLD_BACKUP_BYTES: u64 = 2 * HEADER_BYTES as u64;

/// Bytes of a backup of an encrypted system: its header.
pub(super) const SYSTEM_BACKUP_BYTES: u64 = HEADER_BYTES as u64;

/// Where a header comes from.
#[derive(Debug, Clone, Copy)]
pub enum RestoreFrom<'a> {
    /// The copy at the end of the volume.
    Embedded,
    /// A backup file.
    File(&'a Path),
}

/// What to do when the volume has other master keys than the backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeysGuard {
    /// Refuse: the data could not be read any more.
    Same,
    /// Restore it all the same.
    Any,
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Whether it was a hidden volume's header.
    pub hidden: bool,
    /// The copies that were written, in order.
    pub places: Vec<HeaderLocation>,
    /// Bytes of the file or device, where the volume as the backup has it ends before that: it may have been larger.
    pub ends_before: Option<u64>,
}

/// Nobody has asked for the copy alone: that is no advice.
fn not_narrowed(error: VolumeError) -> VolumeError {
    match error {
        VolumeError::WrongSecret { argon2id_skipped, looks, mut narrowed, has_metadata } => {
            narrowed.retain(|what| *what != "header");
            VolumeError::WrongSecret { argon2id_skipped, looks, narrowed, has_metadata }
        }
        error => error,
    }
}

/// What it means that no copy is at the end: where there may be a header in front, it is a volume all the same.
fn blank_copy(store: &dyn Store, error: VolumeError) -> ChangeError {
    let is_volume = || inspect(store).is_ok_and(|seen| seen.not_a_volume.is_none());
    match error {
        VolumeError::NotAVolume(_) if is_volume() => ChangeError::BlankCopy,
        other => other.into(),
    }
}

/// What it means that the copy at the end does not open: the header in front tells whether the secret is wrong.
fn unopened_copy(store: &dyn Store, in_front: &UnlockRequest<'_>, error: VolumeError) -> ChangeError {
    if !matches!(error, VolumeError::WrongSecret { .. }) {
        return blank_copy(store, error);
    }
    match unlock(store, in_front) {
        Ok(opened) if opened.warnings.contains(&Warning::NoBackupHeaders) => ChangeError::CopyCutOff,
        Ok(_) => ChangeError::DamagedCopy,
        Err(VolumeError::WrongSecret { .. } | VolumeError::NotAVolume(_)) => ChangeError::NeitherOpens(error),
        Err(cut @ VolumeError::DamagedHeader { fault: HeaderFault::BeyondEnd { .. }, .. }) => cut.into(),
        Err(VolumeError::DamagedHeader { fault, .. }) => ChangeError::BothDamaged(fault),
        Err(other) => other.into(),
    }
}

/// What it means that a backup's volume ends behind the medium: that was cut where its own header says the same, and else the
/// backup is another volume's.
fn of_another_size(store: &dyn Store, own: &UnlockRequest<'_>, error: VolumeError) -> ChangeError {
    let ends = |error: &VolumeError| match error {
        VolumeError::DamagedHeader { fault: HeaderFault::BeyondEnd { end, .. }, .. } => Some(*end),
        _ => None,
    };
    let Some(end) = ends(&error) else {
        return match error {
            wrong @ VolumeError::WrongSecret { .. } => ChangeError::NotInBackup(wrong),
            other => other.into(),
        };
    };
    match unlock(store, own) {
        Err(cut) if ends(&cut) == Some(end) => error.into(),
        _ => {
            let (backup, present) = (end.saturating_add(BACKUP_GROUP_BYTES), store.size());
            ChangeError::OtherVolumesSize { backup, present }
        }
    }
}

/// Restores the header that the secret of `request` opens in the backup: the outer volume's or the
/// hidden one's. The secret is the one at the time of the backup, and opens the volume from then
/// on. From a file both copies are written; the embedded copy restores the main header only.
///
/// # Errors
/// The backup does not open, or describes a volume that does not fit; the volume has other master
/// keys than the backup; the medium failed, in which case the error says what opens the volume.
pub fn header_restore(
    store: &dyn Store,
    from: RestoreFrom<'_>,
    request: &UnlockRequest<'_>,
    guard: KeysGuard,
) -> Result<Restored, ChangeError> {
    let (unlocked, places) = tried(store, from, request, guard)?;
    let opened = unlocked.opened();
    let password = request.secrets.header_password(opened.header.format)?;
    rewrite(store, &opened.header, &same_seal(opened, &password), &places)?;
    Ok(restored(store, opened, places))
}

/// What [`header_restore`] would write. Nothing is written.
///
/// # Errors
/// As [`header_restore`], but for the medium's failures to be written.
pub fn header_to_restore(
    store: &dyn Store,
    from: RestoreFrom<'_>,
    request: &UnlockRequest<'_>,
    guard: KeysGuard,
) -> Result<Restored, ChangeError> {
    let (unlocked, places) = tried(store, from, request, guard)?;
    Ok(restored(store, unlocked.opened(), places))
}

fn restored(store: &dyn Store, opened: &OpenedHeader, places: Vec<HeaderLocation>) -> Restored {
    let end = HEADERS_BYTES.saturating_add(opened.header.volume_bytes).saturating_add(BACKUP_GROUP_BYTES);
    // By less no volume gets another size.
    let more = |bytes: &u64| end.saturating_add(BACKUP_GROUP_BYTES) <= *bytes;
    let ends_before = can_be_resized(opened).then(|| largest(store, opened)).filter(more);
    Restored { hidden: opened.place.is_hidden(), places, ends_before }
}

/// The most bytes that a volume can have there, in whole sectors.
fn largest(store: &dyn Store, opened: &OpenedHeader) -> u64 {
    let sector = u64::from(opened.header.sector_bytes.max(1));
    store.size() / sector * sector
}

/// Whether it is of a volume that may have been made larger since: neither a hidden one, nor a system, nor an old one.
fn can_be_resized(opened: &OpenedHeader) -> bool {
    let header = &opened.header;
    !opened.place.is_hidden()
        && opened.place != HeaderLocation::System
        && header.has_sizes()
        && header.encrypted_start == HEADERS_BYTES
}

/// What the secret opens in the backup, and where that goes.
fn tried(
    store: &dyn Store,
    from: RestoreFrom<'_>,
    request: &UnlockRequest<'_>,
    guard: KeysGuard,
) -> Result<(Unlocked, Vec<HeaderLocation>), ChangeError> {
    let alone = |header, system| UnlockRequest { header, system, protect_hidden: None, ..*request };
    let unlocked = match from {
        RestoreFrom::Embedded if request.system => return Err(ChangeError::NoCopy),
        RestoreFrom::Embedded => unlock(store, &alone(HeaderChoice::Backup, false))
            .map_err(not_narrowed)
            .map_err(|e| unopened_copy(store, &alone(HeaderChoice::Primary, false), e))?,
        RestoreFrom::File(path) => {
            let backup = read_backup(path)?;
            let system = backup.len() as u64 == SYSTEM_BACKUP_BYTES;
            if system && request.system_header.is_some() {
                return Err(ChangeError::SystemElsewhere);
            }
            let own = alone(HeaderChoice::Primary, system);
            unlock(&with_backup(store, backup), &own)
                .map_err(not_narrowed)
                .map_err(|e| of_another_size(store, &own, e))?
        }
    };
    let opened = unlocked.opened();
    let password = request.secrets.header_password(opened.header.format)?;
    let seal = same_seal(opened, &password);
    let copy = other_copy(opened, store.size())?;
    let places = match from {
        RestoreFrom::Embedded => vec![copy.ok_or(ChangeError::NoCopy)?],
        RestoreFrom::File(_) => [opened.place].into_iter().chain(copy).collect(),
    };
    if guard == KeysGuard::Same {
        let from_outside = matches!(from, RestoreFrom::File(_)) && opened.place != HeaderLocation::System;
        let has_its_keys = refuse_other_keys(store, opened, &seal, &places, from_outside)?;
        // With other keys there is no file system. Where none of the volume's headers opens, it alone tells its size.
        if from_outside && !has_its_keys && can_be_resized(opened) {
            refuse_too_small(store, opened, &unlocked.layout)?;
        }
        if from_outside && !has_its_keys && !shows_a_file_system(store, &unlocked.layout) {
            return Err(ChangeError::NothingShown);
        }
    }
    Ok((unlocked, places))
}

/// Whether the master keys of a backup make a file system of the data: that is how they show that it is theirs, where no
/// header does.
fn shows_a_file_system(store: &dyn Store, layout: &Layout) -> bool {
    Superblock::read(&Plain { store, layout }).is_ok_and(|found| found.is_some())
}

/// Refuses a size that the file system has outgrown: it would end behind the volume, and nothing mounts it.
fn refuse_too_small(store: &dyn Store, opened: &OpenedHeader, layout: &Layout) -> Result<(), ChangeError> {
    // What can't be read is told by whoever reads it next.
    let found = Superblock::read(&Plain { store, layout }).ok().flatten();
    let (backup, present) = (opened.header.volume_bytes, largest(store, opened));
    let behind = |claims: &u64| (backup + 1..=present).contains(claims);
    match found.and_then(|found| found.claims).filter(behind) {
        Some(filesystem) => Err(ChangeError::FilesReachFurther { backup, filesystem, present }),
        None => Ok(()),
    }
}

/// A header that still opens with the secret says which master keys the data has, and how much of it there is: a backup from
/// before a resize has its keys. Whether there is one.
fn refuse_other_keys(
    store: &dyn Store,
    opened: &OpenedHeader,
    seal: &Seal<'_>,
    places: &[HeaderLocation],
    from_outside: bool,
) -> Result<bool, ChangeError> {
    // The copy at the end is one of the volume's headers itself, and a system's extent is looked at below.
    let (mut opens, mut fits, mut now) = (false, !from_outside, 0);
    for place in places {
        let Some(offset) = place.offset(store.size()) else { continue };
        // A header that can't be read is what a restore is for.
        let there = match get(store, offset) {
            Ok(sealed) => seal.open(&sealed)?,
            Err(_) => None,
        };
        let same = |there: &Header| there.key_area.same_as(&opened.header.key_area);
        if there.as_ref().is_some_and(|there| !same(there)) {
            return Err(ChangeError::OtherMasterKeys);
        }
        if *place == HeaderLocation::System {
            refuse_other_extent(&opened.header, there.as_ref())?;
        }
        if let Some(there) = there {
            let extent = |header: &Header| {
                [
                    header.encrypted_start,
                    header.encrypted_bytes,
                    header.volume_bytes,
                    header.sector_bytes.into(),
                ]
            };
            opens = true;
            fits |= extent(&there) == extent(&opened.header);
            now = there.volume_bytes;
        }
    }
    match opens && !fits {
        true => Err(ChangeError::OtherSize { backup: opened.header.volume_bytes, now }),
        false => Ok(opens),
    }
}

/// A system's header says how far its encryption has come, and no other place does.
fn refuse_other_extent(backup: &Header, drive: Option<&Header>) -> Result<(), ChangeError> {
    let extent = |header: &Header| header.encrypted_bytes.min(header.volume_bytes);
    let expected = drive.map_or(backup.volume_bytes, extent);
    if extent(backup) == expected {
        return Ok(());
    }
    Err(ChangeError::OtherExtent { backup: extent(backup), drive: drive.map(extent) })
}

fn read_backup(path: &Path) -> Result<Vec<u8>, ChangeError> {
    check_backup(path)?;
    std::fs::read(path).map_err(|source| ChangeError::BackupFile { path: path.to_owned(), source })
}

/// Whether a file has the length of a backup: more can't be seen in noise.
///
/// # Errors
/// It has another, or isn't there.
pub fn check_backup(path: &Path) -> Result<(), ChangeError> {
    let failed = |source| ChangeError::BackupFile { path: path.to_owned(), source };
    let bytes = path.metadata().map_err(failed)?.len();
    if ![BACKUP_BYTES, OLD_BACKUP_BYTES, SYSTEM_BACKUP_BYTES].contains(&bytes) {
        return Err(ChangeError::NotABackup { path: path.to_owned(), bytes });
    }
    Ok(())
}

/// The volume as it would be with the headers of a backup file.
fn with_backup(below: &dyn Store, backup: Vec<u8>) -> Overlay<'_> {
    if backup.len() as u64 == BACKUP_BYTES {
        return Overlay::new(below, vec![(0, backup)]);
    }
    if backup.len() as u64 == SYSTEM_BACKUP_BYTES {
        return Overlay::new(below, vec![(HeaderLocation::SYSTEM_OFFSET, backup)]);
    }
    let (outer, hidden) = backup.split_at(backup.len().min(HEADER_BYTES));
    let mut patches = vec![(0, outer.to_vec())];
    if let Some(offset) = HeaderLocation::OldHidden.offset(below.size()) {
        patches.push((offset, hidden.to_vec()));
    }
    Overlay::new(below, patches)
}
