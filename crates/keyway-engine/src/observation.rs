//! An observer of a device's requests, which may come and go.

use keyway_store::Action;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// Is told of each request that went well, when it is done: what it did, its first byte, how many bytes, and when it
/// began.
pub type Observer = Arc<dyn Fn(Action, u64, u64, Instant) + Send + Sync>;

/// Off, which costs a look at a flag per request; or on.
#[derive(Default)]
pub(crate) struct Observation {
    on: AtomicBool,
    observer: RwLock<Option<Observer>>,
}

impl Observation {
    pub(crate) fn start(&self, new: Observer) -> bool {
        let mut observer = self.observer.write().unwrap_or_else(PoisonError::into_inner);
        if observer.is_some() {
            return false;
        }
        *observer = Some(new);
        self.on.store(true, Ordering::Release);
        true
    }

    pub(crate) fn end(&self) {
        self.on.store(false, Ordering::Release);
        *self.observer.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Does a request, and tells of it if it went well.
    pub(crate) fn during<E>(
        &self,
        action: Action,
        offset: u64,
        len: u64,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.begin();
        let done = work();
        if done.is_ok() {
            self.note(action, offset, len, start);
        }
        done
    }

    /// When a request begins, if somebody wants to know.
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.on.load(Ordering::Relaxed).then(Instant::now)
    }

    /// Tells of a request that went well, and began at `start`.
    pub(crate) fn note(&self, action: Action, offset: u64, len: u64, start: Option<Instant>) {
        let Some(start) = start else { return };
        let observer = self.observer.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(observer) = observer {
            observer(action, offset, len, start);
        }
    }
}
