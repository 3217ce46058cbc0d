//! NTFS: a bad cluster is set in `$Bitmap` and belongs to the stream `$Bad` of `$BadClus`.
//!
//! `$Bad` is as long as the volume and all hole until a cluster goes bad; its runs say where.
//!
//! Sources: the Linux kernel's NTFS structures (`fs/ntfs3/ntfs.h`) and the *NTFS Documentation* of
//! the linux-ntfs project: MFT records with their fixups, attribute headers, mapping pairs, the mirror of the
//! first records, the flags of `$Volume` and of `$LogFile`'s restart area.

mod record;
mod runs;

use super::clusters::Clusters;
use super::error::{AllocationError, damaged};
use super::medium::{number, put, read};
use keyway_store::Store;
use record::{DATA, END, Mft, find};
use runs::{Extents, mapping, runs};
use std::ops::Range;

/// Records of the MFT.
const LOG: u64 = 2;
const VOLUME: u64 = 3;
const BITMAP: u64 = 6;
const BAD_CLUSTERS: u64 = 8;

/// Attribute types: the volume's flags, data streams, and what ends a record's attributes.
const VOLUME_INFORMATION: u64 = 0x70;

/// The volume's flag that has it checked before its next use.
const DIRTY: u64 = 0x0001;

/// What a restart page of the log begins with; one that was emptied has all ones.
const RESTART: &[u8] = b"RSTR";

/// No client has the log in use; the volume was unmounted.
const NO_CLIENT: u64 = 0xffff;
const UNMOUNTED: u64 = 0x0002;

/// The name of the stream of bad clusters, in UTF-16.
const BAD: &[u8] = b"$\0B\0a\0d\0";

/// Where the bitmap is, and the record of bad clusters.
pub(super) struct Ntfs {
    mft: Mft,
    bitmap: Extents,
    record: Vec<u8>,
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
        let place = |at| number::<8>(boot, at).checked_mul(cluster).filter(|at| *at < store.size());
        let Some(places) = place(48).zip(place(56)) else { return damaged("the place of its MFT") };
        let mft = Mft::open(store, places, record_bytes, cluster)?;
        in_order(store, &mft.read(store, VOLUME)?, &mft.read(store, LOG)?, cluster)?;
        let bits = mft.read(store, BITMAP)?;
        let bitmap =
            find(&bits, DATA, b"").and_then(|stream| Extents::of(stream.bytes, cluster, store.size()));
        let Some(bitmap) = bitmap else { return damaged("its bitmap") };
        map.used = bitmap.read(store, 0, map.used.len() as u64)?;
        let record = mft.read(store, BAD_CLUSTERS)?;
        Ok((Self { mft, bitmap, record }, map))
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
        store.flush()?;
        self.mft.write(store, BAD_CLUSTERS, record)
    }

    /// The taken clusters become free: last in the bitmap.
    pub(super) fn release(&self, store: &dyn Store, map: &Clusters) -> Result<(), AllocationError> {
        let Some(stream) = find(&self.record, DATA, BAD) else { return damaged("its bad clusters") };
        let freed = |cluster: u64| map.taken.iter().any(|run| run.contains(&cluster));
        // Runs were taken as a whole, so whole runs go.
        let kept = runs(stream.bytes).filter(|(at, _)| !freed(*at)).map(|(at, n)| at..at.saturating_add(n));
        let record = self.with_bad(&kept.collect::<Vec<_>>(), map.count)?;
        self.mft.write(store, BAD_CLUSTERS, record)?;
        store.flush()?;
        self.write_bits(store, map)
    }

    /// The mirror follows the record of bad clusters.
    pub(super) fn mend(&self, store: &dyn Store) -> Result<bool, AllocationError> {
        self.mft.mend(store, BAD_CLUSTERS)
    }

    /// The runs of bad clusters that begin and end among these clusters.
    pub(super) fn bad_among(&self, wanted: &[Range<u64>]) -> Vec<Range<u64>> {
        let Some(stream) = find(&self.record, DATA, BAD) else { return vec![] };
        let is_wanted = |cluster: u64| wanted.iter().any(|run| run.contains(&cluster));
        let all = runs(stream.bytes).filter_map(|(at, n)| Some(at..at.checked_add(n).filter(|_| n > 0)?));
        all.filter(|run| is_wanted(run.start) && is_wanted(run.end - 1)).collect()
    }

    fn write_bits(&self, store: &dyn Store, map: &Clusters) -> Result<(), AllocationError> {
        for run in &map.taken {
            let (from, to) = (run.start / 8, run.end.div_ceil(8));
            let bytes = map.used.get(from as usize..to as usize).unwrap_or_default();
            self.bitmap.write(store, from, bytes)?;
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
