//! What the first bytes of a medium say of a conversion whose marker is not in front: not begun, torn on the way, through, or
//! written wrongly where the marker was replaced.

use crate::marker::{MARKER_BYTES, is_torn};
use crate::step::{Side, Step};
use crate::{Conversion, ConvertError, Record};
use keyway_store::AlignedBuf;
use keyway_volume::veracrypt::HEADER_BYTES;

/// The first bytes of a medium without the marker in front: they tell a conversion that has not begun from one that is
/// through, whatever a record says that a drive has kept, or brought back, from the time before.
#[derive(Debug, Clone)]
pub enum Front {
    /// It has not begun if they are these.
    Before(Vec<u8>),
    /// It is through if they are these.
    After(Vec<u8>),
}

/// Whether two pages differ, in no more than one byte. A medium flips a bit; whoever uses a file system changes more of its first
/// page, or a bit that says that it was mounted, which nobody misses.
pub(crate) fn differ_in_a_byte(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).filter(|(one, other)| one != other).count() == 1
}

impl Conversion<'_> {
    fn page_at(&self, at: u64) -> Result<AlignedBuf, ConvertError> {
        let mut page = AlignedBuf::zeroed(MARKER_BYTES);
        self.store.read_at(&mut page, at)?;
        Ok(page)
    }

    /// The page that a move takes from there, or puts there.
    fn page_of(&self, side: &Side) -> Result<AlignedBuf, ConvertError> {
        let mut page = self.page_at(side.offset)?;
        side.decrypt(&mut page, 0);
        Ok(page)
    }

    /// Whether the first bytes are those that a conversion leaves which is through. Only asked where the marker is not there.
    pub(crate) fn is_through(&self) -> Result<bool, ConvertError> {
        let Some(front) = &self.front else { return Ok(false) };
        let page = self.page_at(0)?;
        Ok(match front {
            // Where the marker was on its way, a torn sector may be neither.
            Front::Before(bytes) => !page.starts_with(bytes) && !is_torn(self.journal.id(), &page, bytes),
            Front::After(bytes) => page.starts_with(bytes),
        })
    }

    /// Whether the first page is torn between the marker and what is before or after it, though no whole
    /// identifier tells it. In these steps alone it can be.
    pub(crate) fn is_torn(&self, step: u32) -> Result<bool, ConvertError> {
        let last = self.steps.len().saturating_sub(1);
        let at_zero = |side: &Side| side.offset == 0;
        let parked = |bytes: &[u8]| {
            let mut page = AlignedBuf::zeroed(bytes.len());
            page.copy_from_slice(bytes);
            page
        };
        let whole = if step == self.marking {
            let before = self.steps.iter().take(step as usize).find_map(|step| match step {
                Step::Move(m) if at_zero(&m.from) => Some(&m.to),
                _ => None,
            });
            before.map(|side| self.page_of(side)).transpose()?
        } else if step as usize + 1 == last {
            match self.steps.get(step as usize) {
                Some(Step::Move(m)) if at_zero(&m.to) => Some(self.page_of(&m.from)?),
                // Noise follows the header.
                Some(Step::Put(writes)) => writes
                    .iter()
                    .find(|(at, _)| *at == 0)
                    .and_then(|(_, bytes)| bytes.get(..HEADER_BYTES))
                    .map(parked),
                _ => None,
            }
        } else {
            None
        };
        let Some(whole) = whole else { return Ok(false) };
        Ok(is_torn(self.journal.id(), &self.page_at(0)?, &whole))
    }

    /// Whether the step that the newest record is of has replaced the marker with something else than it was to. Only asked where
    /// the marker is not there. What somebody has put there since who has used what is through is not that: they begin with
    /// a header that opens, or a file system that mounts.
    pub(crate) fn is_written_wrongly(&self, newest: &Record) -> Result<bool, ConvertError> {
        let last = self.steps.len().saturating_sub(1);
        let step = self.steps.get(newest.step as usize).filter(|_| newest.step as usize + 1 == last);
        match step {
            Some(Step::Put(writes)) => {
                // Noise follows a header.
                let is_there = |(at, bytes): &(u64, Vec<u8>)| -> Result<bool, ConvertError> {
                    let page = self.page_at(*at)?;
                    Ok(bytes.get(..HEADER_BYTES).is_some_and(|head| page.starts_with(head)))
                };
                let Some(front) = writes.iter().find(|(at, _)| *at == 0) else { return Ok(false) };
                if is_there(front)? {
                    return Ok(false);
                }
                // Who has given it another secret since has changed the others, too.
                let others = writes.iter().filter(|(at, _)| *at != 0);
                Ok(others.map(is_there).collect::<Result<Vec<_>, _>>()?.into_iter().all(|is_there| is_there))
            }
            // A record without a segment was written behind it when it had been read back.
            Some(Step::Move(m)) if m.to.offset == 0 && newest.len > 0 => {
                let (page, wanted) = (self.page_at(0)?, self.page_of(&m.from)?);
                let is_before = matches!(&self.front, Some(Front::Before(bytes)) if page.starts_with(bytes));
                Ok(is_before || differ_in_a_byte(&page, &wanted))
            }
            _ => Ok(false),
        }
    }

    /// Whether nothing has been changed that counts: the journal says that the marker is not in front yet.
    pub(crate) fn is_untouched(&self) -> Result<bool, ConvertError> {
        let step = self.journal.read()?.map(|held| held.newest.step);
        match step.filter(|step| *step <= self.marking) {
            Some(step) => Ok(!self.is_torn(step)? && !self.is_through()?),
            None => Ok(false),
        }
    }
}
