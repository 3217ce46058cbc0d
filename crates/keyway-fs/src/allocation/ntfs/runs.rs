//! Where a stream's bytes lie: NTFS's runs of clusters, read from an attribute and written into one.

use super::super::error::AllocationError;
use super::super::medium::{length, number, read, write};
use keyway_store::Store;
use std::ops::Range;

/// Byte and length of each run of a stream's own clusters, in order, from its first byte to its first hole.
pub(super) struct Extents(Vec<(u64, u64)>);

impl Extents {
    /// Those of an attribute, on a medium of so many bytes; `None` where one lies outside of it.
    pub(super) fn of(attribute: &[u8], cluster: u64, medium: u64) -> Option<Self> {
        let lying = pairs(attribute).take_while(|(at, _)| at.is_some());
        let bytes = |(at, clusters): (Option<u64>, u64)| {
            let (at, len) = (at?.checked_mul(cluster)?, clusters.checked_mul(cluster)?);
            at.checked_add(len).filter(|end| *end <= medium).map(|_| (at, len))
        };
        let extents: Vec<_> = lying.map(bytes).collect::<Option<_>>()?;
        extents.iter().try_fold(0u64, |sum, (_, len)| sum.checked_add(*len))?;
        Some(Self(extents))
    }

    /// Where it begins.
    pub(super) fn start(&self) -> Option<u64> {
        self.0.first().map(|(at, _)| *at)
    }

    /// How many bytes it has.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|(_, len)| len).sum()
    }

    /// The places of a stretch of it, each with the part of the stretch that lies there.
    fn places(&self, offset: u64, len: u64) -> impl Iterator<Item = (u64, Range<usize>)> {
        let end = offset.saturating_add(len);
        let mut first = 0;
        self.0.iter().filter_map(move |(at, len)| {
            let (start, stop) = (first, first + len);
            first = stop;
            let (from, to) = (offset.max(start), end.min(stop));
            (from < to).then(|| (at + (from - start), (from - offset) as usize..(to - offset) as usize))
        })
    }

    /// Reads a stretch of it.
    pub(super) fn read(&self, store: &dyn Store, offset: u64, len: u64) -> Result<Vec<u8>, AllocationError> {
        let outside = AllocationError::Damaged("a place outside of a stream");
        if offset.checked_add(len).is_none_or(|end| end > self.bytes()) {
            return Err(outside);
        }
        let mut bytes = Vec::with_capacity(length(len)?);
        for (at, part) in self.places(offset, len) {
            bytes.append(&mut read(store, at, part.len() as u64)?);
        }
        Ok(bytes)
    }

    /// Writes a stretch of it.
    pub(super) fn write(&self, store: &dyn Store, offset: u64, bytes: &[u8]) -> Result<(), AllocationError> {
        for (at, part) in self.places(offset, bytes.len() as u64) {
            write(store, at, bytes.get(part).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// The runs of the stream of bad clusters, holes between them, in NTFS's variable length: a byte
/// with the lengths of the two numbers, then the clusters, then how far from the last run's start.
pub(super) fn mapping(bad: &[Range<u64>], count: u64, out: &mut Vec<u8>) {
    let (mut at, mut last) = (0u64, 0u64);
    for run in bad {
        hole(run.start.saturating_sub(at), out);
        let (clusters, step) =
            (signed(run.end.saturating_sub(run.start)), signed(run.start.saturating_sub(last)));
        out.push((step.len() << 4 | clusters.len()) as u8);
        out.extend(clusters);
        out.extend(step);
        (at, last) = (run.end, run.start);
    }
    hole(count.saturating_sub(at), out);
    out.push(0);
}

fn hole(clusters: u64, out: &mut Vec<u8>) {
    if clusters > 0 {
        let clusters = signed(clusters);
        out.push(clusters.len() as u8);
        out.extend(clusters);
    }
}

/// As few bytes as hold the number with a sign, which is always plus here.
fn signed(n: u64) -> Vec<u8> {
    let mut bytes = n.to_le_bytes().to_vec();
    while let [.., before, 0] = bytes[..]
        && before < 0x80
    {
        bytes.pop();
    }
    bytes
}

/// An attribute's runs: where (`None` in a hole) and how many clusters.
fn pairs(attribute: &[u8]) -> impl Iterator<Item = (Option<u64>, u64)> {
    let mut rest = attribute.get(number::<2>(attribute, 32) as usize..).unwrap_or_default();
    let mut last = 0i64;
    std::iter::from_fn(move || {
        let (head, tail) = rest.split_first().filter(|(head, _)| **head != 0)?;
        let (clusters, tail) = tail.split_at_checked(usize::from(head & 15))?;
        let (step, tail) = tail.split_at_checked(usize::from(head >> 4))?;
        rest = tail;
        let clusters = number::<8>(&[clusters, &[0; 8]].concat(), 0);
        if step.is_empty() {
            return Some((None, clusters));
        }
        let fill = if step.last().is_some_and(|top| top & 0x80 != 0) { 0xff } else { 0 };
        last = last.wrapping_add(number::<8>(&[step, &[fill; 8]].concat(), 0) as i64);
        Some((u64::try_from(last).ok(), clusters))
    })
}

pub(super) fn runs(attribute: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    pairs(attribute).filter_map(|(at, clusters)| Some((at?, clusters)))
}

#[cfg(test)]
mod tests {
    use super::super::super::medium::put;
    use super::*;
    use keyway_store::MemStore;

    #[test]
    fn mapping_pairs_come_back() {
        let taken = vec![8..9, 200..40_000, 70_000..70_001, 70_005..20_000_000];
        let mut attribute = vec![0; 64];
        put(&mut attribute, 32, &[64, 0]);
        mapping(&taken, 30_000_000, &mut attribute);
        let found: Vec<_> = runs(&attribute).map(|(at, n)| at..at + n).collect();
        assert_eq!(found, taken);
        assert_eq!(pairs(&attribute).map(|(_, n)| n).sum::<u64>(), 30_000_000);
    }

    #[test]
    fn numbers_keep_their_sign() {
        assert_eq!(signed(0), [0]);
        assert_eq!(signed(127), [127]);
        assert_eq!(signed(128), [128, 0]);
        assert_eq!(signed(0x8000), [0, 0x80, 0]);
    }

    /// A stretch that lies in three places is read and written where it is, and nothing around it.
    #[test]
    fn a_stretch_lies_where_its_runs_say() {
        let mut attribute = vec![0; 64];
        put(&mut attribute, 32, &[64, 0]);
        mapping(&[2..3, 9..10, 20..25], 25, &mut attribute);
        assert!(
            Extents::of(&attribute, 512, 30 * 512).is_some_and(|none| none.bytes() == 0),
            "it begins with a hole"
        );
        // Without its holes: two clusters at 9, one at 4, two at 20.
        attribute.truncate(64);
        attribute.extend([0x11, 2, 9, 0x11, 1, 0xfb, 0x11, 2, 16, 0]);
        assert!(Extents::of(&attribute, 512, 22 * 512 - 1).is_none(), "outside");
        let extents = Extents::of(&attribute, 512, 22 * 512).expect("runs");
        assert_eq!((extents.start(), extents.bytes()), (Some(9 * 512), 5 * 512));
        let store = MemStore::new(30 * 512);
        let bytes: Vec<u8> = (0..1100).map(|n| (n % 251) as u8 + 1).collect();
        extents.write(&store, 700, &bytes).expect("memory");
        assert_eq!(extents.read(&store, 700, 1100).expect("memory"), bytes);
        let mut all = vec![0; 30 * 512];
        store.read_at(&mut all, 0).expect("memory");
        assert!(all[9 * 512 + 700..11 * 512] == bytes[..324] && all[4 * 512..5 * 512] == bytes[324..836]);
        assert_eq!(all[20 * 512..20 * 512 + 264], bytes[836..]);
        assert_eq!(all.iter().filter(|byte| **byte != 0).count(), 1100);
        assert!(extents.read(&store, 2000, 561).is_err(), "behind its end");
    }
}
