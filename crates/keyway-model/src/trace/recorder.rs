//! Records requests as they happen, from any number of threads.

use super::compact::MOST_RECORDS;
use super::requests::{Trace, TraceRecord};
use keyway_store::Action;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Takes down requests in memory; what comes after [`MOST_RECORDS`] is counted as lost.
pub struct TraceRecorder {
    began: Instant,
    volume_bytes: u64,
    records: Mutex<Vec<TraceRecord>>,
    lost: AtomicU64,
}

impl TraceRecorder {
    /// Starts the clock.
    pub fn new(volume_bytes: u64) -> Self {
        Self { began: Instant::now(), volume_bytes, records: Mutex::default(), lost: AtomicU64::new(0) }
    }

    /// Takes down a request that began at `start` and is done now. One longer than 4 GiB is cut off.
    pub fn note(&self, action: Action, offset: u64, len: u64, start: Instant) {
        let micros = |time: std::time::Duration| time.as_micros() as u64;
        let start_us = micros(start.saturating_duration_since(self.began));
        let took_us = Some(u32::try_from(micros(start.elapsed())).unwrap_or(u32::MAX));
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.len() as u64 >= MOST_RECORDS {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        records.push(TraceRecord { start_us, took_us, action, offset, len });
    }

    /// What was taken down so far; the recorder begins anew, on the same clock.
    pub fn take(&self) -> Trace {
        let records = std::mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner));
        Trace { lost: self.lost.swap(0, Ordering::Relaxed), ..Trace::new(self.volume_bytes, records) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_in_the_order_of_their_start() {
        let recorder = TraceRecorder::new(1 << 20);
        let first = Instant::now();
        let second = Instant::now() + std::time::Duration::from_micros(5);
        recorder.note(Action::Write, 4096, 4096, second);
        recorder.note(Action::Read, 0, 512, first);
        let trace = recorder.take();
        assert_eq!(trace.records.iter().map(|r| r.action).collect::<Vec<_>>(), [Action::Read, Action::Write]);
        assert_eq!(trace.bytes(), (512, 4096));
        assert!(recorder.take().records.is_empty());
    }
}
