//! NTFS: a bad cluster is set in `$Bitmap` and belongs to the stream `$Bad` of `$BadClus`.
//!
//! `$Bad` is as long as the volume and all hole until a cluster goes bad; its runs say where.
//!
//! Sources: the Linux kernel's NTFS structures (`fs/ntfs3/ntfs.h`) and the *NTFS Documentation* of
//! the linux-ntfs project: MFT records with their fixups, attribute headers, mapping pairs.

use super::{Clusters, ReserveError, length, number, put};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Records of the MFT.
const BITMAP: u64 = 6;
const BAD_CLUSTERS: u64 = 8;

/// The attribute type of data streams, and what ends a record's attributes.
const DATA: u64 = 0x80;
const END: u64 = 0xffff_ffff;

/// The name of the stream of bad clusters, in UTF-16.
const BAD: &[u8] = b"$\0B\0a\0d\0";

/// Fixups guard each 512 bytes of a record, whatever the sector size.
const GUARDED: usize = 512;

/// Where the bitmap and the record of bad clusters are.
pub(super) struct Ntfs {
    /// Byte and length of each run of the bitmap's own clusters.
    bitmap: Vec<(u64, u64)>,
    record_at: u64,
    record: Vec<u8>,
}

const fn unexpected<T>(what: &'static str) -> Result<T, ReserveError> {
    Err(ReserveError::Unexpected(what))
}

impl Ntfs {
    pub(super) fn open(image: &File, boot: &[u8; 512]) -> Result<(Self, Clusters), ReserveError> {
        let sector = number::<2>(boot, 11);
        // Above 128 it is the negative of a power of two (clusters of more than 64 KiB).
        let per_cluster = match number::<1>(boot, 13) {
            n @ 1..=128 => n,
            n => 1 << (256 - n).min(20),
        };
        let cluster = sector * per_cluster;
        let record_bytes = match number::<1>(boot, 64) {
            clusters @ 1..=127 => clusters * cluster,
            // The negative of a power of two, 1024 mostly.
            n => 1 << (256 - n).min(12),
        };
        if !matches!(sector, 512..=4096) || !(GUARDED as u64..=4096).contains(&record_bytes) {
            return unexpected("its boot sector");
        }
        let count = number::<8>(boot, 40) / per_cluster;
        let mft = number::<8>(boot, 48) * cluster;
        let read = |number: u64| read_record(image, mft + number * record_bytes, length(record_bytes)?);
        let record = read(BITMAP)?;
        let Some(stream) = find(&record, b"") else { return unexpected("its bitmap") };
        let stream = stream.and_then(|(at, len)| record.get(at..at + len)).unwrap_or_default();
        let mut used = Vec::new();
        let mut bitmap = Vec::new();
        let needed = length(count.div_ceil(8))?;
        for (at, clusters) in runs(stream) {
            let mut run = vec![0; length(clusters * cluster)?.min(needed - used.len())];
            image.read_exact_at(&mut run, at * cluster)?;
            bitmap.push((at * cluster, run.len() as u64));
            used.append(&mut run);
        }
        if used.len() < needed {
            return unexpected("its bitmap's length");
        }
        let ntfs = Self { bitmap, record_at: mft + BAD_CLUSTERS * record_bytes, record: read(BAD_CLUSTERS)? };
        Ok((ntfs, Clusters { start: 0, bytes: cluster, count, used, taken: vec![] }))
    }

    pub(super) fn mark(mut self, image: &File, map: &Clusters) -> Result<(), ReserveError> {
        let mut rest = map.used.as_slice();
        for (at, len) in &self.bitmap {
            let (run, tail) = rest.split_at(length(*len)?.min(rest.len()));
            image.write_all_at(run, *at)?;
            rest = tail;
        }
        self.set_bad(map)?;
        write_record(image, self.record_at, self.record)
    }

    /// Gives `$Bad` the runs that were taken.
    fn set_bad(&mut self, map: &Clusters) -> Result<(), ReserveError> {
        let Some(Some((at, len))) = find(&self.record, BAD) else { return unexpected("its bad clusters") };
        let attribute = self.record.get(at..at + len).unwrap_or_default();
        let pairs_at = number::<2>(attribute, 32) as usize;
        let (Some(header), None) = (attribute.get(..pairs_at), runs(attribute).next()) else {
            return unexpected("bad clusters where there can be none");
        };
        let mut new = header.to_vec();
        mapping(map, &mut new);
        new.resize(new.len().next_multiple_of(8), 0);
        let new_len = (new.len() as u32).to_le_bytes();
        put(&mut new, 4, &new_len);
        let in_use = number::<4>(&self.record, 24) as usize + new.len() - len;
        if in_use > self.record.len() || number::<4>(&self.record, at + len) != END {
            return unexpected("no room in the record of bad clusters");
        }
        let size = self.record.len();
        self.record.splice(at..at + len, new);
        self.record.resize(size, 0);
        put(&mut self.record, 24, &(in_use as u32).to_le_bytes());
        Ok(())
    }
}

/// The runs of the stream of bad clusters, holes between them, in NTFS's variable length: a byte
/// with the lengths of the two numbers, then the clusters, then how far from the last run's start.
fn mapping(map: &Clusters, out: &mut Vec<u8>) {
    let (mut at, mut last) = (0u64, 0u64);
    for run in &map.taken {
        hole(run.start - at, out);
        let (clusters, step) = (signed(run.end - run.start), signed(run.start - last));
        out.push((step.len() << 4 | clusters.len()) as u8);
        out.extend(clusters);
        out.extend(step);
        (at, last) = (run.end, run.start);
    }
    hole(map.count - at, out);
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

fn runs(attribute: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    pairs(attribute).filter_map(|(at, clusters)| Some((at?, clusters)))
}

/// Where the stream of that name is in a record, and its length; `Some(None)` where it is there
/// but its bytes are in the record itself.
#[allow(clippy::option_option, reason = "three outcomes, each asked for once")]
fn find(record: &[u8], name: &[u8]) -> Option<Option<(usize, usize)>> {
    let mut at = number::<2>(record, 20) as usize;
    loop {
        let (kind, len) = (number::<4>(record, at), number::<4>(record, at + 4) as usize);
        let attribute = record.get(at..at + len).filter(|_| kind != END && len >= 24)?;
        let (name_len, name_at) =
            (number::<1>(attribute, 9) as usize * 2, number::<2>(attribute, 10) as usize);
        if kind == DATA && attribute.get(name_at..name_at + name_len) == Some(name) {
            return Some((number::<1>(attribute, 8) == 1).then_some((at, len)));
        }
        at += len;
    }
}

/// Reads a record and takes its fixups out: the last two bytes of each 512 are kept in front.
fn read_record(image: &File, at: u64, bytes: usize) -> Result<Vec<u8>, ReserveError> {
    let mut record = vec![0; bytes];
    image.read_exact_at(&mut record, at)?;
    if !record.starts_with(b"FILE") {
        return unexpected("its MFT");
    }
    let fixups = number::<2>(&record, 4) as usize;
    for i in 1..=bytes / GUARDED {
        let kept =
            [number::<1>(&record, fixups + 2 * i) as u8, number::<1>(&record, fixups + 2 * i + 1) as u8];
        put(&mut record, i * GUARDED - 2, &kept);
    }
    Ok(record)
}

/// Puts the fixups back and writes the record.
fn write_record(image: &File, at: u64, mut record: Vec<u8>) -> Result<(), ReserveError> {
    let fixups = number::<2>(&record, 4) as usize;
    let sequence = (number::<2>(&record, fixups) as u16).to_le_bytes();
    for i in 1..=record.len() / GUARDED {
        let end = i * GUARDED - 2;
        let kept = (number::<2>(&record, end) as u16).to_le_bytes();
        put(&mut record, fixups + 2 * i, &kept);
        put(&mut record, end, &sequence);
    }
    Ok(image.write_all_at(&record, at)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_pairs_come_back() {
        let taken = vec![8..9, 200..40_000, 70_000..70_001, 70_005..20_000_000];
        let map = Clusters { start: 0, bytes: 4096, count: 30_000_000, used: vec![], taken: taken.clone() };
        let mut attribute = vec![0; 64];
        put(&mut attribute, 32, &[64, 0]);
        mapping(&map, &mut attribute);
        let found: Vec<_> = runs(&attribute).map(|(at, n)| at..at + n).collect();
        assert_eq!(found, taken);
        assert_eq!(pairs(&attribute).map(|(_, n)| n).sum::<u64>(), map.count);
    }

    #[test]
    fn numbers_keep_their_sign() {
        assert_eq!(signed(0), [0]);
        assert_eq!(signed(127), [127]);
        assert_eq!(signed(128), [128, 0]);
        assert_eq!(signed(0x8000), [0, 0x80, 0]);
    }
}
