//! ext2, ext3 and ext4, read only. A journal that was not played back is played back in memory.

use super::entry::{Contents, Entry, EntryKind, Location, Reader, Sink};
use super::error::FilesError;
use super::ext_inodes::{Inodes, modified};
use super::window::Window;
use ext4_view::{Ext4, Ext4Error, FileType};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;

/// Bytes handed on at a time; the library gives a block at a time.
const PIECE: usize = 1 << 20;

/// An ext file system.
pub(crate) struct Ext(Ext4);

impl Ext {
    pub(crate) fn open(window: Window) -> Result<Self, FilesError> {
        let inodes = Inodes::new(window).map_err(FilesError::from_io)?;
        Ok(Self(Ext4::load(Box::new(inodes)).map_err(told)?))
    }
}

fn told(error: Ext4Error) -> FilesError {
    match error {
        Ext4Error::Io(source) => FilesError::from_io(io::Error::other(source)),
        Ext4Error::Incompatible(what) => FilesError::Unsupported(match what.to_string() {
            // The journal is only looked at where it is to be played back.
            text if text.contains("journal features") => {
                "its ext file system is mounted, or was not unmounted in good order, and its journal is of a kind that is not read here".to_owned()
            }
            text => text,
        }),
        Ext4Error::Encrypted => {
            FilesError::Unsupported("it is encrypted once more by ext4 itself".to_owned())
        }
        other => match other.to_string() {
            // Where ext2 and ext3 keep a table of blocks, none may stand for a hole; the library wants one.
            text if text.contains("from block 0 ") => {
                FilesError::Unsupported("a file has holes of a kind that is not read here".to_owned())
            }
            // Only the journal's inodes come here with the dates that they have.
            text if text.contains("has invalid timestamp") => FilesError::Unsupported(
                "it is dated before 1970 or after 2037, and the file system's journal was not played back".to_owned(),
            ),
            text => FilesError::Damaged(text),
        },
    }
}

fn path(place: &Location) -> Result<&[u8], FilesError> {
    match place {
        Location::Path(path) => Ok(path),
        _ => Err(FilesError::Damaged("an entry without a path".to_owned())),
    }
}

impl Reader for Ext {
    fn root(&self) -> Location {
        Location::Path(b"/".to_vec())
    }

    fn entries(&mut self, folder: &Location) -> Result<Contents, FilesError> {
        let mut contents = Contents::default();
        for entry in self.0.read_dir(path(folder)?).map_err(told)? {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) => {
                    contents.problem(None, told(e));
                    break;
                }
            };
            let name = entry.file_name();
            if matches!(name.as_ref(), b"." | b"..") {
                continue;
            }
            let name = OsString::from_vec(name.as_ref().to_vec());
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(e) => {
                    contents.problem(Some(name), told(e));
                    continue;
                }
            };
            let kind = match metadata.file_type() {
                FileType::Regular => EntryKind::File,
                FileType::Directory => EntryKind::Folder,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Other,
            };
            contents.entries.push(Entry {
                name,
                kind,
                size: if kind == EntryKind::File { metadata.len() } else { 0 },
                modified: Some(modified(&metadata)),
                place: Location::Path(entry.path().as_path().as_ref().to_vec()),
            });
        }
        Ok(contents)
    }

    fn read(&mut self, file: &Entry, sink: Sink<'_>) -> Result<(), FilesError> {
        let mut from = self.0.open(path(&file.place)?).map_err(told)?;
        let mut piece = vec![0; PIECE];
        loop {
            let mut filled = 0;
            while let Some(room) = piece.get_mut(filled..).filter(|room| !room.is_empty()) {
                match from.read_bytes(room).map_err(told)? {
                    0 => break,
                    n => filled += n,
                }
            }
            if filled == 0 {
                return Ok(());
            }
            sink(piece.get(..filled).unwrap_or_default()).map_err(FilesError::from_io)?;
        }
    }

    fn ignores_case(&self) -> bool {
        false
    }
}
