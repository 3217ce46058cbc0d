//! Makes a hidden volume in the free space of another one.
//!
//! VeraCrypt's rules: a hidden volume of SIZE bytes begins SIZE bytes before the backup headers,
//! and leaves the last 4,096 bytes of that (131,072 from 2 MiB on) to the outer file system, which
//! may write there without harm (`GetVolumeDataAreaSize` and `VolumeDataStart` of VeraCrypt's
//! volume creation, checked with volumes it made). Only the hidden volume's own two header slots and its data area
//! are written: whatever happens, the outer volume still opens.

use super::create::{Created, Fill, Keyed, NewVolume, Note, SMALLEST_VOLUME, created, fill, whole_sectors};
use super::create_error::{CreateError, NoOuter};
use super::header_location::{BACKUP_GROUP_BYTES, HEADERS_BYTES, HeaderLocation};
use super::outer_files::{self, Files};
use super::params::{Format, HashName};
use super::random::Noise;
use super::search_pace::KeyWatch;
use super::unlock::{UnlockRequest, Unlocked, opens_one, unlock};
use crate::{Progress, Secrets};
use keyway_store::Store;
use std::ops::Range;

/// From this size on more is left at the end (`TC_VOLUME_SMALL_SIZE_THRESHOLD`).
const SMALL: u64 = 2 << 20;

/// What a small hidden volume leaves to the outer file system at the end.
const LEFT_BY_SMALL: u64 = 4096;

/// What a larger one leaves.
const LEFT_BY_LARGE: u64 = BACKUP_GROUP_BYTES;

/// The smallest hidden volume: what it leaves, and nine sectors of 4,096 bytes.
pub(crate) const SMALLEST_HIDDEN_VOLUME: u64 = LEFT_BY_SMALL + 9 * 4096;

/// The largest hidden volume that fits into a file or device of `store_bytes`, if its outer file
/// system were empty.
pub(crate) fn largest_hidden_volume(store_bytes: u64) -> u64 {
    store_bytes.saturating_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES)
}

/// Makes a hidden volume of `size` bytes inside the volume in `store`; a hidden volume that is
/// there already is lost. Its data area is a little smaller than `size`.
///
/// `outer` opens the outer volume, to check that it can hold a hidden one and that nothing of its file system lies there;
/// without it nothing is checked. [`Fill::Quick`] is enough where the outer volume was filled with random bytes.
///
/// # Errors
/// It does not fit, the outer volume can't hold one, the wishes can't be granted, or the medium
/// failed. The outer volume opens as before; free space of it may have been overwritten.
pub fn create_hidden(
    store: &dyn Store,
    size: u64,
    new: &NewVolume<'_>,
    outer: Option<&Secrets>,
    progress: &dyn Progress,
) -> Result<Created, CreateError> {
    create_hidden_in(store, size, new, outer.map(|outer| (outer, None)), false, progress)
}

/// The same where files of the outer volume may be lost.
///
/// # Errors
/// As [`create_hidden`], but for the files.
pub fn create_hidden_over(
    store: &dyn Store,
    size: u64,
    new: &NewVolume<'_>,
    outer: Option<&Secrets>,
    progress: &dyn Progress,
) -> Result<Created, CreateError> {
    create_hidden_in(store, size, new, outer.map(|outer| (outer, None)), true, progress)
}

/// The one or the other: files of the outer volume may be lost where `over_files` says so, and its key derivation need not be
/// looked for where its hash is known.
///
/// # Errors
/// As [`create_hidden`] and [`create_hidden_over`].
pub fn create_hidden_in(
    store: &dyn Store,
    size: u64,
    new: &NewVolume<'_>,
    outer: Option<(&Secrets, Option<HashName>)>,
    over_files: bool,
    progress: &dyn Progress,
) -> Result<Created, CreateError> {
    let opened = |(outer, hash)| check_outer(store, &UnlockRequest { hash, ..UnlockRequest::new(outer) });
    let unlocked = outer.map(opened).transpose()?;
    outer.map_or(Ok(()), |(outer, _)| refuse_same_secret(outer, new.secrets))?;
    let sector_bytes = unlocked.as_ref().map_or(store.sector_bytes(), |outer| outer.info.sector_bytes);
    whole_sectors(size, sector_bytes)?;
    let data = data_range(store.size(), size)?;
    let note = match &unlocked {
        None => Some(Note::OuterNotOpened),
        Some(outer) => match refuse_over_files(store, outer, size, &data) {
            Err(CreateError::OuterFiles { .. } | CreateError::OuterUnknown { .. }) if over_files => {
                Some(Note::OuterFilesLost)
            }
            checked => checked?,
        },
    };
    let keyed = Keyed::new(new)?;
    let header = keyed.header(data.clone(), sector_bytes, true)?;
    if new.fill == Fill::Random {
        fill(store, data, &mut Noise::new()?, progress)?;
        store.flush()?;
    }
    keyed.finish(store, &header, [HeaderLocation::BackupHidden, HeaderLocation::Hidden], progress)?;
    let mut made = created(store, &header, keyed.suite, new)?;
    made.notes.push(Note::Protect);
    made.notes.extend(note);
    Ok(made)
}

/// Whether the volume that this secret and key derivation open can hold a hidden one of so many bytes, over nothing that its file
/// system uses unless that may be lost: before anyone thinks of the hidden one's secret.
///
/// # Errors
/// As [`create_hidden`], or [`create_hidden_over`] with `over_files`, but of the new volume's secret.
pub fn check_hidden(
    store: &dyn Store,
    size: u64,
    (outer, hash): (&Secrets, HashName),
    over_files: bool,
) -> Result<(), CreateError> {
    let request = UnlockRequest { hash: Some(hash), ..UnlockRequest::new(outer) };
    let outer = check_outer(store, &request)?;
    whole_sectors(size, outer.info.sector_bytes)?;
    let data = data_range(store.size(), size)?;
    if over_files { Ok(()) } else { refuse_over_files(store, &outer, size, &data).map(drop) }
}

/// Refuses a hidden volume whose data would lie where the outer one's file system has something, or may have.
fn refuse_over_files(
    store: &dyn Store,
    outer: &Unlocked,
    size: u64,
    data: &Range<u64>,
) -> Result<Option<Note>, CreateError> {
    let at = outer.info.data_offset;
    let end = match outer_files::files(store, &outer.layout, data.end.saturating_sub(at))? {
        Files::End(end) => at.saturating_add(end),
        Files::NoFileSystem => return Ok(Some(Note::OuterFilesUnknown)),
        Files::Unknown(kind, why) => return Err(CreateError::OuterUnknown { kind, why }),
    };
    if data.start >= end {
        return Ok(None);
    }
    let unit = u64::from(outer.info.sector_bytes).max(1);
    // A small one leaves less at the end, so what is free for a large one may not be for it.
    let most = store.size().saturating_sub(BACKUP_GROUP_BYTES).saturating_sub(end) / unit * unit;
    Err(CreateError::OuterFiles { size, most: if most < SMALLEST_HIDDEN_VOLUME { 0 } else { most } })
}

/// Whether a hidden volume can have so many bytes in a volume of so many, headers included, and the room that is in it then.
///
/// # Errors
/// One of them is too small, or the hidden one too large.
pub fn check_hidden_size(volume_bytes: u64, size: u64) -> Result<u64, CreateError> {
    data_range(volume_bytes, size).map(|data| data.end - data.start)
}

/// Where the data of a hidden volume of `size` bytes lies.
fn data_range(store_bytes: u64, size: u64) -> Result<Range<u64>, CreateError> {
    if store_bytes < SMALLEST_VOLUME {
        return Err(CreateError::TooSmall { size: store_bytes, least: SMALLEST_VOLUME });
    }
    // The data area is counted in units of 512 bytes from the beginning of the store.
    whole_sectors(store_bytes, 512)?;
    if size < SMALLEST_HIDDEN_VOLUME {
        return Err(CreateError::TooSmall { size, least: SMALLEST_HIDDEN_VOLUME });
    }
    let most = largest_hidden_volume(store_bytes);
    if size > most {
        return Err(CreateError::HiddenTooLarge { size, most });
    }
    let left = if size < SMALL { LEFT_BY_SMALL } else { LEFT_BY_LARGE };
    let end = store_bytes - BACKUP_GROUP_BYTES;
    Ok(end - size..end - left)
}

/// Opens the outer volume.
fn check_outer(store: &dyn Store, outer: &UnlockRequest<'_>) -> Result<Unlocked, CreateError> {
    let unlocked = unlock(store, outer)?;
    let info = &unlocked.info;
    let no = |reason| Err(CreateError::NoOuter(reason));
    if info.hidden {
        no(NoOuter::IsHidden)
    } else if info.system {
        no(NoOuter::IsSystem)
    } else if !unlocked.opened().header.has_sizes() {
        no(NoOuter::OldLayout)
    } else if info.data_offset.saturating_add(info.data_bytes)
        != store.size().saturating_sub(BACKUP_GROUP_BYTES)
    {
        no(NoOuter::Resized)
    } else {
        Ok(unlocked)
    }
}

/// With the same secret only the outer volume would ever open.
///
/// # Errors
/// [`CreateError::SameSecret`]; or a keyfile's bytes are too many for this machine.
pub fn refuse_same_secret(outer: &Secrets, hidden: &Secrets) -> Result<(), CreateError> {
    let pim = |secrets: &Secrets| secrets.pim.filter(|pim| *pim > 0);
    let mixed = hidden.header_password(Format::VeraCrypt)?;
    if pim(outer) == pim(hidden) && outer.header_password(Format::VeraCrypt)?.same_as(&mixed) {
        return Err(CreateError::SameSecret);
    }
    Ok(())
}

/// Refuses the place where this secret opens a hidden volume already: whoever has forgotten it would lose what is in it. One of
/// another secret nobody can tell from noise.
///
/// # Errors
/// [`CreateError::HiddenThere`]; or the medium failed.
pub fn refuse_hidden_there(
    store: &dyn Store,
    secret: &Secrets,
    watch: &dyn KeyWatch,
) -> Result<(), CreateError> {
    let request = UnlockRequest { watch, ..UnlockRequest::new(secret) };
    // The copy at the end would take as long again.
    if opens_one(store, &request, |place| place.is_hidden() && !place.is_backup())? {
        Err(CreateError::HiddenThere)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_lies_where_veracrypt_puts_it() {
        // hidden-same.hc of VeraCrypt 1.23: 1 MiB outside, --size=256K inside, 258,048 of data.
        let range = data_range(1 << 20, 256 << 10).expect("fits");
        assert_eq!(range.start, (1 << 20) - 131_072 - 262_144);
        assert_eq!(range.end - range.start, 258_048);
        let range = data_range(8 << 20, 2 << 20).expect("fits");
        assert_eq!(range.end - range.start, (2 << 20) - 131_072);
        assert_eq!(data_range(8 << 20, (8 << 20) - 262_144).expect("fits").start, 131_072);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(matches!(
            data_range(1 << 20, (1 << 20) - 262_144 + 512),
            Err(CreateError::HiddenTooLarge { most, .. }) if most == (1 << 20) - 262_144
        ));
        assert!(matches!(data_range(1 << 20, 40_448), Err(CreateError::TooSmall { least: 40_960, .. })));
        assert!(matches!(data_range(200_000, 40_960), Err(CreateError::TooSmall { .. })));
        assert!(matches!(data_range((1 << 20) + 1, 40_960), Err(CreateError::NotWholeSectors { .. })));
    }
}
