//! Every kernel against the portable one: any cipher or cascade, mode, unit, length, place in memory
//! and first unit that a format could ask for. Keys and texts come from the input too.
#![no_main]

use keyway_cipher::{Algorithm, Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use libfuzzer_sys::fuzz_target;

const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::Aes128,
    Algorithm::Aes256,
    Algorithm::Serpent,
    Algorithm::Twofish,
    Algorithm::Camellia,
    Algorithm::Kuznyechik,
    Algorithm::Blowfish,
    Algorithm::Cast5,
    Algorithm::TripleDes,
];
const MODES: [Mode; 6] =
    [Mode::Xts, Mode::Lrw, Mode::Cbc, Mode::InnerCbc, Mode::BitLockerCbc, Mode::BitLockerElephant];
/// Longest run: more than any kernel takes at once, and still many runs a second.
const LONGEST: usize = 36 * 1024;

/// The input's bytes again and again, each time a little different.
fn stretch(input: &[u8], len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| input.get(i % input.len().max(1)).map_or(0, |b| b.wrapping_add((i >> 8) as u8)))
        .collect()
}

fuzz_target!(|input: &[u8]| {
    let Some((head, rest)) = input.split_first_chunk::<16>() else { return };
    let [mode, layers, one, two, three, unit_low, unit_high, run, offset, cut, ..] = *head;
    let pick = |byte: u8| ALGORITHMS[usize::from(byte) % ALGORITHMS.len()];
    let chain = match layers % 3 {
        0 => Chain::single(pick(one)),
        1 => Chain::double(pick(one), pick(two)),
        _ => Chain::triple(pick(one), pick(two), pick(three)),
    };
    // Mostly the units that volumes have.
    let unit_bytes = match unit_high {
        0..128 => 512,
        128..192 => 4096,
        192..224 => 512 << (unit_low % 4),
        _ => 8 * (1 + u32::from(unit_low)),
    };
    let spec = Spec { chain, mode: MODES[usize::from(mode) % MODES.len()], unit_bytes };
    // The head's last bytes count from both ends.
    let near = i64::from(i32::from_le_bytes([head[10], head[11], head[12], head[13]]));
    let first_unit = (near as u64).wrapping_shl(u32::from(head[14]) % 40);

    let unit = unit_bytes as usize;
    let units = (1 + usize::from(run) % 80).min(LONGEST / unit).max(1);
    let plain = stretch(rest, units * unit);
    let keys = stretch(input, 64 + 3 * 56);
    let (seed, mut key_rest) = keys.split_at(64);
    let layers: Vec<_> = chain
        .layers()
        .map(|algorithm| {
            let (key, after) = key_rest.split_at(algorithm.key_bytes());
            key_rest = after;
            let tweak_key = match spec.mode {
                Mode::BitLockerCbc => &[],
                Mode::Xts | Mode::BitLockerElephant => &seed[..key.len()],
                Mode::Lrw | Mode::Cbc | Mode::InnerCbc => &seed[..32],
            };
            LayerKey { key, tweak_key }
        })
        .collect();

    let mut expected: Option<Vec<u8>> = None;
    for kernel in Kernel::available() {
        let Ok(cipher) = SectorCipher::with_kernel(&spec, &layers, kernel) else {
            assert!(expected.is_none(), "a kernel refuses what another took");
            return;
        };
        // The sanitizer watches both ends of the room.
        let from = usize::from(offset) % 64;
        let mut room = vec![0u8; from + plain.len()];
        room[from..].copy_from_slice(&plain);
        // In two pieces, which must not show.
        let at = from + usize::from(cut) % (units + 1) * unit;
        let second_unit = first_unit.wrapping_add(((at - from) / unit) as u64);
        let (one, two) = room.split_at_mut(at);
        cipher.encrypt_sectors(&mut one[from..], first_unit);
        cipher.encrypt_sectors(two, second_unit);
        let whole = expected.get_or_insert_with(|| room[from..].to_vec());
        assert!(room[from..] == whole[..], "{} encrypts otherwise", kernel.name());
        cipher.decrypt_sectors(&mut room[from..], first_unit);
        assert!(room[from..] == plain[..], "{} does not decrypt what it encrypted", kernel.name());
    }
});
