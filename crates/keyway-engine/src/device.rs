//! The sector device: splits a request by segment, moves the bytes, transforms them in place.
//!
//! Reads decrypt in the caller's own buffer. Writes encrypt into a buffer of the calling thread,
//! because what the caller wrote must stay as it was. Of a request that is not whole data units the
//! units at its ends are completed by reading first, one such write at a time; what lies between
//! goes the ordinary way.
//!
//! Bytes that can't be written take no others with them: of a write that meets metadata all the rest is
//! written, zeros over what reads as zeros are nothing to refuse, and what is left is refused in the end.

use crate::counters::{Counting, Layer, RequestKind, Watch};
use crate::error::DeviceError;
use crate::observation::{Observation, Observer};
use crate::refused::Refused;
use crate::unwritten::Unwritten;
use crate::{Counters, Latency, Layout, LayoutError, Mapping, Segment};
use keyway_store::{Action, AlignedBuf, Store};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread::LocalKey;

/// Bytes encrypted at a time: large enough for one system call to cost nothing, small enough to
/// stay in the second-level cache.
const PIECE: usize = 512 * 1024;

/// Whether a device takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads only.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
}

/// A layout over a store: plain sectors in and out.
pub struct Device {
    pub(crate) layout: Layout,
    pub(crate) store: Box<dyn Store>,
    access: Access,
    discards: bool,
    pub(crate) granule: u64,
    guard_hit: AtomicBool,
    lost_writes: AtomicBool,
    pub(crate) unwritten: Unwritten,
    /// Writes that were refused in part.
    refused: AtomicU64,
    pub(crate) counting: Counting,
    pub(crate) observation: Observation,
    /// Whole-unit writes share it; a write that must read first has it alone.
    pub(crate) partial: RwLock<()>,
}

thread_local! {
    /// What is being encrypted.
    static SCRATCH: RefCell<AlignedBuf> = RefCell::new(AlignedBuf::default());
    /// A unit of which a request covers only a part.
    static EDGE: RefCell<AlignedBuf> = RefCell::new(AlignedBuf::default());
}

/// A part of a request.
enum Stretch {
    /// So many bytes of whole units.
    Whole(u64),
    /// So many bytes of one unit.
    Part(u64),
}

impl Device {
    /// Puts the layout over the store. Refuses a layout that reaches past the store's end.
    pub fn new(store: Box<dyn Store>, layout: Layout, access: Access) -> Result<Self, LayoutError> {
        let (needed, present) = (layout.store_end(), store.size());
        if needed > present {
            return Err(LayoutError::BeyondStore { needed, present });
        }
        let access = if store.is_read_only() { Access::ReadOnly } else { access };
        let granule = layout.granule();
        Ok(Self {
            layout,
            store,
            access,
            discards: false,
            granule,
            guard_hit: AtomicBool::new(false),
            lost_writes: AtomicBool::new(false),
            unwritten: Unwritten::default(),
            refused: AtomicU64::new(0),
            counting: Counting::default(),
            observation: Observation::default(),
            partial: RwLock::new(()),
        })
    }

    /// The same device, passing discards on to the medium. Without this they do nothing: they tell
    /// whoever sees the medium which parts of the volume are unused, and make a file that was
    /// allocated in full sparse.
    #[must_use]
    pub fn allowing_discards(mut self) -> Self {
        self.discards = true;
        self
    }

    /// Whether discards reach the medium.
    pub fn passes_discards(&self) -> bool {
        self.discards
    }

    /// The layout; the store, and its claim on the medium, are given up.
    pub fn into_layout(self) -> Layout {
        self.layout
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.layout.size()
    }

    /// Logical sector size in bytes.
    pub fn sector_bytes(&self) -> u32 {
        self.layout.sector_bytes()
    }

    /// Whether writes are refused, from the start or since one nearly hit the hidden volume.
    pub fn is_read_only(&self) -> bool {
        self.access == Access::ReadOnly || self.guard_hit()
    }

    /// Whether the store keeps other processes from writing to the medium while it is open.
    pub fn is_claimed(&self) -> bool {
        self.store.is_claimed()
    }

    /// Whether there is a range that must not be written to: a hidden volume's.
    pub fn has_guard(&self) -> bool {
        self.layout.guard().is_some()
    }

    /// Where that range begins.
    pub fn guarded_from(&self) -> Option<u64> {
        self.layout.guard().map(|guard| guard.start)
    }

    /// Bytes before the first that belong to the volume's own metadata; all of it where none do.
    pub fn room_before_metadata(&self) -> u64 {
        let zeros = |segment: &&Segment| segment.start > 0 && matches!(segment.mapping, Mapping::Zero);
        self.layout.segments().iter().find(zeros).map_or(self.size(), |segment| segment.start)
    }

    /// Whether a write there would touch that range, by any of the units that it touches.
    pub fn is_guarded(&self, offset: u64, len: u64) -> bool {
        let (from, to) = self.widen(offset, len);
        len > 0 && self.layout.guard().is_some_and(|guard| from < guard.end && to > guard.start)
    }

    /// Whether a write to the protected range has been refused.
    pub fn guard_hit(&self) -> bool {
        self.guard_hit.load(Ordering::Acquire)
    }

    /// What has gone through so far.
    pub fn counters(&self) -> Counters {
        Counters { writes_refused: self.refused.load(Ordering::Relaxed), ..self.counting.counters() }
    }

    /// How long requests were with the store and the ciphers so far.
    pub fn latency(&self) -> Latency {
        self.counting.latency()
    }

    /// Begins to tell `observer` of every request: where, how long and when, not the bytes. Says whether it
    /// began; where another observer is told already, that one stays.
    pub fn observe(&self, observer: Observer) -> bool {
        self.observation.start(observer)
    }

    /// Ends what [`Device::observe`] began.
    pub fn end_observation(&self) {
        self.observation.end();
    }

    /// Fills `buf` with the plain bytes at `offset`.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        let len = buf.len() as u64;
        self.observation.during(Action::Read, offset, len, || self.read(buf, offset))
    }

    /// The same, as nobody's request: neither counted nor observed.
    ///
    /// # Errors
    /// As [`Device::read_at`].
    pub fn peek_at(&self, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        self.read_counted(&Counting::default(), buf, offset)
    }

    fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        self.read_counted(&self.counting, buf, offset)
    }

    fn read_counted(&self, counting: &Counting, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        self.check(offset, buf.len() as u64)?;
        let mut watch = counting.begin(RequestKind::Read, buf.len() as u64);
        let (mut rest, mut at) = (buf, offset);
        while let Some(stretch) = self.stretch(at, rest.len() as u64) {
            let (Stretch::Whole(n) | Stretch::Part(n)) = stretch;
            let (part, tail) = rest.split_at_mut(n as usize);
            match stretch {
                Stretch::Whole(_) => self.read_whole(part, at, &mut watch)?,
                Stretch::Part(_) => self.with_unit(at, |unit, from| {
                    self.read_whole(unit, from, &mut watch)?;
                    part.copy_from_slice(&unit[(at - from) as usize..][..part.len()]);
                    Ok(())
                })?,
            }
            rest = tail;
            at += n;
        }
        counting.note(&watch);
        Ok(())
    }

    /// Writes `buf` at `offset`. After an error any part of it may have been written, and after
    /// [`DeviceError::Metadata`] all that can be.
    pub fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), DeviceError> {
        let len = buf.len() as u64;
        self.observation.during(Action::Write, offset, len, || {
            self.remembered(
                offset,
                len,
                self.change(offset, len, |piece, done| piece.copy_from_slice(&buf[done..][..piece.len()])),
            )
        })
    }

    /// Makes `len` bytes at `offset` read as zeros (encrypted zeros on the medium).
    pub fn write_zeroes(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        self.observation.during(Action::Write, offset, len, || {
            self.remembered(offset, len, self.change(offset, len, |piece, _| piece.fill(0)))
        })
    }

    /// As [`Device::write_at`], but leaves other bytes in `buf`: whole data units are encrypted where
    /// they lie, which spares the copy.
    pub fn write_and_spoil(&self, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        let len = buf.len() as u64;
        if !offset.is_multiple_of(self.granule) || !len.is_multiple_of(self.granule) {
            return self.write_at(buf, offset);
        }
        self.observation
            .during(Action::Write, offset, len, || self.remembered(offset, len, self.spoil(buf, offset)))
    }

    /// The answer to a write, which is remembered where the medium did not take it.
    pub(crate) fn remembered(
        &self,
        offset: u64,
        len: u64,
        done: Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        match &done {
            Ok(()) => self.unwritten.written(offset, len),
            Err(DeviceError::Store(why)) => self.unwritten.failed(offset, len, why),
            // Refused: nothing of it was to be there.
            Err(_) => {}
        }
        done
    }

    /// Fails where anything that was to be written is not on the medium: for whoever closes the device, as those who wrote
    /// may never have asked.
    ///
    /// # Errors
    /// [`DeviceError::Unwritten`].
    pub fn must_be_written(&self) -> Result<(), DeviceError> {
        match self.unwritten.bytes() {
            0 => Ok(()),
            bytes => Err(DeviceError::Unwritten(bytes)),
        }
    }

    /// Why the first of what is not on the medium could not be written; nothing where all is.
    pub fn first_failed_write(&self) -> Option<String> {
        self.unwritten.why()
    }

    /// Encrypts whole units where they are, and stores them.
    fn spoil(&self, buf: &mut [u8], offset: u64) -> Result<(), DeviceError> {
        let len = buf.len() as u64;
        self.check_write(offset, len)?;
        let mut watch = self.counting.begin(RequestKind::Write, len);
        let _shared = self.partial.read().unwrap_or_else(PoisonError::into_inner);
        let mut refused = Refused::default();
        let mut rest = buf;
        let mut at = offset;
        while !rest.is_empty() {
            let (segment, n) = self.piece(at, offset + len)?;
            let (part, tail) = rest.split_at_mut(n as usize);
            refused.sparing_the_rest(self.store_units(segment, at, part, &mut watch))?;
            rest = tail;
            at += n;
        }
        self.counting.note(&watch);
        self.told(refused)
    }

    /// Writes `len` bytes at `offset`; `fill(piece, done)` gives those from the `done`th on.
    fn change(&self, offset: u64, len: u64, fill: impl Fn(&mut [u8], usize)) -> Result<(), DeviceError> {
        self.check_write(offset, len)?;
        let mut watch = self.counting.begin(RequestKind::Write, len);
        let mut refused = Refused::default();
        let mut done = 0;
        while let Some(stretch) = self.stretch(offset + done, len - done) {
            let at = offset + done;
            let fill = |piece: &mut [u8], more: usize| fill(piece, done as usize + more);
            match stretch {
                Stretch::Whole(n) => {
                    let _shared = self.partial.read().unwrap_or_else(PoisonError::into_inner);
                    refused.sparing_the_rest(self.write_whole(at, n, &mut watch, fill))?;
                    done += n;
                }
                Stretch::Part(n) => {
                    let _alone = self.partial.write().unwrap_or_else(PoisonError::into_inner);
                    refused.sparing_the_rest(self.with_unit(at, |unit, from| {
                        self.read_whole(unit, from, &mut watch)?;
                        fill(&mut unit[(at - from) as usize..][..n as usize], 0);
                        self.write_whole(from, unit.len() as u64, &mut watch, |piece, more| {
                            piece.copy_from_slice(&unit[more..][..piece.len()]);
                        })
                    }))?;
                    done += n;
                }
            }
        }
        self.counting.note(&watch);
        self.told(refused)
    }

    /// The answer to a write that has done all it could, and counts it if that was not all.
    fn told(&self, refused: Refused) -> Result<(), DeviceError> {
        refused.answer().inspect_err(|_| {
            self.refused.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// A write of what somebody above held back has failed, and who wrote it was told that it was taken: from now
    /// on every flush fails, because that one knows of nothing else that it could ask.
    pub fn lose_writes(&self) {
        self.lost_writes.store(true, Ordering::Release);
    }

    /// Puts everything written before this call on the medium. Fails with [`DeviceError::LostWrites`] after
    /// [`Device::lose_writes`].
    pub fn flush(&self) -> Result<(), DeviceError> {
        let mut watch = self.counting.begin(RequestKind::Flush, 0);
        self.observation.during(Action::Flush, 0, 0, || {
            self.store.flush()?;
            watch.lap(Layer::Store);
            self.counting.note(&watch);
            // The others are on the medium.
            if self.lost_writes.load(Ordering::Acquire) { Err(DeviceError::LostWrites) } else { Ok(()) }
        })
    }

    /// Tells the medium that the bytes are not needed, where the device passes discards on. Only
    /// whole units inside stored segments.
    pub fn discard(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        self.check_write(offset, len)?;
        if !self.discards {
            return Ok(());
        }
        let mut at = offset.checked_next_multiple_of(self.granule).unwrap_or(u64::MAX);
        let to = (offset + len) / self.granule * self.granule;
        while at < to {
            let (segment, n) = self.piece(at, to)?;
            if let Mapping::Encrypted { store_offset, .. } | Mapping::Plain { store_offset } =
                &segment.mapping
            {
                self.store.discard(store_offset + (at - segment.start), n)?;
            }
            at += n;
        }
        Ok(())
    }

    pub(crate) fn check(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        match offset.checked_add(len) {
            Some(end) if end <= self.size() => Ok(()),
            _ => Err(DeviceError::PastEnd { offset, len, size: self.size() }),
        }
    }

    pub(crate) fn check_write(&self, offset: u64, len: u64) -> Result<(), DeviceError> {
        self.check(offset, len)?;
        if self.guard_hit() {
            return Err(DeviceError::HiddenVolume);
        }
        if self.access == Access::ReadOnly {
            return Err(DeviceError::ReadOnly);
        }
        if self.is_guarded(offset, len) {
            self.guard_hit.store(true, Ordering::Release);
            return Err(DeviceError::HiddenVolume);
        }
        Ok(())
    }

    /// The first part of a request of `len` bytes; `None` when nothing is left.
    fn stretch(&self, at: u64, len: u64) -> Option<Stretch> {
        let within = at % self.granule;
        if len == 0 {
            None
        } else if within == 0 && len >= self.granule {
            Some(Stretch::Whole(len / self.granule * self.granule))
        } else {
            Some(Stretch::Part(len.min(self.granule - within)))
        }
    }

    /// The smallest run of whole units around a range inside the volume.
    fn widen(&self, offset: u64, len: u64) -> (u64, u64) {
        let from = offset / self.granule * self.granule;
        let to = offset.saturating_add(len).checked_next_multiple_of(self.granule).unwrap_or(u64::MAX);
        (from, to.min(self.size()))
    }

    /// Lends a buffer as long as the unit around `at`, and tells where that starts.
    fn with_unit(
        &self,
        at: u64,
        work: impl FnOnce(&mut [u8], u64) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let (from, to) = self.widen(at, 1);
        lend(&EDGE, (to - from) as usize, |unit| work(unit, from))
    }

    /// The segment at `at`, and how many bytes of `at..end` lie in it; always some.
    fn piece(&self, at: u64, end: u64) -> Result<(&Segment, u64), DeviceError> {
        match self.layout.find(at) {
            Some(segment) if at < end => Ok((segment, (segment.start + segment.len).min(end) - at)),
            _ => Err(DeviceError::PastEnd { offset: at, len: end.saturating_sub(at), size: self.size() }),
        }
    }

    /// Reads whole units.
    fn read_whole(&self, buf: &mut [u8], offset: u64, watch: &mut Watch) -> Result<(), DeviceError> {
        let end = offset + buf.len() as u64;
        let (mut rest, mut at) = (buf, offset);
        while at < end {
            let (segment, n) = self.piece(at, end)?;
            let (part, tail) = rest.split_at_mut(n as usize);
            let within = at - segment.start;
            match &segment.mapping {
                Mapping::Encrypted { store_offset, first_unit, cipher } => {
                    self.store.read_at(part, store_offset + within)?;
                    watch.lap(Layer::Store);
                    cipher.decrypt_sectors(part, first_unit + within / u64::from(cipher.unit_bytes()));
                    watch.lap(Layer::Cipher);
                }
                Mapping::Plain { store_offset } => {
                    self.store.read_at(part, store_offset + within)?;
                    watch.lap(Layer::Store);
                }
                Mapping::Zero => part.fill(0),
            }
            rest = tail;
            at += n;
        }
        Ok(())
    }

    /// Writes whole units; `fill(piece, done)` gives the plain bytes from the `done`th on.
    fn write_whole(
        &self,
        offset: u64,
        len: u64,
        watch: &mut Watch,
        fill: impl Fn(&mut [u8], usize),
    ) -> Result<(), DeviceError> {
        let end = offset + len;
        let mut at = offset;
        let mut refused = Refused::default();
        while at < end {
            let (segment, n) = self.piece(at, end)?;
            let n = n.min(PIECE as u64);
            let done = lend(&SCRATCH, n as usize, |scratch| {
                fill(scratch, (at - offset) as usize);
                self.store_units(segment, at, scratch, watch)
            });
            refused.sparing_the_rest(done)?;
            at += n;
        }
        refused.answer()
    }

    /// Encrypts whole units where they are and stores them; `at` is the first one's place in the
    /// volume, inside `segment`.
    fn store_units(
        &self,
        segment: &Segment,
        at: u64,
        units: &mut [u8],
        watch: &mut Watch,
    ) -> Result<(), DeviceError> {
        let within = at - segment.start;
        let store_offset = match &segment.mapping {
            Mapping::Encrypted { store_offset, first_unit, cipher } => {
                cipher.encrypt_sectors(units, first_unit + within / u64::from(cipher.unit_bytes()));
                watch.lap(Layer::Cipher);
                store_offset
            }
            Mapping::Plain { store_offset } => store_offset,
            // Zeros are what is read there.
            Mapping::Zero => {
                let other = units.iter().position(|byte| *byte != 0);
                return other.map_or(Ok(()), |n| Err(DeviceError::Metadata(at + n as u64)));
            }
        };
        let store_offset = store_offset + within;
        self.store.write_at(units, store_offset).map_err(|e| match e.is_reserved() {
            true => DeviceError::Metadata(at + e.offset.saturating_sub(store_offset)),
            false => e.into(),
        })?;
        watch.lap(Layer::Store);
        Ok(())
    }
}

/// Lends one of the calling thread's own aligned buffers; nothing is allocated once it has grown.
fn lend<R>(
    which: &'static LocalKey<RefCell<AlignedBuf>>,
    len: usize,
    work: impl FnOnce(&mut [u8]) -> R,
) -> R {
    which.with_borrow_mut(|buf| {
        buf.resize(len);
        work(buf)
    })
}
