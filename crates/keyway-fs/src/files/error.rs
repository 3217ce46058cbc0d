//! Why files inside a volume could not be reached, sorted by whose fault it is.

use keyway_error::{explain, explain_io};
use keyway_store::StoreError;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The volume's sectors can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing in the volume is known.
    #[error("there is no file system in the volume that is known here")]
    NoFileSystem,
    /// A file system that is known and not read.
    #[error("{0} file systems can't be read without the kernel")]
    Unreadable(&'static str),
    /// A file system that is only read.
    #[error("files can be written to FAT only, this is {0}")]
    CanNotWrite(&'static str),
    /// It was not unmounted.
    #[error("the file system was not unmounted in good order")]
    Unclean,
    /// Something in it that is not read.
    #[error("{0}")]
    Unsupported(String),
    /// The file system contradicts itself.
    #[error("the file system is damaged: {0}")]
    Damaged(String),
    /// No such entry.
    #[error("there is no /{} in it", .0.display())]
    NotFound(OsString),
    /// A folder is needed.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(OsString),
    /// A file is needed.
    #[error("{} is a folder", .0.display())]
    IsAFolder(OsString),
    /// Links are not followed.
    #[error("{} is a link, and links are not followed", .0.display())]
    IsALink(OsString),
    /// A device or the like.
    #[error("{} is neither a file nor a folder", .0.display())]
    NotAFile(OsString),
    /// A path that is none.
    #[error("{} is no path inside a volume", .0.display())]
    NotAPath(OsString),
    /// A name that the file system can't have.
    #[error("a FAT file system can't hold the name {}", .0.display())]
    BadName(OsString),
    /// The place in the volume is taken.
    #[error("{} exists already", .0.display())]
    Exists(OsString),
    /// The place outside of it is taken: nothing is ever overwritten there.
    #[error("{} exists already", .0.display())]
    InTheWay(PathBuf),
    /// It does not fit.
    #[error("there is room for {free} bytes in it, and {wanted} are to be written")]
    NoRoom {
        /// Bytes that are free.
        free: u64,
        /// Bytes that were to be written.
        wanted: u64,
    },
    /// More than the volume can hold, or folders without end.
    #[error("the file system goes round in circles ({0})")]
    Endless(&'static str),
    /// This machine's side failed.
    #[error("could not {doing} {}: {source}", .path.display())]
    Host {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

explain! { FilesError, through Store {
    Self::Host { path, source, .. } => { explain_io(source).about(path) },
    Self::NoFileSystem => [NoFilesystem Contents, OpenAsDevice],
    Self::Unreadable(_) | Self::CanNotWrite(_) | Self::Unsupported(_) => [Unsupported Machine, MountVolume],
    Self::Unclean => [Unclean State, CheckFat],
    Self::Damaged(_) => [DamagedFilesystem Contents, CheckFileSystem],
    Self::Endless(_) => [DamagedFilesystem Contents, CheckWithTools],
    Self::NotFound(_) => [NotFound State, ListFolder],
    Self::NotAFolder(_) => [NotSuitable State, NameFolder],
    Self::IsAFolder(_) => [NotSuitable State, NameFileOrNewFolder],
    Self::IsALink(_) => [NotSuitable State, NameTarget],
    Self::NotAFile(_) => [NotSuitable State, OnlyFilesAndFolders],
    Self::NotAPath(_) => [Usage Request, WriteAsPath],
    Self::BadName(_) => [Usage Request, PutUnderOtherName],
    Self::Exists(_) => [Exists State, OtherNameOrForce],
    Self::InTheWay(path) => [Exists State, ChooseAnotherName; path],
    Self::NoRoom { .. } => [NoSpace State, RemoveSomething],
} }

impl FilesError {
    /// An error that came through a library's reader: the store's own where it is one.
    pub(crate) fn from_io(error: io::Error) -> Self {
        match error.downcast::<StoreError>() {
            Ok(store) => Self::Store(store),
            Err(other) => match other.downcast::<Self>() {
                Ok(ours) => ours,
                Err(other) => Self::Damaged(other.to_string()),
            },
        }
    }
}
