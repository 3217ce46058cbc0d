//! The drive's blocks: which range they are in, whether it is locked, and the cipher if not.

use super::config::ByteTable;
use super::error::DriveError;
use keyway_cipher::SectorCipher;
use keyway_store::Store;
use std::ops::Range;
use std::sync::Arc;

/// Bytes encrypted at a time.
const PIECE: usize = 256 * 1024;

/// A request for blocks that the drive refuses.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// The range is locked for that. A host sees "access denied" (NVMe) or "data protect" (SCSI).
    #[error("block {lba} is in a range that is locked")]
    Locked {
        /// The first block that is.
        lba: u64,
    },
    /// The MBR shadow is shown there: it can't be written, nor read together with what follows.
    #[error("block {lba} is behind the MBR shadow")]
    Shadowed {
        /// The first block that is.
        lba: u64,
    },
    /// Past the last block, or not whole blocks.
    #[error("{blocks} blocks at {lba} are not on the drive")]
    OutOfRange {
        /// The first block.
        lba: u64,
        /// How many.
        blocks: u64,
    },
    /// The medium failed.
    #[error(transparent)]
    Drive(#[from] DriveError),
}

/// What lies between a block and the medium.
#[derive(Clone)]
pub(super) enum Transform {
    /// There is no key: it is locked for both.
    Closed,
    /// Nothing: the drive does not encrypt, or not here.
    Plain,
    /// The drive's cipher.
    Cipher(Arc<SectorCipher>),
}

impl Transform {
    fn decrypt(&self, blocks: &mut [u8], first: u64) {
        if let Self::Cipher(cipher) = self {
            cipher.decrypt_sectors(blocks, first);
        }
    }

    fn encrypt(&self, blocks: &mut [u8], first: u64) {
        if let Self::Cipher(cipher) = self {
            cipher.encrypt_sectors(blocks, first);
        }
    }
}

/// A range as the data path sees it.
pub(super) struct MediaRange {
    /// Its blocks; for the global range, all.
    pub(super) blocks: Range<u64>,
    pub(super) read_locked: bool,
    pub(super) write_locked: bool,
    pub(super) transform: Transform,
}

/// The map of the medium.
pub(super) struct Media {
    pub(super) blocks: u64,
    pub(super) block_bytes: u32,
    /// First byte of block 0 on the medium.
    pub(super) offset: u64,
    /// Every block that no other range has.
    pub(super) global: MediaRange,
    /// The others that are not empty, in the order of their first blocks.
    pub(super) ranges: Vec<MediaRange>,
    /// The MBR table while it is shown.
    pub(super) shadow: Option<ByteTable>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl Media {
    fn check(&self, lba: u64, len: usize) -> Result<Range<u64>, IoError> {
        let blocks = len as u64 / u64::from(self.block_bytes);
        let wrong = IoError::OutOfRange { lba, blocks };
        match lba.checked_add(blocks) {
            Some(end) if end <= self.blocks && len.is_multiple_of(self.block_bytes as usize) => Ok(lba..end),
            _ => Err(wrong),
        }
    }

    /// The parts of a request, each with the range that it is in.
    fn parts(&self, request: Range<u64>) -> Vec<(Range<u64>, &MediaRange)> {
        let mut parts = Vec::new();
        let mut at = request.start;
        let later =
            self.ranges.iter().filter(|r| r.blocks.end > request.start && r.blocks.start < request.end);
        for range in later {
            if at < range.blocks.start {
                parts.push((at..range.blocks.start, &self.global));
            }
            let end = range.blocks.end.min(request.end);
            parts.push((at.max(range.blocks.start)..end, range));
            at = end;
        }
        if at < request.end {
            parts.push((at..request.end, &self.global));
        }
        parts
    }

    /// The parts, if all of them may be accessed: a request that crosses into a locked range fails as a whole.
    fn open(&self, request: Range<u64>, access: Access) -> Result<Vec<(Range<u64>, &Transform)>, IoError> {
        let locked = |range: &MediaRange| match access {
            Access::Read => range.read_locked,
            Access::Write => range.write_locked,
        };
        let closed = |range: &MediaRange| locked(range) || matches!(range.transform, Transform::Closed);
        // Most drives have the one range.
        if self.ranges.is_empty() && !request.is_empty() && !closed(&self.global) {
            return Ok(vec![(request, &self.global.transform)]);
        }
        let parts = self.parts(request);
        if let Some((blocks, _)) = parts.iter().find(|(_, range)| closed(range)) {
            return Err(IoError::Locked { lba: blocks.start });
        }
        Ok(parts.into_iter().map(|(blocks, range)| (blocks, &range.transform)).collect())
    }

    fn offset(&self, lba: u64) -> u64 {
        self.offset + lba * u64::from(self.block_bytes)
    }

    pub(super) fn read(&self, store: &dyn Store, lba: u64, buf: &mut [u8]) -> Result<(), IoError> {
        let request = self.check(lba, buf.len())?;
        if let Some(shadow) = self.shadow {
            let behind = shadow.len / u64::from(self.block_bytes);
            if request.start < behind {
                if request.end > behind {
                    return Err(IoError::Shadowed { lba });
                }
                let offset = shadow.offset + lba * u64::from(self.block_bytes);
                return Ok(store.read_at(buf, offset).map_err(DriveError::from)?);
            }
        }
        let parts = self.open(request, Access::Read)?;
        store.read_at(buf, self.offset(lba)).map_err(DriveError::from)?;
        let mut rest = buf;
        for (blocks, transform) in parts {
            let len = (blocks.end - blocks.start) as usize * self.block_bytes as usize;
            let Some((part, tail)) = rest.split_at_mut_checked(len) else { break };
            transform.decrypt(part, blocks.start);
            rest = tail;
        }
        Ok(())
    }

    pub(super) fn write(&self, store: &dyn Store, lba: u64, bytes: &[u8]) -> Result<(), IoError> {
        let request = self.check(lba, bytes.len())?;
        self.not_shadowed(&request)?;
        let mut rest = bytes;
        let mut work = Vec::new();
        for (blocks, transform) in self.open(request, Access::Write)? {
            let len = (blocks.end - blocks.start) as usize * self.block_bytes as usize;
            let Some((part, tail)) = rest.split_at_checked(len) else { break };
            rest = tail;
            let mut at = blocks.start;
            if matches!(transform, Transform::Plain) {
                store.write_at(part, self.offset(at)).map_err(DriveError::from)?;
                continue;
            }
            work.resize(PIECE.min(bytes.len()), 0);
            for piece in part.chunks(PIECE) {
                let Some(work) = work.get_mut(..piece.len()) else { break };
                work.copy_from_slice(piece);
                transform.encrypt(work, at);
                store.write_at(work, self.offset(at)).map_err(DriveError::from)?;
                at += piece.len() as u64 / u64::from(self.block_bytes);
            }
        }
        Ok(())
    }

    pub(super) fn discard(&self, store: &dyn Store, lba: u64, blocks: u64) -> Result<(), IoError> {
        let wrong = IoError::OutOfRange { lba, blocks };
        let request = match lba.checked_add(blocks) {
            Some(end) if end <= self.blocks => lba..end,
            _ => return Err(wrong),
        };
        self.not_shadowed(&request)?;
        self.open(request, Access::Write)?;
        let len = blocks * u64::from(self.block_bytes);
        Ok(store.discard(self.offset(lba), len).map_err(DriveError::from)?)
    }

    fn not_shadowed(&self, request: &Range<u64>) -> Result<(), IoError> {
        let shadow = self.shadow.map_or(0, |s| s.len / u64::from(self.block_bytes));
        if request.start < shadow { Err(IoError::Shadowed { lba: request.start }) } else { Ok(()) }
    }
}
