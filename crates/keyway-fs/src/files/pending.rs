//! Changes to a file system's structures that wait: read as if they were made, and written in an order that leaves what
//! was there whole, wherever the power fails.

use keyway_store::{Store, StoreError};
use std::collections::BTreeMap;

/// Bytes of a sector, which a medium keeps whole or not at all.
pub(super) const SECTOR: usize = 512;
/// Sectors written at once.
const TOGETHER: usize = 2048;

/// When a change may reach the medium: everything of one step is there before anything of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// Nothing leads there yet.
    Unreachable,
    /// A folder's chain becomes longer than the folder.
    Links,
    /// New entries, and folders that have become longer.
    Entries,
    /// Entries whose place others have taken.
    Removals,
    /// What belonged to these.
    Freed,
}

impl Step {
    const ALL: [Self; 5] = [Self::Unreachable, Self::Links, Self::Entries, Self::Removals, Self::Freed];
}

/// What waits.
#[derive(Default)]
pub(super) struct Pending {
    /// Sectors as they will be.
    view: BTreeMap<u64, Box<[u8; SECTOR]>>,
    changes: Vec<(Step, u64, Vec<u8>)>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Puts what waits over what was read.
    pub(super) fn over(&self, buf: &mut [u8], offset: u64) {
        if self.view.is_empty() {
            return;
        }
        let end = offset.saturating_add(buf.len() as u64);
        let sectors = offset / SECTOR as u64..end.div_ceil(SECTOR as u64);
        for (number, bytes) in self.view.range(sectors) {
            let start = number.saturating_mul(SECTOR as u64);
            let skip = offset.saturating_sub(start) as usize;
            let to = start.saturating_sub(offset) as usize;
            let from = bytes.get(skip..).unwrap_or_default();
            for (byte, held) in buf.get_mut(to..).unwrap_or_default().iter_mut().zip(from) {
                *byte = *held;
            }
        }
    }

    /// Adds a change. `read` fills a sector with what lies on the medium.
    pub(super) fn add<E>(
        &mut self,
        step: Step,
        at: u64,
        bytes: &[u8],
        read: impl FnMut(&mut [u8; SECTOR], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        apply(&mut self.view, at, bytes, read)?;
        self.changes.push((step, at, bytes.to_vec()));
        Ok(())
    }

    /// Writes everything, step by step, each flushed before the next. `written` is told of each place.
    pub(super) fn write(
        &self,
        store: &dyn Store,
        written: &mut dyn FnMut(u64, u64),
    ) -> Result<(), StoreError> {
        for step in Step::ALL {
            let mut sectors = BTreeMap::new();
            for (_, at, bytes) in self.changes.iter().filter(|(of, ..)| *of == step) {
                apply(&mut sectors, *at, bytes, |sector, at| store.read_at(sector, at))?;
            }
            if sectors.is_empty() {
                continue;
            }
            let mut run: Vec<u8> = Vec::new();
            let mut start = 0;
            let mut put = |run: &mut Vec<u8>, start: u64| {
                store.write_at(run, start)?;
                written(start, run.len() as u64);
                run.clear();
                Ok::<_, StoreError>(())
            };
            for (number, bytes) in &sectors {
                let at = number.saturating_mul(SECTOR as u64);
                let follows = start + run.len() as u64 == at && run.len() < TOGETHER * SECTOR;
                if !run.is_empty() && !follows {
                    put(&mut run, start)?;
                }
                if run.is_empty() {
                    start = at;
                }
                run.extend_from_slice(&bytes[..]);
            }
            put(&mut run, start)?;
            store.flush()?;
        }
        Ok(())
    }
}

/// Changes bytes in sectors, which are read where they are not held yet.
fn apply<E>(
    sectors: &mut BTreeMap<u64, Box<[u8; SECTOR]>>,
    mut at: u64,
    mut bytes: &[u8],
    mut read: impl FnMut(&mut [u8; SECTOR], u64) -> Result<(), E>,
) -> Result<(), E> {
    while !bytes.is_empty() {
        let (number, within) = (at / SECTOR as u64, (at % SECTOR as u64) as usize);
        let n = bytes.len().min(SECTOR - within);
        let sector = match sectors.entry(number) {
            std::collections::btree_map::Entry::Occupied(held) => held.into_mut(),
            std::collections::btree_map::Entry::Vacant(none) => {
                let mut sector = Box::new([0; SECTOR]);
                read(&mut sector, number.saturating_mul(SECTOR as u64))?;
                none.insert(sector)
            }
        };
        let (part, rest) = bytes.split_at(n);
        if let Some(place) = sector.get_mut(within..within + n) {
            place.copy_from_slice(part);
        }
        bytes = rest;
        at = at.saturating_add(n as u64);
    }
    Ok(())
}
