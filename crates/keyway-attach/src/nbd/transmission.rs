//! The transmission phase: requests in, answers out, several at a time.
//!
//! The workers of a connection take turns at receiving. Whoever holds the input takes one request
//! off the stream (with its data, if it writes), passes the input on and carries the request out
//! on the same thread, in its own aligned buffer; the answers are sent one at a time, in the order
//! in which they are ready. So requests overlap without a queue between threads, without copies
//! and without an allocation once the buffers have grown. Workers are started when they are first
//! needed.

use super::admission::{Busy, Client};
use super::buffer_pool::{BufferPool, TakenMemory};
use super::connection_error::{ConnectionError, Violation};
use super::context;
use super::protocol::{
    Agreed, CMD_FLAG_DF, CMD_FLAG_FUA, CMD_FLAG_REQ_ONE, Command, Refusal, ReplyHead, Request,
};
use super::wire::{Wire, receive_all, send_all};
use keyway_engine::{Device, DeviceError};
use keyway_store::AlignedBuf;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

/// Bytes received at a time while looking for requests: a full queue of them, or a small write.
const INPUT: usize = 32 * 1024;

/// Requests of more bytes are carried out one after the other, and read in pieces of so many where the client takes
/// them so.
const LARGE: usize = 4 << 20;

/// A worker keeps a buffer of so many bytes for its next request. What is larger is only there for as long as there
/// is room for it, and goes with its request.
const KEPT: usize = 256 << 10;

/// Room for the large requests of one connection: as much as the largest takes.
const OWN_ROOM: usize = 32 << 20;

/// The data of a large write gets its memory as it arrives, beginning with so many bytes.
const FIRST_STEP: usize = 256 << 10;

/// Zeros written between two looks at whether the server is being stopped.
const ZERO_PIECE: u64 = 64 << 20;

/// What a connection works with: the volume, memory, its limits.
pub(crate) struct Resources<'a> {
    /// The volume.
    pub(crate) device: &'a Device,
    /// Memory for large requests.
    pub(crate) room: &'a BufferPool,
    /// Whose connection it is, where there are others.
    pub(crate) client: Option<&'a Client>,
    /// Requests that run at once, at most.
    pub(crate) workers: usize,
    /// Whether the server is being stopped.
    pub(crate) closing: &'a (dyn Fn() -> bool + Sync),
}

/// Serves a negotiated client until it leaves.
pub(crate) fn serve(
    wire: &impl Wire,
    agreed: Agreed,
    resources: Resources<'_>,
) -> Result<(), ConnectionError> {
    let connection = Connection {
        wire,
        device: resources.device,
        agreed,
        own_room: BufferPool::new(OWN_ROOM),
        input: Mutex::new(Input { bytes: vec![0; INPUT].into_boxed_slice(), start: 0, end: 0, result: None }),
        resources,
        output: Mutex::new(()),
        started: AtomicUsize::new(1),
        waiting: AtomicUsize::new(0),
    };
    std::thread::scope(|scope| connection.work(scope));
    let input = connection.input.into_inner().unwrap_or_else(PoisonError::into_inner);
    input.result.unwrap_or(Ok(()))
}

struct Connection<'a, W> {
    wire: &'a W,
    device: &'a Device,
    agreed: Agreed,
    resources: Resources<'a>,
    own_room: BufferPool,
    input: Mutex<Input>,
    output: Mutex<()>,
    /// Workers there are.
    started: AtomicUsize,
    /// Workers that wait for the input.
    waiting: AtomicUsize,
}

/// What is received and not yet taken.
struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    /// How it ended, once it has.
    result: Option<Result<(), ConnectionError>>,
}

/// A request with its data at hand, or why it is not carried out.
struct Job<'a> {
    request: Request,
    refusal: Option<Refusal>,
    /// It is one that a client does not wait for in silence.
    _busy: Option<Busy<'a>>,
    /// The room that it takes, where it needs more than a worker keeps.
    large: Option<Large<'a>>,
}

/// A large request's memory.
struct Large<'a> {
    buffer: AlignedBuf,
    /// This connection's room, and everybody's.
    _room: (TakenMemory<'a>, TakenMemory<'a>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Wire> Connection<'_, W> {
    /// What every worker does until the client leaves.
    fn work<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        let mut own = AlignedBuf::default();
        loop {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let mut input = lock(&self.input);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            if input.result.is_some() {
                return;
            }
            let mut job = match self.take(&mut input, &mut own) {
                Ok(Some(job)) => job,
                Ok(None) => {
                    input.result = Some(Ok(()));
                    return;
                }
                Err(e) => {
                    input.result = Some(Err(e));
                    return;
                }
            };
            // The largest are carried out one after the other.
            let alone = if job.is_large() {
                Some(input)
            } else {
                self.have_successor(scope);
                drop(input);
                None
            };
            let mut large = job.large.take();
            let sent = self.carry_out(&job, large.as_mut().map_or(&mut own, |large| &mut large.buffer));
            if let Some(large) = large {
                self.resources.room.give_back(large.buffer);
            }
            drop(alone);
            if sent.is_err() {
                // The receiving side finds out and tells why.
                self.wire.hang_up();
            }
        }
    }

    /// Sees to it that somebody is there to take the input over.
    fn have_successor<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        // Both change only under the input's lock, or in a direction that does no harm.
        if self.waiting.load(Ordering::Relaxed) > 0
            || self.started.load(Ordering::Relaxed) >= self.resources.workers
        {
            return;
        }
        let spawned = Builder::new().name("nbd".into()).spawn_scoped(scope, || self.work(scope));
        // Without another thread the ones there are do it all.
        if spawned.is_ok() {
            self.started.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes the next request off the stream, with the data of a write in the buffer it belongs to.
    /// `None`: the client has left.
    fn take(&self, input: &mut Input, own: &mut AlignedBuf) -> Result<Option<Job<'_>>, ConnectionError> {
        let Some(request) = input.next_request(self.wire)? else { return Ok(None) };
        if request.command == Command::Disconnect {
            return Ok(None);
        }
        let check = request.check(self.device.size(), self.device.is_read_only(), self.agreed);
        let check = if (self.resources.closing)() { Err(Refusal::ShuttingDown) } else { check };
        let mut job = Job {
            request,
            refusal: check.err(),
            _busy: self.resources.client.map(Client::busy),
            large: None,
        };
        let bytes = self.memory_of(&job);
        if bytes > KEPT {
            match self.take_room(bytes) {
                Some(room) => job.large = Some(Large { buffer: self.resources.room.buffer(), _room: room }),
                None => job.refusal = Some(Refusal::ShuttingDown),
            }
        }
        if job.request.command == Command::Write {
            let len = job.request.len as usize;
            if job.refusal.is_some() {
                input.skip(self.wire, len)?;
            } else {
                let to = job.large.as_mut().map_or(own, |large| &mut large.buffer);
                input.fill(self.wire, to, len)?;
            }
        }
        Ok(Some(job))
    }

    /// Bytes of memory that a request takes.
    fn memory_of(&self, job: &Job<'_>) -> usize {
        let len = job.request.len as usize;
        match job.request.command {
            _ if job.refusal.is_some() => 0,
            Command::Read if self.in_pieces(&job.request) => len.min(LARGE),
            Command::Read | Command::Write => len,
            _ => 0,
        }
    }

    /// Whether the client takes the answer to a read in pieces.
    fn in_pieces(&self, request: &Request) -> bool {
        self.agreed.structured && request.flags & CMD_FLAG_DF == 0
    }

    fn take_room(&self, bytes: usize) -> Option<(TakenMemory<'_>, TakenMemory<'_>)> {
        let own = self.own_room.take(bytes, self.resources.closing)?;
        Some((own, self.resources.room.take(bytes, self.resources.closing)?))
    }

    fn carry_out(&self, job: &Job<'_>, buf: &mut AlignedBuf) -> io::Result<()> {
        let request = &job.request;
        if request.command == Command::Read && job.is_large() && self.in_pieces(request) {
            return self.send_pieces(request, buf);
        }
        let done = match job.refusal {
            Some(refusal) => Err(refusal),
            None => self.execute(request, buf),
        };
        let structured = self.agreed.structured;
        let (head, data): (ReplyHead, &[u8]) = match (done, request.command) {
            (Err(refusal), _) => (ReplyHead::refusal(request.cookie, refusal, structured), &[]),
            (Ok(()), Command::Read) if self.has_holes(request) => {
                return self.send_parts(request.cookie, request.offset, buf, true);
            }
            (Ok(()), Command::Read) => (ReplyHead::data(request, structured), buf),
            (Ok(()), Command::BlockStatus) => {
                let only_one = request.flags & CMD_FLAG_REQ_ONE != 0;
                let answer = context::block_status(self.device, request.offset, request.len, only_one);
                let head = ReplyHead::block_status(request.cookie, answer.len());
                return self.send(&head, &answer);
            }
            (Ok(()), _) => (ReplyHead::done(request.cookie), &[]),
        };
        self.send(&head, data)
    }

    fn send(&self, head: &ReplyHead, data: &[u8]) -> io::Result<()> {
        let _alone = lock(&self.output);
        send_all(self.wire, &mut [IoSlice::new(head.as_bytes()), IoSlice::new(data)])
    }

    /// Whether a part of a read is zeros that need not be sent, and the client takes it so.
    fn has_holes(&self, request: &Request) -> bool {
        let len = u64::from(request.len);
        let first = self.device.extent(request.offset, len);
        self.in_pieces(request) && first.is_some_and(|first| first.zero || first.len < len)
    }

    /// Reads and answers piece by piece.
    fn send_pieces(&self, request: &Request, buf: &mut AlignedBuf) -> io::Result<()> {
        let (mut at, mut left) = (request.offset, request.len as usize);
        while left > 0 {
            let len = left.min(LARGE);
            buf.resize(len);
            if let Err(e) = self.device.read_at(buf, at) {
                // What was sent is good; the rest is not, and this ends the answer.
                let refusal = Refusal::from_errno(e.errno());
                return self.send(&ReplyHead::refusal(request.cookie, refusal, true), &[]);
            }
            left -= len;
            self.send_parts(request.cookie, at, buf, left == 0)?;
            at += len as u64;
        }
        Ok(())
    }

    /// Answers a read, or the piece of one, in parts: data, and holes for what is zeros anyway.
    fn send_parts(&self, cookie: u64, offset: u64, data: &[u8], ends: bool) -> io::Result<()> {
        let (mut rest, mut at) = (data, offset);
        let _alone = lock(&self.output);
        while let Some(extent) = self.device.extent(at, rest.len() as u64) {
            let (part, tail) = rest.split_at_checked(extent.len as usize).unwrap_or((rest, &[]));
            let (len, last) = (part.len() as u32, ends && tail.is_empty());
            let (head, part) = if extent.zero {
                (ReplyHead::hole(cookie, at, len, last), &[][..])
            } else {
                (ReplyHead::part(cookie, at, len, last), part)
            };
            send_all(self.wire, &mut [IoSlice::new(head.as_bytes()), IoSlice::new(part)])?;
            rest = tail;
            at += extent.len;
        }
        Ok(())
    }

    fn execute(&self, request: &Request, buf: &mut AlignedBuf) -> Result<(), Refusal> {
        let (offset, len) = (request.offset, u64::from(request.len));
        let refuse = |e: DeviceError| Refusal::from_errno(e.errno());
        match request.command {
            Command::Read => {
                buf.resize(request.len as usize);
                self.device.read_at(buf, offset).map_err(refuse)?;
            }
            Command::Write => self.device.write_and_spoil(buf, offset).map_err(refuse)?,
            Command::Flush => self.device.flush().map_err(refuse)?,
            Command::Trim => self.device.discard(offset, len).map_err(refuse)?,
            Command::WriteZeroes => {
                let mut at = 0;
                while at < len {
                    if (self.resources.closing)() {
                        return Err(Refusal::ShuttingDown);
                    }
                    let n = (len - at).min(ZERO_PIECE);
                    self.device.write_zeroes(offset + at, n).map_err(refuse)?;
                    at += n;
                }
            }
            Command::BlockStatus => {}
            Command::Disconnect | Command::Unknown => return Err(Refusal::Invalid),
        }
        let changed = matches!(request.command, Command::Write | Command::Trim | Command::WriteZeroes);
        if changed && request.flags & CMD_FLAG_FUA != 0 {
            self.device.flush().map_err(refuse)?;
        }
        Ok(())
    }
}

impl Job<'_> {
    fn is_large(&self) -> bool {
        let moves = matches!(self.request.command, Command::Read | Command::Write);
        self.refusal.is_none() && moves && self.request.len as usize > LARGE
    }
}

impl Input {
    fn held(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// `None`: the client has left between two requests.
    fn next_request(&mut self, wire: &impl Wire) -> Result<Option<Request>, ConnectionError> {
        loop {
            if let Some(head) = self.held().first_chunk::<{ Request::BYTES }>() {
                let request = Request::parse(head).ok_or(Violation::RequestMagic)?;
                self.start += Request::BYTES;
                return Ok(Some(request));
            }
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            let empty = self.end == 0;
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
            match wire.receive(room) {
                // Between two requests a client may be silent.
                Err(e) if empty && e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e.into()),
                Ok(0) if empty => return Ok(None),
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(n) => self.end += n,
            }
        }
    }

    /// Makes `to` the next `len` bytes: what is held, then straight from the stream. Memory comes with the bytes.
    fn fill(&mut self, wire: &impl Wire, to: &mut AlignedBuf, len: usize) -> io::Result<()> {
        let mut step = FIRST_STEP;
        let mut done = 0;
        while done < len {
            let until = len.min(step);
            to.resize(until);
            let part = to.get_mut(done..).unwrap_or_default();
            let n = self.held().len().min(part.len());
            let (first, rest) = part.split_at_mut(n);
            first.copy_from_slice(self.held().get(..n).unwrap_or_default());
            self.start += n;
            receive_all(wire, rest)?;
            done = until;
            step = step.saturating_mul(2);
        }
        to.resize(len);
        Ok(())
    }

    /// Throws `len` bytes away.
    fn skip(&mut self, wire: &impl Wire, len: usize) -> io::Result<()> {
        let n = self.held().len().min(len);
        self.start += n;
        let mut left = len - n;
        if left > 0 {
            // Everything held was part of it.
            (self.start, self.end) = (0, 0);
        }
        while left > 0 {
            let n = left.min(self.bytes.len());
            receive_all(wire, self.bytes.get_mut(..n).unwrap_or_default())?;
            left -= n;
        }
        Ok(())
    }
}
