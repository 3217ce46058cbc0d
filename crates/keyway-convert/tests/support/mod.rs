//! A medium whose power fails: what was flushed stays, of the rest each sector is old, new or torn.
#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod bitlocker;
pub(crate) mod case;
pub(crate) mod cross_format;
pub(crate) mod cuts;
pub(crate) mod faults;
pub(crate) mod lying;
pub(crate) mod user;

use keyway_store::{FaultStore, MemStore, Operation, Store, StoreError};
use keyway_testkit::Rng;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SECTOR: usize = 512;

/// What is lost of the sectors that were not flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// All of them.
    All,
    /// None of them.
    Nothing,
    /// Some are old, some new, some torn, as the generator of this seed says.
    Some(u64),
    /// The first sector is torn at that byte: its beginning arrived, or else its end. The others arrived all,
    /// or none.
    Front { at: usize, begins: bool, others: bool },
}

struct State {
    medium: Vec<u8>,
    /// What was written to each sector since the last flush, in order.
    pending: BTreeMap<usize, Vec<[u8; SECTOR]>>,
    steps: u64,
    dies_at: Option<u64>,
    dead: bool,
    /// Writes to the first sector until the power fails.
    fronts_left: Option<u64>,
    /// What becomes of unflushed sectors besides.
    damage: Damage,
    bad: Option<Bad>,
    /// Before which write or flush the medium is looked at, and what it is then.
    photo: (Option<u64>, Option<Vec<u8>>),
}

/// Bytes that can't be read, so many times.
#[derive(Debug, Clone)]
pub(crate) struct Bad {
    pub(crate) range: Range<u64>,
    pub(crate) times: u64,
}

/// Where a loss of power does other things to sectors than to tear them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Damage {
    /// Here they are old or new, but for one stretch of garbage in so many bytes.
    pub(crate) in_place: Vec<Range<u64>>,
    /// Here any of them may become garbage.
    pub(crate) garbage: Vec<Range<u64>>,
}

/// Bytes of garbage at most, and how far from each other such stretches are at least: what a journal of sums and parity
/// mends in a segment of 64 KiB.
const GARBAGE: usize = 4 << 10;
const APART: usize = 64 << 10;

/// A medium with a cache, and a moment at which its power fails.
pub(crate) struct Power {
    state: Mutex<State>,
    size: u64,
}

impl Power {
    /// The power fails just before the write or flush of that number.
    pub(crate) fn new(medium: Vec<u8>, dies_at: Option<u64>) -> Self {
        let size = medium.len() as u64;
        let state = State {
            medium,
            pending: BTreeMap::new(),
            steps: 0,
            dies_at,
            dead: false,
            fronts_left: None,
            damage: Damage::default(),
            bad: None,
            photo: (None, None),
        };
        Self { state: Mutex::new(state), size }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same with other damage to unflushed sectors.
    pub(crate) fn with(self, damage: Damage) -> Self {
        self.harm(damage);
        self
    }

    /// The same, of which those bytes can't be read.
    pub(crate) fn failing(self, bad: Option<Bad>) -> Self {
        self.lock().bad = bad;
        self
    }

    /// The same, which is looked at before that write or flush.
    pub(crate) fn seen_at(self, step: u64) -> Self {
        self.lock().photo.0 = Some(step);
        self
    }

    /// What a reader would find now, also where nothing can be read.
    pub(crate) fn seen(&self) -> Vec<u8> {
        let state = self.lock();
        let mut medium = state.medium.clone();
        for (number, versions) in &state.pending {
            medium[number * SECTOR..][..SECTOR].copy_from_slice(versions.last().expect("written"));
        }
        medium
    }

    /// What was on the medium then.
    pub(crate) fn photo(&self) -> Option<Vec<u8>> {
        self.lock().photo.1.take()
    }

    /// From now on unflushed sectors come to other harm.
    pub(crate) fn harm(&self, damage: Damage) {
        self.lock().damage = damage;
    }

    /// Writes and flushes so far.
    pub(crate) fn steps(&self) -> u64 {
        self.lock().steps
    }

    /// The power fails just after the first sector was written for the `n`th time.
    pub(crate) fn failing_behind_the_front(medium: Vec<u8>, n: u64) -> Self {
        let power = Self::new(medium, None);
        power.lock().fronts_left = Some(n);
        power
    }

    /// The process was killed and the power stayed: the cache still has everything. It fails at `dies_at` of the next one.
    pub(crate) fn survived(self, dies_at: Option<u64>) -> Self {
        let mut state = self.lock();
        (state.steps, state.dies_at, state.dead, state.fronts_left) = (0, dies_at, false, None);
        drop(state);
        self
    }

    /// What is left on the medium.
    pub(crate) fn left(self, loss: Loss) -> Vec<u8> {
        let State { mut medium, pending, damage, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut rng = match loss {
            Loss::All => return medium,
            Loss::Some(seed) => Some(Rng::new(seed)),
            Loss::Nothing | Loss::Front { .. } => None,
        };
        let garbage: Vec<Range<usize>> = match &mut rng {
            Some(rng) => (0..medium.len())
                .step_by(2 * APART)
                .map(|at| {
                    let begins =
                        at + APART + rng.below(((APART - GARBAGE) / SECTOR) as u64 + 1) as usize * SECTOR;
                    begins..begins + GARBAGE.min(rng.below(3) as usize * GARBAGE)
                })
                .collect(),
            None => vec![],
        };
        for (number, versions) in pending {
            let old = &mut medium[number * SECTOR..][..SECTOR];
            if let Loss::Front { at, begins, others } = loss {
                let new = versions.last().expect("written");
                match (number, begins) {
                    (0, true) => old[..at].copy_from_slice(&new[..at]),
                    (0, false) => old[at..].copy_from_slice(&new[at..]),
                    _ if others => old.copy_from_slice(new),
                    _ => {}
                }
                continue;
            }
            let Some(rng) = &mut rng else {
                old.copy_from_slice(versions.last().expect("written"));
                continue;
            };
            let new = &versions[rng.below(versions.len() as u64) as usize];
            let place = number * SECTOR;
            let is_in = |ranges: &[Range<u64>]| ranges.iter().any(|range| range.contains(&(place as u64)));
            if is_in(&damage.in_place) {
                if garbage.get(place / (2 * APART)).is_some_and(|garbage| garbage.contains(&place)) {
                    // Anything, or torn.
                    let at = rng.below(SECTOR as u64 + 1) as usize;
                    match rng.below(4) {
                        0 => old[..at].copy_from_slice(&new[..at]),
                        1 => old[at..].copy_from_slice(&new[at..]),
                        _ => old.copy_from_slice(&rng.bytes(SECTOR)),
                    }
                } else if rng.below(2) == 0 {
                    old.copy_from_slice(new);
                }
                continue;
            }
            if is_in(&damage.garbage) && rng.below(3) == 0 {
                old.copy_from_slice(&rng.bytes(SECTOR));
                continue;
            }
            let at = rng.below(SECTOR as u64 + 1) as usize;
            match rng.below(6) {
                0 | 1 => {}
                2 | 3 => old.copy_from_slice(new),
                // Torn: the beginning or the end of it arrived.
                4 => old[..at].copy_from_slice(&new[..at]),
                _ => old[at..].copy_from_slice(&new[at..]),
            }
        }
        medium
    }
}

fn gone(op: Operation) -> StoreError {
    StoreError::new(op, "the store without power", 0, 0, std::io::Error::from_raw_os_error(5))
}

impl State {
    fn step(&mut self, op: Operation) -> Result<(), StoreError> {
        if self.photo.0 == Some(self.steps) {
            self.photo.1 = Some(self.medium.clone());
        }
        if self.dies_at == Some(self.steps) {
            self.dead = true;
        }
        self.steps += 1;
        if self.dead { Err(gone(op)) } else { Ok(()) }
    }
}

/// A store that can be flushed in part: the others are flushed whole, which is more.
pub(crate) trait Medium: Store {
    fn flush_part(&self, _part: &Range<u64>) -> Result<(), StoreError> {
        self.flush()
    }
}

impl Medium for MemStore {}
impl Medium for FaultStore<MemStore> {}

impl Medium for Power {
    fn flush_part(&self, part: &Range<u64>) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.step(Operation::Flush)?;
        let State { medium, pending, .. } = &mut *state;
        pending.retain(|number, versions| {
            let at = number * SECTOR;
            let inside = part.contains(&(at as u64));
            if inside {
                medium[at..at + SECTOR].copy_from_slice(versions.last().expect("written"));
            }
            !inside
        });
        Ok(())
    }
}

/// A part of a medium as a store of its own: what is converted, or the file that its journal is in.
pub(crate) struct Part<'a> {
    pub(crate) medium: &'a dyn Medium,
    pub(crate) range: Range<u64>,
}

impl Store for Part<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        assert!(offset + buf.len() as u64 <= self.size());
        self.medium.read_at(buf, self.range.start + offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        assert!(offset + buf.len() as u64 <= self.size());
        self.medium.write_at(buf, self.range.start + offset)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.medium.flush_part(&self.range)
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.medium.discard(self.range.start + offset, len)
    }

    fn size(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

impl Store for Power {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.dead {
            return Err(gone(Operation::Read));
        }
        let end = offset + buf.len() as u64;
        let met = |bad: &&mut Bad| bad.times > 0 && bad.range.start < end && offset < bad.range.end;
        if let Some(bad) = state.bad.as_mut().filter(met) {
            bad.times -= 1;
            return Err(gone(Operation::Read));
        }
        let at = offset as usize;
        buf.copy_from_slice(&state.medium[at..at + buf.len()]);
        let sectors = at / SECTOR..(at + buf.len()).div_ceil(SECTOR);
        assert!(at.is_multiple_of(SECTOR) && buf.len().is_multiple_of(SECTOR), "whole sectors only");
        for (number, versions) in state.pending.range(sectors) {
            buf[number * SECTOR - at..][..SECTOR].copy_from_slice(versions.last().expect("written"));
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.step(Operation::Write)?;
        // What is written anew can be read again.
        let end = offset + buf.len() as u64;
        state.bad.take_if(|bad| offset <= bad.range.start && bad.range.end <= end);
        assert!(offset.is_multiple_of(SECTOR as u64) && offset + buf.len() as u64 <= self.size);
        let (sectors, odd) = buf.as_chunks::<SECTOR>();
        assert!(odd.is_empty(), "whole sectors only");
        for (i, sector) in sectors.iter().enumerate() {
            state.pending.entry(offset as usize / SECTOR + i).or_default().push(*sector);
        }
        if let (0, Some(left)) = (offset, &mut state.fronts_left) {
            *left -= 1;
            state.dead = *left == 0;
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.flush_part(&(0..self.size))
    }

    /// Reads as zeros from then on; until it is flushed it may be undone as a write may.
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.write_at(&vec![0; len as usize], offset)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn is_read_only(&self) -> bool {
        false
    }
}
