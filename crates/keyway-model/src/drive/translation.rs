//! A flash drive's translation layer: in which block of the flash each page of the drive lies, and what it takes to have
//! erased blocks to write to.
//!
//! Flash is written a page at a time and erased a block at a time. A page goes into the block that is open, and where it lay
//! before it is stale. When few erased blocks are left, the one with the fewest pages in use is *collected*: these are written
//! again elsewhere, and it is erased. What is discarded (TRIM) is in use no more. So a drive of which nothing is ever discarded
//! looks full to itself, finds less that is stale in each block, and writes more than it is given.
//!
//! Source of the choice, and of the law that its test holds it against: P. Desnoyers, "Analytic Modeling of SSD Write
//! Performance" (SYSTOR 2012). Firmware may do worse; none is known to do better with writes that are spread evenly.

use super::parameters::TranslationParameters;
use std::ops::Range;

/// Pages that are noted together, once one of them was written.
const CHUNK: usize = 256;

/// Erased blocks that are kept for what is collected.
const KEPT: usize = 3;

/// In no block.
const NOWHERE: u32 = u32::MAX;

/// Where each page lies.
pub(super) struct Translation {
    page_bytes: u64,
    pages_per_block: u32,
    /// The block of each page, by chunks; a chunk of which nothing was written yet lies as it was laid down.
    chunks: Vec<Option<Box<[u32; CHUNK]>>>,
    /// Whether every page was laid down at first, one after the other from the first block on.
    laid_down: bool,
    blocks: Vec<Block>,
    erased: Vec<u32>,
    /// The block that is written to.
    open: u32,
}

/// A block of the flash.
#[derive(Clone, Default)]
struct Block {
    /// Pages in it that are in use.
    in_use: u32,
    /// What was written to it, the same page again where it was written again; nothing of one that is as it was laid down.
    pages: Vec<u32>,
}

impl Translation {
    /// A drive of which nothing was written.
    pub(super) fn new(p: &TranslationParameters, capacity: u64) -> Self {
        let (page, block) =
            (u64::from(p.page_bytes.max(1)), u64::from(p.block_bytes.max(p.page_bytes).max(1)));
        let pages = usize::try_from(capacity.div_ceil(page)).unwrap_or(usize::MAX);
        // Room for all pages, for those that are kept, and for one that is open.
        let least = capacity.div_ceil(block) + KEPT as u64 + 1;
        let blocks = u32::try_from((p.flash_bytes / block).max(least)).unwrap_or(NOWHERE - 1);
        Self {
            page_bytes: page,
            pages_per_block: (block / page) as u32,
            chunks: vec![None; pages.div_ceil(CHUNK)],
            laid_down: false,
            blocks: vec![Block::default(); blocks as usize],
            erased: (1..blocks).rev().collect(),
            open: 0,
        }
    }

    /// A drive of which everything was written once, one page after the other, and nothing discarded.
    pub(super) fn lay_down(&mut self) {
        let pages = self.pages();
        self.chunks.iter_mut().for_each(|chunk| *chunk = None);
        self.laid_down = true;
        let full = pages.div_ceil(self.pages_per_block);
        for (number, block) in (0..).zip(&mut self.blocks) {
            let first = self.pages_per_block.saturating_mul(number);
            let in_use = pages.saturating_sub(first).min(self.pages_per_block);
            *block = Block { in_use, pages: Vec::new() };
        }
        self.erased = (full + 1..self.blocks.len() as u32).rev().collect();
        self.open = full;
    }

    /// Takes a write; how many bytes of others had to be written again for it.
    pub(super) fn write(&mut self, offset: u64, len: usize) -> u64 {
        let pages = self.pages_of(offset, len as u64);
        let again: u64 = pages.map(|page| self.write_page(page)).sum();
        again * self.page_bytes
    }

    fn write_page(&mut self, page: u32) -> u64 {
        let again = if self.is_full() { self.next_block() } else { 0 };
        self.put(page);
        again
    }

    /// What is discarded is in use no more: only whole pages.
    pub(super) fn discard(&mut self, offset: u64, len: u64) {
        let from = offset.next_multiple_of(self.page_bytes);
        let whole = (offset.saturating_add(len) / self.page_bytes * self.page_bytes).saturating_sub(from);
        if whole > 0 {
            self.pages_of(from, whole).for_each(|page| self.leave(page, NOWHERE));
        }
    }

    /// The pages that a range touches.
    fn pages_of(&self, offset: u64, len: u64) -> Range<u32> {
        let end = offset.saturating_add(len).div_ceil(self.page_bytes).min(u64::from(self.pages()));
        (offset / self.page_bytes).min(end) as u32..end as u32
    }

    /// Pages of the drive.
    fn pages(&self) -> u32 {
        u32::try_from(self.chunks.len() * CHUNK).unwrap_or(NOWHERE)
    }

    /// The block that a page lies in.
    fn block_of(&self, page: u32) -> u32 {
        match self.chunks.get(page as usize / CHUNK) {
            Some(Some(chunk)) => chunk.get(page as usize % CHUNK).copied().unwrap_or(NOWHERE),
            _ => self.as_laid_down(page),
        }
    }

    fn as_laid_down(&self, page: u32) -> u32 {
        if self.laid_down { page / self.pages_per_block } else { NOWHERE }
    }

    /// A page lies in that block now; where it lay before it is stale.
    fn leave(&mut self, page: u32, block: u32) {
        let before = self.block_of(page);
        if let Some(before) = self.blocks.get_mut(before as usize) {
            before.in_use = before.in_use.saturating_sub(1);
        }
        let index = page as usize / CHUNK;
        if self.chunks.get(index).is_some_and(Option::is_none) {
            let first = page - page % CHUNK as u32;
            let mut now = Box::new([NOWHERE; CHUNK]);
            now.iter_mut().zip(first..).for_each(|(at, page)| *at = self.as_laid_down(page));
            if let Some(chunk) = self.chunks.get_mut(index) {
                *chunk = Some(now);
            }
        }
        if let Some(Some(chunk)) = self.chunks.get_mut(index)
            && let Some(at) = chunk.get_mut(page as usize % CHUNK)
        {
            *at = block;
        }
    }

    /// Writes a page to the open block.
    fn put(&mut self, page: u32) {
        let open = self.open;
        self.leave(page, open);
        if let Some(block) = self.blocks.get_mut(open as usize) {
            block.in_use += 1;
            block.pages.push(page);
        }
    }

    fn is_full(&self) -> bool {
        self.blocks
            .get(self.open as usize)
            .is_none_or(|open| open.pages.len() >= self.pages_per_block as usize)
    }

    /// Opens an erased block, and sees to it that there are others; how many pages had to be written again for that.
    fn next_block(&mut self) -> u64 {
        self.open_erased();
        let mut moved = 0;
        while self.erased.len() < KEPT {
            let Some(pages) = self.collect() else { break };
            moved += pages;
        }
        moved
    }

    fn open_erased(&mut self) {
        if let Some(next) = self.erased.pop() {
            self.open = next;
        }
    }

    /// Erases the block with the fewest pages in use, which are written again; none where each is in use from end to end.
    fn collect(&mut self) -> Option<u64> {
        let erased: Vec<u32> = self.erased.clone();
        let can_be = |number: u32| number != self.open && !erased.contains(&number);
        let all = (0..).zip(&self.blocks).filter(|(number, _)| can_be(*number));
        let (number, block) = all.min_by_key(|(_, block)| block.in_use)?;
        if block.in_use >= self.pages_per_block {
            return None;
        }
        let first = self.pages_per_block.saturating_mul(number);
        let pages = match &*block.pages {
            // As it was laid down.
            [] => (first..first.saturating_add(self.pages_per_block)).collect(),
            written => written.to_vec(),
        };
        let mut moved = 0;
        for page in pages {
            if page < self.pages() && self.block_of(page) == number {
                if self.is_full() {
                    self.open_erased();
                }
                self.put(page);
                moved += 1;
            }
        }
        if let Some(block) = self.blocks.get_mut(number as usize) {
            *block = Block::default();
        }
        self.erased.insert(0, number);
        Some(moved)
    }
}

#[cfg(test)]
#[path = "../../tests/inner/translation.rs"]
mod tests;
