//! A layout over a store's queue: plain sectors in and out, with many requests in flight from one
//! thread.
//!
//! The same bytes as through a [`Device`](crate::Device), at the same moments relative to the medium:
//! a write is encrypted before it is submitted, a read is decrypted when it has completed. Requests
//! are whole data units inside one segment, as those of a file system and of a load generator are.

use crate::{Layout, Mapping};
use keyway_cipher::SectorCipher;
use keyway_store::{Action, Completion, Operation, Queue, Request, StoreError};
use std::io;
use std::sync::Arc;

/// A volume's requests in flight, for one thread.
pub struct LayoutQueue<Q> {
    layout: Arc<Layout>,
    inner: Q,
    /// What the store's tags stand for; a free place holds `None`.
    flying: Vec<Option<Flying>>,
    free: Vec<usize>,
    /// Requests that were refused, to be handed back with the next completions.
    refused: Vec<Completion>,
    done: Vec<Completion>,
}

/// A cipher, and the first unit of the request it is for.
type Keyed = (Arc<SectorCipher>, u64);

/// A request as the submitter knows it.
struct Flying {
    tag: u64,
    offset: u64,
    /// What decrypts it when it is back.
    opening: Option<Keyed>,
}

impl<Q: Queue> LayoutQueue<Q> {
    /// Puts the layout over the queue of the store it describes.
    pub fn new(layout: Arc<Layout>, inner: Q) -> Self {
        Self { layout, inner, flying: Vec::new(), free: Vec::new(), refused: Vec::new(), done: Vec::new() }
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

    /// Decrypts what the store handed back, and hands it on under the submitter's names.
    fn open_into(&mut self, done: &mut Vec<Completion>) {
        for mut completion in self.done.drain(..) {
            let slot = completion.tag as usize;
            let Some(flying) = self.flying.get_mut(slot).and_then(Option::take) else { continue };
            self.free.push(slot);
            (completion.tag, completion.offset) = (flying.tag, flying.offset);
            if let (Ok(()), Some((cipher, unit))) = (&completion.result, flying.opening) {
                cipher.decrypt_sectors(&mut completion.buf, unit);
            }
            done.push(completion);
        }
    }

    fn refuse(&mut self, request: Request) {
        let Request { tag, action, offset, buf } = request;
        let reason = "a queued request must be whole data units inside one stored segment of the volume";
        let operation = if action == Action::Read { Operation::Read } else { Operation::Write };
        let reason = io::Error::new(io::ErrorKind::InvalidInput, reason);
        let result = Err(StoreError::new(operation, "the volume", offset, buf.len(), reason));
        self.refused.push(Completion { tag, action, offset, buf, result });
    }
}

impl<Q: Queue> Queue for LayoutQueue<Q> {
    fn submit(&mut self, request: Request) -> Result<(), StoreError> {
        let place = match request.action {
            Action::Flush => Some((0, None)),
            Action::Read | Action::Write => self.place(request.offset, request.buf.len() as u64),
        };
        let Some((store_offset, cipher)) = place else {
            self.refuse(request);
            return Ok(());
        };
        let Request { tag, action, offset, mut buf } = request;
        let mut opening = None;
        match (action, cipher) {
            (Action::Write, Some((cipher, unit))) => cipher.encrypt_sectors(&mut buf, unit),
            (_, cipher) => opening = cipher,
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.flying.push(None);
            self.flying.len() - 1
        });
        if let Some(place) = self.flying.get_mut(slot) {
            *place = Some(Flying { tag, offset, opening });
        }
        self.inner.submit(Request { tag: slot as u64, action, offset: store_offset, buf })
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let refused = self.refused.len();
        done.append(&mut self.refused);
        self.inner.complete(at_least.saturating_sub(refused), &mut self.done)?;
        self.open_into(done);
        Ok(())
    }

    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        if self.refused.is_empty() {
            self.inner.complete_before(until, &mut self.done)?;
            self.open_into(done);
        }
        done.append(&mut self.refused);
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.refused.len()
    }

    fn now(&self) -> u64 {
        self.inner.now()
    }
}
