//! Progress of long work, and the wish to stop it.

use std::ops::ControlFlow;

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
