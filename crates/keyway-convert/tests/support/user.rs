//! Somebody who uses a volume while it is converted.

use keyway_convert::{Live, Progress};
use keyway_store::Store;
use keyway_testkit::Rng;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

const SECTOR: usize = 512;

/// Somebody who uses the volume, and what they know of it.
pub(crate) struct User {
    pub(crate) content: Vec<u8>,
    /// Sectors that were written since the last flush: what they hold after a cut is nobody's promise.
    unsure: Vec<bool>,
    pub(crate) rng: Rng,
    pub(crate) writes: u64,
}

impl User {
    pub(crate) fn new(content: &[u8], seed: u64) -> Self {
        let unsure = vec![false; content.len() / SECTOR];
        Self { content: content.to_vec(), unsure, rng: Rng::new(seed), writes: 0 }
    }

    /// One request; it fails when the power does.
    pub(crate) fn one(&mut self, live: &Live) -> bool {
        let all = self.content.len() / SECTOR;
        // Mostly small, now and then across many segments.
        let most = if self.rng.below(20) == 0 { 600 } else { 16 };
        let n = 1 + self.rng.below(most) as usize;
        let first = self.rng.below((all - n) as u64) as usize;
        let bytes = first * SECTOR..(first + n) * SECTOR;
        match self.rng.below(10) {
            0..4 => {
                let mut found = vec![0; bytes.len()];
                let done = live.read_at(&mut found, bytes.start as u64).is_ok();
                assert!(!done || found == self.content[bytes], "sectors {first} and {n} more are read wrong");
                done
            }
            4..9 => {
                let fresh = self.rng.bytes(bytes.len());
                self.unsure[first..first + n].fill(true);
                let done = live.write_at(&fresh, bytes.start as u64).is_ok();
                self.content[bytes].copy_from_slice(&fresh);
                self.writes += 1;
                done
            }
            _ => {
                let done = live.flush().is_ok();
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

/// Lets the conversion wait for the user now and then, so that both are about equally fast.
pub(crate) struct Turns<'a>(pub(crate) &'a AtomicU64);

impl Progress for Turns<'_> {
    fn at(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        let seen = self.0.load(Ordering::Acquire);
        for _ in 0..200 {
            if self.0.load(Ordering::Acquire) > seen + 8 {
                break;
            }
            std::thread::yield_now();
        }
        ControlFlow::Continue(())
    }
}
