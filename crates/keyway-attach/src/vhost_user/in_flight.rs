//! Requests that are taken from their queues and not answered yet.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The count of them.
#[derive(Default)]
pub(super) struct InFlight {
    counts: Mutex<Counts>,
    finished: Condvar,
}

#[derive(Default)]
struct Counts {
    /// Orders to end them.
    orders: u64,
    /// Requests that came since the last one.
    now: usize,
    /// Those that came before it.
    before: usize,
}

/// When a request was taken, in orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken(u64);

impl InFlight {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request and counts it: no order falls between the two.
    pub(super) fn take<T>(&self, take: impl FnOnce() -> Option<T>) -> Option<(T, Taken)> {
        let mut counts = self.counts();
        let request = take()?;
        counts.now += 1;
        Some((request, Taken(counts.orders)))
    }

    /// Whether it was ordered to end since it was taken.
    pub(super) fn is_ended(&self, taken: Taken) -> bool {
        self.counts().orders != taken.0
    }

    /// It is answered.
    pub(super) fn finish(&self, taken: Taken) {
        let mut counts = self.counts();
        if taken.0 == counts.orders {
            counts.now = counts.now.saturating_sub(1);
            return;
        }
        counts.before = counts.before.saturating_sub(1);
        if counts.before == 0 {
            self.finished.notify_all();
        }
    }

    /// Orders those to end that there are, and takes those that nobody has taken yet: no request is taken between the two.
    pub(super) fn order_to_end<T>(&self, take: impl FnOnce() -> T) -> T {
        let mut counts = self.counts();
        counts.orders += 1;
        counts.before += std::mem::take(&mut counts.now);
        take()
    }

    /// Orders so far.
    #[cfg(test)]
    pub(super) fn orders(&self) -> u64 {
        self.counts().orders
    }

    /// Waits until those are answered that were ordered to end.
    pub(super) fn wait(&self) {
        let mut counts = self.counts();
        while counts.before > 0 {
            counts = self.finished.wait(counts).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
