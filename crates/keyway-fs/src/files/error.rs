//! Why files inside a volume could not be reached, sorted by whose fault it is.

use keyway_engine::DeviceError;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// What went wrong. The part of the text after the first "; " is the advice.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The volume's sectors can't be read or written.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Nothing in the volume is known.
    #[error(
        "there is no file system in the volume that is known here; `keyway open` attaches it as a device"
    )]
    NoFileSystem,
    /// A file system that is known and not read.
    #[error("{0} file systems can't be read without the kernel; mount it: sudo keyway open VOLUME FOLDER")]
    Unreadable(&'static str),
    /// A file system that is only read.
    #[error(
        "files can be written to FAT only, this is {0}; mount it instead: sudo keyway open VOLUME FOLDER"
    )]
    CanNotWrite(&'static str),
    /// It was not unmounted.
    #[error(
        "the file system was not unmounted in good order; check it first: keyway open VOLUME, then fsck.fat"
    )]
    Unclean,
    /// Something in it that is not read.
    #[error("{0}; mount the volume instead: sudo keyway open VOLUME FOLDER")]
    Unsupported(String),
    /// The file system contradicts itself.
    #[error("the file system is damaged: {0}; check it with its own tools: keyway open VOLUME, then fsck")]
    Damaged(String),
    /// No such entry.
    #[error("there is no /{} in it; `keyway ls VOLUME` shows what there is", .0.display())]
    NotFound(OsString),
    /// A folder is needed.
    #[error("{} is not a folder; name a folder", .0.display())]
    NotAFolder(OsString),
    /// A file is needed.
    #[error("{} is a folder; name a file, or a folder to be made here", .0.display())]
    IsAFolder(OsString),
    /// Links are not followed.
    #[error("{} is a link, and links are not followed; name what it points to", .0.display())]
    IsALink(OsString),
    /// A device or the like.
    #[error("{} is neither a file nor a folder; only these can be copied", .0.display())]
    NotAFile(OsString),
    /// A path that is none.
    #[error("{} is no path inside a volume; write it as /FOLDER/FILE, without `..`", .0.display())]
    NotAPath(OsString),
    /// A name that the file system can't have.
    #[error("a FAT file system can't hold the name {}; put it under another one", .0.display())]
    BadName(OsString),
    /// The place in the volume is taken.
    #[error("{} exists already; choose another name, or add --force", .0.display())]
    Exists(OsString),
    /// The place outside of it is taken: nothing is ever overwritten there.
    #[error("{} exists already; choose another name, or move it away", .0.display())]
    InTheWay(PathBuf),
    /// It does not fit.
    #[error("there is room for {free} bytes in it, and {wanted} are to be written; remove something first")]
    NoRoom {
        /// Bytes that are free.
        free: u64,
        /// Bytes that were to be written.
        wanted: u64,
    },
    /// More than the volume can hold, or folders without end.
    #[error("the file system goes round in circles ({0}); check it with its own tools")]
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

impl FilesError {
    /// The exit code of a program that ends because of it: 1 failed, 2 wrong usage, 4 damaged, 5 not
    /// possible here.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotAPath(_) | Self::BadName(_) => 2,
            Self::NoFileSystem | Self::Damaged(_) | Self::Endless(_) => 4,
            Self::Unreadable(_) | Self::CanNotWrite(_) | Self::Unsupported(_) => 5,
            _ => 1,
        }
    }

    /// An error that came through a library's reader: the device's own where it is one.
    pub(crate) fn from_io(error: io::Error) -> Self {
        match error.downcast::<DeviceError>() {
            Ok(device) => Self::Device(device),
            Err(other) => match other.downcast::<Self>() {
                Ok(ours) => ours,
                Err(other) => Self::Damaged(other.to_string()),
            },
        }
    }
}
