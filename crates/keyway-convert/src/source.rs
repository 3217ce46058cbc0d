//! What a move reads: sectors that can't be read are found one by one, named, and become zeros where somebody keeps a list of
//! them.
//!
//! Such a sector is given up before its segment is moved: once it is in the list it is overwritten *where it lies*, flushed and
//! read back. So everything behind that (checksums, the journal, recovery) meets a medium that can be read, and a drive that has
//! spare sectors takes one of them. A drive that fails to write as well ends the run there.

use crate::ConvertError;
use crate::step::Move;
use keyway_store::{AlignedBuf, Operation, Store, StoreError};
use std::io;
use std::ops::Range;

/// Bytes that are divided no further before each sector of them is read: a page, and what most drives have as a sector,
/// whatever they say.
const BLOCK: usize = 4096;

/// How often a sector is read before it is given up.
const TRIES: usize = 4;

/// A drive's words for a sector that it can't read: `EIO`, and what Linux's block layer makes of a medium error (`ENODATA`) and
/// of a failed integrity check (`EILSEQ`): `blk_errors` in `block/blk-core.c`.
const UNREADABLE: [i32; 3] = [5, 61, 84];

/// Somebody who keeps a list of what could not be read, and so allows that it is given up.
pub trait LostSectors: Sync {
    /// These bytes of the content, which lie at that byte of the medium, can't be read and are about to become zeros. When this
    /// returns, the list says so on a medium of its own.
    ///
    /// # Errors
    /// It could not be written down: then nothing is overwritten, and the run ends.
    fn lost(&self, content: Range<u64>, at: u64) -> io::Result<()>;
}

/// A move's source.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) m: &'a Move,
    /// Who allows that something is given up.
    pub(crate) list: Option<&'a dyn LostSectors>,
}

fn is_unreadable(e: &StoreError) -> bool {
    e.source.raw_os_error().is_some_and(|errno| UNREADABLE.contains(&errno))
}

impl Source<'_> {
    /// Reads what lies that many bytes behind the beginning of the move.
    pub(crate) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), ConvertError> {
        match self.store.read_at(bytes, self.m.from.offset + at) {
            Err(e) if is_unreadable(&e) => match self.middle(bytes.len(), at) {
                Some(middle) => {
                    let (first, second) = bytes.split_at_mut(middle);
                    self.read(first, at)?;
                    self.read(second, at + middle as u64)
                }
                None => self.read_block(bytes, at),
            },
            read => Ok(read?),
        }
    }

    /// Bytes that are given up together: a sector of the medium, and of the cipher that they are under.
    fn unit(&self) -> usize {
        let cipher = self.m.from.key.as_ref().map_or(0, |key| key.cipher.unit_bytes());
        self.store.sector_bytes().max(cipher).max(512) as usize
    }

    /// Where bytes are divided that can't be read together: at a block's edge. `None` within one block.
    fn middle(&self, len: usize, at: u64) -> Option<usize> {
        let unit = self.unit();
        // Blocks lie on the medium as its own pages do, unless a cipher's unit is as large as that.
        let skew = if unit < BLOCK { ((self.m.from.offset + at) % BLOCK as u64) as usize } else { 0 };
        let block = BLOCK.max(unit);
        let middle = ((skew + len) / 2).next_multiple_of(block).checked_sub(skew)?;
        (middle > 0 && middle < len).then_some(middle)
    }

    /// Reads a block sector by sector.
    fn read_block(&self, bytes: &mut [u8], at: u64) -> Result<(), ConvertError> {
        let (from, logical, unit) = (self.m.from.offset + at, self.m.logical + at, self.unit());
        let mut lost = Vec::new();
        for (n, sector) in (0..).zip(bytes.chunks_mut(unit)) {
            let (begins, len) = (n * unit as u64, sector.len() as u64);
            let Some(source) = self.read_again(sector, from + begins)? else { continue };
            let (place, content) = (from + begins, logical + begins..logical + begins + len);
            let Some(list) = self.list else {
                return Err(ConvertError::Unreadable { at: place, content, source });
            };
            list.lost(content.clone(), place).map_err(ConvertError::List)?;
            sector.fill(0);
            self.m.from.encrypt(sector, at + begins);
            lost.push((begins as usize..begins as usize + sector.len(), content));
        }
        let Some((first, content)) = lost.first() else { return Ok(()) };
        let unwritable = |source| ConvertError::Unwritable {
            at: from + first.start as u64,
            content: content.clone(),
            source,
        };
        self.mend(bytes, from, &lost).map_err(unwritable)
    }

    /// Reads a sector, again and again; what the medium says in the end if it can't be read.
    fn read_again(&self, sector: &mut [u8], from: u64) -> Result<Option<StoreError>, StoreError> {
        let mut failed = None;
        for _ in 0..TRIES {
            match self.store.read_at(sector, from) {
                Err(e) if is_unreadable(&e) => failed = Some(e),
                read => return read.map(|()| None),
            }
        }
        Ok(failed)
    }

    /// Writes the lost sectors of a block: they alone; where that fails the block, since a drive with larger sectors than it
    /// says, or a file's page, would have to be read for less.
    fn mend(&self, bytes: &[u8], from: u64, lost: &[(Range<usize>, Range<u64>)]) -> Result<(), StoreError> {
        let mut block = AlignedBuf::zeroed(bytes.len());
        block.copy_from_slice(bytes);
        let alone = lost.iter().try_for_each(|(range, _)| {
            let mut sector = AlignedBuf::zeroed(range.len());
            sector.copy_from_slice(bytes.get(range.clone()).unwrap_or_default());
            self.store.write_at(&sector, from + range.start as u64)
        });
        alone.or_else(|_| self.store.write_at(&block, from))?;
        self.store.flush()?;
        block.fill(0);
        self.store.read_at(&mut block, from)?;
        if *block == *bytes {
            return Ok(());
        }
        let kept = io::Error::other("the drive does not keep what is written there");
        Err(StoreError::new(Operation::Write, "the medium", from, bytes.len(), kept))
    }
}
