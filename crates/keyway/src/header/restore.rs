//! A header put back, from a backup file or from the copy at the end of the volume.

use super::family::family;
use crate::error::{Error, Explain, Fault, Misuse};
use crate::locked::LockedVolume;
use crate::log_file;
use crate::medium;
use crate::secrets::{Subject, Wanted};
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_engine::Access;
use keyway_volume::bitlocker::{BackupError, HeaderBackup, UnlockRequest};
use keyway_volume::veracrypt::{self, HeaderLocation, KeysGuard, RestoreFrom};
use serde::Serialize;
use std::iter;
use std::path::{Path, PathBuf};

/// A header that is to be overwritten. Nothing has been written yet, and nobody asked for a secret.
#[derive(Serialize)]
#[non_exhaustive]
pub struct RestorePlan<'a> {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its format's family.
    pub format: Family,
    /// The backup's file; `None` where it is the copy at the end of the volume.
    #[serde(with = "path_text")]
    pub file: Option<PathBuf>,
    /// Even if the volume has other keys now, and would become unreadable.
    pub other_keys: bool,
    /// The parts that would be written, in order; `None` as long as only the secret could tell.
    pub restores: Option<Vec<RestoredPart>>,
    /// The secret was tried, and opens what is to be put back.
    pub secret_tried: bool,
    /// Bytes of the volume's file, where the volume would end before that: it may have been made larger since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_before: Option<u64>,
    #[serde(skip)]
    locked: &'a LockedVolume<'a>,
    #[serde(skip)]
    from: Origin<'a>,
}

/// What is put back.
enum Origin<'a> {
    BitLocker(Box<HeaderBackup>),
    File(&'a Path),
    Copy,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Restored {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// It was a hidden volume's header; `None` where there are no hidden volumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<bool>,
    /// The parts that were written, in order.
    pub restored: Vec<RestoredPart>,
    /// Bytes of the volume's file, where the volume ends before that as it is now: it may have been made larger since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_before: Option<u64>,
}

/// A part of a header that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum RestoredPart {
    /// A VeraCrypt or TrueCrypt volume's header.
    Header(HeaderLocation),
    /// A BitLocker volume's first sector: "first sector".
    FirstSector(&'static str),
    /// The copy of its metadata of this number, from 1 on.
    Copy(u8),
}

/// Plans to put a volume's header back from a file; from the copy at the end of the volume when there is none. With
/// `other_keys`, even if the volume has other keys now and would become unreadable.
///
/// # Errors
/// The volume can't be written, or the file is no backup.
pub fn restore<'a>(
    volume: &'a LockedVolume<'a>,
    file: Option<&'a Path>,
    other_keys: bool,
) -> Result<RestorePlan<'a>, Error> {
    let format = family(volume)?;
    if format == Family::BitLocker && file.is_none() {
        return Err(Misuse::NoBackupFile.into());
    }
    volume.must_be_free(Access::ReadWrite)?;
    volume.sources.check()?;
    file.map_or(Ok(()), medium::must_be_a_backup)?;
    let from = match (format, file) {
        (Family::BitLocker, Some(file)) => {
            let backup = HeaderBackup::read(file)?;
            if !other_keys {
                let store = volume.to_look()?;
                let suits = backup.must_suit(&store);
                // What was cut is told as that first, but for another volume's backup, which may be of a larger one.
                if !matches!(suits, Err(BackupError::OtherVolume { .. })) {
                    backup.look(&store).map_err(|e| volume.said(e))?;
                }
                suits.map_err(|e| volume.said(e))?;
            }
            Origin::BitLocker(Box::new(backup))
        }
        (_, Some(file)) => {
            veracrypt::check_backup(file).map_err(|e| volume.said(e))?;
            Origin::File(file)
        }
        (_, None) => Origin::Copy,
    };
    let (path, file) = (volume.path.clone(), file.map(Path::to_owned));
    let restores = match from {
        Origin::BitLocker(_) => Some(bitlocker_parts()),
        Origin::File(_) | Origin::Copy => None,
    };
    let (secret_tried, ends_before) = (false, None);
    Ok(RestorePlan {
        volume: path,
        format,
        file,
        other_keys,
        restores,
        secret_tried,
        ends_before,
        locked: volume,
        from,
    })
}

/// What is written of a BitLocker volume.
fn bitlocker_parts() -> Vec<RestoredPart> {
    iter::once(RestoredPart::FirstSector("first sector")).chain((1..=3).map(RestoredPart::Copy)).collect()
}

impl RestorePlan<'_> {
    /// Asks for the secret, and puts the header back.
    ///
    /// # Errors
    /// The secret doesn't open the backup; the volume has other keys; it can't be written.
    pub fn run(self) -> Result<Restored, Error> {
        let path = self.volume.clone();
        log_file::step(
            "header restore",
            &path,
            || self.done(Doing::Write),
            |restored| format!("{} parts", restored.restored.len()),
        )
    }

    /// Tries the secret, where anything of it was named, for a plan that is only shown; else this one is as it was.
    ///
    /// # Errors
    /// As [`RestorePlan::run`], but for what happens when it is written.
    pub fn tried(mut self, only_shown: bool) -> Result<Self, Error> {
        if only_shown && self.locked.sources.is_given() {
            let Restored { restored, ends_before, .. } = self.done(Doing::Look)?;
            (self.restores, self.ends_before, self.secret_tried) = (Some(restored), ends_before, true);
        }
        Ok(self)
    }

    fn done(&self, doing: Doing) -> Result<Restored, Error> {
        let volume = self.locked;
        let store = || if doing == Doing::Look { volume.to_look() } else { volume.to_change() };
        let (from, subject) = match &self.from {
            Origin::BitLocker(backup) => {
                // By what opens the backup: of the volume's own metadata nothing may be left.
                let look = || backup.look(&volume.to_look()?).map_err(|e| volume.said(e));
                let secrets = volume.sources.bitlocker_key_of(
                    self.file.as_deref().unwrap_or(&volume.path),
                    volume.secrets,
                    look,
                )?;
                let (store, request) = (store()?, UnlockRequest::new(&secrets));
                let restored = match doing {
                    Doing::Look => backup.may_restore(&store, &request, self.other_keys),
                    Doing::Write => backup.restore(&store, &request, self.other_keys),
                };
                restored.map_err(|e| self.said(e))?;
                return Ok(Restored {
                    volume: self.volume.clone(),
                    hidden: None,
                    restored: bitlocker_parts(),
                    ends_before: None,
                });
            }
            Origin::File(file) => (RestoreFrom::File(file), Subject::Backup((*file).to_owned())),
            Origin::Copy => (RestoreFrom::Embedded, Subject::Volume(volume.path.clone())),
        };
        let secret = volume.sources.password.read(Wanted::Password, &subject, volume.secrets)?;
        let guard = if self.other_keys { KeysGuard::Any } else { KeysGuard::Same };
        let store = store()?;
        let drive = volume.system_drive()?;
        let request = volume.arguments.veracrypt_request(&secret, None, drive.as_ref(), &volume.progress);
        let restore = match doing {
            Doing::Look => veracrypt::header_to_restore,
            Doing::Write => veracrypt::header_restore,
        };
        let done = restore(&store, from, &request, guard).map_err(|e| self.said(e))?;
        let restored = done.places.into_iter().map(RestoredPart::Header).collect();
        // A device may well be larger than its volume.
        let ends_before = done.ends_before.filter(|_| volume.path.is_file());
        Ok(Restored { volume: self.volume.clone(), hidden: Some(done.hidden), restored, ends_before })
    }
}

impl RestorePlan<'_> {
    /// What a secret does not open is the backup's file, where there is one: the volume may have another secret by now.
    fn said<E: Into<Error>>(&self, error: E) -> Error {
        let error = error.into();
        match &self.file {
            Some(file) if error.explain().fault == Fault::Secret => error.at(file),
            _ => self.locked.said(error),
        }
    }
}

/// Whether it is written, or only looked whether it would be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Look,
    Write,
}
