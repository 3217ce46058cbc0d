//! Which file system lies on a medium, how large it is, and its UUID: the one place that says so.
//!
//! - [`Superblock::read`] looks at a [`Store`], which an open volume is as well, [`Superblock::on`] at a file or block
//!   device.
//! - [`VolumeInfo`] is what it says of itself beyond that: its label, and whether it was left in order.
//! - [`FoundFileSystem`] is one whose size is known, for what makes it smaller or larger.

mod kind;
mod parse;
mod volume_info;

pub use kind::FileSystemKind;
pub use volume_info::VolumeInfo;

use keyway_store::{AlignedBuf, Store, StoreError};
use parse::Parsed;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// How much is read at a time, as direct I/O wants it.
const PAGE: u64 = 4096;

/// What reads the superblock in a page.
type Parse = fn(&[u8]) -> Option<Parsed>;

/// A file system's superblock, recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Superblock {
    /// Which file system.
    pub kind: FileSystemKind,
    /// How far it reaches, in bytes from the beginning. `None` where it does not say so simply, or says what can't be
    /// true: nothing, or more than the medium has.
    pub bytes: Option<u64>,
    /// How far it says that it reaches: also where the medium ends before that.
    pub claims: Option<u64>,
    /// The UUID or serial number, as `blkid` writes it.
    pub uuid: Option<String>,
    type_name: &'static str,
}

/// A file system on a medium that has room for all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundFileSystem {
    /// Which.
    pub kind: FileSystemKind,
    /// How far it reaches, in bytes from the beginning.
    pub bytes: u64,
}

impl Superblock {
    /// Looks for a file system on a store.
    ///
    /// # Errors
    /// The medium failed.
    pub fn read(store: &dyn Store) -> Result<Option<Self>, StoreError> {
        Self::look(store.size(), |page, at| store.read_at(page, at))
    }

    /// Looks for a file system on a file or block device.
    ///
    /// # Errors
    /// It can't be read.
    pub fn on(mut file: &File) -> io::Result<Option<Self>> {
        // A block device has no length but its end.
        let size = file.seek(SeekFrom::End(0))?;
        Self::look(size, |page, at| {
            let mut file = file;
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(page)
        })
    }

    /// The type as `blkid` calls it: `ext2`, `ext3`, `ext4`, `vfat`, `exfat`, `ntfs`, `xfs`, `btrfs` and so on.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// The file system, where its size is known.
    pub fn file_system(&self) -> Option<FoundFileSystem> {
        self.bytes.map(|bytes| FoundFileSystem { kind: self.kind, bytes })
    }

    /// What is further behind is only read where the first page says nothing.
    fn look<E>(size: u64, read: impl Fn(&mut [u8], u64) -> Result<(), E>) -> Result<Option<Self>, E> {
        let places: [(u64, Parse); 3] =
            [(0, parse::first_page), (32 << 10, parse::at_32_kib), (64 << 10, parse::at_64_kib)];
        for (at, parse) in places {
            let len = size.saturating_sub(at).min(PAGE);
            if len == 0 {
                break;
            }
            let mut page = AlignedBuf::zeroed(len as usize);
            read(&mut page, at)?;
            if let Some(parsed) = parse(&page) {
                return Ok(Some(Self::held_against(size, parsed)));
            }
        }
        Ok(None)
    }

    fn held_against(medium: u64, parsed: Parsed) -> Self {
        let Parsed { kind, type_name, bytes, uuid } = parsed;
        let claims = bytes;
        Self { kind, type_name, uuid, bytes: bytes.filter(|bytes| (1..=medium).contains(bytes)), claims }
    }
}

impl FoundFileSystem {
    /// Finds the file system on a medium; `None` where there is none whose size is known.
    ///
    /// # Errors
    /// The medium failed.
    pub fn find(store: &dyn Store) -> Result<Option<Self>, StoreError> {
        Ok(Superblock::read(store)?.and_then(|found| found.file_system()))
    }
}

#[cfg(test)]
mod tests;
