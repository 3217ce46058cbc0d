//! Reads and transforms segments on threads of their own while earlier ones are written.
//!
//! Three stages, a buffer each and one to spare: the drive reads, the processor ciphers, the drive
//! writes. A segment's source may be read before the segments in front of it are written, because no
//! segment's target reaches into the source of a later one ([`Move::segment`]).

use crate::step::Move;
use crate::{ConvertError, Stopped};
use keyway_store::{AlignedBuf, Store};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Buffers in use at once.
const BUFFERS: usize = 4;

/// A move, from some byte of it on.
pub(crate) struct Pipeline<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) m: &'a Move,
    /// Bytes that are done.
    pub(crate) from: u64,
    /// Bytes of a segment.
    pub(crate) segment: u64,
}

/// A segment on its way: bytes of the move that come before it, and its own.
type Loaded = Result<(u64, AlignedBuf), ConvertError>;

impl Pipeline<'_> {
    /// Gives each segment, transformed, to `write(done, segment)`, in order.
    pub(crate) fn run(
        &self,
        mut write: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, ConvertError>,
    ) -> Result<Stopped, ConvertError> {
        let rest = self.m.len.saturating_sub(self.from);
        if rest <= self.segment {
            // Not worth a thread.
            return match self.segments().next() {
                None => Ok(Stopped::Done),
                Some((done, n)) => {
                    let mut buf = self.read(done, n, AlignedBuf::default())?;
                    self.transform(done, &mut buf);
                    Ok(if write(done, &buf)?.is_break() { Stopped::Paused } else { Stopped::Done })
                }
            };
        }
        std::thread::scope(|scope| {
            let (empty_in, empty) = sync_channel(BUFFERS);
            let (read_in, read) = sync_channel(1);
            let (ready_in, ready) = sync_channel(1);
            for _ in 0..BUFFERS {
                // There is room for all of them.
                let _ = empty_in.send(AlignedBuf::default());
            }
            scope.spawn(move || self.reader(&empty, &read_in));
            scope.spawn(move || self.cipher(&read, &ready_in));
            for loaded in ready {
                let (done, segment) = loaded?;
                if write(done, &segment)?.is_break() {
                    return Ok(Stopped::Paused);
                }
                let _ = empty_in.send(segment);
            }
            Ok(Stopped::Done)
        })
    }

    /// What is left: bytes before, and bytes of each segment.
    fn segments(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut done = self.from;
        std::iter::from_fn(move || {
            let n = self.segment.min(self.m.len.saturating_sub(done));
            let found = (done, n);
            done += n;
            (n > 0).then_some(found)
        })
    }

    fn reader(&self, empty: &Receiver<AlignedBuf>, to: &SyncSender<Loaded>) {
        for (done, n) in self.segments() {
            // The other end is gone when the work is stopped.
            let Ok(buf) = empty.recv() else { return };
            let loaded = self.read(done, n, buf).map(|buf| (done, buf));
            let failed = loaded.is_err();
            if to.send(loaded).is_err() || failed {
                return;
            }
        }
    }

    fn cipher(&self, from: &Receiver<Loaded>, to: &SyncSender<Loaded>) {
        for loaded in from {
            let loaded = loaded.map(|(done, mut buf)| {
                self.transform(done, &mut buf);
                (done, buf)
            });
            if to.send(loaded).is_err() {
                return;
            }
        }
    }

    fn read(&self, done: u64, n: u64, mut buf: AlignedBuf) -> Result<AlignedBuf, ConvertError> {
        buf.resize(n as usize);
        self.store.read_at(&mut buf, self.m.from.offset + self.m.segment(done, n))?;
        Ok(buf)
    }

    fn transform(&self, done: u64, buf: &mut [u8]) {
        let at = self.m.segment(done, buf.len() as u64);
        self.m.from.decrypt(buf, at);
        self.m.to.encrypt(buf, at);
    }
}
