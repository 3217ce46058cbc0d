//! A new volume as a plan: what it will be, where, and what is lost by it.

use super::bitlocker::{BitLockerCreated, BitLockerOptions};
use super::created::{Created, CreatedDetails};
use super::place::NewPlace;
use super::protectors::ProtectorOptions;
use super::request::CreateRequest;
use super::veracrypt::{VeraCryptCreated, VeraCryptOptions};
use crate::error::{Error, Misuse, about};
use crate::log_file;
use crate::medium;
use crate::progress::{Progress, Stage, tell_weakness};
use crate::secrets::{PasswordSource, Question, Secrets, Subject, Wanted};
use crate::unlock::{Family, UnlockArguments};
use crate::volume::OpenOptions;
use keyway_attach::path_text;
use keyway_error::{Explain, Fault};
use keyway_volume::bitlocker::{self, Method, RecoveryPassword};
use keyway_volume::veracrypt::{self, CreateError};
use keyway_volume::{HashName, Info, Secrets as VeraCryptSecret, Weakness};
use serde::Serialize;
use std::path::PathBuf;

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
    /// Bytes that the volume will have room for, where that shows before a device is claimed.
    pub data_bytes: Option<u64>,
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
    pub(super) request: CreateRequest,
    #[serde(skip)]
    pub(super) place: Option<NewPlace>,
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
        let is_new = self.place.as_ref().is_some_and(|place| !place.is_device());
        log_file::step(
            "create",
            &path,
            || {
                self.make(secrets, progress).map_err(|error| {
                    match is_new && error.fault() == Fault::Stopped {
                        // Wherever it was on the way: its file is gone again.
                        true => about(&path)(CreateError::Stopped),
                        false => error,
                    }
                })
            },
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
                    let opened = opened.open_with(path, outer).map_err(Error::of_outer)?;
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
