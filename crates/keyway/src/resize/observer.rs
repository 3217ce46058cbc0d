//! Who sees a volume get another size: a terminal, a window, a signal on a bus.

use super::error::ResizeError;
use crate::error::Error;
use crate::session::{Session, SessionSecrets};
use keyway_fs::FileSystemKind;
use std::ops::ControlFlow;
use std::path::Path;

/// Somebody who sees a volume get another size. `()` sees nothing, and can't have a file system follow.
pub trait Observer: Sync {
    /// What is done from now on.
    fn stage(&self, _stage: Stage) {}

    /// `done` of `total` bytes that are new are overwritten with noise. `Break` leaves the rest as it is.
    fn at(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Has the volume served as a block device or file, by a process of its own, so that the tool of the file system inside
    /// can work on it. A front that has such a program starts it ([`SessionPlan::start`](crate::session::SessionPlan::start)).
    ///
    /// # Errors
    /// There is none, or it can't.
    fn serve(&self, _volume: &Path, _secrets: &SessionSecrets) -> Result<Session, Error> {
        Err(ResizeError::NotAttachable.into())
    }
}

impl Observer for () {}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// The file system inside gets smaller, by its own tools.
    Shrinking(FileSystemKind),
    /// The volume itself gets its size.
    Resizing,
    /// The file system inside gets larger, by its own tools.
    Growing(FileSystemKind),
}
