//! The file or device a volume lies on: whether it is there, may be written, and opening it.

use crate::error::Error;
use keyway_engine::Access;
use keyway_store::{Caching, FileStore, OpenMode};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Opens the file or device; one that is in use elsewhere is refused for writing.
///
/// # Errors
/// The system refuses, or somebody else has it.
pub fn open(path: &Path, access: Access, caching: Caching) -> Result<FileStore, Error> {
    let mode = match access {
        Access::ReadOnly => OpenMode::ReadOnly,
        Access::ReadWrite => OpenMode::ReadWrite,
    };
    Ok(FileStore::open(path, mode, caching)?)
}

/// Opens it to look at it, as others may at the same time.
pub(crate) fn look(path: &Path) -> Result<FileStore, Error> {
    open(path, Access::ReadOnly, Caching::Buffered)
}

/// Checks that it is there and can be read: before anyone is asked for a password.
///
/// # Errors
/// It isn't, or is neither a file nor a block device.
pub fn must_exist(path: &Path) -> Result<(), Error> {
    let failed = |e| Error::system("open", path, e);
    let kind = path.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err(Error::Folder(path.to_owned()));
    }
    // A pipe would keep whoever opens it waiting.
    if kind.is_fifo() || kind.is_socket() {
        let what = "it is neither a file nor a block device";
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, what)));
    }
    File::open(path).map(drop).map_err(failed)
}

/// Checks that this user may write to it.
///
/// # Errors
/// The system's refusal.
pub fn must_be_writable(path: &Path) -> Result<(), Error> {
    OpenOptions::new().write(true).open(path).map(drop).map_err(|e| Error::system("open", path, e))
}
