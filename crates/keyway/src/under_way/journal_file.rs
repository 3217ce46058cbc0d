//! The file of a conversion's journal: made, found, opened, and removed when the conversion is through.
//!
//! A medium may name a file, and is anybody's. So the file is looked for beside the volume and where the person says,
//! nowhere else; only a regular file counts, that no link led to; and only what holds this conversion's records.

use super::error::ConversionError;
use crate::error::Error;
use crate::key_file::must_take_files;
use crate::shown::for_shell;
use keyway_attach::AttachError;
use keyway_attach::session::{OwnFile, Removal};
use keyway_convert::SlotTable;
use keyway_error::{Kind, explain_io};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use rustix::fs::{AtFlags, FallocateFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What every record begins with; the conversion's identifier follows on 16 bytes (`keyway_convert::Journal`).
const RECORD: &[u8] = b"KEYWAY-JOURNAL";

/// A journal's file that is open.
pub(crate) struct JournalFile {
    path: PathBuf,
    /// The folder it was found in, and its name there.
    folder: OwnedFd,
    name: OsString,
    /// The file itself, whatever becomes of the path.
    node: OwnedFd,
    store: FileStore,
    /// This process has made it.
    new: bool,
    /// Who removes it, where this process has no paths any more.
    removal: OnceLock<Removal>,
}

/// A journal's file that there is, and has not been opened.
struct Node {
    path: PathBuf,
    folder: OwnedFd,
    name: OsString,
    node: OwnedFd,
}

/// Where the journal of a volume's file is unless somebody says otherwise.
pub(crate) fn beside(volume: &Path) -> PathBuf {
    let mut name = OsString::from(volume);
    name.push(".keyway-journal");
    name.into()
}

/// What goes on with a conversion, as it is typed. Its journal is named where nobody looks for it unasked.
pub fn resume_with(volume: &Path, journal: Option<&Path>) -> String {
    let is_found = |journal: &Path| {
        let places = [absolute(volume).ok(), volume.canonicalize().ok()];
        volume.is_file() && places.iter().flatten().any(|volume| beside(volume) == journal)
    };
    let journal = journal.and_then(|journal| absolute(journal).ok()).filter(|journal| !is_found(journal));
    let named = journal.map(|journal| format!(" --journal {}", for_shell(journal))).unwrap_or_default();
    format!("keyway resume {}{named}", for_shell(volume))
}

impl JournalFile {
    /// Refuses a name that is taken: another conversion's journal may be there.
    pub(crate) fn must_be_new(path: &Path) -> Result<(), Error> {
        match path.symlink_metadata() {
            Ok(_) => {
                let (path, source) = (path.to_owned(), Errno::EXIST.into());
                Err(ConversionError::NewJournal { path, source }.into())
            }
            Err(_) => Ok(()),
        }
    }

    /// Refuses one in a folder that takes no new files.
    pub(crate) fn must_be_allowed(path: &Path) -> Result<(), Error> {
        must_take_files(path).map_err(|error| match error {
            Error::System { source, .. } => {
                ConversionError::NewJournal { path: path.to_owned(), source }.into()
            }
            other => other,
        })
    }

    /// Refuses one that is in memory where the volume is not: it is there for the day when the power fails.
    pub(crate) fn must_last(path: &Path, volume: &Path) -> Result<(), Error> {
        let folder = absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
        let volume_lasts = !volume.is_file() || !is_in_memory(volume);
        match volume_lasts && is_in_memory(&folder) {
            true => Err(ConversionError::JournalInMemory(path.to_owned()).into()),
            false => Ok(()),
        }
    }

    /// Makes it, with all of its room.
    pub(crate) fn make(path: &Path, bytes: u64) -> Result<Self, Error> {
        let failed = |e: Errno| ConversionError::NewJournal { path: path.to_owned(), source: e.into() };
        let (folder, name) = folder_of(path)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&folder, &name, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        let sized = || {
            rustix::fs::fallocate(&made, FallocateFlags::empty(), 0, bytes)?;
            rustix::fs::fsync(&made)?;
            // What says that it is there.
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::fsync(rustix::fs::openat(&folder, ".", flags, Mode::empty())?)
        };
        if let Err(e) = sized() {
            let _ = rustix::fs::unlinkat(&folder, &name, AtFlags::empty());
            return Err(failed(e).into());
        }
        let (path, node) = (path.to_owned(), made);
        Ok(Self { new: true, ..Node { path, folder, name, node }.open(OpenMode::ReadWrite)? })
    }

    /// Finds the file of the conversion `id` of that volume, to read: where `named` says, or beside the volume. `made_as`
    /// is the medium's word for it, which nobody has to believe: it is shown and nothing else.
    pub(crate) fn find(
        volume: &Path,
        named: Option<&Path>,
        made_as: &Path,
        (place, id): (&SlotTable, &[u8; 16]),
    ) -> Result<Self, Error> {
        let node = Node::find(volume, named, made_as)?;
        let found = node.open(OpenMode::ReadOnly)?;
        if found.store.size() >= place.file_bytes() && found.is_of(place, id)? {
            return Ok(found);
        }
        Err(ConversionError::AnotherJournal { journal: found.path, volume: volume.to_owned() }.into())
    }

    /// The same file, to be written, and claimed: nobody else goes on with the conversion.
    pub(crate) fn for_writing(self) -> Result<Self, Error> {
        let Self { path, folder, name, node, store, .. } = self;
        drop(store);
        Node { path, folder, name, node }.open(OpenMode::ReadWrite)
    }

    /// Its bytes.
    pub(crate) fn store(&self) -> &dyn Store {
        &self.store
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it: its conversion has come to its end, and the volume's secret was right.
    ///
    /// # Errors
    /// Somebody has put another file there, or the system refuses.
    pub(crate) fn remove(self) -> Result<(), Error> {
        if let Some(removal) = self.removal.get() {
            return removal.carry_out().map_err(|e| match e {
                AttachError::Io { source, .. } if !has_ended(&source) => {
                    Error::system("remove", &self.path, source)
                }
                other => other.into(),
            });
        }
        let there = rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let removed = rustix::fs::fstat(&self.node).and_then(|node| match there {
            Ok(there) if same(&there, &node) => {
                rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty())
            }
            Ok(_) => Err(Errno::NOENT),
            Err(e) => Err(e),
        });
        removed.map_err(|e| Error::system("remove", &self.path, e.into()))
    }

    /// Whether this process has made it.
    pub(crate) fn is_new(&self) -> bool {
        self.new
    }

    /// As what it is removed by another process.
    pub(crate) fn own_file(&self) -> Result<OwnFile, Error> {
        OwnFile::of(&self.path, self.node.as_fd()).map_err(|e| Error::system("look at", &self.path, e))
    }

    /// That one removes it when it is needed no more.
    pub(crate) fn be_removed_by(&self, removal: Removal) {
        let _ = self.removal.set(removal);
    }

    /// Whether any of its records is that conversion's.
    fn is_of(&self, place: &SlotTable, id: &[u8; 16]) -> Result<bool, Error> {
        let mut failed = None;
        for slot in &place.slots {
            let mut head = [0; 32];
            match self.store.read_at(&mut head, slot.record) {
                Ok(()) if head.starts_with(RECORD) && head.ends_with(id) => return Ok(true),
                Ok(()) => {}
                Err(e) => failed = Some(e),
            }
        }
        failed.map_or(Ok(false), |e| Err(e.into()))
    }
}

impl Node {
    fn find(volume: &Path, named: Option<&Path>, made_as: &Path) -> Result<Self, Error> {
        let places = match named {
            Some(path) => vec![absolute(path)?],
            None if volume.is_file() => {
                // A link to a volume has it beside the link or beside the volume.
                let real = volume.canonicalize().map_err(|e| Error::system("find", volume, e))?;
                let mut places = vec![beside(&absolute(volume)?), beside(&real)];
                places.dedup();
                places
            }
            None => {
                let (volume, made_as) = (volume.to_owned(), made_as.to_owned());
                return Err(ConversionError::JournalElsewhere { volume, made_as }.into());
            }
        };
        for path in &places {
            if let Some(node) = Self::at(path)? {
                return Ok(node);
            }
        }
        let journal = places.into_iter().next().unwrap_or_else(|| volume.to_owned());
        Err(ConversionError::JournalMissing { journal, made_as: made_as.to_owned() }.into())
    }

    /// What is at that path, not opened yet; `None` where nothing is.
    fn at(path: &Path) -> Result<Option<Self>, Error> {
        let failed = |e: Errno| Error::system("open", path, e.into());
        let (folder, name) = match folder_of(path) {
            Ok(found) => found,
            Err(Error::System { source, .. }) if explain_io(&source).kind == Kind::NotFound => {
                return Ok(None);
            }
            Err(e) => return Err(e),
        };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let node = match rustix::fs::openat(&folder, &name, flags, Mode::empty()) {
            Ok(node) => node,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(failed(e)),
        };
        let stat = rustix::fs::fstat(&node).map_err(failed)?;
        // A link, or what keeps or changes whoever opens it: a pipe, a device.
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ConversionError::NoJournalFile(path.to_owned()).into());
        }
        Ok(Some(Self { path: path.to_owned(), folder, name, node }))
    }

    fn open(self, mode: OpenMode) -> Result<JournalFile, Error> {
        let Self { path, folder, name, node } = self;
        // The file that was looked at, whatever is at its path by now.
        let same = PathBuf::from(format!("/proc/self/fd/{}", node.as_raw_fd()));
        let store = FileStore::open_as(&same, &path, mode, Caching::Direct)?;
        Ok(JournalFile { path, folder, name, node, store, new: false, removal: OnceLock::new() })
    }
}

/// The folder that a path is in, opened, and the name in it.
fn folder_of(path: &Path) -> Result<(OwnedFd, OsString), Error> {
    let failed = |e: std::io::Error| Error::system("open", path, e);
    let path = absolute(path)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed(std::io::ErrorKind::InvalidInput.into()));
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
    Ok((folder, name.to_owned()))
}

/// Whether what is there is gone when the power is: statfs(2), `TMPFS_MAGIC` and `RAMFS_MAGIC`.
fn is_in_memory(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|of| matches!(of.f_type as u32, 0x0102_1994 | 0x8584_58f6))
}

/// The path, whatever folder is the current one.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|e| Error::system("find", path, e))
}

/// Whether it is the process that was asked which failed, and not what it did.
fn has_ended(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}
