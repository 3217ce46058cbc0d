//! XTS for AES, which is so fast on 256-bit vectors that its tweaks take a third of the time there: the
//! units that add integers, which have nothing else to do, make the tweaks of the next 64 blocks while the
//! vectors are at work on these.

use super::run::{Rounds, run};
use crate::pass::{Pass, Work, Xts};
use std::arch::{asm, x86_64::*};

/// Blocks of one chain of tweaks, each of which is made of the one before; two chains take turns, so that
/// neither waits for itself.
const CHAIN: usize = 32;
/// Blocks in a group of eight vectors.
const GROUP: usize = 16;

/// A tweak's lower and higher half.
type Tweak = [u64; 2];
/// The tweaks of both chains' blocks.
#[repr(align(32))]
struct Tweaks([Tweak; 2 * CHAIN]);

/// As [`run`], with eight vectors to a group.
///
/// # Safety
/// The caller has turned on AVX2 and what `rounds` needs.
#[inline(always)]
pub(super) unsafe fn run_ahead<const FEW: usize, R>(pass: Pass<'_>, rounds: &R)
where
    R: Rounds<__m256i, 8> + Rounds<__m256i, FEW>,
{
    let Pass { direction, blocks, work } = pass;
    let (blocks, work) = match work {
        // Two chains lie in one unit or in two, and what is left over is one unit.
        Work::Xts(Xts { first_tweaks, unit_blocks })
            if blocks.len() >= 2 * CHAIN
                && (unit_blocks == CHAIN || unit_blocks.is_multiple_of(2 * CHAIN)) =>
        {
            let (whole, rest) = blocks.as_chunks_mut::<{ 2 * CHAIN }>();
            let mut starts = Starts { first_tweaks, unit_blocks, left: 0, next: 0 };
            // SAFETY: the caller's promise.
            unsafe { pairs_of_chains(whole, &mut starts, rounds) };
            if rest.is_empty() {
                return;
            }
            let first_tweaks = &first_tweaks[first_tweaks.len().saturating_sub(1)..];
            (rest, Work::Xts(Xts { first_tweaks, unit_blocks }))
        }
        work => (blocks, work),
    };
    // SAFETY: the caller's promise.
    unsafe { run::<__m256i, 8, FEW, R>(Pass { direction, blocks, work }, rounds) }
}

/// # Safety
/// As for [`run_ahead`].
#[inline(always)]
unsafe fn pairs_of_chains<R: Rounds<__m256i, 8>>(
    pairs: &mut [[[u8; 16]; 2 * CHAIN]],
    starts: &mut Starts<'_>,
    rounds: &R,
) {
    let mut tables = [Tweaks([[0; 2]; 2 * CHAIN]), Tweaks([[0; 2]; 2 * CHAIN])];
    let [now, later] = &mut tables;
    let (mut now, mut later) = (now, later);
    let (mut one, mut two) = (starts.next(), starts.next());
    let (left, right) = now.0.split_at_mut(CHAIN);
    advance(&mut one, &mut two, left, right);
    for pair in pairs {
        (one, two) = (starts.next(), starts.next());
        let (left, right) = later.0.split_at_mut(CHAIN);
        let later_ones = left.as_chunks_mut::<{ GROUP / 2 }>().0.iter_mut();
        let later_ones = later_ones.zip(right.as_chunks_mut::<{ GROUP / 2 }>().0);
        let groups = pair.as_chunks_mut::<GROUP>().0.iter_mut().zip(now.0.as_chunks::<GROUP>().0);
        for ((blocks, tweaks), (left, right)) in groups.zip(later_ones) {
            let at: *mut __m256i = blocks.as_mut_ptr().cast();
            let tweaks: *const __m256i = tweaks.as_ptr().cast();
            // SAFETY: the caller has AVX2 and what `rounds` needs; a group and its tweaks are eight vectors.
            unsafe {
                let mut x = [_mm256_setzero_si256(); 8];
                for (i, x) in x.iter_mut().enumerate() {
                    *x = _mm256_xor_si256(_mm256_loadu_si256(at.add(i)), _mm256_loadu_si256(tweaks.add(i)));
                }
                advance(&mut one, &mut two, left, right);
                rounds.apply(&mut x);
                for (i, x) in x.iter().enumerate() {
                    let x = _mm256_xor_si256(*x, _mm256_loadu_si256(tweaks.add(i)));
                    _mm256_storeu_si256(at.add(i), x);
                }
            }
        }
        std::mem::swap(&mut now, &mut later);
    }
}

/// Writes down the next tweaks of two chains.
#[inline(always)]
fn advance(one: &mut Tweak, two: &mut Tweak, left: &mut [Tweak], right: &mut [Tweak]) {
    for (left, right) in left.iter_mut().zip(right) {
        (*left, *right) = (*one, *two);
        double(one);
        double(two);
    }
}

/// Times x, as [`crate::xts::double`].
#[inline(always)]
fn double([low, high]: &mut Tweak) {
    let carry = ((*high as i64) >> 63) as u64 & 0x87;
    // SAFETY: two additions. Compilers make a double shift of them, which takes AMD's processors three
    // cycles.
    unsafe {
        asm!(
            "add {0}, {0}",
            "adc {1}, {1}",
            inout(reg) * low,
            inout(reg) * high,
            options(pure, nomem, nostack)
        );
    }
    *low ^= carry;
}

/// The first tweaks of one chain after the other.
struct Starts<'a> {
    first_tweaks: &'a [[u8; 16]],
    unit_blocks: usize,
    /// Blocks of the present unit that are still to come.
    left: usize,
    next: u128,
}

impl Starts<'_> {
    /// Anything where there is no further unit.
    #[inline(always)]
    fn next(&mut self) -> Tweak {
        if self.left == 0 {
            let Some((first, rest)) = self.first_tweaks.split_first() else { return [0; 2] };
            self.first_tweaks = rest;
            (self.left, self.next) = (self.unit_blocks, u128::from_le_bytes(*first));
        } else {
            // Times x^32 (IEEE 1619, 5.2).
            let top = self.next >> (128 - CHAIN);
            self.next = self.next << CHAIN ^ top ^ top << 1 ^ top << 2 ^ top << 7;
        }
        self.left -= CHAIN;
        [self.next as u64, (self.next >> 64) as u64]
    }
}
