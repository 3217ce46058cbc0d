//! What a writer of exFAT has wait, and the mark in the boot sector that stands meanwhile.

use super::clusters::FIRST;
use super::folder::IN_USE;
use super::{CHANGING, CLEAR, FLAGS, PERCENT, Writer, flags};
use crate::exfat::ENTRY;
use crate::files::error::FilesError;
use crate::files::pending::{SECTOR, Step};
use std::io::{Seek, SeekFrom, Write};

impl Writer {
    /// Says in the boot sector whether the volume is being changed.
    pub(super) fn mark(&mut self, changing: bool) -> Result<(), FilesError> {
        let mut sector = [0; SECTOR];
        self.window.read_exact_at(&mut sector, 0).map_err(FilesError::from_io)?;
        let flags = flags(&sector) & !(CHANGING | CLEAR) | if changing { CHANGING } else { 0 };
        sector[FLAGS..FLAGS + 2].copy_from_slice(&flags.to_le_bytes());
        sector[PERCENT] = self.clusters.percent();
        self.window.seek(SeekFrom::Start(0)).map_err(FilesError::from_io)?;
        self.window.write_all(&sector).map_err(FilesError::from_io)?;
        Ok(self.window.flush_store()?)
    }

    /// Whether nothing on the medium leads there yet.
    pub(super) fn is_fresh(&self, place: u64) -> bool {
        let index = place.checked_sub(self.boot.heap).map(|within| within / self.boot.cluster);
        let cluster =
            index.and_then(|index| u32::try_from(index).ok()).map(|index| index.saturating_add(FIRST));
        cluster.is_some_and(|cluster| self.fresh.contains(&cluster))
    }

    pub(super) fn stage_set(&self, places: &[u64], set: &[[u8; ENTRY]]) -> Result<(), FilesError> {
        for (place, entry) in places.iter().zip(set) {
            let step = if self.is_fresh(*place) { Step::Unreachable } else { Step::Entries };
            self.window.stage(step, *place, entry)?;
        }
        Ok(())
    }

    /// Entries that are none any more.
    pub(super) fn remove(&self, places: &[u64]) -> Result<(), FilesError> {
        for place in places {
            let mut kind = [0; 1];
            self.window.read_exact_at(&mut kind, *place).map_err(FilesError::from_io)?;
            self.window.stage(Step::Removals, *place, &[kind[0] & !IN_USE])?;
        }
        Ok(())
    }
}
