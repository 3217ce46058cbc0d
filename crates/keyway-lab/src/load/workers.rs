//! Sectors in this process: a thread per request in flight, each with a buffer of its own.

use super::fill::fill;
use super::offsets::{Cursor, Rng, next};
use super::tally::{Load, Tally, Times};
use crate::cell::Direction;
use crate::error::LabError;
use crate::histogram::Recorder;
use crate::sectors::Sectors;
use keyway_store::AlignedBuf;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// A worker needs little more than its buffer, which is on the heap.
const STACK_BYTES: usize = 256 << 10;

/// Holds the workers until all are ready.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    ready: usize,
    /// Once it is open: when it was, or nothing where the turn is called off.
    open: Option<Option<Instant>>,
}

impl Gate {
    /// A worker is ready; gives the moment of the start, the same for all.
    fn pass(&self) -> Option<Instant> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready += 1;
        self.changed.notify_all();
        loop {
            if let Some(open) = state.open {
                return open;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets everybody go once `workers` are ready.
    fn open_for(&self, workers: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.ready < workers {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.open = Some(Some(Instant::now()));
        self.changed.notify_all();
    }

    fn call_off(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).open = Some(None);
        self.changed.notify_all();
    }
}

pub(super) fn run(sectors: &dyn Sectors, load: Load<'_>) -> Result<(Vec<Tally>, f64), LabError> {
    let Load { cell, turn, .. } = load;
    let fail = |e: io::Error| LabError::io("use", Path::new("the volume under test"), e);
    // A queue longer than the span has blocks would have two requests on one block.
    let depth = u64::from(cell.queue_depth).min(cell.span_bytes / cell.block_bytes).clamp(1, 4096) as u32;
    let cursors: Vec<Cursor> = (0..cell.threads.max(1)).map(|thread| Cursor::new(cell, thread)).collect();
    let (gate, failed) = (Gate::default(), AtomicBool::new(false));
    let results = thread::scope(|scope| {
        let mut handles = Vec::new();
        for (queue, cursor) in cursors.iter().enumerate() {
            for place in 0..depth {
                let seed = turn.seed ^ ((queue as u64) << 48) ^ (u64::from(place) << 32);
                let worker = Worker { sectors, load, cursor, seed, gate: &gate, failed: &failed };
                match thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || worker.run())
                {
                    Ok(handle) => handles.push(handle),
                    Err(e) => {
                        gate.call_off();
                        return Err(e);
                    }
                }
            }
        }
        gate.open_for(handles.len());
        Ok(handles.into_iter().map(|h| h.join()).collect::<Vec<_>>())
    });
    let mut tallies = Vec::new();
    let mut seconds = 0f64;
    for result in results.map_err(fail)? {
        let (tally, took) = result
            .unwrap_or_else(|_| Err(io::Error::other("a thread of the load generator died")))
            .map_err(fail)?;
        tallies.push(tally);
        seconds = seconds.max(took);
    }
    Ok((tallies, seconds))
}

struct Worker<'a> {
    sectors: &'a dyn Sectors,
    load: Load<'a>,
    cursor: &'a Cursor,
    seed: u64,
    gate: &'a Gate,
    failed: &'a AtomicBool,
}

impl Worker<'_> {
    fn run(self) -> io::Result<(Tally, f64)> {
        let mut rng = Rng::new(self.seed);
        let mut buffer = AlignedBuf::zeroed(self.load.cell.block_bytes as usize);
        if self.load.cell.mix.writes() {
            fill(&mut buffer, self.load.turn.data, &mut rng);
        }
        let Some(began) = self.gate.pass() else { return Ok((Tally::default(), 0.0)) };
        let result = self.work(&mut buffer, &mut rng, began);
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }

    /// One request after the other until the time is over.
    fn work(&self, buffer: &mut [u8], rng: &mut Rng, began: Instant) -> io::Result<(Tally, f64)> {
        let times = Times::of(self.load.turn, began);
        let mut tally = Tally::default();
        let mut recorder = Recorder::default();
        let mut since = Instant::now();
        let mut counted = began;
        while (since < times.until || !tally.has_enough())
            && !self.load.turn.stop.load(Ordering::Relaxed)
            && !self.failed.load(Ordering::Relaxed)
        {
            let (at, direction) = next(self.load.cell, self.cursor, rng);
            if let Some(proof) = self.load.proof.filter(|_| direction == Direction::Write) {
                proof.prepare(buffer, at);
            }
            match direction {
                Direction::Read => self.sectors.read_at(buffer, at)?,
                Direction::Write => self.sectors.write_at(buffer, at)?,
            }
            let done = Instant::now();
            if times.counts(done, &tally) {
                recorder.record(done.duration_since(since).as_nanos() as u64);
                tally.count(direction);
                counted = done;
            }
            since = done;
        }
        tally.latency = recorder.finish();
        Ok((tally, times.seconds(counted)))
    }
}
