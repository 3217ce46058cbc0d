//! What has gone through a device and how long it took, counted by each thread in a lane of its own.
//!
//! Requests and bytes are counted all. Of every [`SAMPLE`] reads and writes of a thread one is timed, by three
//! looks at the clock: that costs a request of 4 KiB some ten nanoseconds, and a median needs no more.

use crate::Spread;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Lanes that threads are spread over; more threads than that share some.
const LANES: usize = 16;
/// Every so many requests of a thread one is timed, the first one among them.
const SAMPLE: u32 = 8;

/// What has gone through a device since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Read requests.
    pub reads: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Write requests.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Flushes.
    pub flushes: u64,
    /// Write requests of which bytes were refused because they belong to the volume's metadata.
    pub writes_refused: u64,
}

/// How long requests were with the medium and with the ciphers: a sample of the reads and writes, and all flushes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latency {
    /// Reads: in the store.
    pub read_store: Spread,
    /// Reads: decrypting.
    pub read_cipher: Spread,
    /// Writes: in the store.
    pub write_store: Spread,
    /// Writes: encrypting.
    pub write_cipher: Spread,
    /// Flushes: in the store.
    pub flush_store: Spread,
}

/// The part of a request's way that a stretch of time belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layer {
    Store,
    Cipher,
}

/// What is asked of a device.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RequestKind {
    Read,
    Write,
    Flush,
}

const KINDS: usize = 3;
const LAYERS: usize = 2;

/// One thread's counts; on cache lines of its own, two at a time as processors fetch them.
#[derive(Default)]
#[repr(align(128))]
struct Lane {
    requests: [AtomicU64; KINDS],
    bytes: [AtomicU64; KINDS],
    times: [[Times; LAYERS]; KINDS],
}

/// A [`Spread`] that is being made.
struct Times {
    buckets: [AtomicU64; Spread::BUCKETS],
    total: AtomicU64,
}

impl Default for Times {
    fn default() -> Self {
        Self { buckets: std::array::from_fn(|_| AtomicU64::new(0)), total: AtomicU64::new(0) }
    }
}

/// A device's counts.
pub(crate) struct Counting(Box<[Lane]>);

/// Follows one request, where it is among those that are timed.
pub(crate) struct Watch {
    kind: RequestKind,
    last: Option<Instant>,
    /// Nanoseconds.
    spent: [u64; LAYERS],
}

thread_local! {
    /// This thread's lane, once it has one, and how many requests it has seen.
    static THREAD: Cell<(Option<usize>, u32)> = const { Cell::new((None, 0)) };
}

/// The next thread's lane.
static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Default for Counting {
    fn default() -> Self {
        Self((0..LANES).map(|_| Lane::default()).collect())
    }
}

impl Counting {
    /// Counts a request, and says where its time is to be noted.
    #[inline]
    pub(crate) fn begin(&self, kind: RequestKind, len: u64) -> Watch {
        let (lane, seen) = lane();
        if let Some(lane) = self.0.get(lane) {
            lane.requests[kind as usize].fetch_add(1, Ordering::Relaxed);
            lane.bytes[kind as usize].fetch_add(len, Ordering::Relaxed);
        }
        let timed = matches!(kind, RequestKind::Flush) || seen % SAMPLE == 0;
        Watch { kind, last: timed.then(Instant::now), spent: [0; LAYERS] }
    }

    /// Notes the times of a request that went well.
    #[inline]
    pub(crate) fn note(&self, watch: &Watch) {
        if watch.last.is_none() {
            return;
        }
        let Some(lane) = self.0.get(lane_of_thread()) else { return };
        for (times, spent) in lane.times[watch.kind as usize].iter().zip(watch.spent) {
            // What is stored in the clear, or reads as zeros, was never there.
            if spent > 0 {
                times.buckets[Spread::bucket(spent)].fetch_add(1, Ordering::Relaxed);
                times.total.fetch_add(spent, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        let sum = |of: fn(&Lane) -> &AtomicU64| -> u64 {
            self.0.iter().map(|lane| of(lane).load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
        };
        Counters {
            reads: sum(|lane| &lane.requests[RequestKind::Read as usize]),
            bytes_read: sum(|lane| &lane.bytes[RequestKind::Read as usize]),
            writes: sum(|lane| &lane.requests[RequestKind::Write as usize]),
            bytes_written: sum(|lane| &lane.bytes[RequestKind::Write as usize]),
            flushes: sum(|lane| &lane.requests[RequestKind::Flush as usize]),
            writes_refused: 0,
        }
    }

    pub(crate) fn latency(&self) -> Latency {
        let spread = |kind: RequestKind, layer: Layer| {
            let mut spread = Spread::default();
            for lane in &self.0 {
                let times = &lane.times[kind as usize][layer as usize];
                let counts = times.buckets.iter().map(|count| count.load(Ordering::Relaxed));
                spread.add(counts, times.total.load(Ordering::Relaxed));
            }
            spread
        };
        Latency {
            read_store: spread(RequestKind::Read, Layer::Store),
            read_cipher: spread(RequestKind::Read, Layer::Cipher),
            write_store: spread(RequestKind::Write, Layer::Store),
            write_cipher: spread(RequestKind::Write, Layer::Cipher),
            flush_store: spread(RequestKind::Flush, Layer::Store),
        }
    }
}

impl Watch {
    /// The time since the last lap, or since the beginning, was spent there.
    #[inline]
    pub(crate) fn lap(&mut self, layer: Layer) {
        if let Some(last) = self.last {
            let now = Instant::now();
            let spent = &mut self.spent[layer as usize];
            *spent = spent.saturating_add((now - last).as_nanos().try_into().unwrap_or(u64::MAX));
            self.last = Some(now);
        }
    }
}

/// This thread's lane, and how many requests it has seen before this one.
#[inline]
fn lane() -> (usize, u32) {
    THREAD.with(|thread| {
        let (lane, seen) = thread.get();
        let lane = lane.unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed) % LANES);
        thread.set((Some(lane), seen.wrapping_add(1)));
        (lane, seen)
    })
}

/// The same, without another request.
fn lane_of_thread() -> usize {
    THREAD.with(|thread| thread.get().0.unwrap_or(0))
}
