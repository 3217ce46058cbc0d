//! CBC over AES. Decrypting, blocks stand alone until the last exclusive or. Encrypting, a unit is a
//! chain in which each block waits for the one before; units are what goes side by side, one to a
//! lane of 128 bits.

use super::aes::{AesLanes, Decrypt, Encrypt};
use super::lanes::Lanes;
use super::run::Rounds;
use crate::pass::Cbc;
use crate::portable::AesKeys;

/// Blocks in the shortest unit (512 bytes); longer ones are multiples of it.
pub(in crate::kernels) const UNIT_BLOCKS: usize = 32;
/// Vectors that are decrypted together, and chains of vectors when many units are encrypted: enough
/// for an AES instruction of four cycles that starts twice a cycle.
const MANY: usize = 8;
/// Units that are encrypted together when they are long or the last ones.
const FEW: usize = 8;

/// Vectors whose blocks come from places apart, and from the blocks one before.
///
/// # Safety
/// As [`Lanes`]: every pointer is good for one block.
pub(in crate::kernels) trait Apart: Lanes {
    /// A block from each of the first `BLOCKS` places.
    unsafe fn gather(from: [*const [u8; 16]; 4]) -> Self;
    /// A block to each of the first `BLOCKS` places.
    unsafe fn scatter(self, to: [*mut [u8; 16]; 4]);
    /// `self` moved up by one block; the gap is filled with the last block of `before`.
    unsafe fn after(self, before: Self) -> Self;
}

/// # Safety
/// The caller has turned on what `L` needs. `blocks` are whole units, a multiple of
/// [`UNIT_BLOCKS`] each, one for every IV.
#[inline(always)]
pub(in crate::kernels) unsafe fn encrypt<L: AesLanes + Apart, const FEW_VECTORS: usize, const R: usize>(
    keys: &AesKeys<R>,
    blocks: &mut [[u8; 16]],
    cbc: Cbc<'_>,
) {
    const { assert!(FEW_VECTORS * L::BLOCKS == FEW) };
    let Cbc { ivs, unit_blocks } = cbc;
    let (mut blocks, mut ivs) = (blocks, ivs);
    // SAFETY: the caller's promise; every group has as many units as IVs.
    unsafe {
        // Longer units' blocks share places in the first cache, where there is room for few.
        while unit_blocks == UNIT_BLOCKS
            && let Some((now, later)) = ivs.split_at_checked(MANY * L::BLOCKS)
        {
            let (units, rest) = blocks.split_at_mut(now.len() * unit_blocks);
            chains::<L, MANY, R, true>(keys, units, now, UNIT_BLOCKS);
            (blocks, ivs) = (rest, later);
        }
        for (units, ivs) in blocks.chunks_mut(FEW * unit_blocks).zip(ivs.chunks(FEW)) {
            if ivs.len() == FEW {
                chains::<L, FEW_VECTORS, R, true>(keys, units, ivs, unit_blocks);
            } else {
                chains::<L, FEW_VECTORS, R, false>(keys, units, ivs, unit_blocks);
            }
        }
    }
}

/// As many units side by side as `V` vectors have lanes. Unless they are `WHOLE`, lanes may be left:
/// they repeat the last unit.
///
/// # Safety
/// As for [`encrypt`]; there is an IV for each unit, at least one, at most one for each lane, and one
/// for each lane if `WHOLE`.
#[inline(always)]
unsafe fn chains<L: AesLanes + Apart, const V: usize, const R: usize, const WHOLE: bool>(
    keys: &AesKeys<R>,
    units: &mut [[u8; 16]],
    ivs: &[[u8; 16]],
    unit_blocks: usize,
) {
    let last = if WHOLE { V * L::BLOCKS - 1 } else { ivs.len() - 1 };
    let units = units.as_mut_ptr();
    // SAFETY: the caller's promise; `unit` is at most `last`, `at` less than a unit's blocks. In each
    // step all is read before anything is written, and lanes of one unit write the same.
    unsafe {
        let mut state = [L::splat(&[0; 16]); V];
        for (v, state) in state.iter_mut().enumerate() {
            // An IV is a unit of one block here, and only read.
            let places = places::<L>(ivs.as_ptr().cast_mut(), [v * L::BLOCKS, 1], last, 1, 0);
            *state = L::gather(places.map(<*mut _>::cast_const));
        }
        for at in 0..unit_blocks {
            for (v, state) in state.iter_mut().enumerate() {
                let places = places::<L>(units, [v * L::BLOCKS, 1], last, unit_blocks, at);
                *state = state.xor(L::gather(places.map(<*mut _>::cast_const)));
            }
            Encrypt(keys).apply(&mut state);
            for (v, state) in state.iter().enumerate() {
                state.scatter(places::<L>(units, [v * L::BLOCKS, 1], last, unit_blocks, at));
            }
        }
    }
}

/// Block `at` of each unit of a vector: of the `first` one, and as many as there are lanes, `step` apart,
/// but none beyond the `last`.
///
/// # Safety
/// `units` is good for `last` + 1 units, and `at` less than `unit_blocks`.
#[inline(always)]
pub(in crate::kernels) unsafe fn places<L: Lanes>(
    units: *mut [u8; 16],
    [first, step]: [usize; 2],
    last: usize,
    unit_blocks: usize,
    at: usize,
) -> [*mut [u8; 16]; 4] {
    let mut places = [units; 4];
    for (lane, place) in places.iter_mut().enumerate().take(L::BLOCKS) {
        // SAFETY: the caller's promise.
        *place = unsafe { units.add((first + step * lane).min(last) * unit_blocks + at) };
    }
    places
}

/// # Safety
/// As for [`encrypt`].
#[inline(always)]
pub(in crate::kernels) unsafe fn decrypt<L: AesLanes + Apart, const R: usize>(
    keys: &AesKeys<R>,
    blocks: &mut [[u8; 16]],
    cbc: Cbc<'_>,
) {
    const { assert!(UNIT_BLOCKS.is_multiple_of(MANY * L::BLOCKS)) };
    for (unit, iv) in blocks.chunks_exact_mut(cbc.unit_blocks).zip(cbc.ivs) {
        // SAFETY: the caller's promise; each group is good for `MANY` vectors.
        unsafe {
            let mut before = L::splat(iv);
            for group in unit.chunks_exact_mut(MANY * L::BLOCKS) {
                let at = group.as_mut_ptr();
                let mut x = [before; MANY];
                for (i, x) in x.iter_mut().enumerate() {
                    *x = L::load(at.add(i * L::BLOCKS));
                }
                Decrypt(keys).apply(&mut x);
                for (i, x) in x.iter_mut().enumerate() {
                    let cipher_text = L::load(at.add(i * L::BLOCKS));
                    *x = x.xor(cipher_text.after(before));
                    before = cipher_text;
                }
                for (i, x) in x.iter().enumerate() {
                    x.store(at.add(i * L::BLOCKS));
                }
            }
        }
    }
}

/// Makes `pass`, an instruction set's entry point, from its features, its vector, and how many of
/// those are eight blocks: safe to call where the named features are present,
/// false when the units are not made of groups of [`UNIT_BLOCKS`].
macro_rules! cbc_entry_point {
    ($features:literal, $lanes:ty, $few_vectors:literal) => {
        #[target_feature(enable = $features)]
        pub(in crate::kernels) fn pass<const R: usize>(
            keys: &$crate::portable::AesKeys<R>,
            direction: $crate::pass::Direction,
            blocks: &mut [[u8; 16]],
            cbc: $crate::pass::Cbc<'_>,
        ) -> bool {
            use $crate::kernels::rounds::cbc;
            use $crate::pass::Direction;
            let fits = cbc.unit_blocks.is_multiple_of(cbc::UNIT_BLOCKS)
                && cbc.unit_blocks.checked_mul(cbc.ivs.len()) == Some(blocks.len());
            if fits {
                // SAFETY: the features that the vectors need are on in this function; the shape of
                // `blocks` was just looked at.
                unsafe {
                    match direction {
                        Direction::Encrypt => cbc::encrypt::<$lanes, $few_vectors, R>(keys, blocks, cbc),
                        Direction::Decrypt => cbc::decrypt::<$lanes, R>(keys, blocks, cbc),
                    }
                }
            }
            fits
        }
    };
}
pub(in crate::kernels) use cbc_entry_point;
