//! A volume that isn't open yet: where it is, what it is looked for as, what was named to open it.

use crate::detect;
use crate::error::Error;
use crate::medium;
use crate::searching::SearchProgress;
use crate::secrets::{Secrets, Sources};
use crate::system_drive::SystemDrive;
use crate::unlock::{Family, Key, UnlockArguments};
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
    /// Who is asked for what was not.
    pub secrets: &'a dyn Secrets,
    /// Who is told how far a search for lost metadata is.
    pub progress: &'a dyn SearchProgress,
}

impl<'a> LockedVolume<'a> {
    /// Everything is found out, or asked for.
    pub fn new(path: impl Into<PathBuf>, secrets: &'a dyn Secrets) -> Self {
        let (arguments, sources) = (UnlockArguments::new(), Sources::new());
        Self { path: path.into(), arguments, sources, secrets, progress: &() }
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
