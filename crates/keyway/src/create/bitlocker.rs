//! A new BitLocker volume, with the files that its keys are written to.

use super::{NewPlace, Progress};
use crate::error::{Error, about};
use crate::key_file::NewFile;
use keyway_fs::mkfs::FileSystem;
use keyway_store::Store;
use keyway_volume::bitlocker::{
    self, Block, FileTime, Fill, Guid, Method, NewProtectors, NewVolume, Note, Protection,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a new BitLocker volume is like.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BitLockerOptions {
    /// How the data is encrypted.
    pub method: Method,
    /// Only used space is encrypted: faster, but old data on the medium stays readable.
    pub quick: bool,
    /// The file system to make inside: NTFS, exFAT or FAT.
    pub filesystem: Option<FileSystem>,
    /// The file system's name.
    pub label: Option<String>,
    /// Programs that know no BitLocker see a small file system with a note in it.
    pub to_go: bool,
    /// The recovery password goes to this new file.
    pub recovery_file: Option<PathBuf>,
    /// The startup key's file goes into this folder.
    pub startup_key_folder: Option<PathBuf>,
}

impl Default for BitLockerOptions {
    /// As Windows' own since version 1511: AES-XTS with 128 bits; no file system yet.
    fn default() -> Self {
        Self {
            method: Method::Xts128,
            quick: false,
            filesystem: None,
            label: None,
            to_go: false,
            recovery_file: None,
            startup_key_folder: None,
        }
    }
}

/// A BitLocker volume that was made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BitLockerCreated {
    /// The volume's identifier.
    pub id: Guid,
    /// The recovery password's identifier, if there is one.
    pub recovery_id: Option<Guid>,
    /// Its size in bytes.
    pub data_bytes: u64,
    /// Bytes from the start on that a file system may use.
    pub usable_bytes: u64,
    /// Its sector size in bytes.
    pub sector_bytes: u32,
    /// The startup key's file, if there is one.
    pub startup_key: Option<PathBuf>,
    /// What its owner should know.
    pub notes: Vec<Note>,
}

impl BitLockerOptions {
    /// Makes a volume that these protectors will open.
    ///
    /// # Errors
    /// The wishes can't be granted, a key's file can't be written, there is no room, the medium failed, or whoever watches
    /// stopped it: what was half made is removed.
    pub fn create(
        &self,
        place: &NewPlace,
        protectors: &NewProtectors,
        progress: &dyn Progress,
    ) -> Result<BitLockerCreated, Error> {
        let path = &*place.path;
        // Before the volume: nobody shall have one whose keys could not be kept.
        let mut files =
            KeyFiles::claim(self.recovery_file.as_deref(), self.startup_key_folder.as_deref(), protectors)?;
        let target = place.take(self.quick)?;
        let new = NewVolume {
            protectors,
            method: self.method,
            fill: if self.quick { Fill::UsedSpaceOnly } else { Fill::Full },
            filesystem: self.filesystem.map(|fs| (fs, self.label.as_deref())),
            to_go: self.to_go,
            description: &description(path, self.label.as_deref()),
        };
        let store: Arc<dyn Store> = Arc::new(target.reopen().map_err(about(path))?);
        let created = bitlocker::create(&store, &new, progress).map_err(about(path))?;
        drop(store);
        files.write(protectors, &created.block)?;
        target.keep().map_err(about(path))?;
        Ok(BitLockerCreated {
            id: created.block.dataset.volume,
            recovery_id: protector_id(&created.block, Protection::RecoveryPassword),
            data_bytes: created.layout.size(),
            usable_bytes: created.usable_bytes,
            sector_bytes: created.layout.sector_bytes(),
            startup_key: files.keep(),
            notes: created.notes,
        })
    }
}

/// Computer, drive and date, as Windows' own description: it is shown beside the request for the
/// recovery password.
pub fn description(path: &Path, label: Option<&str>) -> String {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy().into_owned();
    let own =
        || path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
    let drive = label.map_or_else(own, str::to_owned);
    let now = FileTime::now().to_string();
    let date = now.split('T').next().unwrap_or_default();
    format!("{host} {drive} {date}")
}

/// The identifier of a new volume's protector of this kind.
pub fn protector_id(block: &Block, protection: Protection) -> Option<Guid> {
    block.dataset.entries.protectors().find(|p| p.protection == protection).map(|p| p.id)
}

/// The files that keys are written to; removed again when no volume comes of it.
#[derive(Default)]
pub struct KeyFiles {
    recovery: Option<NewFile>,
    startup_key: Option<NewFile>,
}

impl KeyFiles {
    /// Makes them, empty.
    ///
    /// # Errors
    /// One exists, or can't be made.
    pub fn claim(
        recovery_file: Option<&Path>,
        startup_key_folder: Option<&Path>,
        protectors: &NewProtectors,
    ) -> Result<Self, Error> {
        let mut files = Self::default();
        if let Some(path) = recovery_file {
            files.recovery = Some(NewFile::claim(path.to_owned())?);
        }
        if let (Some(folder), Some(key)) = (startup_key_folder, &protectors.startup_key) {
            files.startup_key = Some(NewFile::claim_startup_key(folder, key)?);
        }
        Ok(files)
    }

    /// Writes the keys, and puts them on the medium.
    ///
    /// # Errors
    /// One can't be written.
    pub fn write(&mut self, protectors: &NewProtectors, block: &Block) -> Result<(), Error> {
        let id = protector_id(block, Protection::RecoveryPassword);
        if let (Some(file), Some(recovery), Some(id)) = (&mut self.recovery, &protectors.recovery, id) {
            file.write_recovery(id, recovery)?;
        }
        if let (Some(file), Some(key)) = (&mut self.startup_key, &protectors.startup_key) {
            file.write_startup_key(key)?;
        }
        Ok(())
    }

    /// They stay; where the startup key is.
    pub fn keep(self) -> Option<PathBuf> {
        self.recovery.map(NewFile::keep);
        self.startup_key.map(NewFile::keep)
    }
}
