//! The file or device that is to be converted, as it is before anybody is asked for a secret: opened and looked at once.

use super::claim::{hold, refuse_begun, refuse_if_used};
use super::plan::Contents;
use super::request::{ConversionRequest, Goal};
use crate::disk;
use crate::error::{Error, about};
use crate::medium;
use crate::session;
use crate::under_way::ConversionRefusal;
use crate::unlock::VolumeFormat;
use keyway_convert::veracrypt;
use keyway_engine::{Access, Device};
use keyway_fs::{Container, FoundFileSystem};
use keyway_store::{FileStore, Held, Store};
use keyway_volume::bitlocker::{self, Method, Secret, UnlockRequest};
use std::path::Path;
use std::sync::Arc;

/// What is to be converted. Nobody else begins with it as long as it is held; what goes on is kept by its own claim.
pub(super) struct Examined<'a> {
    pub(super) path: &'a Path,
    pub(super) held: Option<Held>,
    pub(super) store: Arc<FileStore>,
    /// Scattered writes are slow there, so that a journal does better that keeps everything whole.
    pub(super) is_slow_to_scatter: bool,
}

impl<'a> Examined<'a> {
    /// Looks whether it is there, may be written, and is nobody's; what goes on is looked for by whoever claims it.
    pub(super) fn of(request: &'a ConversionRequest) -> Result<Self, Error> {
        let path = &*request.path;
        medium::must_exist(path)?;
        if request.arguments.partition != Some(disk::WHOLE) {
            disk::refuse(path)?;
        }
        session::must_be_writable(path)?;
        let begins = !matches!(request.goal, Goal::Resume);
        if begins {
            refuse_begun(path, &medium::look(path)?)?;
            refuse_if_used(path)?;
        }
        let held = if begins { hold(path)? } else { None };
        // As it is now that nobody else changes it.
        let store = medium::look(path)?;
        if begins {
            refuse_begun(path, &store)?;
        }
        Ok(Self { path, held, store: Arc::new(store), is_slow_to_scatter: medium::is_slow_to_scatter(path) })
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.store.size()
    }

    /// The file system that is to be encrypted.
    pub(super) fn file_system(&self) -> Result<FoundFileSystem, Error> {
        if bitlocker::is_volume(&*self.store)? {
            return Err(ConversionRefusal::BitLockerAlready(self.path.to_owned()).into());
        }
        if let Some(found) = FoundFileSystem::find(&*self.store)? {
            return Ok(found);
        }
        // Nobody who has something else there is sent to make a new volume over it.
        let path = self.path.to_owned();
        Err(match Container::on(&*self.store)? {
            Some(container) => Error::Container { path, container },
            None => ConversionRefusal::NoFileSystem(path).into(),
        })
    }

    /// What a BitLocker volume says of itself without a secret: what it is, and how many bytes of it are encrypted. One
    /// whose first sector is lost is found when it is opened.
    pub(super) fn bitlocker(&self) -> (Contents, Option<u64>) {
        match bitlocker::look(&*self.store).map(|seen| seen.info) {
            Ok(info) => {
                let contents = Contents::encrypted_by(VolumeFormat::BitLocker, info.cipher.name());
                (contents, Some(info.encrypted_bytes))
            }
            Err(_) => (Contents::volume(VolumeFormat::BitLocker), None),
        }
    }

    /// How a BitLocker volume's data is encrypted, as it says without a secret.
    pub(super) fn method(&self) -> Option<Method> {
        bitlocker::look(&*self.store).ok().map(|seen| seen.info.cipher)
    }

    /// The file system in the BitLocker volume that these open.
    pub(super) fn file_system_within(&self, key: &[Secret]) -> Result<Option<FoundFileSystem>, Error> {
        file_system_within(self.store.clone(), key).map_err(about(self.path))
    }

    /// Refuses a VeraCrypt volume that is too small for what a conversion needs within it: nobody is asked for its secret first.
    pub(super) fn must_be_convertible(&self) -> Result<(), Error> {
        let (size, least) = (self.size(), veracrypt::SMALLEST_CONVERTED);
        let path = self.path.to_owned();
        match size < least {
            true => Err(ConversionRefusal::TooSmallToConvert { path, size, least }.into()),
            false => Ok(()),
        }
    }

    /// Refuses what is too small for a BitLocker volume.
    pub(super) fn must_hold_bitlocker(&self) -> Result<(), Error> {
        let (size, least) = (self.size(), bitlocker::SMALLEST_VOLUME);
        match size < least {
            true => Err(about(self.path)(bitlocker::CreateError::TooSmall { size, least })),
            false => Ok(()),
        }
    }
}

/// The file system in the BitLocker volume on a medium.
pub(super) fn file_system_within(
    store: impl Store + 'static,
    key: &[Secret],
) -> Result<Option<FoundFileSystem>, Error> {
    let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(key))?;
    let device = Device::new(Box::new(store), unlocked.layout, Access::ReadOnly)?;
    Ok(FoundFileSystem::find(&device)?)
}
