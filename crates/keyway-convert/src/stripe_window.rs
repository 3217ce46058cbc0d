//! Carries one move out of which the journal need not keep everything: large segments, each with a record that says how
//! it is put together again ([`Redundancy`]).
//!
//! A *reader* and a *cipher* are a few segments ahead, as in the [`pipeline`](crate::pipeline). One loop does
//! the rest, and a flush is for two things at once: the last round of a segment's targets and the record of the
//! next.
//!
//! 1. the first record; flush;
//! 2. all rounds of its targets but the last, a flush behind each;
//! 3. the last round, and the record of the next segment; flush; 2.
//!
//! So there is one record at most that is not on the medium, and no target is written before everything that came
//! before its segment is. These are the rules of a journal with two slots, which is what `tests/model.rs` goes through.

use crate::journal::{Journal, Record, Sums, checksum};
use crate::pipeline::{Advance, flush};
use crate::redundancy::Redundancy;
use crate::source::{LostSectors, Source};
use crate::step::Move;
use crate::{ConvertError, Stopped};
use keyway_store::{AlignedBuf, Store};
use std::ops::{ControlFlow, Range};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Segments in memory: one that is read, one that is ciphered, one that waits, one that is written.
pub(crate) const BUFFERS: usize = 4;

/// A segment is read and written in parts, so that reads and writes come between each other; so many are written at a time,
/// since one by one a drive has nothing to do in between.
const PART: usize = 4 << 20;
const WRITERS: usize = 4;

/// A move, from some byte of it on. Everything before it is on the medium.
pub(crate) struct StripeWindows<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) journal: &'a Journal<'a>,
    pub(crate) m: &'a Move,
    pub(crate) lost: Option<&'a dyn LostSectors>,
    /// The number of the step.
    pub(crate) step: u32,
    /// Bytes that are done.
    pub(crate) from: u64,
    /// The number of the next record.
    pub(crate) sequence: u64,
    /// What is kept.
    pub(crate) redundancy: Redundancy,
    /// Bytes of a segment.
    pub(crate) len: u64,
    /// Whose turn it is, the reader's or the writers': a drive that is asked for both at once does less of either.
    pub(crate) turn: Mutex<()>,
}

/// A segment on its way.
#[derive(Default)]
struct Window {
    /// Bytes of the move that come before it.
    done: u64,
    bytes: AlignedBuf,
    kept: AlignedBuf,
    /// Of what is kept.
    sums: Sums,
    /// Of what it was, and is.
    source: Sums,
    result: Sums,
}

type LoadedWindow = Result<Window, ConvertError>;

impl StripeWindows<'_> {
    /// Carries it out until it ends or `watch(done)`, called whenever a segment is on the medium, says so.
    pub(crate) fn run(&self, watch: &dyn Fn(u64) -> ControlFlow<()>) -> Result<Advance, ConvertError> {
        std::thread::scope(|scope| {
            let (empty_in, empty) = channel();
            let (read_in, read) = sync_channel(1);
            let (ready_in, ready) = sync_channel(1);
            for _ in 0..BUFFERS {
                // The other end is there.
                let _ = empty_in.send(Window::default());
            }
            scope.spawn(move || self.reader(&empty, &read_in));
            scope.spawn(move || self.cipher(&read, &ready_in));
            // Both ends that it has go when it ends, and the others with them.
            self.carry(ready, empty_in, watch)
        })
    }

    fn carry(
        &self,
        ready: Receiver<LoadedWindow>,
        empty: Sender<Window>,
        watch: &dyn Fn(u64) -> ControlFlow<()>,
    ) -> Result<Advance, ConvertError> {
        let mut came = Advance { stopped: Stopped::Done, done: self.from, sequence: self.sequence };
        let Some(first) = ready.iter().next().transpose()? else { return Ok(came) };
        self.record(&first, &mut came, 0)?;
        flush(self.store, self.journal)?;
        let mut next = Some(first);
        while let Some(now) = next.take() {
            let len = now.bytes.len() as u64;
            let target = self.m.to.offset + self.m.segment(now.done, len);
            let rounds = self.redundancy.rounds(self.m, now.done, len);
            let (last, before) =
                rounds.split_last().map_or((&[][..], &[][..]), |(last, before)| (last, before));
            for round in before.iter().filter(|round| !round.is_empty()) {
                self.write(&now.bytes, target, round, || Ok(()))?;
                self.store.flush()?;
            }
            let goes_on = came.stopped == Stopped::Done;
            // If the next one is ready its record is written at the same time.
            next = ready.try_recv().ok().filter(|_| goes_on).transpose()?;
            self.write(&now.bytes, target, last, || match &next {
                Some(next) => self.record(next, &mut came, 1),
                None => Ok(()),
            })?;
            if next.is_none() && goes_on {
                next = ready.recv().ok().transpose()?;
                if let Some(next) = &next {
                    self.record(next, &mut came, 1)?;
                }
            }
            match &next {
                Some(_) => flush(self.store, self.journal)?,
                None => self.store.flush()?,
            }
            let before = std::mem::replace(&mut came.done, now.done + len);
            // The reader may have come to its end.
            let _ = empty.send(now);
            // In parts, too, since whoever is told may hold it up, or want it to stop.
            let told = (before..came.done).step_by(PART).skip(1).chain([came.done]);
            if told.into_iter().any(|done| watch(done).is_break()) {
                came.stopped = Stopped::Paused;
            }
        }
        Ok(came)
    }

    /// Writes ranges of a segment, several at a time, and something else meanwhile.
    fn write(
        &self,
        bytes: &[u8],
        target: u64,
        ranges: &[Range<usize>],
        also: impl FnOnce() -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        let parts = ranges.iter().flat_map(|range| {
            let range = range.clone();
            range.clone().step_by(PART).map(move |at| at..range.end.min(at + PART))
        });
        let parts: Vec<_> = parts.collect();
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let next = AtomicUsize::new(0);
        let some = || {
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let piece = bytes.get(part.clone()).unwrap_or_default();
                if let Err(e) = self.store.write_at(piece, target + part.start as u64) {
                    // Nobody begins anything more.
                    next.store(parts.len(), Ordering::Relaxed);
                    return Err(e.into());
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..WRITERS.min(parts.len() + 1)).map(|_| scope.spawn(some)).collect();
            let stopped = |_: &ConvertError| next.store(parts.len(), Ordering::Relaxed);
            let own = also().inspect_err(stopped).and_then(|()| some());
            let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|e| resume_unwind(e)));
            joined.fold(own, Result::and)
        })
    }

    /// Writes a segment's record; `open` segments before it are not at their targets for certain.
    fn record(&self, window: &Window, came: &mut Advance, open: u64) -> Result<(), ConvertError> {
        let len = window.bytes.len() as u64;
        let record = Record {
            sequence: came.sequence,
            step: self.step,
            done: window.done,
            target: self.m.to.offset + self.m.segment(window.done, len),
            len,
            sure: came.sequence,
            floor: came.sequence - open,
            redundancy: self.redundancy,
            source: window.source,
            result: window.result,
        };
        self.journal.write_summed(&record, &window.kept, window.sums)?;
        came.sequence += 1;
        Ok(())
    }

    fn reader(&self, empty: &Receiver<Window>, to: &SyncSender<LoadedWindow>) {
        let mut done = self.from;
        while done < self.m.len {
            // The other end is gone when the work is stopped.
            let Ok(mut window) = empty.recv() else { return };
            let len = self.len.min(self.m.len - done);
            window.done = done;
            window.bytes.resize(len as usize);
            let read = self.read(&mut window.bytes, self.m.segment(done, len));
            let failed = read.is_err();
            if to.send(read.map(|()| window)).is_err() || failed {
                return;
            }
            done += len;
        }
    }

    /// Reads a segment in parts, two at a time; `from` counts from the beginning of the move.
    fn read(&self, bytes: &mut [u8], from: u64) -> Result<(), ConvertError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = Mutex::new(bytes.chunks_mut(PART).zip((from..).step_by(PART)));
        let source = Source { store: self.store, m: self.m, list: self.lost };
        let some = || {
            loop {
                let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((part, at)) = next else { return Ok(()) };
                source.read(part, at)?;
            }
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(some);
            let own = some();
            own.and(other.join().unwrap_or_else(|e| resume_unwind(e)))
        })
    }

    fn cipher(&self, from: &Receiver<LoadedWindow>, to: &SyncSender<LoadedWindow>) {
        for loaded in from {
            let loaded = loaded.map(|mut window| {
                window.source = checksum(&window.bytes);
                self.redundancy.transform(self.m, window.done, &mut window.bytes, &mut window.kept);
                window.result = checksum(&window.bytes);
                window.sums = checksum(&window.kept);
                window
            });
            if to.send(loaded).is_err() {
                return;
            }
        }
    }
}
