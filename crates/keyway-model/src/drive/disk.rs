//! When a hard disk is done with a request: seek, rotation, transfer, and the caches that hide them.
//!
//! *Seek*: the time grows with the square root of the distance, from the track-to-track time, so that
//! its mean over random places is the data sheet's. *Rotation*: the disc's angle follows from the
//! time, and every address has its own; the head waits until they meet. *Transfer*: the rate falls
//! evenly from the outermost track, where the addresses begin, to the innermost; the bus takes the bytes
//! while the disc turns. What was just read, and what comes after it, is served from memory. Writes go into the cache, which is written out in the
//! background in an order of the drive's choosing. With several requests queued the drive picks the
//! next one well: that is a factor on the time for seek and rotation, which grows with the queue.

use super::parameters::DiskParameters;
use super::timing::{Timing, nanos, transfer};
use keyway_store::Action;
use std::collections::VecDeque;

/// Mean of the square root of the distance between two random places in 0..1: 8/15.
const MEAN_ROOT: f64 = 8.0 / 15.0;

/// Bytes that a disc has read before the first of them goes over the bus: a physical sector.
const LAST_PIECE: usize = 4096;

/// A hard disk's state.
pub(super) struct Disk {
    p: DiskParameters,
    capacity: u64,
    /// When the arm is free for the next read.
    free: u64,
    /// Where the arm is, as an address.
    arm: u64,
    /// Completions of reads that may still be waiting, in order.
    reads: VecDeque<u64>,
    /// What the last reads have left in memory.
    kept: Option<Kept>,
    /// Writes in the cache.
    cached: VecDeque<Cached>,
    cached_bytes: usize,
    /// Stretches of them.
    cached_commands: usize,
    /// Where the last write ended.
    written_to: u64,
    /// When the cache is empty.
    drained: u64,
}

/// A stretch in memory, which grows while the disc turns on.
#[derive(Clone, Copy)]
struct Kept {
    from: u64,
    /// Where the last read ended.
    to: u64,
    /// When the head has passed that.
    passed: u64,
}

/// A write in the cache.
struct Cached {
    /// When it is on the disc.
    done: u64,
    len: usize,
    /// It does not go on where the one before it ended. What does, the drive adds to that, and has no more to put into order.
    begins: bool,
}

impl Disk {
    pub(super) fn new(p: DiskParameters, capacity: u64) -> Self {
        Self {
            p,
            capacity,
            free: 0,
            arm: 0,
            reads: VecDeque::new(),
            kept: None,
            cached: VecDeque::new(),
            cached_bytes: 0,
            cached_commands: 0,
            written_to: 0,
            drained: 0,
        }
    }

    /// Transfer rate at an address, in MB/s.
    fn rate(&self, offset: u64) -> f64 {
        let p = &self.p;
        p.outer_mb_s - (p.outer_mb_s - p.inner_mb_s) * (offset as f64 / self.capacity as f64).min(1.0)
    }

    /// One revolution in ns.
    fn revolution(&self) -> f64 {
        60e9 / self.p.rpm
    }

    /// Moves the arm: time in ns.
    fn seek(&self, from: u64, to: u64) -> f64 {
        if from == to {
            return 0.0;
        }
        let distance = from.abs_diff(to) as f64 / self.capacity as f64;
        let slope = (self.p.average_seek_ms - self.p.track_seek_ms) / MEAN_ROOT;
        (self.p.track_seek_ms + slope * distance.sqrt()) * 1e6
    }

    /// Waits from `at` for an address to come under the head: time in ns.
    fn rotate(&self, at: f64, offset: u64) -> f64 {
        let revolution = self.revolution();
        let track_bytes = self.rate(offset) * 1e-3 * revolution;
        let target = (offset as f64 / track_bytes).fract();
        let here = (at / revolution).fract();
        (target - here).rem_euclid(1.0) * revolution
    }

    /// How many times faster seeks and rotations go with so many requests to choose from.
    fn gain(&self, waiting: usize) -> f64 {
        let most = self.p.queue.max(2) as f64;
        let share = (waiting.clamp(1, self.p.queue) as f64).log2() / most.log2();
        1.0 + (self.p.queue_gain - 1.0) * share
    }

    fn read(&mut self, now: u64, offset: u64, len: usize) -> u64 {
        let overhead = nanos(self.p.overhead_us * 1e3);
        let end = offset.saturating_add(len as u64);
        let media = transfer(len, self.rate(offset));
        let bus = transfer(len, self.p.interface_mb_s);
        let room = self.p.read_ahead_mib << 20;
        if let Some(Kept { from, to, passed }) = self.kept
            && (from..=to).contains(&offset)
        {
            if end <= to {
                return now + bus + overhead;
            }
            // The disc went on turning, until as much was read ahead as is kept.
            let ahead = transfer(room as usize, self.rate(offset));
            let missing = transfer((end - to) as usize, self.rate(offset));
            let passed = passed.max(now.saturating_sub(ahead)) + missing;
            self.kept = Some(Kept { from: from.max(end.saturating_sub(room)), to: end, passed });
            self.arm = end;
            self.free = self.free.max(passed);
            return passed.max(now + bus) + overhead;
        }
        while self.reads.front().is_some_and(|done| *done <= now) {
            self.reads.pop_front();
        }
        let gain = self.gain(self.reads.len() + 1);
        let start = (now + overhead).max(self.free) as f64;
        let seek = self.seek(self.arm, offset) / gain;
        let rotate = self.rotate(start + seek, offset) / gain;
        let passed = nanos(start + seek + rotate) + media;
        // What is still in the write cache waits as long.
        self.drained += (passed - nanos(start)).min(self.drained.saturating_sub(now));
        self.free = passed;
        self.arm = end;
        self.kept = Some(Kept { from: offset.max(end.saturating_sub(room)), to: end, passed });
        self.reads.push_back(passed);
        // All but the last piece has gone over the bus by then.
        passed + bus.saturating_sub(media).max(transfer(len.min(LAST_PIECE), self.p.interface_mb_s))
    }

    fn write(&mut self, now: u64, offset: u64, len: usize) -> u64 {
        let overhead = nanos(self.p.overhead_us * 1e3);
        self.kept = None;
        let media = transfer(len, self.rate(offset));
        let sequential = self.written_to == offset;
        let work = if sequential {
            media as f64
        } else {
            let gain = if self.p.cache_mib == 0 { 1.0 } else { self.p.queue_gain };
            let seek = self.seek(self.written_to, offset);
            let rotate = self.rotate(self.drained.max(now) as f64 + seek, offset);
            (seek + rotate) / gain + media as f64
        };
        self.written_to = offset.saturating_add(len as u64);
        self.arm = self.written_to;
        self.drained = self.drained.max(now) + nanos(work);
        if self.p.cache_mib == 0 {
            return self.drained + overhead;
        }
        // Room for it: the oldest go first.
        let room = (self.p.cache_mib << 20) as usize;
        let mut from = now;
        while let Some(oldest) = self.cached.front() {
            let commands = self.cached_commands + usize::from(!sequential);
            let full = self.cached_bytes + len > room || commands > self.p.cache_commands;
            if oldest.done > now && !full {
                break;
            }
            from = from.max(oldest.done);
            self.forget_oldest();
        }
        let begins = !sequential || self.cached.is_empty();
        self.cached.push_back(Cached { done: self.drained, len, begins });
        self.cached_bytes += len;
        self.cached_commands += usize::from(begins);
        from + transfer(len, self.p.interface_mb_s) + overhead
    }
}

impl Disk {
    /// The oldest write is on the disc; what goes on from it is a stretch without it.
    fn forget_oldest(&mut self) {
        let Some(oldest) = self.cached.pop_front() else { return };
        self.cached_bytes -= oldest.len;
        match self.cached.front_mut() {
            Some(next) if !next.begins => next.begins = true,
            _ => self.cached_commands -= 1,
        }
    }
}

impl Timing for Disk {
    fn due(&mut self, now: u64, action: Action, offset: u64, len: usize) -> u64 {
        match action {
            Action::Read => self.read(now, offset, len),
            Action::Write => self.write(now, offset, len),
            Action::Flush => {
                self.cached.clear();
                (self.cached_bytes, self.cached_commands) = (0, 0);
                self.drained.max(now) + nanos(self.p.overhead_us * 1e3)
            }
        }
    }
}
