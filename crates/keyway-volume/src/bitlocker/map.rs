//! Where each byte of the volume is: segments out of what the metadata says.
//!
//! - The first sectors lie elsewhere, at the boot backup, encrypted under the numbers of the
//!   sectors they lie in.
//! - The copies of the metadata, the boot backup, and what encrypt-on-write keeps read as zeros.
//! - Everything else lies where it is. Up to the end of the encrypted part (or as the
//!   encrypt-on-write bitmaps say) it is encrypted, the rest is not.
//!
//! Source: dissect.fve's account of Windows' driver.

use super::block::{Block, REGION_BYTES};
use super::codes::EncryptionState;
use super::eow::EncryptOnWrite;
use super::error::{BitLockerError, Impossible, Unsupported};
use keyway_cipher::SectorCipher;
use keyway_engine::{Layout, Mapping, Segment};
use std::ops::Range;
use std::sync::Arc;

/// More pieces than any conversion leaves behind; each takes some tens of bytes of memory.
const MOST_SEGMENTS: usize = 1 << 20;

/// The places of a volume's bytes, without its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Map {
    sector_bytes: u32,
    volume_bytes: u64,
    /// First sectors, in bytes, and where they lie.
    boot: Range<u64>,
    /// What reads as zeros, in order, not overlapping, behind the first sectors.
    reserved: Vec<Range<u64>>,
    /// What is encrypted on the medium, in order.
    encrypted: Vec<Range<u64>>,
}

impl Map {
    /// From a block's fields; `store_bytes` is what there is of the volume.
    ///
    /// # Errors
    /// The fields can't be true of such a volume.
    pub(crate) fn new(
        block: &Block,
        eow: Option<&EncryptOnWrite>,
        sector_bytes: u32,
        store_bytes: u64,
    ) -> Result<Self, BitLockerError> {
        let sector = u64::from(sector_bytes);
        let volume_bytes = store_bytes / sector * sector;
        let impossible = |what| Err(BitLockerError::Impossible(what));
        let boot_bytes = u64::from(block.boot_sectors) * sector;
        if boot_bytes == 0 || boot_bytes > volume_bytes {
            return impossible(Impossible::BootSectors(block.boot_sectors));
        }
        let at = block.boot_backup;
        let Some(boot_end) = at.checked_add(boot_bytes).filter(|end| *end <= volume_bytes) else {
            return impossible(Impossible::BootBackup(at));
        };
        if at < boot_bytes || !at.is_multiple_of(sector) {
            return impossible(Impossible::BootBackup(at));
        }
        let whole_sectors = |range: Range<u64>| {
            let end = range.end.min(volume_bytes).next_multiple_of(sector).min(volume_bytes);
            range.start / sector * sector..end
        };
        let copies = block.copies.into_iter().map(|at| at..at.saturating_add(REGION_BYTES as u64));
        if copies.clone().any(|copy| at < copy.end && copy.start < boot_end) {
            return impossible(Impossible::BootBackup(at));
        }
        // The log of a conversion that was interrupted lies where the encrypted part ends.
        let log = (block.state == EncryptionState::ConvertingWithLog).then(|| {
            let start = block.encrypted_bytes;
            start..start.saturating_add(u64::from(block.log_bytes))
        });
        let others = eow.into_iter().flat_map(|eow| eow.reserved.iter().cloned());
        let reserved = copies.chain(Some(at..boot_end)).chain(log).chain(others).map(whole_sectors);
        let end = match block.state {
            EncryptionState::Decrypted => 0,
            // What dissect.fve takes for a volume that is encrypted throughout.
            _ if block.encrypted_bytes == 0 => volume_bytes,
            _ => (block.encrypted_bytes / sector * sector).min(volume_bytes),
        };
        let encrypted = match eow {
            Some(eow) => eow.encrypted.clone(),
            None => Some(0..end).filter(|range| !range.is_empty()).into_iter().collect(),
        };
        Ok(Self {
            sector_bytes,
            volume_bytes,
            boot: at..boot_end,
            reserved: in_order(reserved, boot_bytes),
            encrypted,
        })
    }

    /// Size of the volume in bytes.
    pub(crate) fn volume_bytes(&self) -> u64 {
        self.volume_bytes
    }

    /// How many of its bytes are encrypted.
    pub(crate) fn encrypted_bytes(&self) -> u64 {
        self.encrypted.iter().map(|range| range.end - range.start).sum()
    }

    /// The segments.
    pub(crate) fn layout(&self, cipher: &Arc<SectorCipher>) -> Result<Layout, BitLockerError> {
        let mut segments = Segments { cipher, list: Vec::new(), at: 0 };
        segments.stored(&self.boot, &self.encrypted)?;
        let mut at = self.boot.end - self.boot.start;
        for zero in &self.reserved {
            segments.stored(&(at..zero.start), &self.encrypted)?;
            segments.push(zero.end - zero.start, Mapping::Zero)?;
            at = zero.end;
        }
        segments.stored(&(at..self.volume_bytes), &self.encrypted)?;
        Ok(Layout::new(self.sector_bytes, segments.list)?)
    }
}

struct Segments<'a> {
    cipher: &'a Arc<SectorCipher>,
    list: Vec<Segment>,
    at: u64,
}

impl Segments<'_> {
    /// Appends bytes that lie at `place`, in as many pieces as the encrypted ranges make of it.
    fn stored(&mut self, place: &Range<u64>, encrypted: &[Range<u64>]) -> Result<(), BitLockerError> {
        let mut at = place.start;
        let first = encrypted.partition_point(|range| range.end <= at);
        for range in encrypted.iter().skip(first) {
            if at >= place.end {
                break;
            }
            let start = range.start.clamp(at, place.end);
            self.plain(at, start)?;
            let end = range.end.min(place.end).max(start);
            self.encrypted(start, end)?;
            at = end;
        }
        self.plain(at, place.end)
    }

    fn plain(&mut self, from: u64, to: u64) -> Result<(), BitLockerError> {
        self.push(to.saturating_sub(from), Mapping::Plain { store_offset: from })
    }

    fn encrypted(&mut self, from: u64, to: u64) -> Result<(), BitLockerError> {
        let first_unit = from / u64::from(self.cipher.unit_bytes());
        let cipher = Arc::clone(self.cipher);
        self.push(to.saturating_sub(from), Mapping::Encrypted { store_offset: from, first_unit, cipher })
    }

    fn push(&mut self, len: u64, mapping: Mapping) -> Result<(), BitLockerError> {
        if len == 0 {
            return Ok(());
        }
        if self.list.len() == MOST_SEGMENTS {
            return Err(BitLockerError::Unsupported(Unsupported::Pieces));
        }
        self.list.push(Segment { start: self.at, len, mapping });
        self.at += len;
        Ok(())
    }
}

/// Sorts ranges, joins those that touch or overlap, and leaves out what lies before `from`.
fn in_order(ranges: impl Iterator<Item = Range<u64>>, from: u64) -> Vec<Range<u64>> {
    let mut all: Vec<_> = ranges.map(|r| r.start.max(from)..r.end).filter(|r| r.start < r.end).collect();
    all.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
