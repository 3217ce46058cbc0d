//! What surrounds a volume's own change of size: its file, and the file system inside, whose own tool works on the
//! attached volume. Both are given their sizes back where nothing comes of it.

use super::error::ResizeError;
use super::plan::{FileSystemPlan, ResizePlan};
use crate::conversion::set_len;
use crate::error::{Error, about};
use crate::progress::{Progress, Stage};
use crate::session::{ServingProgram, SessionError, SessionPlan, SessionSecrets, fuse_for_a_tool};
use crate::unlock::UnlockArguments;
use keyway_attach::{HeldSignals, is_asked_to_stop};
use keyway_error::{Advice, Explain, Kind};
use keyway_fs::resize::ResizeToolError;
use keyway_fs::{FileSystemKind, FoundFileSystem};
use std::path::Path;

impl ResizePlan<'_> {
    /// The file gets its size before the volume does, where that is larger.
    pub(super) fn enlarge_file(&self) -> Result<(), Error> {
        match self.is_file && self.size_bytes > self.size_bytes_before {
            true => set_len(&self.volume, self.size_bytes),
            false => Ok(()),
        }
    }

    /// The same taken back, because nothing came of it.
    pub(super) fn restore_file(&self, error: Error) -> Error {
        if !self.is_file || self.size_bytes <= self.size_bytes_before {
            return error;
        }
        match set_len(&self.volume, self.size_bytes_before) {
            Ok(()) => error,
            Err(e) => error.leaving(Advice::FileIsLarger { why: e.to_string() }),
        }
    }

    /// The file system inside as it is to be made smaller, and to how many bytes.
    pub(super) fn shrinks(&self) -> Option<(FileSystemPlan, u64)> {
        let fs = self.filesystem.filter(|fs| fs.bytes > self.room)?;
        Some((fs, fs.becomes_bytes?))
    }

    /// Makes the file system inside smaller, where it is to be.
    pub(super) fn shrink_inside(&self, progress: &dyn Progress) -> Result<(), Error> {
        let Some((fs, to)) = self.shrinks() else { return Ok(()) };
        progress.stage(Stage::Shrinking(fs.kind));
        self.resize_inside(fs, to)?;
        must_go_on().map_err(|stopped| self.restore_inside(stopped))
    }

    /// Whether it did get smaller, where it was to.
    pub(super) fn must_fit(&self, now: Option<FoundFileSystem>) -> Result<(), Error> {
        match self.shrinks() {
            Some((fs, _)) if now.is_none_or(|now| now.bytes > self.room) => {
                Err(ResizeError::StillTooLarge { path: self.volume.clone(), kind: fs.kind }.into())
            }
            _ => Ok(()),
        }
    }

    /// Gives the file system inside its size back, because nothing came of what it was made smaller for.
    pub(super) fn restore_inside(&self, error: Error) -> Error {
        let Some((fs, _)) = self.shrinks() else { return error };
        error.leaving(restored(fs.kind, self.resize_inside(fs, fs.bytes)))
    }

    /// Has the file system's own tool make it `to` bytes large.
    pub(super) fn resize_inside(&self, fs: FileSystemPlan, to: u64) -> Result<(), Error> {
        let attached = Attached {
            volume: &self.volume,
            arguments: &self.locked.arguments,
            secrets: &self.secrets,
            serving: self.serving.as_ref(),
        };
        attached.resize(fs.kind, to, |e| self.refused(e, to < fs.bytes))
    }

    fn refused(&self, error: ResizeToolError, smaller: bool) -> Error {
        match smaller && error.kind() == Kind::NoRoom {
            true => {
                let bytes = self.filesystem.map_or(0, |fs| fs.bytes);
                about::<ResizeError>(&self.volume)(ResizeError::TooFull { error, bytes, most: self.room })
            }
            false => about(&self.volume)(error),
        }
    }
}

/// A volume that a process of its own serves, so that the tool of the file system inside can work on it.
pub(crate) struct Attached<'a> {
    pub(crate) volume: &'a Path,
    pub(crate) arguments: &'a UnlockArguments,
    pub(crate) secrets: &'a SessionSecrets,
    pub(crate) serving: Option<&'a ServingProgram>,
}

impl Attached<'_> {
    /// Attaches it, lets the tool make the file system `to` bytes large, and closes it again.
    pub(crate) fn resize(
        &self,
        kind: FileSystemKind,
        to: u64,
        refused: impl FnOnce(ResizeToolError) -> Error,
    ) -> Result<(), Error> {
        let _held = HeldSignals::hold();
        let by = self.serving.ok_or(SessionError::NotAttachable)?;
        let plan = SessionPlan::new(self.volume, self.arguments.clone(), fuse_for_a_tool()?)?;
        let session = plan.start(self.secrets, by)?;
        // A loop device where this user may have one; otherwise the file that it would be made of.
        let place = session.state.device.as_ref().or(session.state.file.as_ref());
        let resized = place.map_or(Ok(()), |place| kind.resize(place, to));
        let closed = session.close();
        resized.map_err(refused)?;
        closed.map(drop)
    }
}

/// Heeds a signal that came while a file system's tool was at work, and was held.
pub(crate) fn must_go_on() -> Result<(), Error> {
    if is_asked_to_stop() { Err(Error::Stopped) } else { Ok(()) }
}

/// What has become of a file system that was to get its size back.
pub(crate) fn restored(kind: FileSystemKind, came: Result<(), Error>) -> Advice {
    let filesystem = kind.to_string();
    match came {
        Ok(()) => Advice::FileSystemRestored { filesystem },
        Err(e) => Advice::FileSystemStaysSmaller { filesystem, why: e.to_string() },
    }
}
