//! A metadata block: three copies of it lie in a volume, each in 64 KiB that read as zeros.
//!
//! ```text
//! offset size
//!      0    8  "-FVE-FS-"
//!      8    2  bytes of the block without its validation, in units of 16
//!     10    2  version: 1 Windows Vista, 2 Windows 7 and later
//!     12    2  state
//!     14    2  state it is on its way to
//!     16    8  bytes that are encrypted, from the start of the volume
//!     24    4  bytes of the log of an interrupted conversion (which lies at the offset before)
//!     28    4  first sectors of the volume that lie elsewhere
//!     32   24  offsets of the three copies
//!     56    8  offset of those first sectors; version 1: cluster of the MFT's mirror
//!
//!     64    4  bytes of the data set, these included
//!     68    4  version, 1
//!     72    4  offset of the entries in the data set, 48
//!     76    4  end of the entries in the data set
//!     80   16  the volume's GUID
//!     96    4  next nonce counter
//!    100    2  method (codes::Method)
//!    102    2  the same number, or 0
//!    104    8  FILETIME of creation
//!    112    …  entries, then zeros up to a multiple of 16
//!
//!      0    2  validation: bytes to the end of the 64 KiB
//!      2    2  version, as the block's
//!      4    4  CRC-32 of the block
//!      8    …  from version 2 on: an entry that seals the block's SHA-256 with the volume master key
//! ```
//!
//! Source: libbde's format description, dissect.fve's account of states and validation; that the
//! validation's first field counts to the end of the 64 KiB holds for all volumes that were seen.

use super::codes::{EncryptionState, Method, algorithm, role};
use super::entry::{Entries, Entry, EntryTooLong, Nonce, Sealed, Value};
use super::filetime::FileTime;
use super::guid::Guid;
use super::reader::Reader;
use super::seal::SecretKey;
use keyway_secret::SecretBytes;
use keyway_store::AlignedBuf;
use sha2::{Digest, Sha256};

/// What a block and its validation have room for, and what reads as zeros for each copy
/// (version 2).
pub const REGION_BYTES: usize = 64 * 1024;

/// Bytes at the beginning of a copy's 64 KiB that hold all of it; the rest is free for as long as a
/// conversion is under way. What Windows writes takes 2 to 4 KiB.
pub const HEAD_BYTES: usize = 32 << 10;

/// What each of the copies starts with.
pub const SIGNATURE: [u8; 8] = *b"-FVE-FS-";

/// Bytes of the first table above.
pub(crate) const BLOCK_HEADER_BYTES: usize = 64;

/// Bytes of the data set's own header.
pub(crate) const DATASET_HEADER_BYTES: usize = 48;

/// The version of all blocks since Windows 7. Those of Windows Vista (1) seal no hash, so whoever has
/// no key could pass a block off as one of them.
pub const VERSION: u16 = 2;

/// Set in the time of a validation's nonce in the volumes that Windows made.
pub(super) const VALIDATION_TIME: u64 = 1 << 63;

/// A block's length is counted in this many bytes.
const UNIT: usize = 16;

/// One copy of the metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The version: [`VERSION`].
    pub version: u16,
    /// What the volume is.
    pub state: EncryptionState,
    /// What it is on its way to.
    pub next_state: EncryptionState,
    /// Bytes that are encrypted, from the start of the volume; the offset of the conversion log
    /// where there is one.
    pub encrypted_bytes: u64,
    /// Bytes of that log; 0 where there is none.
    pub log_bytes: u32,
    /// First sectors of the volume that lie at [`Block::boot_backup`].
    pub boot_sectors: u32,
    /// Where the three copies of the metadata start.
    pub copies: [u64; 3],
    /// Where the volume's first sectors lie.
    pub boot_backup: u64,
    /// Keys and descriptions.
    pub dataset: Dataset,
    /// What follows the data set up to a multiple of 16 bytes: zeros in what was met. Kept because
    /// the checksums cover it; replaced by zeros where its length does not fit any more.
    pub padding: Vec<u8>,
    /// Proof that it is whole.
    pub validation: Validation,
}

/// Keys and descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// Version, 1.
    pub version: u32,
    /// The volume's GUID.
    pub volume: Guid,
    /// What the next sealing takes as its nonce's counter.
    pub next_nonce: u32,
    /// How the data is encrypted: [`Method::code`].
    pub method: u16,
    /// The same number, or 0.
    pub second_method: u16,
    /// When the volume was encrypted.
    pub created: FileTime,
    /// The rest.
    pub entries: Entries,
}

/// Proof that a block is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// Bytes from its start to the end of the 64 KiB.
    pub bytes: u16,
    /// Version, as the block's.
    pub version: u16,
    /// CRC-32 of the block.
    pub crc: u32,
    /// The block's SHA-256, sealed with the volume master key. A block without it never counts.
    pub hash: Option<Entry>,
}

/// Why some bytes are no metadata block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// It does not start with its signature.
    #[error("its signature is missing")]
    Signature,
    /// Another version than that of Windows 7 and later.
    #[error("its version is {0}, and only 2 is known (1 is Windows Vista's)")]
    Version(u16),
    /// It ends before its fields do.
    #[error("it ends within its fields")]
    Short,
    /// Its length is impossible.
    #[error("a length of {0} bytes is impossible")]
    Length(usize),
    /// Its data set does not fit into it.
    #[error("its data set's bounds are impossible")]
    Dataset,
    /// Its checksum does not match.
    #[error("its checksum is {found:08x}, and its validation says {stored:08x}")]
    Checksum {
        /// What the bytes give.
        found: u32,
        /// What is stored.
        stored: u32,
    },
}

impl Block {
    /// Reads a block and its validation from the start of `region` and checks the CRC-32. Up to
    /// [`REGION_BYTES`] are looked at.
    ///
    /// # Errors
    /// It is none, or it is damaged.
    pub fn parse(region: &[u8]) -> Result<Self, BlockFault> {
        let mut r = Reader(region.get(..REGION_BYTES).unwrap_or(region));
        let whole = r.0;
        if r.array() != Some(SIGNATURE) {
            return Err(BlockFault::Signature);
        }
        let mut header = || Some((r.u16()?, r.u16()?));
        let (len, version) = header().ok_or(BlockFault::Short)?;
        if version != VERSION {
            return Err(BlockFault::Version(version));
        }
        let len = usize::from(len) * UNIT;
        let too_long = whole.len() == REGION_BYTES;
        let (body, after) = whole.split_at_checked(len).ok_or(if too_long {
            BlockFault::Length(len)
        } else {
            BlockFault::Short
        })?;
        if len < BLOCK_HEADER_BYTES + DATASET_HEADER_BYTES {
            return Err(BlockFault::Length(len));
        }
        let validation = Validation::parse(after).ok_or(BlockFault::Short)?;
        let found = crc32fast::hash(body);
        if found != validation.crc {
            return Err(BlockFault::Checksum { found, stored: validation.crc });
        }
        let (_, dataset) = body.split_at_checked(BLOCK_HEADER_BYTES).ok_or(BlockFault::Length(len))?;
        let (dataset, padding) = Dataset::split(dataset).ok_or(BlockFault::Dataset)?;
        let fields = || {
            Some(Self {
                version,
                state: EncryptionState::from_code(r.u16()?),
                next_state: EncryptionState::from_code(r.u16()?),
                encrypted_bytes: r.u64()?,
                log_bytes: r.u32()?,
                boot_sectors: r.u32()?,
                copies: [r.u64()?, r.u64()?, r.u64()?],
                boot_backup: r.u64()?,
                dataset,
                padding: padding.to_vec(),
                validation,
            })
        };
        fields().ok_or(BlockFault::Short)
    }

    /// The block without its validation: what the CRC-32 and the SHA-256 are of.
    ///
    /// # Errors
    /// It has become too long for its 64 KiB.
    pub fn body(&self) -> Result<Vec<u8>, EntryTooLong> {
        let mut dataset = Vec::new();
        self.dataset.write(&mut dataset)?;
        let filled = BLOCK_HEADER_BYTES + dataset.len();
        let kept = Some(&self.padding).filter(|padding| (filled + padding.len()).is_multiple_of(UNIT));
        let len = kept.map_or(filled.next_multiple_of(UNIT), |padding| filled + padding.len());
        // Room for the largest validation seen: 8 bytes and an entry of 80.
        let field = u16::try_from(len / UNIT).ok().filter(|_| len + 88 <= REGION_BYTES);
        let mut out = SIGNATURE.to_vec();
        out.extend_from_slice(&field.ok_or(EntryTooLong(len))?.to_le_bytes());
        for field in [self.version, self.state.code(), self.next_state.code()] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&self.encrypted_bytes.to_le_bytes());
        out.extend_from_slice(&self.log_bytes.to_le_bytes());
        out.extend_from_slice(&self.boot_sectors.to_le_bytes());
        for offset in self.copies.iter().chain([&self.boot_backup]) {
            out.extend_from_slice(&offset.to_le_bytes());
        }
        out.extend_from_slice(&dataset);
        out.extend_from_slice(kept.map_or(&[], Vec::as_slice));
        out.resize(len, 0);
        Ok(out)
    }

    /// The block with its validation as it is held; up to [`REGION_BYTES`] only zeros follow.
    /// After a change, [`Block::validate`] comes first.
    ///
    /// # Errors
    /// It has become too long for its 64 KiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EntryTooLong> {
        let mut out = self.body()?;
        self.validation.write(&mut out)?;
        if out.len() > REGION_BYTES {
            return Err(EntryTooLong(out.len()));
        }
        Ok(out)
    }

    /// The 64 KiB of a copy: [`Block::to_bytes`] and zeros.
    ///
    /// # Errors
    /// It has become too long for them.
    pub fn region(&self) -> Result<AlignedBuf, EntryTooLong> {
        let mut region = AlignedBuf::zeroed(REGION_BYTES);
        for (slot, byte) in region.iter_mut().zip(self.to_bytes()?) {
            *slot = byte;
        }
        Ok(region)
    }

    /// Makes the validation anew after a change: the CRC-32, and the SHA-256 sealed with the volume
    /// master key under a nonce of `time` and the next counter, which is thereby used up.
    ///
    /// # Errors
    /// It has become too long for its 64 KiB.
    pub fn validate(&mut self, master: &SecretKey, time: u64) -> Result<(), EntryTooLong> {
        let nonce = Nonce { time, counter: self.dataset.take_nonce() };
        let body = self.body()?;
        let digest = SecretBytes::take(Sha256::digest(&body).as_mut_slice());
        let key = SecretKey { algorithm: algorithm::SHA256, flags: 0, bytes: digest };
        let hash = Some(Entry::new(role::PROPERTY, Value::Sealed(key.seal(&master.bytes, nonce))));
        let bytes = u16::try_from(REGION_BYTES - body.len()).map_err(|_| EntryTooLong(body.len()))?;
        self.validation = Validation { bytes, version: self.version, crc: crc32fast::hash(&body), hash };
        Ok(())
    }

    /// Whether the sealed SHA-256 is there and is that of the block, which only those who have the
    /// volume master key can bring about.
    pub fn is_authentic(&self, master: &SecretKey) -> bool {
        let hash = self.validation.sealed().and_then(|sealed| SecretKey::unseal(&master.bytes, sealed));
        let body = self.body();
        hash.zip(body.ok()).is_some_and(|(key, body)| key.bytes.same_as(&Sha256::digest(&body)))
    }

    /// How the data is encrypted; the number itself where it isn't known.
    ///
    /// # Errors
    /// The number, where it isn't known.
    pub fn method(&self) -> Result<Method, u16> {
        Method::from_code(self.dataset.method).ok_or(self.dataset.method)
    }

    /// The entry that says where the volume's first sectors lie.
    pub(crate) fn boot_backup_entry(&self) -> Option<&super::entry::BootBackup> {
        self.dataset
            .entries
            .with_role(role::BOOT_BACKUP)
            .find_map(|value| if let Value::BootBackup(backup) = value { Some(backup) } else { None })
    }
}

impl Dataset {
    /// Reads a data set from the start of `bytes`; gives what comes after it, too.
    fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut r = Reader(bytes);
        let (len, version, start, end) = (r.u32()?, r.u32()?, r.u32()?, r.u32()?);
        if start as usize != DATASET_HEADER_BYTES || end != len {
            return None;
        }
        let (whole, after) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
        let entries = whole.get(DATASET_HEADER_BYTES..)?;
        let dataset = Self {
            version,
            volume: Guid(r.array()?),
            next_nonce: r.u32()?,
            method: r.u16()?,
            second_method: r.u16()?,
            created: FileTime(r.u64()?),
            entries: Entries::parse(entries),
        };
        Some((dataset, after))
    }

    /// Appends it.
    ///
    /// # Errors
    /// An entry, or all of them, are too long.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), EntryTooLong> {
        let mut entries = Vec::new();
        self.entries.write(&mut entries)?;
        let len = DATASET_HEADER_BYTES + entries.len();
        let field = u32::try_from(len).map_err(|_| EntryTooLong(len))?;
        for field in [field, self.version, DATASET_HEADER_BYTES as u32, field] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&self.volume.0);
        out.extend_from_slice(&self.next_nonce.to_le_bytes());
        out.extend_from_slice(&self.method.to_le_bytes());
        out.extend_from_slice(&self.second_method.to_le_bytes());
        out.extend_from_slice(&self.created.0.to_le_bytes());
        out.extend_from_slice(&entries);
        Ok(())
    }

    /// The counter for a sealing, which is used up by that.
    pub fn take_nonce(&mut self) -> u32 {
        let counter = self.next_nonce;
        self.next_nonce = counter.wrapping_add(1);
        counter
    }
}

impl Validation {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader(bytes);
        let (len, version, crc) = (r.u16()?, r.u16()?, r.u32()?);
        let hash = if version >= 2 { Entries::parse_first(r.0) } else { None };
        Some(Self { bytes: len, version, crc, hash })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EntryTooLong> {
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
        self.hash.iter().try_for_each(|entry| entry.write(out))
    }

    /// The sealed SHA-256, where there is one.
    pub fn sealed(&self) -> Option<&Sealed> {
        match self.hash.as_ref()?.value {
            Value::Sealed(ref sealed) => Some(sealed),
            _ => None,
        }
    }
}
