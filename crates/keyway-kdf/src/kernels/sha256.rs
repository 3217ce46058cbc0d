//! SHA-256 (FIPS 180-4) compression in lanes.

use super::chain::LaneHash;
use super::lanes::Lanes;

/// The initial state (section 5.3.3): the upper halves of SHA-512's.
pub(super) const IV: [u32; 8] = {
    let mut iv = [0; 8];
    let mut i = 0;
    while i < iv.len() {
        iv[i] = (super::sha512::IV[i] >> 32) as u32;
        i += 1;
    }
    iv
};

/// The round constants (section 4.2.2): the upper halves of SHA-512's first 64.
pub(super) const K: [u32; 64] = {
    let mut k = [0; 64];
    let mut i = 0;
    while i < k.len() {
        k[i] = (super::sha512::K[i] >> 32) as u32;
        i += 1;
    }
    k
};

/// SHA-256 (FIPS 180-4).
pub(crate) struct Sha256;

impl LaneHash<8> for Sha256 {
    type Word = u32;

    fn read(bytes: &[u8]) -> u32 {
        bytes.iter().fold(0, |word, &b| word << 8 | u32::from(b))
    }
    fn write(word: u32, bytes: &mut [u8]) {
        bytes.iter_mut().zip(word.to_be_bytes()).for_each(|(to, b)| *to = b);
    }

    fn midstate(block: &[u32; 16]) -> [u32; 8] {
        compress(IV, *block)
    }

    #[inline(always)]
    fn second<V: Lanes<Word = u32>>(midstate: [V; 8], digest: [V; 8]) -> [V; 8] {
        let [a, b, c, d, e, f, g, h] = digest;
        let zero = a.fill(0);
        let end = a.fill(1 << (u32::BITS - 1));
        // The length in bits: a key block of 16 words and a digest of 8.
        let length = a.fill(24 * u32::BITS);
        compress(midstate, [a, b, c, d, e, f, g, h, end, zero, zero, zero, zero, zero, zero, length])
    }
}

#[inline(always)]
fn compress<V: Lanes<Word = u32>>(state: [V; 8], mut w: [V; 16]) -> [V; 8] {
    let (first, rest) = K.split_at(16);
    let mut now = state;
    for i in 0..16 {
        now = round(now, w[i], first[i]);
    }
    for constants in rest.chunks_exact(16) {
        for i in 0..16 {
            let (w1, w14) = (w[(i + 1) % 16], w[(i + 14) % 16]);
            let s0 = w1.rotate_right::<7>().xor3(w1.rotate_right::<18>(), w1.shift_right::<3>());
            let s1 = w14.rotate_right::<17>().xor3(w14.rotate_right::<19>(), w14.shift_right::<10>());
            w[i] = w[i].add(s0).add(w[(i + 9) % 16].add(s1));
            now = round(now, w[i], constants[i]);
        }
    }
    std::array::from_fn(|i| state[i].add(now[i]))
}

#[inline(always)]
fn round<V: Lanes<Word = u32>>([a, b, c, d, e, f, g, h]: [V; 8], word: V, constant: u32) -> [V; 8] {
    let s1 = e.rotate_right::<6>().xor3(e.rotate_right::<11>(), e.rotate_right::<25>());
    let t1 = h.add(word.add(a.fill(constant))).add(e.choose(f, g)).add(s1);
    let s0 = a.rotate_right::<2>().xor3(a.rotate_right::<13>(), a.rotate_right::<22>());
    let t2 = s0.add(a.majority(b, c));
    [t1.add(t2), a, b, c, d.add(t1), e, f, g]
}
