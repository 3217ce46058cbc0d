//! What a BitLocker volume's metadata says, for people and scripts. Nearly all of it needs no secret.

use super::boot::{BootFault, BootKind};
use super::codes::{EncryptionState, Method, Protection, role};
use super::create_metadata::used_space_only;
use super::entry::{Protector, Value};
use super::error::CopyFault;
use super::filetime::FileTime;
use super::guid::Guid;
use super::map::Map;
use super::metadata::{CopyState, Metadata};
use keyway_error::{Advice, enum_table};
use keyway_store::size::words;
use serde::{Serialize, Serializer};

/// What the metadata says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BitLockerInfo {
    /// Always `bitlocker`.
    pub format: &'static str,
    /// `aes-xts-128` and so on.
    pub cipher: Method,
    /// `xts`, `cbc-eboiv` or `cbc-elephant`.
    pub mode: &'static str,
    /// The hash of the key derivation: always `sha256`.
    pub hash: &'static str,
    /// Logical sector size in bytes.
    pub sector_bytes: u32,
    /// Size of the volume in bytes.
    pub data_bytes: u64,
    /// Whose layout: `windows-7` (and later) or `to-go`.
    pub layout: &'static str,
    /// The metadata's version: 2 since Windows 7.
    pub metadata_version: u16,
    /// The volume's GUID.
    pub volume_id: Guid,
    /// Computer, drive and date of its encryption.
    pub description: Option<String>,
    /// When it was encrypted.
    pub created: FileTime,
    /// How far it is encrypted: the words of `manage-bde -status`.
    pub conversion_status: Conversion,
    /// How much of it is encrypted, in percent.
    pub percentage_encrypted: f64,
    /// Bytes that are encrypted.
    pub encrypted_bytes: u64,
    /// Whether free space was left out, as a flag says; it counts as encrypted above.
    pub used_space_only: bool,
    /// Whether it opens without a secret.
    pub protection_suspended: bool,
    /// What opens it.
    pub key_protectors: Vec<ProtectorInfo>,
    /// Keys of other drives that this one unlocks.
    pub auto_unlock_keys: usize,
    /// The copies of the metadata.
    pub metadata_copies: Vec<CopyInfo>,
    /// The protector that it was opened by, where it was.
    pub opened_by: Option<Guid>,
}

enum_table! {
    /// How far a volume is encrypted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Conversion {
        /// All of it.
        FullyEncrypted("Fully Encrypted"),
        /// None of it.
        FullyDecrypted("Fully Decrypted"),
        /// More and more.
        Encrypting("Encryption in Progress"),
        /// Less and less.
        Decrypting("Decryption in Progress"),
        /// A part, and that does not change by itself.
        EncryptionPaused("Encryption Paused"),
    }
    /// The words of `manage-bde -status`.
    pub words: &'static str,
}

impl Serialize for Conversion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// One way to open it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtectorInfo {
    /// Its identifier.
    pub id: Guid,
    /// What it asks for.
    pub kind: Protection,
    /// The name it was given.
    pub name: Option<String>,
    /// When it was last changed.
    pub changed: FileTime,
    /// The platform configuration registers that a TPM's part is sealed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcrs: Option<Vec<u8>>,
    /// Whether this program can use it. Certificates and the network's keys it can't.
    pub usable: bool,
}

/// One copy of the metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyInfo {
    /// Its first byte.
    pub offset: u64,
    /// `good`, `older`, or what is wrong with it.
    pub state: CopyState,
}

/// Something its owner should know about a BitLocker volume.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// A copy of the metadata is damaged.
    #[error(
        "copy {number} of the metadata is damaged ({fault}); the volume opens by the others, repair it soon"
    )]
    DamagedCopy {
        /// Which, from 1 on.
        number: usize,
        /// Why.
        fault: CopyFault,
    },
    /// A copy is older than the others: a change of the metadata was interrupted.
    #[error("copy {0} of the metadata is older than the newest: a change was interrupted, repair it soon")]
    OlderCopy(usize),
    /// The boot sector is not what it must be.
    #[error(
        "the first sector is damaged, and other programs may not know the volume by it: `keyway header repair VOLUME` mends it"
    )]
    BootSector,
    /// The boot sector is not there any more; the metadata was looked for.
    #[error("the first sector is lost ({0}); the metadata was found by looking for it")]
    LostBootSector(BootFault),
    /// It opens without a secret.
    #[error("protection is suspended: this volume's key lies on it in the open, and anybody can read it")]
    Suspended,
    /// A part of it is not encrypted.
    #[error("only {} of {} are encrypted; the rest lies open on the medium", words(*encrypted), words(*total))]
    PartlyEncrypted {
        /// Bytes that are encrypted.
        encrypted: u64,
        /// Size of the volume.
        total: u64,
    },
    /// What it lies on is larger than it: it was copied there, or what it lies on was made larger.
    #[error(
        "the volume has {}, and what it lies on {}: nothing of it is in the rest, which lies open; `keyway resize VOLUME` makes the volume as large",
        words(*volume),
        words(*present)
    )]
    Larger {
        /// Bytes of the volume.
        volume: u64,
        /// Bytes that there are.
        present: u64,
    },
    /// There is less of the volume than there was.
    #[error("the volume had {expected} bytes, and the file or device has only {present}: it was cut off")]
    CutOff {
        /// Bytes that the metadata speaks of.
        expected: u64,
        /// Bytes that there are.
        present: u64,
    },
    /// One of the two copies of the encrypt-on-write information.
    #[error("one of the two copies of the encrypt-on-write information is damaged")]
    EncryptOnWriteCopy,
    /// No writes, and why.
    #[error("the volume is read-only: {0}")]
    ReadOnly(ReadOnly),
}

/// Why a volume can only be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadOnly {
    /// Its first sector is lost; whoever looks at what is inside should have a way back.
    #[error(
        "its first sector is lost; see whether what is in it is right, then write a new one with \
         `keyway header repair VOLUME --format bitlocker`"
    )]
    FirstSector,
    /// Encrypt-on-write with unencrypted chunks left.
    #[error(
        "Windows is still encrypting it and wants whatever is written to be encrypted and entered in its \
         bitmaps; let Windows finish, then it can be written here"
    )]
    EncryptOnWrite,
    /// A conversion was interrupted in the middle of a sector run.
    #[error(
        "its conversion was interrupted and left a log; let Windows finish it, then it can be written here"
    )]
    ConversionLog,
    /// The medium ends before it does: what a change does not reach would stay as it is, and be lost when it comes back.
    #[error("the file or device ends before it does; copy it again in full, then it can be written")]
    CutOff,
}

impl ReadOnly {
    /// What is the case.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::FirstSector => "its first sector is lost",
            Self::EncryptOnWrite => {
                "Windows is still encrypting it and wants whatever is written to be encrypted and entered in its bitmaps"
            }
            Self::ConversionLog => "its conversion was interrupted and left a log",
            Self::CutOff => "this is not the whole volume: the file or device ends before it does",
        }
    }

    /// What helps.
    pub(crate) const fn advice(self) -> Advice {
        match self {
            Self::FirstSector => Advice::SeeThenRepair,
            Self::EncryptOnWrite | Self::ConversionLog => Advice::LetWindowsFinishThenWrite,
            Self::CutOff => Advice::CheckCopy,
        }
    }
}

impl BitLockerInfo {
    pub(crate) fn new(metadata: &Metadata, method: Method, map: &Map, ends_before: bool) -> Self {
        let block = metadata.block();
        let entries = &block.dataset.entries;
        let (encrypted, present) = (map.encrypted_bytes(), map.volume_bytes());
        // What lies behind the volume's end is no part of it that is not encrypted yet.
        let total = if ends_before { encrypted } else { present };
        let protectors: Vec<_> = entries.protectors().map(ProtectorInfo::new).collect();
        let copies = metadata.copies.iter().zip(metadata.states());
        Self {
            format: "bitlocker",
            cipher: method,
            mode: method.mode().name(),
            hash: "sha256",
            sector_bytes: metadata.boot.sector_bytes,
            data_bytes: present,
            layout: match metadata.boot.kind {
                BootKind::ToGo => "to-go",
                BootKind::Windows7 => "windows-7",
                BootKind::Vista => "vista",
            },
            metadata_version: block.version,
            volume_id: block.dataset.volume,
            description: entries.text(role::DESCRIPTION),
            created: block.dataset.created,
            conversion_status: conversion(block.state, block.next_state, encrypted, total),
            // Tenths of a percent, as manage-bde prints them; 100 only where it is all.
            percentage_encrypted: (encrypted as f64 / total as f64 * 1000.0).floor() / 10.0,
            encrypted_bytes: encrypted,
            used_space_only: used_space_only(block),
            protection_suspended: protectors.iter().any(|p| p.kind == Protection::ClearKey),
            key_protectors: protectors,
            auto_unlock_keys: entries.with_role(role::AUTO_UNLOCK).count(),
            metadata_copies: copies.map(|(copy, state)| CopyInfo { offset: copy.offset, state }).collect(),
            opened_by: None,
        }
    }
}

fn conversion(state: EncryptionState, next: EncryptionState, encrypted: u64, total: u64) -> Conversion {
    match (state, next) {
        (EncryptionState::Decrypted, _) => Conversion::FullyDecrypted,
        (EncryptionState::Paused, _) => Conversion::EncryptionPaused,
        (EncryptionState::Encrypted, _) if encrypted == total => Conversion::FullyEncrypted,
        (_, EncryptionState::Decrypted) => Conversion::Decrypting,
        _ if encrypted == total => Conversion::FullyEncrypted,
        _ => Conversion::Encrypting,
    }
}

impl ProtectorInfo {
    fn new(protector: &Protector) -> Self {
        let kind = protector.protection;
        let pcrs = protector.entries.with_role(role::PROPERTY).find_map(|value| match value {
            Value::TpmBlob(tpm) => Some((0..32).filter(|pcr| tpm.pcrs >> pcr & 1 == 1).collect()),
            _ => None,
        });
        Self {
            id: protector.id,
            kind,
            name: protector.entries.text(role::PROPERTY).filter(|name| !name.is_empty()),
            changed: protector.changed,
            pcrs,
            usable: !matches!(kind, Protection::Certificate | Protection::TpmNetwork | Protection::Other(_)),
        }
    }
}
