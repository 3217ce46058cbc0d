//! Moves a volume's metadata within the file system that it lies in, so that the file system can end before it.
//!
//! The new places are free clusters, which the file system is kept off first, as an encryption does; then the
//! metadata moves ([`Resizable::relocate`]); then the old ones are given back, where they were bad clusters.
//! A cut before the metadata moves leaves clusters that are marked and belong to nobody; one after it leaves the old
//! ones so. The file system's own records of them are written without a journal, as its own tools do.

use super::metadata_space::map;
use crate::ConvertError;
use keyway_engine::{Access, Device};
use keyway_error::Advice;
use keyway_fs::allocation::{Allocation, AllocationError};
use keyway_store::Store;
use keyway_volume::bitlocker::{MetadataLocations, Resizable, SPARE_BYTES};
use std::ops::Range;
use std::sync::Arc;

/// Where the metadata could go in a file system that is to end at `end`. Nothing is written.
///
/// # Errors
/// There is no room, or the file system has no clusters that can be kept from it, or was not left in order.
pub fn place_below(
    store: &Arc<dyn Store>,
    volume: &Resizable,
    end: u64,
) -> Result<MetadataLocations, ConvertError> {
    Ok(found(store, volume, end)?.1)
}

fn found(
    store: &Arc<dyn Store>,
    volume: &Resizable,
    end: u64,
) -> Result<(Allocation, MetadataLocations), ConvertError> {
    let map = map(&inside(store, volume, Access::ReadOnly)?)?;
    let mut map = map.filter(Allocation::can_reserve).ok_or(ConvertError::Unsupported(
        "the metadata lies behind the new end, in a file system that can't be kept off another place for it",
        Advice::EncryptAnew,
    ))?;
    map.keep_below(end);
    let places = MetadataLocations::inside(&mut map, end, volume.boot_bytes())?;
    let fits = places.copies.iter().chain([&places.boot_backup]).all(|at| *at < end);
    if fits { Ok((map, places)) } else { Err(AllocationError::NoRoom.into()) }
}

/// Moves it there.
///
/// # Errors
/// As [`place_below`]; or the medium failed.
pub fn relocate_below(store: &Arc<dyn Store>, volume: &mut Resizable, end: u64) -> Result<(), ConvertError> {
    let (map_before, places) = found(store, volume, end)?;
    let before = inside(store, volume, Access::ReadWrite)?;
    map_before.mark(&before)?;
    before.flush()?;
    let mut old: Vec<Range<u64>> = volume.taken().into();
    volume.relocate(store, &places)?;
    // The first sectors' place and the spare bytes behind it were kept off in one piece.
    old.extend(old.last().map(|boot| boot.end..boot.end.saturating_add(SPARE_BYTES)));
    old.sort_by_key(|range| range.start);
    let after = inside(store, volume, Access::ReadWrite)?;
    if let Some(mut map) = map(&after)? {
        map.release(&after, &old)?;
    }
    Ok(after.flush()?)
}

/// Makes an NTFS's mirror agree with its MFT, where a cut of [`relocate_below`] has left it behind: its own tools refuse it
/// otherwise. Says whether it did.
///
/// # Errors
/// The file system's map can't be read; or the medium failed.
pub fn mend(store: &Arc<dyn Store>, volume: &Resizable) -> Result<bool, ConvertError> {
    let inside = inside(store, volume, Access::ReadWrite)?;
    let Some(map) = map(&inside)? else { return Ok(false) };
    let mended = map.mend(&inside)?;
    inside.flush()?;
    Ok(mended)
}

fn inside(store: &Arc<dyn Store>, volume: &Resizable, access: Access) -> Result<Device, ConvertError> {
    Ok(Device::new(Box::new(store.clone()), volume.layout(store.size())?, access)?)
}
