//! Filling Argon2id's memory block by block (RFC 9106, section 3.4), each step told its address early.

use super::parameters::{Argon2idCost, Argon2idParameter, KdfError, TYPE};
use crate::kernels::argon2::{Block, Compress};

/// Slices of the memory; segments in the same slice do not depend on each other.
const SLICES: usize = 4;
/// How many addresses one block of them holds.
pub(super) const ADDRESSES: usize = 128;

/// The memory as lanes and segments, in blocks.
pub(super) struct Shape {
    passes: u32,
    lanes: usize,
    lane: usize,
    segment: usize,
}

impl Shape {
    pub(super) fn of(cost: Argon2idCost) -> Result<Self, KdfError> {
        let check = |good: bool, what| if good { Ok(()) } else { Err(KdfError::Parameters(what)) };
        check((1..1 << 24).contains(&cost.lanes), Argon2idParameter::Lanes)?;
        check(cost.memory_kib >= 8 * cost.lanes, Argon2idParameter::Memory)?;
        check(cost.passes >= 1, Argon2idParameter::Passes)?;
        let (lanes, memory) = (cost.lanes as usize, cost.memory_kib as usize);
        let segment = memory / (SLICES * lanes);
        Ok(Self { passes: cost.passes, lanes, lane: segment * SLICES, segment })
    }

    /// Blocks of the whole memory, which may be a few less than were asked for.
    pub(super) fn blocks(&self) -> usize {
        self.lane * self.lanes
    }

    pub(super) fn lanes_of<'a>(&self, memory: &'a mut [Block]) -> impl Iterator<Item = &'a mut [Block]> {
        memory.chunks_exact_mut(self.lane)
    }

    pub(super) fn last_blocks<'a>(&self, memory: &'a [Block]) -> impl Iterator<Item = &'a Block> {
        memory.chunks_exact(self.lane).filter_map(|lane| lane.last())
    }
}

/// A memory on its way to being filled. Between steps the next one's addresses are known, and its
/// blocks are already on their way from memory.
pub(super) struct Filling<'a> {
    compress: Compress,
    shape: &'a Shape,
    memory: &'a mut [Block],
    /// The pass, which is over the last one at the end.
    pass: u32,
    slice: usize,
    lane: usize,
    /// The next block to make, counted from the beginning of its segment.
    block: usize,
    /// The block before it.
    previous: Block,
    /// Argon2id: the first half of the first pass takes its addresses from a counter, not from data.
    counted: Option<Addresses>,
    /// The block that the next one refers to, counted from the beginning of the memory.
    reference: usize,
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        self.previous = Block::ZERO;
        std::hint::black_box(&mut self.previous);
    }
}

impl<'a> Filling<'a> {
    /// Goes on from the first two blocks of each lane, which are there.
    pub(super) fn new(compress: Compress, shape: &'a Shape, memory: &'a mut [Block]) -> Self {
        let mut filling = Self {
            compress,
            shape,
            memory,
            pass: 0,
            slice: 0,
            lane: 0,
            block: 2,
            previous: Block::ZERO,
            counted: None,
            reference: 0,
        };
        if filling.block == shape.segment {
            filling.next_segment();
        } else {
            filling.begin_segment();
        }
        filling
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.pass < self.shape.passes
    }

    pub(super) fn memory(&self) -> &[Block] {
        self.memory
    }

    /// Makes one block, if there is one left to make.
    pub(super) fn step(&mut self) {
        if !self.is_unfinished() {
            return;
        }
        let (reference, current) = apart(self.memory, self.reference, self.current());
        self.compress.run(&mut self.previous, reference, current, self.pass > 0);
        self.block += 1;
        if self.block == self.shape.segment {
            self.next_segment();
        } else {
            self.look_ahead();
        }
    }

    fn current(&self) -> usize {
        self.lane * self.shape.lane + self.slice * self.shape.segment + self.block
    }

    /// Enters the segment after this one, unless the memory is full.
    fn next_segment(&mut self) {
        let segment = self.shape.segment;
        while self.block == segment && self.is_unfinished() {
            self.block = 0;
            self.lane += 1;
            if self.lane == self.shape.lanes {
                self.lane = 0;
                self.slice += 1;
            }
            if self.slice == SLICES {
                self.slice = 0;
                self.pass += 1;
            }
            if self.pass == 0 && self.slice == 0 {
                // The smallest segments are as long as this; nothing is left to do in them.
                self.block = 2;
            }
        }
        if self.is_unfinished() {
            self.begin_segment();
        }
    }

    fn begin_segment(&mut self) {
        self.counted = (self.pass == 0 && self.slice < SLICES / 2).then(|| Addresses::new(self));
        let start = self.lane * self.shape.lane;
        let before = self.slice * self.shape.segment + self.block + self.shape.lane - 1;
        self.previous = self.memory[start + before % self.shape.lane];
        self.look_ahead();
    }

    /// Finds out what the next block refers to, and has it fetched.
    fn look_ahead(&mut self) {
        let &mut Self { shape, pass, slice, lane, block, compress, .. } = self;
        let random = match &mut self.counted {
            Some(addresses) => addresses.at(compress, block),
            None => self.previous.word(0),
        };
        let other = (random >> 32) as usize % shape.lanes;
        let first_pass = pass == 0;
        let from = if first_pass && slice == 0 { lane } else { other };
        // What may be referred to: whole slices, and of the own lane what is there of this segment.
        let slices = if first_pass { slice } else { SLICES - 1 };
        let area = slices * shape.segment + if from == lane { block } else { usize::from(block > 0) } - 1;
        let low = random & 0xffff_ffff;
        let back = ((area as u64 * ((low * low) >> 32)) >> 32) as usize;
        let oldest = if first_pass { 0 } else { (slice + 1) % SLICES * shape.segment };
        self.reference = from * shape.lane + (oldest + area - 1 - back) % shape.lane;
        self.memory[self.reference].fetch();
        if !first_pass {
            // What the block after next is added to.
            let after = (self.current() + 1).min(self.shape.blocks() - 1);
            self.memory[after].fetch();
        }
    }
}

/// Two different blocks, the second to be written.
fn apart(memory: &mut [Block], read: usize, write: usize) -> (&Block, &mut Block) {
    if read < write {
        let (low, high) = memory.split_at_mut(write);
        (&low[read], &mut high[0])
    } else {
        let (low, high) = memory.split_at_mut(read);
        (&high[0], &mut low[write])
    }
}

/// The addresses of data-independent segments (section 3.4.1.2).
struct Addresses {
    input: Block,
    block: Block,
}

impl Addresses {
    fn new(at: &Filling<'_>) -> Self {
        let mut input = Block::ZERO;
        let numbers = [
            u64::from(at.pass),
            at.lane as u64,
            at.slice as u64,
            at.shape.blocks() as u64,
            u64::from(at.shape.passes),
            u64::from(TYPE),
        ];
        for (i, number) in numbers.into_iter().enumerate() {
            *input.word_mut(i) = number;
        }
        Self { input, block: Block::ZERO }
    }

    /// The two random numbers for a block of the segment; to be asked for in order.
    fn at(&mut self, compress: Compress, block: usize) -> u64 {
        let counter = (block / ADDRESSES) as u64 + 1;
        if self.input.word(6) != counter {
            *self.input.word_mut(6) = counter;
            let mut once = self.input;
            let mut ignored = Block::ZERO;
            compress.run(&mut once, &Block::ZERO, &mut ignored, false);
            compress.run(&mut once, &Block::ZERO, &mut self.block, false);
        }
        self.block.word(block % ADDRESSES)
    }
}
