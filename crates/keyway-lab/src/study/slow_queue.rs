//! A drive behind the software of its time: each read or write takes a worker's time beside the drive's, a write before
//! it is handed to the drive, a read after it.

use keyway_store::{Action, Completion, Queue, Request, StoreError};
use std::collections::VecDeque;

/// A queue with a cost for each request.
pub(crate) struct SlowQueue<Q> {
    inner: Q,
    cost_ns: u64,
    /// When each worker is free.
    workers: Vec<u64>,
    /// Writes until they are handed to the drive, in the order of that.
    entering: VecDeque<(u64, Request)>,
    /// Reads that the drive is done with.
    leaving: VecDeque<(u64, Completion)>,
}

impl<Q: Queue> SlowQueue<Q> {
    pub(crate) fn new(inner: Q, cost_us: f64, workers: usize) -> Self {
        let (cost_ns, workers) = ((cost_us * 1e3) as u64, vec![0; workers.max(1)]);
        Self { inner, cost_ns, workers, entering: VecDeque::new(), leaving: VecDeque::new() }
    }

    /// When a worker is through with something that came just now.
    fn worked(&mut self) -> u64 {
        let now = self.inner.now();
        let Some(first) = self.workers.iter_mut().min() else { return now };
        *first = (*first).max(now) + self.cost_ns;
        *first
    }

    /// Moves on what is due.
    fn due(&mut self, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let now = self.inner.now();
        while let Some((_, request)) = self.entering.pop_front_if(|(at, _)| *at <= now) {
            self.inner.submit(request)?;
        }
        while let Some((_, completion)) = self.leaving.pop_front_if(|(at, _)| *at <= now) {
            done.push(completion);
        }
        Ok(())
    }

    /// Waits for the next thing to happen, or until then.
    fn step(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        self.due(done)?;
        let own = self.entering.front().map(|(at, _)| *at).into_iter();
        let next = own.chain(self.leaving.front().map(|(at, _)| *at)).fold(until, u64::min);
        let mut passed = Vec::new();
        self.inner.complete_before(next, &mut passed)?;
        for completion in passed {
            if completion.action == Action::Read {
                let at = self.worked();
                self.leaving.push_back((at, completion));
            } else {
                done.push(completion);
            }
        }
        self.due(done)
    }
}

impl<Q: Queue> Queue for SlowQueue<Q> {
    fn submit(&mut self, request: Request) -> Result<(), StoreError> {
        if request.action == Action::Write {
            let at = self.worked();
            self.entering.push_back((at, request));
            return Ok(());
        }
        self.inner.submit(request)
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let wanted = done.len() + at_least.min(self.in_flight());
        self.due(done)?;
        while done.len() < wanted {
            self.step(u64::MAX, done)?;
        }
        Ok(())
    }

    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let before = done.len();
        self.due(done)?;
        while done.len() == before && self.now() < until {
            self.step(until, done)?;
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.entering.len() + self.leaving.len()
    }

    fn now(&self) -> u64 {
        self.inner.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_model::{Clock, Direction, DriveModel, Load, ModelDrive, NullStore, measure_through};

    fn latency(cost_us: f64, workers: usize, action: Direction, depth: u32) -> (f64, f64) {
        let model = DriveModel::named("samsung-990-pro").unwrap();
        let capacity = model.capacity_bytes;
        let store = NullStore::new(capacity, model.sector_bytes);
        let drive = ModelDrive::over(model, Clock::simulated(), Box::new(store));
        let load = Load::Random { action, block_bytes: 4096, depth, span_bytes: Some(1 << 30) };
        let mut queue = SlowQueue::new(drive.queue(), cost_us, workers);
        let found = measure_through(&mut queue, capacity, &load).unwrap().unwrap();
        (found.latency_us, found.iops)
    }

    #[test]
    fn one_request_at_a_time_takes_as_much_longer() {
        for action in [Direction::Read, Direction::Write] {
            let longer = latency(11.0, 4, action, 1).0 - latency(0.0, 4, action, 1).0;
            assert!((longer - 11.0).abs() < 0.3, "{action:?}: {longer}");
        }
    }

    #[test]
    fn many_requests_get_what_the_workers_can_do() {
        let (_, iops) = latency(10.0, 2, Direction::Read, 64);
        assert!((iops / 200_000.0 - 1.0).abs() < 0.01, "{iops}");
        let (_, iops) = latency(10.0, 2, Direction::Write, 64);
        assert!((iops / 200_000.0 - 1.0).abs() < 0.01, "{iops}");
    }
}
