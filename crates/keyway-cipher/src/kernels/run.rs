//! Drives a cipher's rounds over runs of blocks, a fixed number of vectors at a time.

use super::lanes::Lanes;
use super::{Pass, Xts};
use crate::xts::double;

/// Most blocks that any kernel takes at a time.
const LARGEST_GROUP: usize = 64;

/// A cipher with its key and direction, over `V` vectors at once.
///
/// # Safety
/// `apply` needs the instruction set of the vector and of the cipher.
pub(super) trait Rounds<L: Lanes, const V: usize> {
    unsafe fn apply(&self, blocks: &mut [L; V]);
}

/// Runs over the blocks of `pass`, in groups of `V` vectors.
///
/// # Safety
/// The caller has turned on what `L` and `rounds` need.
#[inline(always)]
pub(super) unsafe fn run<L: Lanes, const V: usize, R: Rounds<L, V>>(pass: Pass<'_>, rounds: &R) {
    let Pass { blocks, xts, .. } = pass;
    // SAFETY: the caller's promise is handed on.
    unsafe {
        match xts {
            None => ecb(blocks, rounds),
            Some(xts) if xts.unit_blocks.is_multiple_of(V * L::BLOCKS) => whole_units(blocks, xts, rounds),
            Some(xts) if V * L::BLOCKS == 2 * xts.unit_blocks => pairs_of_units(blocks, xts, rounds),
            Some(xts) => any_units(blocks, xts, rounds),
        }
    }
}

#[inline(always)]
unsafe fn ecb<L: Lanes, const V: usize, R: Rounds<L, V>>(blocks: &mut [[u8; 16]], rounds: &R) {
    let mut groups = blocks.chunks_exact_mut(V * L::BLOCKS);
    // SAFETY: each group is V vectors long; so is the room for what is left.
    unsafe {
        for group in &mut groups {
            let mut x = load(group.as_ptr());
            rounds.apply(&mut x);
            store(&x, group.as_mut_ptr());
        }
        let rest = groups.into_remainder();
        if !rest.is_empty() {
            let mut room = [[0u8; 16]; LARGEST_GROUP];
            room[..rest.len()].copy_from_slice(rest);
            let mut x = load(room.as_ptr());
            rounds.apply(&mut x);
            store(&x, room.as_mut_ptr());
            rest.copy_from_slice(&room[..rest.len()]);
        }
    }
}

/// Units of one or more whole groups: 512 and 4096 bytes for most kernels.
#[inline(always)]
unsafe fn whole_units<L: Lanes, const V: usize, R: Rounds<L, V>>(
    blocks: &mut [[u8; 16]],
    xts: Xts<'_>,
    rounds: &R,
) {
    let units = blocks.chunks_exact_mut(xts.unit_blocks);
    for (unit, first) in units.zip(xts.first_tweaks) {
        // SAFETY: the caller has what L needs; each group is V vectors long.
        unsafe {
            let mut tweaks = [L::tweaks_from(first); V];
            for i in 1..V {
                tweaks[i] = tweaks[i - 1].times_x(L::BLOCKS as i64);
            }
            for (i, group) in unit.chunks_exact_mut(V * L::BLOCKS).enumerate() {
                if i > 0 {
                    for tweak in &mut tweaks {
                        *tweak = tweak.times_x((V * L::BLOCKS) as i64);
                    }
                }
                tweaked(group, &tweaks, rounds);
            }
        }
    }
}

/// Two units to a group: 512 bytes for the kernels that take 64 blocks.
#[inline(always)]
unsafe fn pairs_of_units<L: Lanes, const V: usize, R: Rounds<L, V>>(
    blocks: &mut [[u8; 16]],
    xts: Xts<'_>,
    rounds: &R,
) {
    let mut groups = blocks.chunks_exact_mut(V * L::BLOCKS);
    let (pairs, last) = xts.first_tweaks.as_chunks::<2>();
    // SAFETY: as for `whole_units`.
    unsafe {
        for (group, [one, two]) in (&mut groups).zip(pairs) {
            let mut tweaks = [L::tweaks_from(one); V];
            tweaks[V / 2] = L::tweaks_from(two);
            for i in 1..V / 2 {
                tweaks[i] = tweaks[i - 1].times_x(L::BLOCKS as i64);
                tweaks[V / 2 + i] = tweaks[V / 2 + i - 1].times_x(L::BLOCKS as i64);
            }
            tweaked(group, &tweaks, rounds);
        }
        any_units(groups.into_remainder(), Xts { first_tweaks: last, ..xts }, rounds);
    }
}

/// Units of any length.
#[inline(always)]
unsafe fn any_units<L: Lanes, const V: usize, R: Rounds<L, V>>(
    blocks: &mut [[u8; 16]],
    xts: Xts<'_>,
    rounds: &R,
) {
    let mut firsts = xts.first_tweaks.iter();
    let (mut left, mut next) = (0, 0u128);
    for group in blocks.chunks_mut(V * L::BLOCKS) {
        let (mut room, mut tweaks) = ([[0u8; 16]; LARGEST_GROUP], [[0u8; 16]; LARGEST_GROUP]);
        room[..group.len()].copy_from_slice(group);
        for tweak in &mut tweaks[..group.len()] {
            if left == 0 {
                left = xts.unit_blocks;
                next = firsts.next().map_or(0, |first| u128::from_le_bytes(*first));
            }
            *tweak = next.to_le_bytes();
            next = double(next);
            left -= 1;
        }
        // SAFETY: the caller has what L needs; room and tweaks have space for any group.
        unsafe {
            let tweaks = load::<L, V>(tweaks.as_ptr());
            tweaked(&mut room[..V * L::BLOCKS], &tweaks, rounds);
        }
        group.copy_from_slice(&room[..group.len()]);
    }
}

/// # Safety
/// `group` is `V` vectors long.
#[inline(always)]
unsafe fn tweaked<L: Lanes, const V: usize, R: Rounds<L, V>>(
    group: &mut [[u8; 16]],
    tweaks: &[L; V],
    rounds: &R,
) {
    // SAFETY: the caller's promises.
    unsafe {
        let mut x: [L; V] = load(group.as_ptr());
        for (x, tweak) in x.iter_mut().zip(tweaks) {
            *x = x.xor(*tweak);
        }
        rounds.apply(&mut x);
        for (x, tweak) in x.iter_mut().zip(tweaks) {
            *x = x.xor(*tweak);
        }
        store(&x, group.as_mut_ptr());
    }
}

/// # Safety
/// `from` is good for `V` vectors.
#[inline(always)]
unsafe fn load<L: Lanes, const V: usize>(from: *const [u8; 16]) -> [L; V] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut x = [L::load(from); V];
        for (i, x) in x.iter_mut().enumerate() {
            *x = L::load(from.add(i * L::BLOCKS));
        }
        x
    }
}

/// # Safety
/// `to` is good for `V` vectors.
#[inline(always)]
unsafe fn store<L: Lanes, const V: usize>(x: &[L; V], to: *mut [u8; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        for (i, x) in x.iter().enumerate() {
            x.store(to.add(i * L::BLOCKS));
        }
    }
}
