//! Takes down a device's requests while somebody wants them.

use keyway_store::Action;
use keyway_store::trace::{Trace, TraceRecorder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// Off, which costs a look at a flag per request; or on.
#[derive(Default)]
pub(crate) struct Recording {
    on: AtomicBool,
    recorder: RwLock<Option<Arc<TraceRecorder>>>,
}

impl Recording {
    pub(crate) fn start(&self, volume_bytes: u64) -> bool {
        let mut recorder = self.recorder.write().unwrap_or_else(PoisonError::into_inner);
        let new = recorder.is_none();
        recorder.get_or_insert_with(|| Arc::new(TraceRecorder::new(volume_bytes)));
        self.on.store(true, Ordering::Release);
        new
    }

    pub(crate) fn end(&self) -> Option<Trace> {
        self.on.store(false, Ordering::Release);
        let recorder = self.recorder.write().unwrap_or_else(PoisonError::into_inner).take();
        recorder.map(|recorder| recorder.take())
    }

    /// Does a request, and takes it down if it went well.
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

    /// Takes down a request that went well, and began at `start`.
    pub(crate) fn note(&self, action: Action, offset: u64, len: u64, start: Option<Instant>) {
        let Some(start) = start else { return };
        let recorder = self.recorder.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(recorder) = recorder {
            recorder.note(action, offset, len, start);
        }
    }
}
