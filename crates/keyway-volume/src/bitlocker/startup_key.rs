//! Startup keys: .BEK files, data sets with one external key.
//!
//! ```text
//! offset size
//!      0   48  a data set's header; its GUID is the key's, its nonce counter 1, its method 0
//!     48    8  entry: role 6, kind 9, flags 1
//!     56   16  the key's GUID, which is that of the protector
//!     72    8  FILETIME
//!     80    …  entry of a text: "ExternalKey"
//!      …   44  entry of the key: algorithm 0x2002, 32 bytes
//! ```
//!
//! Windows names the file `{GUID in capitals}.BEK` and hides it. Source: libbde's format
//! description ("BitLocker External Key (BEK) file"), checked with a file that Windows wrote.

use super::block::DATASET_HEADER_BYTES;
use super::codes::{algorithm, kind, role};
use super::entry::{ENTRY_HEADER_BYTES, RawEntry};
use super::filetime::FileTime;
use super::guid::Guid;
use super::reader::Reader;
use super::seal::{SEALING_KEY_BYTES, SecretKey};
use keyway_secret::SecretBytes;

/// More bytes than any startup key has.
pub const LARGEST_STARTUP_KEY: usize = 4096;

/// The name that Windows gives the key's text.
const NAME: &str = "ExternalKey";

/// A startup key.
pub struct StartupKey {
    /// Its identifier, which is that of its protector.
    pub id: Guid,
    /// When the file was made.
    pub created: FileTime,
    /// When the key was made.
    pub changed: FileTime,
    /// The UTF-16 units of its name; empty where it has none.
    pub name: Vec<u16>,
    /// The key.
    pub key: SecretKey,
}

/// Why a file is no startup key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartupKeyFault {
    /// Longer than any.
    #[error("it has more than 4096 bytes")]
    TooLong,
    /// It does not begin as one.
    #[error("it does not begin as a .BEK file does")]
    Header,
    /// There is no external key in it.
    #[error("there is no external key in it")]
    NoKey,
}

impl StartupKey {
    /// A new random one.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = SecretBytes::zeroed(SEALING_KEY_BYTES);
        getrandom::fill(&mut bytes)?;
        let now = FileTime::now();
        Ok(Self {
            id: Guid::random()?,
            created: now,
            changed: now,
            name: NAME.encode_utf16().chain([0]).collect(),
            key: SecretKey { algorithm: algorithm::EXTERNAL, flags: 0, bytes },
        })
    }

    /// Reads the bytes of a .BEK file.
    pub fn parse(file: &SecretBytes) -> Result<Self, StartupKeyFault> {
        if file.len() > LARGEST_STARTUP_KEY {
            return Err(StartupKeyFault::TooLong);
        }
        let (entries, created) = Self::header(file).ok_or(StartupKeyFault::Header)?;
        let external = |raw: &RawEntry<'_>| raw.kind == kind::EXTERNAL_KEY;
        let raw = entries_of(entries).find(external).ok_or(StartupKeyFault::NoKey)?;
        let mut r = Reader(raw.bytes);
        let (id, changed) = r.array().map(Guid).zip(r.u64().map(FileTime)).ok_or(StartupKeyFault::NoKey)?;
        let mut name = Vec::new();
        let mut key = None;
        for part in entries_of(r.0) {
            match part.kind {
                kind::TEXT => {
                    name = part.bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
                }
                kind::KEY => key = key.or(SecretKey::from_value(part.bytes)),
                _ => {}
            }
        }
        let key = key.filter(|key| key.bytes.len() == SEALING_KEY_BYTES).ok_or(StartupKeyFault::NoKey)?;
        Ok(Self { id, created, changed, name, key })
    }

    /// The entries and the time of creation.
    fn header(file: &[u8]) -> Option<(&[u8], FileTime)> {
        let mut r = Reader(file);
        let (len, version, start, _) = (r.u32()?, r.u32()?, r.u32()?, r.u32()?);
        (version == 1 && start as usize == DATASET_HEADER_BYTES).then_some(())?;
        r.take(24)?;
        let created = FileTime(r.u64()?);
        Some((file.get(DATASET_HEADER_BYTES..usize::try_from(len).ok()?)?, created))
    }

    /// The bytes of the .BEK file.
    pub fn to_bytes(&self) -> SecretBytes {
        let name_bytes = if self.name.is_empty() { 0 } else { ENTRY_HEADER_BYTES + 2 * self.name.len() };
        let key_bytes = ENTRY_HEADER_BYTES + 4 + self.key.bytes.len();
        let entry_bytes = ENTRY_HEADER_BYTES + 24 + name_bytes + key_bytes;
        let len = DATASET_HEADER_BYTES + entry_bytes;
        let mut file = SecretBytes::zeroed(len);
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(slot) = file.get_mut(at..at + bytes.len()) {
                slot.copy_from_slice(bytes);
            }
            at += bytes.len();
        };
        for field in [len as u32, 1, DATASET_HEADER_BYTES as u32, len as u32] {
            put(&field.to_le_bytes());
        }
        put(&self.id.0);
        put(&1u32.to_le_bytes());
        put(&0u32.to_le_bytes());
        put(&self.created.0.to_le_bytes());
        for field in [entry_bytes as u16, role::STARTUP_KEY, kind::EXTERNAL_KEY, 1] {
            put(&field.to_le_bytes());
        }
        put(&self.id.0);
        put(&self.changed.0.to_le_bytes());
        if !self.name.is_empty() {
            for field in [name_bytes as u16, role::PROPERTY, kind::TEXT, 1] {
                put(&field.to_le_bytes());
            }
            self.name.iter().for_each(|unit| put(&unit.to_le_bytes()));
        }
        for field in [key_bytes as u16, role::PROPERTY, kind::KEY, 1, self.key.algorithm, self.key.flags] {
            put(&field.to_le_bytes());
        }
        put(&self.key.bytes);
        file
    }

    /// The file's name as Windows has it.
    pub fn file_name(&self) -> String {
        format!("{}.BEK", self.id.to_string().to_uppercase())
    }
}

/// The entries one after the other, where they lie.
fn entries_of(mut bytes: &[u8]) -> impl Iterator<Item = RawEntry<'_>> {
    std::iter::from_fn(move || {
        let (entry, rest) = RawEntry::split(bytes)?;
        bytes = rest;
        Some(entry)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_one_reads_back() {
        let key = StartupKey::random().expect("random");
        let file = key.to_bytes();
        // The length of the files that Windows writes.
        assert_eq!(file.len(), 156);
        let again = StartupKey::parse(&file).expect("reads");
        assert_eq!((again.id, again.created, again.changed), (key.id, key.created, key.changed));
        assert_eq!(again.name, key.name);
        assert!(again.key.bytes.same_as(&key.key.bytes));
        assert!(again.to_bytes().same_as(&file));
        assert_eq!(key.file_name().len(), 40);
    }

    #[test]
    fn what_is_none_is_refused() {
        let fault = |bytes: &[u8]| StartupKey::parse(&SecretBytes::copy_of(bytes)).err();
        let good = StartupKey::random().expect("random").to_bytes();
        assert_eq!(fault(&[]), Some(StartupKeyFault::Header));
        assert_eq!(fault(&[7; 5000]), Some(StartupKeyFault::TooLong));
        assert_eq!(fault(&good[..100]), Some(StartupKeyFault::Header));
        for at in [0, 4, 8, 48, 49, 52] {
            let mut bytes = good.to_vec();
            bytes[at] ^= 0xff;
            assert!(fault(&bytes).is_some(), "{at}");
        }
        for end in 0..good.len() {
            assert!(fault(&good[..end]).is_some(), "{end}");
        }
    }
}
