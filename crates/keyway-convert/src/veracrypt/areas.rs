//! What lies where on a medium that has, had, or will have a VeraCrypt volume.

use crate::ConvertError;
use crate::journal::{RECORD_BYTES, SLOTS, Slot, SlotTable, segment_bytes};
use crate::marker::{MARKER_BYTES, tail};
use keyway_volume::veracrypt::{BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, Noise, SealedHeader};

/// A page: what records, markers and parked pages have.
pub(super) const PAGE: u64 = MARKER_BYTES as u64;

/// What keeps the first bytes of a file system while the marker is there, and what is moved up: as much
/// as the headers need.
pub(super) const HEAD: u64 = HEADERS_BYTES;

/// How large a file system may be that is to be encrypted on a medium of that size.
pub fn content_capacity(store_bytes: u64, on_medium: bool) -> u64 {
    let journal = if on_medium { SLOTS as u64 * segment_bytes(store_bytes) } else { 0 };
    (store_bytes.saturating_sub(BACKUP_GROUP_BYTES + HEADERS_BYTES + HEAD + journal)) / PAGE * PAGE
}

pub(crate) fn none() -> SealedHeader {
    SealedHeader::from_bytes([0; HEADER_BYTES])
}

/// Where the last 128 KiB begin.
pub(crate) fn end_group(size: u64) -> u64 {
    size.saturating_sub(BACKUP_GROUP_BYTES)
}

/// Where the first record lies on the medium.
pub(super) fn first_record(size: u64) -> u64 {
    tail(size).saturating_sub((SLOTS * RECORD_BYTES) as u64)
}

/// Where the first head lies on the medium, of an encryption whose records are all there: before the list of what is
/// moved, where there may be one.
pub(super) fn first_head(size: u64) -> u64 {
    list_at(size).saturating_sub((SLOTS * RECORD_BYTES) as u64)
}

/// Two slots in the little room of the header areas.
pub(super) fn two_slots(size: u64, segments: [u64; 2], segment_bytes: u64) -> SlotTable {
    let records = [first_record(size), first_record(size) + PAGE];
    let slots = records.into_iter().zip(segments).map(|(record, segment)| Slot { record, segment });
    let place = SlotTable { slots: slots.collect(), segment_bytes, whole: false, heads: vec![] };
    place.with_heads(first_record(size) + 2 * PAGE)
}

/// A journal in a file, with its heads where the records would be on the medium.
pub(super) fn in_a_file(size: u64) -> SlotTable {
    SlotTable::in_a_file(segment_bytes(size)).with_heads(first_record(size))
}

/// Bytes of the list of what is moved.
pub(super) const LIST_BYTES: u64 = 16 << 10;

/// Where the list is.
pub(super) fn list_at(size: u64) -> u64 {
    first_record(size).saturating_sub(LIST_BYTES)
}

/// A header with noise behind it.
pub(crate) fn header_page(header: &SealedHeader, len: u64) -> Result<Vec<u8>, ConvertError> {
    let mut page = noise(len)?;
    for (to, from) in page.iter_mut().zip(header.bytes()) {
        *to = *from;
    }
    Ok(page)
}

pub(crate) fn noise(len: u64) -> Result<Vec<u8>, ConvertError> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    Noise::new()?.fill(&mut bytes);
    Ok(bytes)
}
