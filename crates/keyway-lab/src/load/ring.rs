//! Files and devices: a ring per thread, filled up again whenever a request is finished.

use super::fill::{fill, refresh};
use super::offsets::{Cursor, Rng, next, seed_of};
use super::tally::{Counter, Load, Tally};
use super::turn::Turn;
use crate::cell::{Cell, Direction};
use crate::error::LabError;
use keyway_sys::{IoRing, Transfer};
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) fn run(path: &Path, start: u64, direct: bool, load: Load<'_>) -> Result<Vec<Tally>, LabError> {
    let Load { cell, turn, .. } = load;
    let fail = |doing| move |e: io::Error| LabError::io(doing, path, e);
    let mut options = OpenOptions::new();
    options.read(true).write(cell.mix.writes());
    if direct {
        options.custom_flags(OFlags::DIRECT.bits() as i32);
    }
    let files = (0..cell.threads.max(1)).map(|_| options.open(path)).collect::<io::Result<Vec<_>>>();
    let files = files.map_err(fail("open"))?;
    // A queue longer than the span has blocks would have two requests on one block.
    let depth = u64::from(cell.queue_depth).min(cell.span_bytes / cell.block_bytes).clamp(1, 4096) as u16;
    let ready = Barrier::new(files.len());
    let failed = AtomicBool::new(false);
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = (0u32..)
            .zip(files)
            .map(|(thread, file)| {
                let (ready, failed) = (&ready, &failed);
                scope.spawn(move || {
                    let ring = prepare(file, depth, cell, turn, thread);
                    ready.wait();
                    let queue = Queue { load, thread, start, depth, failed };
                    let result = ring.and_then(|ring| queue.keep_up(ring));
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    result
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join()).collect::<Vec<_>>()
    });
    let mut tallies = Vec::new();
    for result in results {
        let died = |_| Err(io::Error::other("a thread of the load generator died"));
        let doing = if cell.mix.writes() { "read or write" } else { "read" };
        tallies.push(result.unwrap_or_else(died).map_err(fail(doing))?);
    }
    Ok(tallies)
}

/// A thread's data and its blocks are drawn apart.
const DATA: u64 = 1;

/// Everything that takes time and is not to be measured.
fn prepare(file: std::fs::File, depth: u16, cell: &Cell, turn: Turn<'_>, thread: u32) -> io::Result<IoRing> {
    let mut ring = IoRing::new(file.into(), depth, cell.block_bytes as usize)?;
    if cell.mix.writes() {
        let mut rng = Rng::new(seed_of(&[turn.seed, u64::from(thread), DATA]));
        for slot in 0..depth {
            if let Some(buffer) = ring.buffer_mut(slot) {
                fill(buffer, turn.data, &mut rng);
            }
        }
    }
    Ok(ring)
}

struct Queue<'a> {
    load: Load<'a>,
    thread: u32,
    start: u64,
    depth: u16,
    failed: &'a AtomicBool,
}

impl Queue<'_> {
    /// Keeps the queue full until the time is over; then waits for what is in flight, which does
    /// not count.
    fn keep_up(&self, mut ring: IoRing) -> io::Result<Tally> {
        let Load { cell, turn, proof, from, .. } = self.load;
        let began = self.load.now();
        let mut counter = Counter::new(self.load, began);
        let cursor = Cursor::new(cell, self.thread, from);
        let mut rng = Rng::new(seed_of(&[turn.seed, u64::from(self.thread)]));
        let mut data = Rng::new(rng.next());
        let mut under_way = vec![(began, Direction::Read); usize::from(self.depth)];
        let mut begin = |ring: &mut IoRing, slot: u16, under_way: &mut [(u64, Direction)], now: u64| {
            let (at, direction) = next(cell, &cursor, &mut rng);
            let transfer = match direction {
                Direction::Read => Transfer::Read,
                Direction::Write => Transfer::Write,
            };
            if let Some(entry) = under_way.get_mut(usize::from(slot)) {
                *entry = (now, direction);
            }
            let buffer = if direction == Direction::Write { ring.buffer_mut(slot) } else { None };
            if let Some(buffer) = buffer.and_then(|b| b.get_mut(..cell.block_bytes as usize)) {
                match proof {
                    Some(proof) => proof.prepare(buffer, at),
                    None => refresh(buffer, turn.data, &mut data),
                }
            }
            ring.start(slot, transfer, self.start + at, cell.block_bytes as usize)?;
            // Each request goes out by itself, as DiskSpd and fio do it: handed over many at a
            // time they would cost less, and the figure would be another test's.
            ring.submit(0)
        };
        for slot in 0..self.depth {
            begin(&mut ring, slot, &mut under_way, self.load.now())?;
        }
        let mut last = began;
        while !counter.is_over(last)
            && !turn.stop.load(Ordering::Relaxed)
            && !self.failed.load(Ordering::Relaxed)
        {
            let Some((slot, moved)) = ring.finished() else {
                ring.submit(1)?;
                continue;
            };
            if moved? as u64 != cell.block_bytes {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends too early"));
            }
            last = self.load.now();
            let (since, direction) =
                under_way.get(usize::from(slot)).copied().unwrap_or((last, Direction::Read));
            counter.finish(direction, since, last);
            begin(&mut ring, slot, &mut under_way, last)?;
        }
        cursor.leave(turn.place);
        Ok(counter.done())
    }
}
