//! Which stretches of a medium a run converts, and where on it the journal has room.

use super::marker::{BitLockerMarker, MOST_RANGES, PAGE};
use super::metadata_space::map;
use crate::ConvertError;
use crate::journal::{SLOTS, SlotTable, segment_bytes};
use keyway_engine::{Access, Device};
use keyway_fs::allocation::Allocation;
use keyway_store::Store;
use keyway_volume::bitlocker::{self, BOOT_BYTES, Converting};
use std::ops::Range;
use std::sync::Arc;

/// The smallest segment worth a place of its own.
const SMALLEST_SEGMENT: u64 = 64 << 10;

/// Free bytes between two used ones that are converted rather than told apart, where there are not too many.
const SMALLEST_GAP: u64 = 64 << 10;

/// The journal on the medium: as large as the free bytes allow, or in the copies of the metadata.
pub(super) fn on_medium(volume: &Converting, map: Option<&Allocation>, behind: Range<u64>) -> SlotTable {
    let [_, _, third] = volume.copies();
    let records = third + bitlocker::HEAD_BYTES as u64 + PAGE;
    let mut segment = segment_bytes(volume.volume_bytes());
    while segment >= SMALLEST_SEGMENT {
        let all = SLOTS as u64 * segment;
        let inside = map.filter(|map| map.can_reserve()).and_then(|map| map.find(0, all, PAGE).ok());
        let first = behind.start.next_multiple_of(PAGE);
        let found = inside.or((first + all <= behind.end).then_some(first));
        if let Some(first) = found.filter(|at| *at >= BOOT_BYTES) {
            let place = SlotTable::in_a_row(records, first, segment);
            return place.with_heads(BitLockerMarker::heads_of_four(volume.copies()));
        }
        segment = half(segment);
    }
    BitLockerMarker::small_journal(volume.copies())
}

/// Half of a segment, in whole pages.
fn half(segment: u64) -> u64 {
    segment / 2 / PAGE * PAGE
}

/// The parts of these ranges that a file system uses: as few pieces as there is room for. What is in `first`,
/// where the volume's first sectors lie, is used, whatever the file system's map says of those bytes.
pub(super) fn used_of(
    ranges: &[Range<u64>],
    map: &Allocation,
    size: u64,
    first: &Range<u64>,
) -> Vec<Range<u64>> {
    let mut gap = SMALLEST_GAP;
    loop {
        let used = joined(map.used(size, gap), first);
        let mut parts = Vec::new();
        let mut rest = used.iter().peekable();
        for range in ranges {
            while let Some(next) = rest.peek() {
                let (start, end) = (next.start.max(range.start), next.end.min(range.end));
                if start < end {
                    parts.push(start..end);
                }
                if next.end > range.end {
                    break;
                }
                rest.next();
            }
        }
        // The journal's segments cut a piece in two, at worst.
        if parts.len() + SLOTS <= MOST_RANGES {
            return parts;
        }
        gap *= 2;
    }
}

/// Ranges in order, with one more.
fn joined(ranges: Vec<Range<u64>>, more: &Range<u64>) -> Vec<Range<u64>> {
    let (mut before, mut after, mut range) = (vec![], vec![], more.clone());
    for one in ranges {
        if one.end < range.start {
            before.push(one);
        } else if one.start > range.end {
            after.push(one);
        } else {
            range = range.start.min(one.start)..range.end.max(one.end);
        }
    }
    before.push(range);
    before.extend(after);
    before
}

/// The map of the file system in a volume.
pub(super) fn open_map(
    store: &Arc<dyn Store>,
    volume: &Converting,
) -> Result<Option<Allocation>, ConvertError> {
    map(&Device::new(Box::new(store.clone()), volume.layout().clone(), Access::ReadOnly)?)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges, some of which have one")]
mod tests {
    use super::*;
    use crate::journal::is_segment;

    #[test]
    fn a_range_joins_those_it_touches() {
        let ranges = || vec![0..10, 20..30, 40..50];
        assert_eq!(joined(ranges(), &(12..15)), [0..10, 12..15, 20..30, 40..50]);
        assert_eq!(joined(ranges(), &(10..20)), [0..30, 40..50]);
        assert_eq!(joined(ranges(), &(5..45)), [0..50]);
        assert_eq!(joined(ranges(), &(60..61)), [0..10, 20..30, 40..50, 60..61]);
        assert_eq!(joined(vec![], &(1..2)), [1..2]);
    }

    #[test]
    fn every_segment_that_is_tried_is_one_that_a_marker_may_name() {
        for mebibytes in 64..2048 {
            let mut segment = segment_bytes(mebibytes << 20);
            while segment >= SMALLEST_SEGMENT {
                assert!(is_segment(segment) && segment.is_multiple_of(PAGE), "{mebibytes}: {segment}");
                segment = half(segment);
            }
        }
    }
}
