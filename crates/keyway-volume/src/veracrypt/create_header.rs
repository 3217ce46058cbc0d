//! Headers under a fresh salt: what creating, changing, backing up and restoring have in common.

use super::create_error::CreateError;
use super::derive::derive_header_key;
use super::header::Header;
use super::header::SALT_BYTES;
use super::header_location::HEADER_BYTES;
use super::params::{Derivation, Format, HashName};
use super::random;
use super::sealed::SealedHeader;
use super::suite::{Suite, longest_key};
use crate::ReadBack;
use keyway_secret::SecretBytes;
use keyway_store::{AlignedBuf, Store, StoreError};
use std::sync::atomic::AtomicBool;

/// What a header is encrypted with, apart from the salt.
pub(crate) struct Seal<'a> {
    /// The password with its keyfiles mixed in.
    pub(crate) password: &'a SecretBytes,
    /// Whose volume.
    pub(crate) format: Format,
    /// The key derivation.
    pub(crate) hash: HashName,
    /// Its cost.
    pub(crate) derivation: Derivation,
    /// The ciphers; the header's are the data's.
    pub(crate) suite: Suite,
    /// Ends a derivation before its end.
    pub(crate) stop: &'a AtomicBool,
}

impl Seal<'_> {
    /// Encrypts the header once for each copy, each under a fresh salt of its own.
    pub(crate) fn fresh<const N: usize>(&self, header: &Header) -> Result<[SealedHeader; N], CreateError> {
        let mut salts = [[0u8; SALT_BYTES]; N];
        random::fill(salts.as_flattened_mut())?;
        let seal_one = |salt: &[u8; SALT_BYTES]| -> Result<SealedHeader, CreateError> {
            let key = self.header_key(salt)?;
            Ok(SealedHeader::seal(header, salt, self.suite, &key)?)
        };
        let sealed: Vec<Result<SealedHeader, CreateError>> = match self.derivation {
            // One after the other: each takes up to a gibibyte.
            Derivation::Argon2id { .. } => salts.iter().map(seal_one).collect(),
            Derivation::Pbkdf2 { .. } => std::thread::scope(|scope| {
                let seal_one = &seal_one;
                let running: Vec<_> = salts.iter().map(|salt| scope.spawn(move || seal_one(salt))).collect();
                let joined = running.into_iter().map(|thread| thread.join());
                joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            }),
        };
        let sealed = sealed.into_iter().collect::<Result<Vec<_>, _>>()?;
        sealed.try_into().map_err(|_| CreateError::ReadBack)
    }

    /// Decrypts a header as it lies on the medium. `None`: another secret, hash or suite.
    pub(crate) fn open(&self, sealed: &SealedHeader) -> Result<Option<Header>, CreateError> {
        let key = match sealed.salt().first_chunk::<SALT_BYTES>() {
            Some(salt) => self.header_key(salt)?,
            None => return Ok(None),
        };
        Ok(sealed.open(self.suite, &key).unwrap_or(None))
    }

    /// That a header as it lies on the medium opens, as this one.
    pub(crate) fn prove(&self, sealed: &SealedHeader, header: &Header) -> Result<(), CreateError> {
        let opens = self.open(sealed)?.is_some_and(|read| read.serialise().same_as(&header.serialise()));
        if opens { Ok(()) } else { Err(CreateError::ReadBack) }
    }

    fn header_key(&self, salt: &[u8; SALT_BYTES]) -> Result<SecretBytes, CreateError> {
        // The longest key whatever the suite: what Argon2id gives depends on how much is asked for.
        let len = longest_key(self.format);
        let key = derive_header_key(self.hash, self.derivation, self.password, salt, len, self.stop)?;
        key.ok_or(CreateError::Stopped)
    }
}

/// Writes a header and puts it on the medium, in whole sectors of the medium: what else lies in
/// the sector is read first and written back. A medium writes a sector whole or not at all, so a
/// power cut leaves the old header or the new one. Whether the medium did is what its flush tells.
pub(crate) fn put(store: &ReadBack<'_>, offset: u64, sealed: &SealedHeader) -> Result<(), StoreError> {
    let sector = u64::from(store.sector_bytes()).max(HEADER_BYTES as u64);
    let start = offset / sector * sector;
    let len = (offset + HEADER_BYTES as u64).next_multiple_of(sector).min(store.size()) - start;
    let mut around = AlignedBuf::zeroed(len as usize);
    if len > HEADER_BYTES as u64 {
        store.read_at(&mut around, start)?;
    }
    let within = (offset - start) as usize;
    for (to, from) in around.iter_mut().skip(within).zip(sealed.bytes()) {
        *to = *from;
    }
    store.write_at(&around, start)?;
    store.flush()
}

/// Reads the 512 bytes of a header.
pub(crate) fn get(store: &dyn Store, offset: u64) -> Result<SealedHeader, StoreError> {
    let mut bytes = [0; HEADER_BYTES];
    store.read_at(&mut bytes, offset)?;
    Ok(SealedHeader::from_bytes(bytes))
}
