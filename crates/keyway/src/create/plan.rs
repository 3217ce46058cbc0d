//! A new volume as a plan: what it will be, where, and what is lost by it.

use super::bitlocker::{BitLockerCreated, BitLockerOptions, method};
use super::created::{Created, CreatedDetails};
use super::place::{NewPlace, Overcommitted};
use super::protectors::ProtectorOptions;
use super::there::there;
use super::veracrypt::{VeraCryptCreated, VeraCryptOptions};
use crate::detect;
use crate::disk;
use crate::error::{Error, Misuse, about};
use crate::log_file;
use crate::medium;
use crate::progress::{Progress, Stage, tell_weakness};
use crate::secrets::{PasswordSource, Question, Secrets, Subject, Wanted, one_standard_input};
use crate::session::refuse_if_open;
use crate::unlock::{Family, UnlockArguments};
use crate::volume::OpenOptions;
use keyway_attach::path_text;
use keyway_engine::Access;
use keyway_fs::FileSystemKind;
use keyway_fs::allocation::AllocationError;
use keyway_fs::mkfs::{FileSystem, MkfsError};
use keyway_store::Store;
use keyway_volume::bitlocker::{self, Method, RecoveryPassword};
use keyway_volume::veracrypt::{self, BACKUP_GROUP_BYTES, CreateError, HEADERS_BYTES};
use keyway_volume::{HashName, Info, Secrets as VeraCryptSecret, Weakness};
use serde::Serialize;
use std::path::PathBuf;

/// Bytes of the smallest sector there is.
const SECTOR: u32 = 512;

/// A volume that is wanted. As it is made: a VeraCrypt volume with its usual cipher, without a file system.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CreateRequest {
    /// A file that does not exist yet, or a block device; with `hidden_bytes` also an existing volume.
    pub path: PathBuf,
    /// The file's length, headers included. A device is taken whole.
    pub bytes: Option<u64>,
    /// A hidden volume of so many bytes, inside the one that is there or that is made.
    pub hidden_bytes: Option<u64>,
    /// A file that is there is replaced; where a hidden volume goes into a volume that is there, files of that one are lost.
    pub replace: bool,
    /// The format.
    pub format: Family,
    /// The cipher by its name, which each format has its own of.
    pub cipher: Option<String>,
    /// The key derivation's hash, where the format has a choice.
    pub hash: Option<HashName>,
    /// The key derivation's hash of the outer volume that is there; all are tried where it is left out.
    pub outer_hash: Option<HashName>,
    /// The file system to make inside.
    pub filesystem: Option<FileSystem>,
    /// The file system's name.
    pub label: Option<String>,
    /// The volume isn't filled with random bytes first.
    pub quick: bool,
    /// Where its secret comes from.
    pub secret: PasswordSource,
    /// Where the hidden volume's secret comes from.
    pub hidden_secret: PasswordSource,
    /// Programs that know no BitLocker see a small file system with a note in it.
    pub to_go: bool,
    /// What shall open a BitLocker volume besides its password.
    pub protectors: ProtectorOptions,
}

/// A volume that can be made. Nothing has been written yet, and nobody was asked for a secret.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CreatePlan {
    /// The file or device.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The format.
    pub format: Family,
    /// The new file's length in bytes; `None` for a device, and for a volume that is there.
    pub size_bytes: Option<u64>,
    /// The cipher's name.
    pub cipher: String,
    /// The key derivation's hash.
    pub hash: HashName,
    /// Everything is filled with random bytes first.
    pub filled: bool,
    /// The file system inside: its word.
    pub filesystem: Option<&'static str>,
    /// The file system's name.
    pub label: Option<String>,
    /// What is lost by it.
    pub loses: Option<CreateLoss>,
    /// What is on the device or in the file that is lost, as far as it shows.
    pub there: Option<String>,
    /// What only one format has.
    #[serde(flatten)]
    pub details: PlannedDetails,
    /// What whoever wants it should know before.
    #[serde(skip)]
    pub warnings: Vec<String>,
    #[serde(skip)]
    request: CreateRequest,
    #[serde(skip)]
    place: Option<NewPlace>,
}

/// What is lost by making a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CreateLoss {
    /// Everything on the device.
    Device,
    /// The file that is there.
    File,
    /// What lies at the end of the outer volume, where the hidden one goes.
    OuterEnd,
}

/// What is planned of one format alone.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PlannedDetails {
    /// A VeraCrypt volume.
    VeraCrypt {
        /// The PIM.
        pim: Option<u32>,
        /// Bytes of the hidden volume inside.
        hidden_bytes: Option<u64>,
        #[doc(hidden)]
        #[serde(skip)]
        options: VeraCryptOptions,
    },
    /// A BitLocker volume.
    BitLocker {
        /// Programs that know no BitLocker see a small file system with a note in it.
        to_go: bool,
        /// What shall open it.
        protectors: ProtectorOptions,
        #[doc(hidden)]
        #[serde(skip)]
        options: BitLockerOptions,
    },
}

impl CreateRequest {
    /// A VeraCrypt volume with its usual cipher, without a file system.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            bytes: None,
            hidden_bytes: None,
            replace: false,
            format: Family::VeraCrypt,
            cipher: None,
            hash: None,
            outer_hash: None,
            filesystem: None,
            label: None,
            quick: false,
            secret: PasswordSource::new(),
            hidden_secret: PasswordSource::new(),
            to_go: false,
            protectors: ProtectorOptions::default(),
        }
    }

    /// Looks at the place, and refuses everything that can be refused before anyone types a password.
    ///
    /// # Errors
    /// The wishes don't go together or can't be granted, a program is missing, or somebody uses the place.
    pub fn plan(self) -> Result<CreatePlan, Error> {
        if self.path.is_dir() {
            // As with every verb that looks for a volume there.
            medium::must_exist(&self.path)?;
        }
        medium::must_be_suitable(&self.path)?;
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
        self.check_size(place.as_ref())?;
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

    /// What can be said of the sizes of a file: a device is measured when it is claimed.
    fn check_size(&self, place: Option<&NewPlace>) -> Result<(), Error> {
        let size = match place {
            Some(place) => place.bytes,
            None => self.path.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len()),
        };
        let Some(size) = size.or_else(|| self.device_bytes()) else { return Ok(()) };
        // A device has its room; what is not filled needs that of its headers or metadata.
        if place.is_some_and(|place| place.bytes.is_some()) {
            let written = if self.quick { HEADERS_BYTES + BACKUP_GROUP_BYTES } else { size };
            veracrypt::must_have_room(&self.path, written).map_err(about(&self.path))?;
        }
        let refused = match (self.format, self.hidden_bytes) {
            (Family::VeraCrypt, hidden) => {
                let around = if hidden.is_some() { 0 } else { HEADERS_BYTES + BACKUP_GROUP_BYTES };
                let fits =
                    |fs: FileSystem| fs.check_size(hidden.unwrap_or(size).saturating_sub(around), around);
                match hidden {
                    Some(hidden) => veracrypt::check_hidden_size(size, hidden),
                    None => veracrypt::check_size(size, 512),
                }
                .and_then(|()| Ok(self.filesystem.map_or(Ok(()), fits)?))
            }
            (Family::BitLocker, _) if size < bitlocker::SMALLEST_VOLUME => {
                let least = bitlocker::SMALLEST_VOLUME;
                return Err(about(&self.path)(bitlocker::CreateError::TooSmall { size, least }));
            }
            (Family::BitLocker, _) => Ok(()),
        };
        refused.map_err(about(&self.path))?;
        match self.hidden_bytes.filter(|bytes| !bytes.is_multiple_of(SECTOR.into())) {
            Some(size) => Err(about(&self.path)(CreateError::NotWholeSectors { size, sector_bytes: SECTOR })),
            None => Ok(()),
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
            options.cipher = name.parse()?;
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

impl CreatePlan {
    /// As [`ProtectorOptions::told_once`].
    pub fn told_once(&self) -> Option<bool> {
        (self.format == Family::BitLocker).then(|| self.request.protectors.told_once()).flatten()
    }

    /// Asks for the secrets that were not named, and makes the volume. Whoever watches is told once before anything is
    /// written.
    ///
    /// # Errors
    /// Nobody answers, a key's file can't be written, there is no room, the medium failed, or whoever watches stopped it:
    /// what was half made is removed.
    pub fn run(self, secrets: &dyn Secrets, progress: &dyn Progress) -> Result<Created, Error> {
        let path = self.path.clone();
        log_file::step(
            "create",
            &path,
            || self.make(secrets, progress),
            |made| {
                let filesystem = made.filesystem.unwrap_or("none");
                format!(
                    "{:?}, {}, {}, {} bytes, file system {filesystem}",
                    made.format, made.cipher, made.hash, made.data_bytes
                )
            },
        )
    }

    fn make(self, secrets: &dyn Secrets, progress: &dyn Progress) -> Result<Created, Error> {
        let (request, path) = (&self.request, &self.path);
        let begin = || {
            progress.stage(Stage::Filling);
            match progress.at(0, self.size_bytes.unwrap_or_default()).is_break() {
                true => Err(Error::Stopped),
                false => Ok(()),
            }
        };
        let subject = Subject::Volume(path.clone());
        match (&self.details, &self.place, request.hidden_bytes) {
            (PlannedDetails::BitLocker { options, .. }, Some(place), _) => {
                let protectors = options.protectors.make(&request.secret, path, &subject, secrets)?;
                // Who takes another one has not waited for the noise.
                tell_weakness(progress, protectors.password.as_deref().and_then(Weakness::of_password));
                begin()?;
                let made = options.create(place, &protectors, progress)?;
                Ok(self.made_bitlocker(made, options.method, protectors.recovery))
            }
            (PlannedDetails::VeraCrypt { options, .. }, Some(place), None) => {
                let derived = request.secret.derived_by(options.hash);
                let secret = request.secret.read_new(derived, &subject, secrets)?;
                tell_weakness(progress, Weakness::of_secrets(&secret, options.hash));
                begin()?;
                let made = options.create(place, &secret, progress)?;
                Ok(self.made_veracrypt(made, &secret))
            }
            (PlannedDetails::VeraCrypt { options, .. }, place, Some(bytes)) => {
                let derived = |source: &PasswordSource| source.derived_by(options.hash);
                let outer = match place {
                    Some(_) => {
                        let new = &request.secret;
                        Some(new.read_new(derived(new), &self.outer(), secrets)?)
                    }
                    None => self.outer_secret(secrets)?,
                };
                let mut options = options.clone();
                if let (None, Some(outer), None) = (place, &outer, &request.hidden_secret.password) {
                    // Nobody thinks of a new password before the old one has opened it, and there is room for what it is for.
                    let arguments = UnlockArguments { hash: options.outer_hash, ..UnlockArguments::new() };
                    let opened = OpenOptions::new().arguments(arguments).progress(progress);
                    let opened = opened.open_with(path, outer)?;
                    if let Info::VeraCrypt(info) = opened.info {
                        // Nobody waits for the search a second time.
                        options.outer_hash = Some(info.hash);
                        let (store, over) = (medium::look(path)?, options.over_files);
                        let may = veracrypt::check_hidden(&store, bytes, (outer, info.hash), over);
                        may.map_err(about(path))?;
                    }
                }
                let hidden = Subject::Hidden(path.clone());
                let new = &request.hidden_secret;
                let secret = new.read_new(derived(new), &hidden, secrets)?;
                let other = |outer| veracrypt::refuse_same_secret(outer, &secret);
                outer.as_ref().map_or(Ok(()), other).map_err(about(path))?;
                if place.is_none() && !options.over_files {
                    let there = veracrypt::refuse_hidden_there(&medium::look(path)?, &secret, &progress);
                    there.map_err(about(path))?;
                }
                for new in outer.iter().filter(|_| place.is_some()).chain([&secret]) {
                    tell_weakness(progress, Weakness::of_secrets(new, options.hash));
                }
                // The outer volume that is there is searched for first: until something is written, Ctrl-C ends all at once.
                place.as_ref().map_or(Ok(()), |_| begin())?;
                let notes = match (place, &outer) {
                    (Some(place), Some(outer)) => options.create(place, outer, progress)?.notes,
                    _ => Vec::new(),
                };
                let made = options.create_hidden(path, bytes, outer.as_ref(), &secret, progress);
                if made.is_err() && place.as_ref().is_some_and(|place| !place.is_device()) {
                    // The first error counts.
                    let _ = std::fs::remove_file(path);
                }
                let mut made = made?;
                made.notes.extend(notes);
                Ok(self.made_veracrypt(made, &secret))
            }
            (_, None, _) => Err(Misuse::NoSize.into()),
        }
    }

    fn outer(&self) -> Subject {
        Subject::Outer(self.path.clone())
    }

    /// An outer volume that nobody can open is not checked.
    fn outer_secret(&self, secrets: &dyn Secrets) -> Result<Option<VeraCryptSecret>, Error> {
        let source = &self.request.secret;
        if source.is_given() {
            return source.read(Wanted::Password, &self.outer(), secrets).map(Some);
        }
        let answer = secrets.answer(&Question::new(Wanted::Password, &self.outer()))?;
        Ok(answer.map(|password| VeraCryptSecret { password, keyfiles: Vec::new(), pim: None }))
    }

    fn made_veracrypt(&self, made: VeraCryptCreated, secret: &VeraCryptSecret) -> Created {
        let VeraCryptCreated { data_offset, data_bytes, sector_bytes, hidden, notes } = made;
        let details =
            CreatedDetails::VeraCrypt { pim: secret.pim.filter(|pim| *pim > 0), data_offset, hidden };
        let warnings =
            notes.iter().map(|note| (note.to_string(), matches!(note, veracrypt::Note::Weak(_)))).collect();
        self.made("xts", sector_bytes, data_bytes, details, warnings)
    }

    fn made_bitlocker(
        &self,
        made: BitLockerCreated,
        method: Method,
        recovery: Option<RecoveryPassword>,
    ) -> Created {
        let recovery_file = self.request.protectors.recovery_file.clone();
        let details = CreatedDetails::BitLocker {
            method,
            usable_bytes: made.usable_bytes,
            volume_id: made.id,
            to_go: self.request.to_go,
            recovery_password: recovery.filter(|_| recovery_file.is_none()),
            recovery_password_id: made.recovery_id,
            recovery_file,
            startup_key: made.startup_key,
            password: self.request.protectors.password,
        };
        let is_weak = |note: &bitlocker::Note| matches!(note, bitlocker::Note::Weak(_));
        let warnings = made.notes.iter().map(|note| (note.to_string(), is_weak(note))).collect();
        self.made(method.mode().name(), made.sector_bytes, made.data_bytes, details, warnings)
    }

    fn made(
        &self,
        mode: &'static str,
        sector_bytes: u32,
        data_bytes: u64,
        details: CreatedDetails,
        warnings: Vec<(String, bool)>,
    ) -> Created {
        let last = warnings.iter().filter(|(_, told)| !told).map(|(warning, _)| warning.clone()).collect();
        let warnings = warnings.into_iter().map(|(warning, _)| warning);
        Created {
            path: self.path.clone(),
            format: self.format,
            cipher: self.cipher.clone(),
            mode,
            hash: self.hash,
            sector_bytes,
            data_bytes,
            filesystem: self.filesystem,
            details,
            warnings: self.warnings.iter().cloned().chain(warnings).collect(),
            told_last: last,
        }
    }
}
