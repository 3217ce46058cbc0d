//! One header with one key derivation: the parts of its key come one by one, and it is tried with what is there.

use super::area::Area;
use super::derive::derive_header_key;
use super::header::{Header, HeaderFault};
use super::header_location::HeaderLocation;
use super::params::{Derivation, Format, HashName};
use super::sealed::SealedHeader;
use super::suite::{Suite, longest_key};
use keyway_kdf::Prf;
use keyway_secret::SecretBytes;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A header as it was read, and where.
pub(crate) struct Candidate {
    pub(crate) place: HeaderLocation,
    pub(crate) sealed: SealedHeader,
}

/// A header that opened, with how.
pub(crate) struct Match {
    pub(crate) header: Header,
    pub(crate) area: Area,
    pub(crate) place: HeaderLocation,
    pub(crate) suite: Suite,
    pub(crate) hash: HashName,
    pub(crate) derivation: Derivation,
}

/// One derivation on one header.
pub(super) struct Trial {
    pub(super) candidate: Candidate,
    pub(super) format: Format,
    pub(super) hash: HashName,
    pub(super) derivation: Derivation,
    key: Mutex<PartialKey>,
}

/// The part of a header key that is there so far.
struct PartialKey {
    bytes: SecretBytes,
    /// Which blocks are there.
    present: Vec<bool>,
    /// How many suites, in order of key length, have been tried.
    tried: usize,
    /// A suite opened the header,
    has_opened: bool,
    /// or none of them does, and that is known.
    is_ruled_out: bool,
}

impl Trial {
    pub(super) fn new(candidate: Candidate, format: Format, hash: HashName, derivation: Derivation) -> Self {
        let len = longest_key(format);
        let blocks = hash.prf().map_or(1, |prf| len.div_ceil(prf.digest_bytes()));
        let digest = hash.prf().map_or(len, Prf::digest_bytes);
        let bytes = SecretBytes::zeroed(blocks * digest);
        let key = PartialKey {
            bytes,
            present: vec![false; blocks],
            tried: 0,
            has_opened: false,
            is_ruled_out: false,
        };
        Self { candidate, format, hash, derivation, key: Mutex::new(key) }
    }

    /// Derives its whole key at once and tries it, whatever other threads have of it.
    pub(super) fn open_alone(&self, password: &[u8], store_bytes: u64) -> Option<Box<Match>> {
        let candidate = Candidate { place: self.candidate.place, sealed: self.candidate.sealed.clone() };
        let alone = Self::new(candidate, self.format, self.hash, self.derivation);
        let (salt, len) = (self.candidate.sealed.salt(), self.lock_key().bytes.len());
        let never = AtomicBool::new(false);
        let key = derive_header_key(self.hash, self.derivation, password, salt, len, &never).ok()??;
        let mut parts = alone.lock_key();
        parts.bytes = key;
        parts.present.fill(true);
        drop(parts);
        alone.open(store_bytes).ok()?
    }

    /// By place, then by how usual the derivation is; of the copies the dearest first, so that all
    /// cores are done at about the same time. TrueCrypt's cost so little that they go right after the
    /// most usual one.
    pub(super) fn rank(&self) -> (usize, usize) {
        /// Behind every other place.
        const COPIES: usize = HeaderLocation::ALL.len();
        let at = HeaderLocation::ALL.iter().position(|p| *p == self.candidate.place).unwrap_or(0);
        let hash = HashName::ALL.iter().position(|h| *h == self.hash).unwrap_or(0);
        match (self.format, self.candidate.place) {
            (Format::TrueCrypt, _) => (0, 1),
            // A system header is only tried where there is a boot sector: likely, then.
            (Format::VeraCrypt, HeaderLocation::System) => (0, 2 * hash + 2),
            (Format::VeraCrypt, place) if place.is_backup() => (COPIES, HashName::ALL.len() - hash),
            (Format::VeraCrypt, _) => (at, 2 * hash),
        }
    }

    fn lock_key(&self) -> MutexGuard<'_, PartialKey> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many blocks its key has.
    pub(super) fn blocks(&self) -> usize {
        self.lock_key().present.len()
    }

    /// Whether it has been tried with every suite, in vain.
    pub(super) fn is_ruled_out(&self) -> bool {
        self.lock_key().is_ruled_out
    }

    /// Puts block `index`, counted from 1, in its place.
    pub(super) fn put(&self, index: u32, block: &[u8]) {
        let mut key = self.lock_key();
        let slot = (index as usize).saturating_sub(1);
        let start = slot * key.bytes.len().div_ceil(key.present.len().max(1));
        for (to, from) in key.bytes.iter_mut().skip(start).zip(block) {
            *to = *from;
        }
        if let Some(present) = key.present.get_mut(slot) {
            *present = true;
        }
    }

    /// Tries the suites that the key is long enough for by now and that were not tried before.
    pub(super) fn open(&self, store_bytes: u64) -> Result<Option<Box<Match>>, HeaderFault> {
        let mut key = self.lock_key();
        let opened = self.open_with(&mut key, store_bytes);
        key.has_opened |= matches!(&opened, Ok(Some(_)));
        key.is_ruled_out = !key.has_opened && (opened.is_err() || key.present.iter().all(|present| *present));
        opened
    }

    fn open_with(&self, key: &mut PartialKey, store_bytes: u64) -> Result<Option<Box<Match>>, HeaderFault> {
        let block = key.bytes.len().div_ceil(key.present.len().max(1));
        let there = key.present.iter().take_while(|present| **present).count() * block;
        let mut suites = Suite::all(self.format);
        suites.sort_by_key(Suite::key_bytes);
        let place = self.candidate.place;
        while let Some(suite) = suites.get(key.tried).copied().filter(|s| s.key_bytes() <= there) {
            key.tried += 1;
            let Some(header) = self.candidate.sealed.open(suite, &key.bytes)? else { continue };
            if header.format != self.format {
                continue;
            }
            let area = Area::of(&header, place, suite.mode, store_bytes).map_err(|fault| match fault {
                HeaderFault::PartlyEncrypted { encrypted, volume } if header.flags.is_in_place() => {
                    HeaderFault::InPlaceUnfinished { encrypted, volume }
                }
                other => other,
            })?;
            let (hash, derivation) = (self.hash, self.derivation);
            return Ok(Some(Box::new(Match { header, area, place, suite, hash, derivation })));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::veracrypt::HEADER_BYTES;

    #[test]
    fn a_key_is_tried_as_soon_as_its_first_blocks_are_there() {
        let candidate =
            Candidate { place: HeaderLocation::Primary, sealed: SealedHeader::from_bytes([1; HEADER_BYTES]) };
        let derivation = Derivation::Pbkdf2 { iterations: 1000 };
        let trial = Trial::new(candidate, Format::VeraCrypt, HashName::Sha512, derivation);
        let tried = || trial.lock_key().tried;
        let put_and_open = |index| {
            trial.put(index, &[9; 64]);
            assert!(trial.open(1 << 20).is_ok_and(|found| found.is_none()));
        };
        put_and_open(2);
        assert_eq!(tried(), 0);
        put_and_open(1);
        // Five ciphers and seven cascades of two; three cascades of three wait for the last block.
        assert_eq!(tried(), 5 + 7);
        assert!(!trial.is_ruled_out());
        put_and_open(3);
        assert_eq!(tried(), 15);
        assert!(trial.is_ruled_out());
    }
}
