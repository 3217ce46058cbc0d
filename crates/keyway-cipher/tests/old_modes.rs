//! LRW and CBC of old TrueCrypt volumes against slow, literal versions of their definitions.
#![allow(clippy::expect_used, reason = "tests; the helpers here are not functions marked as such")]

use keyway_cipher::{Algorithm, Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use proptest::prelude::*;

/// Every chain that TrueCrypt 1.0 to 4.3 had, with the modes it could have (`Crypto.c`,
/// `EncryptionAlgorithms`).
const OLD: [(&str, &[Mode]); 13] = [
    ("aes", &[Mode::Lrw, Mode::Cbc]),
    ("serpent", &[Mode::Lrw, Mode::Cbc]),
    ("twofish", &[Mode::Lrw, Mode::Cbc]),
    ("aes-twofish", &[Mode::Lrw, Mode::Cbc]),
    ("aes-twofish-serpent", &[Mode::Lrw, Mode::Cbc]),
    ("serpent-aes", &[Mode::Lrw, Mode::Cbc]),
    ("serpent-twofish-aes", &[Mode::Lrw, Mode::Cbc]),
    ("twofish-serpent", &[Mode::Lrw, Mode::Cbc]),
    ("blowfish", &[Mode::Lrw, Mode::Cbc]),
    ("cast5", &[Mode::Lrw, Mode::Cbc]),
    ("des3_ede", &[Mode::Lrw, Mode::Cbc]),
    ("aes-blowfish", &[Mode::InnerCbc]),
    ("aes-blowfish-serpent", &[Mode::InnerCbc]),
];

const KEYS: [u8; 56] = {
    let mut keys = [0; 56];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = (i * 37 + 11) as u8;
        i += 1;
    }
    keys
};

fn make(chain: Chain, mode: Mode, tweak_key: &[u8], kernel: Kernel) -> SectorCipher {
    let keys: Vec<_> =
        chain.layers().map(|algorithm| LayerKey { key: &KEYS[..algorithm.key_bytes()], tweak_key }).collect();
    SectorCipher::with_kernel(&Spec { chain, mode, unit_bytes: 512 }, &keys, kernel).expect("made")
}

/// One block through the whole chain, by a CBC without IV and whitening.
fn one_block(layers: &[Algorithm], block: &mut [u8]) {
    for algorithm in layers.iter().rev() {
        make(Chain::single(*algorithm), Mode::Cbc, &[0; 32], Kernel::Portable).encrypt_header(block);
    }
}

fn xor(into: &mut [u8], other: &[u8]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a ^= b;
    }
}

/// CRC-32 as in zlib, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

fn slow_cbc(layers: &[Algorithm], seed: &[u8; 32], number: u64, unit: &mut [u8]) {
    let block = layers[0].block_bytes();
    let mut mixed = *seed;
    for word in mixed.chunks_mut(8) {
        xor(word, &number.to_le_bytes());
    }
    let mut previous = mixed[..block].to_vec();
    let crc = |i: usize| crc32(&mixed[block + 4 * i..][..4]);
    let mut whitening = (crc(0) ^ crc(3)).to_le_bytes().to_vec();
    whitening.extend((crc(1) ^ crc(2)).to_le_bytes());
    whitening.extend_from_within(..);
    for bytes in unit.chunks_mut(block) {
        xor(bytes, &previous);
        one_block(layers, bytes);
        previous = bytes.to_vec();
        xor(bytes, &whitening);
    }
}

/// a times b modulo the field's polynomial, both big-endian.
fn slow_product(a: &[u8], b: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| bytes.iter().fold(0u128, |n, byte| n << 8 | u128::from(*byte));
    let (bits, low) = if a.len() == 8 { (64, 0x1b) } else { (128, 0x87) };
    let (mut product, a, b) = (0u128, number(a), number(b));
    for i in (0..bits).rev() {
        let top = product >> (bits - 1) & 1;
        product <<= 1;
        if bits == 64 {
            product &= u128::from(u64::MAX);
        }
        product ^= top * low;
        product ^= a * (b >> i & 1);
    }
    product.to_be_bytes()[16 - bits / 8..].to_vec()
}

fn slow_lrw(layers: &[Algorithm], tweak_key: &[u8], first: u64, units: &mut [u8]) {
    let block = layers[0].block_bytes();
    let start = u128::from(first) * (512 / block) as u128 + 1;
    for (bytes, number) in units.chunks_mut(block).zip(start..) {
        let tweak = slow_product(&tweak_key[..block], &number.to_be_bytes()[16 - block..]);
        xor(bytes, &tweak);
        one_block(layers, bytes);
        xor(bytes, &tweak);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn as_defined(
        (name, modes) in prop::sample::select(&OLD[..]),
        seed: [u8; 32],
        number in prop_oneof![0u64..300, any::<u64>().prop_map(|n| n >> 8)],
        plain in prop::collection::vec(any::<u8>(), 1024),
    ) {
        let chain: Chain = name.parse().expect("known names");
        let layers: Vec<_> = chain.layers().collect();
        for mode in modes {
            let mut expected = plain.clone();
            match mode {
                Mode::Lrw => slow_lrw(&layers, &seed, number, &mut expected),
                Mode::Cbc => expected
                    .chunks_mut(512)
                    .zip(number..)
                    .for_each(|(unit, number)| slow_cbc(&layers, &seed, number, unit)),
                _ => for layer in layers.iter().rev() {
                    for (unit, number) in expected.chunks_mut(512).zip(number..) {
                        slow_cbc(&[*layer], &seed, number, unit);
                    }
                },
            }
            for kernel in Kernel::available() {
                let cipher = make(chain, *mode, &seed, kernel);
                let mut bytes = plain.clone();
                cipher.encrypt_sectors(&mut bytes, number);
                prop_assert!(bytes == expected, "{name} {} {}", mode.name(), kernel.name());
                cipher.decrypt_sectors(&mut bytes, number);
                prop_assert!(bytes == plain, "{name} {} {}", mode.name(), kernel.name());
            }
        }
    }

    #[test]
    fn headers_come_back(
        (name, modes) in prop::sample::select(&OLD[..]),
        seed: [u8; 32],
        header in prop::collection::vec(any::<u8>(), 448),
    ) {
        for mode in modes {
            let cipher = make(name.parse().expect("known names"), *mode, &seed, Kernel::Portable);
            let mut bytes = header.clone();
            cipher.encrypt_header(&mut bytes);
            prop_assert_ne!(&bytes, &header);
            cipher.decrypt_header(&mut bytes);
            prop_assert_eq!(&bytes, &header);
        }
    }
}

#[test]
fn mixed_blocks_need_inner_cbc() {
    let chain: Chain = "aes-blowfish".parse().expect("known names");
    for mode in [Mode::Xts, Mode::Lrw, Mode::Cbc] {
        let keys: Vec<_> = chain
            .layers()
            .map(|a| LayerKey { key: &KEYS[..a.key_bytes()], tweak_key: &KEYS[..a.key_bytes()] })
            .collect();
        assert!(SectorCipher::new(&Spec { chain, mode, unit_bytes: 512 }, &keys).is_err());
    }
}
