//! The volume that a conversion begins with: whether it can be converted, its cipher and its header.

use super::areas::end_group;
use crate::ConvertError;
use crate::step::Keyed;
use keyway_engine::{Layout, Mapping};
use keyway_error::Advice;
use keyway_store::Store;
use keyway_volume::veracrypt::{BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, SealedHeader, Unlocked};

/// The smallest file or device of a volume that can be converted: the parts that change places must not overlap.
pub const SMALLEST_CONVERTED: u64 = LEAST_DATA + HEADERS_BYTES + BACKUP_GROUP_BYTES;

const LEAST_DATA: u64 = 4 * HEADERS_BYTES;

/// The data area's size, of a normal volume that fills its file or device.
pub(crate) fn whole_volume(opened: &Unlocked, size: u64) -> Result<u64, ConvertError> {
    let info = &opened.info;
    if info.system {
        return Err(ConvertError::Unsupported(
            "an encrypted system can't be converted",
            Advice::CopyReadOnly,
        ));
    }
    if info.hidden {
        return Err(ConvertError::Unsupported("this is a hidden volume", Advice::OnlyOuter));
    }
    let whole = info.data_offset == HEADERS_BYTES
        && info.data_bytes >= LEAST_DATA
        && info.data_offset.checked_add(info.data_bytes) == Some(end_group(size));
    if whole && info.data_bytes.is_multiple_of(u64::from(info.sector_bytes)) {
        Ok(info.data_bytes)
    } else {
        Err(ConvertError::Unsupported(
            "only volumes that fill their file or device, with headers at both ends, can be converted",
            Advice::CopyReadOnly,
        ))
    }
}

/// The header that opened, as it lies on the medium.
pub(crate) fn header_of(store: &dyn Store, opened: &Unlocked) -> Result<SealedHeader, ConvertError> {
    let at = opened.info.header_used.offset(store.size()).unwrap_or_default();
    let mut bytes = [0; HEADER_BYTES];
    store.read_at(&mut bytes, at)?;
    Ok(SealedHeader::from_bytes(bytes))
}

/// The one cipher of a volume's one segment.
pub(crate) fn key_of(layout: &Layout) -> Result<Keyed, ConvertError> {
    match layout.segments() {
        [segment] => match &segment.mapping {
            Mapping::Encrypted { first_unit, cipher, .. } => {
                Ok(Keyed { cipher: cipher.clone(), first_unit: *first_unit })
            }
            Mapping::Plain { .. } | Mapping::Zero => {
                Err(ConvertError::Unsupported(WHOLE, Advice::CopyReadOnly))
            }
        },
        _ => Err(ConvertError::Unsupported(WHOLE, Advice::CopyReadOnly)),
    }
}

const WHOLE: &str = "only volumes that are encrypted throughout can be converted";
