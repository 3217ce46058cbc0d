//! What surrounds a volume's own change of size: its file, and the file system inside, whose own tool works on the
//! attached volume. Both are given their sizes back where nothing comes of it.

use super::error::ResizeError;
use super::observer::{Observer, Stage};
use super::plan::{FileSystemPlan, ResizePlan};
use crate::conversion::set_len;
use crate::error::{Error, about};
use keyway_error::{Advice, Explain, Kind};
use keyway_fs::FileSystem;
use keyway_fs::resize::RoomError;

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
    pub(super) fn shrink_inside(&self, observer: &dyn Observer) -> Result<(), Error> {
        let Some((fs, to)) = self.shrinks() else { return Ok(()) };
        observer.stage(Stage::Shrinking(fs.kind));
        self.resize_inside(fs, to, observer)
    }

    /// Whether it did get smaller, where it was to.
    pub(super) fn must_fit(&self, now: Option<FileSystem>) -> Result<(), Error> {
        match self.shrinks() {
            Some((fs, _)) if now.is_none_or(|now| now.bytes > self.room) => {
                Err(ResizeError::StillTooLarge { path: self.volume.clone(), kind: fs.kind }.into())
            }
            _ => Ok(()),
        }
    }

    /// Gives the file system inside its size back, because nothing came of what it was made smaller for.
    pub(super) fn restore_inside(&self, error: Error, observer: &dyn Observer) -> Error {
        let Some((fs, _)) = self.shrinks() else { return error };
        let filesystem = fs.kind.to_string();
        error.leaving(match self.resize_inside(fs, fs.bytes, observer) {
            Ok(()) => Advice::FileSystemRestored { filesystem },
            Err(e) => Advice::FileSystemStaysSmaller { filesystem, why: e.to_string() },
        })
    }

    /// Has the volume attached, lets the file system's own tool make it `to` bytes large, and closes it again.
    pub(super) fn resize_inside(
        &self,
        fs: FileSystemPlan,
        to: u64,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let session = observer.serve(&self.volume, &self.secrets)?;
        // A loop device where this user may have one; otherwise the file that it would be made of.
        let place = session.state.device.as_ref().or(session.state.file.as_ref());
        let resized = place.map_or(Ok(()), |place| fs.kind.resize(place, to));
        let closed = session.close();
        resized.map_err(|e| self.refused(e, to < fs.bytes))?;
        closed.map(drop)
    }

    fn refused(&self, error: RoomError, smaller: bool) -> Error {
        match smaller && error.kind() == Kind::NoRoom {
            true => about::<ResizeError>(&self.volume)(ResizeError::TooFull(error)),
            false => about(&self.volume)(error),
        }
    }
}
