//! One keyed block cipher, whatever it is and whatever kernel runs it.

use crate::Algorithm;
use crate::cbc;
use crate::kernels;
use crate::pass::{Cbc, Direction, Pass, Ready, Work, Xts};
use crate::portable::{AesKeys, Camellia, Kuznyechik, Serpent, Twofish};
use crate::xts;
use cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

/// A cipher's key schedule and the kernel that uses it.
pub(crate) struct Cipher {
    ready: Ready,
    key: Key,
}

#[allow(clippy::large_enum_variant, reason = "each lives alone in locked pages of its own")]
enum Key {
    Aes128(AesKeys<11>),
    Aes256(AesKeys<15>),
    Serpent(Serpent),
    Twofish(Twofish),
    Camellia(Camellia),
    Kuznyechik(Kuznyechik),
    /// TrueCrypt reads and writes Blowfish's 32-bit halves little-endian.
    Blowfish(blowfish::BlowfishLE),
    Cast5(cast5::Cast5),
    TripleDes(des::TdesEde3),
}

impl Cipher {
    /// Expands a key, which has the algorithm's length.
    pub(crate) fn new(algorithm: Algorithm, key: &[u8], ready: Ready) -> Self {
        debug_assert_eq!(key.len(), algorithm.key_bytes());
        let key = match algorithm {
            Algorithm::Aes128 => Key::Aes128(AesKeys::new::<16>(sized(key))),
            Algorithm::Aes256 => Key::Aes256(AesKeys::new::<32>(sized(key))),
            Algorithm::Serpent => Key::Serpent(Serpent::new(sized(key))),
            Algorithm::Twofish => Key::Twofish(Twofish::new(sized(key))),
            Algorithm::Camellia => Key::Camellia(Camellia::new(sized(key))),
            Algorithm::Kuznyechik => Key::Kuznyechik(Kuznyechik::new(sized(key))),
            Algorithm::Blowfish => Key::Blowfish(blowfish::BlowfishLE::new(&Array::from(*sized(key)))),
            Algorithm::Cast5 => Key::Cast5(cast5::Cast5::new(&Array::from(*sized(key)))),
            Algorithm::TripleDes => Key::TripleDes(des::TdesEde3::new(&Array::from(*sized(key)))),
        };
        Self { ready, key }
    }

    /// 16, or 8 for the old ones.
    pub(crate) fn block_bytes(&self) -> usize {
        match self.key {
            Key::Blowfish(_) | Key::Cast5(_) | Key::TripleDes(_) => 8,
            _ => 16,
        }
    }

    /// Each block on its own, in place; the length is a whole number of blocks.
    pub(crate) fn blocks(&self, direction: Direction, bytes: &mut [u8]) {
        let blocks = bytes.as_chunks_mut().0;
        if !self.kernel(Pass { direction, blocks, work: Work::Blocks }) {
            self.portable(direction, bytes);
        }
    }

    /// The first tweaks of the units from `first_unit` on. Only for blocks of 16 bytes.
    #[inline]
    pub(crate) fn first_tweaks(&self, first_unit: u64, tweaks: &mut [[u8; 16]]) {
        let direction = Direction::Encrypt;
        if !self.kernel(Pass { direction, blocks: tweaks, work: Work::Numbers(first_unit) }) {
            xts::unit_numbers(first_unit, tweaks);
            self.portable(direction, tweaks.as_flattened_mut());
        }
    }

    /// XTS over whole units, in place. Only for blocks of 16 bytes.
    #[inline]
    pub(crate) fn xts(&self, direction: Direction, units: &mut [u8], xts: Xts<'_>) {
        let blocks = units.as_chunks_mut().0;
        if !self.kernel(Pass { direction, blocks, work: Work::Xts(xts) }) {
            xts::run(units, xts, |batch| self.portable(direction, batch));
        }
    }

    /// CBC over whole units, in place. Only for blocks of 16 bytes.
    pub(crate) fn cbc(&self, direction: Direction, units: &mut [u8], of: Cbc<'_>) {
        let blocks = units.as_chunks_mut().0;
        let done = match &self.key {
            Key::Aes128(keys) => kernels::aes_cbc(self.ready, keys, direction, blocks, of),
            Key::Aes256(keys) => kernels::aes_cbc(self.ready, keys, direction, blocks, of),
            _ => false,
        };
        if !done {
            cbc::run(direction, units, of, |batch| self.blocks(direction, batch));
        }
    }

    /// False when no vector kernel does this cipher, and nothing was done.
    #[inline]
    fn kernel(&self, pass: Pass<'_>) -> bool {
        match &self.key {
            Key::Aes128(keys) => kernels::aes(self.ready, keys, pass),
            Key::Aes256(keys) => kernels::aes(self.ready, keys, pass),
            Key::Serpent(keys) => kernels::serpent(self.ready, keys, pass),
            Key::Camellia(keys) => kernels::camellia(self.ready, keys, pass),
            Key::Kuznyechik(keys) => kernels::kuznyechik(self.ready, keys, pass),
            Key::Twofish(keys) => kernels::twofish(self.ready, keys, pass),
            Key::Blowfish(_) | Key::Cast5(_) | Key::TripleDes(_) => false,
        }
    }

    fn portable(&self, direction: Direction, blocks: &mut [u8]) {
        match &self.key {
            Key::Aes128(keys) => keys.blocks(direction, blocks.as_chunks_mut().0),
            Key::Aes256(keys) => keys.blocks(direction, blocks.as_chunks_mut().0),
            Key::Serpent(keys) => keys.blocks(direction, blocks.as_chunks_mut().0),
            Key::Twofish(keys) => keys.blocks(direction, blocks.as_chunks_mut().0),
            Key::Camellia(keys) => keys.blocks(direction, blocks.as_chunks_mut().0),
            Key::Kuznyechik(keys) => keys.blocks(direction, blocks.as_chunks_mut().0),
            Key::Blowfish(key) => rustcrypto(key, direction, blocks),
            Key::Cast5(key) => rustcrypto(key, direction, blocks),
            Key::TripleDes(key) => rustcrypto(key, direction, blocks),
        }
    }
}

/// A key as an array; its length was checked when the cipher was asked for.
fn sized<const N: usize>(key: &[u8]) -> &[u8; N] {
    key.first_chunk().unwrap_or(&[0; N])
}

fn rustcrypto(key: &(impl BlockCipherEncrypt + BlockCipherDecrypt), direction: Direction, blocks: &mut [u8]) {
    let blocks = Array::slice_as_chunks_mut(blocks).0;
    match direction {
        Direction::Encrypt => key.encrypt_blocks(blocks),
        Direction::Decrypt => key.decrypt_blocks(blocks),
    }
}
