//! Keys encrypted with keys: AES-CCM with 256 bits, a nonce of 12 bytes and a MAC of 16.
//!
//! The plain text is an entry that holds a key:
//!
//! ```text
//! offset size
//!      0    2  bytes, these included
//!      2    2  role, 0
//!      4    2  kind, 1: a key
//!      6    2  flags, 0
//!      8    2  algorithm (codes::algorithm, or codes::Method for the data key)
//!     10    2  flags
//!     12    …  the key
//! ```
//!
//! Source: libbde's format description ("AES-CCM encrypted key"). RFC 3610 is the mode's.

use super::codes::{algorithm, kind, role};
use super::entry::{ENTRY_HEADER_BYTES, Nonce, RawEntry, Sealed};
use super::reader::Reader;
use aes::Aes256;
use ccm::aead::AeadInOut;
use ccm::consts::{U12, U16};
use ccm::{Ccm, KeyInit};
use keyway_secret::SecretBytes;

type Aead = Ccm<Aes256, U16, U12>;

/// Bytes of every key that seals.
pub(crate) const SEALING_KEY_BYTES: usize = 32;

/// Bytes before a key in its plain text.
const HEADER_BYTES: usize = ENTRY_HEADER_BYTES + 4;

/// A key out of a sealed entry, or to be sealed: the volume master key, the data key, a stretched
/// key.
pub struct SecretKey {
    /// Its algorithm: [`super::codes::algorithm`], or [`super::Method::code`] for the data key.
    pub algorithm: u16,
    /// Its flags; 0 in what was met.
    pub flags: u16,
    /// The key.
    pub bytes: SecretBytes,
}

impl SecretKey {
    /// A volume master key.
    pub fn master(bytes: SecretBytes) -> Self {
        Self { algorithm: algorithm::MASTER, flags: 0, bytes }
    }

    /// Decrypts a key; `None` when `key` is another one than it was sealed with, or when what was
    /// sealed is no key.
    pub fn unseal(key: &[u8], sealed: &Sealed) -> Option<Self> {
        Self::parse(&unseal(key, sealed)?)
    }

    /// Encrypts it. A nonce must never serve twice under one key.
    ///
    /// # Panics
    /// When `key` has another length than [`SEALING_KEY_BYTES`], or the key itself is 64 KiB or
    /// longer: both are the caller's own.
    #[allow(clippy::expect_used, reason = "lengths that the caller answers for")]
    pub fn seal(&self, key: &[u8], nonce: Nonce) -> Sealed {
        seal(key, nonce, &self.to_plain())
    }

    /// The entry that holds it: the plain text above.
    ///
    /// # Panics
    /// When the key is 64 KiB or longer: it is the caller's own.
    #[allow(clippy::expect_used, reason = "a length that the caller answers for")]
    pub(crate) fn to_plain(&self) -> SecretBytes {
        let len = u16::try_from(HEADER_BYTES + self.bytes.len()).expect("a key is short");
        let mut plain = SecretBytes::zeroed(usize::from(len));
        let (header, bytes) = plain.split_at_mut(HEADER_BYTES);
        let fields = [len, role::PROPERTY, kind::KEY, 0, self.algorithm, self.flags];
        for (slot, field) in header.chunks_exact_mut(2).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        bytes.copy_from_slice(&self.bytes);
        plain
    }

    /// The key in such an entry.
    pub(crate) fn parse(plain: &[u8]) -> Option<Self> {
        let (entry, _) = RawEntry::split(plain)?;
        (entry.kind == kind::KEY).then_some(())?;
        Self::from_value(entry.bytes)
    }

    /// The key in the value of an entry of kind [`kind::KEY`].
    pub(crate) fn from_value(value: &[u8]) -> Option<Self> {
        let mut r = Reader(value);
        Some(Self { algorithm: r.u16()?, flags: r.u16()?, bytes: SecretBytes::copy_of(r.0) })
    }
}

/// Decrypts; `None` when `key` is the wrong one.
pub fn unseal(key: &[u8], sealed: &Sealed) -> Option<SecretBytes> {
    let mut plain = SecretBytes::copy_of(&sealed.bytes);
    let opened = Aead::new_from_slice(key).ok().is_some_and(|aead| {
        let nonce = sealed.nonce.to_bytes();
        aead.decrypt_inout_detached(&nonce.into(), &[], (&mut plain[..]).into(), &sealed.mac.into()).is_ok()
    });
    keyway_secret::wipe_stack();
    opened.then_some(plain)
}

/// Encrypts. A nonce must never serve twice under one key.
///
/// # Panics
/// When `key` has another length than [`SEALING_KEY_BYTES`], or `plain` more than 16 MiB.
#[allow(clippy::expect_used, reason = "lengths that the caller answers for")]
pub fn seal(key: &[u8], nonce: Nonce, plain: &[u8]) -> Sealed {
    let mut bytes = SecretBytes::copy_of(plain);
    let aead = Aead::new_from_slice(key).expect("a sealing key has 32 bytes");
    let mac = aead
        .encrypt_inout_detached(&nonce.to_bytes().into(), &[], (&mut bytes[..]).into())
        .expect("AES-CCM takes 16 MiB");
    drop(aead);
    keyway_secret::wipe_stack();
    Sealed { nonce, mac: mac.into(), bytes: bytes.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: Nonce = Nonce { time: 132_066_973_151_562_352, counter: 9 };

    fn key() -> SecretKey {
        SecretKey { algorithm: 0x2003, flags: 0, bytes: SecretBytes::copy_of(&[7; 32]) }
    }

    #[test]
    fn what_was_sealed_opens_with_its_key_only() {
        let sealed = key().seal(&[1; 32], NONCE);
        // 12 bytes of header, 32 of key: the 80 bytes of the entries that Windows writes.
        assert_eq!(sealed.bytes.len(), 44);
        let opened = SecretKey::unseal(&[1; 32], &sealed).expect("the right key");
        assert_eq!((opened.algorithm, opened.flags), (0x2003, 0));
        assert!(opened.bytes.same_as(&[7; 32]));
        assert!(SecretKey::unseal(&[2; 32], &sealed).is_none());
        assert!(SecretKey::unseal(&[1; 16], &sealed).is_none());
        let mut changed = sealed.clone();
        changed.bytes[20] ^= 1;
        assert!(SecretKey::unseal(&[1; 32], &changed).is_none());
        let mut changed = sealed;
        changed.mac[0] ^= 1;
        assert!(SecretKey::unseal(&[1; 32], &changed).is_none());
    }

    #[test]
    fn what_is_no_key_is_none() {
        for plain in [&[][..], &[8, 0, 0, 0, 1, 0, 1, 0], &[12, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0]] {
            assert!(SecretKey::unseal(&[1; 32], &seal(&[1; 32], NONCE, plain)).is_none());
        }
    }
}
