//! Stores that take many requests from one thread: a queue per thread of the cell, kept full.

use super::fill::{fill, refresh};
use super::offsets::{Cursor, Rng, next, seed_of};
use super::tally::{Counter, Load, Tally};
use crate::cell::Direction;
use crate::error::LabError;
use crate::sectors::OpenQueue;
use keyway_store::{Action, AlignedBuf, Queue, Request, StoreError};
use std::collections::VecDeque;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

/// Buffers of so many bytes together, but no more than so many.
const FAR_BYTES: u64 = 4 << 20;
const MOST_BUFFERS: u64 = 1024;

pub(super) fn run(open: &OpenQueue, start: u64, load: Load<'_>) -> Result<Vec<Tally>, LabError> {
    let threads = load.cell.threads.max(1);
    let ready = Barrier::new(threads as usize);
    let failed = AtomicBool::new(false);
    let results = std::thread::scope(|scope| {
        let keeper = |thread| Keeper { open, start, load, thread, ready: &ready, failed: &failed };
        // The first queue is this thread's own.
        let others: Vec<_> = (1..threads)
            .map(|n| {
                let k = keeper(n);
                scope.spawn(move || k.run())
            })
            .collect();
        let mut all = vec![Ok(keeper(0).run())];
        all.extend(others.into_iter().map(|t| t.join()));
        all
    });
    let mut tallies = Vec::new();
    for result in results {
        let died = |_| LabError::Unsuited("a thread of the load generator died".to_owned());
        tallies.push(result.map_err(died)??);
    }
    Ok(tallies)
}

struct Keeper<'a> {
    open: &'a OpenQueue,
    start: u64,
    load: Load<'a>,
    thread: u32,
    ready: &'a Barrier,
    failed: &'a AtomicBool,
}

impl Keeper<'_> {
    fn run(&self) -> Result<Tally, StoreError> {
        let mut queue = (self.open)();
        let blocks = self.load.cell.span_bytes / self.load.cell.block_bytes;
        let depth = u64::from(self.load.cell.queue_depth).min(blocks).clamp(1, 4096);
        let mut rng = Rng::new(seed_of(&[self.load.turn.seed, u64::from(self.thread)]));
        // A drive puts what is read where no core has it near: buffers are taken in turn from more than a core's caches hold.
        let apart = (FAR_BYTES / self.load.cell.block_bytes).min(MOST_BUFFERS);
        let mut buffers: Vec<AlignedBuf> = Vec::new();
        for _ in 0..depth.max(apart) {
            let mut buffer = AlignedBuf::zeroed(self.load.cell.block_bytes as usize);
            fill(&mut buffer, self.load.turn.data, &mut Rng::new(rng.next()));
            buffers.push(buffer);
        }
        self.ready.wait();
        let result = self.keep_up(&mut queue, buffers, depth as usize, &mut rng);
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }

    fn keep_up(
        &self,
        queue: &mut dyn Queue,
        buffers: Vec<AlignedBuf>,
        depth: usize,
        rng: &mut Rng,
    ) -> Result<Tally, StoreError> {
        let Load { cell, turn, proof, .. } = self.load;
        let cursor = Cursor::new(cell, self.thread, self.load.from);
        let mut data = Rng::new(rng.next());
        let mut counter = Counter::new(self.load, queue.now());
        let mut since = vec![0u64; depth];
        let mut begin = |queue: &mut dyn Queue, tag: u64, mut buf: AlignedBuf, since: &mut [u64]| {
            let (at, direction) = next(cell, &cursor, rng);
            let action = match direction {
                Direction::Read => Action::Read,
                Direction::Write => Action::Write,
            };
            if direction == Direction::Write {
                match proof {
                    Some(proof) => proof.prepare(&mut buf, at),
                    None => refresh(&mut buf, turn.data, &mut data),
                }
            }
            if let Some(since) = since.get_mut(tag as usize) {
                *since = queue.now();
            }
            queue.submit(Request { tag, action, offset: self.start + at, buf })
        };
        let mut rested = VecDeque::from(buffers);
        for tag in 0..depth as u64 {
            let Some(buffer) = rested.pop_front() else { break };
            begin(queue, tag, buffer, &mut since)?;
        }
        let mut done = Vec::new();
        while !counter.is_over(queue.now())
            && !turn.stop.load(Ordering::Relaxed)
            && !self.failed.load(Ordering::Relaxed)
        {
            queue.complete(1, &mut done)?;
            for completion in done.drain(..) {
                completion.result?;
                let now = queue.now();
                let began = since.get(completion.tag as usize).copied().unwrap_or(now);
                let read = completion.action == Action::Read;
                counter.finish(if read { Direction::Read } else { Direction::Write }, began, now);
                rested.push_back(completion.buf);
                let Some(buffer) = rested.pop_front() else { continue };
                begin(queue, completion.tag, buffer, &mut since)?;
            }
        }
        while queue.in_flight() > 0 {
            queue.complete(queue.in_flight(), &mut done)?;
            done.clear();
        }
        cursor.leave(turn.place);
        Ok(counter.done())
    }
}
