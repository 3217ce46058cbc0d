//! The file or device a volume lies on: whether it is there, may be written, and opening it.

use crate::error::Error;
use keyway_engine::Access;
use keyway_error::{Advice, Explain};
use keyway_store::{Caching, FileStore, OpenMode};
use std::fs::{File, FileType, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Opens the file or device; one that is in use elsewhere is refused for writing.
///
/// # Errors
/// The system refuses, or somebody else has it.
pub fn open(path: &Path, access: Access, caching: Caching) -> Result<FileStore, Error> {
    // Of every verb it is told the same.
    no_medium(path).map_or(Ok(()), Err)?;
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

/// Looks at what somebody else may be at work on, and again where it got shorter meanwhile: resize2fs, which makes room for
/// an encryption, cuts an image file for a moment.
///
/// # Errors
/// What the last look says.
pub fn look_again<T, E: Explain>(look: impl Fn() -> Result<T, E>) -> Result<T, E> {
    const MORE_LOOKS: usize = 9;
    for _ in 0..MORE_LOOKS {
        match look() {
            Err(error) if error.advice().contains(&Advice::WaitForItsSize) => {}
            seen => return seen,
        }
    }
    look()
}

/// Why what is there is plainly no volume.
fn no_medium(path: &Path) -> Option<Error> {
    let what = no_file(path.metadata().ok()?.file_type())?;
    Some(Error::NoMedium { path: path.to_owned(), what })
}

/// What it is, where it is neither a file nor a block device.
fn no_file(kind: FileType) -> Option<&'static str> {
    match () {
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_fifo() => Some("a pipe"),
        () if kind.is_socket() => Some("a socket"),
        () if kind.is_char_device() => Some("a character device"),
        () => None,
    }
}

/// Checks that a volume's file or device is there and can be read: before anyone is asked for a password.
///
/// # Errors
/// It isn't, or is neither a file nor a block device.
pub fn must_exist(path: &Path) -> Result<(), Error> {
    must_open(path, |_| no_medium(path).map_or(Ok(()), Err))
}

/// Refuses what is there and is plainly no volume's file or device; there may be nothing yet.
///
/// # Errors
/// It is a folder, a pipe, a socket or a character device.
pub(crate) fn must_not_be_unsuitable(path: &Path) -> Result<(), Error> {
    no_medium(path).map_or(Ok(()), Err)
}

/// The same of a drive, whose own device may be one for characters.
///
/// # Errors
/// As [`must_exist`].
pub(crate) fn must_be_a_drive(path: &Path) -> Result<(), Error> {
    must_open(path, |kind| match kind.is_char_device() {
        true => Ok(()),
        false => no_medium(path).map_or(Ok(()), Err),
    })
}

/// The same of a header's backup.
///
/// # Errors
/// As [`must_exist`].
pub(crate) fn must_be_a_backup(path: &Path) -> Result<(), Error> {
    let no_backup = |what| Error::NoBackup { path: path.to_owned(), what };
    must_open(path, |kind| no_file(kind).map_or(Ok(()), |what| Err(no_backup(what))))
}

/// What is there may be opened: a pipe would keep whoever opens it waiting.
fn must_open(path: &Path, suits: impl FnOnce(FileType) -> Result<(), Error>) -> Result<(), Error> {
    let failed = |e| Error::system("open", path, e);
    suits(path.metadata().map_err(failed)?.file_type())?;
    File::open(path).map(drop).map_err(failed)
}

/// Checks that this user may write to it.
///
/// # Errors
/// The system's refusal.
pub fn must_be_writable(path: &Path) -> Result<(), Error> {
    OpenOptions::new().write(true).open(path).map(drop).map_err(|e| Error::system("open", path, e))
}

/// Whether scattered writes cost the drive that this file or device is on far more than those in a row: it says that it
/// rotates, and can't discard. That is a disk with a head, or a stick on USB; a virtual disk can discard.
pub fn is_slow_to_scatter(path: &Path) -> bool {
    let Ok(about) = std::fs::metadata(path) else { return false };
    let number = if about.file_type().is_block_device() { about.rdev() } else { about.dev() };
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    is_slow_queue(&device) || is_slow_queue(&device.join(".."))
}

/// The same of a device's folder in sysfs; a partition has no queue of its own.
fn is_slow_queue(device: &Path) -> bool {
    let says = |name: &str, what: &str| {
        std::fs::read_to_string(device.join("queue").join(name)).is_ok_and(|text| text.trim() == what)
    };
    says("rotational", "1") && says("discard_max_bytes", "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_rotates_and_can_not_discard_is_slow_to_scatter() {
        let device = tempfile::tempdir().expect("temp");
        let queue = device.path().join("queue");
        std::fs::create_dir(&queue).expect("made");
        for (rotational, discard, slow) in [("1", "0", true), ("1", "2147450880", false), ("0", "0", false)] {
            std::fs::write(queue.join("rotational"), format!("{rotational}\n")).expect("written");
            std::fs::write(queue.join("discard_max_bytes"), format!("{discard}\n")).expect("written");
            assert_eq!(is_slow_queue(device.path()), slow, "{rotational}, {discard}");
        }
        assert!(!is_slow_queue(&queue), "it has no queue");
    }
}
