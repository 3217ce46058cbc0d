//! Bytes of a medium, read and written wherever they lie.

use super::error::AllocationError;
use crate::fields;
use keyway_store::{AlignedBuf, Store};
use std::ops::Range;

/// The largest map that is read: one of 2^32 clusters and more, as much as NTFS and exFAT can have.
pub const LARGEST_MAP: u64 = 1 << 30;

/// Pages are read and written whole, as direct I/O wants it.
pub(super) const PAGE: u64 = 4096;

/// A field as [`fields::number`] reads it; 0 past the end of what was read, which no caller lets a field lie.
pub(super) fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    fields::number::<N>(bytes, at).unwrap_or(0)
}

/// Puts bytes at a place; what lies outside is left out.
pub(super) fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    if let Some(slot) = at.checked_add(field.len()).and_then(|end| bytes.get_mut(at..end)) {
        slot.copy_from_slice(field);
    }
}

/// Refuses what is too large to be held in memory.
pub(super) fn length(bytes: u64) -> Result<usize, AllocationError> {
    let small = usize::try_from(bytes).ok().filter(|n| *n as u64 <= LARGEST_MAP);
    small.ok_or(AllocationError::Damaged("a map of more than 1 GiB"))
}

/// The pages around a range of the medium, up to its end.
fn pages(store: &dyn Store, at: u64, len: u64) -> Result<(u64, AlignedBuf), AllocationError> {
    let outside = AllocationError::Damaged("a place outside of the medium");
    let Some(end) = at.checked_add(len).filter(|end| *end <= store.size()) else { return Err(outside) };
    let first = at / PAGE * PAGE;
    let last = end.next_multiple_of(PAGE).min(store.size());
    Ok((first, AlignedBuf::zeroed(length(last - first)?)))
}

/// Reads some bytes, wherever they are.
pub(super) fn read(store: &dyn Store, at: u64, len: u64) -> Result<Vec<u8>, AllocationError> {
    let (first, mut buf) = pages(store, at, len)?;
    store.read_at(&mut buf, first)?;
    let skip = (at - first) as usize;
    Ok(buf.get(skip..skip + length(len)?).unwrap_or_default().to_vec())
}

/// Writes some bytes, wherever they are, and leaves those around them.
pub(super) fn write(store: &dyn Store, at: u64, bytes: &[u8]) -> Result<(), AllocationError> {
    let (first, mut buf) = pages(store, at, bytes.len() as u64)?;
    store.read_at(&mut buf, first)?;
    put(&mut buf, (at - first) as usize, bytes);
    Ok(store.write_at(&buf, first)?)
}

/// Some entries of a table, changed together: `entries` are the bytes of those from number `first` on.
pub(super) fn change_entries(
    store: &dyn Store,
    at: u64,
    clusters: &Range<u64>,
    entry: &[u8],
) -> Result<(), AllocationError> {
    let width = entry.len() as u64;
    let count = usize::try_from(clusters.end - clusters.start).unwrap_or_default();
    write(store, at + clusters.start * width, &entry.repeat(count))
}

/// The runs among `wanted` whose entries in the table at `at` say that they are bad.
pub(super) fn bad_entries(
    store: &dyn Store,
    at: u64,
    wanted: &[Range<u64>],
    bad: &[u8],
) -> Result<Vec<Range<u64>>, AllocationError> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let width = bad.len() as u64;
    for clusters in wanted {
        let entries = read(store, at + clusters.start * width, (clusters.end - clusters.start) * width)?;
        for (cluster, entry) in clusters.clone().zip(entries.chunks_exact(bad.len())) {
            if entry != bad {
                continue;
            }
            match found.last_mut() {
                Some(run) if run.end == cluster => run.end += 1,
                Some(run) if run.contains(&cluster) => {}
                _ => found.push(cluster..cluster + 1),
            }
        }
    }
    Ok(found)
}
