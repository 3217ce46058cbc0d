//! Carries the steps of a conversion out, from wherever the journal says that it is.
//!
//! For each segment of a [`Move`], in this order: its source is read and transformed, several segments ahead of what
//! follows; what has to be kept of it is written to the journal's slot whose turn it is; flush; it is written to its
//! target. Several segments are under way at the same time ([`Pipeline`], [`StripeWindows`]). Recovery writes those again
//! whose targets may not be on the medium: `docs/design/conversion.md` says why that is enough.
//!
//! A step begins with a record without a segment, and a flush. After an error nothing more is written.

use crate::careful::CarefulStore;
use crate::front::Front;
use crate::journal::{Journal, JournalContents, checksum, checksum_at};
use crate::live::{LIVE_SEGMENT, Live};
use crate::pipeline::{Advance, Pipeline, flush, is_apart};
use crate::redundancy::Redundancy;
use crate::source::{LostSectors, Source};
use crate::step::{Move, Small, Step, Wipe};
use crate::stripe_window::StripeWindows;
use crate::{ConvertError, Record, Stopped};
use keyway_engine::Layout;
use keyway_error::Advice;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::veracrypt::Noise;
use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes that are wiped at a time.
const PIECE: u64 = 1 << 20;

/// A move of no more than that is no content in bulk: first pages, and what is parked. It is read back.
const SMALL: u64 = 128 << 10;

/// After so many wiped bytes the journal notes how far it is.
const NOTE_EVERY: u64 = 1 << 30;

/// The longest break for those who use the volume meanwhile.
const LONGEST_BREAK: Duration = Duration::from_millis(200);

/// Somebody who is told how far a conversion is, and may stop it. `()` listens to nothing.
pub trait Progress: Sync {
    /// `done` of `total` bytes are converted. Called after each segment. `Break` pauses.
    fn at(&self, done: u64, total: u64) -> ControlFlow<()>;
}

impl Progress for () {
    fn at(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: Fn(u64, u64) -> ControlFlow<()> + Sync> Progress for F {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self(done, total)
    }
}

/// A conversion: what is to be done to a store, and where its journal is.
pub struct Conversion<'a> {
    /// What is converted.
    pub store: &'a dyn Store,
    /// The journal.
    pub journal: Journal<'a>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// The step that puts the marker in front. Up to it nothing has been changed that counts.
    pub marking: u32,
    /// What the first bytes of the medium say where the marker is not in front, if they are known.
    pub front: Option<Front>,
    /// What must be on the medium from the beginning to the last step, and does not change: the second marker, and what is
    /// needed to go on.
    pub anchors: Vec<Range<u64>>,
    /// Who keeps a list of sectors that can't be read, and so allows that they become zeros.
    pub lost: Option<&'a dyn LostSectors>,
}

/// Where a run is.
#[derive(Debug, Clone, Copy)]
struct Position {
    step: u32,
    done: u64,
    /// The number of the next record.
    sequence: u64,
}

/// Where a conversion is whose volume is in use.
pub struct Checkpoint(Position);

/// A segment that is being carried over.
struct FailsUnlessOpened<'a>(&'a Live);

impl FailsUnlessOpened<'_> {
    fn open(self) {
        self.0.open();
    }
}

impl Drop for FailsUnlessOpened<'_> {
    fn drop(&mut self) {
        // What was opened has nothing closed any more that could fail.
        self.0.fail();
    }
}

/// Leaves the medium to those who use the volume: while they do, a conversion works one third of the time.
struct Pace<'a> {
    live: &'a Live,
    /// Requests that it has seen, and when.
    seen: Cell<(u64, Instant)>,
}

impl<'a> Pace<'a> {
    fn new(live: &'a Live) -> Self {
        Self { live, seen: Cell::new((live.requests(), Instant::now())) }
    }

    fn give_way(&self) {
        let (requests, began) = self.seen.get();
        if self.live.requests() != requests {
            std::thread::sleep((began.elapsed() * 2).min(LONGEST_BREAK));
        }
        self.seen.set((self.live.requests(), Instant::now()));
    }
}

impl Conversion<'_> {
    /// Writes the first record. From then on [`Conversion::run`] works; it is on the medium when this
    /// returns.
    ///
    /// # Errors
    /// The medium failed.
    pub fn begin(&self) -> Result<(), ConvertError> {
        self.journal.note(0, 0, 0)?;
        flush(self.store, &self.journal)
    }

    /// The same in segments as small as they are in use: somebody waits for the first ones.
    pub(crate) fn in_small_segments(self) -> Self {
        Self { journal: self.journal.kept_whole(), ..self }
    }

    /// Bytes of work in all.
    pub fn total(&self) -> u64 {
        self.steps.iter().map(Step::bytes).sum()
    }

    /// Bytes of work that the journal says are done.
    ///
    /// # Errors
    /// The journal is damaged, or the medium failed.
    pub fn done(&self) -> Result<u64, ConvertError> {
        let newest = self.journal.read()?.ok_or(ConvertError::NoJournal)?.newest;
        Ok(self.before(newest.step).saturating_add(newest.done).saturating_add(newest.len))
    }

    fn before(&self, step: u32) -> u64 {
        self.steps.iter().take(step as usize).map(Step::bytes).sum()
    }

    /// Goes on from where the journal says that the last run ended. `marked`: whether the marker is, or
    /// has begun to be, in front. If it is not yet, whoever uses the medium may have changed what the
    /// first steps have read, and these are done anew. If it is no longer, everything has been whole
    /// since, and only what is left of the conversion itself is wiped.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn run(&self, marked: bool, progress: &dyn Progress) -> Result<Stopped, ConvertError> {
        let careful = CarefulStore::new(self.store, &self.anchors);
        let ran = self.start(marked).and_then(|at| self.go_on(at, &careful, None, progress));
        careful.held(&self.journal, ran)
    }

    /// Makes the volume usable where [`Conversion::run`] was paused. `store` is the one that is converted, `before` the
    /// layout that it had, if it was one: what no move reaches stays there. `there` are moves that count as done from
    /// the beginning on.
    ///
    /// # Errors
    /// See [`ConvertError`]; this conversion can't be carried out on a volume in use.
    pub(crate) fn in_use_of(
        &self,
        store: Arc<dyn Store>,
        before: Option<&Layout>,
        there: Vec<Step>,
    ) -> Result<(Live, Checkpoint), ConvertError> {
        let mut at = self.start(true)?;
        if at.step <= self.marking {
            return Err(ConvertError::Unsupported("the conversion has not begun", Advice::BeginConversion));
        }
        // What the records before this one hold must not be written again over what is written now.
        self.note(&mut at)?;
        Ok((Live::new(store, before, (&there, &self.steps), at.step, at.done)?, Checkpoint(at)))
    }

    /// As [`Conversion::run`], while the volume is in use.
    ///
    /// # Errors
    /// As there. What `live` holds stays usable but for the segment that the failure met.
    pub fn run_in_use(
        &self,
        reached: Checkpoint,
        live: &Live,
        progress: &dyn Progress,
    ) -> Result<Stopped, ConvertError> {
        let careful = CarefulStore::new(self.store, &self.anchors);
        careful.held(&self.journal, self.go_on(reached.0, &careful, Some(live), progress))
    }

    fn start(&self, marked: bool) -> Result<Position, ConvertError> {
        let segment = self.journal.segment_bytes();
        if !self.steps.iter().all(|step| step.is_of_whole_units(segment)) {
            return Err(ConvertError::ImpossibleRecord);
        }
        let last = self.steps.len().saturating_sub(1);
        let held = self.journal.read()?;
        if let Some(held) = &held {
            // The last step comes when the marker is no longer in front, and then the heads may be wiped, which are all its. What
            // ends with a move is the part of a conversion that goes on in use.
            let wipes = self.steps.last().is_some_and(|step| !matches!(step, Step::Move(_)));
            let is_last = |step: u32| wipes && step as usize == last && step > self.marking;
            let may_be_behind = |head: Option<u32>| is_last(held.newest.step) && head.is_none_or(is_last);
            if held.heads_behind.is_some_and(|head| !may_be_behind(head))
                || is_last(held.newest.step) && marked
            {
                return Err(ConvertError::MediumOlder);
            }
        }
        let marked = marked || held.as_ref().map_or(Ok(false), |held| self.is_torn(held.newest.step))?;
        let through = |step: u32| step as usize + 1 >= last;
        if let Some(held) = held.as_ref().filter(|held| !marked && held.newest.step > self.marking)
            && !through(held.newest.step)
        {
            return Err(ConvertError::Overwritten);
        }
        let is_through = !marked && self.is_through()?;
        if held.as_ref().is_some_and(|held| is_through && held.newest.step <= self.marking)
            && matches!(self.front, Some(Front::Before(_)))
        {
            // An old record on a medium that is through, or a header that somebody has changed since: they look alike.
            return Err(ConvertError::Overwritten);
        }
        let is_wrong = match held.as_ref().filter(|_| !marked) {
            Some(held) => self.is_written_wrongly(&held.newest)?,
            None => false,
        };
        let mut at = match held {
            Some(held) => self.recover(held, marked)?,
            // The records come before the marker, and are wiped before it. In a store of its own they stay until that is
            // removed: one without them is another's, and proves nothing.
            None if !marked && !is_apart(self.store, &self.journal) => {
                Position { step: u32::try_from(last).unwrap_or(u32::MAX), done: 0, sequence: 0 }
            }
            None => return Err(ConvertError::NoJournal),
        };
        if !marked {
            (at.step, at.done) = match at.step {
                front if is_wrong => (front, 0),
                before if before <= self.marking && !is_through => (0, 0),
                // The step before the last one overwrites the marker with what is to be there.
                _ => (u32::try_from(last).unwrap_or(u32::MAX), 0),
            };
        }
        Ok(at)
    }

    fn go_on(
        &self,
        mut at: Position,
        careful: &CarefulStore<'_>,
        live: Option<&Live>,
        progress: &dyn Progress,
    ) -> Result<Stopped, ConvertError> {
        let last = self.steps.len().saturating_sub(1);
        let (total, pace) = (self.total(), live.map(Pace::new));
        for (number, step) in self.steps.iter().enumerate().skip(at.step as usize) {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            if number != at.step {
                at = Position { step: number, done: 0, ..at };
            }
            // The last step wipes the records first, then what they need. Where it finds none it must not write one,
            // which would ask for that; otherwise it is in every slot, since any one of them may outlive the others.
            let notes = match number as usize == last {
                true if at.sequence == 0 => 0,
                true => self.journal.place().slots.len(),
                false => 1,
            };
            for _ in 0..notes {
                self.note(&mut at)?;
            }
            let before = self.before(number);
            // Before the marker is in front there is nothing that a pause could keep.
            let watch = |done: u64| {
                if let Some(pace) = &pace {
                    pace.give_way();
                }
                match progress.at(before + done, total) {
                    ControlFlow::Break(()) if number > self.marking => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            };
            let stopped = match (step, live) {
                (Step::Move(m), live) if live.is_some() || m.len <= SMALL => {
                    if live.is_some() && m.to.offset == 0 {
                        careful.leave_front();
                    }
                    self.carry_one_by_one(m, &mut at, careful, live, &watch)?
                }
                (Step::Move(m), _) => self.carry(m, &mut at, &watch)?,
                (Step::Wipe(wipe), _) => {
                    self.wipe(wipe, &mut at, careful, &watch, number as usize == last)?
                }
                (Step::Trim(ranges), _) => {
                    for range in ranges {
                        self.store.discard(range.start, range.end.saturating_sub(range.start))?;
                    }
                    self.store.flush()?;
                    Stopped::Done
                }
                (Step::Put(writes), _) => {
                    for (offset, bytes) in writes {
                        let mut aligned = AlignedBuf::zeroed(bytes.len());
                        aligned.copy_from_slice(bytes);
                        careful.write_at(&aligned, *offset)?;
                        careful.flush()?;
                    }
                    Stopped::Done
                }
                (Step::Small(writes), _) => {
                    for small in writes {
                        small.carry_out(careful)?;
                        careful.flush()?;
                        if let Small::Fill { range, .. } = small {
                            self.journal.let_go(range);
                        }
                    }
                    Stopped::Done
                }
                (Step::Act(act), _) => {
                    act(careful)?;
                    careful.flush()?;
                    Stopped::Done
                }
            };
            if stopped == Stopped::Paused {
                return Ok(Stopped::Paused);
            }
        }
        Ok(Stopped::Done)
    }

    /// Puts on the medium what the journal holds, and finds out how far everything is. Where the marker is
    /// not in front somebody may have changed since what the journal holds, and nothing is written.
    fn recover(&self, held: JournalContents, marked: bool) -> Result<Position, ConvertError> {
        let newest = held.newest;
        let step = self.steps.get(newest.step as usize).ok_or(ConvertError::ImpossibleRecord)?;
        let done = newest.done.checked_add(newest.len).filter(|done| step.can_go_on_behind(*done));
        let done = done.ok_or(ConvertError::ImpossibleRecord)?;
        if marked {
            // Who wrote the records may have been killed before the flush. No target is written before its record is there.
            flush(self.store, &self.journal)?;
            self.must_be_whole(&held)?;
            let mut segments = Vec::new();
            for (record, sums) in &held.replay {
                let m = self.check(record)?;
                let kept = self.journal.kept(record, *sums)?;
                segments.push((record.target, record.redundancy.rebuild(self.store, m, record, kept)?));
            }
            // All of them could be put together: from here on something is written. First goes what does not count: were it there
            // again after this was cut, it would stand for targets that were being written.
            self.journal.mend(&held)?;
            flush(self.store, &self.journal)?;
            for (target, segment) in &segments {
                segment.write(self.store, *target)?;
            }
        } else {
            self.journal.mend(&held)?;
        }
        flush(self.store, &self.journal)?;
        Ok(Position { step: newest.step, done, sequence: newest.sequence + 1 })
    }

    /// Whether nothing is missing that counted: records behind the newest did not, if nothing of their segments was moved; those
    /// that can't be replayed need not be, if their segments are at their targets.
    fn must_be_whole(&self, held: &JournalContents) -> Result<(), ConvertError> {
        let lies = |at: u64, len: u64, sums| -> Result<bool, ConvertError> {
            Ok(checksum_at(self.store, at, len)? == sums)
        };
        // What was begun before records knew that tells nothing.
        let known = |record: &&Record| record.len > 0 && !self.journal.place().heads.is_empty();
        for record in held.suspects.iter().filter(known) {
            let m = self.check(record)?;
            let source = m.from.offset + m.segment(record.done, record.len);
            if !lies(source, record.len, record.source)? {
                return Err(ConvertError::RecordLost { at: record.target });
            }
        }
        for record in held.unsure.iter().filter(known) {
            self.check(record)?;
            if !lies(record.target, record.len, record.result)? {
                return Err(ConvertError::RecordLost { at: record.target });
            }
        }
        Ok(())
    }

    /// A record names the place of its segment twice: as itself, and by step and number of bytes.
    fn check(&self, record: &Record) -> Result<&Move, ConvertError> {
        let Some(step @ Step::Move(m)) = self.steps.get(record.step as usize) else {
            return Err(ConvertError::ImpossibleRecord);
        };
        let end = record.done.checked_add(record.len).filter(|end| *end <= m.len);
        let target = m.to.offset.checked_add(m.segment(record.done, record.len));
        let redundancy = record.redundancy;
        // Made from what is on the medium it must be whole units of the ciphers.
        let units = [record.done, record.len].iter().all(|n| step.is_of_whole_units(*n));
        let possible = redundancy == Redundancy::Whole || redundancy == Redundancy::of(m) && units;
        if end.is_none() || target != Some(record.target) || !possible {
            return Err(ConvertError::ImpossibleRecord);
        }
        Ok(m)
    }

    /// Everything before is on the medium, then the record that says so.
    fn note(&self, at: &mut Position) -> Result<(), ConvertError> {
        self.store.flush()?;
        self.journal.note(at.sequence, at.step, at.done)?;
        flush(self.store, &self.journal)?;
        at.sequence += 1;
        Ok(())
    }

    fn carry(
        &self,
        m: &Move,
        at: &mut Position,
        watch: &dyn Fn(u64) -> ControlFlow<()>,
    ) -> Result<Stopped, ConvertError> {
        let (step, from, sequence) = (at.step, at.done, at.sequence);
        let (store, journal, lost, redundancy) = (self.store, &self.journal, self.lost, Redundancy::of(m));
        let Advance { stopped, done, sequence } = match journal.window(redundancy, store.size()) {
            // What one segment holds takes fewer flushes whole.
            Some(len) if m.len > self.journal.segment_bytes() => {
                let turn = Mutex::default();
                StripeWindows { store, journal, m, lost, step, from, sequence, redundancy, len, turn }
                    .run(watch)?
            }
            _ => Pipeline { store, journal, m, lost, step, from, sequence }.run(watch)?,
        };
        *at = Position { done, sequence, ..*at };
        Ok(stopped)
    }

    /// As `carry`, a segment at a time: of a volume in use, where the content that it holds is closed meanwhile, and of what is
    /// read back when it is there.
    fn carry_one_by_one(
        &self,
        m: &Move,
        at: &mut Position,
        careful: &CarefulStore<'_>,
        live: Option<&Live>,
        watch: &dyn Fn(u64) -> ControlFlow<()>,
    ) -> Result<Stopped, ConvertError> {
        let most = self.journal.segment_bytes().min(LIVE_SEGMENT);
        let mut segment = AlignedBuf::default();
        while at.done < m.len {
            segment.resize(most.min(m.len - at.done) as usize);
            // Whoever waits for it is told, whichever way this ends.
            let closed = live.map(FailsUnlessOpened);
            self.carry_one(m, at, careful, live, &mut segment)?;
            if let Some(closed) = closed {
                closed.open();
            }
            if watch(at.done).is_break() {
                return Ok(Stopped::Paused);
            }
        }
        Ok(Stopped::Done)
    }

    fn carry_one(
        &self,
        m: &Move,
        at: &mut Position,
        careful: &CarefulStore<'_>,
        live: Option<&Live>,
        segment: &mut AlignedBuf,
    ) -> Result<(), ConvertError> {
        let len = segment.len() as u64;
        let first = m.segment(at.done, len);
        let content = m.logical + first..m.logical + first + len;
        if let Some(live) = live {
            live.close(content.clone());
            // What the record says of the source must be there as long as the record is.
            if live.take_written() {
                self.store.flush()?;
            }
        }
        Source { store: self.store, m, list: self.lost }.read(segment, first)?;
        let source = checksum(segment);
        let sums = m.transform(segment, at.done);
        let (sequence, target) = (at.sequence, m.to.offset + first);
        let (sure, floor) = (sequence, sequence);
        let (step, done, redundancy) = (at.step, at.done, Redundancy::Whole);
        let record =
            Record { sequence, step, done, target, len, sure, floor, redundancy, source, result: sums };
        self.journal.write_summed(&record, segment, sums)?;
        flush(self.store, &self.journal)?;
        if let Some(live) = live {
            live.close_for_reads(content);
        }
        if m.len <= SMALL {
            careful.write_at(segment, target)?;
            careful.flush()?;
        } else {
            self.store.write_at(segment, target)?;
        }
        *at = Position { done: at.done + len, sequence: sequence + 1, ..*at };
        let Some(live) = live else { return Ok(()) };
        live.moved(m, first, len);
        // Behind this record recovery does not write the segment again, so others may.
        self.note(at)
    }

    fn wipe(
        &self,
        wipe: &Wipe,
        at: &mut Position,
        careful: &CarefulStore<'_>,
        watch: &dyn Fn(u64) -> ControlFlow<()>,
        last: bool,
    ) -> Result<Stopped, ConvertError> {
        let mut noise = Noise::new()?;
        let mut buf = AlignedBuf::zeroed(PIECE as usize);
        let (mut skip, mut noted) = (at.done, at.done);
        for range in &wipe.ranges {
            let len = range.end.saturating_sub(range.start);
            // Headers, and traces of the conversion; free space in bulk is not read back.
            let store: &dyn Store = if len <= PIECE { careful } else { self.store };
            let mut from = range.start + skip.min(len);
            skip -= skip.min(len);
            while from < range.end {
                buf.resize((range.end - from).min(PIECE) as usize);
                if wipe.noise {
                    noise.fill(&mut buf)
                } else {
                    buf.fill(0)
                }
                store.write_at(&buf, from)?;
                from += buf.len() as u64;
                at.done += buf.len() as u64;
                // The last step wipes the journal, too: nothing is noted in it any more.
                let paused = watch(at.done).is_break() && !last;
                if !last && (paused || at.done - noted >= NOTE_EVERY) {
                    self.note(at)?;
                    noted = at.done;
                }
                if paused {
                    return Ok(Stopped::Paused);
                }
            }
            store.flush()?;
            self.journal.let_go(range);
        }
        Ok(Stopped::Done)
    }
}
