//! NTFS: a bad cluster is set in `$Bitmap` and belongs to the stream `$Bad` of `$BadClus`.
//!
//! `$Bad` is as long as the volume and all hole until a cluster goes bad; its runs say where.
//!
//! Sources: the Linux kernel's NTFS structures (`fs/ntfs3/ntfs.h`) and the *NTFS Documentation* of
//! the linux-ntfs project: MFT records with their fixups, attribute headers, mapping pairs, the flags of
//! `$Volume` and of `$LogFile`'s restart area.

use super::{AllocationError, Clusters, length, number, put, read, write};
use keyway_store::Store;
use std::ops::Range;

/// Records of the MFT.
const LOG: u64 = 2;
const VOLUME: u64 = 3;
const BITMAP: u64 = 6;
const BAD_CLUSTERS: u64 = 8;

/// Attribute types: the volume's flags, data streams, and what ends a record's attributes.
const VOLUME_INFORMATION: u64 = 0x70;
const DATA: u64 = 0x80;
const END: u64 = 0xffff_ffff;

/// The volume's flag that has it checked before its next use.
const DIRTY: u64 = 0x0001;

/// What a restart page of the log begins with; one that was emptied has all ones.
const RESTART: &[u8] = b"RSTR";

/// No client has the log in use; the volume was unmounted.
const NO_CLIENT: u64 = 0xffff;
const UNMOUNTED: u64 = 0x0002;

/// The name of the stream of bad clusters, in UTF-16.
const BAD: &[u8] = b"$\0B\0a\0d\0";

/// Fixups guard each 512 bytes of a record, whatever the sector size.
const GUARDED: usize = 512;

/// Where the bitmap and the record of bad clusters are.
pub(super) struct Ntfs {
    /// Byte and length of each run of the bitmap's own clusters, all inside the medium.
    bitmap: Vec<(u64, u64)>,
    record_at: u64,
    record: Vec<u8>,
}

const fn damaged<T>(what: &'static str) -> Result<T, AllocationError> {
    Err(AllocationError::Damaged(what))
}

impl Ntfs {
    pub(super) fn open(store: &dyn Store, boot: &[u8; 512]) -> Result<(Self, Clusters), AllocationError> {
        let sector = number::<2>(boot, 11);
        // Above 128 it is the negative of a power of two (clusters of more than 64 KiB).
        let per_cluster = match number::<1>(boot, 13) {
            n @ 1..=128 => n,
            n => 1 << (256 - n).min(12),
        };
        let cluster = sector * per_cluster;
        let record_bytes = match number::<1>(boot, 64) {
            clusters @ 1..=127 => clusters * cluster,
            // The negative of a power of two, 1024 mostly.
            n => 1 << (256 - n).min(12),
        };
        if !matches!(sector, 512 | 1024 | 2048 | 4096) || !matches!(record_bytes, 1024 | 2048 | 4096) {
            return damaged("its boot sector");
        }
        let count = number::<8>(boot, 40) / per_cluster;
        let mut map = Clusters::new(store, 0, cluster, count)?;
        let Some(mft) = number::<8>(boot, 48).checked_mul(cluster).filter(|at| *at < store.size()) else {
            return damaged("the place of its MFT");
        };
        let record = |number: u64| read_record(store, mft + number * record_bytes, record_bytes);
        in_order(store, &record(VOLUME)?, &record(LOG)?, cluster)?;
        let bits = record(BITMAP)?;
        let Some(stream) = find(&bits, DATA, b"") else { return damaged("its bitmap") };
        let mut used = Vec::with_capacity(map.used.len());
        let mut bitmap = Vec::new();
        for (at, clusters) in runs(stream.bytes) {
            let left = (map.used.len() - used.len()) as u64;
            let place = at.checked_mul(cluster).zip(clusters.checked_mul(cluster));
            let Some((at, len)) = place else { return damaged("its bitmap's runs") };
            let len = len.min(left);
            if len == 0 {
                break;
            }
            used.append(&mut read(store, at, len)?);
            bitmap.push((at, len));
        }
        if used.len() < map.used.len() {
            return damaged("its bitmap's length");
        }
        map.used = used;
        let record_at = mft + BAD_CLUSTERS * record_bytes;
        Ok((Self { bitmap, record_at, record: record(BAD_CLUSTERS)? }, map))
    }

    /// The taken clusters become bad: first in the bitmap, where alone they would only be lost.
    pub(super) fn mark(&self, store: &dyn Store, map: &Clusters) -> Result<(), AllocationError> {
        let Some(stream) = find(&self.record, DATA, BAD) else { return damaged("its bad clusters") };
        // Those that are bad already stay so, each run for itself: only whole ones are given back.
        let there = runs(stream.bytes).filter_map(|(at, n)| Some(at..at.checked_add(n)?));
        let mut bad: Vec<_> = there.chain(map.taken.iter().cloned()).collect();
        bad.sort_by_key(|run| run.start);
        if !bad.is_sorted_by(|one, next| one.end <= next.start) {
            return damaged("its bad clusters");
        }
        let record = self.with_bad(&bad, map.count)?;
        self.write_bits(store, map)?;
        write_record(store, self.record_at, record)
    }

    /// The taken clusters become free: last in the bitmap.
    pub(super) fn release(&self, store: &dyn Store, map: &Clusters) -> Result<(), AllocationError> {
        let Some(stream) = find(&self.record, DATA, BAD) else { return damaged("its bad clusters") };
        let freed = |cluster: u64| map.taken.iter().any(|run| run.contains(&cluster));
        // Runs were taken as a whole, so whole runs go.
        let kept = runs(stream.bytes).filter(|(at, _)| !freed(*at)).map(|(at, n)| at..at.saturating_add(n));
        write_record(store, self.record_at, self.with_bad(&kept.collect::<Vec<_>>(), map.count)?)?;
        self.write_bits(store, map)
    }

    /// The runs of bad clusters that begin and end among these clusters.
    pub(super) fn bad_among(&self, wanted: &[Range<u64>]) -> Vec<Range<u64>> {
        let Some(stream) = find(&self.record, DATA, BAD) else { return vec![] };
        let is_wanted = |cluster: u64| wanted.iter().any(|run| run.contains(&cluster));
        let all = runs(stream.bytes).filter_map(|(at, n)| Some(at..at.checked_add(n).filter(|_| n > 0)?));
        all.filter(|run| is_wanted(run.start) && is_wanted(run.end - 1)).collect()
    }

    fn write_bits(&self, store: &dyn Store, map: &Clusters) -> Result<(), AllocationError> {
        let mut first = 0;
        for (at, len) in &self.bitmap {
            for run in &map.taken {
                let from = (run.start / 8).max(first);
                let to = run.end.div_ceil(8).min(first + len);
                if from < to {
                    let bytes = map.used.get(from as usize..to as usize).unwrap_or_default();
                    write(store, at + (from - first), bytes)?;
                }
            }
            first += len;
        }
        Ok(())
    }

    /// The record of bad clusters with these runs in its `$Bad`.
    fn with_bad(&self, bad: &[Range<u64>], count: u64) -> Result<Vec<u8>, AllocationError> {
        let Some(stream) = find(&self.record, DATA, BAD) else { return damaged("its bad clusters") };
        let (at, len) = (stream.at, stream.bytes.len());
        let Some(header) = stream.bytes.get(..number::<2>(stream.bytes, 32) as usize) else {
            return damaged("its bad clusters");
        };
        let mut new = header.to_vec();
        mapping(bad, count, &mut new);
        new.resize(new.len().next_multiple_of(8), 0);
        let new_len = (new.len() as u32).to_le_bytes();
        put(&mut new, 4, &new_len);
        let in_use = number::<4>(&self.record, 24).saturating_sub(len as u64) + new.len() as u64;
        if in_use > self.record.len() as u64 || number::<4>(&self.record, at + len) != END {
            return Err(AllocationError::Unsupported("no room in the record of bad clusters"));
        }
        let mut record = self.record.clone();
        record.splice(at..at + len, new);
        record.resize(self.record.len(), 0);
        put(&mut record, 24, &(in_use as u32).to_le_bytes());
        Ok(record)
    }
}

/// Nothing is to be checked or replayed, which could take our marks back.
fn in_order(store: &dyn Store, volume: &[u8], log: &[u8], cluster: u64) -> Result<(), AllocationError> {
    let Some(flags) = find(volume, VOLUME_INFORMATION, b"") else { return damaged("its flags") };
    let value = number::<2>(flags.bytes, 20) as usize;
    if number::<2>(flags.bytes, value + 10) & DIRTY != 0 {
        return Err(AllocationError::Dirty("NTFS's mark of a volume to be checked"));
    }
    let Some(stream) = find(log, DATA, b"") else { return damaged("its log") };
    let Some((at, _)) = runs(stream.bytes).next() else { return damaged("its log") };
    let Some(at) = at.checked_mul(cluster) else { return damaged("its log") };
    let page = read(store, at, 4096)?;
    if page.iter().all(|byte| *byte == 0xff) {
        return Ok(());
    }
    let area = number::<2>(&page, 24) as usize;
    let (client, flags) = (number::<2>(&page, area + 12), number::<2>(&page, area + 14));
    if page.starts_with(RESTART) && (client == NO_CLIENT || flags & UNMOUNTED != 0) {
        return Ok(());
    }
    Err(AllocationError::Dirty("NTFS's log holds changes; Windows may be hibernating or in fast start-up"))
}

/// The runs of the stream of bad clusters, holes between them, in NTFS's variable length: a byte
/// with the lengths of the two numbers, then the clusters, then how far from the last run's start.
fn mapping(bad: &[Range<u64>], count: u64, out: &mut Vec<u8>) {
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

fn runs(attribute: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    pairs(attribute).filter_map(|(at, clusters)| Some((at?, clusters)))
}

/// An attribute in a record.
struct Attribute<'a> {
    at: usize,
    bytes: &'a [u8],
}

/// The attribute of that type and name; of a data stream only one whose bytes are in clusters of their own.
fn find<'a>(record: &'a [u8], wanted: u64, name: &[u8]) -> Option<Attribute<'a>> {
    let mut at = number::<2>(record, 20) as usize;
    loop {
        let (kind, len) = (number::<4>(record, at), number::<4>(record, at.checked_add(4)?) as usize);
        let bytes = record.get(at..at.checked_add(len)?).filter(|_| kind != END && len >= 24)?;
        let (name_len, name_at) = (number::<1>(bytes, 9) as usize * 2, number::<2>(bytes, 10) as usize);
        if kind == wanted && bytes.get(name_at..name_at + name_len) == Some(name) {
            let elsewhere = number::<1>(bytes, 8) == 1 && len >= 64;
            return (elsewhere || wanted != DATA).then_some(Attribute { at, bytes });
        }
        at += len;
    }
}

/// Reads a record and takes its fixups out: the last two bytes of each 512 are kept in front.
fn read_record(store: &dyn Store, at: u64, bytes: u64) -> Result<Vec<u8>, AllocationError> {
    let mut record = read(store, at, length(bytes).map(|n| n as u64)?)?;
    if !record.starts_with(b"FILE") {
        return damaged("its MFT");
    }
    let fixups = number::<2>(&record, 4) as usize;
    let sequence = number::<2>(&record, fixups);
    for i in 1..=record.len() / GUARDED {
        if number::<2>(&record, i * GUARDED - 2) != sequence {
            return damaged("a record that was torn");
        }
        let kept = (number::<2>(&record, fixups + 2 * i) as u16).to_le_bytes();
        put(&mut record, i * GUARDED - 2, &kept);
    }
    Ok(record)
}

/// Puts the fixups back and writes the record.
fn write_record(store: &dyn Store, at: u64, mut record: Vec<u8>) -> Result<(), AllocationError> {
    let fixups = number::<2>(&record, 4) as usize;
    let sequence = (number::<2>(&record, fixups) as u16).to_le_bytes();
    for i in 1..=record.len() / GUARDED {
        let end = i * GUARDED - 2;
        let kept = (number::<2>(&record, end) as u16).to_le_bytes();
        put(&mut record, fixups + 2 * i, &kept);
        put(&mut record, end, &sequence);
    }
    write(store, at, &record)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
