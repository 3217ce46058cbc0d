//! Carries one move out: reads, ciphers, writes to the journal and to the targets, all at the same time.
//!
//! Five loops or six, each on a thread of its own, with counters of segments between them:
//!
//! - the *reader* and the *cipher* are a few segments ahead. A segment's source may be read before those in
//!   front of it are written, because no segment's target reaches into the source of a later one
//!   ([`Move::segment`]);
//! - the *journal* writes records: at most [`SlotTable::ahead`](crate::SlotTable) of them are not yet on the medium,
//!   and a slot is taken again when the target of its segment is;
//! - the *targets* are written when their records and the heads of these are on the medium;
//! - the *flusher* puts on the medium what was written before it began, while others go on writing, and compares the records
//!   and heads with what is there. Where the journal has a store of its own there are two of them, at the same time: one for
//!   the records, one for heads and targets.

use crate::journal::{Journal, Record, Sums, checksum};
use crate::redundancy::Redundancy;
use crate::source::{LostSectors, Source};
use crate::step::Move;
use crate::{ConvertError, Stopped};
use keyway_store::{AlignedBuf, Store};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Buffers in use at once: one that is read into, one that is ciphered, one that waits, and those between
/// the journal and their targets.
const BUFFERS: usize = 6;

/// A move, from some byte of it on. Everything before it is on the medium.
pub(crate) struct Pipeline<'a> {
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
}

/// How far a pipeline came; everything up to there is on the medium.
pub(crate) struct Advance {
    pub(crate) stopped: Stopped,
    pub(crate) done: u64,
    pub(crate) sequence: u64,
}

/// A segment on its way: bytes of the move that come before it, its own, and the checksums of what it was and is.
struct Segment {
    done: u64,
    bytes: AlignedBuf,
    source: Sums,
    sums: Sums,
}

type LoadedSegment = Result<Segment, ConvertError>;

/// Numbers of segments since the pipeline began.
#[derive(Default)]
struct Counts {
    /// Written to the journal.
    journaled: u64,
    /// Whose record is on its medium.
    recorded: u64,
    /// Whose head is on the medium that is converted.
    headed: u64,
    /// Written to their targets.
    written: u64,
    /// Whose target is on the medium.
    settled: u64,
    /// Nothing more goes to the journal.
    ended: bool,
    failed: Option<ConvertError>,
}

impl Counts {
    /// Whose record and head are where they belong.
    fn durable(&self) -> u64 {
        self.recorded.min(self.headed)
    }
}

/// The counters, and those who wait for them.
#[derive(Default)]
struct Board {
    counts: Mutex<Counts>,
    changed: Condvar,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is so; `None` where something has failed meanwhile.
    fn wait(&self, until: impl Fn(&Counts) -> bool) -> Option<MutexGuard<'_, Counts>> {
        let waits = |counts: &mut Counts| counts.failed.is_none() && !until(counts);
        let counts = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        counts.failed.is_none().then_some(counts)
    }

    fn change(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Keeps the first failure and stops everybody; whether there was none.
    fn holds<T>(&self, result: Result<T, ConvertError>) -> Option<T> {
        result
            .map_err(|e| {
                self.change(|counts| {
                    counts.failed.get_or_insert(e);
                });
            })
            .ok()
    }
}

impl Pipeline<'_> {
    /// Carries it out until it ends or `watch(done)`, called whenever a record is on the medium, says so.
    pub(crate) fn run(&self, watch: &dyn Fn(u64) -> ControlFlow<()>) -> Result<Advance, ConvertError> {
        let board = Board::default();
        let paused = std::thread::scope(|scope| {
            let (empty_in, empty) = channel();
            let (read_in, read) = sync_channel(1);
            let (ready_in, ready) = sync_channel(1);
            let (target_in, target) = channel::<Segment>();
            for _ in 0..BUFFERS {
                // The other end is there.
                let _ = empty_in.send(AlignedBuf::default());
            }
            scope.spawn(move || self.reader(&empty, &read_in));
            scope.spawn(move || self.cipher(&read, &ready_in));
            scope.spawn(|| self.targets(target, empty_in, &board));
            if is_apart(self.store, self.journal) {
                scope.spawn(|| self.flusher(&board, Flush::Records));
                scope.spawn(|| self.flusher(&board, Flush::Targets));
            } else {
                scope.spawn(|| self.flusher(&board, Flush::Both));
            }
            // Ends the other loops whichever way this one ends.
            let paused = self.journaling(&ready, target_in, &board, watch);
            board.change(|counts| counts.ended = true);
            paused
        });
        let counts = board.counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        match counts.failed {
            Some(e) => Err(e),
            None => Ok(Advance {
                stopped: if paused { Stopped::Paused } else { Stopped::Done },
                done: self.bytes(counts.settled),
                sequence: self.sequence + counts.journaled,
            }),
        }
    }

    /// Bytes of the move that are done with so many segments.
    fn bytes(&self, segments: u64) -> u64 {
        self.from.saturating_add(segments.saturating_mul(self.journal.segment_bytes())).min(self.m.len)
    }

    /// Whether it was paused.
    fn journaling(
        &self,
        ready: &Receiver<LoadedSegment>,
        target: Sender<Segment>,
        board: &Board,
        watch: &dyn Fn(u64) -> ControlFlow<()>,
    ) -> bool {
        let (ahead, slots) = (self.journal.place().ahead(), self.journal.place().slots.len() as u64);
        let mut told = 0;
        for (n, loaded) in (0..).zip(ready) {
            let Some(segment) = board.holds(loaded) else { return false };
            let may = |c: &Counts| n < c.durable() + ahead && n < c.settled + slots;
            let Some((durable, settled)) = board.wait(may).map(|c| (c.durable(), c.settled)) else {
                return false;
            };
            if durable > told {
                told = durable;
                if watch(self.bytes(durable)).is_break() {
                    return true;
                }
            }
            let (done, len) = (segment.done, segment.bytes.len() as u64);
            let record = Record {
                sequence: self.sequence + n,
                step: self.step,
                done,
                target: self.target(done, len),
                len,
                sure: self.sequence + durable,
                floor: self.sequence + settled,
                redundancy: Redundancy::Whole,
                source: segment.source,
                result: segment.sums,
            };
            let written = self.journal.write_summed(&record, &segment.bytes, segment.sums);
            if board.holds(written).is_none() {
                return false;
            }
            board.change(|c| c.journaled = n + 1);
            if target.send(segment).is_err() {
                return false;
            }
        }
        let all = board.wait(|c| c.durable() == c.journaled).map(|c| c.durable());
        all.is_some_and(|all| all > told && watch(self.bytes(all)).is_break())
    }

    fn targets(&self, from: Receiver<Segment>, empty: Sender<AlignedBuf>, board: &Board) {
        for (n, segment) in (0..).zip(from) {
            if board.wait(|c| c.durable() > n).is_none() {
                return;
            }
            let at = self.target(segment.done, segment.bytes.len() as u64);
            let written = self.store.write_at(&segment.bytes, at).map_err(ConvertError::from);
            if board.holds(written).is_none() {
                return;
            }
            board.change(|c| c.written = n + 1);
            // The reader may have come to its end.
            let _ = empty.send(segment.bytes);
        }
    }

    fn flusher(&self, board: &Board, what: Flush) {
        let slots = self.journal.place().slots.len() as u64;
        let (records, medium) = (what != Flush::Targets, what != Flush::Records);
        let through = move |c: &Counts| {
            let settled = c.headed == c.journaled && c.settled == c.journaled;
            c.ended && (!records || c.recorded == c.journaled) && (!medium || settled)
        };
        // Records and heads are waited for at once, targets when a slot is.
        let wanted = move |c: &Counts| {
            records && c.journaled > c.recorded
                || medium && c.journaled > c.headed
                || medium && c.written > c.settled && (c.ended || c.journaled >= c.settled + slots)
        };
        loop {
            let Some(counts) = board.wait(|c| wanted(c) || through(c)) else { return };
            if through(&counts) {
                return;
            }
            let (journaled, written) = (counts.journaled, counts.written);
            drop(counts);
            let store = if what == Flush::Records { self.journal.store() } else { self.store };
            if board.holds(store.flush().map_err(ConvertError::from)).is_none() {
                return;
            }
            let compared = self.journal.compare(records, medium, self.sequence + journaled);
            if board.holds(compared).is_none() {
                return;
            }
            board.change(|c| {
                if records {
                    c.recorded = journaled;
                }
                if medium {
                    (c.headed, c.settled) = (journaled, written);
                }
            });
        }
    }

    fn target(&self, done: u64, len: u64) -> u64 {
        self.m.to.offset + self.m.segment(done, len)
    }

    fn reader(&self, empty: &Receiver<AlignedBuf>, to: &SyncSender<LoadedSegment>) {
        let source = Source { store: self.store, m: self.m, list: self.lost };
        let mut done = self.from;
        while done < self.m.len {
            // The other end is gone when the work is stopped.
            let Ok(mut bytes) = empty.recv() else { return };
            let len = self.journal.segment_bytes().min(self.m.len - done);
            bytes.resize(len as usize);
            let read = source.read(&mut bytes, self.m.segment(done, len));
            let failed = read.is_err();
            let loaded = read.map(|()| Segment { done, bytes, source: [0; 2], sums: [0; 2] });
            if to.send(loaded).is_err() || failed {
                return;
            }
            done += len;
        }
    }

    fn cipher(&self, from: &Receiver<LoadedSegment>, to: &SyncSender<LoadedSegment>) {
        for loaded in from {
            let loaded = loaded.map(|mut segment| {
                segment.source = checksum(&segment.bytes);
                segment.sums = self.m.transform(&mut segment.bytes, segment.done);
                segment
            });
            if to.send(loaded).is_err() {
                return;
            }
        }
    }
}

impl Move {
    /// Takes the segment after `done` from one side to the other; its checksum.
    pub(crate) fn transform(&self, segment: &mut [u8], done: u64) -> Sums {
        let at = self.segment(done, segment.len() as u64);
        self.from.decrypt(segment, at);
        self.to.encrypt(segment, at);
        checksum(segment)
    }
}

/// What a flush puts on the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// The journal, in a store of its own.
    Records,
    /// The converted store alone: heads and targets.
    Targets,
    /// The one store of both.
    Both,
}

/// Whether the journal is in another store than what is converted.
pub(crate) fn is_apart(store: &dyn Store, journal: &Journal<'_>) -> bool {
    !std::ptr::addr_eq(store, journal.store())
}

/// Puts everything written on the medium, in the journal's store too, and compares what was written of records.
pub(crate) fn flush(store: &dyn Store, journal: &Journal<'_>) -> Result<(), ConvertError> {
    store.flush()?;
    if is_apart(store, journal) {
        journal.store().flush()?;
    }
    journal.compare(true, true, u64::MAX)
}
