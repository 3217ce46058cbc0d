//! A volume in use while it is converted: a store of its plain content, whose bytes change their place and
//! their cipher under whoever reads and writes it.
//!
//! Each request finds its bytes where they are at that moment ([`Move`]: on the one side or on the other; what
//! no move has reached lies where the volume's layout has it, where there is one).
//! The segment that is just being carried over is closed: writes into it wait from the moment it is read
//! until a record is on the medium behind which recovery does not write it again, or recovery would bring
//! back what the write has replaced. Reads wait only while its target is being written. Everything else goes
//! on meanwhile. `docs/design/conversion.md` tells the order, `tests/model_live.rs` explores it.

use crate::ConvertError;
use crate::step::{Keyed, Move, Side, Step};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_error::Advice;
use keyway_store::{AlignedBuf, Operation, Store, StoreError};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a segment while the volume is in use: a write that meets it waits for a few such transfers.
pub(crate) const LIVE_SEGMENT: u64 = 2 << 20;

/// Bytes encrypted at a time.
const PIECE: usize = 512 << 10;

/// The plain content of a volume that is being converted.
pub struct Live {
    store: Arc<dyn Store>,
    bytes: u64,
    sector_bytes: u32,
    state: Mutex<State>,
    changed: Condvar,
    requests: AtomicU64,
    /// Something was written since the medium was flushed for the next segment.
    written: AtomicBool,
}

struct State {
    extents: Arc<[Extent]>,
    /// Requests under way.
    busy: Vec<Use>,
    closed: Option<Closed>,
}

#[derive(Clone, PartialEq, Eq)]
struct Use {
    range: Range<u64>,
    writes: bool,
}

struct Closed {
    range: Range<u64>,
    /// For reads, too.
    reads: bool,
    /// For good: what happened to it is not known.
    failed: bool,
}

/// Bytes of the content, and where they lie; `None`: they read as zeros, and nothing else can be written there.
struct MappedRange {
    logical: Range<u64>,
    side: Option<Side>,
}

/// Bytes of the content that lie in a row.
struct Extent {
    logical: Range<u64>,
    side: Option<Side>,
    /// Bytes of the side before the first one.
    within: u64,
}

thread_local! {
    /// What is being encrypted.
    static SCRATCH: RefCell<AlignedBuf> = RefCell::new(AlignedBuf::default());
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// The mapped_ranges of a layout's bytes.
fn mapped_ranges(layout: &Layout) -> Vec<MappedRange> {
    let side = |mapping: &Mapping| match mapping {
        Mapping::Encrypted { store_offset, first_unit, cipher } => {
            let key = Some(Keyed { cipher: cipher.clone(), first_unit: *first_unit });
            Some(Side { offset: *store_offset, key })
        }
        Mapping::Plain { store_offset } => Some(Side { offset: *store_offset, key: None }),
        Mapping::Zero => None,
    };
    let place = |segment: &Segment| MappedRange {
        logical: segment.start..segment.start + segment.len,
        side: side(&segment.mapping),
    };
    layout.segments().iter().map(place).collect()
}

/// Where the content is when a step has come so far. Each byte lies where the last move that is done with it
/// has put it, or else where it was before, or where the first move will find it.
fn extents(before: &[MappedRange], moves: &[(u32, Move)], step: u32, done: u64) -> Arc<[Extent]> {
    let reached = |(number, m): &(u32, Move)| {
        let done = match number.cmp(&step) {
            std::cmp::Ordering::Less => m.len,
            std::cmp::Ordering::Equal => done.min(m.len),
            std::cmp::Ordering::Greater => 0,
        };
        let first = m.logical + m.segment(0, done);
        first..first + done
    };
    let moves: Vec<_> = moves.iter().map(|numbered| (reached(numbered), &numbered.1)).collect();
    let all = |m: &Move| m.logical..m.logical + m.len;
    let mapped_ranges = before.iter().map(|place| place.logical.clone());
    let mut ends: Vec<u64> = moves
        .iter()
        .flat_map(|(reached, m)| [reached.clone(), all(m)])
        .chain(mapped_ranges)
        .flat_map(|range| [range.start, range.end])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let pieces = ends.windows(2).filter_map(|ends| {
        let [start, end] = *ends.first_chunk()?;
        let put = moves.iter().rev().find(|(reached, _)| reached.contains(&start));
        let was = || before.iter().find(|place| place.logical.contains(&start));
        let (first, side) = match put.map(|(_, m)| (m.logical, Some(&m.to))) {
            Some(put) => put,
            None => match was() {
                Some(place) => (place.logical.start, place.side.as_ref()),
                None => {
                    let (_, m) = moves.iter().find(|(_, m)| all(m).contains(&start))?;
                    (m.logical, Some(&m.from))
                }
            },
        };
        Some(Extent { logical: start..end, side: side.cloned(), within: start - first })
    });
    pieces.collect()
}

/// The same content with some of it elsewhere; what lies in a row is one extent.
fn with(extents: &[Extent], put: Extent) -> Arc<[Extent]> {
    let Range { start, end } = put.logical;
    let below = extents.iter().map(|extent| extent.part(extent.logical.start..extent.logical.end.min(start)));
    let above = extents.iter().map(|extent| extent.part(extent.logical.start.max(end)..extent.logical.end));
    let mut all: Vec<Extent> = Vec::with_capacity(extents.len() + 2);
    for extent in below.chain([put]).chain(above).filter(|extent| !extent.logical.is_empty()) {
        match all.last_mut() {
            Some(last) if last.goes_on_in(&extent) => last.logical.end = extent.logical.end,
            _ => all.push(extent),
        }
    }
    all.into()
}

impl Extent {
    /// A part of it; empty where the range is.
    fn part(&self, logical: Range<u64>) -> Self {
        let before = logical.start.saturating_sub(self.logical.start);
        Self { logical, side: self.side.clone(), within: self.within + before }
    }

    /// Whether the next one's bytes lie in a row with these, on the same side.
    fn goes_on_in(&self, next: &Self) -> bool {
        let bytes = self.logical.end - self.logical.start;
        let same_side = match (&self.side, &next.side) {
            (Some(side), Some(next)) => side.is(next),
            (None, None) => true,
            _ => false,
        };
        same_side && self.within + bytes == next.within && self.logical.end == next.logical.start
    }
}

impl Live {
    /// The content of a conversion that has come that far; the moves of `there` are done. Its moves cover the content
    /// from byte 0 on, or the layout does that the volume had before.
    ///
    /// # Errors
    /// There are gaps.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        layout: Option<&Layout>,
        (there, steps): (&[Step], &[Step]),
        step: u32,
        done: u64,
    ) -> Result<Self, ConvertError> {
        let before = layout.map(mapped_ranges).unwrap_or_default();
        // What is there from the beginning on belongs to a step that is over in any case: none is in use before the
        // marker is in front.
        let all = there.iter().map(|step| (0, step)).chain((0..).zip(steps));
        let moves = all.filter_map(|(number, step)| match step {
            Step::Move(m) => Some((number, m.clone())),
            _ => None,
        });
        let moves: Vec<(u32, Move)> = moves.collect();
        let extents = extents(&before, &moves, step, done);
        let mut bytes = 0;
        for extent in extents.iter() {
            if extent.logical.start != bytes {
                return Err(ConvertError::Unsupported(
                    "this conversion can't be carried out on a volume in use",
                    Advice::GoOnOffline,
                ));
            }
            bytes = extent.logical.end;
        }
        let sides = before.iter().filter_map(|place| place.side.as_ref());
        let sides = sides.chain(moves.iter().flat_map(|(_, m)| [&m.from, &m.to]));
        let units = sides.filter_map(|side| Some(side.key.as_ref()?.cipher.unit_bytes()));
        let sector_bytes = units.fold(store.sector_bytes(), u32::max);
        let state = State { extents, busy: Vec::new(), closed: None };
        let (state, changed, requests) = (Mutex::new(state), Condvar::new(), AtomicU64::new(0));
        Ok(Self { store, bytes, sector_bytes, state, changed, requests, written: AtomicBool::new(false) })
    }

    /// The same for requests of any size: those that are not whole sectors are completed by reading first.
    ///
    /// # Errors
    /// There is less of it than a sector.
    pub fn device(self: &Arc<Self>) -> Result<Device, ConvertError> {
        let sector = u64::from(self.sector_bytes);
        let len = self.bytes / sector * sector;
        let segments = vec![Segment { start: 0, len, mapping: Mapping::Plain { store_offset: 0 } }];
        let layout = Layout::new(self.sector_bytes, segments)?;
        Ok(Device::new(Box::new(Arc::clone(self)), layout, Access::ReadWrite)?)
    }

    /// Which bytes of the content lie where.
    #[cfg(test)]
    pub(crate) fn mapped_ranges(&self) -> Vec<(Range<u64>, Range<u64>)> {
        let place = |extent: &Extent| {
            let at = extent.side.as_ref().map_or(0, |side| side.offset) + extent.within;
            (extent.logical.clone(), at..at + (extent.logical.end - extent.logical.start))
        };
        self.lock().extents.iter().map(place).collect()
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether anything was written since this was asked. What is under way in a closed range has been.
    pub(crate) fn take_written(&self) -> bool {
        self.written.swap(false, Ordering::AcqRel)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes a range for writes, and waits for those that are under way in it.
    pub(crate) fn close(&self, range: Range<u64>) {
        self.shut(Closed { range, reads: false, failed: false });
    }

    /// Closes it for reads, too.
    pub(crate) fn close_for_reads(&self, range: Range<u64>) {
        self.shut(Closed { range, reads: true, failed: false });
    }

    fn shut(&self, closed: Closed) {
        let (range, reads) = (closed.range.clone(), closed.reads);
        let mut state = self.lock();
        state.closed = Some(closed);
        let under_way =
            |state: &mut State| state.busy.iter().any(|u| (u.writes || reads) && overlap(&u.range, &range));
        drop(self.changed.wait_while(state, under_way).unwrap_or_else(PoisonError::into_inner));
    }

    /// These bytes of a move, counted from its beginning, are where they shall be. Reads go on.
    pub(crate) fn moved(&self, m: &Move, first: u64, len: u64) {
        let start = m.logical + first;
        let put = Extent { logical: start..start + len, side: Some(m.to.clone()), within: first };
        // Nobody else changes them.
        let extents = self.lock().extents.clone();
        let extents = with(&extents, put);
        let mut state = self.lock();
        state.extents = extents;
        if let Some(closed) = &mut state.closed {
            closed.reads = false;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Nothing is closed any more.
    pub(crate) fn open(&self) {
        self.lock().closed = None;
        self.changed.notify_all();
    }

    /// What is closed stays so; who waits for it is told.
    pub(crate) fn fail(&self) {
        if let Some(closed) = &mut self.lock().closed {
            closed.failed = true;
        }
        self.changed.notify_all();
    }

    /// Takes part in the use of the content, as soon as nothing is in the way, and finds it.
    fn enter(&self, op: Operation, offset: u64, len: usize) -> Result<Guard<'_>, StoreError> {
        let end = offset.checked_add(len as u64).filter(|end| *end <= self.bytes);
        let name = || "a volume that is being converted".to_owned();
        let Some(end) = end else {
            return Err(StoreError::past_end(op, name(), offset, len, self.bytes));
        };
        self.requests.fetch_add(1, Ordering::Relaxed);
        let this = Use { range: offset..end, writes: op != Operation::Read };
        let met = |state: &State| {
            let closed = state.closed.as_ref()?;
            ((this.writes || closed.reads) && overlap(&closed.range, &this.range)).then_some(closed.failed)
        };
        let waits = |state: &mut State| met(state) == Some(false);
        let mut state = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        if met(&state).is_some() {
            let why = std::io::Error::other(
                "its conversion failed right there; close it and go on with `keyway resume`",
            );
            return Err(StoreError::new(op, name(), offset, len, why));
        }
        state.busy.push(this.clone());
        Ok(Guard { live: self, this, extents: state.extents.clone() })
    }
}

/// A request under way.
struct Guard<'a> {
    live: &'a Live,
    this: Use,
    extents: Arc<[Extent]>,
}

impl Guard<'_> {
    /// The parts of the request: the side, its bytes before the part, and how many bytes it is.
    fn parts(&self) -> impl Iterator<Item = (Option<&Side>, u64, usize)> {
        let range = &self.this.range;
        let first = self.extents.partition_point(|extent| extent.logical.end <= range.start);
        let met = self.extents.iter().skip(first).take_while(|extent| extent.logical.start < range.end);
        met.map(|extent| {
            let (from, to) = (extent.logical.start.max(range.start), extent.logical.end.min(range.end));
            (extent.side.as_ref(), extent.within + (from - extent.logical.start), (to - from) as usize)
        })
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if self.this.writes {
            // Only now: a flush while it was under way may have left some of it out.
            self.live.written.store(true, Ordering::Release);
        }
        let mut state = self.live.lock();
        if let Some(at) = state.busy.iter().position(|busy| *busy == self.this) {
            state.busy.swap_remove(at);
        }
        let waited_for = state.closed.is_some();
        drop(state);
        if waited_for {
            self.live.changed.notify_all();
        }
    }
}

impl Store for Live {
    keyway_store::pass_on! { [store] flush is_claimed }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let guard = self.enter(Operation::Read, offset, buf.len())?;
        let mut rest = buf;
        for (side, at, len) in guard.parts() {
            let (part, tail) = rest.split_at_mut(len);
            match side {
                Some(side) => {
                    self.store.read_at(part, side.offset + at)?;
                    side.decrypt(part, at);
                }
                None => part.fill(0),
            }
            rest = tail;
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let guard = self.enter(Operation::Write, offset, buf.len())?;
        let mut rest = buf;
        let mut reserved = None;
        for (side, at, len) in guard.parts() {
            let (part, tail) = rest.split_at(len);
            let done = buf.len() - rest.len();
            rest = tail;
            let Some(side) = side else {
                let other = part.iter().position(|byte| *byte != 0);
                reserved = reserved.or(other.map(|n| done + n));
                continue;
            };
            for (piece, at) in part.chunks(PIECE).zip((at..).step_by(PIECE)) {
                SCRATCH.with_borrow_mut(|scratch| {
                    scratch.resize(piece.len());
                    scratch.copy_from_slice(piece);
                    side.encrypt(scratch, at);
                    self.store.write_at(scratch, side.offset + at)
                })?;
            }
        }
        reserved.map_or(Ok(()), |n| {
            Err(StoreError::reserved("a volume that is being converted", offset + n as u64, buf.len() - n))
        })
    }

    /// Does nothing: what is free now may be where the next segment goes.
    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn size(&self) -> u64 {
        self.bytes
    }

    /// The largest unit of the ciphers: a request is whole ones ([`Live::device`] takes others).
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_engine::DeviceError;
    use keyway_store::MemStore;

    /// As of a volume that nobody converts: `keyway-engine/tests/device/limits.rs`.
    #[test]
    fn metadata_in_a_write_does_not_keep_the_rest_from_being_written() {
        let plain =
            |start, len, store_offset| Segment { start, len, mapping: Mapping::Plain { store_offset } };
        let zero = Segment { start: 1024, len: 1024, mapping: Mapping::Zero };
        let layout = Layout::new(512, vec![plain(0, 1024, 4096), zero, plain(2048, 1024, 0)]).expect("whole");
        let store: Arc<dyn Store> = Arc::new(MemStore::new(8192));
        let live = Live::new(store, Some(&layout), (&[], &[]), 0, 0).expect("no gaps");
        let device = Arc::new(live).device().expect("a device");
        let refused = device.write_at(&[5; 3000], 10).expect_err("metadata");
        assert!(matches!(refused, DeviceError::Metadata(1024)), "{refused}");
        let mut found = [7; 3072];
        device.read_at(&mut found, 0).expect("readable");
        let expected = |at| if (10..1024).contains(&at) || (2048..3010).contains(&at) { 5 } else { 0 };
        assert!(found.iter().enumerate().all(|(at, byte)| *byte == expected(at)));
        device.write_at(&found, 0).expect("what was read");
        assert_eq!(device.counters().writes_refused, 1);
    }
}
