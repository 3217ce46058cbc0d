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

use crate::{Layout, Mapping};
use keyway_cipher::SectorCipher;
use keyway_store::{Action, AlignedBuf, Completion, Operation, Queue, Request, StoreError};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

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
    whole: Option<AlignedBuf>,
    /// Pieces that are not back.
    left: usize,
    /// What went wrong with a piece.
    result: Result<(), StoreError>,
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
        }
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
        let opening = (action == Action::Read).then(|| keyed.clone());
        let (left, result) = (buf.len().div_ceil(PIECE), Ok(()));
        let seat = self.seat(Flying { tag, action, offset, opening, whole: None, left, result });
        for (number, part) in buf.chunks(PIECE).enumerate() {
            let mut piece = self.buffers.pop().unwrap_or_default();
            piece.resize(part.len());
            if action == Action::Write {
                piece.copy_from_slice(part);
                encrypt(&keyed, &mut piece, number);
            }
            let offset = at + (number * PIECE) as u64;
            self.inner.submit(Request { tag: name(seat, number), action, offset, buf: piece })?;
        }
        if let Some(flying) = self.flying.get_mut(seat).and_then(Option::as_mut) {
            flying.whole = Some(buf);
        }
        Ok(())
    }

    /// Takes what the store handed back: decrypts it, and makes the request ready when all of it is
    /// there.
    fn take(&mut self, completion: Completion) {
        let Completion { tag, mut buf, result, .. } = completion;
        let (seat, number) = seat_and_piece(tag);
        let Some(flying) = self.flying.get_mut(seat).and_then(Option::as_mut) else { return };
        match (result, &flying.opening) {
            (Ok(()), Some(keyed)) => decrypt(keyed, &mut buf, number),
            (Ok(()), None) => {}
            (error, _) => flying.result = error,
        }
        let mut alone = None;
        match &mut flying.whole {
            Some(whole) => {
                let part = whole.chunks_mut(PIECE).nth(number);
                if let Some(part) = part.filter(|_| flying.opening.is_some()) {
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
        if let Some(buf) = whole.or(alone) {
            self.ready.push(Completion { tag, action, offset, buf, result });
        }
    }

    fn reap(&mut self, at_least: usize) -> Result<(), StoreError> {
        self.inner.complete(at_least, &mut self.reaped)?;
        self.arrived.extend(self.reaped.drain(..));
        Ok(())
    }

    /// Looks at what has arrived until so many requests are ready.
    fn make_ready(&mut self, count: usize) {
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

fn encrypt(keyed: &Keyed, bytes: &mut [u8], piece: usize) {
    keyed.0.encrypt_sectors(bytes, unit_of(keyed, piece));
}

fn decrypt(keyed: &Keyed, bytes: &mut [u8], piece: usize) {
    keyed.0.decrypt_sectors(bytes, unit_of(keyed, piece));
}

impl<Q: Queue> Queue for LayoutQueue<Q> {
    fn submit(&mut self, mut request: Request) -> Result<(), StoreError> {
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
            (Action::Write, Some(keyed)) => {
                encrypt(&keyed, &mut request.buf, 0);
                None
            }
            (_, keyed) => keyed,
        };
        let Request { tag, action, offset, buf } = request;
        let seat = self.seat(Flying { tag, action, offset, opening, whole: None, left: 1, result: Ok(()) });
        self.inner.submit(Request { tag: name(seat, 0), action, offset: at, buf })
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let wanted = at_least.min(self.in_flight());
        self.make_ready(wanted);
        while self.ready.len() < wanted && self.inner.in_flight() > 0 {
            self.reap(1)?;
            self.make_ready(wanted);
        }
        if at_least == 0 {
            self.reap(0)?;
            self.make_ready(usize::MAX);
        }
        done.append(&mut self.ready);
        Ok(())
    }

    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        self.make_ready(1);
        // A piece may arrive that makes no request ready.
        while self.ready.is_empty() && self.inner.now() < until {
            self.inner.complete_before(until, &mut self.reaped)?;
            self.arrived.extend(self.reaped.drain(..));
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
