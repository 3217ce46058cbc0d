//! When a flash drive is done with a request.
//!
//! A request passes three stages. The *controller* takes commands one at a time (the limit of
//! requests a second), and the *link* carries so many bytes a second (the limit of bandwidth); both
//! are kept in order of arrival, each as the moment at which it has caught up. Then one of the
//! *channels* serves it, the one that is free first: latency and transfer, scattered as real service
//! times are. A read is done then. A write is in the cache then; it was let in only when the cache,
//! which empties at its own rate, had room for it. Where the [translation](super::translation) layer has
//! to write other pages again first, the cache empties later.

use super::chance::Chance;
use super::parameters::FlashParameters;
use super::timing::{Timing, nanos, transfer};
use super::translation::Translation;
use keyway_store::Action;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sequential streams that are read ahead at once.
const STREAMS: usize = 8;

/// Times that a span and what is spare are written until what is collected stays the same.
const SETTLED_AFTER: u64 = 3;

/// A flash drive's state.
pub(super) struct Flash {
    p: FlashParameters,
    chance: Chance,
    read: Side,
    write: Side,
    /// Where recent reads ended, the latest last.
    streams: Vec<u64>,
    /// When everything in the write cache will be in the flash.
    drained: u64,
    /// Written since the last flush.
    dirty: bool,
    translation: Option<Translation>,
    capacity: u64,
}

/// One direction: controller, link and channels.
struct Side {
    /// When the controller takes the next command.
    command: u64,
    /// When the link has carried everything so far.
    link: u64,
    /// When each channel is free.
    channels: BinaryHeap<Reverse<u64>>,
}

impl Side {
    fn new(channels: usize) -> Self {
        Self { command: 0, link: 0, channels: (0..channels).map(|_| Reverse(0)).collect() }
    }

    /// Takes a request of `len` bytes whose service lasts `service`, not before `from`.
    fn serve(&mut self, from: u64, len: usize, iops: f64, mb_s: f64, service: u64) -> u64 {
        let start = from.max(self.command).max(self.link);
        self.command = from.max(self.command) + nanos(1e9 / iops);
        self.link = from.max(self.link) + transfer(len, mb_s);
        let Reverse(free) = self.channels.pop().unwrap_or_default();
        let done = start.max(free) + service;
        self.channels.push(Reverse(done));
        done
    }
}

impl Flash {
    pub(super) fn new(p: FlashParameters, capacity: u64) -> Self {
        Self {
            translation: p.translation.as_ref().map(|p| Translation::new(p, capacity)),
            capacity,
            chance: Chance::new(0x6b65_7977_6179),
            read: Side::new(p.read.channels),
            write: Side::new(p.write.channels),
            streams: Vec::with_capacity(STREAMS),
            drained: 0,
            dirty: false,
            p,
        }
    }

    /// A service time of `us` and a transfer, scattered.
    fn scatter(&mut self, us: f64, len: usize, mb_s: f64) -> u64 {
        let mut time = us * 1e3 * self.chance.around_one(self.p.spread);
        if self.chance.share() < self.p.tail_share {
            time += self.p.tail_us * 1e3;
        }
        nanos(time) + transfer(len, mb_s)
    }

    fn read(&mut self, now: u64, offset: u64, len: usize) -> u64 {
        let end = offset.saturating_add(len as u64);
        let continued = self.streams.iter().position(|at| *at == offset);
        match continued {
            Some(stream) => {
                self.streams.remove(stream);
            }
            None if self.streams.len() == STREAMS => {
                self.streams.remove(0);
            }
            None => {}
        }
        self.streams.push(end);
        let r = &self.p.read;
        let (latency, stream, iops, mb_s) =
            (if continued.is_some() { r.sequential_us } else { r.latency_us }, r.stream_mb_s, r.iops, r.mb_s);
        let service = self.scatter(latency, len, stream);
        self.read.serve(now, len, iops, mb_s, service)
    }

    fn write(&mut self, now: u64, offset: u64, len: usize) -> u64 {
        self.dirty = true;
        let w = &self.p.write;
        let (latency, stream, iops, mb_s) = (w.latency_us, w.stream_mb_s, w.iops, w.mb_s);
        // The cache as time: how long it takes to empty when it is full.
        let full = nanos((w.cache_mib << 20) as f64 * 1e3 / w.drain_mb_s);
        // What has to be written again for it goes the same way.
        let again = self.translation.as_mut().map_or(0, |translation| translation.write(offset, len));
        let drain = transfer(len.saturating_add(again as usize), w.drain_mb_s);
        self.drained = self.drained.max(now) + drain;
        let from = now.max(self.drained.saturating_sub(full.max(drain)));
        let service = self.scatter(latency, len, stream);
        self.write.serve(from, len, iops, mb_s, service)
    }
}

impl Timing for Flash {
    fn due(&mut self, now: u64, action: Action, offset: u64, len: usize) -> u64 {
        match action {
            Action::Read => self.read(now, offset, len),
            Action::Write => self.write(now, offset, len),
            Action::Flush => {
                let us =
                    if std::mem::take(&mut self.dirty) { self.p.flush_us } else { self.p.flush_us / 10.0 };
                now + nanos(us * 1e3 * self.chance.around_one(self.p.spread))
            }
        }
    }

    fn discard(&mut self, offset: u64, len: u64) {
        self.translation.iter_mut().for_each(|translation| translation.discard(offset, len));
    }

    fn fill(&mut self) {
        self.translation.iter_mut().for_each(Translation::lay_down);
    }

    fn wear_in(&mut self, span: u64, block_bytes: u32) {
        let (Some(translation), Some(p)) = (&mut self.translation, &self.p.translation) else { return };
        let block = u64::from(block_bytes.max(1));
        // What is spare was taken up then, and each place written over often enough that the first time is forgotten.
        let writes = SETTLED_AFTER * (p.flash_bytes.saturating_sub(self.capacity) + span) / block;
        for _ in 0..writes {
            let place = self.chance.next() % (span / block).max(1) * block;
            translation.write(place, block_bytes as usize);
        }
    }
}
