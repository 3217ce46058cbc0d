//! How a password becomes a header key: hashes, iteration counts, PIM formulas.

use keyway_error::{enum_table, explain};
use std::fmt;
use std::str::FromStr;

enum_table! {
    /// Whose volume it is. The header's first bytes say: `VERA` or `TRUE`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Format {
        /// VeraCrypt 1.0 and later.
        VeraCrypt("veracrypt", *b"VERA", 128),
        /// TrueCrypt 1.0 to 7.2.
        TrueCrypt("truecrypt", *b"TRUE", 64),
    }
    /// The name in commands and JSON.
    pub name: &'static str,
    /// The header's first four bytes.
    pub magic: [u8; 4],
    /// The longest password, in bytes of UTF-8: 128 since VeraCrypt 1.24, 64 before.
    pub(crate) password_limit: usize,
}

enum_table! {
    /// A key derivation by the name that users know.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum HashName {
        /// PBKDF2-HMAC-SHA-512, the default.
        Sha512("sha512"),
        /// PBKDF2-HMAC-SHA-256, the default of encrypted systems.
        Sha256("sha256"),
        /// PBKDF2-HMAC-Whirlpool.
        Whirlpool("whirlpool"),
        /// PBKDF2-HMAC-BLAKE2s-256, since VeraCrypt 1.26.
        Blake2s("blake2s"),
        /// PBKDF2-HMAC-RIPEMD-160, until VeraCrypt 1.25.
        Ripemd160("ripemd160"),
        /// PBKDF2-HMAC-Streebog-512.
        Streebog("streebog"),
        /// Argon2id, since VeraCrypt 1.26.27.
        Argon2id("argon2id"),
        /// PBKDF2-HMAC-SHA-1, until TrueCrypt 4.
        Sha1("sha1"),
    }
    /// The name in commands and JSON.
    pub name: &'static str,
}

impl fmt::Display for HashName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A hash nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no key derivation called {0:?}")]
pub struct UnknownHash(pub String);

explain!(UnknownHash => [Usage Request, TakeHash]);

impl FromStr for HashName {
    type Err = UnknownHash;

    fn from_str(text: &str) -> Result<Self, UnknownHash> {
        let plain: String =
            text.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
        match plain.as_str() {
            "blake2s256" => Ok(Self::Blake2s),
            "argon2" => Ok(Self::Argon2id),
            name => Self::ALL
                .into_iter()
                .find(|hash| hash.name() == name)
                .ok_or_else(|| UnknownHash(text.to_owned())),
        }
    }
}

/// The largest PIM that VeraCrypt takes: 15,000 + 1,000 × PIM fits a signed 32-bit number (its
/// documentation, "PIM").
pub const LARGEST_PIM: u32 = 2_147_468;

/// The cost of one key derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(untagged)]
pub enum Derivation {
    /// PBKDF2 with the hash's HMAC.
    Pbkdf2 {
        /// Rounds per output block.
        iterations: u32,
    },
    /// Argon2id, version 1.3, one lane.
    Argon2id {
        /// Memory in KiB.
        memory_kib: u32,
        /// Passes over it.
        passes: u32,
    },
}

impl Derivation {
    /// Whether this is an Argon2id of more than 32 GiB of passes over memory, a quarter of a minute
    /// on a fast machine: PIM 51 or more. Who has such a PIM nearly always has it for PBKDF2.
    pub(crate) fn is_extravagant(self) -> bool {
        match self {
            Self::Pbkdf2 { .. } => false,
            Self::Argon2id { memory_kib, passes } => u64::from(memory_kib) * u64::from(passes) > 32 << 20,
        }
    }

    /// What `format` does with `hash` for a personal iterations multiplier; `None` and 0 mean the
    /// default. `system` selects the counts of an encrypted system's boot header. `None` comes
    /// back where the format has no such derivation; TrueCrypt has no PIM and ignores it.
    ///
    /// Counts: VeraCrypt's documentation, "Header Key Derivation" and "PIM"; TrueCrypt's, "Header
    /// Key Derivation, Salt, and Iteration Count". RIPEMD-160 for TrueCrypt systems: 1000.
    pub fn of(format: Format, hash: HashName, pim: Option<u32>, system: bool) -> Option<Self> {
        let pim = pim.filter(|pim| *pim > 0);
        let pbkdf2 = |iterations| Some(Self::Pbkdf2 { iterations });
        match format {
            Format::TrueCrypt => match hash {
                HashName::Sha512 | HashName::Whirlpool => pbkdf2(1000),
                HashName::Sha1 => pbkdf2(2000),
                HashName::Ripemd160 => pbkdf2(if system { 1000 } else { 2000 }),
                _ => None,
            },
            Format::VeraCrypt => {
                let (usual, boot) = match hash {
                    HashName::Sha512 | HashName::Whirlpool => (500_000, None),
                    HashName::Sha256 | HashName::Blake2s | HashName::Streebog => (500_000, Some(200_000)),
                    HashName::Ripemd160 => (655_331, Some(327_661)),
                    HashName::Argon2id => return Some(argon2id(pim)),
                    HashName::Sha1 => return None,
                };
                pbkdf2(match (boot.filter(|_| system), pim) {
                    (Some(boot), None) => boot,
                    (Some(_), Some(pim)) => pim.saturating_mul(2048),
                    (None, None) => usual,
                    (None, Some(pim)) => pim.saturating_mul(1000).saturating_add(15_000),
                })
            }
        }
    }
}

/// VeraCrypt's documentation, "PIM": memory grows by 32 MiB a step up to 1 GiB at PIM 31, passes
/// by one every third step up to there and every step after. The default is that of PIM 12.
fn argon2id(pim: Option<u32>) -> Derivation {
    let pim = pim.unwrap_or(12);
    let mib = (pim - 1).saturating_mul(32).saturating_add(64).min(1024);
    let passes = if pim <= 31 { 3 + (pim - 1) / 3 } else { pim - 18 };
    Derivation::Argon2id { memory_kib: mib * 1024, passes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iterations(format: Format, hash: HashName, pim: u32, system: bool) -> u32 {
        match Derivation::of(format, hash, Some(pim), system) {
            Some(Derivation::Pbkdf2 { iterations }) => iterations,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_documented_counts() {
        use Format::{TrueCrypt, VeraCrypt};
        use HashName::*;
        assert_eq!(iterations(VeraCrypt, Sha512, 0, false), 500_000);
        assert_eq!(iterations(VeraCrypt, Sha512, 485, false), 500_000);
        assert_eq!(iterations(VeraCrypt, Sha256, 1, false), 16_000);
        assert_eq!(iterations(VeraCrypt, Ripemd160, 0, false), 655_331);
        assert_eq!(iterations(VeraCrypt, Sha256, 0, true), 200_000);
        assert_eq!(iterations(VeraCrypt, Sha256, 98, true), 200_704);
        assert_eq!(iterations(VeraCrypt, Ripemd160, 0, true), 327_661);
        assert_eq!(iterations(TrueCrypt, Ripemd160, 0, false), 2000);
        assert_eq!(iterations(TrueCrypt, Ripemd160, 0, true), 1000);
        assert_eq!(iterations(TrueCrypt, Sha512, 7, false), 1000);
        assert_eq!(iterations(VeraCrypt, Sha512, u32::MAX, false), u32::MAX);
        assert_eq!(Derivation::of(TrueCrypt, Sha256, None, false), None);
        assert_eq!(Derivation::of(VeraCrypt, Sha1, None, false), None);
    }

    #[test]
    fn argon2id_by_pim() {
        let cost = |pim| Derivation::of(Format::VeraCrypt, HashName::Argon2id, pim, false);
        let of = |mib: u32, passes| Some(Derivation::Argon2id { memory_kib: mib * 1024, passes });
        assert_eq!(cost(None), of(416, 6));
        assert_eq!(cost(Some(12)), of(416, 6));
        assert_eq!(cost(Some(1)), of(64, 3));
        assert_eq!(cost(Some(31)), of(1024, 13));
        assert_eq!(cost(Some(32)), of(1024, 14));
        assert!(cost(Some(50)).is_some_and(|cost| !cost.is_extravagant()));
        assert!(cost(Some(51)).is_some_and(Derivation::is_extravagant));
        assert_eq!(cost(Some(u32::MAX)), of(1024, u32::MAX - 18));
    }

    #[test]
    fn names_are_read_back() {
        for hash in HashName::ALL {
            assert_eq!(hash.name().parse(), Ok(hash));
        }
        assert_eq!("SHA-512".parse(), Ok(HashName::Sha512));
        assert_eq!("BLAKE2s-256".parse(), Ok(HashName::Blake2s));
        assert!("md5".parse::<HashName>().is_err());
    }
}
