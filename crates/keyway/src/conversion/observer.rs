//! Who sees a conversion: a terminal, a window, a signal on a bus.

use crate::error::Error;
use crate::session::{Session, SessionSecrets, SessionState};
use crate::under_way::Refusal;
use keyway_convert::{ConversionKind, ConvertError};
use std::ops::ControlFlow;
use std::path::Path;

/// Somebody who sees a conversion, and may stop it. `()` sees nothing.
pub trait Observer: Sync {
    /// What is done from now on.
    fn stage(&self, _stage: Stage) {}

    /// `done` of `total` bytes are converted. Called often. `Break` pauses: what is converted stays so, and goes on later.
    fn at(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The search for lost metadata is at this byte of so many. `Break` ends it.
    fn searching(&self, _reached: u64, _size: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Something worth telling.
    fn note(&self, _note: &Note<'_>) {}

    /// Has a volume served as a block device or file, by a process of its own, so that the tool of the file system inside
    /// can make that smaller. A front that has such a program starts it ([`SessionPlan::start`](crate::session::SessionPlan::start)).
    ///
    /// # Errors
    /// There is none.
    fn serve(&self, _volume: &Path, _secrets: &SessionSecrets) -> Result<Session, Error> {
        Err(Refusal::NotAttachable.into())
    }
}

impl Observer for () {}

impl<F: Fn(u64, u64) -> ControlFlow<()> + Sync> Observer for F {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self(done, total)
    }
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// A file system is made smaller, by its own tools.
    Shrinking(keyway_fs::FileSystemKind),
    /// The conversion itself, which can be paused; not told of a volume that is in use meanwhile.
    Converting(ConversionKind),
}

/// Something worth telling.
#[derive(Debug)]
#[non_exhaustive]
pub enum Note<'a> {
    /// The volume can be used from now on, and is converted meanwhile.
    Attached(&'a SessionState),
    /// All of it is converted; it stays attached until it is closed.
    Converted,
    /// The conversion failed; the volume stays attached until it is closed.
    Failed(&'a ConvertError),
    /// The volume was closed before all of it was converted: it goes on later.
    Closed {
        /// How much of the work is done.
        percentage_done: f64,
        /// It is a whole volume as it is, and opens.
        opens: bool,
    },
    /// A volume that was in use is a file system again.
    Decrypted,
    /// A journal is not needed any more and stays all the same: it could not be removed.
    JournalNotRemoved(&'a Path, &'a Error),
    /// The same: there is no volume that a secret could open, to prove whose it is.
    JournalUnproven(&'a Path),
    /// The same: it was not found, or is another's.
    JournalNotFound(&'a Error),
    /// Some clusters of the file system stay marked as bad ones.
    BadClusters(&'a ConvertError),
}
