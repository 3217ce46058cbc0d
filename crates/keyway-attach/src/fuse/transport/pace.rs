//! Limits how many requests are carried out at once.
//!
//! Memory and a fast cipher are served best by few threads, which seldom take turns. A drive wants
//! depth, and a slow cipher all CPUs. Which it is shows in the time that requests take.

use std::time::Duration;

/// Requests that are judged together.
const WINDOW: u32 = 16;
/// More slow ones than this in a window: it is not a thread that lost its CPU now and then.
const MOSTLY: u32 = WINDOW / 2;
/// The time that even a short request may take: many times a copy from memory, less than any drive.
const LATENCY: Duration = Duration::from_micros(15);
/// The time that each byte may take beyond that, as bytes per microsecond: 2 GB/s, about what one
/// thread does from memory with the fastest ciphers on slow machines.
const BYTES_PER_MICRO: u64 = 2000;

/// Judges the requests of one thread.
#[derive(Default)]
pub(crate) struct Pace {
    requests: u32,
    slow: u32,
}

impl Pace {
    /// Takes note of a read or write of `len` bytes; says whether more at once would help.
    pub(crate) fn is_slow(&mut self, len: usize, took: Duration) -> bool {
        let usual = LATENCY + Duration::from_micros(len as u64 / BYTES_PER_MICRO);
        self.requests += 1;
        self.slow += u32::from(took > usual);
        if self.requests < WINDOW {
            return false;
        }
        let mostly = self.slow > MOSTLY;
        *self = Self::default();
        mostly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(len: usize, micros: u64, count: u32) -> bool {
        let mut pace = Pace::default();
        (0..count).any(|_| pace.is_slow(len, Duration::from_micros(micros)))
    }

    #[test]
    fn memory_is_not_slow_and_drives_and_slow_ciphers_are() {
        assert!(!judge(4096, 3, 100));
        assert!(!judge(1 << 20, 300, 100));
        assert!(judge(4096, 60, 100), "a fast drive");
        assert!(judge(1 << 20, 900, 100), "a drive, or a cascade of ciphers");
    }

    #[test]
    fn a_few_slow_requests_are_chance() {
        let mut pace = Pace::default();
        for number in 0..1000 {
            let micros = if number % 3 == 0 { 2000 } else { 3 };
            assert!(!pace.is_slow(4096, Duration::from_micros(micros)));
        }
    }
}
