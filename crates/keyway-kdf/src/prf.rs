//! The hash functions whose HMAC is the pseudorandom function of PBKDF2.

use std::fmt;

/// A hash function; PBKDF2 uses its HMAC (RFC 2104) as the pseudorandom function.
///
/// The list is what VeraCrypt and TrueCrypt headers are protected with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prf {
    /// SHA-512 (FIPS 180-4).
    Sha512,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// BLAKE2s with 32 bytes of digest, unkeyed (RFC 7693), inside an ordinary HMAC.
    Blake2s,
    /// Whirlpool in its final version (ISO/IEC 10118-3:2004).
    Whirlpool,
    /// Streebog with 64 bytes of digest (GOST R 34.11-2012, RFC 6986).
    Streebog,
    /// RIPEMD-160 (ISO/IEC 10118-3).
    Ripemd160,
    /// SHA-1 (FIPS 180-4): old TrueCrypt volumes only.
    Sha1,
}

impl Prf {
    /// Every function, in the order of the declaration.
    pub const ALL: [Self; 7] = [
        Self::Sha512,
        Self::Sha256,
        Self::Blake2s,
        Self::Whirlpool,
        Self::Streebog,
        Self::Ripemd160,
        Self::Sha1,
    ];

    /// The name in lower case, as the command line takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha512 => "sha512",
            Self::Sha256 => "sha256",
            Self::Blake2s => "blake2s",
            Self::Whirlpool => "whirlpool",
            Self::Streebog => "streebog",
            Self::Ripemd160 => "ripemd160",
            Self::Sha1 => "sha1",
        }
    }

    /// Bytes of one digest, which is one PBKDF2 output block.
    pub const fn digest_bytes(self) -> usize {
        match self {
            Self::Sha512 | Self::Whirlpool | Self::Streebog => 64,
            Self::Sha256 | Self::Blake2s => 32,
            Self::Ripemd160 | Self::Sha1 => 20,
        }
    }

    /// Bytes of one input block of the hash function: an HMAC key longer than this is hashed first.
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::Sha512 => 128,
            _ => 64,
        }
    }
}

impl fmt::Display for Prf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
