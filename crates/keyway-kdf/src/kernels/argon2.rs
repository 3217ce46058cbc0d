//! Argon2's compression function G (RFC 9106, section 3.5) on blocks of memory.

use super::lanes::Wide;

/// One block of Argon2's memory: 1024 bytes as 64-bit words, in an order of our own.
///
/// RFC 9106 sees an 8×8 matrix of 16-byte registers. The two words of a register are the halves
/// `p` here; word `16 r + 2 i + p` of the standard rests at `16 r + 8 p + i`, so that both halves
/// of a row can be taken in one load each and no half has to be picked apart.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Block([u64; 128]);

impl Block {
    pub(crate) const ZERO: Self = Self([0; 128]);
    /// Bytes of one block.
    pub(crate) const BYTES: usize = 1024;

    /// Where word `number` of the standard rests.
    const fn place(number: usize) -> usize {
        number / 16 * 16 + number % 2 * 8 + number % 16 / 2
    }

    /// Word `number` (taken modulo 128) of the standard.
    pub(crate) fn word(&self, number: usize) -> u64 {
        self.0[Self::place(number % 128)]
    }

    /// The same, to be changed.
    pub(crate) fn word_mut(&mut self, number: usize) -> &mut u64 {
        &mut self.0[Self::place(number % 128)]
    }

    /// Has the block brought from memory before it is read.
    #[inline(always)]
    pub(crate) fn fetch(&self) {
        #[cfg(target_arch = "x86_64")]
        for line in self.0.chunks_exact(64 / size_of::<u64>()) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: every x86-64 processor has the instruction, and it changes nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
        }
    }
}

/// Puts G of `previous` and `reference` into `current`, added (exclusive or) to what is there if
/// `add` says so; `previous` becomes a copy of `current`.
#[derive(Clone, Copy)]
pub(crate) struct Compress {
    /// Safe to call on the processor for which [`Compress::best`] hands it out.
    run: unsafe fn(&mut Block, &Block, &mut Block, bool),
}

impl Compress {
    /// The one that runs on any processor.
    pub(crate) const PORTABLE: Self = Self { run: portable };

    /// Every function that runs on this processor, the fastest first.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                all.push(Self { run: avx512 });
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                all.push(Self { run: avx2 });
            }
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if std::arch::is_aarch64_feature_detected!("neon") {
            all.push(Self { run: neon });
        }
        all.push(Self::PORTABLE);
        all
    }

    /// The fastest on this processor.
    pub(crate) fn best() -> Self {
        Self::all().first().copied().unwrap_or(Self::PORTABLE)
    }

    pub(crate) fn run(self, previous: &mut Block, reference: &Block, current: &mut Block, add: bool) {
        // SAFETY: `all` has asked the processor for the instructions of what it hands out.
        unsafe { (self.run)(previous, reference, current, add) }
    }
}

/// The permutation P on sixteen words of as many rows or columns as `V` has lanes.
#[inline(always)]
fn permute<V: Wide>(mut v: [V; 16]) -> [V; 16] {
    // GB of section 3.6, step by step on four sets of words at a time.
    macro_rules! mix {
        ($($a:literal $b:literal $c:literal $d:literal),*) => {
            $( v[$a] = add_and_multiply(v[$a], v[$b]); )*
            $( v[$d] = v[$d].xor(v[$a]).rotate_right::<32>(); )*
            $( v[$c] = add_and_multiply(v[$c], v[$d]); )*
            $( v[$b] = v[$b].xor(v[$c]).rotate_right::<24>(); )*
            $( v[$a] = add_and_multiply(v[$a], v[$b]); )*
            $( v[$d] = v[$d].xor(v[$a]).rotate_right::<16>(); )*
            $( v[$c] = add_and_multiply(v[$c], v[$d]); )*
            $( v[$b] = v[$b].xor(v[$c]).rotate_right::<63>(); )*
        };
    }
    mix!(0 4 8 12, 1 5 9 13, 2 6 10 14, 3 7 11 15);
    mix!(0 5 10 15, 1 6 11 12, 2 7 8 13, 3 4 9 14);
    v
}

/// x + y + 2 · low(x) · low(y).
#[inline(always)]
fn add_and_multiply<V: Wide>(x: V, y: V) -> V {
    let product = x.multiply_low(y);
    x.add(y).add(product.add(product))
}

fn portable(previous: &mut Block, reference: &Block, current: &mut Block, add: bool) {
    let mut mixed = Block(std::array::from_fn(|i| previous.0[i] ^ reference.0[i]));
    for row in mixed.0.chunks_exact_mut(16) {
        let done = permute::<u64>(std::array::from_fn(|k| row[k % 2 * 8 + k / 2]));
        for (k, word) in done.into_iter().enumerate() {
            row[k % 2 * 8 + k / 2] = word;
        }
    }
    for column in 0..8 {
        let done = permute::<u64>(std::array::from_fn(|k| mixed.0[8 * k + column]));
        for (k, word) in done.into_iter().enumerate() {
            mixed.0[8 * k + column] = word;
        }
    }
    for i in 0..128 {
        let word = mixed.0[i] ^ previous.0[i] ^ reference.0[i];
        previous.0[i] = if add { current.0[i] ^ word } else { word };
    }
    current.0 = previous.0;
}

/// Vector `2 r + p` holds half `p` of row `r`, a lane for each column, or, the other way about, half `p`
/// of column `r`, a lane for each row; this changes between the two.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn turned<V: Wide>(v: [V; 16]) -> [V; 16] {
    let a = V::transpose([v[0], v[2], v[4], v[6], v[8], v[10], v[12], v[14]]);
    let b = V::transpose([v[1], v[3], v[5], v[7], v[9], v[11], v[13], v[15]]);
    [a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7]]
}

/// # Safety
/// The processor has the instructions of `V`, which holds eight words.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn in_lanes<V: Wide>(previous: &mut Block, reference: &Block, current: &mut Block, add: bool) {
    const { assert!(V::COUNT == 8) };
    macro_rules! sixteen {
        ($k:ident => $value:expr) => {
            sixteen!($k, $value, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
        };
        ($k:ident, $value:expr, $($number:literal)*) => {
            [$({ let $k: usize = $number; $value }),*]
        };
    }
    macro_rules! load {
        ($block:expr, $k:expr) => {
            // SAFETY: the caller vouches for the instructions; a block holds sixteen times eight words.
            unsafe { V::load(&$block.0[8 * $k..8 * $k + 8]) }
        };
    }
    let mixed = sixteen!(k => load!(previous, k).xor(load!(reference, k)));
    let mixed = permute(turned(mixed));
    let mixed = permute(turned(mixed));
    for (k, &mixed) in mixed.iter().enumerate() {
        let mut word = mixed.xor3(load!(previous, k), load!(reference, k));
        if add {
            word = word.xor(load!(current, k));
        }
        word.store(&mut previous.0[8 * k..8 * k + 8]);
        word.store(&mut current.0[8 * k..8 * k + 8]);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512(previous: &mut Block, reference: &Block, current: &mut Block, add: bool) {
    // SAFETY: this function has the features that the vector type needs.
    unsafe { in_lanes::<super::lanes::W64x8>(previous, reference, current, add) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2(previous: &mut Block, reference: &Block, current: &mut Block, add: bool) {
    // SAFETY: this function has the features that the vector type needs.
    unsafe { in_lanes::<super::lanes::Twin<super::lanes::W64x4>>(previous, reference, current, add) }
}

/// Two rows, then two columns at a time, which thirty-two registers hold beside what they wait for.
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
#[target_feature(enable = "neon")]
unsafe fn neon(previous: &mut Block, reference: &Block, current: &mut Block, add: bool) {
    use super::lanes::Lanes;
    use super::lanes_neon::W64x2;
    // SAFETY: this function has the features; a block holds 64 times two words.
    let load = |block: &Block, at: usize| unsafe { W64x2::load(&block.0[at..at + 2]) };
    let mut mixed = Block::ZERO;
    for row in 0..4 {
        // Word 2 i + p of a row rests at 8 p + i: two words of both rows are turned to two words' two rows.
        let at = |pair: usize, half: usize| 32 * row + 8 * half + 2 * pair;
        let xored = |at: usize| load(previous, at).xor(load(reference, at));
        let mut words = [xored(0); 16];
        for pair in 0..4 {
            for half in 0..2 {
                let at = at(pair, half);
                [words[4 * pair + half], words[4 * pair + 2 + half]] = xored(at).turned(xored(at + 16));
            }
        }
        let words = permute(words);
        for pair in 0..4 {
            for half in 0..2 {
                let at = at(pair, half);
                let [first, second] = words[4 * pair + half].turned(words[4 * pair + 2 + half]);
                first.store(&mut mixed.0[at..at + 2]);
                second.store(&mut mixed.0[at + 16..at + 18]);
            }
        }
    }
    for column in (0..8).step_by(2) {
        let mut words = [load(&mixed, column); 16];
        for (k, word) in words.iter_mut().enumerate() {
            *word = load(&mixed, 8 * k + column);
        }
        for (k, word) in permute(words).into_iter().enumerate() {
            let at = 8 * k + column;
            let mut word = word.xor3(load(previous, at), load(reference, at));
            if add {
                word = word.xor(load(current, at));
            }
            word.store(&mut previous.0[at..at + 2]);
            word.store(&mut current.0[at..at + 2]);
        }
    }
}
