//! Every kernel against RustCrypto's ciphers and against every other kernel, over random runs.
#![allow(clippy::expect_used, reason = "tests; the helpers here are not functions marked as such")]

use cipher::{Array, BlockCipherEncrypt, KeyInit};
use keyway_cipher::{Algorithm, Chain, CipherError, Kernel, LayerKey, Mode, SectorCipher, Spec};
use keyway_testkit::Rng;
use proptest::prelude::*;

const MODERN: [Algorithm; 6] = [
    Algorithm::Aes128,
    Algorithm::Aes256,
    Algorithm::Serpent,
    Algorithm::Twofish,
    Algorithm::Camellia,
    Algorithm::Kuznyechik,
];

/// One block by the other implementation.
fn oracle(algorithm: Algorithm, key: &[u8], block: u128) -> u128 {
    fn one<C: BlockCipherEncrypt + KeyInit>(key: &[u8], block: u128) -> u128 {
        let mut bytes = block.to_le_bytes();
        let cipher = C::new_from_slice(key).expect("key size");
        cipher.encrypt_blocks(Array::slice_as_chunks_mut(&mut bytes).0);
        u128::from_le_bytes(bytes)
    }
    match algorithm {
        Algorithm::Aes128 => one::<aes::Aes128>(key, block),
        Algorithm::Aes256 => one::<aes::Aes256>(key, block),
        Algorithm::Serpent => one::<serpent::Serpent>(key, block),
        Algorithm::Twofish => one::<twofish::Twofish>(key, block),
        Algorithm::Camellia => one::<camellia::Camellia256>(key, block),
        Algorithm::Kuznyechik => one::<kuznyechik::Kuznyechik>(key, block),
        Algorithm::Blowfish | Algorithm::Cast5 | Algorithm::TripleDes => unreachable!("64-bit blocks"),
    }
}

/// XTS written down again from IEEE 1619, a block at a time.
fn oracle_xts(layers: &[(Algorithm, [u8; 64])], unit_bytes: usize, first_unit: u64, units: &mut [u8]) {
    for (algorithm, keys) in layers.iter().rev() {
        let (key, tweak_key) = keys.split_at(32);
        let (key, tweak_key) = (&key[..algorithm.key_bytes()], &tweak_key[..algorithm.key_bytes()]);
        for (unit, number) in units.chunks_exact_mut(unit_bytes).zip(first_unit..) {
            let mut tweak = oracle(*algorithm, tweak_key, u128::from(number));
            for bytes in unit.as_chunks_mut::<16>().0 {
                let block = oracle(*algorithm, key, u128::from_le_bytes(*bytes) ^ tweak);
                *bytes = (block ^ tweak).to_le_bytes();
                tweak = (tweak << 1) ^ if tweak >> 127 == 1 { 0x87 } else { 0 };
            }
        }
    }
}

fn chain(layers: &[(Algorithm, [u8; 64])]) -> Chain {
    match layers {
        [(a, _)] => Chain::single(*a),
        [(a, _), (b, _)] => Chain::double(*a, *b),
        [(a, _), (b, _), (c, _)] => Chain::triple(*a, *b, *c),
        _ => unreachable!("one to three"),
    }
}

fn make(layers: &[(Algorithm, [u8; 64])], unit_bytes: usize, kernel: Kernel) -> SectorCipher {
    let keys: Vec<_> = layers
        .iter()
        .map(|(algorithm, keys)| LayerKey {
            key: &keys[..algorithm.key_bytes()],
            tweak_key: &keys[32..][..algorithm.key_bytes()],
        })
        .collect();
    let spec = Spec { chain: chain(layers), mode: Mode::Xts, unit_bytes: unit_bytes as u32 };
    SectorCipher::with_kernel(&spec, &keys, kernel).expect("an available kernel")
}

fn layer() -> impl Strategy<Value = (Algorithm, [u8; 64])> {
    (prop::sample::select(&MODERN[..]), prop::array::uniform32(any::<u8>()), any::<[u8; 32]>()).prop_map(
        |(algorithm, key, tweak_key)| {
            let mut keys = [0; 64];
            keys[..32].copy_from_slice(&key);
            keys[32..].copy_from_slice(&tweak_key);
            (algorithm, keys)
        },
    )
}

/// Unit sizes that formats use, the header's, and odd ones; runs from one unit to several groups.
fn shape() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        4 => (Just(512usize), 1usize..70),
        2 => (Just(4096usize), 1usize..10),
        1 => (Just(448usize), 1usize..4),
        1 => (Just(1024usize), 1usize..20),
        2 => (1usize..140).prop_map(|blocks| blocks * 16).prop_flat_map(|bytes| (Just(bytes), 1usize..9)),
    ]
}

fn noise(seed: u64, len: usize) -> Vec<u8> {
    Rng::new(seed).bytes(len)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_kernel_agrees_with_the_oracle(
        layers in prop_oneof![
            6 => prop::collection::vec(layer(), 1..2),
            1 => prop::collection::vec(layer(), 2..4),
        ],
        (unit_bytes, units) in shape(),
        first_unit in prop_oneof![any::<u32>().prop_map(u64::from), any::<u64>()],
        seed: u64,
        offset in 0usize..64,
    ) {
        let first_unit = first_unit.min(u64::MAX - 1000);
        let plain = noise(seed, unit_bytes * units);
        let mut expected = plain.clone();
        oracle_xts(&layers, unit_bytes, first_unit, &mut expected);
        for kernel in Kernel::available() {
            let cipher = make(&layers, unit_bytes, kernel);
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

/// All ciphers, in every unit size that matters, whatever proptest happened to choose.
#[test]
fn each_cipher_on_each_kernel() {
    for algorithm in MODERN {
        let mut keys = [0; 64];
        keys.copy_from_slice(&noise(7, 64));
        let layers = [(algorithm, keys)];
        for (unit_bytes, units) in [
            (16, 1),
            (448, 1),
            (512, 1),
            (512, 2),
            (512, 3),
            (512, 8),
            (512, 65),
            (1024, 3),
            (1536, 5),
            (4096, 5),
        ] {
            let plain = noise(9, unit_bytes * units);
            let mut expected = plain.clone();
            oracle_xts(&layers, unit_bytes, 1 << 40, &mut expected);
            for kernel in Kernel::available() {
                let cipher = make(&layers, unit_bytes, kernel);
                let mut bytes = plain.clone();
                cipher.encrypt_sectors(&mut bytes, 1 << 40);
                assert!(bytes == expected, "{algorithm:?} {} encrypt {units}x{unit_bytes}", kernel.name());
                cipher.decrypt_sectors(&mut bytes, 1 << 40);
                assert!(bytes == plain, "{algorithm:?} {} decrypt {units}x{unit_bytes}", kernel.name());
            }
        }
    }
}

#[test]
fn units_can_be_done_one_by_one_or_together() {
    let keys = noise(3, 64);
    let spec = Spec { chain: Chain::single(Algorithm::Aes256), mode: Mode::Xts, unit_bytes: 512 };
    let cipher =
        SectorCipher::new(&spec, &[LayerKey { key: &keys[..32], tweak_key: &keys[32..] }]).expect("new");
    let mut together = noise(4, 512 * 40);
    let mut single = together.clone();
    cipher.encrypt_sectors(&mut together, 5);
    for (unit, number) in single.chunks_mut(512).zip(5..) {
        cipher.encrypt_sectors(unit, number);
    }
    assert_eq!(together, single);
}

#[test]
fn a_kernel_of_another_machine_is_refused() {
    let missing = if cfg!(target_arch = "aarch64") { Kernel::Sse } else { Kernel::Neon };
    let spec = Spec { chain: Chain::single(Algorithm::Aes256), mode: Mode::Xts, unit_bytes: 512 };
    let made = SectorCipher::with_kernel(&spec, &[LayerKey { key: &[1; 32], tweak_key: &[2; 32] }], missing);
    assert_eq!(made.err(), Some(CipherError::KernelMissing(missing.name())));
}

#[test]
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
fn aarch64_has_its_kernel() {
    assert_eq!(Kernel::available(), [Kernel::Portable, Kernel::Neon]);
}

#[test]
fn the_fastest_kernel_is_taken_by_default() {
    let spec = Spec { chain: Chain::single(Algorithm::Aes256), mode: Mode::Xts, unit_bytes: 512 };
    let made = SectorCipher::new(&spec, &[LayerKey { key: &[1; 32], tweak_key: &[2; 32] }]).expect("new");
    assert_eq!(Some(&made.kernel()), Kernel::available().last());
}

#[test]
fn what_does_not_fit_is_refused() {
    let xts = |chain: &str, unit_bytes, key: &[u8], tweak_key: &[u8]| {
        let chain: Chain = chain.parse().expect("known names");
        let keys: Vec<_> = chain.layers().map(|_| LayerKey { key, tweak_key }).collect();
        SectorCipher::new(&Spec { chain, mode: Mode::Xts, unit_bytes }, &keys).err()
    };
    assert_eq!(xts("aes", 512, &[0; 32], &[0; 32]), None);
    assert!(matches!(xts("aes", 512, &[0; 31], &[0; 32]), Some(CipherError::WrongKeys { .. })));
    assert!(matches!(xts("aes", 512, &[0; 32], &[0; 33]), Some(CipherError::WrongKeys { .. })));
    assert!(matches!(xts("aes", 500, &[0; 32], &[0; 32]), Some(CipherError::Unsupported(_))));
    assert!(matches!(xts("aes", 0, &[0; 32], &[0; 32]), Some(CipherError::Unsupported(_))));
    assert!(matches!(xts("blowfish", 512, &[0; 56], &[0; 56]), Some(CipherError::Unsupported(_))));
    let spec = Spec { chain: "aes-twofish".parse().expect("known"), mode: Mode::Xts, unit_bytes: 512 };
    let one = [LayerKey { key: &[0; 32], tweak_key: &[0; 32] }];
    assert!(matches!(SectorCipher::new(&spec, &one).err(), Some(CipherError::WrongKeys { .. })));
}
