//! Sectors in this process: a thread per request in flight, each with a buffer of its own.

use super::fill::{fill, refresh};
use super::offsets::{Cursor, Rng, next, seed_of};
use super::tally::{Counter, Load, Tally};
use crate::cell::Direction;
use crate::error::LabError;
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

pub(super) fn run(sectors: &dyn Sectors, load: Load<'_>) -> Result<Vec<Tally>, LabError> {
    let Load { cell, turn, .. } = load;
    let fail = |e: io::Error| LabError::io("use", Path::new("the volume under test"), e);
    // A queue longer than the span has blocks would have two requests on one block.
    let depth = u64::from(cell.queue_depth).min(cell.span_bytes / cell.block_bytes).clamp(1, 4096) as u32;
    let cursors: Vec<Cursor> =
        (0..cell.threads.max(1)).map(|thread| Cursor::new(cell, thread, load.from)).collect();
    let (gate, failed) = (Gate::default(), AtomicBool::new(false));
    let results = thread::scope(|scope| {
        let mut handles = Vec::new();
        for (queue, cursor) in cursors.iter().enumerate() {
            for place in 0..depth {
                let seed = seed_of(&[turn.seed, queue as u64, u64::from(place)]);
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
    for result in results.map_err(fail)? {
        let died = |_| Err(io::Error::other("a thread of the load generator died"));
        tallies.push(result.unwrap_or_else(died).map_err(fail)?);
    }
    cursors.iter().for_each(|cursor| cursor.leave(turn.place));
    Ok(tallies)
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
    fn run(self) -> io::Result<Tally> {
        let mut rng = Rng::new(self.seed);
        let mut buffer = AlignedBuf::zeroed(self.load.cell.block_bytes as usize);
        if self.load.cell.mix.writes() {
            fill(&mut buffer, self.load.turn.data, &mut rng);
        }
        let Some(began) = self.gate.pass() else { return Ok(Tally::default()) };
        let result = self.work(&mut buffer, &mut rng, began);
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }

    /// One request after the other until the time is over.
    fn work(&self, buffer: &mut [u8], rng: &mut Rng, began: Instant) -> io::Result<Tally> {
        let Load { cell, turn, proof, origin, .. } = self.load;
        let mut data = Rng::new(rng.next());
        let mut counter = Counter::new(self.load, began.duration_since(origin).as_nanos() as u64);
        let mut since = self.load.now();
        while !counter.is_over(since)
            && !turn.stop.load(Ordering::Relaxed)
            && !self.failed.load(Ordering::Relaxed)
        {
            let (at, direction) = next(cell, self.cursor, rng);
            match (direction, proof) {
                (Direction::Read, _) => self.sectors.read_at(buffer, at)?,
                (Direction::Write, Some(proof)) => {
                    proof.prepare(buffer, at);
                    self.sectors.write_at(buffer, at)?;
                }
                (Direction::Write, None) => {
                    refresh(buffer, turn.data, &mut data);
                    self.sectors.write_at(buffer, at)?;
                }
            }
            let done = self.load.now();
            counter.finish(direction, since, done);
            since = done;
        }
        Ok(counter.done())
    }
}
