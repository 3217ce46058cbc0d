//! LRW's tweaks on vectors: no more than exclusive or, as wide as it goes.

use super::lanes::Lanes;
use crate::portable;

/// As [`portable::xor_multiples`].
///
/// # Safety
/// The caller has turned on what `L` needs.
#[inline(always)]
pub(in crate::kernels) unsafe fn xor<L: Lanes>(
    blocks: &mut [[u8; 16]],
    multiples: &[[u8; 16]],
    base: &[u8; 16],
) {
    let whole = blocks.len().min(multiples.len()) / L::BLOCKS * L::BLOCKS;
    let (groups, rest) = blocks.split_at_mut(whole);
    let (multiple_groups, multiple_rest) = multiples.split_at(whole);
    // SAFETY: the caller's promise; every group is good for one vector.
    unsafe {
        let base = L::splat(base);
        let multiple_groups = multiple_groups.chunks_exact(L::BLOCKS);
        for (group, multiples) in groups.chunks_exact_mut(L::BLOCKS).zip(multiple_groups) {
            let tweaks = L::load(multiples.as_ptr()).xor(base);
            L::load(group.as_ptr()).xor(tweaks).store(group.as_mut_ptr());
        }
    }
    portable::xor_multiples(rest, multiple_rest, base);
}
