//! Partition tables, MBR and GPT: which parts of a disk are partitions, and what the table calls them.
//!
//! A table lies on a medium that somebody else wrote: sizes and numbers of entries have limits, a GPT counts by its check
//! sums alone, and no partition reaches past the end of its disk.

mod gpt;
mod mbr;

use crate::fields::number;
use crate::superblock::{FileSystemKind, Superblock};
use keyway_error::enum_table;
use keyway_store::{AlignedBuf, Store, StoreError};

enum_table! {
    /// A kind of partition table.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum TableKind {
        /// The table in the first sector, and those in extended partitions.
        Mbr("mbr", "MBR"),
        /// UEFI's.
        Gpt("gpt", "GPT"),
    }
    /// Its stable word.
    pub word: &'static str,
    /// Its name.
    pub name: &'static str,
}

/// A disk's partition table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartitionTable {
    /// Which kind.
    pub kind: TableKind,
    /// It is a GPT, and neither the one at the beginning nor its copy at the end is in order.
    pub damaged: bool,
    /// The partitions that begin on the disk, by their numbers.
    pub partitions: Vec<Partition>,
}

/// A partition as its table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partition {
    /// Its number, as the kernel counts: the logical ones of an MBR begin with 5.
    pub number: u32,
    /// Its first byte on the disk.
    pub start: u64,
    /// How long it is; a disk that was cut off ends it.
    pub bytes: u64,
    /// What the table says that it is for: in words where they are known, else as the table has it.
    pub purpose: String,
    /// The name that it was given; an MBR has none.
    pub name: Option<String>,
}

impl PartitionTable {
    /// Looks for a partition table. What has a file system in front is none, whatever its boot code looks like.
    ///
    /// # Errors
    /// The medium failed.
    pub fn read(store: &dyn Store) -> Result<Option<Self>, StoreError> {
        let Some(first) = bytes(store, 0, 512)? else { return Ok(None) };
        let Some(entries) = mbr::entries(&first) else { return Ok(None) };
        match Superblock::read(store)? {
            // 64 KiB behind the beginning: what is left of a file system that had the whole disk.
            Some(Superblock { kind: FileSystemKind::Btrfs, .. }) | None => {}
            Some(_) => return Ok(None),
        }
        if !mbr::protects_gpt(&entries) {
            return Ok(Some(Self {
                kind: TableKind::Mbr,
                damaged: false,
                partitions: mbr::read(store, &entries)?,
            }));
        }
        let found = gpt::read(store)?;
        Ok(Some(Self {
            kind: TableKind::Gpt,
            damaged: found.is_none(),
            partitions: found.unwrap_or_default(),
        }))
    }
}

impl Partition {
    /// Of a disk of so many bytes; nothing where it begins behind the end, or has no length.
    fn on(disk: u64, number: u32, (start, bytes): (u64, u64)) -> Option<Self> {
        let bytes = bytes.min(disk.checked_sub(start)?);
        (bytes > 0).then(|| Self { number, start, bytes, purpose: String::new(), name: None })
    }
}

/// So many bytes from a place on; nothing where the medium has fewer.
fn bytes(store: &dyn Store, at: u64, len: usize) -> Result<Option<AlignedBuf>, StoreError> {
    if at.checked_add(len as u64).is_none_or(|end| end > store.size()) {
        return Ok(None);
    }
    let mut bytes = AlignedBuf::zeroed(len);
    store.read_at(&mut bytes, at)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests;
