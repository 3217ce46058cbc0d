//! Recorded requests, replayed: bandwidth over the time with a request in flight, average access time,
//! and their geometric mean, as PCMark 10 defines them.

use crate::error::LabError;
use crate::load::{Meter, sectors};
use crate::result::{Metric, Sample};
use crate::sectors::Subject;
use crate::trace::{self, Replay, Think, ThreadQueue, Trace};
use crate::workload::Traces;
use keyway_store::{Completion, Queue, Request, StoreError};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Threads for a queue of requests on sectors that have none.
const MOST_THREADS: usize = 256;

/// A trace that has been read.
pub(super) struct Ready {
    pub(super) name: String,
    trace: Trace,
}

pub(super) fn ready(named: &Traces) -> Result<Vec<Ready>, LabError> {
    let read = |name: &String| {
        let trace = match trace::named(name) {
            Some(trace) => trace,
            None if !Path::new(name).exists() => return Err(LabError::NoSuchTrace(name.clone())),
            None => trace::read(Path::new(name))?,
        };
        Ok(Ready { name: name.clone(), trace })
    };
    named.traces.iter().map(read).collect()
}

pub(super) fn turn(
    ready: &Ready,
    think: bool,
    subject: &Subject,
    stop: &AtomicBool,
) -> Result<Sample, LabError> {
    let think = if think { Think::Kept } else { Think::Removed };
    // A drive that is smaller than the recorded one keeps the sizes and the order, not the distances.
    let mut replay = Replay::folded(&ready.trace, subject.size(), 4096)?.with_think(think);
    let meter = Meter::start();
    let told = match subject {
        Subject::Queued { open, start, .. } => {
            replay.run(&mut Shifted { inner: open(), start: *start }, stop)?
        }
        other => {
            let Some(sectors) = sectors(other)? else { return Err(LabError::Stopped) };
            let threads = replay.most_in_flight().min(MOST_THREADS);
            let fail = |e: io::Error| LabError::io("use", Path::new("the volume under test"), e);
            let mut queue = ThreadQueue::new(&sectors, threads).map_err(fail)?;
            replay.run(&mut queue, stop)?
        }
    };
    let (cpu_seconds, joules) = meter.spent();
    let mut sample = Sample {
        seconds: told.seconds,
        bytes_read: told.bytes_read,
        bytes_written: told.bytes_written,
        operations: told.operations,
        cpu_seconds,
        joules,
        ..Sample::default()
    };
    sample.values.insert(Metric::MbS, told.mb_s());
    sample.values.insert(Metric::LatencyUs, told.access_us);
    sample.values.insert(Metric::Score, told.score());
    Ok(sample)
}

/// A queue whose offsets are counted from where the measured part starts.
struct Shifted {
    inner: Box<dyn Queue>,
    start: u64,
}

impl Queue for Shifted {
    fn submit(&mut self, request: Request) -> Result<(), StoreError> {
        self.inner.submit(Request { offset: request.offset + self.start, ..request })
    }
    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let before = done.len();
        self.inner.complete(at_least, done)?;
        done.iter_mut().skip(before).for_each(|c| c.offset -= self.start.min(c.offset));
        Ok(())
    }
    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let before = done.len();
        self.inner.complete_before(until, done)?;
        done.iter_mut().skip(before).for_each(|c| c.offset -= self.start.min(c.offset));
        Ok(())
    }
    fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }
    fn now(&self) -> u64 {
        self.inner.now()
    }
}
