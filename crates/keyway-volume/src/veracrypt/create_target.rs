//! The file or device that a new volume is made in: claimed first, removed again when it fails.

use super::create_error::CreateError;
use keyway_store::{Caching, FileStore, OpenMode, Operation, StoreError};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What to do where a file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone and fail.
    Refuse,
    /// Put the new one in its place, once that is complete.
    Replace,
}

/// Whether the file's whole size is set aside at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Yes: a file system that is too full says so before anything is written.
    Reserved,
    /// No: the file takes up room as it is written (a sparse file).
    Sparse,
}

/// A file or device to make a volume in.
///
/// A new file that is dropped without [`Target::keep`] is removed: an error or an interruption
/// leaves nothing behind. A file to be replaced stays as it is until then. The store is claimed, so
/// that nobody can mount a device or write to a volume meanwhile.
pub struct Target {
    store: FileStore,
    unfinished: Option<Unfinished>,
}

/// A new file that is not in its place for good yet.
struct Unfinished {
    written_to: PathBuf,
    wanted_at: PathBuf,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // The error that brought us here matters more than this one.
        let _ = std::fs::remove_file(&self.written_to);
    }
}

impl Target {
    /// Makes a file of `size` bytes that only its owner may read.
    ///
    /// # Errors
    /// There is something already, it is in use, the disk or the file system has no room for it.
    pub fn new_file(path: &Path, size: u64, existing: Existing, space: Space) -> Result<Self, CreateError> {
        let fail = |e| open_failed(path, e);
        let written_to = match std::fs::symlink_metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(e) => return Err(fail(e)),
            Ok(meta) if meta.is_file() && existing == Existing::Replace => {
                refuse_in_use(path)?;
                // An open volume would go on being written where nobody finds it again.
                claimed(path, Caching::Buffered)?;
                remove_left(path);
                beside(path)
            }
            Ok(_) => return Err(CreateError::Exists(path.to_owned())),
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&written_to).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => CreateError::Exists(written_to.clone()),
            _ => fail(e),
        })?;
        let unfinished = Unfinished { written_to, wanted_at: path.to_owned() };
        set_aside(&file, path, size, space)?;
        let store = FileStore::open(&unfinished.written_to, OpenMode::ReadWrite, Caching::Direct)
            .map_err(CreateError::from)?;
        Ok(Self { store, unfinished: Some(unfinished) })
    }

    /// Takes a block device. What is on it will be lost, so the caller has asked.
    ///
    /// # Errors
    /// It is mounted or otherwise used, or it is not a block device.
    pub fn device(path: &Path) -> Result<Self, CreateError> {
        let kind = path.metadata().map_err(|e| open_failed(path, e))?.file_type();
        if !kind.is_block_device() {
            return Err(CreateError::NotADevice(path.to_owned()));
        }
        Self::existing(path)
    }

    /// Takes a file or device that holds a volume, to make a hidden one inside.
    ///
    /// # Errors
    /// It is mounted or otherwise used.
    pub fn existing(path: &Path) -> Result<Self, CreateError> {
        refuse_in_use(path)?;
        let store = claimed(path, Caching::Direct)?;
        Ok(Self { store, unfinished: None })
    }

    /// Where to make the volume.
    pub fn store(&self) -> &FileStore {
        &self.store
    }

    /// A second handle on it, for a device over the finished volume.
    ///
    /// # Errors
    /// There is no descriptor left for it.
    pub fn reopen(&self) -> Result<FileStore, CreateError> {
        Ok(self.store.try_clone()?)
    }

    /// Says that the volume is complete: the new file stays, in its place, on the medium.
    ///
    /// # Errors
    /// The file can't be flushed or put in its place; it is gone then, and one that was to be
    /// replaced is as it was. Only when the folder can't be flushed is the new file there already.
    pub fn keep(mut self) -> Result<(), CreateError> {
        let Some(mut unfinished) = self.unfinished.take() else { return Ok(()) };
        let fail = |e| {
            let what = &*unfinished.wanted_at;
            CreateError::from(StoreError::new(Operation::Flush, what, 0, 0, e))
        };
        File::open(&unfinished.written_to).and_then(|file| file.sync_all()).map_err(fail)?;
        if unfinished.written_to != unfinished.wanted_at {
            std::fs::rename(&unfinished.written_to, &unfinished.wanted_at).map_err(fail)?;
        }
        // The file's name is on the medium once its folder is (fsync(2)).
        let flushed = File::open(folder_of(&unfinished.wanted_at)).and_then(|folder| folder.sync_all());
        let flushed = flushed.map_err(fail);
        unfinished.written_to = PathBuf::new();
        flushed
    }
}

fn available(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder_of(path)).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn no_space(path: &Path, needed: u64, available: u64) -> CreateError {
    CreateError::NoSpace { path: path.to_owned(), needed, available }
}

/// Whether there is room for a new file of so many bytes, as far as its file system says.
///
/// # Errors
/// [`CreateError::NoSpace`].
pub fn must_have_room(path: &Path, bytes: u64) -> Result<(), CreateError> {
    match available(path) {
        Some(available) if available < bytes => Err(no_space(path, bytes, available)),
        _ => Ok(()),
    }
}

/// Gives the file its size and, where the file system can, its room.
fn set_aside(file: &File, path: &Path, size: u64, space: Space) -> Result<(), CreateError> {
    let no_space = || no_space(path, size, available(path).unwrap_or(0));
    let failed = |e: io::Error| match Errno::from_io_error(&e) {
        Some(Errno::NOSPC | Errno::DQUOT) => no_space(),
        Some(Errno::FBIG) => CreateError::TooLargeForFileSystem { path: path.to_owned(), size },
        _ => CreateError::from(StoreError::new(Operation::Write, path, 0, 0, e)),
    };
    if space == Space::Reserved {
        // Asked before: a file system may spend minutes on an allocation that fails at the end.
        must_have_room(path, size)?;
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size) {
            Ok(()) => return Ok(()),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(e) => return Err(failed(e.into())),
        }
    }
    file.set_len(size).map_err(failed)
}

fn refuse_in_use(path: &Path) -> Result<(), CreateError> {
    let uses = keyway_sys::uses(path).map_err(|e| open_failed(path, e))?;
    if uses.is_empty() { Ok(()) } else { Err(CreateError::InUse { path: path.to_owned(), uses }) }
}

/// Opens what exists for writing, unless somebody else has.
fn claimed(path: &Path, caching: Caching) -> Result<FileStore, CreateError> {
    Ok(FileStore::open(path, OpenMode::ReadWrite, caching)?)
}

fn open_failed(path: &Path, e: io::Error) -> CreateError {
    StoreError::new(Operation::Open, path, 0, 0, e).into()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How a name in the same folder begins, so that the finished file can be renamed over the old one; a process's number follows.
fn beside_of_any(path: &Path) -> OsString {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".keyway-");
    name
}

fn beside(path: &Path) -> PathBuf {
    let mut name = beside_of_any(path);
    name.push(std::process::id().to_string());
    path.with_file_name(name)
}

/// Removes what others left there that were killed while they made a volume of that name: a half volume, which nobody opens.
fn remove_left(path: &Path) {
    let begin = beside_of_any(path);
    let Ok(entries) = std::fs::read_dir(folder_of(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(of) = name.as_bytes().strip_prefix(begin.as_bytes()) else { continue };
        let number = std::str::from_utf8(of).ok().and_then(|text| text.parse::<u32>().ok());
        let Some(number) = number.filter(|number| number.to_string().as_bytes() == of) else { continue };
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        // Whoever still works on it, on another machine or with other numbers, has claimed it.
        if is_file && !Path::new(&format!("/proc/{number}")).exists() {
            // What can't be removed is in nobody's way.
            let _ =
                claimed(&entry.path(), Caching::Buffered).map(|_claim| std::fs::remove_file(entry.path()));
        }
    }
}
