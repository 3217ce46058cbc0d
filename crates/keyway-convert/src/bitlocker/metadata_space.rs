//! Where a medium has space for BitLocker's metadata: behind its file system, or in clusters that this can spare.

use super::marker::PAGE;
use crate::ConvertError;
use keyway_fs::allocation::{Allocation, AllocationError};
use keyway_store::Store;
use keyway_volume::bitlocker::{BOOT_BYTES, MetadataLocations, SPARE_BYTES};
use keyway_volume::overlay::Overlay;

/// How far a file system without clusters to spare may reach on a medium of that size.
pub fn content_capacity(store_bytes: u64) -> u64 {
    MetadataLocations::at_the_end(store_bytes, BOOT_BYTES).start
}

/// Whether the file system on a medium has clusters to spare for the metadata. Nothing is written.
///
/// # Errors
/// The medium failed, or the file system is damaged or was not left in order.
pub fn has_room_within(store: &dyn Store) -> Result<bool, ConvertError> {
    let Some(mut map) = map(store)?.filter(Allocation::can_reserve) else { return Ok(false) };
    match within(store, &mut map) {
        Ok(_) => Ok(true),
        Err(e) if is_too_full(&e) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether that is about room in a file system, which other bytes may have.
pub(super) fn is_too_full(error: &ConvertError) -> bool {
    let ConvertError::Allocation(error) = error else { return false };
    matches!(error, AllocationError::NoRoom | AllocationError::Unsupported(_))
}

/// Pages of a medium: where, and what is to be there.
pub(super) type Pages = Vec<(u64, Vec<u8>)>;

/// Places among free clusters, and the pages of the file system that keep it off them.
pub(super) fn within(
    store: &dyn Store,
    map: &mut Allocation,
) -> Result<(MetadataLocations, Pages), ConvertError> {
    let places = MetadataLocations::inside(map, store.size(), BOOT_BYTES)?;
    let patched = Overlay::new(store, vec![]);
    map.mark(&patched)?;
    let pages = patched.pages()?;
    let whole = pages.iter().all(|(_, page)| page.len() as u64 == PAGE);
    if pages.len() as u64 * PAGE > SPARE_BYTES || !whole {
        return Err(AllocationError::Unsupported("too scattered").into());
    }
    Ok((places, pages))
}

/// The map of the file system on a medium, where it is one that can be read.
///
/// # Errors
/// The medium failed, or the file system is damaged or was not left in order.
pub fn map(store: &dyn Store) -> Result<Option<Allocation>, ConvertError> {
    match Allocation::read(store) {
        Ok(map) => Ok(Some(map)),
        Err(AllocationError::Unknown | AllocationError::Unsupported(_)) => Ok(None),
        Err(e) => Err(e.into()),
    }
}
