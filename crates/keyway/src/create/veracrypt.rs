//! A new VeraCrypt volume, or a hidden one inside another.

use super::place::NewPlace;
use crate::error::{Error, about};
use crate::progress::{Progress, Stage, by_steps};
use keyway_cipher::{Algorithm, Chain};
use keyway_engine::{Access, Device};
use keyway_fs::mkfs::{self, FileSystem};
use keyway_volume::veracrypt::{self, CreateError, Created, Fill, NewVolume, Note, Target};
use keyway_volume::{HashName, Secrets as VeraCryptSecret};
use std::path::Path;

/// What a new VeraCrypt volume is like.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct VeraCryptOptions {
    /// One of VeraCrypt's 15 ciphers and cascades.
    pub cipher: Chain,
    /// The key derivation's hash.
    pub hash: HashName,
    /// It isn't filled with random bytes first: faster, but it shows how much is used.
    pub quick: bool,
    /// The file system to make inside.
    pub filesystem: Option<FileSystem>,
    /// The file system's name.
    pub label: Option<String>,
    /// A hidden volume is made also where files of the outer one lie, or may lie.
    pub over_files: bool,
    /// The key derivation's hash of the outer volume, which is looked for where it is left out.
    pub outer_hash: Option<HashName>,
}

impl Default for VeraCryptOptions {
    /// As VeraCrypt's own: AES, SHA-512, filled with random bytes; no file system yet.
    fn default() -> Self {
        let cipher = Chain::single(Algorithm::Aes256);
        Self {
            cipher,
            hash: HashName::Sha512,
            quick: false,
            filesystem: None,
            label: None,
            over_files: false,
            outer_hash: None,
        }
    }
}

/// A VeraCrypt volume that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VeraCryptCreated {
    /// Where the data area begins in the file or on the device, in bytes.
    pub data_offset: u64,
    /// Its size in bytes.
    pub data_bytes: u64,
    /// Its sector size in bytes.
    pub sector_bytes: u32,
    /// It is a hidden volume.
    pub hidden: bool,
    /// What its owner should know.
    pub notes: Vec<Note>,
}

impl VeraCryptOptions {
    /// Makes a volume that this secret will open.
    ///
    /// # Errors
    /// The wishes can't be granted, there is no room, the medium failed, or whoever watches stopped it: what was half made
    /// is removed.
    pub fn create(
        &self,
        place: &NewPlace,
        secret: &VeraCryptSecret,
        progress: &dyn Progress,
    ) -> Result<VeraCryptCreated, Error> {
        let target = place.take(self.quick)?;
        let created = veracrypt::create(target.store(), &self.new_volume(secret), &by_steps(progress));
        self.finish(&place.path, target, created.map_err(about(&place.path))?, progress)
    }

    /// Makes a hidden volume of `bytes` bytes inside the volume at this path. `outer` opens that one, to check that it can
    /// hold a hidden one and that none of its files lie there; without it nothing is checked.
    ///
    /// # Errors
    /// As [`VeraCryptOptions::create`]; or it does not fit.
    pub fn create_hidden(
        &self,
        path: &Path,
        bytes: u64,
        outer: Option<&VeraCryptSecret>,
        secret: &VeraCryptSecret,
        progress: &dyn Progress,
    ) -> Result<VeraCryptCreated, Error> {
        let target = Target::existing(path).map_err(about(path))?;
        let new = self.new_volume(secret);
        let outer = outer.map(|outer| (outer, self.outer_hash));
        let created = veracrypt::create_hidden_in(
            target.store(),
            bytes,
            &new,
            outer,
            self.over_files,
            &by_steps(progress),
        );
        let created = created.map_err(|e| about(path)(e).of_outer())?;
        self.finish(path, target, created, progress)
    }

    fn new_volume<'a>(&self, secrets: &'a VeraCryptSecret) -> NewVolume<'a> {
        let fill = if self.quick { Fill::Quick } else { Fill::Random };
        NewVolume { secrets, cipher: self.cipher, hash: self.hash, fill }
    }

    /// Puts the file system inside and keeps the volume.
    fn finish(
        &self,
        path: &Path,
        target: Target,
        created: Created,
        progress: &dyn Progress,
    ) -> Result<VeraCryptCreated, Error> {
        let Created { layout, data_offset, data_bytes, sector_bytes, hidden, notes, .. } = created;
        if let Some(fs) = self.filesystem {
            let store = target.reopen().map_err(about(path))?;
            let device = Device::new(Box::new(store), layout, Access::ReadWrite)?;
            progress.stage(Stage::MakingFileSystem);
            let far = |done, total| progress.at(done, total);
            let made = mkfs::format_into(&device, fs, self.label.as_deref(), &far);
            made.map_err(|e| Error::from(CreateError::FileSystem(e)).at(path))?;
        }
        target.keep().map_err(about(path))?;
        Ok(VeraCryptCreated { data_offset, data_bytes, sector_bytes, hidden, notes })
    }
}
