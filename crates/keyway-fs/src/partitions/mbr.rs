//! The table in a disk's first sector, and the chain of those in an extended partition.
//!
//! Source: Microsoft's and IBM's tables as the UEFI specification describes them ("Legacy Master Boot Record"); the chain
//! of extended partitions as util-linux documents it.

use super::{Partition, bytes, number};
use keyway_store::{Store, StoreError};

/// Where the four entries lie.
const TABLE: usize = 446;

/// Length of an entry.
const ENTRY: usize = 16;

/// The type of the entry that keeps old programs off a GPT.
const PROTECTIVE: u8 = 0xee;

/// Logical partitions that are looked at: the chain on a medium may have no end.
const MOST_LOGICAL: u32 = 128;

/// An entry of the table: its type, first sector and number of sectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    kind: u8,
    first: u64,
    sectors: u64,
}

impl Entry {
    fn is_used(self) -> bool {
        self.kind != 0 && self.sectors > 0
    }

    fn is_extended(self) -> bool {
        matches!(self.kind, 0x05 | 0x0f | 0x85)
    }

    fn partition(self, number: u32, start: u64, (disk, sector): (u64, u64)) -> Option<Partition> {
        let partition = Partition::on(disk, number, (start, self.sectors.checked_mul(sector)?))?;
        Some(Partition { purpose: purpose(self.kind), ..partition })
    }
}

/// The four entries of a first sector; nothing where it has no table: marks and fields must make sense.
pub(super) fn entries(sector: &[u8]) -> Option<[Entry; 4]> {
    if sector.get(510..512) != Some(&[0x55, 0xaa]) {
        return None;
    }
    let mut all = [Entry { kind: 0, first: 0, sectors: 0 }; 4];
    for (i, slot) in all.iter_mut().enumerate() {
        let at = TABLE + i * ENTRY;
        if !matches!(number::<1>(sector, at)?, 0 | 0x80) {
            return None;
        }
        let kind = *sector.get(at + 4)?;
        *slot = Entry { kind, first: number::<4>(sector, at + 8)?, sectors: number::<4>(sector, at + 12)? };
    }
    let sane = |entry: &Entry| !entry.is_used() || entry.first > 0;
    (all.iter().any(|entry| entry.is_used()) && all.iter().all(sane)).then_some(all)
}

/// Whether the table only says that there is a GPT.
pub(super) fn protects_gpt(entries: &[Entry; 4]) -> bool {
    entries.iter().any(|entry| entry.kind == PROTECTIVE)
}

/// The partitions.
pub(super) fn read(store: &dyn Store, entries: &[Entry; 4]) -> Result<Vec<Partition>, StoreError> {
    let unit = (store.size(), u64::from(store.sector_bytes()));
    let mut partitions = Vec::new();
    for (number, entry) in (1..).zip(entries).filter(|(_, entry)| entry.is_used() && !entry.is_extended()) {
        partitions.extend(entry.partition(number, entry.first.saturating_mul(unit.1), unit));
    }
    if let Some(extended) = entries.iter().find(|entry| entry.is_used() && entry.is_extended()) {
        logical(store, extended.first.saturating_mul(unit.1), &mut partitions)?;
    }
    Ok(partitions)
}

/// The logical partitions: each table has one, counted from itself, and where the next table is, counted from the
/// extended partition.
fn logical(store: &dyn Store, extended: u64, partitions: &mut Vec<Partition>) -> Result<(), StoreError> {
    let unit = (store.size(), u64::from(store.sector_bytes()));
    let (mut at, mut number) = (extended, 5);
    for _ in 0..MOST_LOGICAL {
        let Some(sector) = bytes(store, at, 512)? else { break };
        let Some([own, next, ..]) = entries(&sector) else { break };
        if own.is_used() && !own.is_extended() {
            let start = at.saturating_add(own.first.saturating_mul(unit.1));
            partitions.extend(own.partition(number, start, unit));
            number += 1;
        }
        if !(next.is_used() && next.is_extended()) {
            break;
        }
        at = extended.saturating_add(next.first.saturating_mul(unit.1));
    }
    Ok(())
}

fn purpose(kind: u8) -> String {
    let word = match kind {
        0x01 | 0x04 | 0x06 | 0x0b | 0x0c | 0x0e => "FAT",
        0x07 => "NTFS, exFAT or BitLocker",
        0x27 => "Windows recovery",
        0x82 => "Linux swap",
        0x83 => "Linux",
        0x8e => "Linux LVM",
        0xef => "EFI system",
        other => return format!("{other:#04x}"),
    };
    word.to_owned()
}
