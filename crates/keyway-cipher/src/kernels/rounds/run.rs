//! Drives a cipher's rounds over runs of blocks, a fixed number of vectors at a time.

use super::lanes::Lanes;
use crate::pass::{Pass, Work, Xts};
use crate::xts::double;

/// Most blocks that any kernel takes at a time.
const LARGEST_GROUP: usize = 64;

/// A cipher with its key and direction, over `V` vectors at once.
///
/// # Safety
/// `apply` needs the instruction set of the vector and of the cipher.
pub(in crate::kernels) trait Rounds<L: Lanes, const V: usize> {
    unsafe fn apply(&self, blocks: &mut [L; V]);
}

/// Runs over the blocks of `pass`, in groups of `V` vectors; a last, shorter group is filled up.
/// Blocks that fit into `FEW` vectors go through rounds over so many, unless XTS is asked for: a page's
/// eight tweaks should not cost as much as a group.
///
/// # Safety
/// The caller has turned on what `L` and `rounds` need.
#[inline(always)]
pub(in crate::kernels) unsafe fn run<L, const V: usize, const FEW: usize, R>(pass: Pass<'_>, rounds: &R)
where
    L: Lanes,
    R: Rounds<L, V> + Rounds<L, FEW>,
{
    let Pass { blocks, mut work, .. } = pass;
    let xts = if let Work::Xts(xts) = work { Some(xts) } else { None };
    // SAFETY: the caller's promise.
    unsafe {
        if FEW < V && blocks.len() <= FEW * L::BLOCKS && xts.is_none() {
            return group::<L, FEW, R>(blocks, &mut work, &mut None, rounds);
        }
        let mut tweaks = xts.map(Tweaks::new);
        // One loop for all cases: the rounds are long, and become part of it only once.
        for blocks in blocks.chunks_mut(V * L::BLOCKS) {
            group::<L, V, R>(blocks, &mut work, &mut tweaks, rounds);
        }
    }
}

/// One group of `V` vectors, or less.
///
/// # Safety
/// The caller has turned on what `L` and `rounds` need.
#[inline(always)]
unsafe fn group<L: Lanes, const V: usize, R: Rounds<L, V>>(
    blocks: &mut [[u8; 16]],
    work: &mut Work<'_>,
    tweaks: &mut Option<Tweaks<'_, L, V>>,
    rounds: &R,
) {
    const { assert!(V * L::BLOCKS <= LARGEST_GROUP) };
    let mut room = None;
    let at = if blocks.len() == V * L::BLOCKS {
        blocks.as_mut_ptr()
    } else {
        let room = room.insert([[0u8; 16]; LARGEST_GROUP]);
        room[..blocks.len()].copy_from_slice(blocks);
        room.as_mut_ptr()
    };
    // SAFETY: the caller has what L needs; `at` is good for V vectors, in either case.
    unsafe {
        let mut x: [L; V] = match work {
            Work::Numbers(next) => {
                let first = *next;
                *next = next.wrapping_add((V * L::BLOCKS) as u64);
                numbers(first)
            }
            _ => load(at),
        };
        if let Some(tweaks) = tweaks {
            tweaks.advance(blocks.len());
            for (x, tweak) in x.iter_mut().zip(&tweaks.now) {
                *x = x.xor(*tweak);
            }
        }
        rounds.apply(&mut x);
        if let Some(tweaks) = tweaks {
            for (x, tweak) in x.iter_mut().zip(&tweaks.now) {
                *x = x.xor(*tweak);
            }
        }
        store(&x, at);
    }
    if let Some(room) = &room {
        blocks.copy_from_slice(&room[..blocks.len()]);
    }
}

/// The blocks that the numbers from `first` on are.
///
/// # Safety
/// The caller has what `L` needs.
#[inline(always)]
unsafe fn numbers<L: Lanes, const V: usize>(first: u64) -> [L; V] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut x = [L::numbers(first); V];
        for (i, x) in x.iter_mut().enumerate() {
            *x = L::numbers(first.wrapping_add((i * L::BLOCKS) as u64));
        }
        x
    }
}

/// The tweaks of one group of blocks after the other.
struct Tweaks<'a, L, const V: usize> {
    now: [L; V],
    first_tweaks: &'a [[u8; 16]],
    unit_blocks: usize,
    /// Blocks of the present unit that are still to come.
    left: usize,
    /// The next block's tweak, where units don't fill groups.
    next: u128,
}

impl<'a, L: Lanes, const V: usize> Tweaks<'a, L, V> {
    #[inline(always)]
    fn new(xts: Xts<'a>) -> Self {
        let Xts { first_tweaks, unit_blocks } = xts;
        // SAFETY: zeros are a vector of any kind; only `run`'s callers, who have them, get here.
        let zero = unsafe { L::splat(&[0; 16]) };
        Self { now: [zero; V], first_tweaks, unit_blocks, left: 0, next: 0 }
    }

    /// Sets `now` for the next group, of `len` blocks.
    ///
    /// # Safety
    /// The caller has what `L` needs.
    #[inline(always)]
    unsafe fn advance(&mut self, len: usize) {
        let group_blocks = V * L::BLOCKS;
        // SAFETY: the caller's promise.
        unsafe {
            if self.unit_blocks.is_multiple_of(group_blocks) {
                // Units of one or more groups: 512 and 4096 bytes for most kernels.
                if self.left > 0 {
                    for tweak in &mut self.now {
                        *tweak = tweak.times_x(group_blocks as i64);
                    }
                } else if let [first, rest @ ..] = self.first_tweaks {
                    self.first_tweaks = rest;
                    self.left = self.unit_blocks;
                    fill(&mut self.now, first);
                }
                self.left = self.left.saturating_sub(group_blocks);
            } else if 2 * self.unit_blocks == group_blocks
                && let [one, rest @ ..] = self.first_tweaks
            {
                // Two units to a group: 512 bytes for the kernels that take 64 blocks. Where the last one
                // is alone, nobody wants what the other half becomes.
                let (two, rest) = rest.split_first().unwrap_or((one, rest));
                self.first_tweaks = rest;
                let (left, right) = self.now.split_at_mut(V / 2);
                fill(left, one);
                fill(right, two);
            } else {
                let mut tweaks = [[0u8; 16]; LARGEST_GROUP];
                self.one_by_one(&mut tweaks[..len]);
                self.now = load(tweaks.as_ptr());
            }
        }
    }

    /// For units of any length.
    #[inline(never)]
    fn one_by_one(&mut self, tweaks: &mut [[u8; 16]]) {
        for tweak in tweaks {
            if self.left == 0
                && let [first, rest @ ..] = self.first_tweaks
            {
                self.first_tweaks = rest;
                self.left = self.unit_blocks;
                self.next = u128::from_le_bytes(*first);
            }
            *tweak = self.next.to_le_bytes();
            self.next = double(self.next);
            self.left = self.left.saturating_sub(1);
        }
    }
}

/// Consecutive tweaks from a unit's first one on.
///
/// # Safety
/// The caller has what `L` needs.
#[inline(always)]
unsafe fn fill<L: Lanes>(tweaks: &mut [L], first: &[u8; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        tweaks[0] = L::tweaks_from(first);
        // Doubling what is there: few steps depend on each other.
        let mut there = 1;
        while there < tweaks.len() {
            let (from, to) = tweaks.split_at_mut(there);
            for (to, from) in to.iter_mut().zip(from) {
                *to = from.times_x((there * L::BLOCKS) as i64);
            }
            there *= 2;
        }
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
