//! Random bytes: secret ones from the kernel, and noise by the gigabyte to fill volumes with.

use super::suite::UNIT_BYTES;
use keyway_cipher::{Algorithm, Chain, CipherError, LayerKey, Mode, SectorCipher, Spec};
use keyway_secret::SecretBytes;

/// Random bytes can't be had.
#[derive(Debug, thiserror::Error)]
pub enum RandomError {
    /// The kernel gives none.
    #[error("the system gives no random bytes: {0}")]
    System(#[from] getrandom::Error),
    /// The cipher that spreads them can't be set up.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

/// Fills `out` from the kernel's generator (getrandom(2)), which is seeded before it answers.
pub(crate) fn fill(out: &mut [u8]) -> Result<(), RandomError> {
    Ok(getrandom::fill(out)?)
}

/// Secret random bytes.
pub(crate) fn secret(len: usize) -> Result<SecretBytes, RandomError> {
    let mut bytes = SecretBytes::zeroed(len);
    fill(&mut bytes)?;
    Ok(bytes)
}

/// An endless run of bytes that nobody can tell from random ones, nor from encrypted data: zeros
/// encrypted with AES-256 in XTS mode under two random keys that are forgotten at the end, as
/// VeraCrypt fills its volumes.
pub struct Noise {
    cipher: SectorCipher,
    next_unit: u64,
}

impl Noise {
    /// A new run under new keys.
    pub fn new() -> Result<Self, RandomError> {
        let keys = secret(2 * Algorithm::Aes256.key_bytes())?;
        let (key, tweak_key) = keys.split_at(Algorithm::Aes256.key_bytes());
        let spec = Spec { chain: Chain::single(Algorithm::Aes256), mode: Mode::Xts, unit_bytes: UNIT_BYTES };
        Ok(Self { cipher: SectorCipher::new(&spec, &[LayerKey { key, tweak_key }])?, next_unit: 0 })
    }

    /// The next bytes; `out` is a multiple of 512 bytes long.
    pub fn fill(&mut self, out: &mut [u8]) {
        out.fill(0);
        self.cipher.encrypt_sectors(out, self.next_unit);
        self.next_unit += out.len() as u64 / u64::from(UNIT_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_does_not_repeat() {
        let mut noise = Noise::new().expect("random");
        let mut other = Noise::new().expect("random");
        let (mut a, mut b, mut c) = (vec![0; 4096], vec![0; 4096], vec![0; 4096]);
        noise.fill(&mut a);
        noise.fill(&mut b);
        other.fill(&mut c);
        let mut blocks: Vec<&[u8]> = [&a, &b, &c].into_iter().flat_map(|run| run.chunks(16)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), 3 * 256);
    }
}
