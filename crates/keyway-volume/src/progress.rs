//! Progress of long work, and the wish to stop it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Filling the data area with random bytes.
    Fill,
    /// Making the file system inside and copying it into the volume.
    FileSystem,
}

/// Somebody who is told how far long work is, and may stop it. `()` listens to nothing.
pub trait Progress: Sync {
    /// `done` of `total` bytes of this stage are written. Called at least twice a second while
    /// work goes on. Whoever answers `Break` wants it to stop: what was half made is removed.
    fn at(&self, stage: Stage, done: u64, total: u64) -> ControlFlow<()>;
}

/// Of work that nobody stops.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// How often it is asked whether work that nothing counts is still wanted.
const ASKED: Duration = Duration::from_millis(50);

/// Does what has no steps, such as the derivation of a key, and stops it when whoever watches wants that. All `bytes` that are
/// to be filled before are told as filled.
pub(crate) fn while_wanted<T>(progress: &dyn Progress, bytes: u64, work: impl FnOnce(&AtomicBool) -> T) -> T {
    let (stop, (working, done)) = (&AtomicBool::new(false), mpsc::channel::<()>());
    std::thread::scope(move |scope| {
        // Dropped when the work has ended, however it has.
        let _working = working;
        scope.spawn(move || {
            while done.recv_timeout(ASKED) == Err(RecvTimeoutError::Timeout) {
                if progress.at(Stage::Fill, bytes, bytes).is_break() {
                    return stop.store(true, Ordering::Relaxed);
                }
            }
        });
        work(stop)
    })
}

impl Progress for () {
    fn at(&self, _stage: Stage, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: Fn(Stage, u64, u64) -> ControlFlow<()> + Sync> Progress for F {
    fn at(&self, stage: Stage, done: u64, total: u64) -> ControlFlow<()> {
        self(stage, done, total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_steps_is_stopped() {
        let began = std::time::Instant::now();
        let stopped = while_wanted(&|_, _, _| ControlFlow::Break(()), 0, |stop| {
            while !stop.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(30) {
                std::thread::yield_now();
            }
            stop.load(Ordering::Relaxed)
        });
        assert!(stopped);
        assert!(!while_wanted(&(), 0, |stop| stop.load(Ordering::Relaxed)));
    }
}
