//! What can be measured: VeraCrypt's ciphers and cascades in XTS mode, and BitLocker's methods.

use keyway_cipher::{Algorithm, Chain, CipherError, Kernel, LayerKey, Mode, SectorCipher, Spec};
use keyway_volume::Format;
use keyway_volume::bitlocker::Method;
use keyway_volume::veracrypt::Suite;
use std::fmt;
use std::str::FromStr;

/// A cipher or cascade in its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchSubject {
    /// In XTS mode, as VeraCrypt has it.
    Xts(Chain),
    /// One of BitLocker's.
    BitLocker(Method),
}

impl BenchSubject {
    /// VeraCrypt's ciphers and cascades, then BitLocker's methods.
    pub fn all() -> Vec<Self> {
        let suites = Suite::all(Format::VeraCrypt);
        let chains = suites.iter().map(|suite| Self::Xts(suite.chain));
        // The newest first.
        chains.chain(Method::ALL.into_iter().rev().map(Self::BitLocker)).collect()
    }

    /// The cipher, mode and unit.
    pub fn spec(self) -> Spec {
        let (chain, mode) = match self {
            Self::Xts(chain) => (chain, Mode::Xts),
            Self::BitLocker(method) => {
                let mode = match method {
                    Method::Xts128 | Method::Xts256 => Mode::Xts,
                    Method::Cbc128 | Method::Cbc256 => Mode::BitLockerCbc,
                    Method::Cbc128Elephant | Method::Cbc256Elephant => Mode::BitLockerElephant,
                };
                (Chain::single(method.algorithm()), mode)
            }
        };
        Spec { chain, mode, unit_bytes: 512 }
    }

    /// Under keys that are nobody's secret. `None` where that kernel has nothing of its own for it.
    pub fn cipher(self, kernel: Kernel) -> Result<Option<SectorCipher>, CipherError> {
        let made = self.with_keys(|spec, keys| SectorCipher::with_kernel(spec, keys, kernel));
        match made {
            Err(CipherError::KernelMissing(_)) => Ok(None),
            made => Ok(Some(made?).filter(|cipher| cipher.kernel() == kernel)),
        }
    }

    /// The kernel that would be taken.
    pub fn chosen(self) -> Result<Kernel, CipherError> {
        Ok(self.with_keys(SectorCipher::new)?.kernel())
    }

    fn with_keys<T>(self, make: impl FnOnce(&Spec, &[LayerKey<'_>]) -> T) -> T {
        let spec = self.spec();
        // A counting pattern, different in every byte of a layer.
        let material: Vec<(Algorithm, Vec<u8>)> = spec
            .chain
            .layers()
            .zip(0u8..)
            .map(|(layer, n)| {
                (layer, (0..layer.key_bytes() as u8 * 2).map(|i| i.wrapping_mul(7) ^ n).collect())
            })
            .collect();
        let keys: Vec<LayerKey<'_>> = material
            .iter()
            .map(|(layer, bytes)| {
                let (key, tweak_key) = bytes.split_at(layer.key_bytes());
                let tweak_key = if spec.mode == Mode::BitLockerCbc { &[] } else { tweak_key };
                LayerKey { key, tweak_key }
            })
            .collect();
        make(&spec, &keys)
    }
}

impl fmt::Display for BenchSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xts(chain) => chain.fmt(f),
            Self::BitLocker(method) => f.write_str(method.name()),
        }
    }
}

impl FromStr for BenchSubject {
    type Err = CipherError;

    fn from_str(name: &str) -> Result<Self, CipherError> {
        let method = Method::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(name));
        method.map_or_else(|| name.parse().map(Self::Xts), |method| Ok(Self::BitLocker(method)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_a_name_and_a_cipher() {
        let all = BenchSubject::all();
        assert_eq!(all.len(), 15 + 6);
        for subject in all {
            assert_eq!(subject.to_string().parse(), Ok(subject));
            let chosen = subject.chosen().expect("a kernel");
            assert!(subject.cipher(chosen).is_ok_and(|cipher| cipher.is_some()), "{subject}");
        }
        assert!("rot13".parse::<BenchSubject>().is_err());
    }
}
