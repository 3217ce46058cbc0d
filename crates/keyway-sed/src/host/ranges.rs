//! Locking ranges: where they are, whether they are locked, and their end by a new key.

use super::connection::Expect;
use super::error::{HostError, Misbehaved, Operation, Refused, Unfit};
use super::session::Session;
use crate::uid::column::{locking as col, locking_info};
use crate::uid::{locking, method};
use crate::{Status, Uid};

/// The reset type of a power cycle (Core 2.01, 5.1.3.61).
pub(super) const POWER_CYCLE: u64 = 0;

/// Bytes of a logical block where a drive does not tell.
const USUAL_BLOCK: u64 = 512;

/// What a range lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Reads and writes.
    Unlocked,
    /// Reads only.
    ReadOnly,
    /// Nothing.
    Locked,
}

impl Lock {
    /// Whether reads and writes are locked.
    const fn bits(self) -> (bool, bool) {
        match self {
            Self::Unlocked => (false, false),
            Self::ReadOnly => (false, true),
            Self::Locked => (true, true),
        }
    }
}

/// A range as the drive keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Its number; 0 is the global range: everything that no other covers.
    pub number: u16,
    /// First logical block.
    pub start: u64,
    /// Logical blocks.
    pub blocks: u64,
    /// Whether reads can be locked.
    pub read_lock_enabled: bool,
    /// Whether writes can be locked.
    pub write_lock_enabled: bool,
    /// Whether reads are locked, if they can be.
    pub read_locked: bool,
    /// Whether writes are locked, if they can be.
    pub write_locked: bool,
    /// Whether a power cycle locks it.
    pub locks_on_power_cycle: bool,
}

/// What a range lets through now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeState {
    /// Everything, whatever happens: its locking is not enabled.
    NeverLocks,
    /// Reads and writes.
    Unlocked,
    /// Reads only.
    ReadOnly,
    /// Writes only.
    WriteOnly,
    /// Nothing.
    Locked,
}

impl Range {
    /// What it lets through now.
    pub const fn state(&self) -> RangeState {
        let reads = self.read_lock_enabled && self.read_locked;
        let writes = self.write_lock_enabled && self.write_locked;
        match (reads, writes) {
            _ if !self.read_lock_enabled && !self.write_lock_enabled => RangeState::NeverLocks,
            (false, false) => RangeState::Unlocked,
            (false, true) => RangeState::ReadOnly,
            (true, false) => RangeState::WriteOnly,
            (true, true) => RangeState::Locked,
        }
    }
}

/// What ranges there can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeLimits {
    /// Ranges besides the global one.
    pub ranges: u16,
    /// Bytes of a logical block, where the drive tells.
    pub block_bytes: Option<u64>,
    /// Logical blocks that starts and lengths must be multiples of; 1 where it does not matter.
    pub alignment: u64,
    /// The first aligned logical block.
    pub lowest_aligned: u64,
}

impl RangeLimits {
    /// Bytes of a logical block: what the drive tells, else what is usual.
    pub fn block(&self) -> u64 {
        self.block_bytes.unwrap_or(USUAL_BLOCK)
    }

    /// Bytes as whole blocks that keep to the drive's alignment: the first block, and how many.
    ///
    /// # Errors
    /// [`Unfit::PartBlocks`] and [`Unfit::Unaligned`].
    pub fn blocks(&self, start_bytes: u64, length_bytes: u64) -> Result<(u64, u64), Unfit> {
        let block = self.block();
        if !start_bytes.is_multiple_of(block) || !length_bytes.is_multiple_of(block) {
            return Err(Unfit::PartBlocks);
        }
        let (start, blocks) = (start_bytes / block, length_bytes / block);
        if self.fits(start, blocks) { Ok((start, blocks)) } else { Err(Unfit::Unaligned) }
    }

    /// Whether a range may begin and end there.
    pub const fn fits(&self, start: u64, blocks: u64) -> bool {
        if self.alignment <= 1 {
            return true;
        }
        let (Some(first), Some(end)) = (start.checked_sub(self.lowest_aligned), start.checked_add(blocks))
        else {
            // A range may begin at the very first block all the same.
            return start == 0;
        };
        first.is_multiple_of(self.alignment)
            && (blocks.is_multiple_of(self.alignment)
                || end.saturating_sub(self.lowest_aligned) % self.alignment == 0)
    }
}

impl Session<'_> {
    /// What ranges there can be.
    pub fn range_limits(&mut self) -> Result<RangeLimits, HostError> {
        let row = self.get(locking::INFO, locking_info::MAX_RANGES..=locking_info::LOWEST_ALIGNED_LBA)?;
        // Opal 1.0 tells nothing of alignment.
        let required = row.maybe_uint(locking_info::ALIGNMENT_REQUIRED)?.unwrap_or(0) == 1;
        let alignment = row.maybe_uint(locking_info::ALIGNMENT_GRANULARITY)?.filter(|_| required);
        Ok(RangeLimits {
            ranges: u16::try_from(row.uint(locking_info::MAX_RANGES)?).unwrap_or(u16::MAX),
            block_bytes: row.maybe_uint(locking_info::LOGICAL_BLOCK_SIZE)?.filter(|n| *n > 0),
            alignment: alignment.unwrap_or(1).max(1),
            lowest_aligned: row.maybe_uint(locking_info::LOWEST_ALIGNED_LBA)?.unwrap_or(0),
        })
    }

    /// A range.
    pub fn range(&mut self, number: u16) -> Result<Range, HostError> {
        let row = self.get(locking::range(number), col::RANGE_START..=col::LOCK_ON_RESET)?;
        Ok(Range {
            number,
            start: row.uint(col::RANGE_START)?,
            blocks: row.uint(col::RANGE_LENGTH)?,
            read_lock_enabled: row.boolean(col::READ_LOCK_ENABLED)?,
            write_lock_enabled: row.boolean(col::WRITE_LOCK_ENABLED)?,
            read_locked: row.boolean(col::READ_LOCKED)?,
            write_locked: row.boolean(col::WRITE_LOCKED)?,
            locks_on_power_cycle: row.uints(col::LOCK_ON_RESET)?.contains(&POWER_CYCLE),
        })
    }

    /// Puts a range somewhere. Its data are not what they were before.
    ///
    /// # Errors
    /// [`HostError::Refused`] where it overlaps another, is not aligned or is the global one.
    pub fn place_range(&mut self, number: u16, start: u64, blocks: u64) -> Result<(), HostError> {
        self.set_as(Operation::SetRange, locking::range(number), |to| {
            to.named(col::RANGE_START, |to| {
                to.uint(start);
            });
            to.named(col::RANGE_LENGTH, |to| {
                to.uint(blocks);
            });
        })
    }

    /// Refuses a range that has no place: a drive locks, unlocks and erases its nothing without a word.
    ///
    /// # Errors
    /// [`Unfit::NoPlace`].
    pub fn must_be_placed(&mut self, number: u16) -> Result<(), HostError> {
        if number == 0 {
            return Ok(());
        }
        match self.range(number) {
            Ok(range) if range.blocks == 0 => Err(Unfit::NoPlace(number).into()),
            // Whoever may lock it need not be allowed to see it.
            _ => Ok(()),
        }
    }

    /// Whether a range can be locked at all; where it can, a power cycle does.
    pub fn enable_locking(&mut self, number: u16, enable: bool) -> Result<(), HostError> {
        self.set_as(Operation::SetRange, locking::range(number), |to| {
            for column in [col::READ_LOCK_ENABLED, col::WRITE_LOCK_ENABLED] {
                to.named(column, |to| {
                    to.boolean(enable);
                });
            }
            if enable {
                to.named(col::LOCK_ON_RESET, |to| {
                    to.list(|to| {
                        to.uint(POWER_CYCLE);
                    });
                });
            }
        })
    }

    /// Locks or unlocks a range.
    ///
    /// # Errors
    /// [`HostError::Refused`] where this authority may not.
    pub fn lock(&mut self, number: u16, lock: Lock) -> Result<(), HostError> {
        let (read, write) = lock.bits();
        self.set(locking::range(number), |to| {
            to.named(col::READ_LOCKED, |to| {
                to.boolean(read);
            });
            to.named(col::WRITE_LOCKED, |to| {
                to.boolean(write);
            });
        })
    }

    /// Locks a range, and sees that it is: one whose locking is not enabled takes the word and stays open.
    ///
    /// # Errors
    /// As [`Session::lock`]; [`Unfit::NeverLocks`].
    pub fn lock_now(&mut self, number: u16) -> Result<(), HostError> {
        self.lock(number, Lock::Locked)?;
        match self.range(number) {
            Ok(now) if now.state() == RangeState::NeverLocks => Err(Unfit::NeverLocks.into()),
            // Whoever may lock it need not be allowed to see it.
            _ => Ok(()),
        }
    }

    /// The range's media key.
    pub fn media_key(&mut self, number: u16) -> Result<Uid, HostError> {
        self.get(locking::range(number), col::ACTIVE_KEY..=col::ACTIVE_KEY)?.uid(col::ACTIVE_KEY)
    }

    /// Makes a new media key for the range: **everything in it is lost**, at once.
    ///
    /// # Errors
    /// [`HostError::Refused`] where this authority may not.
    pub fn new_key(&mut self, number: u16) -> Result<(), HostError> {
        let told = self.get(locking::range(number), col::ACTIVE_KEY..=col::ACTIVE_KEY)?;
        let key = match told.maybe_uid(col::ACTIVE_KEY)? {
            Some(key) => key,
            // Of what this authority may not see, a drive leaves the columns out of its answer to Get. Others in their
            // place are no such answer.
            None if told.is_empty()? => {
                let (operation, status) = (Operation::GenKey, Status::NotAuthorized);
                return Err(HostError::Refused(Refused { operation, authority: self.authority, status }));
            }
            None => return Err(HostError::Misbehaved(Misbehaved::Form("Get"))),
        };
        if key == Uid::NULL {
            return Err(HostError::Unsupported("media key for this range: it locks without encrypting"));
        }
        self.call_for(Operation::GenKey, key, method::GEN_KEY, Expect::Slow, |_| {})?;
        Ok(())
    }

    /// Erases a range in single user mode: its data, its user's PIN and its locks.
    ///
    /// # Errors
    /// [`HostError::Refused`] where this authority may not.
    pub(crate) fn erase_single_user(&mut self, number: u16) -> Result<(), HostError> {
        self.call_for(Operation::Erase, locking::range(number), method::ERASE, Expect::Slow, |_| {})?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_fit_their_alignment() {
        let limits = RangeLimits { ranges: 8, block_bytes: Some(512), alignment: 8, lowest_aligned: 0 };
        assert!(limits.fits(0, 8) && limits.fits(64, 128));
        assert!(!limits.fits(1, 8) && !limits.fits(8, 9));
        let odd = RangeLimits { lowest_aligned: 7, ..limits };
        assert!(odd.fits(7, 8) && odd.fits(0, 7) && !odd.fits(8, 8));
        assert!(!limits.fits(8, u64::MAX - 1));
        assert!(RangeLimits { alignment: 1, ..limits }.fits(3, 5));
    }
}
