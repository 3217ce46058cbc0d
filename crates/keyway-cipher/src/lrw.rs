//! LRW as TrueCrypt 4.1 to 4.3 has it, for 128-bit and 64-bit blocks. To open old volumes.
//!
//! A block's tweak is the product of the tweak key and the block's number, both big-endian
//! polynomials over GF(2) (bit 0 is the last byte's lowest), modulo
//! x^128 + x^7 + x^2 + x + 1 or x^64 + x^4 + x^3 + x + 1 (IEEE P1619 draft of 2005; TrueCrypt 4.1,
//! `GfMul.c`). The number counts blocks from 1 (`Crypto.c`, `LRWSector2Index`; dm-crypt's
//! `benbi`). The tweak is xored once before and once after the whole chain.

use crate::kernels;
use crate::pass::Ready;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// GF(2^128) or GF(2^64), by the size of the cipher's blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Gf128,
    Gf64,
}

impl Field {
    pub(crate) fn of_blocks(block_bytes: usize) -> Self {
        if block_bytes == 8 { Self::Gf64 } else { Self::Gf128 }
    }

    /// The first bytes of `key`. None when there are not enough.
    pub(crate) fn element(self, key: &[u8]) -> Option<u128> {
        match self {
            Self::Gf128 => key.first_chunk().map(|bytes| u128::from_be_bytes(*bytes)),
            Self::Gf64 => key.first_chunk().map(|bytes| u128::from(u64::from_be_bytes(*bytes))),
        }
    }

    fn double(self, x: u128) -> u128 {
        match self {
            Self::Gf128 => crate::xts::double(x),
            Self::Gf64 => u128::from(((x as u64) << 1) ^ (0x1b & 0u64.wrapping_sub(x as u64 >> 63))),
        }
    }
}

/// Blocks whose tweaks differ by a table's entries.
const RUN: usize = 64;

/// A tweak key and what is needed to count in multiples of it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct LrwKey {
    #[zeroize(skip)]
    field: Field,
    key: u128,
    /// Product of the key and 2^(i+1) - 1: what to add when a block number's lowest i bits are
    /// ones and it is counted up.
    steps: [u128; 72],
    /// Products of the key and the numbers below [`RUN`], big-endian as in the tweak.
    multiples: [[u8; 16]; RUN],
}

impl LrwKey {
    pub(crate) fn new(field: Field, key: u128) -> Self {
        let mut this = Self { field, key, steps: [0; 72], multiples: [[0; 16]; RUN] };
        let (mut power, mut sum) = (key, 0);
        for step in &mut this.steps {
            sum ^= power;
            *step = sum;
            power = field.double(power);
        }
        for number in 0..RUN {
            this.multiples[number] = this.times(number as u128).to_be_bytes();
        }
        this
    }

    /// The key times `number`.
    fn times(&self, number: u128) -> u128 {
        let (mut product, mut power, mut rest) = (0, self.key, number);
        while rest != 0 {
            product ^= power & 0u128.wrapping_sub(rest & 1);
            power = self.field.double(power);
            rest >>= 1;
        }
        product
    }

    /// The tweak after `tweak`, which is that of block `number`.
    fn next(&self, tweak: u128, number: u128) -> u128 {
        // The table ends far beyond any volume; should it be left, multiply anew.
        match self.steps.get(number.trailing_ones() as usize) {
            Some(step) => tweak ^ step,
            None => self.times(number.wrapping_add(1)),
        }
    }

    /// Xors the tweaks of blocks `first_block`, `first_block + 1`, … into `blocks`.
    pub(crate) fn xor_tweaks(&self, ready: Ready, blocks: &mut [u8], first_block: u128) {
        match self.field {
            Field::Gf128 => self.xor_128(ready, blocks.as_chunks_mut().0, first_block),
            Field::Gf64 => self.xor_64(blocks.as_chunks_mut().0, first_block),
        }
    }

    fn xor_128(&self, ready: Ready, mut blocks: &mut [[u8; 16]], first_block: u128) {
        // A number is a multiple of RUN and a rest, and so is its product with the key.
        let mut rest = (first_block % RUN as u128) as usize;
        let mut number = first_block - rest as u128;
        let mut base = self.times(number);
        while !blocks.is_empty() {
            let multiples = &self.multiples[rest..];
            let (now, later) = blocks.split_at_mut(blocks.len().min(multiples.len()));
            kernels::xor_multiples(ready, now, multiples, &base.to_be_bytes());
            let last = number | (RUN as u128 - 1);
            base = self.next(base ^ u128::from_be_bytes(self.multiples[RUN - 1]), last);
            (blocks, rest, number) = (later, 0, last.wrapping_add(1));
        }
    }

    fn xor_64(&self, blocks: &mut [[u8; 8]], first_block: u128) {
        let mut number = first_block;
        let mut tweak = self.times(number);
        for block in blocks {
            *block = (u64::from_be_bytes(*block) ^ tweak as u64).to_be_bytes();
            tweak = self.next(tweak, number);
            number = number.wrapping_add(1);
        }
    }
}
