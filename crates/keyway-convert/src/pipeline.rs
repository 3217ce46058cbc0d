//! Reads and transforms segments on threads of their own while earlier ones are written.
//!
//! Four stages, a buffer each and one to spare: the drive reads, the processor ciphers, the drive writes
//! to the journal and, of the segment before, to the target. A segment's source may be read before the segments in front of it are written, because no
//! segment's target reaches into the source of a later one ([`Move::segment`]).

use crate::journal::checksum;
use crate::step::Move;
use crate::{ConvertError, Stopped};
use keyway_store::{AlignedBuf, Store};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Buffers in use at once.
const BUFFERS: usize = 5;

/// A move, from some byte of it on.
pub(crate) struct Pipeline<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) m: &'a Move,
    /// Bytes that are done.
    pub(crate) from: u64,
    /// Bytes of a segment.
    pub(crate) segment: u64,
}

/// A segment on its way: bytes of the move that come before it, its own, and in the end their checksum.
pub(crate) struct Segment {
    pub(crate) done: u64,
    pub(crate) bytes: AlignedBuf,
    pub(crate) sums: [u64; 2],
}

type Loaded = Result<Segment, ConvertError>;

impl Pipeline<'_> {
    /// Has each segment, transformed, put into the journal and then to its target, in order.
    /// `journal(segment)` writes it to the journal; `flush()` puts the journal, and the target before, on
    /// the medium; `count(segment)` says whether to go on. The targets are written here, each while the
    /// next segment goes to the journal.
    pub(crate) fn run(&self, sink: &mut dyn Sink) -> Result<Stopped, ConvertError> {
        let rest = self.m.len.saturating_sub(self.from);
        if rest <= self.segment {
            // Not worth a thread.
            let Some((done, n)) = self.segments().next() else { return Ok(Stopped::Done) };
            let segment = self.transform(self.read(done, n, AlignedBuf::default())?);
            sink.journal(&segment)?;
            sink.flush()?;
            self.put(&segment)?;
            return Ok(if sink.count(&segment).is_break() { Stopped::Paused } else { Stopped::Done });
        }
        std::thread::scope(|scope| {
            let (empty_in, empty) = sync_channel(BUFFERS);
            let (read_in, read) = sync_channel(1);
            let (ready_in, ready) = sync_channel(1);
            let (target_in, target) = sync_channel(1);
            let (put_in, put) = sync_channel(1);
            for _ in 0..BUFFERS {
                // There is room for all of them.
                let _ = empty_in.send(AlignedBuf::default());
            }
            scope.spawn(move || self.reader(&empty, &read_in));
            scope.spawn(move || self.cipher(&read, &ready_in));
            scope.spawn(move || {
                for segment in target {
                    let result = self.put(&segment).map(|()| segment.bytes);
                    if put_in.send(result).is_err() {
                        return;
                    }
                }
            });
            let mut writing = false;
            let settle = |writing: &mut bool| -> Result<(), ConvertError> {
                if std::mem::take(writing) {
                    // Its thread ends only with this one, so there is an answer.
                    let buf = put.recv().map_err(|_| ConvertError::ImpossibleRecord)??;
                    let _ = empty_in.send(buf);
                }
                Ok(())
            };
            for loaded in ready {
                let segment = loaded?;
                let journaled = sink.journal(&segment);
                settle(&mut writing)?;
                journaled?;
                sink.flush()?;
                let go_on = sink.count(&segment);
                writing = target_in.send(segment).is_ok();
                if go_on.is_break() {
                    settle(&mut writing)?;
                    return Ok(Stopped::Paused);
                }
            }
            settle(&mut writing)?;
            Ok(Stopped::Done)
        })
    }

    /// Writes a segment to its target.
    fn put(&self, segment: &Segment) -> Result<(), ConvertError> {
        let at = self.m.segment(segment.done, segment.bytes.len() as u64);
        Ok(self.store.write_at(&segment.bytes, self.m.to.offset + at)?)
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
            let loaded = self.read(done, n, buf);
            let failed = loaded.is_err();
            if to.send(loaded).is_err() || failed {
                return;
            }
        }
    }

    fn cipher(&self, from: &Receiver<Loaded>, to: &SyncSender<Loaded>) {
        for loaded in from {
            let loaded = loaded.map(|segment| self.transform(segment));
            if to.send(loaded).is_err() {
                return;
            }
        }
    }

    fn read(&self, done: u64, n: u64, mut bytes: AlignedBuf) -> Result<Segment, ConvertError> {
        bytes.resize(n as usize);
        self.store.read_at(&mut bytes, self.m.from.offset + self.m.segment(done, n))?;
        Ok(Segment { done, bytes, sums: [0; 2] })
    }

    fn transform(&self, mut segment: Segment) -> Segment {
        let at = self.m.segment(segment.done, segment.bytes.len() as u64);
        self.m.from.decrypt(&mut segment.bytes, at);
        self.m.to.encrypt(&mut segment.bytes, at);
        segment.sums = checksum(&segment.bytes);
        segment
    }
}

/// Where segments go before they go to their targets.
pub(crate) trait Sink {
    /// Writes it to the journal.
    fn journal(&mut self, segment: &Segment) -> Result<(), ConvertError>;
    /// Puts the journal, and every target before, on the medium.
    fn flush(&mut self) -> Result<(), ConvertError>;
    /// It is as good as done; whether to go on.
    fn count(&mut self, segment: &Segment) -> ControlFlow<()>;
}
