//! Used space only: which stretches of a file system are moved into its volume, where that is written down
//! for as long as it goes on, and what becomes of everything else.
//!
//! ```text
//! the list, in the last 128 KiB, just before the journal's records; integers little-endian
//! offset size
//!      0    8  "KEYWAYUS"
//!      8    8  how many stretches
//!     16   16  the conversion's identifier
//!     32   16  of each stretch: its first byte in the file system, and the byte behind its last one
//!  16380    4  CRC-32 of the 16380 bytes before
//! ```

use super::areas::{HEAD, LIST_BYTES, PAGE, end_group, list_at};
use super::plan::VeraCryptPlan;
use crate::ConvertError;
use crate::careful::CarefulStore;
use crate::free_space::FreeSpace;
use crate::marker::VeraCryptMarker;
use crate::ranges::{far_apart, without};
use keyway_error::Advice;
use keyway_fs::allocation::{Allocation, AllocationError};
use keyway_store::{AlignedBuf, Store, StoreError};
use keyway_volume::veracrypt::HEADERS_BYTES;
use std::ops::Range;

const MAGIC: [u8; 8] = *b"KEYWAYUS";
const COUNT_AT: usize = 8;
const HEADER: usize = 32;

/// Stretches that it has room for.
pub(crate) const MOST_STRETCHES: usize = (LIST_BYTES as usize - HEADER - 4) / 16;

/// Free bytes between two used ones that are moved with them: that takes no longer than the flushes with which
/// a stretch of its own begins. More where there would be too many stretches.
const SMALLEST_GAP: u64 = 1 << 20;

/// The stretches of the file system on a medium that are in use below `moved`: whole pages, in order.
///
/// # Errors
/// Its map can't be read, or it was not left in order; the medium failed.
pub fn used_stretches(store: &dyn Store, moved: u64) -> Result<Vec<Range<u64>>, ConvertError> {
    let map = match Allocation::read(store) {
        Err(AllocationError::Unknown | AllocationError::Unsupported(_)) => {
            return Err(ConvertError::Unsupported(
                "the map of this file system can't be read here, so its free space can't be told",
                Advice::ConvertAllSpace,
            ));
        }
        map => map?,
    };
    let mut gap = SMALLEST_GAP;
    loop {
        let stretches = whole_pages(&map.used(moved, gap), moved);
        if stretches.len() <= MOST_STRETCHES {
            return Ok(stretches);
        }
        gap = gap.saturating_mul(2);
    }
}

/// The same ranges made larger to whole pages, those that then meet joined.
fn whole_pages(ranges: &[Range<u64>], end: u64) -> Vec<Range<u64>> {
    let mut pages: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        let (start, end) = (range.start / PAGE * PAGE, range.end.next_multiple_of(PAGE).min(end));
        match pages.last_mut() {
            Some(last) if last.end >= start => last.end = last.end.max(end),
            _ if start < end => pages.push(start..end),
            _ => {}
        }
    }
    pages
}

/// What is done to the space that nothing was moved to.
pub(super) struct Rest {
    /// Overwritten with noise.
    pub(super) filled: Vec<Range<u64>>,
    /// Discarded after that.
    pub(super) trimmed: Vec<Range<u64>>,
}

impl VeraCryptPlan {
    /// The same encryption, of these stretches of the file system alone: whole pages of it, in order, no more than
    /// [`MOST_STRETCHES`]. Nothing is written.
    ///
    /// # Errors
    /// The stretches can't be these.
    pub fn of_used(mut self, stretches: Vec<Range<u64>>, free: FreeSpace) -> Result<Self, ConvertError> {
        if !possible(&stretches, self.marker.moved) {
            return Err(ConvertError::Unsupported(
                "the used stretches of the file system can't be these",
                Advice::RunChecker,
            ));
        }
        self.marker.used = Some(free);
        self.stretches = Some(stretches);
        Ok(self)
    }

    /// What is moved after the first 128 KiB, which always are, in order.
    pub(super) fn stretches(&self) -> Vec<Range<u64>> {
        let all = HEAD..self.marker.moved;
        if self.marker.used.is_none() {
            return std::iter::once(all).collect();
        }
        let cut = |range: &Range<u64>| range.start.max(all.start)..range.end.min(all.end);
        let inside = self.stretches.iter().flatten().map(cut);
        let inside = inside.filter(|range| range.start < range.end);
        if self.marker.free_is_new { far_apart(inside, HEAD) } else { inside.collect() }
    }

    /// What is done to all that nothing was moved to.
    pub(super) fn rest(&self) -> Rest {
        let (m, end) = (&self.marker, end_group(self.marker.size));
        if m.free_is_new {
            // Where anything was moved away from, something else has its place.
            return Rest { filled: std::iter::once(self.parks()..end).collect(), trimmed: vec![] };
        }
        let stretches = self.stretches();
        let up = |range: &Range<u64>| range.start + HEADERS_BYTES..range.end + HEADERS_BYTES;
        let targets: Vec<_> =
            std::iter::once(HEADERS_BYTES..HEADERS_BYTES + HEAD).chain(stretches.iter().map(up)).collect();
        let volume = HEADERS_BYTES..end;
        let free = without(std::slice::from_ref(&volume), &targets);
        // What was moved away must not stay where it was, whatever becomes of the rest.
        let mut left_behind = without(&stretches, &targets);
        left_behind.push(m.park..end);
        match m.used {
            None | Some(FreeSpace::Fill) => Rest { filled: free, trimmed: vec![] },
            Some(FreeSpace::Leave) => Rest { filled: left_behind, trimmed: vec![] },
            Some(FreeSpace::Trim) => Rest { filled: left_behind, trimmed: free },
        }
    }

    /// Bytes of the medium that are written, in order; all that there are where nothing is left out.
    pub fn written(&self) -> Vec<Range<u64>> {
        let size = self.marker.size;
        if self.marker.used.is_none_or(|free| free == FreeSpace::Fill) {
            return std::iter::once(0..size).collect();
        }
        let moved = self.stretches().into_iter().map(|range| range.start..range.end + HEADERS_BYTES);
        let (front, end) = (0..HEADERS_BYTES + HEAD, self.parks()..size);
        std::iter::once(front).chain(moved).chain([end]).collect()
    }

    /// Writes the list down. Does not flush.
    pub(super) fn write_list(&self, store: &dyn Store) -> Result<(), ConvertError> {
        let Some(stretches) = &self.stretches else { return Ok(()) };
        let mut page = AlignedBuf::zeroed(LIST_BYTES as usize);
        page.copy_from_slice(&to_bytes(stretches, &self.marker.id));
        Ok(store.write_at(&page, list_at(self.marker.size))?)
    }

    /// Before the marker is in front nothing has been changed, and whoever has used the file system since may have
    /// put something where it was free: its map is read again. Where the conversion is through, or its marker in
    /// front, nothing is done.
    pub(super) fn renew(
        &mut self,
        store: &dyn Store,
        journal: Option<&dyn Store>,
    ) -> Result<(), ConvertError> {
        if self.marker.used.is_none() || !self.without_list().conversion(store, journal)?.is_untouched()? {
            return Ok(());
        }
        self.stretches = Some(used_stretches(store, self.marker.moved)?);
        let careful = CarefulStore::new(store, &[]);
        self.write_list(&careful)?;
        Ok(careful.flush()?)
    }

    /// The same as far as the marker, which does not depend on the list.
    pub(super) fn without_list(&self) -> Self {
        let (marker, keys) = (self.marker.clone(), self.keys.clone());
        Self { marker, keys, stretches: Some(vec![]), found: self.found }
    }
}

/// Whether they may be the stretches of a file system of that size.
fn possible(stretches: &[Range<u64>], moved: u64) -> bool {
    let whole = |range: &Range<u64>| {
        range.start < range.end
            && range.end <= moved
            && range.start.is_multiple_of(PAGE)
            && range.end.is_multiple_of(PAGE)
    };
    stretches.len() <= MOST_STRETCHES
        && stretches.iter().all(whole)
        && stretches.is_sorted_by(|a, b| a.end <= b.start)
}

fn to_bytes(stretches: &[Range<u64>], id: &[u8; 16]) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &(stretches.len() as u64).to_le_bytes(), id].concat();
    for range in stretches {
        bytes.extend(range.start.to_le_bytes());
        bytes.extend(range.end.to_le_bytes());
    }
    bytes.resize(LIST_BYTES as usize - 4, 0);
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// The list of the conversion with that marker; `None` where it has none, or it is not whole.
pub(super) fn read_list(
    store: &dyn Store,
    marker: &VeraCryptMarker,
) -> Result<Option<Vec<Range<u64>>>, StoreError> {
    if marker.used.is_none() {
        return Ok(None);
    }
    let mut bytes = AlignedBuf::zeroed(LIST_BYTES as usize);
    store.read_at(&mut bytes, list_at(marker.size))?;
    Ok(parse(&bytes, marker))
}

fn parse(bytes: &[u8], marker: &VeraCryptMarker) -> Option<Vec<Range<u64>>> {
    let (body, crc) = bytes.split_at_checked(LIST_BYTES as usize - 4)?;
    (crc32fast::hash(body).to_le_bytes() == *crc && body.starts_with(&MAGIC)).then_some(())?;
    (body.get(16..HEADER)? == marker.id).then_some(())?;
    let count = u64::from_le_bytes(*body.get(COUNT_AT..)?.first_chunk()?);
    let (numbers, _) = body.get(HEADER..)?.as_chunks::<16>();
    let stretches = numbers.get(..usize::try_from(count).ok()?)?.iter().map(|pair| {
        let [start, end] =
            [pair.first_chunk::<8>()?, pair.last_chunk::<8>()?].map(|n| u64::from_le_bytes(*n));
        Some(start..end)
    });
    let stretches: Vec<_> = stretches.collect::<Option<_>>()?;
    possible(&stretches, marker.moved).then_some(stretches)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges, some of them short")]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_whole_pages_that_do_not_meet() {
        let found = whole_pages(&[0..100, 5000..8192, 8200..8300, 40_000..41_000], 40_960);
        assert_eq!(found, [0..12_288, 36_864..40_960]);
        assert!(possible(&found, 40_960));
        for wrong in [vec![0..4096, 0..8192], vec![0..45_056], vec![1..4096], vec![4096..4096]] {
            assert!(!possible(&wrong, 40_960), "{wrong:?}");
        }
    }
}
