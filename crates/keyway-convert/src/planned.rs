//! A conversion that has been planned or was found, of whatever family: what whoever carries it out has to know.

use crate::marker::{ConversionKind, JournalLocation};
use crate::mover::{Checkpoint, Conversion, Progress};
use crate::{ConvertError, FreeSpace, Live, Stopped, bitlocker, cross_format, veracrypt};
use keyway_error::Advice;
use keyway_store::Store;
use std::path::Path;
use std::sync::Arc;

/// A conversion that has been planned or was found.
pub enum PlannedConversion {
    /// Of a VeraCrypt volume, or to one from a file system.
    VeraCrypt(Box<veracrypt::VeraCryptPlan>),
    /// Of a BitLocker volume, or to one from a file system.
    BitLocker(Box<bitlocker::BitLockerPlan>),
    /// From one format to the other.
    CrossFormat(Box<cross_format::CrossFormatPlan>),
}

impl From<veracrypt::VeraCryptPlan> for PlannedConversion {
    fn from(plan: veracrypt::VeraCryptPlan) -> Self {
        Self::VeraCrypt(Box::new(plan))
    }
}

impl From<bitlocker::BitLockerPlan> for PlannedConversion {
    fn from(plan: bitlocker::BitLockerPlan) -> Self {
        Self::BitLocker(Box::new(plan))
    }
}

impl From<cross_format::CrossFormatPlan> for PlannedConversion {
    fn from(plan: cross_format::CrossFormatPlan) -> Self {
        Self::CrossFormat(Box::new(plan))
    }
}

impl PlannedConversion {
    /// What is done.
    pub fn kind(&self) -> ConversionKind {
        match self {
            Self::VeraCrypt(plan) => plan.marker.kind,
            Self::BitLocker(plan) => plan.mark().kind,
            Self::CrossFormat(_) => ConversionKind::Reencryption,
        }
    }

    /// The format of the volume that there is, and of the one that there will be: of one that has no other, twice the
    /// same.
    pub fn formats(&self) -> [&'static str; 2] {
        match self {
            Self::VeraCrypt(_) => ["veracrypt"; 2],
            Self::BitLocker(_) => ["bitlocker"; 2],
            Self::CrossFormat(plan) => plan.mark().direction.formats(),
        }
    }

    /// Of an encryption of used space only: what becomes of the rest.
    pub fn free_space(&self) -> Option<FreeSpace> {
        match self {
            Self::VeraCrypt(plan) => plan.marker.used,
            Self::BitLocker(_) | Self::CrossFormat(_) => None,
        }
    }

    /// The file that the journal is in, where it is in one, and the bytes that it has.
    pub fn journal_file(&self) -> Option<(&Path, u64)> {
        let (journal, bytes) = match self {
            Self::VeraCrypt(plan) => (&plan.marker.journal, plan.marker.place.file_bytes()),
            Self::BitLocker(plan) => (&plan.mark().journal, plan.mark().place.file_bytes()),
            Self::CrossFormat(plan) => {
                return Some((&plan.mark().file, plan.mark().place().file_bytes()));
            }
        };
        match journal {
            JournalLocation::File(path) => Some((path, bytes)),
            JournalLocation::OnMedium => None,
        }
    }

    /// The same with a journal that keeps every segment whole ([`Redundancy`](crate::Redundancy)), where it has not begun.
    pub fn kept_whole(self) -> Self {
        match self {
            Self::VeraCrypt(plan) if !plan.is_begun() => plan.kept_whole().into(),
            Self::BitLocker(plan) if !plan.is_begun() => plan.kept_whole().into(),
            // From one format to the other it always does.
            other => other,
        }
    }

    /// The same for a volume that is to be in use meanwhile.
    ///
    /// # Errors
    /// It can't be.
    pub fn for_use(self) -> Result<Self, ConvertError> {
        match self {
            Self::VeraCrypt(plan) => Ok(plan.for_use()?.into()),
            Self::BitLocker(plan) => Ok(plan.for_use()?.into()),
            Self::CrossFormat(_) => Err(Self::cross_format_in_use()),
        }
    }

    /// Why no volume is in use while it goes from one format to the other.
    pub const fn cross_format_in_use() -> ConvertError {
        let why = "a volume can't be in use while it goes from one format to the other";
        ConvertError::Unsupported(why, Advice::OfflineOrSameFormat)
    }

    /// The conversion, or the part of it that goes on while the volume is in use; `journal` is the file's store where the
    /// journal is in a file.
    ///
    /// # Errors
    /// See [`ConvertError`]; it can't be in use.
    pub fn conversion<'a>(
        &self,
        store: &'a dyn Store,
        journal: Option<&'a dyn Store>,
        in_use: bool,
    ) -> Result<Conversion<'a>, ConvertError> {
        match self {
            Self::VeraCrypt(plan) if in_use => plan.conversion_in_use(store, journal),
            Self::BitLocker(plan) if in_use => plan.conversion_in_use(store, journal),
            Self::CrossFormat(_) if in_use => Err(Self::cross_format_in_use()),
            Self::VeraCrypt(plan) => plan.conversion(store, journal),
            Self::BitLocker(plan) => plan.conversion(store, journal),
            Self::CrossFormat(plan) => plan.conversion(store, journal.ok_or(ConvertError::NoJournal)?),
        }
    }

    /// Begins, or goes on, until it ends or is paused.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn run(&self, conversion: &Conversion<'_>, progress: &dyn Progress) -> Result<Stopped, ConvertError> {
        match self {
            Self::VeraCrypt(plan) => plan.run(conversion, progress),
            Self::BitLocker(plan) => plan.run(conversion, progress),
            Self::CrossFormat(plan) => plan.run(conversion, progress),
        }
    }

    /// Begins, or goes on, until the volume can be used, and the volume's content then; `None` where there is nothing left
    /// to convert.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn begin_in_use(
        &self,
        conversion: &Conversion<'_>,
        store: &Arc<dyn Store>,
    ) -> Result<Option<(Live, Checkpoint)>, ConvertError> {
        let begun = match self {
            Self::VeraCrypt(plan) => plan.begin_in_use(conversion)?,
            Self::BitLocker(plan) => plan.begin_in_use(conversion)?,
            Self::CrossFormat(_) => return Err(Self::cross_format_in_use()),
        };
        match (begun, self) {
            (Stopped::Paused, Self::VeraCrypt(plan)) => plan.live(conversion, store.clone()).map(Some),
            (Stopped::Paused, Self::BitLocker(plan)) => plan.live(conversion, store.clone()).map(Some),
            _ => Ok(None),
        }
    }

    /// Nobody uses the volume any more: what had to wait for that is done. `stopped` is how
    /// [`Conversion::run_in_use`] ended.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn close(&self, conversion: &Conversion<'_>, stopped: Stopped) -> Result<Stopped, ConvertError> {
        match self {
            Self::BitLocker(plan) => plan.close(conversion, stopped),
            Self::VeraCrypt(_) | Self::CrossFormat(_) => Ok(stopped),
        }
    }

    /// Whether what was paused is a whole volume, that opens here and elsewhere.
    ///
    /// # Errors
    /// The medium failed.
    pub fn left_whole(&self, store: &dyn Store) -> Result<bool, ConvertError> {
        match self {
            Self::BitLocker(_) => Ok(!bitlocker::find(store)?.is_some_and(|found| found.in_front)),
            Self::VeraCrypt(_) | Self::CrossFormat(_) => Ok(false),
        }
    }
}
