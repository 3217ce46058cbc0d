//! A data key that a volume gets in place of its own, sealed as its metadata will hold it.
//!
//! The volume master key stays, and with it every protector. The entry is made before the first sector is
//! encrypted with the key, and kept beside the metadata, which goes on telling of the old one until everything
//! is.

use super::block::Block;
use super::codes::{Method, role};
use super::create_error::CreateError;
use super::create_metadata::random_data_key;
use super::data_key::cipher;
use super::entry::{Entries, Entry, EntryTooLong, Value};
use super::error::BitLockerError;
use super::protect::ProtectorMaker;
use super::seal::SecretKey;
use keyway_cipher::SectorCipher;

/// The longest entry that holds a data key, in bytes: its header, nonce and MAC, the header of the key and a key
/// of 64 bytes ([`Method::stored_key_bytes`]).
pub const SEALED_KEY_BYTES: usize = 8 + 12 + 16 + 12 + 64;

/// A sealed data key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDataKey {
    method: Method,
    entry: Entry,
}

impl NewDataKey {
    /// A new one, sealed with the master key of the volume that has that metadata.
    ///
    /// # Errors
    /// The method has the diffuser, or there are no random bytes.
    pub(super) fn random(method: Method, block: &Block, master: &SecretKey) -> Result<Self, CreateError> {
        if !method.is_offered() {
            return Err(CreateError::MethodNotOffered(method.name()));
        }
        let key = random_data_key(method)?;
        // The nonce's counter is used up when the metadata gets the key: see `in_place_of`.
        let mut dataset = block.dataset.clone();
        let sealed = ProtectorMaker::new(master, &mut dataset).kept(key.algorithm, &key.bytes);
        Ok(Self { method, entry: Entry { role: role::DATA_KEY, ..sealed } })
    }

    /// How the data will be encrypted.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The entry's bytes: [`SEALED_KEY_BYTES`] at most.
    ///
    /// # Errors
    /// None that a key of a known method can have.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EntryTooLong> {
        let mut bytes = Vec::new();
        self.entry.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads it back; `None` where it is no sealed data key. Only whoever has the master key can tell whether it
    /// is the volume's.
    pub fn parse(method: Method, bytes: &[u8]) -> Option<Self> {
        let entry = Entries::parse_first(bytes)?;
        let is_sealed = matches!(entry.value, Value::Sealed(_)) && entry.role == role::DATA_KEY;
        is_sealed.then_some(Self { method, entry })
    }

    /// Whether the metadata has this key.
    pub fn is_in(&self, block: &Block) -> bool {
        block.dataset.entries.list.contains(&self.entry)
    }

    /// The metadata with this key in the place of its own; not validated.
    pub(super) fn in_place_of(&self, block: &Block) -> Block {
        let mut block = block.clone();
        let dataset = &mut block.dataset;
        for entry in &mut dataset.entries.list {
            if entry.role == role::DATA_KEY && matches!(entry.value, Value::Sealed(_)) {
                *entry = self.entry.clone();
            }
        }
        dataset.method = self.method.code();
        if dataset.second_method != 0 {
            dataset.second_method = self.method.code();
        }
        if let Value::Sealed(sealed) = &self.entry.value {
            dataset.next_nonce = dataset.next_nonce.max(sealed.nonce.counter.wrapping_add(1));
        }
        block
    }

    /// Its cipher.
    ///
    /// # Errors
    /// It was sealed with another master key, or is no key of its method.
    pub(super) fn open(&self, master: &SecretKey, sector_bytes: u32) -> Result<SectorCipher, BitLockerError> {
        let damaged = || BitLockerError::DamagedKey("new data key");
        let Value::Sealed(sealed) = &self.entry.value else { return Err(damaged()) };
        let key = SecretKey::unseal(&master.bytes, sealed).ok_or_else(damaged)?;
        if key.algorithm != self.method.code() {
            return Err(damaged());
        }
        Ok(cipher(self.method, &key, sector_bytes).ok_or_else(damaged)??)
    }
}
