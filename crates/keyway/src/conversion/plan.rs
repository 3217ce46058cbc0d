//! What a conversion will do, said before it does anything.

use super::request::{ConversionRequest, Goal, Online};
use crate::shown::shown;
use crate::unlock::VolumeFormat;
use keyway_attach::path_text;
use keyway_cipher::Chain;
use keyway_convert::{ConversionKind, FreeSpace};
use keyway_fs::{FileSystemKind, FoundFileSystem};
use keyway_volume::HashName;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What a conversion will do. It holds no secret.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConversionPlan {
    /// The file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// What is done.
    pub conversion: ConversionKind,
    /// It was begun before, and goes on.
    pub goes_on: bool,
    /// How much of it is done, where it is half converted.
    pub percentage_done: Option<f64>,
    /// What lies there.
    pub from: Contents,
    /// What will lie there.
    pub to: Contents,
    /// What a volume keeps that nobody named anything else for, where a new one may have it: what that is shows only when it has
    /// opened.
    pub keeps: Vec<Kept>,
    /// Where the room for headers and metadata comes from.
    pub space: HeaderSpace,
    /// Where the journal is meanwhile.
    pub journal: JournalPlace,
    /// The journal keeps everything whole.
    pub full_journal: bool,
    /// Bytes that are converted, as far as that is known without opening a volume.
    #[serde(rename = "moved_bytes")]
    pub bytes: Option<u64>,
    /// Only what the file system uses is encrypted.
    pub used_space_only: bool,
    /// What becomes of the rest then.
    pub free_space: Option<FreeSpace>,
    /// What is lost by it.
    pub lost: Vec<ConversionLoss>,
    /// The volume is used meanwhile, and how it is reached.
    pub online: Option<Online>,
    /// The file system in the volume, where that was opened.
    #[serde(skip)]
    pub(super) within: Option<&'static str>,
}

impl ConversionPlan {
    /// The file system that Windows will not read in the volume that it unlocks.
    pub fn unread_by_windows(&self) -> Option<&'static str> {
        let read = [FileSystemKind::Ntfs, FileSystemKind::ExFat, FileSystemKind::Fat];
        let Contents::Volume { format: VolumeFormat::BitLocker, .. } = &self.to else { return None };
        let inside = match &self.from {
            Contents::FileSystem { filesystem } => *filesystem,
            Contents::Volume { .. } => self.within,
        };
        inside.filter(|name| read.iter().all(|kind| kind.name() != *name))
    }
}

/// What a volume that gets new keys keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kept {
    /// Its cipher.
    Cipher,
    /// Its key derivation.
    Hash,
}

/// What lies on a medium, before or after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "contents", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Contents {
    /// A file system, open to everybody.
    FileSystem {
        /// Which, where it is known before a volume is opened.
        filesystem: Option<&'static str>,
    },
    /// An encrypted volume.
    Volume {
        /// Its format.
        format: VolumeFormat,
        /// Its cipher, where that is known before it is opened.
        cipher: Option<String>,
        /// A VeraCrypt volume's key derivation, where that is known.
        hash: Option<HashName>,
    },
}

impl Contents {
    pub(super) fn volume(format: VolumeFormat) -> Self {
        Self::Volume { format, cipher: None, hash: None }
    }

    pub(super) fn encrypted_by(format: VolumeFormat, cipher: impl ToString) -> Self {
        Self::Volume { format, cipher: Some(cipher.to_string()), hash: None }
    }

    pub(super) fn veracrypt(cipher: Option<Chain>, hash: Option<HashName>) -> Self {
        let cipher = cipher.map(|cipher| cipher.to_string());
        Self::Volume { format: VolumeFormat::VeraCrypt, cipher, hash }
    }

    pub(super) fn of(fs: Option<&FoundFileSystem>) -> Self {
        Self::FileSystem { filesystem: fs.map(|fs| fs.kind.name()) }
    }
}

/// Where the room for a volume's headers and metadata comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HeaderSpace {
    /// There is enough, or none is needed.
    Enough,
    /// The file system is made smaller, by its own tools, before anything else.
    SmallerFileSystem {
        /// Which.
        filesystem: &'static str,
        /// Its size then.
        bytes: u64,
        /// By how much.
        smaller_by_bytes: u64,
    },
    /// The file is made larger.
    LargerFile {
        /// Its size then.
        bytes: u64,
    },
}

/// Where a conversion's journal is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "place", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum JournalPlace {
    /// On the medium.
    OnVolume,
    /// In a file.
    File {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
}

impl From<Option<PathBuf>> for JournalPlace {
    fn from(file: Option<PathBuf>) -> Self {
        file.map_or(Self::OnVolume, |path| Self::File { path })
    }
}

impl JournalPlace {
    pub(super) fn file(&self) -> Option<PathBuf> {
        match self {
            Self::OnVolume => None,
            Self::File { path } => Some(path.clone()),
        }
    }
}

/// What is lost by a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ConversionLoss {
    /// A hidden volume inside, if there is one.
    HiddenVolume,
    /// What backups of the old headers or metadata are worth.
    HeaderBackups,
    /// That nobody who takes the medium can read what is on it.
    Secrecy,
}

impl ConversionPlan {
    /// What whoever is asked before it begins should know, as facts for a sentence; nothing where it goes on.
    pub fn asked(&self) -> Option<Value> {
        if self.goes_on {
            return None;
        }
        let new = match (&self.from, &self.to) {
            (Contents::Volume { format: old, .. }, Contents::Volume { format, .. }) if old != format => {
                Some(if *format == VolumeFormat::BitLocker { "BitLocker" } else { "VeraCrypt" })
            }
            _ => None,
        };
        let (less, filesystem, more) = match self.space {
            HeaderSpace::SmallerFileSystem { filesystem, smaller_by_bytes, .. } => {
                (Some(smaller_by_bytes), Some(filesystem), None)
            }
            HeaderSpace::LargerFile { bytes } => (None, None, Some(bytes)),
            HeaderSpace::Enough => (None, None, None),
        };
        let (cipher, hash) = match (&self.from, &self.to) {
            (Contents::Volume { .. }, Contents::Volume { cipher, hash, .. }) => (cipher.as_deref(), *hash),
            _ => (None, None),
        };
        let keeps = match self.keeps.as_slice() {
            [one] => json!(one),
            [_, _] => json!("both"),
            _ => Value::Null,
        };
        Some(json!({
            "path": shown(&self.volume),
            "kind": self.conversion,
            "cipher": cipher,
            "hash": hash,
            "keeps": keeps,
            "used_space_only": self.used_space_only,
            "new": new,
            "less": less,
            "filesystem": filesystem,
            "more": more,
            "hidden": self.lost.contains(&ConversionLoss::HiddenVolume),
        }))
    }

    /// Of a conversion that needs nothing special.
    pub(super) fn new(
        request: &ConversionRequest,
        size_bytes: u64,
        conversion: ConversionKind,
        [from, to]: [Contents; 2],
        journal: Option<PathBuf>,
    ) -> Self {
        Self {
            volume: request.path.clone(),
            size_bytes,
            conversion,
            goes_on: matches!(request.goal, Goal::Resume),
            percentage_done: None,
            from,
            to,
            keeps: Vec::new(),
            space: HeaderSpace::Enough,
            journal: journal.into(),
            full_journal: request.full_journal,
            bytes: None,
            used_space_only: false,
            free_space: None,
            lost: Vec::new(),
            online: request.online.clone(),
            within: None,
        }
    }
}
