//! What holds for every cipher, mode and kernel: decrypting undoes encrypting, a run is its pieces,
//! all kernels agree, at any alignment and at the ends of the numbers. Which text belongs to which
//! cipher text is for `vectors`, `kernels`, `old_modes` and `bitlocker_modes` to say.
#![allow(clippy::expect_used, reason = "tests; the helpers here are not functions marked as such")]

use keyway_cipher::{Algorithm, Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use keyway_testkit::Rng;
use proptest::prelude::*;

const BLOCK_16: [Algorithm; 6] = [
    Algorithm::Aes128,
    Algorithm::Aes256,
    Algorithm::Serpent,
    Algorithm::Twofish,
    Algorithm::Camellia,
    Algorithm::Kuznyechik,
];
const BLOCK_8: [Algorithm; 3] = [Algorithm::Blowfish, Algorithm::Cast5, Algorithm::TripleDes];

fn chain(layers: &[Algorithm]) -> Chain {
    match *layers {
        [a] => Chain::single(a),
        [a, b] => Chain::double(a, b),
        [a, b, c] => Chain::triple(a, b, c),
        _ => unreachable!("one to three"),
    }
}

/// A spec that [`SectorCipher`] takes: any mode, and what it can be used with.
fn spec() -> impl Strategy<Value = Spec> {
    let any_length = || {
        prop_oneof![
            4 => Just(512u32),
            2 => Just(4096u32),
            1 => Just(1024u32),
            1 => (1u32..80).prop_map(|blocks| blocks * 16),
        ]
    };
    let layers = |from: &'static [Algorithm]| {
        let one = || prop::sample::select(from);
        prop_oneof![2 => prop::collection::vec(one(), 1..2), 1 => prop::collection::vec(one(), 2..4)]
            .prop_map(|layers| chain(&layers))
    };
    let spec = |mode| move |(chain, unit_bytes)| Spec { chain, mode, unit_bytes };
    let mixed = (prop::sample::select(&BLOCK_16[..]), prop::sample::select(&BLOCK_8[..]))
        .prop_map(|(outer, inner)| Chain::double(outer, inner));
    let aes = || prop::sample::select(&BLOCK_16[..2]).prop_map(Chain::single);
    let bitlocker = || prop::sample::select(&[512u32, 1024, 2048, 4096][..]);
    prop_oneof![
        6 => (layers(&BLOCK_16), any_length()).prop_map(spec(Mode::Xts)),
        2 => (layers(&BLOCK_16), any_length()).prop_map(spec(Mode::Lrw)),
        1 => (layers(&BLOCK_8), any_length()).prop_map(spec(Mode::Lrw)),
        2 => (layers(&BLOCK_16), any_length()).prop_map(spec(Mode::Cbc)),
        1 => (layers(&BLOCK_8), any_length()).prop_map(spec(Mode::Cbc)),
        1 => (mixed, any_length()).prop_map(spec(Mode::InnerCbc)),
        3 => (aes(), bitlocker()).prop_map(spec(Mode::BitLockerCbc)),
        3 => (aes(), bitlocker()).prop_map(spec(Mode::BitLockerElephant)),
    ]
}

/// First units: anywhere, and where 32 or 64 bits end, and where a byte offset leaves 32 bits.
fn first_unit() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0u64..100,
        (0u64..80).prop_map(|n| (1 << 32) - n),
        (0u64..80).prop_map(|n| (1 << 23) - n),
        (0u64..80).prop_map(|n| u64::MAX - n),
    ]
}

fn noise(seed: u64, len: usize) -> Vec<u8> {
    Rng::new(seed).bytes(len)
}

fn make(spec: &Spec, keys: &[u8], kernel: Kernel) -> SectorCipher {
    let (seed, mut rest) = keys.split_at(64);
    let layers: Vec<_> = spec
        .chain
        .layers()
        .map(|algorithm| {
            let (key, after) = rest.split_at(algorithm.key_bytes());
            rest = after;
            let tweak_key = match spec.mode {
                Mode::BitLockerCbc => &[],
                Mode::Xts | Mode::BitLockerElephant => &seed[key.len() % 32..][..key.len()],
                Mode::Lrw | Mode::Cbc | Mode::InnerCbc => &seed[..32],
            };
            LayerKey { key, tweak_key }
        })
        .collect();
    SectorCipher::with_kernel(spec, &layers, kernel).expect("a spec that is allowed")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn runs(
        spec in spec(),
        units in prop_oneof![3 => 1usize..9, 2 => 1usize..40, 1 => 60usize..70],
        first in first_unit(),
        seed: u64,
        offset in 0usize..64,
        cut in any::<prop::sample::Index>(),
    ) {
        let keys = noise(seed ^ 0x5eed, 64 + 3 * 56);
        let unit_bytes = spec.unit_bytes as usize;
        let plain = noise(seed, unit_bytes * units);
        let mut agreed: Option<Vec<u8>> = None;
        for kernel in Kernel::available() {
            let cipher = make(&spec, &keys, kernel);
            let what = format!("{} {} {} {unit_bytes}x{units}", spec.chain, spec.mode.name(), kernel.name());
            let mut room = vec![0xa5; offset + plain.len() + 64];
            let run = offset..offset + plain.len();
            room[run.clone()].copy_from_slice(&plain);
            cipher.encrypt_sectors(&mut room[run.clone()], first);
            let whole = agreed.get_or_insert_with(|| room[run.clone()].to_vec());
            prop_assert!(room[run.clone()] == whole[..], "{what}: kernels differ when encrypting");

            // In two pieces, elsewhere in memory.
            let at = cut.index(units + 1);
            let mut pieces = plain.clone();
            let (one, two) = pieces.split_at_mut(at * unit_bytes);
            cipher.encrypt_sectors(one, first);
            cipher.encrypt_sectors(two, first.wrapping_add(at as u64));
            prop_assert!(pieces == whole[..], "{what}: cut at {at}, encrypting");
            let (one, two) = pieces.split_at_mut(at * unit_bytes);
            cipher.decrypt_sectors(two, first.wrapping_add(at as u64));
            cipher.decrypt_sectors(one, first);
            prop_assert!(pieces == plain, "{what}: cut at {at}, decrypting");

            cipher.decrypt_sectors(&mut room[run.clone()], first);
            prop_assert!(room[run.clone()] == plain[..], "{what}: does not come back");
            prop_assert!(room[..offset].iter().chain(&room[run.end..]).all(|&b| b == 0xa5), "{what}: outside");
        }
    }

    /// Equal units at different places must not look alike, in any mode.
    #[test]
    fn the_number_matters(spec in spec(), first in first_unit(), other in first_unit(), seed: u64) {
        prop_assume!(first != other);
        let keys = noise(seed, 64 + 3 * 56);
        let cipher = make(&spec, &keys, Kernel::Portable);
        let plain = vec![0x42; spec.unit_bytes as usize];
        let (mut here, mut there) = (plain.clone(), plain);
        cipher.encrypt_sectors(&mut here, first);
        cipher.encrypt_sectors(&mut there, other);
        prop_assert!(here != there);
    }
}

/// Every length of a run up to more than any kernel takes at once, each cipher and kernel.
#[test]
fn all_lengths() {
    let keys = noise(1, 64 + 3 * 56);
    for algorithm in BLOCK_16 {
        for mode in [Mode::Xts, Mode::Lrw, Mode::Cbc, Mode::BitLockerCbc, Mode::BitLockerElephant] {
            if !matches!(algorithm, Algorithm::Aes128 | Algorithm::Aes256)
                && matches!(mode, Mode::BitLockerCbc | Mode::BitLockerElephant)
            {
                continue;
            }
            let spec = Spec { chain: Chain::single(algorithm), mode, unit_bytes: 512 };
            let plain = noise(2, 512 * 67);
            let ciphers: Vec<_> = Kernel::available().iter().map(|k| make(&spec, &keys, *k)).collect();
            let mut expected = plain.clone();
            for (unit, number) in expected.chunks_mut(512).zip(9..) {
                ciphers[0].encrypt_sectors(unit, number);
            }
            for (cipher, units) in ciphers.iter().flat_map(|c| (0..=67).map(move |units| (c, units))) {
                let what = format!("{algorithm:?} {} {} {units}", mode.name(), cipher.kernel().name());
                let mut bytes = plain[..512 * units].to_vec();
                cipher.encrypt_sectors(&mut bytes, 9);
                assert!(bytes == expected[..512 * units], "{what} encrypting");
                cipher.decrypt_sectors(&mut bytes, 9);
                assert!(bytes == plain[..512 * units], "{what} decrypting");
            }
        }
    }
}
