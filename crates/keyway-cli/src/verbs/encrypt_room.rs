//! Room for what encryption in place adds to a file system: it is there, or the file system is made smaller,
//! or its file larger; and all of that is taken back where nothing comes of it.

use super::encrypt::file_system;
use crate::conversion;
use crate::failure::{Exit, Failure};
use crate::output::{Output, bytes};
use crate::volume::about;
use keyway_convert::ConvertError;
use keyway_fs::FileSystem;
use keyway_store::{FileStore, Store};
use std::path::Path;

/// Where the room comes from.
pub(super) enum Room {
    /// It is there.
    Enough,
    /// The file system is made that small.
    Shrink(u64),
    /// The file is made that large.
    Grow(u64),
}

impl Room {
    /// For a file system that reaches behind `most`, where it had to end; `larger` is how large a file must be that
    /// has room for all of it.
    pub(super) fn elsewhere(
        path: &Path,
        fs: &FileSystem,
        most: u64,
        grow: bool,
        larger: impl FnOnce() -> u64,
    ) -> Result<Self, Failure> {
        if grow {
            if !path.is_file() {
                return Err(Failure::usage(
                    "only files can be made larger; --grow is for them",
                    "leave --grow out",
                ));
            }
            return Ok(Self::Grow(larger()));
        }
        if fs.kind.can_shrink() {
            return Ok(Self::Shrink(most));
        }
        let failure = about(path, ConvertError::NoRoom { missing: end_of(fs).saturating_sub(most) });
        let hint = if path.is_file() {
            "add --grow to make the file larger"
        } else {
            "make the partition larger by that much"
        };
        Err(failure.hint(format!("{} can't be made smaller while it is not mounted; {hint}", fs.kind)))
    }

    /// A file system whose own tool has not made it smaller, and where else the room can come from.
    pub(super) fn refused(&self, path: &Path, fs: &FileSystem, failure: Failure) -> Failure {
        if failure.kind != keyway_error::Kind::NoRoom {
            return failure;
        }
        if path.is_file() {
            return failure
                .hint("add --grow, which makes the file larger and leaves the file system as it is");
        }
        let missing = end_of(fs).saturating_sub(self.end(fs));
        failure.hint(format!(
            "make room in the {} file system, or the partition {missing} bytes larger",
            fs.kind
        ))
    }

    /// What is to be said of it before.
    pub(super) fn in_words(&self, fs: &FileSystem) -> String {
        match self {
            Self::Enough => String::new(),
            Self::Shrink(to) => format!(
                ", and its {} file system is made {} smaller before that, with its own tools",
                fs.kind,
                bytes(fs.bytes.saturating_sub(*to))
            ),
            Self::Grow(to) => format!(", and its file grows to {}", bytes(*to)),
        }
    }

    /// Where the file system will end.
    pub(super) fn end(&self, fs: &FileSystem) -> u64 {
        match self {
            Self::Shrink(to) => *to,
            Self::Enough | Self::Grow(_) => end_of(fs),
        }
    }

    /// Makes it, with all that `begin` does next; where either fails, everything gets the size again that it had.
    /// `plan` says whether the wish can be granted: whatever can be refused is refused before the file system is
    /// touched. `begin` writes nothing to the medium. A file's holes are filled where `whole`, that is, where
    /// everything in it will be written.
    pub(super) fn around<P, R>(
        &self,
        (path, fs): (&Path, &FileSystem),
        whole: bool,
        out: Output,
        plan: impl FnOnce(&FileStore) -> Result<P, Failure>,
        begin: impl FnOnce(FileStore, P) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let before = path.metadata().map_err(|e| Failure::io("look at", path, &e))?.len();
        let make = || {
            if let Self::Grow(to) = self {
                keyway::conversion::set_len(path, *to)?;
            }
            let allocate = || if whole { keyway::conversion::allocate(path) } else { Ok(()) };
            allocate()?;
            // The file system's own tools claim the device themselves, so it is given up in between.
            let (planned, size) = {
                let store = keyway::conversion::claim(path)?;
                (plan(&store)?, store.size())
            };
            if let Self::Shrink(to) = self {
                conversion::announce(out, &format!("making the {} file system smaller", fs.kind));
                let shrunk = fs.kind.resize(path, *to);
                // resize2fs cuts a file where its file system ends.
                if path.is_file() {
                    keyway::conversion::set_len(path, size)?;
                    allocate()?;
                }
                shrunk.map_err(|e| self.refused(path, fs, about(path, e)))?;
            }
            let store = keyway::conversion::claim(path)?;
            let now = FileSystem::find(&store)?.map(|fs| fs.bytes);
            if now.is_none_or(|bytes| bytes > self.end(fs)) || store.size() != size {
                return Err(Failure::new(
                    Exit::Busy,
                    format!("the file system on {} was changed by somebody else meanwhile", path.display()),
                    "see to it that nobody else uses it, and try it again",
                ));
            }
            begin(store, planned)
        };
        // Whoever has it now keeps it as it is.
        drop(keyway::conversion::claim(path)?);
        make().map_err(|failure| match self.undo(path, fs, before) {
            Some(told) => failure.also(&told),
            None => failure,
        })
    }

    /// What is to be told of it, where there is something.
    fn undo(&self, path: &Path, fs: &FileSystem, bytes: u64) -> Option<String> {
        if !matches!(self, Self::Enough) && keyway::conversion::claim(path).is_err() {
            return Some(
                "nothing was encrypted by this command; somebody else has begun to use it, so the size of its \
                 file system, or of its file, was left as it is now"
                    .to_owned(),
            );
        }
        let undone = match self {
            Self::Enough => return None,
            Self::Grow(_) => keyway::conversion::set_len(path, bytes).map_err(|e| e.to_string()),
            Self::Shrink(_) => match file_system(path) {
                Ok(now) if now.bytes == fs.bytes => return None,
                _ => fs.kind.resize(path, fs.bytes).map_err(|e| e.to_string()),
            },
        };
        Some(match undone {
            Ok(()) => "nothing was encrypted, and everything has the size again that it had".to_owned(),
            Err(why) => format!(
                "nothing was encrypted; the file system or its file has another size than before, \
                 and could not get it back ({why})"
            ),
        })
    }
}

/// The page behind the file system's last.
pub(super) fn end_of(fs: &FileSystem) -> u64 {
    fs.bytes.next_multiple_of(4096)
}
