//! Claims what is to be converted, and gives its file the size and the room that it needs.

use crate::error::Error;
use crate::medium;
use crate::session::{SessionError, refuse_if_open};
use crate::under_way::{ConversionError, Found, clean_stale, is_paused_volume, running};
use keyway_engine::Access;
use keyway_error::{Fault, explain_io};
use keyway_store::{Caching, FileStore, Held, Store};
use keyway_sys::Use;
use rustix::io::Errno;
use std::fs::OpenOptions;
use std::ops::Range;
use std::path::Path;

/// Whether there is something that could go on.
pub(super) fn is_under_way(store: &dyn Store) -> Result<bool, Error> {
    Ok(Found::find(store)?.is_some() || is_paused_volume(store)?)
}

/// No conversion of it is under way, of either format or from one to the other.
pub fn refuse_if_begun(path: &Path) -> Result<(), Error> {
    refuse_begun(path, &medium::look(path)?)
}

/// The same of a medium that is open.
pub(super) fn refuse_begun(path: &Path, store: &dyn Store) -> Result<(), Error> {
    match Found::find(store)? {
        Some(found) => {
            Err(match running(path)?.filter(|other| other.pid.unsigned_abs() != std::process::id()) {
                Some(other) => ConversionError::Running { path: path.to_owned(), pid: other.pid },
                None if found.in_front() => ConversionError::UnderWay(path.to_owned()),
                None => ConversionError::Traces(path.to_owned()),
            }
            .into())
        }
        None => Ok(()),
    }
}

/// Claims what is to be converted. Nobody else can begin a conversion of it from now on, and nobody has
/// begun one since it was looked at.
pub fn claim(path: &Path) -> Result<FileStore, Error> {
    let store = medium::open(path, Access::ReadWrite, Caching::Direct)?;
    refuse_begun(path, &store)?;
    Ok(store)
}

/// Nobody else begins with it from now on.
pub(super) fn hold(path: &Path) -> Result<Option<Held>, Error> {
    Held::take(path).map_err(|e| by_whom(path, e.into()))
}

/// Claims what was half converted when it was looked at: from now on nobody else goes on with it.
pub(super) fn claim_to_resume(path: &Path) -> Result<FileStore, Error> {
    medium::open(path, Access::ReadWrite, Caching::Direct).map_err(|e| by_whom(path, e))
}

/// Who has what could not be claimed, where that is a process that converts it.
fn by_whom(path: &Path, error: Error) -> Error {
    match &error {
        Error::Store(e) if explain_io(&e.source).fault == Fault::InUse => match running(path) {
            Ok(Some(running)) => ConversionError::Running { path: path.to_owned(), pid: running.pid }.into(),
            _ => error,
        },
        _ => error,
    }
}

/// Nobody has it: no open volume, no mounted file system, no other conversion, no loop device.
///
/// # Errors
/// Somebody has, and who.
pub fn refuse_if_used(path: &Path) -> Result<(), Error> {
    clean_stale();
    refuse_if_open(path, Access::ReadWrite).map_err(|error| match (&error, running(path)) {
        (Error::Session(SessionError::Taken { volume: None, .. }), Ok(Some(running))) => {
            ConversionError::Running { path: path.to_owned(), pid: running.pid }.into()
        }
        _ => error,
    })?;
    refuse_if_looped(path)
}

/// A loop device on it, idle as it may be, would be in the way of the file system's own tools, and show what is half
/// converted.
fn refuse_if_looped(path: &Path) -> Result<(), Error> {
    let uses = keyway_sys::uses(path).map_err(|e| Error::system("look at", path, e))?;
    match uses.into_iter().find(|one| matches!(one, Use::Loop(_))) {
        None => Ok(()),
        Some(user) => Err(ConversionError::InUse { path: path.to_owned(), user }.into()),
    }
}

/// Gives a file all the room that it will need: converted it has no holes any more, and a file system that is
/// full in the middle would be found out too late.
pub(super) fn allocate(path: &Path) -> Result<(), Error> {
    if !path.is_file() {
        return Ok(());
    }
    let bytes = path.metadata().map_err(|e| Error::system("look at", path, e))?.len();
    allocate_ranges(path, std::slice::from_ref(&(0..bytes)))
}

/// The same where it will be written.
pub(super) fn allocate_ranges(path: &Path, ranges: &[Range<u64>]) -> Result<(), Error> {
    use rustix::fs::{FallocateFlags, fallocate};
    if !path.is_file() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path).map_err(|e| Error::system("open", path, e))?;
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        match fallocate(&file, FallocateFlags::empty(), range.start, range.end - range.start) {
            // Where there is no such call the file system has no holes either.
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(e @ (Errno::NOSPC | Errno::DQUOT)) => {
                return Err(ConversionError::Holes { path: path.to_owned(), source: e.into() }.into());
            }
            Err(e) => return Err(Error::system("take room for", path, e.into())),
        }
    }
    Ok(())
}

/// Gives a file that size.
pub fn set_len(path: &Path, to: u64) -> Result<(), Error> {
    let file = OpenOptions::new().write(true).open(path);
    let sized = file.and_then(|file| file.set_len(to).and_then(|()| file.sync_all()));
    sized.map_err(|e| Error::system("change the size of", path, e))
}
