//! A header as it lies on the medium: salt, then 448 encrypted bytes.

use super::header::{Header, HeaderFault, PLAIN_BYTES, SALT_BYTES};
use super::header_location::HEADER_BYTES;
use super::suite::Suite;
use keyway_cipher::CipherError;
use keyway_secret::Locked;

/// The 512 bytes of an encrypted header.
#[derive(Clone)]
pub struct SealedHeader {
    bytes: [u8; HEADER_BYTES],
}

impl SealedHeader {
    /// Takes the bytes as they were read.
    pub fn from_bytes(bytes: [u8; HEADER_BYTES]) -> Self {
        Self { bytes }
    }

    /// Encrypts `header` under a header key derived with `salt`: the beginning of `header_key`
    /// holds the suite's keys.
    ///
    /// # Errors
    /// The header key is too short for the suite.
    pub fn seal(
        header: &Header,
        salt: &[u8; SALT_BYTES],
        suite: Suite,
        header_key: &[u8],
    ) -> Result<Self, CipherError> {
        let mut plain = header.serialise();
        suite.cipher(header_key)?.encrypt_header(&mut plain);
        let mut bytes = [0; HEADER_BYTES];
        for (to, from) in bytes.iter_mut().zip(salt.iter().chain(plain.iter())) {
            *to = *from;
        }
        Ok(Self { bytes })
    }

    /// The bytes as they lie on the medium.
    pub fn bytes(&self) -> &[u8; HEADER_BYTES] {
        &self.bytes
    }

    /// The salt.
    pub fn salt(&self) -> &[u8] {
        self.bytes.get(..SALT_BYTES).unwrap_or_default()
    }

    /// Decrypts and parses with one suite. `Ok(None)`: the key or the suite is not the right one.
    ///
    /// # Errors
    /// The header decrypts but is damaged or lies.
    pub fn open(&self, suite: Suite, header_key: &[u8]) -> Result<Option<Header>, HeaderFault> {
        let Ok(cipher) = suite.cipher(header_key) else { return Ok(None) };
        let mut plain = Locked::new(|| [0; PLAIN_BYTES]);
        for (to, from) in plain.iter_mut().zip(self.bytes.iter().skip(SALT_BYTES)) {
            *to = *from;
        }
        cipher.decrypt_header(&mut *plain);
        Header::parse(&plain)
    }
}
