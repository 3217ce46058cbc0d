//! A medium that has another size than when its conversion began: copied to a larger drive, or cut.

use crate::bitlocker::BitLockerMarker;
use crate::cross_format::CrossFormatMarker;
use crate::{ConvertError, MARKER_BYTES, VeraCryptMarker};
use keyway_store::{AlignedBuf, Store};

/// Refuses a medium in front of which the marker of a conversion stands that began on one of another size: nothing can be
/// computed from it as long as that is so, and nobody may take the medium for noise.
///
/// # Errors
/// [`ConvertError::Size`] with both; or the medium failed.
pub fn must_have_its_size(store: &dyn Store) -> Result<(), ConvertError> {
    let present = store.size();
    if present < MARKER_BYTES as u64 {
        return Ok(());
    }
    let mut front = AlignedBuf::zeroed(MARKER_BYTES);
    store.read_at(&mut front, 0)?;
    let size = VeraCryptMarker::size_in(&front)
        .or_else(|| BitLockerMarker::size_in(&front))
        .or_else(|| CrossFormatMarker::size_in(&front));
    match size {
        Some(expected) if expected != present => Err(ConvertError::Size { expected, present }),
        _ => Ok(()),
    }
}
