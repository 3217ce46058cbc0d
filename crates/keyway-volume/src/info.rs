//! What is told about an open volume, and what its owner should know.

use crate::veracrypt::{Derivation, Format, HashName, HeaderLocation};
use keyway_store::size::words;
use serde::Serialize;

/// What a volume's decrypted header says, for people and scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VolumeInfo {
    /// Whose volume.
    pub format: Format,
    /// The ciphers, outermost first: `aes-twofish-serpent`.
    pub cipher: String,
    /// `xts`, `lrw`, `cbc` or `inner-cbc`.
    pub mode: &'static str,
    /// Bits of all ciphers' keys together, without tweak keys.
    pub key_bits: usize,
    /// How the header key is derived.
    pub hash: HashName,
    /// The cost of that: `iterations`, or `memory_kib` and `passes`.
    #[serde(flatten)]
    pub derivation: Derivation,
    /// The PIM it was opened with; `None` is the default one.
    pub pim: Option<u32>,
    /// Logical sector size in bytes.
    pub sector_bytes: u32,
    /// Size of the data area in bytes.
    pub data_bytes: u64,
    /// First byte of the data area in the file or device.
    pub data_offset: u64,
    /// Whether this is a hidden volume.
    pub hidden: bool,
    /// Whether this is an encrypted system.
    pub system: bool,
    /// The header that opened.
    pub header_used: HeaderLocation,
    /// The header's version, 1 to 5.
    pub header_version: u16,
    /// The oldest program that can open it, as its makers count: `1.0b`.
    pub required_program_version: String,
    /// Bytes of this volume that a write can't reach, because a hidden volume lies there.
    pub protected_bytes: u64,
}

/// Something its owner should know about a volume that opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The header itself is damaged, or its password differs.
    #[error(
        "the volume opened by its {0} only: its main header is damaged, or has another password; \
         `keyway header restore VOLUME` repairs it"
    )]
    BackupHeader(HeaderLocation),
    /// Made by TrueCrypt.
    #[error(
        "this is a TrueCrypt volume: its key derivation is too cheap to hold off an attacker today; \
         move the data to a new volume"
    )]
    TrueCrypt,
    /// A hash that new volumes don't use.
    #[error(
        "the header key is derived with {0}, which new volumes no longer use; `keyway protector change VOLUME` replaces it"
    )]
    OldHash(HashName),
    /// A primary XTS key equals its tweak key.
    #[error(
        "the volume's two XTS keys are equal, which weakens its encryption; changing the password does not \
         help: move the data to a new volume"
    )]
    EqualXtsKeys,
    /// The data area leaves no room for the backup headers at the end.
    #[error("the file or device is shorter than when the volume was made: its backup headers are missing")]
    NoBackupHeaders,
    /// An encrypted system whose encryption has not come to its end.
    #[error("only {} of {} of this system are encrypted; the rest is shown as it is", words(*encrypted), words(*total))]
    PartlyEncrypted {
        /// Bytes that are encrypted.
        encrypted: u64,
        /// Size of the volume.
        total: u64,
    },
}
