//! A new BitLocker volume, with the files that its keys are written to.

use super::place::NewPlace;
use super::protectors::{ProtectorOptions, protector_id};
use crate::error::{Error, Misuse, about};
use crate::progress::{Progress, by_steps};
use keyway_cipher::Chain;
use keyway_fs::mkfs::FileSystem;
use keyway_store::Store;
use keyway_volume::bitlocker::{
    self, FileTime, Fill, Guid, Method, NewProtectors, NewVolume, Note, Protection,
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
    /// What shall open it, and where that is written to.
    pub protectors: ProtectorOptions,
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
            protectors: ProtectorOptions::default(),
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
        let mut files = self.protectors.claim_files(protectors)?;
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
        let created = bitlocker::create(&store, &new, &by_steps(progress)).map_err(about(path))?;
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

/// The cipher of that name of a volume that is no BitLocker one.
///
/// # Errors
/// There is none of that name, or it is a method of BitLocker's.
pub(crate) fn veracrypt_cipher(name: &str) -> Result<Chain, Error> {
    name.parse().map_err(|error| match method(Some(name)) {
        Ok(_) => Misuse::CipherOfBitLocker(name.to_owned()).into(),
        Err(_) => Error::Cipher(error),
    })
}

/// The method of that name, in whatever case; the usual one where none is named.
///
/// # Errors
/// There is none of that name.
pub fn method(name: Option<&str>) -> Result<Method, Error> {
    let Some(name) = name else { return Ok(BitLockerOptions::default().method) };
    let known = Method::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(name));
    known.ok_or_else(|| Misuse::NoSuchMethod(name.to_owned()).into())
}
