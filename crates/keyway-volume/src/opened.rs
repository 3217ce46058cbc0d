//! A volume that opened, whatever its format.

use crate::{VolumeInfo, bitlocker, veracrypt};
use keyway_engine::Layout;
use serde::Serialize;

/// What all formats give when they open: where the sectors are, and what there is to tell.
pub struct Opened {
    /// What its metadata says.
    pub info: Info,
    /// Where its sectors are.
    pub layout: Layout,
    /// What its owner should know, in words.
    pub warnings: Vec<String>,
    /// Whether it must not be written; a warning says why.
    pub read_only: bool,
    /// The bytes that it had, where what it lies on has fewer now.
    pub whole_bytes: Option<u64>,
}

/// What a volume's metadata says, for people and scripts. The `format` among its fields tells
/// which it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Info {
    /// Of a VeraCrypt or TrueCrypt volume.
    VeraCrypt(Box<VolumeInfo>),
    /// Of a BitLocker volume.
    BitLocker(Box<bitlocker::BitLockerInfo>),
}

impl From<veracrypt::Unlocked> for Opened {
    fn from(unlocked: veracrypt::Unlocked) -> Self {
        let veracrypt::Unlocked { info, layout, warnings, .. } = unlocked;
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Self { info: Info::VeraCrypt(Box::new(info)), layout, warnings, read_only: false, whole_bytes: None }
    }
}

impl From<bitlocker::Unlocked> for Opened {
    fn from(unlocked: bitlocker::Unlocked) -> Self {
        let bitlocker::Unlocked { info, layout, warnings, read_only, .. } = unlocked;
        let whole_bytes = warnings.iter().find_map(|warning| match warning {
            bitlocker::Warning::CutOff { expected, .. } => Some(*expected),
            _ => None,
        });
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Self {
            info: Info::BitLocker(Box::new(info)),
            layout,
            warnings,
            read_only: read_only.is_some(),
            whole_bytes,
        }
    }
}

impl Info {
    /// The cipher: `aes-twofish-serpent`, `aes-xts-128`.
    pub fn cipher(&self) -> &str {
        match self {
            Self::VeraCrypt(info) => &info.cipher,
            Self::BitLocker(info) => info.cipher.name(),
        }
    }

    /// How it covers a sector: `xts`, `cbc-eboiv`.
    pub fn mode(&self) -> &'static str {
        match self {
            Self::VeraCrypt(info) => info.mode,
            Self::BitLocker(info) => info.mode,
        }
    }

    /// The hash of its key derivation.
    pub fn hash(&self) -> &'static str {
        match self {
            Self::VeraCrypt(info) => info.hash.name(),
            Self::BitLocker(info) => info.hash,
        }
    }

    /// Size of the volume in bytes.
    pub fn data_bytes(&self) -> u64 {
        match self {
            Self::VeraCrypt(info) => info.data_bytes,
            Self::BitLocker(info) => info.data_bytes,
        }
    }

    /// Whether it is a hidden volume, whose being there nothing outside may show.
    pub fn is_hidden(&self) -> bool {
        matches!(self, Self::VeraCrypt(info) if info.hidden)
    }
}
