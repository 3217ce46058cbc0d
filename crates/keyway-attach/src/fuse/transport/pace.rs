//! How many requests are worth doing at once.
//!
//! Memory and a fast cipher are served best by few threads, which seldom take turns. A drive wants
//! depth, and a slow cipher all CPUs. Which it is shows in the time that requests take.

use crate::fuse::abi::op;
use std::sync::{Condvar, Mutex, PoisonError};
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
/// A flush or a range of zeros that takes longer than this would hold up its queue.
const HOLD_UP: Duration = Duration::from_millis(1);

/// Judges the requests of one thread.
#[derive(Default)]
pub(crate) struct Pace {
    requests: u32,
    slow: u32,
}

impl Pace {
    /// Takes note of a request of `len` bytes; says whether more at once would help.
    pub(crate) fn is_slow(&mut self, opcode: u32, len: usize, took: Duration) -> bool {
        match opcode {
            op::READ | op::WRITE => {
                let usual = LATENCY + Duration::from_micros(len as u64 / BYTES_PER_MICRO);
                self.requests += 1;
                self.slow += u32::from(took > usual);
            }
            op::FSYNC | op::FALLOCATE => return took > HOLD_UP,
            _ => return false,
        }
        if self.requests < WINDOW {
            return false;
        }
        let mostly = self.slow > MOSTLY;
        *self = Self::default();
        mostly
    }
}

/// Where threads wait until they are wanted.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    Open,
    Ended,
}

impl Gate {
    /// Waits. `false`: there is nothing to do any more.
    pub(crate) fn pass(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |state: &mut State| *state == State::Closed;
        let state = self.changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
        *state == State::Open
    }

    /// Lets all through, from now on.
    pub(crate) fn open(&self) {
        self.set(State::Open);
    }

    /// Sends all home.
    pub(crate) fn end(&self) {
        self.set(State::Ended);
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) == State::Closed
    }

    fn set(&self, to: State) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state != State::Ended {
            *state = to;
        }
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(opcode: u32, len: usize, micros: u64, count: u32) -> bool {
        let mut pace = Pace::default();
        (0..count).any(|_| pace.is_slow(opcode, len, Duration::from_micros(micros)))
    }

    #[test]
    fn memory_is_not_slow_and_drives_and_slow_ciphers_are() {
        assert!(!judge(op::READ, 4096, 3, 100));
        assert!(!judge(op::WRITE, 1 << 20, 300, 100));
        assert!(judge(op::READ, 4096, 60, 100), "a fast drive");
        assert!(judge(op::READ, 1 << 20, 900, 100), "a drive, or a cascade of ciphers");
        assert!(judge(op::FSYNC, 0, 5000, 1), "a flush at once");
        assert!(!judge(op::LOOKUP, 0, 5000, 100));
    }

    #[test]
    fn a_few_slow_requests_are_chance() {
        let mut pace = Pace::default();
        for number in 0..1000 {
            let micros = if number % 3 == 0 { 2000 } else { 3 };
            assert!(!pace.is_slow(op::READ, 4096, Duration::from_micros(micros)));
        }
    }

    #[test]
    fn a_gate_lets_through_or_sends_home() {
        for (opened, passes) in [(true, true), (false, false)] {
            let gate = Gate::default();
            assert!(gate.is_closed());
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| gate.pass());
                if opened {
                    gate.open()
                } else {
                    gate.end()
                }
                assert_eq!(waiting.join().expect("no panic"), passes);
            });
            gate.end();
            assert!(!gate.pass(), "ended is ended");
        }
    }
}
