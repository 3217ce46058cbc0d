//! Headers for a volume that is encrypted in place.

use super::area::Area;
use super::create::{Keyed, LARGEST_VOLUME, NewVolume, SMALLEST_VOLUME, whole_sectors};
use super::create_error::CreateError;
use super::header_location::{BACKUP_GROUP_BYTES, HEADERS_BYTES, HeaderLocation};
use super::sealed::SealedHeader;
use crate::VolumeError;
use keyway_engine::Layout;

/// New headers, not yet written anywhere.
pub struct FreshHeaders {
    /// The primary header and its backup, each under a salt of its own.
    pub sealed: [SealedHeader; 2],
    /// Where the volume's sectors will be.
    pub layout: Layout,
}

/// Makes the headers of a normal volume over the whole of a store of that size, with new master keys.
///
/// # Errors
/// The size, the cipher, the hash or the secrets can't be used.
pub fn fresh_headers(
    new: &NewVolume<'_>,
    store_bytes: u64,
    sector_bytes: u32,
) -> Result<FreshHeaders, CreateError> {
    if store_bytes < SMALLEST_VOLUME {
        return Err(CreateError::TooSmall { size: store_bytes, least: SMALLEST_VOLUME });
    }
    if store_bytes > LARGEST_VOLUME {
        return Err(CreateError::TooLarge { size: store_bytes, most: LARGEST_VOLUME });
    }
    whole_sectors(store_bytes, sector_bytes)?;
    let keyed = Keyed::new(new)?;
    let header = keyed.header(HEADERS_BYTES..store_bytes - BACKUP_GROUP_BYTES, sector_bytes, false)?;
    let sealed = keyed.seal(&header)?;
    let damaged = |fault| VolumeError::DamagedHeader { place: HeaderLocation::Primary, fault };
    let area = Area::of(&header, HeaderLocation::Primary, keyed.suite.mode, store_bytes).map_err(damaged)?;
    let layout = area.layout(sector_bytes, keyed.suite.cipher(&header.key_area)?)?;
    Ok(FreshHeaders { sealed, layout })
}
