//! The MBR shadow, and the DataStore: bytes that the drive keeps beside its medium.

use super::error::{HostError, Unfit};
use super::session::Session;
use crate::Uid;
use crate::packet::HEADERS;
use crate::uid::column::{mbr_control as col, table as table_col};
use crate::uid::{locking, table};
use std::ops::ControlFlow;

/// What a method call and its frame take besides the bytes that it carries: two UIDs, names, numbers and
/// a status list, generously.
const CALL_BYTES: usize = 128;

/// The state of the MBR shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shadow {
    /// It is shown in place of the drive's first blocks after a power cycle.
    pub enabled: bool,
    /// It has done its work: the drive's own blocks are shown.
    pub done: bool,
}

/// A table of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteTable {
    /// The MBR shadow.
    Shadow,
    /// The DataStore: for the host's own use.
    DataStore,
}

impl ByteTable {
    const fn uid(self) -> Uid {
        match self {
            Self::Shadow => table::MBR,
            Self::DataStore => table::DATA_STORE,
        }
    }

    const fn past_end(self) -> Unfit {
        match self {
            Self::Shadow => Unfit::LargerThanShadow,
            Self::DataStore => Unfit::PastDataStore,
        }
    }
}

impl Session<'_> {
    /// The state of the MBR shadow.
    pub fn shadow(&mut self) -> Result<Shadow, HostError> {
        let row = self.get(locking::MBR_CONTROL, col::ENABLE..=col::DONE)?;
        Ok(Shadow { enabled: row.boolean(col::ENABLE)?, done: row.boolean(col::DONE)? })
    }

    /// Shows the MBR shadow after power cycles, or not.
    pub fn enable_shadow(&mut self, enable: bool) -> Result<(), HostError> {
        self.set(locking::MBR_CONTROL, |to| {
            to.named(col::ENABLE, |to| {
                to.boolean(enable);
            });
        })
    }

    /// Says that the shadow has done its work, or not yet.
    pub fn shadow_done(&mut self, done: bool) -> Result<(), HostError> {
        self.set(locking::MBR_CONTROL, |to| {
            to.named(col::DONE, |to| {
                to.boolean(done);
            });
        })
    }

    /// Bytes that a table has.
    pub fn table_bytes(&mut self, which: ByteTable) -> Result<u64, HostError> {
        // The row of the Table table that describes a table has the table's number.
        let row = Uid::row(table::TABLE.table_number(), which.uid().table_number());
        self.get(row, table_col::ROWS..=table_col::ROWS)?.uint(table_col::ROWS)
    }

    /// Bytes that a table has from `offset` on.
    ///
    /// # Errors
    /// As [`Session::call`]; it ends before that.
    pub fn table_bytes_from(&mut self, which: ByteTable, offset: u64) -> Result<u64, HostError> {
        Ok(self.table_bytes(which)?.checked_sub(offset).ok_or(which.past_end())?)
    }

    /// Bytes of a table. `progress` hears how many are read, and may stop it.
    ///
    /// # Errors
    /// [`HostError::Refused`] where this session may not, or the table ends before.
    pub fn read_table(
        &mut self,
        which: ByteTable,
        offset: u64,
        into: &mut [u8],
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), HostError> {
        let part = self.part()?;
        let mut at = offset;
        for chunk in into.chunks_mut(part) {
            self.get_bytes(which.uid(), at, chunk)?;
            at = at.saturating_add(chunk.len() as u64);
            if progress(at - offset).is_break() {
                return Err(HostError::Stopped);
            }
        }
        Ok(())
    }

    /// Writes bytes of a table, if it has room for all of them. `progress` hears how many are written, and may stop it.
    pub fn write_table(
        &mut self,
        which: ByteTable,
        offset: u64,
        bytes: &[u8],
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), HostError> {
        if self.table_bytes_from(which, offset)? < bytes.len() as u64 {
            return Err(which.past_end().into());
        }
        let part = self.part()?;
        let mut at = offset;
        for chunk in bytes.chunks(part) {
            self.set_bytes(which.uid(), at, chunk)?;
            at = at.saturating_add(chunk.len() as u64);
            if progress(at - offset).is_break() {
                return Err(HostError::Stopped);
            }
        }
        Ok(())
    }

    /// Bytes that fit into one call, a multiple of 512 where that many fit.
    fn part(&mut self) -> Result<usize, HostError> {
        let limits = self.limits()?;
        let room = limits.token.min(limits.com_packet.saturating_sub(HEADERS)).saturating_sub(CALL_BYTES);
        let whole = room - room % 512;
        Ok(if whole > 0 { whole } else { room.max(1) })
    }
}
