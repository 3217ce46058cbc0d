//! BitLocker's CBC and its Elephant diffuser: against a slow version written from the paper, every
//! kernel against every other, and sectors of volumes that Windows encrypted.
#![allow(clippy::expect_used, reason = "tests; the helpers here are not functions marked as such")]

use cipher::{Array, BlockCipherEncrypt, KeyInit};
use keyway_cipher::{Algorithm, Chain, CipherError, Kernel, LayerKey, Mode, SectorCipher, Spec};
use proptest::prelude::*;

const AES: [Algorithm; 2] = [Algorithm::Aes128, Algorithm::Aes256];
const MODES: [Mode; 2] = [Mode::BitLockerCbc, Mode::BitLockerElephant];

fn make(
    algorithm: Algorithm,
    mode: Mode,
    unit_bytes: usize,
    keys: &[u8; 64],
    kernel: Kernel,
) -> SectorCipher {
    let tweak_key = match mode {
        Mode::BitLockerElephant => &keys[32..][..algorithm.key_bytes()],
        _ => &[],
    };
    let spec = Spec { chain: Chain::single(algorithm), mode, unit_bytes: unit_bytes as u32 };
    SectorCipher::with_kernel(&spec, &[LayerKey { key: &keys[..algorithm.key_bytes()], tweak_key }], kernel)
        .expect("made")
}

/// E(key, block) by another implementation.
fn aes(algorithm: Algorithm, keys: &[u8], block: [u8; 16]) -> [u8; 16] {
    let mut bytes = block;
    let blocks = Array::slice_as_chunks_mut(&mut bytes).0;
    match algorithm {
        Algorithm::Aes128 => aes::Aes128::new_from_slice(&keys[..16]).expect("size").encrypt_blocks(blocks),
        _ => aes::Aes256::new_from_slice(&keys[..32]).expect("size").encrypt_blocks(blocks),
    }
    bytes
}

/// One unit encrypted as Ferguson's paper says: sections 4.1 (CBC), 4.2 (sector key), 4.3 and 4.4
/// (diffusers, whose text gives decryption; here each step is undone, the last one first).
fn slow(algorithm: Algorithm, mode: Mode, keys: &[u8; 64], offset: u128, unit: &mut [u8]) {
    if mode == Mode::BitLockerElephant {
        let first = offset.to_le_bytes();
        let mut second = first;
        second[15] = 128;
        let sector_key = [aes(algorithm, &keys[32..], first), aes(algorithm, &keys[32..], second)].concat();
        for (i, byte) in unit.iter_mut().enumerate() {
            *byte ^= sector_key[i % 32];
        }
        let mut d: Vec<u32> = unit.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let n = d.len();
        for step in (0..5 * n).rev() {
            let i = step % n;
            let rotated = d[(i + n - 5) % n].rotate_left([9, 0, 13, 0][i % 4]);
            d[i] = d[i].wrapping_sub(d[(i + n - 2) % n] ^ rotated);
        }
        for step in (0..3 * n).rev() {
            let i = step % n;
            let rotated = d[(i + 5) % n].rotate_left([0, 10, 0, 25][i % 4]);
            d[i] = d[i].wrapping_sub(d[(i + 2) % n] ^ rotated);
        }
        for (bytes, word) in unit.as_chunks_mut().0.iter_mut().zip(d) {
            *bytes = word.to_le_bytes();
        }
    }
    let mut previous = aes(algorithm, keys, offset.to_le_bytes());
    for block in unit.as_chunks_mut::<16>().0 {
        for (byte, earlier) in block.iter_mut().zip(previous) {
            *byte ^= earlier;
        }
        *block = aes(algorithm, keys, *block);
        previous = *block;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn as_defined(
        algorithm in prop::sample::select(&AES[..]),
        mode in prop::sample::select(&MODES[..]),
        keys in prop::collection::vec(any::<u8>(), 64),
        (unit_bytes, units) in prop_oneof![
            4 => (Just(512usize), 1usize..70),
            2 => (Just(4096usize), 1usize..36),
            1 => (Just(1024usize), 1usize..20),
            1 => (Just(2048usize), 1usize..20),
        ],
        first_unit in prop_oneof![
            any::<u64>(),
            (0u64..80).prop_map(|n| u64::MAX - n),
            (0u64..80).prop_map(|n| (1 << 32) - n),
            (0u64..80).prop_map(|n| (1 << 32) / 512 - n),
        ],
        seed: u64,
        offset in 0usize..64,
    ) {
        let mut x = seed | 1;
        let plain: Vec<u8> = std::iter::repeat_with(|| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 56) as u8
        }).take(unit_bytes * units).collect();
        let keys: [u8; 64] = keys.try_into().expect("64");
        let mut expected = plain.clone();
        for (i, unit) in expected.chunks_mut(unit_bytes).enumerate() {
            let number = first_unit.wrapping_add(i as u64);
            slow(algorithm, mode, &keys, u128::from(number) * unit_bytes as u128, unit);
        }
        for kernel in Kernel::available() {
            let cipher = make(algorithm, mode, unit_bytes, &keys, kernel);
            // Any alignment; the bytes around must stay.
            let mut room = vec![0xa5; offset + plain.len() + 64];
            let run = offset..offset + plain.len();
            room[run.clone()].copy_from_slice(&plain);
            cipher.encrypt_sectors(&mut room[run.clone()], first_unit);
            prop_assert!(room[run.clone()] == expected[..], "{} encrypts wrongly", kernel.name());
            cipher.decrypt_sectors(&mut room[run.clone()], first_unit);
            prop_assert!(room[run.clone()] == plain[..], "{} decrypts wrongly", kernel.name());
            prop_assert!(room[..offset].iter().chain(&room[run.end..]).all(|&b| b == 0xa5));
        }
    }
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex");
    }
    bytes
}

/// Sectors of `bitlk-aes-cbc-128.img` and `bitlk-aes-cbc-elephant-128.img` of cryptsetup's test
/// suite, which Windows encrypted: nearly all of their plain text is zeros.
#[test]
fn sectors_that_windows_encrypted() {
    let mut keys = [0u8; 64];
    keys[..16].copy_from_slice(&hex::<16>("6c96f82a942e875f029c3dd9e4351773"));
    let mut other = [0u8; 64];
    other[..16].copy_from_slice(&hex::<16>("9d2733e172dc85e13e3de5aaa0e0501b"));
    other[32..48].copy_from_slice(&hex::<16>("fd22a3f27966c51c94c8e3adce517b6e"));
    type Case<'a> = (Mode, [u8; 64], u64, &'a [(usize, u8)], u32, &'a str);
    let cases: [Case<'_>; 4] = [
        (Mode::BitLockerCbc, keys, 23, &[(510, 2)], 0x00cd_45e8, "c9cece885746588fa2f94c5a44f1b2d4"),
        (
            Mode::BitLockerCbc,
            keys,
            68265,
            &[
                (0, 0x21),
                (1, 1),
                (2, 0x54),
                (3, 0x21),
                (4, 0x21),
                (5, 1),
                (6, 0xd1),
                (7, 0xde),
                (16, 0xff),
                (17, 0xff),
                (18, 0xff),
                (19, 0xff),
                (510, 2),
            ],
            0x9747_c34d,
            "86afd142256f245963f20c78339e513a",
        ),
        (Mode::BitLockerElephant, other, 23, &[(510, 2)], 0xa3cb_6e3e, "62c28cb7311e17d705d0fed63bc3255f"),
        (
            Mode::BitLockerElephant,
            other,
            17,
            &[(0, 255), (1, 255), (2, 255), (3, 255), (510, 2)],
            0x2110_9e02,
            "2abf9dd0057ea2956413962c0d8714b3",
        ),
    ];
    for (mode, keys, number, plain, crc, first_block) in cases {
        let mut expected = [0u8; 512];
        for (at, byte) in plain {
            expected[*at] = *byte;
        }
        for kernel in Kernel::available() {
            let cipher = make(Algorithm::Aes128, mode, 512, &keys, kernel);
            let mut unit = expected;
            cipher.encrypt_sectors(&mut unit, number);
            assert_eq!(unit[..16], hex::<16>(first_block), "{} {}", mode.name(), kernel.name());
            assert_eq!(crc32fast::hash(&unit), crc, "{} {}", mode.name(), kernel.name());
            cipher.decrypt_sectors(&mut unit, number);
            assert_eq!(unit, expected);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let new = |chain: &str, mode, unit_bytes, key: &[u8], tweak_key: &[u8]| {
        let chain: Chain = chain.parse().expect("known names");
        let keys: Vec<_> = chain.layers().map(|_| LayerKey { key, tweak_key }).collect();
        SectorCipher::new(&Spec { chain, mode, unit_bytes }, &keys).err()
    };
    assert_eq!(new("aes", Mode::BitLockerCbc, 512, &[0; 32], &[]), None);
    assert_eq!(new("aes128", Mode::BitLockerElephant, 4096, &[0; 16], &[0; 16]), None);
    for (mode, tweak_key) in [(Mode::BitLockerCbc, &[][..]), (Mode::BitLockerElephant, &[0; 32])] {
        let unsupported = |chain, unit_bytes| {
            matches!(new(chain, mode, unit_bytes, &[0; 32], tweak_key), Some(CipherError::Unsupported(_)))
        };
        assert!(unsupported("serpent", 512) && unsupported("aes-aes", 512));
        assert!([0, 16, 256, 448, 513, 528, 8192].into_iter().all(|bytes| unsupported("aes", bytes)));
    }
    let wrong = |mode, tweak_key: &[u8]| {
        matches!(new("aes128", mode, 512, &[0; 16], tweak_key), Some(CipherError::WrongKeys { .. }))
    };
    assert!(wrong(Mode::BitLockerCbc, &[0; 16]));
    assert!(wrong(Mode::BitLockerElephant, &[]) && wrong(Mode::BitLockerElephant, &[0; 32]));
}
