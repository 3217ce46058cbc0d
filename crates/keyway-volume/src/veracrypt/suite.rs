//! Which ciphers and modes each format has, and where their keys lie in a key area.
//!
//! A key area is what PBKDF2 gives for a header, and the 256 bytes in a header that hold the
//! master keys; both are laid out alike. XTS: the ciphers' primary keys one after the other, the
//! innermost cipher's first, then their secondary keys in the same order (*VeraCrypt Volume Format
//! Specification*, "concatenated primary and secondary master keys"). Older modes: 32 bytes of
//! tweak key or IV and whitening seed, then the ciphers' keys, the innermost's first (TrueCrypt
//! 4.3's specification, bytes 256 and 288).

use super::header::KEY_AREA_BYTES;
use super::params::Format;
use keyway_cipher::{Algorithm, Chain, CipherError, LayerKey, Mode, SectorCipher, Spec};

/// What one tweak covers, whatever the volume's sector size.
pub(crate) const UNIT_BYTES: u32 = 512;

/// Bytes before the ciphers' keys in the older modes.
const OLD_SEED_BYTES: usize = 32;

/// A chain of ciphers in a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Suite {
    /// The ciphers.
    pub chain: Chain,
    /// The mode.
    pub mode: Mode,
}

use Algorithm::{Aes256, Blowfish, Camellia, Cast5, Kuznyechik, Serpent, TripleDes, Twofish};

/// TrueCrypt's ciphers and cascades with 128-bit blocks; VeraCrypt has them too.
const COMMON: [Chain; 8] = [
    Chain::single(Aes256),
    Chain::single(Serpent),
    Chain::single(Twofish),
    Chain::double(Aes256, Twofish),
    Chain::triple(Aes256, Twofish, Serpent),
    Chain::double(Serpent, Aes256),
    Chain::triple(Serpent, Twofish, Aes256),
    Chain::double(Twofish, Serpent),
];

/// What VeraCrypt added.
const VERACRYPT_ONLY: [Chain; 7] = [
    Chain::single(Camellia),
    Chain::single(Kuznyechik),
    Chain::double(Camellia, Kuznyechik),
    Chain::double(Camellia, Serpent),
    Chain::double(Kuznyechik, Aes256),
    Chain::double(Kuznyechik, Twofish),
    Chain::triple(Kuznyechik, Serpent, Camellia),
];

/// TrueCrypt's ciphers with 64-bit blocks, until 4.3.
const OLD_SINGLE: [Chain; 3] = [Chain::single(Blowfish), Chain::single(Cast5), Chain::single(TripleDes)];

/// TrueCrypt's cascades of ciphers with different block sizes, until 4.3.
const OLD_MIXED: [Chain; 2] = [Chain::double(Aes256, Blowfish), Chain::triple(Aes256, Blowfish, Serpent)];

impl Suite {
    /// XTS with `chain`.
    pub const fn xts(chain: Chain) -> Self {
        Self { chain, mode: Mode::Xts }
    }

    /// Every suite a format can have, the likeliest first.
    pub fn all(format: Format) -> Vec<Self> {
        let with = |mode| move |chain| Self { chain, mode };
        let mut suites: Vec<Self> = COMMON.into_iter().map(with(Mode::Xts)).collect();
        match format {
            Format::VeraCrypt => suites.extend(VERACRYPT_ONLY.into_iter().map(with(Mode::Xts))),
            Format::TrueCrypt => {
                suites.extend(COMMON.into_iter().chain(OLD_SINGLE).map(with(Mode::Lrw)));
                suites.extend(COMMON.into_iter().chain(OLD_SINGLE).map(with(Mode::Cbc)));
                suites.extend(OLD_MIXED.into_iter().map(with(Mode::InnerCbc)));
            }
        }
        suites
    }

    /// Bytes of a key area that this suite uses.
    pub fn key_bytes(&self) -> usize {
        match self.mode {
            Mode::Xts => 2 * self.chain.key_bytes(),
            Mode::Lrw | Mode::Cbc | Mode::InnerCbc => OLD_SEED_BYTES + self.chain.key_bytes(),
            // Not a suite of these formats; `cipher` refuses it.
            Mode::BitLockerCbc | Mode::BitLockerElephant => 0,
        }
    }

    /// Sets up the cipher with the keys at the beginning of `key_area`, with 512-byte units.
    ///
    /// # Errors
    /// The key area is shorter than [`Self::key_bytes`], or the cipher refuses the keys.
    pub fn cipher(&self, key_area: &[u8]) -> Result<SectorCipher, CipherError> {
        let spec = Spec { chain: self.chain, mode: self.mode, unit_bytes: UNIT_BYTES };
        SectorCipher::new(&spec, &self.layer_keys(key_area)?)
    }

    /// Whether a layer's primary key equals its secondary one, which makes XTS weak.
    pub(crate) fn has_equal_xts_keys(&self, key_area: &[u8]) -> bool {
        self.mode == Mode::Xts
            && self.layer_keys(key_area).is_ok_and(|keys| {
                keys.iter().any(|k| {
                    let differing = k.key.iter().zip(k.tweak_key).fold(0, |acc, (a, b)| acc | (a ^ b));
                    std::hint::black_box(differing) == 0
                })
            })
    }

    /// The layers' keys, outermost first, as the cipher wants them.
    pub(crate) fn layer_keys<'a>(&self, key_area: &'a [u8]) -> Result<Vec<LayerKey<'a>>, CipherError> {
        let wrong = || CipherError::WrongKeys { chain: self.chain, mode: self.mode.name() };
        let part = |at: usize, len: usize| key_area.get(at..at + len).ok_or_else(wrong);
        let mut at = if self.mode == Mode::Xts { 0 } else { OLD_SEED_BYTES };
        let mut keys = Vec::with_capacity(3);
        for algorithm in self.chain.layers().rev() {
            let len = algorithm.key_bytes();
            let tweak_key = match self.mode {
                Mode::Xts => part(at + self.chain.key_bytes(), len)?,
                Mode::Lrw | Mode::Cbc | Mode::InnerCbc => part(0, OLD_SEED_BYTES)?,
                Mode::BitLockerCbc | Mode::BitLockerElephant => {
                    return Err(CipherError::Unsupported(self.chain));
                }
            };
            keys.push(LayerKey { key: part(at, len)?, tweak_key });
            at += len;
        }
        keys.reverse();
        Ok(keys)
    }
}

/// The longest stretch of header key that any suite of a format uses.
pub(crate) fn longest_key(format: Format) -> usize {
    Suite::all(format).iter().map(Suite::key_bytes).max().unwrap_or(KEY_AREA_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_have_as_many_suites_as_documented() {
        assert_eq!(Suite::all(Format::VeraCrypt).len(), 15);
        assert_eq!(Suite::all(Format::TrueCrypt).len(), 8 + 11 + 11 + 2);
        assert_eq!(longest_key(Format::VeraCrypt), 192);
        assert_eq!(longest_key(Format::TrueCrypt), 192);
    }

    #[test]
    fn the_innermost_key_comes_first() {
        let area: Vec<u8> = (0..=255).collect();
        let suite = Suite::xts(Chain::triple(Aes256, Twofish, Serpent));
        let keys = suite.layer_keys(&area).expect("long enough");
        let starts: Vec<(u8, u8)> = keys.iter().map(|k| (k.key[0], k.tweak_key[0])).collect();
        assert_eq!(starts, [(64, 160), (32, 128), (0, 96)]);
        let old = Suite { chain: Chain::triple(Aes256, Blowfish, Serpent), mode: Mode::InnerCbc };
        let keys = old.layer_keys(&area).expect("long enough");
        let starts: Vec<(u8, usize)> = keys.iter().map(|k| (k.key[0], k.key.len())).collect();
        assert_eq!(starts, [(120, 32), (64, 56), (32, 32)]);
        assert!(suite.layer_keys(&area[..191]).is_err());
    }

    #[test]
    fn equal_halves_are_seen_in_any_layer() {
        let mut area: Vec<u8> = (0..=255).collect();
        let suite = Suite::xts(Chain::double(Aes256, Twofish));
        assert!(!suite.has_equal_xts_keys(&area));
        area.copy_within(32..64, 96);
        assert!(suite.has_equal_xts_keys(&area));
    }
}
