//! Room for what encryption in place adds to a file system: it is there, or the file system is made smaller, or its file
//! larger; and all of that is taken back where nothing comes of it.

use super::claim::{allocate, claim, set_len};
use super::plan::HeaderSpace;
use crate::error::{Error, about};
use crate::medium;
use crate::progress::{Progress, Stage};
use crate::resize::inside::must_go_on;
use crate::under_way::ConversionRefusal;
use keyway_attach::HeldSignals;
use keyway_error::Advice;
use keyway_fs::FoundFileSystem;
use keyway_fs::resize::ResizeToolError;
use keyway_store::{FileStore, Store};
use std::path::Path;

/// What file systems are measured by here.
pub(super) const PAGE: u64 = 4096;

/// The page behind the file system's last.
pub(super) fn end_of(fs: &FoundFileSystem) -> u64 {
    fs.bytes.next_multiple_of(PAGE)
}

/// Where room comes from for a file system that reaches behind `most`, where it had to end; `larger` is how large a file
/// must be that has room for all of it.
pub(super) fn elsewhere(
    path: &Path,
    fs: &FoundFileSystem,
    most: u64,
    grow: bool,
    larger: impl FnOnce() -> u64,
) -> Result<HeaderSpace, Error> {
    match () {
        () if grow && !path.is_file() => Err(ConversionRefusal::DeviceCantGrow.into()),
        () if grow => Ok(HeaderSpace::LargerFile { bytes: larger() }),
        () if fs.kind.can_shrink() => {
            fs.kind.must_have_tools().map_err(about(path))?;
            let smaller_by_bytes = fs.bytes.saturating_sub(most);
            Ok(HeaderSpace::SmallerFileSystem { filesystem: fs.kind.name(), bytes: most, smaller_by_bytes })
        }
        () => {
            let (missing, is_file) = (end_of(fs).saturating_sub(most), path.is_file());
            Err(about(path)(ConversionRefusal::CantShrink { missing, filesystem: fs.kind, is_file }))
        }
    }
}

/// Where a file system will end that gets its room from there.
pub(super) fn end_in(space: HeaderSpace, fs: &FoundFileSystem) -> u64 {
    match space {
        HeaderSpace::SmallerFileSystem { bytes, .. } => bytes,
        HeaderSpace::Enough | HeaderSpace::LargerFile { .. } => end_of(fs),
    }
}

/// A file system whose own tool has not made it smaller, and where else the room can come from.
pub(super) fn not_smaller(path: &Path, fs: &FoundFileSystem, to: u64, error: ResizeToolError) -> Error {
    let (missing, filesystem, is_file) = (end_of(fs).saturating_sub(to), fs.kind, path.is_file());
    match error {
        ResizeToolError::Refused { .. } | ResizeToolError::TooFull { .. } => {
            about(path)(ConversionRefusal::TooFull { error, missing, filesystem, is_file })
        }
        error => about(path)(error),
    }
}

/// A file system that room is made for.
pub(super) struct MakingRoom<'a> {
    pub(super) path: &'a Path,
    pub(super) fs: &'a FoundFileSystem,
    pub(super) space: HeaderSpace,
    /// A file's holes are filled: everything in it will be written.
    pub(super) whole: bool,
}

impl MakingRoom<'_> {
    /// Makes room, with all that `begin` does next; where either fails, everything gets the size again that it had.
    /// `plan` says whether the wish can be granted: whatever can be refused is refused before the file system is
    /// touched. `begin` writes nothing to the medium.
    pub(super) fn around<P, R>(
        &self,
        progress: &dyn Progress,
        plan: impl FnOnce(&FileStore) -> Result<P, Error>,
        begin: impl FnOnce(FileStore, P) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let before = self.path.metadata().map_err(|e| Error::system("look at", self.path, e))?.len();
        // Whoever has it now keeps it as it is.
        drop(claim(self.path)?);
        self.make(progress, plan, begin).map_err(|error| match self.undo(before) {
            Some(left) => error.leaving(left),
            None => error,
        })
    }

    fn make<P, R>(
        &self,
        progress: &dyn Progress,
        plan: impl FnOnce(&FileStore) -> Result<P, Error>,
        begin: impl FnOnce(FileStore, P) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let (path, fs) = (self.path, self.fs);
        if let HeaderSpace::LargerFile { bytes } = self.space {
            set_len(path, bytes)?;
        }
        let fill = || if self.whole { allocate(path) } else { Ok(()) };
        fill()?;
        // The file system's own tools claim the device themselves, so it is given up in between.
        let (planned, size) = {
            let store = claim(path)?;
            (plan(&store)?, store.size())
        };
        if let HeaderSpace::SmallerFileSystem { bytes, .. } = self.space {
            progress.stage(Stage::Shrinking(fs.kind));
            let held = HeldSignals::hold();
            let shrunk = fs.kind.resize(path, bytes);
            // resize2fs cuts a file where its file system ends.
            if path.is_file() {
                set_len(path, size)?;
                fill()?;
            }
            drop(held);
            shrunk.map_err(|e| not_smaller(path, fs, bytes, e))?;
            must_go_on()?;
        }
        let store = claim(path)?;
        let now = FoundFileSystem::find(&store)?.map(|fs| fs.bytes);
        if now.is_none_or(|bytes| bytes > end_in(self.space, fs)) || store.size() != size {
            return Err(ConversionRefusal::ChangedMeanwhile(path.to_owned()).into());
        }
        begin(store, planned)
    }

    /// The file system as it is now.
    fn now(&self) -> Result<Option<FoundFileSystem>, Error> {
        Ok(FoundFileSystem::find(&medium::look(self.path)?)?)
    }

    /// Takes it back; what is to be told of it, where there is something.
    fn undo(&self, bytes: u64) -> Option<Advice> {
        if self.space != HeaderSpace::Enough && claim(self.path).is_err() {
            return Some(Advice::SizesLeft);
        }
        let _held = HeldSignals::hold();
        let undone = match self.space {
            HeaderSpace::Enough => return None,
            HeaderSpace::LargerFile { .. } => set_len(self.path, bytes),
            HeaderSpace::SmallerFileSystem { .. } => match self.now() {
                Ok(Some(now)) if now.bytes == self.fs.bytes => return None,
                _ => self.fs.kind.resize(self.path, self.fs.bytes).map_err(Error::from),
            },
        };
        Some(match undone {
            Ok(()) => Advice::SizesRestored,
            Err(why) => Advice::SizesNotRestored { why: why.to_string() },
        })
    }
}
