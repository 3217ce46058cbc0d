//! From what is wanted to what will be done: all that can be refused before anybody is asked for a secret.

use super::bitlocker::{BitLockerOptions, method, veracrypt_cipher};
use super::place::{NewPlace, Overcommitted};
use super::plan::{CreateLoss, CreatePlan, PlannedDetails};
use super::request::CreateRequest;
use super::there::there;
use super::veracrypt::VeraCryptOptions;
use crate::detect;
use crate::disk;
use crate::error::{Error, Misuse, about};
use crate::medium;
use crate::secrets::one_standard_input;
use crate::session::refuse_if_open;
use crate::unlock::{Family, UnlockArguments};
use keyway_engine::Access;
use keyway_fs::FileSystemKind;
use keyway_fs::allocation::AllocationError;
use keyway_fs::mkfs::{FileSystem, MkfsError};
use keyway_store::Store;
use keyway_volume::HashName;
use keyway_volume::bitlocker;
use keyway_volume::veracrypt::{self, BACKUP_GROUP_BYTES, CreateError, HEADERS_BYTES};

/// Bytes of the smallest sector there is.
const SECTOR: u32 = 512;

impl CreateRequest {
    /// Looks at the place, and refuses everything that can be refused before anyone types a password.
    ///
    /// # Errors
    /// The wishes don't go together or can't be granted, a program is missing, or somebody uses the place.
    pub fn plan(self) -> Result<CreatePlan, Error> {
        // As with every verb that looks for a volume there.
        medium::must_not_be_unsuitable(&self.path)?;
        if self.path.exists() {
            detect::must_not_be_half_converted(&self.path, &medium::look(&self.path)?)?;
        }
        if let Some(fs) = self.filesystem {
            let found = fs.find_program().map(drop).ok_or(MkfsError::Missing(fs));
            let label = found.and_then(|()| fs.check_label(self.label.as_deref().unwrap_or_default()));
            label.map_err(|e| about(&self.path)(CreateError::FileSystem(e)))?;
        }
        one_standard_input([&self.secret, &self.hidden_secret])?;
        let (cipher, hash, details) = match self.format {
            Family::VeraCrypt => self.veracrypt()?,
            Family::BitLocker => self.bitlocker()?,
        };
        let inside = self.hidden_bytes.is_some() && self.bytes.is_none() && self.path.exists();
        if inside {
            self.must_be_an_outer_volume()?;
        }
        let place = match inside {
            true => None,
            false => Some(NewPlace::find(&self.path, self.bytes, self.replace)?),
        };
        let unread = self.filesystem.filter(|_| self.hidden_bytes.is_some() && !inside).and_then(unread_map);
        if let Some(kind) = unread {
            let why = AllocationError::Unknown;
            return Err(about(&self.path)(CreateError::OuterUnknown { kind, why }));
        }
        let data_bytes = self.check_size(place.as_ref())?;
        let loses = match &place {
            None => Some(CreateLoss::OuterEnd),
            Some(place) if place.is_device() => Some(CreateLoss::Device),
            Some(place) => place.path.exists().then_some(CreateLoss::File),
        };
        if matches!(loses, Some(CreateLoss::File | CreateLoss::OuterEnd)) {
            refuse_if_open(&self.path, Access::ReadWrite)?;
        }
        let sparse = place.as_ref().and_then(|place| place.bytes).filter(|_| self.quick);
        let overcommitted = sparse.and_then(|bytes| Overcommitted::find(&self.path, bytes, bytes));
        Ok(CreatePlan {
            path: self.path.clone(),
            format: self.format,
            size_bytes: place.as_ref().and_then(|place| place.bytes),
            data_bytes,
            cipher,
            hash,
            filled: !self.quick,
            filesystem: self.filesystem.map(FileSystem::name),
            label: self.label.clone(),
            there: loses.filter(|loss| *loss != CreateLoss::OuterEnd).and_then(|_| there(&self.path)),
            loses,
            details,
            warnings: overcommitted.iter().map(ToString::to_string).collect(),
            request: self,
            place,
        })
    }

    /// Refuses what is known to be something else, whether or not there is a secret that would show it.
    fn must_be_an_outer_volume(&self) -> Result<(), Error> {
        let any = UnlockArguments::new();
        disk::refuse(&self.path)?;
        match detect::family(&self.path, &any)? {
            Family::BitLocker => Err(Misuse::NoHidden.into()),
            Family::VeraCrypt => detect::must_be_noise(&self.path, &any),
        }
    }

    /// What can be said of the sizes of a file, and how much room that leaves: a device is measured when it is claimed.
    fn check_size(&self, place: Option<&NewPlace>) -> Result<Option<u64>, Error> {
        let size = match place {
            Some(place) => place.bytes,
            None => self.path.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len()),
        };
        let Some(size) = size.or_else(|| self.device_bytes()) else { return Ok(None) };
        // A device has its room; what is not filled needs that of its headers or metadata.
        if place.is_some_and(|place| place.bytes.is_some()) {
            let written = if self.quick { HEADERS_BYTES + BACKUP_GROUP_BYTES } else { size };
            veracrypt::must_have_room(&self.path, written).map_err(about(&self.path))?;
        }
        let room = match (self.format, self.hidden_bytes) {
            (Family::VeraCrypt, hidden) => {
                let around = if hidden.is_some() { 0 } else { HEADERS_BYTES + BACKUP_GROUP_BYTES };
                let fits =
                    |fs: FileSystem| fs.check_size(hidden.unwrap_or(size).saturating_sub(around), around);
                match hidden {
                    Some(hidden) => veracrypt::check_hidden_size(size, hidden),
                    None => veracrypt::check_size(size, 512).map(|()| size.saturating_sub(around)),
                }
                .and_then(|room| Ok(self.filesystem.map_or(Ok(()), fits).map(|()| room)?))
            }
            (Family::BitLocker, _) if size < bitlocker::SMALLEST_VOLUME => {
                let least = bitlocker::SMALLEST_VOLUME;
                return Err(about(&self.path)(bitlocker::CreateError::TooSmall { size, least }));
            }
            (Family::BitLocker, _) => Ok(size),
        };
        let room = room.map_err(about(&self.path))?;
        match self.hidden_bytes.filter(|bytes| !bytes.is_multiple_of(SECTOR.into())) {
            Some(size) => Err(about(&self.path)(CreateError::NotWholeSectors { size, sector_bytes: SECTOR })),
            None => Ok(Some(room)),
        }
    }

    /// The device's size, where that can be seen before it is claimed.
    fn device_bytes(&self) -> Option<u64> {
        medium::look(&self.path).ok().map(|device| device.size())
    }

    fn veracrypt(&self) -> Result<(String, HashName, PlannedDetails), Error> {
        if self.to_go || !self.protectors.is_default() {
            return Err(Misuse::OptionsOfBitLocker.into());
        }
        // BitLocker's own description takes it.
        if self.label.is_some() && self.filesystem.is_none() {
            return Err(Misuse::LabelOfNothing.into());
        }
        let mut options = VeraCryptOptions::default();
        if let Some(name) = &self.cipher {
            options.cipher = veracrypt_cipher(name)?;
            veracrypt::check_cipher(options.cipher).map_err(about(&self.path))?;
        }
        if self.hidden_bytes.is_none() && self.hidden_secret.is_given() {
            return Err(Misuse::NothingHiddenToMake.into());
        }
        options.hash = self.hash.unwrap_or(options.hash);
        veracrypt::check_hash(options.hash).map_err(about(&self.path))?;
        (options.quick, options.filesystem) = (self.quick, self.filesystem);
        options.label.clone_from(&self.label);
        options.over_files = self.replace && self.bytes.is_none();
        // A new one has the same as the hidden one.
        options.outer_hash = self.outer_hash.filter(|_| self.bytes.is_none()).or(options.outer_hash);
        let pim = if self.hidden_bytes.is_some() { self.hidden_secret.pim } else { self.secret.pim };
        let (cipher, hash) = (options.cipher.to_string(), options.hash);
        Ok((cipher, hash, PlannedDetails::VeraCrypt { pim, hidden_bytes: self.hidden_bytes, options }))
    }

    fn bitlocker(&self) -> Result<(String, HashName, PlannedDetails), Error> {
        let method = method(self.cipher.as_deref())?;
        if self.hidden_bytes.is_some() || self.hidden_secret.is_given() {
            return Err(Misuse::HiddenInBitLocker.into());
        }
        if self.hash.is_some() {
            return Err(Misuse::NoChoiceOfHash.into());
        }
        let offered = |fs: &FileSystem| matches!(fs, FileSystem::Ntfs | FileSystem::ExFat | FileSystem::Fat);
        if let Some(fs) = self.filesystem.filter(|fs| !offered(fs)) {
            return Err(about(&self.path)(bitlocker::CreateError::FileSystemNotOffered(fs)));
        }
        self.protectors.check(&self.path, &self.secret)?;
        let options = BitLockerOptions {
            method,
            quick: self.quick,
            filesystem: self.filesystem,
            label: self.label.clone(),
            to_go: self.to_go,
            protectors: self.protectors.clone(),
        };
        let (cipher, to_go) = (method.name().to_owned(), self.to_go);
        let protectors = self.protectors.clone();
        Ok((cipher, HashName::Sha256, PlannedDetails::BitLocker { to_go, protectors, options }))
    }
}

/// The file system in which nobody knows where a hidden volume would lie over something.
fn unread_map(fs: FileSystem) -> Option<FileSystemKind> {
    match fs {
        FileSystem::Xfs => Some(FileSystemKind::Xfs),
        FileSystem::Btrfs => Some(FileSystemKind::Btrfs),
        _ => None,
    }
}
