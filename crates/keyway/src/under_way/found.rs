//! A conversion that is under way on a medium: found, and told of without a secret.

use super::journal_file::{JournalFile, resume_with};
use super::watch::running;
use crate::error::{Error, about};
use crate::medium;
use keyway_convert::{ConversionKind, ConvertError, FreeSpace, JournalLocation, SlotTable};
use keyway_convert::{bitlocker, cross_format, veracrypt};
use keyway_store::Store;
use keyway_volume::bitlocker::{Conversion, EncryptionState, ProtectorInfo, is_volume, look};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A conversion that is under way, or was interrupted: what its marker says. The marker is anybody's until a secret
/// opens what it keeps.
#[non_exhaustive]
pub enum Found {
    /// Of a VeraCrypt volume, or to one from a file system.
    VeraCrypt(Box<keyway_convert::FoundVeraCrypt>),
    /// Of a BitLocker volume, or to one from a file system.
    BitLocker(Box<bitlocker::FoundBitLocker>),
    /// From one format to the other.
    CrossFormat(Box<cross_format::FoundCrossFormat>),
}

impl Found {
    /// Looks for one. Nothing is written.
    ///
    /// # Errors
    /// The medium failed.
    pub fn find(store: &dyn Store) -> Result<Option<Self>, Error> {
        Self::find_such(store, |_| true)
    }

    /// Looks for one that has taken its beginning and has not come to its end: the medium is half converted, and nothing
    /// but this conversion may touch it.
    ///
    /// # Errors
    /// The medium failed.
    pub fn half_converted(store: &dyn Store) -> Result<Option<Self>, Error> {
        Self::find_such(store, Self::in_front)
    }

    fn find_such(store: &dyn Store, wanted: impl Fn(&Self) -> bool) -> Result<Option<Self>, Error> {
        let looks: [&dyn Fn() -> Result<Option<Self>, Error>; 3] = [
            &|| Ok(keyway_convert::find(store)?.map(|found| Self::VeraCrypt(Box::new(found)))),
            &|| Ok(cross_format::find(store)?.map(|found| Self::CrossFormat(Box::new(found)))),
            &|| Ok(bitlocker::find(store)?.map(|found| Self::BitLocker(Box::new(found)))),
        ];
        for look in looks {
            if let Some(found) = look()?.filter(&wanted) {
                return Ok(Some(found));
            }
        }
        keyway_convert::must_have_its_size(store)?;
        Ok(None)
    }

    /// Whether its marker is in front. If it is not, the medium is whole: the conversion has not touched it yet, or is
    /// through but for its own traces.
    pub fn in_front(&self) -> bool {
        match self {
            Self::VeraCrypt(found) => found.in_front,
            Self::BitLocker(found) => found.in_front,
            Self::CrossFormat(found) => found.in_front,
        }
    }

    /// What is done.
    pub fn kind(&self) -> ConversionKind {
        match self {
            Self::VeraCrypt(found) => found.marker.kind,
            Self::BitLocker(found) => found.mark.kind,
            Self::CrossFormat(_) => ConversionKind::Reencryption,
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::VeraCrypt(found) => found.marker.size,
            Self::BitLocker(found) => found.mark.size,
            Self::CrossFormat(found) => found.mark.size,
        }
    }

    /// The journal's file, where it has one: where `named` says, or beside the volume. It is removed by the conversion's
    /// last act, when nothing on the medium is left that tells of it: where the medium tells of it, it must be there.
    ///
    /// # Errors
    /// It is not there, or is another one's.
    pub(crate) fn journal(&self, path: &Path, named: Option<&Path>) -> Result<Option<JournalFile>, Error> {
        let find = |made_as: &Path, place: &SlotTable, id: &[u8; 16]| {
            JournalFile::find(path, named, made_as, (place, id)).map(Some)
        };
        match self {
            Self::VeraCrypt(found) => match &found.marker.journal {
                JournalLocation::File(made_as) => find(made_as, &found.marker.place, &found.marker.id),
                JournalLocation::OnMedium => Ok(None),
            },
            Self::BitLocker(found) => match &found.mark.journal {
                JournalLocation::File(made_as) => find(made_as, &found.mark.place, &found.mark.id),
                JournalLocation::OnMedium => Ok(None),
            },
            Self::CrossFormat(found) => find(&found.mark.file, &found.mark.place(), &found.mark.id),
        }
    }

    /// Bytes of work that are done, and in all.
    pub(crate) fn how_far(
        &self,
        store: &dyn Store,
        journal: Option<&dyn Store>,
    ) -> Result<(u64, u64), ConvertError> {
        match self {
            Self::VeraCrypt(found) => veracrypt::how_far(found, store, journal),
            Self::BitLocker(found) => bitlocker::how_far(found, store, journal),
            Self::CrossFormat(found) => cross_format::how_far(&found.mark, store, journal.unwrap_or(store)),
        }
    }

    /// What clears up after a conversion of a medium that is whole: one that was interrupted before it had begun, or in its last
    /// act. As it is typed; nothing where there is none.
    pub(crate) fn traces_of(path: &Path, store: &dyn Store) -> Option<String> {
        Self::find(store).ok()?.filter(|found| !found.in_front())?.resumable(path)
    }

    /// What goes on with it, as it is typed; `None` while somebody is at work on it.
    pub(crate) fn resumable(&self, path: &Path) -> Option<String> {
        if running(path).is_ok_and(|now| now.is_some()) {
            return None;
        }
        let journal = self.journal(path, None).ok().flatten();
        Some(resume_with(path, journal.as_ref().map(JournalFile::path)))
    }

    /// All that is said of it without a secret. Its journal is where `named` says, else beside the volume.
    ///
    /// # Errors
    /// The journal is not there, or damaged; the medium failed.
    pub fn describe(&self, path: &Path, named: Option<&Path>) -> Result<Description, Error> {
        let store = medium::look(path)?;
        let journal = self.journal(path, named)?;
        let file = journal.as_ref().map(JournalFile::store);
        let (done, total) = self.how_far(&store, file).map_err(about(path))?;
        let (format, details) = self.details(&store, file).map_err(about(path))?;
        let (running, percent) = (running(path)?, percentage(done, total));
        let is_seen = !matches!(details, Details::VeraCrypt { .. });
        Ok(Description {
            conversion_status: status(&details, self.kind(), running.is_some()),
            resume_needs: resume_needs(&details, self.kind()),
            protection_status: is_seen.then_some("Unknown"),
            lock_status: is_seen.then_some("Locked"),
            format,
            details,
            size_bytes: self.size(),
            conversion: self.kind(),
            percentage_done: percent,
            percentage_encrypted: match self.kind() {
                ConversionKind::Encryption => percent,
                ConversionKind::Decryption => 100.0 - percent,
                ConversionKind::Reencryption => 100.0,
            },
            done_bytes: done,
            total_bytes: total,
            bytes_per_second: running.as_ref().map(|running| running.bytes_per_second),
            seconds_left: running.as_ref().map(|running| running.seconds_left),
            pid: running.map(|running| running.pid),
            resume_with: resume_with(path, journal.as_ref().map(JournalFile::path)),
            journal_file: journal.map(|journal| journal.path().to_owned()),
        })
    }

    fn details(
        &self,
        store: &dyn Store,
        journal: Option<&dyn Store>,
    ) -> Result<(&'static str, Details), ConvertError> {
        Ok(match self {
            Self::VeraCrypt(found) => {
                let free_space = found.marker.used;
                ("veracrypt", Details::VeraCrypt { used_space_only: free_space.is_some(), free_space })
            }
            Self::BitLocker(found) => {
                let (mark, seen) = (&found.mark, bitlocker::look(store).ok());
                let details = Details::BitLocker {
                    encryption_method: seen.as_ref().map(|seen| seen.info.cipher.windows_name()),
                    free_space: Some(mark.free).filter(|free| *free != FreeSpace::Leave),
                    new_encryption_method: mark.new_key.as_ref().map(|key| key.method().windows_name()),
                    key_protectors: seen.map(|seen| seen.info.key_protectors),
                };
                ("bitlocker", details)
            }
            Self::CrossFormat(found) => {
                let mark = &found.mark;
                let info = cross_format::look(mark, store, journal.unwrap_or(store))?.info;
                let method = info.cipher.windows_name();
                let [from, to] = mark.direction.formats();
                let to_bitlocker = mark.direction == cross_format::Direction::ToBitLocker;
                let details = Details::CrossFormat {
                    new_format: to,
                    encryption_method: (!to_bitlocker).then_some(method),
                    new_encryption_method: to_bitlocker.then_some(method),
                    key_protectors: info.key_protectors,
                };
                (from, details)
            }
        })
    }
}

/// What of a VeraCrypt volume's secret nobody can find out. Of a re-encryption both secrets are needed.
fn resume_needs(details: &Details, kind: ConversionKind) -> &'static [&'static str] {
    match (details, kind) {
        (Details::BitLocker { .. }, _) => &[],
        (Details::VeraCrypt { .. }, ConversionKind::Reencryption) => {
            &["--pim", "--keyfile", "--new-pim", "--new-keyfile"]
        }
        (Details::CrossFormat { new_format: "veracrypt", .. }, _) => &["--new-pim", "--new-keyfile"],
        (Details::VeraCrypt { .. } | Details::CrossFormat { .. }, _) => &["--pim", "--keyfile"],
    }
}

/// What the format's own tools would call it.
fn status(details: &Details, kind: ConversionKind, is_running: bool) -> String {
    let word = match kind {
        ConversionKind::Decryption => "Decryption",
        ConversionKind::Encryption | ConversionKind::Reencryption => "Encryption",
    };
    let how = match (details, kind) {
        _ if is_running => "in Progress",
        // A BitLocker volume that was paused in good order is a whole one.
        (Details::BitLocker { .. }, ConversionKind::Encryption | ConversionKind::Decryption) => "Interrupted",
        _ => "Paused",
    };
    format!("{word} {how}")
}

/// What can be said of a conversion that is under way.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// The format of what is converted.
    pub format: &'static str,
    /// Bytes of the medium.
    pub size_bytes: u64,
    /// What is done.
    pub conversion: ConversionKind,
    /// How far it is: in words like those of `manage-bde -status`.
    pub conversion_status: String,
    /// The same of its protection, of a volume whose metadata is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection_status: Option<&'static str>,
    /// The same of its lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_status: Option<&'static str>,
    /// Of the work.
    pub percentage_done: f64,
    /// Of the volume.
    pub percentage_encrypted: f64,
    /// Bytes of work that are done.
    pub done_bytes: u64,
    /// Bytes of work in all.
    pub total_bytes: u64,
    /// How fast the process is that carries it out.
    pub bytes_per_second: Option<u64>,
    /// How long that process needs.
    pub seconds_left: Option<u64>,
    /// The process that carries it out just now, if there is one.
    pub pid: Option<i32>,
    /// Its journal's file, where it is in one.
    #[serde(with = "keyway_attach::path_text")]
    pub journal_file: Option<PathBuf>,
    /// What goes on with it, as it is typed.
    pub resume_with: String,
    /// The options beside it, and beside the password, where the volume was begun with them: they are kept nowhere.
    pub resume_needs: &'static [&'static str],
    /// What only conversions of this format have to say.
    #[serde(flatten)]
    pub details: Details,
}

impl Description {
    /// What is done, and how much of it is.
    pub fn in_words(&self) -> String {
        let done = format!("{}, {:.1} % done", self.conversion.name(), self.percentage_done);
        match self.conversion {
            // All of the volume is encrypted meanwhile, which is told beside this.
            ConversionKind::Reencryption => done + "; the rest is encrypted as before",
            ConversionKind::Encryption | ConversionKind::Decryption => done,
        }
    }
}

/// What only conversions of one family have to say.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Details {
    /// Of VeraCrypt's.
    VeraCrypt {
        /// Only what the file system uses is encrypted.
        used_space_only: bool,
        /// What becomes of the rest then.
        free_space: Option<FreeSpace>,
    },
    /// Of BitLocker's.
    BitLocker {
        /// The method, as Windows calls it.
        encryption_method: Option<&'static str>,
        /// What becomes of free space, where it does not stay as it is.
        free_space: Option<FreeSpace>,
        /// The method of a re-encryption's new key.
        new_encryption_method: Option<&'static str>,
        /// What opens it.
        key_protectors: Option<Vec<ProtectorInfo>>,
    },
    /// From one format to the other.
    CrossFormat {
        /// The format it gets.
        new_format: &'static str,
        /// The BitLocker volume's method, where that is the old one.
        encryption_method: Option<&'static str>,
        /// The same where it is the new one.
        new_encryption_method: Option<&'static str>,
        /// What opens the BitLocker volume.
        key_protectors: Vec<ProtectorInfo>,
    },
}

/// Of what is to be done, with one digit behind the point; rounded down, so that only what is done has 100.
pub fn percentage(done: u64, total: u64) -> f64 {
    if total == 0 { 100.0 } else { (done as f64 * 1000.0 / total as f64).floor() / 10.0 }
}

/// Whether it is a BitLocker volume that was paused, here or by Windows: a whole volume, whose metadata names a boundary.
///
/// # Errors
/// It is a BitLocker volume, and damaged; the medium failed.
pub fn is_paused_volume(store: &dyn Store) -> Result<bool, Error> {
    if !is_volume(store)? {
        return Ok(false);
    }
    let seen = look(store)?;
    Ok(seen.info.conversion_status != Conversion::FullyEncrypted
        || seen.metadata.block().state == EncryptionState::Converting)
}

/// The words for a volume that is whole and encrypted in part, where no process works on it.
pub(crate) fn at_rest(status: &str) -> String {
    status.replace(" in Progress", " Paused")
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    #[test]
    fn only_what_is_done_has_a_hundred_percent() {
        assert_eq!(percentage(0, 0), 100.0);
        assert_eq!(percentage(999_999, 1_000_000), 99.9);
        assert_eq!(percentage(1, 3), 33.3);
    }

    #[test]
    fn nothing_is_under_way_on_an_empty_medium() {
        let store = MemStore::new(1 << 20);
        assert!(Found::find(&store).expect("read").is_none());
        assert!(!is_paused_volume(&store).expect("read"));
    }
}
