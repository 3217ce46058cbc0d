//! Verification, as ATTO's "Verify Data": what a turn has written is read back and compared.
//!
//! Every 512 bytes of a written block begin with their own place and the turn's seed; the rest is the
//! workload's data. So a block that was lost, torn, or written elsewhere is found out, and one of an
//! earlier turn as well. Marking the blocks takes processor time while the turn runs; reading them back
//! comes after it and is no part of the figure.

use super::fill::fill;
use super::lane::Lane;
use super::offsets::Rng;
use super::turn::Turn;
use crate::cell::Cell;
use crate::error::LabError;
use crate::sectors::Subject;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that carry a mark of their own.
const UNIT: usize = 512;
/// Bytes read back at a time, where blocks are not longer.
const PIECE: u64 = 1 << 20;

/// What a turn writes, and where it has written.
pub(super) struct Proof {
    /// A block as the workload fills it.
    block: Vec<u8>,
    seed: u64,
    /// A bit for each block of the span.
    written: Vec<AtomicU64>,
}

impl Proof {
    /// For a turn of this cell; `None` where nothing is to be verified.
    pub(super) fn of(cell: &Cell, turn: Turn<'_>) -> Option<Self> {
        if !turn.verify || !cell.mix.writes() {
            return None;
        }
        let mut block = vec![0; cell.block_bytes as usize];
        fill(&mut block, turn.data, &mut Rng::new(turn.seed));
        let words = (cell.span_bytes / cell.block_bytes).div_ceil(64) as usize;
        Some(Self { block, seed: turn.seed, written: (0..words).map(|_| AtomicU64::new(0)).collect() })
    }

    /// Makes a buffer ready to be written at `offset` of the span.
    pub(super) fn prepare(&self, buf: &mut [u8], offset: u64) {
        buf.copy_from_slice(&self.block);
        for (unit, at) in buf.chunks_mut(UNIT).zip((offset..).step_by(UNIT)) {
            mark(unit, at, self.seed);
        }
        let number = offset / self.block.len() as u64;
        if let Some(word) = self.written.get((number / 64) as usize) {
            word.fetch_or(1 << (number % 64), Ordering::Relaxed);
        }
    }

    fn was_written(&self, number: u64) -> bool {
        let word = self.written.get((number / 64) as usize);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (number % 64) & 1 == 1)
    }

    /// Reads everything back that was written.
    pub(super) fn check(&self, subject: &Subject, cell: &Cell, stop: &AtomicBool) -> Result<(), LabError> {
        let mut lane = Lane::of(subject, self.seed)?;
        let block = cell.block_bytes;
        let at_once = (PIECE / block).max(1);
        let blocks = cell.span_bytes / block;
        let mut want = self.block.clone();
        for first in (0..blocks).step_by(at_once as usize) {
            let end = (first + at_once).min(blocks);
            if !(first..end).any(|n| self.was_written(n)) {
                continue;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(LabError::Stopped);
            }
            lane.read(((end - first) * block) as usize, first * block)?;
            let found = lane.bytes().chunks(block as usize);
            for (number, found) in (first..end).zip(found).filter(|(n, _)| self.was_written(*n)) {
                for (unit, at) in want.chunks_mut(UNIT).zip((number * block..).step_by(UNIT)) {
                    mark(unit, at, self.seed);
                }
                if let Some(at) = found.iter().zip(&want).position(|(found, want)| found != want) {
                    return Err(LabError::Differs { offset: number * block + at as u64 });
                }
            }
        }
        Ok(())
    }
}

/// Place and seed at the start of a unit.
fn mark(unit: &mut [u8], at: u64, seed: u64) {
    for (byte, mark) in unit.iter_mut().zip(at.to_le_bytes().into_iter().chain(seed.to_le_bytes())) {
        *byte = mark;
    }
}

#[cfg(test)]
mod tests {
    use super::super::run;
    use super::*;
    use crate::cell::{Mix, Pattern};
    use crate::sectors::Sectors;
    use crate::workload::Data;
    use keyway_testkit::wait_for;
    use std::io;
    use std::sync::Arc;
    use std::time::Duration;

    /// What becomes of a write and where: nothing, or bytes at a place.
    type Wear = fn(&[u8], u64) -> Option<(Vec<u8>, u64)>;

    /// Takes writes as a medium that is worn out might.
    struct Worn {
        medium: crate::Stored,
        wear: Wear,
        /// Whether one was worn.
        met: AtomicBool,
    }

    impl Sectors for Worn {
        fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            self.medium.read_at(buf, offset)
        }
        fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
            let worn = (self.wear)(buf, offset);
            let is_whole = worn.as_ref().is_some_and(|(data, at)| data == buf && *at == offset);
            self.met.fetch_or(!is_whole, Ordering::Relaxed);
            match worn {
                Some((buf, offset)) => self.medium.write_at(&buf, offset),
                None => Ok(()),
            }
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
        fn size(&self) -> u64 {
            1 << 20
        }
        fn sector_bytes(&self) -> u32 {
            512
        }
        fn is_read_only(&self) -> bool {
            false
        }
    }

    /// How the check of a turn ends, and whether a write was worn.
    fn verified(time: Duration, wear: Wear, data: Data) -> (Result<(), LabError>, bool) {
        let medium = crate::sectors::Stored(Arc::new(keyway_store::MemStore::new(1 << 20)));
        let worn = Arc::new(Worn { medium, wear, met: AtomicBool::new(false) });
        let subject = Subject::InProcess(worn.clone());
        let cell = Cell {
            name: "test".into(),
            pattern: Pattern::Sequential,
            mix: Mix::Write,
            block_bytes: 2048,
            queue_depth: 3,
            threads: 1,
            span_bytes: 1 << 20,
        };
        let stop = AtomicBool::new(false);
        let ramp = Duration::from_millis(2);
        let done = run(
            &subject,
            &cell,
            Turn {
                time,
                bytes: None,
                ramp,
                data,
                seed: 9,
                place: &AtomicU64::new(0),
                verify: true,
                stop: &stop,
            },
        );
        (done.map(|_| ()), worn.met.load(Ordering::Relaxed))
    }

    #[test]
    fn what_is_lost_torn_misplaced_or_spoilt_is_found() {
        const TIME: Duration = Duration::from_millis(30);
        // A mark's first bytes may be those that are there; the unit is what counts. A slow machine needs longer to
        // come by the place; once it has, what is wrong there is found.
        let found = |wear: Wear, data: Data| {
            let mut time = TIME;
            wait_for("the place is come by", || match verified(time, wear, data) {
                (Ok(()), false) => {
                    time *= 2;
                    None
                }
                (Err(LabError::Differs { offset }), _) => Some(offset / 512 * 512),
                other => panic!("{other:?}"),
            })
        };
        for data in [Data::Zero, Data::Pattern, Data::Random] {
            assert!(
                matches!(verified(TIME, |buf, at| Some((buf.to_vec(), at)), data), (Ok(()), false)),
                "{data:?}"
            );
            // Lost, after the first pass over the span as well: the seed is another turn's then.
            let lost = found(|buf, at| (at != 4096).then(|| (buf.to_vec(), at)), data);
            assert_eq!(lost, 4096, "{data:?}");
            let torn = found(|buf, at| Some((buf[..if at == 8192 { 512 } else { 2048 }].to_vec(), at)), data);
            assert_eq!(torn, 8704, "{data:?}");
            let misplaced = found(|buf, at| Some((buf.to_vec(), if at == 6144 { 2048 } else { at })), data);
            assert!([2048, 6144].contains(&misplaced), "{data:?}");
            let spoilt = |buf: &[u8], at| {
                let mut buf = buf.to_vec();
                buf[2047] ^= u8::from(at == 0);
                Some((buf, at))
            };
            assert_eq!(found(spoilt, data), 1536, "{data:?}");
        }
    }
}
