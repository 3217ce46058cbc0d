//! A store that fails as drives fail: errors at a chosen request, a full disk, a power cut.
//!
//! A power cut is the interesting one: the medium keeps what was flushed, and of what was
//! written since then any subset, sector by sector, as the plan's seed decides.

use crate::{Operation, SplitMix64, Store, StoreError, pass_on};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A failing medium's errno, on Linux.
const EIO: i32 = 5;

/// What shall go wrong, and when. Requests are counted from 0, each kind by itself.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan {
    /// Reads from this one on fail with EIO.
    pub reads_fail_from: Option<u64>,
    /// Writes from this one on fail with the given errno (EIO, ENOSPC, ENODEV …).
    pub writes_fail_from: Option<(u64, i32)>,
    /// Flushes from this one on fail with EIO.
    pub flushes_fail_from: Option<u64>,
    /// The power fails just before this write (flushes count as writes here): it and everything
    /// after it fails with EIO and nothing more reaches the medium.
    pub power_cut_before: Option<u64>,
    /// Which of the unflushed sectors survive a power cut: bit by bit from a generator with this
    /// seed. `None` loses all of them.
    pub survivors: Option<u64>,
}

struct State {
    plan: FaultPlan,
    reads: u64,
    writes: u64,
    flushes: u64,
    steps: u64,
    /// Sector number to bytes: written, not yet flushed.
    cache: BTreeMap<u64, Vec<u8>>,
    dead: bool,
}

/// A store with a volatile write cache in front of `inner`, and a plan of what goes wrong.
pub struct FaultStore<S> {
    inner: S,
    state: Mutex<State>,
}

impl<S: Store> FaultStore<S> {
    /// Puts the plan in front of `inner`, whose size must be a multiple of its sector size.
    pub fn new(inner: S, plan: FaultPlan) -> Self {
        let state =
            State { plan, reads: 0, writes: 0, flushes: 0, steps: 0, cache: BTreeMap::new(), dead: false };
        Self { inner, state: Mutex::new(state) }
    }

    /// Writes and flushes seen so far: the number of places where the power could have failed.
    pub fn steps(&self) -> u64 {
        self.lock().steps
    }

    /// The medium as it is after the power has failed: flushed bytes, and the survivors.
    pub fn into_medium(self) -> Result<S, StoreError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(seed) = state.plan.survivors {
            let sector = u64::from(self.inner.sector_bytes());
            let mut random = seed;
            for (number, bytes) in &state.cache {
                random = SplitMix64::new(random).next();
                if random & 1 == 1 {
                    self.inner.write_at(bytes, number * sector)?;
                }
            }
        }
        Ok(self.inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(op: Operation, offset: u64, len: usize, errno: i32) -> StoreError {
        StoreError::new(op, "the faulty store", offset, len, std::io::Error::from_raw_os_error(errno))
    }
}

impl State {
    /// Counts a write or flush and says whether the power is gone.
    fn step(&mut self) -> bool {
        if self.plan.power_cut_before == Some(self.steps) {
            self.dead = true;
        }
        self.steps += 1;
        self.dead
    }
}

impl<S: Store> Store for FaultStore<S> {
    pass_on! { [inner] size sector_bytes is_read_only }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        let number = state.reads;
        state.reads += 1;
        if state.dead || state.plan.reads_fail_from.is_some_and(|from| number >= from) {
            return Err(Self::fault(Operation::Read, offset, buf.len(), EIO));
        }
        self.inner.read_at(buf, offset)?;
        let sector = u64::from(self.inner.sector_bytes());
        let end = offset.saturating_add(buf.len() as u64);
        for (number, bytes) in state.cache.range(offset / sector..end.div_ceil(sector)) {
            let start = number * sector;
            let from = start.max(offset);
            let to = (start + sector).min(end);
            buf[(from - offset) as usize..(to - offset) as usize]
                .copy_from_slice(&bytes[(from - start) as usize..(to - start) as usize]);
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        let number = state.writes;
        state.writes += 1;
        if state.step() {
            return Err(Self::fault(Operation::Write, offset, buf.len(), EIO));
        }
        if let Some((from, errno)) = state.plan.writes_fail_from
            && number >= from
        {
            return Err(Self::fault(Operation::Write, offset, buf.len(), errno));
        }
        let size = self.inner.size();
        let end = offset.saturating_add(buf.len() as u64);
        if end > size {
            return Err(StoreError::past_end(Operation::Write, "the faulty store", offset, buf.len(), size));
        }
        let sector = u64::from(self.inner.sector_bytes());
        let mut at = offset;
        while at < end {
            let number = at / sector;
            let start = number * sector;
            let to = (start + sector).min(end);
            let mut bytes = match state.cache.remove(&number) {
                Some(bytes) => bytes,
                None => {
                    let mut bytes = vec![0; sector as usize];
                    self.inner.read_at(&mut bytes, start)?;
                    bytes
                }
            };
            bytes[(at - start) as usize..(to - start) as usize]
                .copy_from_slice(&buf[(at - offset) as usize..(to - offset) as usize]);
            state.cache.insert(number, bytes);
            at = to;
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        let number = state.flushes;
        state.flushes += 1;
        if state.step() || state.plan.flushes_fail_from.is_some_and(|from| number >= from) {
            return Err(Self::fault(Operation::Flush, 0, 0, EIO));
        }
        let sector = u64::from(self.inner.sector_bytes());
        for (number, bytes) in std::mem::take(&mut state.cache) {
            self.inner.write_at(&bytes, number * sector)?;
        }
        self.inner.flush()
    }

    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }
}
