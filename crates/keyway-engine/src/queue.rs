//! A layout over a store's queue: plain sectors in and out, with many requests in flight from one
//! thread.
//!
//! The same bytes as through a [`Device`](crate::Device), at the same moments relative to the medium:
//! a write is encrypted before it is submitted, a read is decrypted when it has completed. Requests
//! are whole data units inside one segment, as those of a file system and of a load generator are.
//!
//! A large request under a cipher that comes alone goes to the store in pieces: the cipher works on one while the
//! drive moves the next, and only the first piece of a write or the last of a read is waited for twice. The
//! pieces have buffers of their own. That copies, but while the drive is busy anyway. Where others are under way the
//! drive has them to move meanwhile, and copying would be all that the pieces do: such a request goes in one, and is
//! ciphered where it is.
//!
//! With workers ([`LayoutQueue::with_workers`]) processors that have nothing to do cipher as well, as soon as the cipher
//! and not the drive is what is waited for.

use crate::workers::{Job, Workers};
use crate::{Layout, Mapping};
use keyway_cipher::SectorCipher;
use keyway_store::{Action, AlignedBuf, Completion, Operation, Queue, Request, StoreError};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of a piece. A copy of files on the modelled 990 Pro, whose requests are of 256 KiB, loses 4.5 %
/// to AES in one piece, 2.8 % with pieces of 128 KiB, 1.5 % with 64 KiB, 1.4 % with 32 KiB
/// (`cargo bench -p keyway-lab --bench cost -- tree`, an idle Zen 5); and each is a command more.
const PIECE: usize = 64 << 10;

/// A volume's requests in flight, for one thread.
///
/// As many requests are handed back at a time as were asked for: the next waits undecrypted while the
/// submitter sees to what the first was needed for.
pub struct LayoutQueue<Q> {
    layout: Arc<Layout>,
    inner: Q,
    /// Requests under way, by their seat; a free one holds `None`.
    flying: Vec<Option<Flying>>,
    free: Vec<usize>,
    /// Buffers for pieces.
    buffers: Vec<AlignedBuf>,
    /// What the store handed back, still encrypted.
    arrived: VecDeque<Completion>,
    /// Requests that are done or were refused, to be handed back.
    ready: Vec<Completion>,
    /// Kept for its memory.
    reaped: Vec<Completion>,
    workers: Option<Workers>,
    /// What workers are done with; kept for its memory.
    worked: Vec<Job>,
}

/// A cipher, and the first unit of the request it is for.
type Keyed = (Arc<SectorCipher>, u64);

/// A request as the submitter knows it.
struct Flying {
    tag: u64,
    action: Action,
    offset: u64,
    /// What decrypts it when it is back.
    opening: Option<Keyed>,
    /// The submitter's buffer, where the store has pieces.
    whole: Option<Whole>,
    /// Pieces that are not back.
    left: usize,
    /// What went wrong with a piece.
    result: Result<(), StoreError>,
}

/// A buffer that is moved in pieces: for a read this thread puts them together, for a write each is copied where it is
/// encrypted.
enum Whole {
    Read(AlignedBuf),
    Write(Arc<AlignedBuf>),
}

impl Whole {
    /// The submitter's buffer again; `None` while a piece is being copied, which is over when all are back.
    fn into_inner(self) -> Option<AlignedBuf> {
        match self {
            Self::Read(buf) => Some(buf),
            Self::Write(buf) => Arc::into_inner(buf),
        }
    }
}

/// The store's name for a piece: the request's seat, and which of its pieces.
fn name(seat: usize, piece: usize) -> u64 {
    (seat as u64) << 32 | piece as u64
}

fn seat_and_piece(name: u64) -> (usize, usize) {
    ((name >> 32) as usize, (name & 0xffff_ffff) as usize)
}

impl<Q: Queue> LayoutQueue<Q> {
    /// Puts the layout over the queue of the store it describes.
    pub fn new(layout: Arc<Layout>, inner: Q) -> Self {
        Self {
            layout,
            inner,
            flying: Vec::new(),
            free: Vec::new(),
            buffers: Vec::new(),
            arrived: VecDeque::new(),
            ready: Vec::new(),
            reaped: Vec::new(),
            workers: None,
            worked: Vec::new(),
        }
    }

    /// The same, where idle processors cipher as well. For stores whose time is the machine's: with simulated time
    /// a worker's would be none.
    pub fn with_workers(layout: Arc<Layout>, inner: Q) -> Self {
        Self { workers: Some(Workers::new()), ..Self::new(layout, inner) }
    }

    /// Where a request's bytes are in the store, and the cipher and its first unit.
    fn place(&self, offset: u64, len: u64) -> Option<(u64, Option<Keyed>)> {
        let segment = self.layout.find(offset)?;
        let within = offset - segment.start;
        if len > segment.len - within {
            return None;
        }
        match &segment.mapping {
            Mapping::Encrypted { store_offset, first_unit, cipher } => {
                let unit = u64::from(cipher.unit_bytes());
                let whole = within.is_multiple_of(unit) && len.is_multiple_of(unit);
                whole.then(|| (store_offset + within, Some((cipher.clone(), first_unit + within / unit))))
            }
            Mapping::Plain { store_offset } => Some((store_offset + within, None)),
            Mapping::Zero => None,
        }
    }

    fn refuse(&mut self, request: Request) {
        let Request { tag, action, offset, buf } = request;
        let reason = "a queued request must be whole data units inside one stored segment of the volume";
        let operation = if action == Action::Read { Operation::Read } else { Operation::Write };
        let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
        let result = Err(StoreError::new(operation, "the volume", offset, buf.len(), reason));
        self.ready.push(Completion { tag, action, offset, buf, result });
    }

    fn seat(&mut self, flying: Flying) -> usize {
        let seat = self.free.pop().unwrap_or_else(|| {
            self.flying.push(None);
            self.flying.len() - 1
        });
        if let Some(place) = self.flying.get_mut(seat) {
            *place = Some(flying);
        }
        seat
    }

    /// Submits a request under a cipher piece by piece.
    fn submit_pieces(&mut self, request: Request, at: u64, keyed: Keyed) -> Result<(), StoreError> {
        let Request { tag, action, offset, buf } = request;
        let (len, is_read) = (buf.len(), action == Action::Read);
        let opening = is_read.then(|| keyed.clone());
        let whole = Some(if is_read { Whole::Read(buf) } else { Whole::Write(Arc::new(buf)) });
        let left = len.div_ceil(PIECE);
        let seat = self.seat(Flying { tag, action, offset, opening, whole, left, result: Ok(()) });
        for number in 0..left {
            let within = number * PIECE;
            let mut buf = self.buffers.pop().unwrap_or_default();
            buf.resize(PIECE.min(len - within));
            let (name, at) = (name(seat, number), at + within as u64);
            let whole =
                self.flying.get(seat).and_then(Option::as_ref).and_then(|flying| flying.whole.as_ref());
            if let Some(Whole::Write(whole)) = whole {
                let from = Some((whole.clone(), within));
                let (cipher, first_unit) = (keyed.0.clone(), unit_of(&keyed, number));
                self.encrypt(Job { name, is_write: true, at, cipher, first_unit, buf, from }, len - within)?;
            } else {
                self.inner.submit(Request { tag: name, action, offset: at, buf })?;
            }
        }
        Ok(())
    }

    /// Encrypts and submits a write, or lets a worker encrypt it, to be submitted afterwards. `further` bytes are to be
    /// encrypted from here on.
    fn encrypt(&mut self, mut job: Job, further: usize) -> Result<(), StoreError> {
        self.gather()?;
        let len = job.buf.len();
        if let Some(workers) = self.workers.as_mut() {
            if workers.cipher_is_behind() && workers.room(len, further) > 0 {
                workers.hand([job]);
                return Ok(());
            }
            workers.cipher_here(len, || job.run());
        } else {
            job.run();
        }
        self.took(job)
    }

    /// Takes what workers are done with.
    fn gather(&mut self) -> Result<(), StoreError> {
        let Some(workers) = self.workers.as_mut() else { return Ok(()) };
        workers.take_done(&mut self.worked);
        while let Some(job) = self.worked.pop() {
            self.took(job)?;
        }
        Ok(())
    }

    /// Goes on with what was ciphered.
    fn took(&mut self, job: Job) -> Result<(), StoreError> {
        let Job { name, is_write, at, buf, .. } = job;
        if is_write {
            return self.inner.submit(Request { tag: name, action: Action::Write, offset: at, buf });
        }
        self.finish(name, buf, Ok(()));
        Ok(())
    }

    /// Hands workers what arrived last, of what this thread would come to only after the first.
    fn share(&mut self) {
        let (Some(workers), Some(last)) = (self.workers.as_mut(), self.arrived.back()) else { return };
        let (further, len) = (self.arrived.len() - 1, last.buf.len());
        if further == 0 {
            return;
        }
        let room = workers.room(len, further * len).min(further.div_ceil(2));
        if room == 0 {
            return;
        }
        let (arrived, flying) = (&mut self.arrived, &self.flying);
        let jobs = std::iter::from_fn(|| {
            let last = arrived.back().filter(|last| last.result.is_ok())?;
            let (seat, piece) = seat_and_piece(last.tag);
            let keyed = flying.get(seat)?.as_ref()?.opening.as_ref()?;
            let (cipher, first_unit) = (keyed.0.clone(), unit_of(keyed, piece));
            let Completion { tag: name, buf, .. } = arrived.pop_back()?;
            Some(Job { name, is_write: false, at: 0, cipher, first_unit, buf, from: None })
        });
        workers.hand(jobs.take(room));
    }

    /// Waits for what workers have: does what none has begun.
    fn help(&mut self, since: Instant) -> Result<(), StoreError> {
        let Some(workers) = self.workers.as_mut() else { return Ok(()) };
        match workers.take_back() {
            Some(job) => self.took(job),
            None => {
                workers.await_worker(since);
                self.gather()
            }
        }
    }

    /// Whether workers have something.
    fn is_shared(&self) -> bool {
        self.workers.as_ref().is_some_and(|workers| workers.out() > 0)
    }

    /// Takes what the store handed back: decrypts it, and makes the request ready when all of it is
    /// there.
    fn take(&mut self, completion: Completion) {
        let Completion { tag, mut buf, result, .. } = completion;
        let (seat, number) = seat_and_piece(tag);
        let flying = self.flying.get(seat).and_then(Option::as_ref);
        if let (Ok(()), Some(keyed)) = (&result, flying.and_then(|flying| flying.opening.as_ref())) {
            let (len, first) = (buf.len(), unit_of(keyed, number));
            let mut decrypt = || keyed.0.decrypt_sectors(&mut buf, first);
            match self.workers.as_mut() {
                Some(workers) => workers.cipher_here(len, decrypt),
                None => decrypt(),
            }
        }
        self.finish(tag, buf, result);
    }

    /// Notes that a request, or a piece of it, is done with.
    fn finish(&mut self, name: u64, buf: AlignedBuf, result: Result<(), StoreError>) {
        let (seat, number) = seat_and_piece(name);
        let Some(flying) = self.flying.get_mut(seat).and_then(Option::as_mut) else { return };
        if result.is_err() {
            flying.result = result;
        }
        let mut alone = None;
        match &mut flying.whole {
            Some(whole) => {
                if let Whole::Read(whole) = whole
                    && let Some(part) = whole.chunks_mut(PIECE).nth(number)
                {
                    part.copy_from_slice(&buf);
                }
                self.buffers.push(buf);
            }
            None => alone = Some(buf),
        }
        flying.left -= 1;
        if flying.left > 0 {
            return;
        }
        let Some(flying) = self.flying.get_mut(seat).and_then(Option::take) else { return };
        self.free.push(seat);
        let Flying { tag, action, offset, whole, result, .. } = flying;
        if let Some(buf) = whole.and_then(Whole::into_inner).or(alone) {
            self.ready.push(Completion { tag, action, offset, buf, result });
        }
    }

    /// Takes what the store has, and waits for something where it has nothing and `may_wait`.
    fn reap(&mut self, may_wait: bool) -> Result<(), StoreError> {
        if let Some(workers) = self.workers.as_mut().filter(|_| may_wait) {
            self.inner.complete(0, &mut self.reaped)?;
            if self.reaped.is_empty() {
                workers.store_is_behind();
            }
        }
        if self.reaped.is_empty() {
            self.inner.complete(usize::from(may_wait), &mut self.reaped)?;
        }
        self.arrived.extend(self.reaped.drain(..));
        Ok(())
    }

    /// Looks at what has arrived until so many requests are ready.
    fn make_ready(&mut self, count: usize) {
        self.share();
        while self.ready.len() < count
            && let Some(completion) = self.arrived.pop_front()
        {
            self.take(completion);
        }
    }
}

/// Whether pieces are whole units.
fn is_cut((cipher, _): &Keyed) -> bool {
    PIECE.is_multiple_of(cipher.unit_bytes() as usize)
}

fn unit_of((cipher, first): &Keyed, piece: usize) -> u64 {
    first + (piece * PIECE) as u64 / u64::from(cipher.unit_bytes())
}

impl<Q: Queue> Queue for LayoutQueue<Q> {
    fn submit(&mut self, request: Request) -> Result<(), StoreError> {
        let place = match request.action {
            Action::Flush => Some((0, None)),
            Action::Read | Action::Write => self.place(request.offset, request.buf.len() as u64),
        };
        let Some((at, keyed)) = place else {
            self.refuse(request);
            return Ok(());
        };
        let opening = match (request.action, keyed) {
            (_, Some(keyed)) if request.buf.len() > PIECE && self.in_flight() == 0 && is_cut(&keyed) => {
                return self.submit_pieces(request, at, keyed);
            }
            (Action::Write, Some((cipher, first_unit))) => {
                let Request { tag, action, offset, buf } = request;
                let flying =
                    Flying { tag, action, offset, opening: None, whole: None, left: 1, result: Ok(()) };
                let (name, further) = (name(self.seat(flying), 0), buf.len());
                return self
                    .encrypt(Job { name, is_write: true, at, cipher, first_unit, buf, from: None }, further);
            }
            (_, keyed) => keyed,
        };
        let Request { tag, action, offset, buf } = request;
        let seat = self.seat(Flying { tag, action, offset, opening, whole: None, left: 1, result: Ok(()) });
        self.inner.submit(Request { tag: name(seat, 0), action, offset: at, buf })
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let wanted = at_least.min(self.in_flight());
        self.gather()?;
        self.make_ready(wanted);
        let mut since = None;
        while self.ready.len() < wanted && (self.inner.in_flight() > 0 || self.is_shared()) {
            if self.is_shared() {
                self.help(*since.get_or_insert_with(Instant::now))?;
                self.reap(false)?;
            } else {
                self.reap(true)?;
            }
            self.make_ready(wanted);
        }
        if at_least == 0 {
            self.reap(false)?;
            self.make_ready(usize::MAX);
            self.gather()?;
        }
        done.append(&mut self.ready);
        Ok(())
    }

    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        self.gather()?;
        self.make_ready(1);
        let mut since = None;
        // A piece may arrive that makes no request ready.
        while self.ready.is_empty() && self.inner.now() < until {
            if self.is_shared() {
                self.help(*since.get_or_insert_with(Instant::now))?;
                self.reap(false)?;
            } else {
                self.reap(false)?;
                if self.arrived.is_empty() {
                    if let Some(workers) = self.workers.as_mut() {
                        workers.store_is_behind();
                    }
                    self.inner.complete_before(until, &mut self.reaped)?;
                    self.arrived.extend(self.reaped.drain(..));
                }
            }
            self.make_ready(1);
        }
        done.append(&mut self.ready);
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.flying.len() - self.free.len() + self.ready.len()
    }

    fn now(&self) -> u64 {
        self.inner.now()
    }
}
