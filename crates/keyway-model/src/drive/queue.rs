//! A modelled drive's queue, for one thread.

use super::model_drive::ModelDrive;
use keyway_store::{Action, Completion, Queue, Request, StoreError};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Requests in flight on a [`ModelDrive`]. Needs no thread of its own: the completion times are known
/// at submission, and whoever asks for completions waits for the next.
pub struct ModelQueue {
    drive: ModelDrive,
    flying: BinaryHeap<Flying>,
    /// Requests so far: the order among those that are due at once.
    submitted: u64,
}

struct Flying {
    due: u64,
    order: u64,
    completion: Completion,
}

impl ModelDrive {
    /// A queue for one thread; several queues share the drive.
    pub fn queue(&self) -> ModelQueue {
        ModelQueue { drive: self.clone(), flying: BinaryHeap::new(), submitted: 0 }
    }
}

impl ModelQueue {
    /// Hands over what is due.
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let now = self.now();
        while self.flying.peek().is_some_and(|first| first.due <= now) {
            if let Some(Flying { due, completion, .. }) = self.flying.pop() {
                if self.drive.clock().is_real() {
                    self.drive.note_behind(due, now);
                }
                done.push(completion);
            }
        }
    }

    /// The drive.
    pub fn drive(&self) -> &ModelDrive {
        &self.drive
    }
}

impl Queue for ModelQueue {
    fn submit(&mut self, request: Request) -> Result<(), StoreError> {
        let Request { tag, action, offset, mut buf } = request;
        let due = self.drive.due(action, offset, buf.len());
        let store = self.drive.store();
        let result = match action {
            Action::Read => store.read_at(&mut buf, offset),
            Action::Write => store.write_at(&buf, offset),
            Action::Flush => store.flush(),
        };
        let completion = Completion { tag, action, offset, buf, result };
        self.flying.push(Flying { due, order: self.submitted, completion });
        self.submitted += 1;
        Ok(())
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let wanted = done.len() + at_least.min(self.flying.len());
        loop {
            self.reap(done);
            match self.flying.peek() {
                Some(first) if done.len() < wanted => self.drive.wait(first.due),
                _ => return Ok(()),
            }
        }
    }

    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let before = done.len();
        self.reap(done);
        if done.len() == before {
            self.drive.wait(self.flying.peek().map_or(until, |first| first.due.min(until)));
            self.reap(done);
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.flying.len()
    }

    fn now(&self) -> u64 {
        self.drive.clock().now()
    }
}

impl Ord for Flying {
    /// The heap gives the greatest first: that is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.order).cmp(&(self.due, self.order))
    }
}

impl PartialOrd for Flying {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flying {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Flying {}
