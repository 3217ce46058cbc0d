//! Keys of the virtual drive, wrapped in keys, down to the PINs.
//!
//! ```text
//! PIN --PBKDF2--> key of a PIN --> key of an authority
//!      of an enabled admin:  --> the admins' key --> each range's key, each authority's key
//!      of enabled users:     --> the keys of the ranges that an ACE lets them unlock
//! range's key --> media key
//! ```
//!
//! An arrow is AES-256-CCM with a random nonce (RFC 3610). Nothing of this is the specification's: a
//! drive may do as it likes, and the ones that did not do this were opened in 2018.

use aes::Aes256;
use ccm::aead::AeadInOut;
use ccm::consts::{U12, U16};
use ccm::{Ccm, KeyInit};
use hmac::{Hmac, Mac};
use keyway_kdf::{Prf, pbkdf2};
use keyway_secret::SecretBytes;
use sha2::Sha256;

/// Bytes of a PIN at most (Opal SSC 2.01, 4.2.1.8).
pub(crate) const MAX_PIN: usize = 32;

type Aead = Ccm<Aes256, U16, U12>;

/// Bytes of every key but a media key.
pub(super) const KEY_BYTES: usize = 32;
/// Bytes of a media key: two of AES-256, for XTS.
pub(super) const MEDIA_KEY_BYTES: usize = 64;
/// Bytes of a PIN's salt.
const SALT_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;

/// The machine gives no random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoRandom;

pub(super) fn random_bytes(out: &mut [u8]) -> Result<(), NoRandom> {
    getrandom::fill(out).map_err(|_| NoRandom)
}

/// A new key.
pub(super) fn random_key(len: usize) -> Result<SecretBytes, NoRandom> {
    let mut key = SecretBytes::zeroed(len);
    random_bytes(&mut key)?;
    Ok(key)
}

/// A secret under a key: nonce, MAC, cipher text.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Sealed(Vec<u8>);

impl Sealed {
    pub(super) fn new(key: &[u8], secret: &[u8]) -> Result<Self, NoRandom> {
        let mut nonce = [0; NONCE_BYTES];
        random_bytes(&mut nonce)?;
        let mut work = SecretBytes::copy_of(secret);
        let aead = Aead::new_from_slice(key).map_err(|_| NoRandom)?;
        let tag =
            aead.encrypt_inout_detached(&nonce.into(), &[], (&mut work[..]).into()).map_err(|_| NoRandom)?;
        keyway_secret::wipe_stack();
        Ok(Self([&nonce[..], &tag[..], &work[..]].concat()))
    }

    /// The secret; none when it is another key.
    pub(super) fn open(&self, key: &[u8]) -> Option<SecretBytes> {
        let (nonce, rest) = self.0.split_first_chunk::<NONCE_BYTES>()?;
        let (tag, text) = rest.split_first_chunk::<TAG_BYTES>()?;
        let mut work = SecretBytes::copy_of(text);
        let aead = Aead::new_from_slice(key).ok()?;
        let opened = aead
            .decrypt_inout_detached(&(*nonce).into(), &[], (&mut work[..]).into(), &(*tag).into())
            .is_ok();
        keyway_secret::wipe_stack();
        opened.then_some(work)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

/// A PIN, as far as it is kept: what it takes to try one, and the authority's key under it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PinRecord {
    pub(super) salt: Vec<u8>,
    pub(super) iterations: u32,
    /// The authority's key under the PIN's.
    pub(super) key: Sealed,
    /// The authority's key under the admins', so that an admin can give a new PIN.
    pub(super) escrow: Option<Sealed>,
    /// The admins' key under the authority's, where it is an enabled admin.
    pub(super) admins: Option<Sealed>,
}

impl PinRecord {
    /// A new authority's key under this PIN.
    pub(super) fn new(pin: &[u8], iterations: u32) -> Result<(Self, SecretBytes), NoRandom> {
        let key = random_key(KEY_BYTES)?;
        let mut record =
            Self { salt: Vec::new(), iterations, key: Sealed(Vec::new()), escrow: None, admins: None };
        record.set(pin, iterations, &key)?;
        Ok((record, key))
    }

    /// The same key under another PIN.
    pub(super) fn set(&mut self, pin: &[u8], iterations: u32, key: &SecretBytes) -> Result<(), NoRandom> {
        self.iterations = iterations;
        let mut salt = vec![0; SALT_BYTES];
        random_bytes(&mut salt)?;
        let pin_key = pbkdf2(Prf::Sha512, pin, &salt, self.iterations, KEY_BYTES);
        self.key = Sealed::new(&pin_key, key)?;
        self.salt = salt;
        Ok(())
    }

    /// The authority's key; none when it is another PIN.
    pub(super) fn open(&self, pin: &[u8]) -> Option<SecretBytes> {
        let pin_key = pbkdf2(Prf::Sha512, pin, &self.salt, self.iterations, KEY_BYTES);
        self.key.open(&pin_key)
    }
}

/// The key that several authorities have together: HMAC-SHA-256 over theirs, in the order of their UIDs.
pub(super) fn joint_key<'a>(keys: impl Iterator<Item = &'a SecretBytes>) -> SecretBytes {
    let mut out = SecretBytes::zeroed(KEY_BYTES);
    // HMAC takes a key of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(b"keyway: authorities together") {
        keys.for_each(|key| mac.update(key));
        let mut sum = mac.finalize().into_bytes();
        out.copy_from_slice(&sum);
        zeroize::Zeroize::zeroize(&mut sum[..]);
    }
    keyway_secret::wipe_stack();
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_opens() {
        let (key, other) = (random_key(32).unwrap(), random_key(32).unwrap());
        let sealed = Sealed::new(&key, b"secret").map_err(|_| ()).unwrap();
        assert_eq!(&sealed.open(&key).unwrap()[..], b"secret");
        assert!(sealed.open(&other).is_none());
        assert!(Sealed::from_bytes(&sealed.as_bytes()[..27]).open(&key).is_none());
        assert!(!sealed.as_bytes().windows(6).any(|w| w == b"secret"));
    }

    #[test]
    fn a_new_pin_keeps_the_key() {
        let (mut record, key) = PinRecord::new(b"one", 1).unwrap();
        assert!(record.open(b"two").is_none());
        record.set(b"two", 1, &key).unwrap();
        assert!(record.open(b"one").is_none());
        assert!(record.open(b"two").unwrap().same_as(&key));
    }
}
