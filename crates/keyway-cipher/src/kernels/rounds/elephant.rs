//! The Elephant diffuser, a unit in every 32-bit lane: what is a chain within a unit runs in all of
//! them at once.
//!
//! A lane is a unit, so that units are transposed on the way in and out: a vector's blocks come from
//! units four apart, and four such vectors transposed by 4 by 4 words have the units in order.

use super::cbc::{Apart, UNIT_BLOCKS, places};
use super::serpent::Words;
use crate::elephant::{self, LARGEST_UNIT, SectorKey, Word};
use crate::pass::Direction;

/// Bytes of words that a group may have; 4096-byte units would have more in 16 lanes.
const FIRST_CACHE: usize = 32 * 1024;

/// Vectors of 32-bit numbers.
///
/// # Safety
/// Every method needs the instruction set of its vector.
pub(in crate::kernels) trait Arithmetic: Words + Apart {
    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn minus(self, other: Self) -> Self;
}

/// A vector that can be calculated with. Made only by [`mix`], whose callers have the instruction
/// set; that is why the operators may use it.
#[derive(Clone, Copy)]
struct Side<L>(L);

impl<L: Arithmetic> Word for Side<L> {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: see `Side`.
        Self(unsafe { Arithmetic::plus(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: see `Side`.
        Self(unsafe { Arithmetic::minus(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see `Side`.
        Self(unsafe { self.0.xor(other.0) })
    }

    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: see `Side`.
        Self(unsafe { self.0.rotate::<LEFT, RIGHT>() })
    }
}

/// What is to be diffused: whole units, as many as sector keys.
pub(in crate::kernels) struct Units<'a> {
    pub(in crate::kernels) blocks: &'a mut [[u8; 16]],
    pub(in crate::kernels) unit_blocks: usize,
    pub(in crate::kernels) sector_keys: &'a [SectorKey],
}

impl<'a> Units<'a> {
    /// None unless the units are [`UNIT_BLOCKS`] long or a multiple of it up to the largest unit.
    pub(in crate::kernels) fn new(
        units: &'a mut [u8],
        unit_bytes: usize,
        sector_keys: &'a [SectorKey],
    ) -> Option<Self> {
        let blocks = units.as_chunks_mut().0;
        let unit_blocks = unit_bytes / 16;
        let fits = unit_bytes <= LARGEST_UNIT
            && unit_blocks.is_multiple_of(UNIT_BLOCKS)
            && unit_blocks.checked_mul(sector_keys.len()) == Some(blocks.len());
        fits.then_some(Self { blocks, unit_blocks, sector_keys })
    }

    /// Takes the first `count` units out, or all when there are fewer.
    fn split(&mut self, count: usize) -> Units<'a> {
        let count = count.min(self.sector_keys.len());
        let (blocks, rest) = std::mem::take(&mut self.blocks).split_at_mut(count * self.unit_blocks);
        self.blocks = rest;
        let (sector_keys, rest) = self.sector_keys.split_at(count);
        self.sector_keys = rest;
        Units { blocks, unit_blocks: self.unit_blocks, sector_keys }
    }
}

/// Diffuses units as long as all lanes can be filled with them and their words stay in the first
/// cache, or, with `ALL`, to the last one.
///
/// # Safety
/// The caller has turned on what `L` needs.
#[inline(always)]
pub(in crate::kernels) unsafe fn diffuse<L: Arithmetic, const ALL: bool>(
    direction: Direction,
    units: &mut Units<'_>,
) {
    let lanes = 4 * L::BLOCKS;
    if !ALL && lanes * units.unit_blocks > FIRST_CACHE / 16 {
        return;
    }
    while units.sector_keys.len() >= if ALL { 1 } else { lanes } {
        let group = units.split(lanes);
        // SAFETY: the caller's promise; `split` has given no more units than lanes, and as many as
        // those if there were.
        unsafe {
            if group.unit_blocks == UNIT_BLOCKS {
                mix::<L, ALL, UNIT_BLOCKS>(direction, group, UNIT_BLOCKS);
            } else {
                let unit_blocks = group.unit_blocks;
                mix::<L, ALL, { LARGEST_UNIT / 16 }>(direction, group, unit_blocks);
            }
        }
    }
}

/// One group. With `ALL`, lanes may be left: they repeat the last unit. `ROOM` is the most blocks that
/// a unit may have.
///
/// # Safety
/// The caller has turned on what `L` needs. There are at least one and at most as many units as
/// lanes, as many unless `ALL`, each of `unit_blocks` blocks, which is at most `ROOM`.
#[inline(always)]
unsafe fn mix<L: Arithmetic, const ALL: bool, const ROOM: usize>(
    direction: Direction,
    group: Units<'_>,
    unit_blocks: usize,
) {
    let last = if ALL { group.sector_keys.len() - 1 } else { 4 * L::BLOCKS - 1 };
    let keys = group.sector_keys.as_flattened().as_ptr().cast_mut();
    let units = group.blocks.as_mut_ptr();
    // SAFETY: the caller's promise: no unit beyond `last`, no block beyond `unit_blocks`. Keys, two
    // blocks for each unit, are only read.
    unsafe {
        let zero = L::splat(&[0; 16]);
        let mut words = [[Side(zero); 4]; ROOM];
        let words = words.get_unchecked_mut(..unit_blocks);
        let mut sector_keys = [[zero; 4]; 2];
        for (half, key) in sector_keys.iter_mut().enumerate() {
            for (k, key) in key.iter_mut().enumerate() {
                *key = L::gather(places::<L>(keys, [k, 4], last, 2, half).map(<*mut _>::cast_const));
            }
        }
        for (at, words) in words.iter_mut().enumerate() {
            let mut x = [zero; 4];
            for (k, x) in x.iter_mut().enumerate() {
                *x = L::gather(places::<L>(units, [k, 4], last, unit_blocks, at).map(<*mut _>::cast_const));
                if direction == Direction::Encrypt {
                    *x = x.xor(sector_keys[at % 2][k]);
                }
            }
            let [a, b, c, d] = L::transpose(x);
            *words = [Side(a), Side(b), Side(c), Side(d)];
        }
        elephant::mix(direction, words);
        for (at, [a, b, c, d]) in words.iter().enumerate() {
            for (k, mut x) in L::transpose([a.0, b.0, c.0, d.0]).into_iter().enumerate() {
                if direction == Direction::Decrypt {
                    x = x.xor(sector_keys[at % 2][k]);
                }
                x.scatter(places::<L>(units, [k, 4], last, unit_blocks, at));
            }
        }
    }
}

/// Makes `pass`, an instruction set's entry point: safe to call where the named features are present.
/// Vectors in the order in which they take units; the last ones take what is left.
macro_rules! elephant_entry_point {
    ($features:literal, [$($lanes:ty),*], $last:ty) => {
        #[target_feature(enable = $features)]
        pub(in crate::kernels) fn pass(
            direction: $crate::pass::Direction,
            mut units: $crate::kernels::rounds::elephant::Units<'_>,
        ) {
            use $crate::kernels::rounds::elephant::diffuse;
            // SAFETY: the features that the vectors need are on in this function.
            unsafe {
                $(diffuse::<$lanes, false>(direction, &mut units);)*
                diffuse::<$last, true>(direction, &mut units);
            }
        }
    };
}
pub(in crate::kernels) use elephant_entry_point;
