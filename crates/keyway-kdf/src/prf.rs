//! The hash functions whose HMAC is the pseudorandom function of PBKDF2.

use keyway_error::enum_table;
use std::fmt;

enum_table! {
    /// A hash function; PBKDF2 uses its HMAC (RFC 2104) as the pseudorandom function.
    ///
    /// The list is what VeraCrypt and TrueCrypt headers are protected with.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Prf {
        /// SHA-512 (FIPS 180-4).
        Sha512("sha512", 64, 128),
        /// SHA-256 (FIPS 180-4).
        Sha256("sha256", 32, 64),
        /// BLAKE2s with 32 bytes of digest, unkeyed (RFC 7693), inside an ordinary HMAC.
        Blake2s("blake2s", 32, 64),
        /// Whirlpool in its final version (ISO/IEC 10118-3:2004).
        Whirlpool("whirlpool", 64, 64),
        /// Streebog with 64 bytes of digest (GOST R 34.11-2012, RFC 6986).
        Streebog("streebog", 64, 64),
        /// RIPEMD-160 (ISO/IEC 10118-3).
        Ripemd160("ripemd160", 20, 64),
        /// SHA-1 (FIPS 180-4): old TrueCrypt volumes only.
        Sha1("sha1", 20, 64),
    }
    /// The name in lower case, as the command line takes it.
    pub name: &'static str,
    /// Bytes of one digest, which is one PBKDF2 output block.
    pub digest_bytes: usize,
    /// Bytes of one input block of the hash function: an HMAC key longer than this is hashed first.
    pub block_bytes: usize,
}

impl fmt::Display for Prf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
