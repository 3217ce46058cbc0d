//! Somebody who uses a volume while it is converted.

use keyway_convert::Progress;
use keyway_engine::Device;
use keyway_testkit::Rng;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const SECTOR: usize = 512;

/// Somebody who uses the volume, and what they know of it.
pub(crate) struct User {
    pub(crate) content: Vec<u8>,
    /// Sectors that were written since the last flush: what they hold after a cut is nobody's promise.
    unsure: Vec<bool>,
    pub(crate) rng: Rng,
    pub(crate) writes: u64,
    /// Bytes that can't be written: the volume's metadata.
    avoided: Vec<Range<usize>>,
    /// Sectors of 512 bytes in one of the volume: a cut may tear all that lies in one of these.
    per_sector: usize,
}

impl User {
    pub(crate) fn new(content: &[u8], seed: u64) -> Self {
        let unsure = vec![false; content.len() / SECTOR];
        Self {
            content: content.to_vec(),
            unsure,
            rng: Rng::new(seed),
            writes: 0,
            avoided: vec![],
            per_sector: 1,
        }
    }

    /// The same of a volume with sectors of so many bytes.
    pub(crate) fn of_sectors(self, bytes: u32) -> Self {
        Self { per_sector: bytes as usize / SECTOR, ..self }
    }

    /// Takes what is in the volume for its content, and stays off these bytes.
    pub(crate) fn look(&mut self, volume: &Device, avoided: Vec<Range<usize>>) -> bool {
        self.avoided = avoided;
        volume.read_at(&mut self.content, 0).is_ok()
    }

    /// One request; it fails when the power does.
    pub(crate) fn one(&mut self, volume: &Device) -> bool {
        let all = self.content.len() / SECTOR;
        // Mostly small, now and then across many segments.
        let most = if self.rng.below(20) == 0 { 600 } else { 16 };
        let n = 1 + self.rng.below(most) as usize;
        let first = self.rng.below((all - n) as u64) as usize;
        let bytes = first * SECTOR..(first + n) * SECTOR;
        if self.avoided.iter().any(|range| range.start < bytes.end && bytes.start < range.end) {
            return true;
        }
        match self.rng.below(10) {
            0..4 => {
                let mut found = vec![0; bytes.len()];
                let done = volume.read_at(&mut found, bytes.start as u64).is_ok();
                assert!(!done || found == self.content[bytes], "sectors {first} and {n} more are read wrong");
                done
            }
            4..9 => {
                let fresh = self.rng.bytes(bytes.len());
                let (from, to) = (first / self.per_sector, (first + n).div_ceil(self.per_sector));
                self.unsure[from * self.per_sector..(to * self.per_sector).min(all)].fill(true);
                let done = volume.write_at(&fresh, bytes.start as u64).is_ok();
                self.content[bytes].copy_from_slice(&fresh);
                self.writes += 1;
                done
            }
            _ => {
                let done = volume.flush().is_ok();
                if done {
                    self.unsure.fill(false);
                }
                done
            }
        }
    }

    /// What was promised is there.
    pub(crate) fn check(&self, content: &[u8], when: &str) {
        let sectors = content.chunks(SECTOR).zip(self.content.chunks(SECTOR)).zip(&self.unsure);
        for (n, ((found, expected), unsure)) in sectors.enumerate() {
            assert!(*unsure || found == expected, "{when}: sector {n} is another");
        }
    }
}

/// Has the conversion and its user go on in turns, so that neither is ever far ahead of the other.
#[derive(Default)]
pub(crate) struct Turns {
    requests: AtomicU64,
    segments: AtomicU64,
    over: AtomicBool,
}

/// Requests after each segment, at least and at most.
const LEAST: u64 = 8;
const MOST: u64 = 32;

impl Turns {
    /// Uses the volume until the conversion is over or the power fails; and a little longer where that did not.
    pub(crate) fn used(&self, user: &mut User, volume: &Device) {
        let _leaves = Leaves(self);
        while user.one(volume) {
            let requests = self.requests.fetch_add(1, Ordering::AcqRel);
            while requests > MOST * (self.segments.load(Ordering::Acquire) + 1) && !self.is_over() {
                std::thread::yield_now();
            }
            if self.is_over() && user.rng.below(20) == 0 {
                break;
            }
        }
    }

    /// The conversion has ended, whichever way.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// Whichever way the user goes, nobody waits for them any more.
struct Leaves<'a>(&'a Turns);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.requests.store(u64::MAX / 2, Ordering::Release);
    }
}

impl Progress for Turns {
    fn at(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        let segments = self.segments.fetch_add(1, Ordering::AcqRel);
        while self.requests.load(Ordering::Acquire) < LEAST * segments {
            std::thread::yield_now();
        }
        ControlFlow::Continue(())
    }
}
