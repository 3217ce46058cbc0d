//! A volume that isn't open yet: where it is, what it is looked for as, what was named to open it.

use crate::detect;
use crate::error::{Error, Misuse};
use crate::medium;
use crate::searching::SearchProgress;
use crate::secrets::{PasswordSource, Secrets, Sources, Subject, Wanted, one_standard_input};
use crate::system_drive::SystemDrive;
use crate::unlock::{Family, Key, UnlockArguments};
use crate::volume::{OpenOptions, Volume};
use keyway_engine::Access;
use keyway_store::{Caching, FileStore};
use keyway_volume::Secrets as VeraCryptSecret;
use keyway_volume::bitlocker::Secret;
use std::path::PathBuf;

/// A volume that isn't open yet.
#[derive(Clone)]
#[non_exhaustive]
pub struct LockedVolume<'a> {
    /// Its file or device.
    pub path: PathBuf,
    /// What it is looked for as.
    pub arguments: UnlockArguments,
    /// What was named to open it.
    pub sources: Sources,
    /// What was named to open the hidden volume in it, where that is to be protected.
    pub protect: Option<PasswordSource>,
    /// Who is asked for what was not.
    pub secrets: &'a dyn Secrets,
    /// Who is told how far a search for lost metadata is.
    pub progress: &'a dyn SearchProgress,
}

impl<'a> LockedVolume<'a> {
    /// Everything is found out, or asked for.
    pub fn new(path: impl Into<PathBuf>, secrets: &'a dyn Secrets) -> Self {
        let (arguments, sources) = (UnlockArguments::new(), Sources::new());
        Self { path: path.into(), arguments, sources, protect: None, secrets, progress: &() }
    }

    /// Which formats' code is to look at it.
    ///
    /// # Errors
    /// It isn't there, can't be read, or is half converted.
    pub fn family(&self) -> Result<Family, Error> {
        medium::must_exist(&self.path)?;
        detect::family(&self.path, &self.arguments)
    }

    /// What opens it.
    ///
    /// # Errors
    /// As [`Sources::key`].
    pub fn key(&self) -> Result<Key, Error> {
        self.sources.key(&self.path, &self.arguments, self.secrets, self.progress)
    }

    /// The same, and what opens the hidden volume that is to be protected.
    ///
    /// # Errors
    /// As [`Sources::key`]; or there can be no hidden volume.
    pub fn keys(&self) -> Result<(Key, Option<VeraCryptSecret>), Error> {
        let Some(protect) = &self.protect else { return Ok((self.key()?, None)) };
        one_standard_input([&self.sources.password, protect])?;
        if self.family()? == Family::BitLocker {
            return Err(Misuse::NothingHidden.into());
        }
        let key = self.key()?;
        let hidden = protect.read(Wanted::Password, &Subject::Hidden(self.path.clone()), self.secrets)?;
        Ok((key, Some(hidden)))
    }

    /// Opens it in this process.
    ///
    /// # Errors
    /// Nothing that was named or answered opens it, or it is damaged.
    pub fn open(&self, access: Access, caching: Caching) -> Result<Volume, Error> {
        let (key, protect) = self.keys()?;
        let options = OpenOptions::new().arguments(self.arguments.clone()).access(access).caching(caching);
        options.protect_hidden(protect.as_ref()).progress(self.progress).open_with(&self.path, &key)
    }

    pub(crate) fn veracrypt_key(&self) -> Result<VeraCryptSecret, Error> {
        self.sources.veracrypt_key(&self.path, self.secrets)
    }

    pub(crate) fn bitlocker_key(&self) -> Result<Vec<Secret>, Error> {
        self.sources.bitlocker_key(&self.path, &self.arguments, self.secrets, self.progress)
    }

    pub(crate) fn system_drive(&self) -> Result<Option<SystemDrive>, Error> {
        self.arguments.system_drive(&self.path)
    }

    /// Its medium, to look at.
    pub(crate) fn to_look(&self) -> Result<FileStore, Error> {
        medium::look(&self.path)
    }

    /// Its medium, to change what opens it: nothing may lie in a cache afterwards.
    pub(crate) fn to_change(&self) -> Result<FileStore, Error> {
        medium::open(&self.path, Access::ReadWrite, Caching::Direct)
    }

    /// Puts the volume to an error of a crate below.
    pub(crate) fn said<E: Into<Error>>(&self, error: E) -> Error {
        error.into().at(&self.path)
    }
}
