//! Where a new volume goes.

use crate::error::{Error, Misuse, about};
use crate::key_file::{must_be_no_missing_device, must_take_files};
use keyway_store::size::words;
use keyway_volume::veracrypt::must_have_room;
use keyway_volume::veracrypt::{CreateError, Existing, Space, Target};
use std::fmt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Where a new volume goes. Nothing has been written there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewPlace {
    /// The file or device.
    pub path: PathBuf,
    /// The new file's length; a device is taken whole.
    pub bytes: Option<u64>,
    /// A file that is there already is replaced.
    pub replaces: bool,
}

impl NewPlace {
    /// A new file of so many bytes, headers included; with `replace`, in the place of one that is there.
    ///
    /// # Errors
    /// There is one, and it is not to be replaced.
    pub fn file(path: impl Into<PathBuf>, bytes: u64, replace: bool) -> Result<Self, Error> {
        let path = path.into();
        // A link is neither followed nor replaced, wherever it leads.
        if path.is_symlink() {
            return Err(Error::from(CreateError::IsALink(path.clone())).at(&path));
        }
        if !replace && path.symlink_metadata().is_ok() {
            return Err(Error::from(CreateError::Exists(path.clone())).at(&path));
        }
        must_take_files(&path)?;
        Ok(Self { path, bytes: Some(bytes), replaces: replace })
    }

    /// A device, which is taken whole: everything on it will be lost.
    ///
    /// # Errors
    /// It can't be written, or somebody uses it.
    pub fn device(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        // Claimed once before the question: nobody types a password for a mounted device.
        drop(Target::device(&path).map_err(about(&path))?);
        Ok(Self { path, bytes: None, replaces: false })
    }

    /// A device where there is one, else a new file: what a person means who names a path and perhaps a size.
    ///
    /// # Errors
    /// A size for a device, or none for a file; a device that isn't there; or as [`NewPlace::file`] and [`NewPlace::device`].
    pub fn find(path: &Path, bytes: Option<u64>, replace: bool) -> Result<Self, Error> {
        let is_device = path.metadata().is_ok_and(|meta| meta.file_type().is_block_device());
        match (is_device, bytes) {
            (true, Some(_)) => Err(Misuse::SizeOfADevice.into()),
            (true, None) => Self::device(path),
            (false, _) if path.symlink_metadata().is_ok() && !replace => Self::file(path, 0, false),
            // A device that isn't there is none, and no new file.
            (false, None) => must_be_no_missing_device(path).and(Err(Misuse::NoSize.into())),
            (false, Some(bytes)) => Self::file(path, bytes, replace),
        }
    }

    /// Whether everything on a device is lost.
    pub fn is_device(&self) -> bool {
        self.bytes.is_none()
    }

    /// Claims it.
    pub(super) fn take(&self, quick: bool) -> Result<Target, Error> {
        let target = match self.bytes {
            None => Target::device(&self.path),
            Some(bytes) => {
                let existing = if self.replaces { Existing::Replace } else { Existing::Refuse };
                let space = if quick { Space::Sparse } else { Space::Reserved };
                Target::new_file(&self.path, bytes, existing, space)
            }
        };
        target.map_err(about(&self.path))
    }
}

/// A file that has no room set aside, and can grow larger than there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overcommitted {
    bytes: u64,
    free: u64,
}

impl Overcommitted {
    /// One that is at `path` or goes there, and can grow by so many bytes until it has `bytes`.
    pub(crate) fn find(path: &Path, more: u64, bytes: u64) -> Option<Self> {
        match must_have_room(path, more) {
            Err(CreateError::NoSpace { available: free, .. }) => Some(Self { bytes, free }),
            _ => None,
        }
    }
}

impl fmt::Display for Overcommitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, free) = (words(self.bytes), words(self.free));
        write!(
            f,
            "the file can grow to {bytes}, and only {free} are free where it lies: when these are used, what is written to the volume fails"
        )
    }
}
