//! How much room an ext4 file system needs, by the counts in its superblock.
//!
//! `resize2fs` refuses what it *estimates* to be too little before it looks for free blocks, and where blocks are small
//! or inode tables lie together (`flex_bg`) it asks for a third more than there is, of a file system that is half
//! empty. So what has grown could not get its size back. Counted, more is known. (Not all: inode tables want room in one
//! piece. Where there is none `resize2fs` ends before it has changed anything that its checker does not put right.)
//!
//! Source of the fields: the kernel's documentation of ext4.

use super::SMALLER_THAN_ESTIMATED;
use crate::fields::number;
use keyway_store::Store;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// `RO_COMPAT_BIGALLOC`: its blocks are counted in clusters, and `resize2fs` calls making it smaller untested.
const BIGALLOC: u64 = 0x200;
/// `RO_COMPAT_SPARSE_SUPER`: few groups have copies of the superblock.
const SPARSE: u64 = 0x1;
/// `INCOMPAT_META_BG` and `COMPAT_SPARSE_SUPER2`: the copies lie elsewhere.
const META_BG: u64 = 0x10;
const SPARSE2: u64 = 0x200;
/// A bitmap of blocks and one of inodes in each group.
const BITMAPS: u64 = 2;
/// Blocks that are to be left in any case: a last group that has fewer than 50 of its own is given up.
const LEFT: u64 = 64;

/// Whether all that is in the file system on `path`, whose counts a checker has just found to be right, has room in
/// `bytes` by its counts.
pub(super) fn has_room(path: &Path, bytes: u64) -> io::Result<bool> {
    let mut superblock = [0; 1024];
    File::open(path)?.read_exact_at(&mut superblock, 1024)?;
    Ok(fits(&superblock, bytes).unwrap_or(false))
}

/// The bytes of the smallest file system that `resize2fs` makes of the one on `path`, as it says in blocks.
pub(super) fn least_of(path: &Path, said: &str) -> Option<u64> {
    let blocks = said.split_once(SMALLER_THAN_ESTIMATED)?.1.trim_start().strip_prefix('(')?;
    let blocks = blocks.split_once(')')?.0.parse::<u64>().ok()?;
    let mut superblock = [0; 1024];
    File::open(path).ok()?.read_exact_at(&mut superblock, 1024).ok()?;
    blocks.checked_mul(block_bytes(&superblock)?)
}

/// The bytes of the file system on `path`, by its superblock.
pub(super) fn bytes_of(path: &Path) -> io::Result<Option<u64>> {
    let mut superblock = [0; 1024];
    File::open(path)?.read_exact_at(&mut superblock, 1024)?;
    let word = |at| number::<4>(&superblock, at);
    let wide = word(0x60).is_some_and(|features| features & 0x80 != 0);
    let high = if wide { word(0x150).unwrap_or_default() } else { 0 };
    Ok(word(0x4).and_then(|low| (high << 32 | low).checked_mul(block_bytes(&superblock)?)))
}

/// What a step is at least, and what all are multiples of.
const LEAST_STEP: u64 = 1 << 20;
const PAGE: u64 = 4096;
/// How often it is tried: what is left is halved each time, and each try moves what lies behind its end.
const TRIES: usize = 12;

/// From `before` down to `to` bytes, at once if not `tried` before, and in smaller steps where that fails: what is moved wants
/// room in one piece, and where less is moved at a time there often is one. `step` makes one, and says whether it came to be. The bytes
/// that were reached.
pub(super) fn in_steps<E>(
    before: u64,
    to: u64,
    tried: bool,
    mut step: impl FnMut(u64) -> Result<bool, E>,
) -> Result<u64, E> {
    let between = |now: u64, next: u64| next + now.saturating_sub(next) / 2 / PAGE * PAGE;
    let (mut now, mut next) = (before, if tried { between(before, to) } else { to });
    for _ in 0..TRIES {
        if now <= to || next != to && now.saturating_sub(next) < LEAST_STEP {
            break;
        }
        (now, next) = if step(next)? { (next, to) } else { (now, between(now, next)) };
    }
    Ok(now)
}

fn block_bytes(superblock: &[u8]) -> Option<u64> {
    1024u64.checked_shl(u32::try_from(number::<4>(superblock, 0x18)?).ok().filter(|by| *by <= 6)?)
}

/// Whether there is certainly no such room. The counts are right: it was unmounted in good order.
pub(super) fn is_too_full(store: &dyn Store, bytes: u64) -> bool {
    let mut superblock = [0; 1024];
    store.read_at(&mut superblock, 1024).is_ok() && fits(&superblock, bytes) == Some(false)
}

/// `None` where the counts contradict each other.
fn fits(superblock: &[u8], bytes: u64) -> Option<bool> {
    let word = |at| number::<4>(superblock, at);
    if word(0x64)? & BIGALLOC != 0 {
        return Some(false);
    }
    let wide = word(0x60)? & 0x80 != 0;
    let long = |low, high| Some(if wide { word(high)? << 32 } else { 0 } | word(low)?);
    let block = block_bytes(superblock)?;
    let (blocks, free) = (long(0x4, 0x150)?, long(0xc, 0x158)?);
    let (first, in_group, inodes_in_group) = (word(0x14)?, word(0x20)?, word(0x28)?);
    let (inodes, free_inodes, inode_bytes) = (word(0x0)?, word(0x10)?, number::<2>(superblock, 0x58)?);
    if in_group == 0 {
        return None;
    }
    let after = bytes / block;
    let groups = |blocks: u64| blocks.saturating_sub(first).div_ceil(in_group);
    let gone = groups(blocks).checked_sub(groups(after))?;
    // Copies of the superblock and of what describes all groups, with what is kept free for more of that.
    let descriptor = if wide { number::<2>(superblock, 0xfe)? } else { 32 };
    let copy = 1 + groups(blocks).checked_mul(descriptor)?.div_ceil(block) + number::<2>(superblock, 0xce)?;
    let copies = match word(0x60)? & META_BG | word(0x5c)? & SPARSE2 {
        0 if word(0x64)? & SPARSE != 0 => powers_within(groups(after), groups(blocks)),
        0 => gone,
        _ => 0,
    };
    // What describes a group goes with it, wherever it lies.
    let of_group = inodes_in_group.checked_mul(inode_bytes)?.div_ceil(block).checked_add(BITMAPS)?;
    let goes = gone.checked_mul(of_group)?.checked_add(copies.checked_mul(copy)?)?;
    let used = blocks.checked_sub(free)?.checked_sub(goes)?;
    // What is moved may end up in more pieces, whose list takes blocks: an extent is 12 bytes.
    let moved = used.min(blocks.checked_sub(after)?);
    let needed = used.checked_add(moved.div_ceil(block / 12))?.checked_add(LEFT)?;
    let inodes_after = groups(after).checked_mul(inodes_in_group)?;
    Some(needed <= after && inodes.checked_sub(free_inodes)? <= inodes_after)
}

/// How many powers of 3, 5 and 7 are from `first` on and below `end`: the groups that have copies.
fn powers_within(first: u64, end: u64) -> u64 {
    let powers = |base: u64| std::iter::successors(Some(base), move |n| n.checked_mul(base));
    // 1 is a power of each.
    let one = u64::from((first..end).contains(&1));
    let of = |base| powers(base).take_while(|n| *n < end).filter(|n| *n >= first).count() as u64;
    one + of(3) + of(5) + of(7)
}

#[cfg(test)]
mod tests {
    use super::{LEAST_STEP, TRIES, bytes_of, fits, in_steps, powers_within};

    #[test]
    fn what_can_not_be_had_at_once_is_had_in_steps() {
        let mib = |n: u64| n << 20;
        let reached = |tried, can: &dyn Fn(u64, u64) -> bool| {
            let (mut now, mut steps) = (mib(220), Vec::new());
            let done = in_steps(now, mib(60), tried, |to| {
                steps.push(to);
                let done = can(now, to);
                now = if done { to } else { now };
                Ok::<_, ()>(done)
            });
            assert_eq!(done, Ok(now), "{steps:?}");
            assert!(steps.len() <= TRIES && steps.iter().all(|to| to % 4096 == 0), "{steps:?}");
            (now, steps)
        };
        assert_eq!(reached(false, &|_, _| true), (mib(60), vec![mib(60)]));
        assert_eq!(reached(true, &|_, _| true), (mib(60), vec![mib(140), mib(60)]));
        let at_most = |most| move |now: u64, to: u64| now - to <= mib(most);
        assert_eq!(reached(false, &at_most(100)).1, [mib(60), mib(140), mib(60)]);
        assert_eq!(reached(false, &at_most(50)).0, mib(60));
        // Never below what there is room for, and as near as that goes.
        let (least, steps) = reached(false, &|_, to| to >= mib(70));
        assert!((mib(70)..mib(71) + LEAST_STEP).contains(&least), "{least}: {steps:?}");
        assert_eq!(reached(false, &|_, _| false).0, mib(220));
        assert_eq!(in_steps(mib(2), mib(1), false, |_| Err(7)), Err(7));
    }

    #[test]
    fn the_bytes_are_those_that_the_superblock_counts() {
        let image = tempfile::NamedTempFile::new().expect("temp");
        let mut all = vec![0; 1024];
        all.extend(superblock(204_800, 100, 1976, 10));
        std::fs::write(image.path(), all).expect("written");
        assert_eq!(bytes_of(image.path()).expect("read"), Some(204_800 << 10));
    }

    #[test]
    fn the_groups_with_copies_are_those_that_the_kernel_names() {
        // 0, 1, 3, 5, 7, 9, 25, 27, 49, 81, 125, 243, 343 …
        for (first, end, count) in [(0, 1, 0), (1, 2, 1), (2, 10, 4), (9, 68, 4), (13, 25, 0), (13, 26, 1)] {
            assert_eq!(powers_within(first, end), count, "{first}..{end}");
        }
        assert_eq!((powers_within(82, 344), powers_within(50, 50), powers_within(50, 10)), (3, 0, 0));
    }

    #[test]
    fn copies_go_with_their_groups() {
        // 67 groups become 9: those at 9, 25, 27 and 49 have copies of 1 + 3 + 256 blocks.
        let with = |sparse: u32, room: u32| {
            let goes = 58 * 496 + 4 * 260;
            let used = 73_728 - 64 - room + goes;
            let mut all = superblock(548_864, 548_864 - used, 67 * 1976, 67 * 1976 - 20);
            all[0x64..0x68].copy_from_slice(&sparse.to_le_bytes());
            all[0xce..0xd0].copy_from_slice(&256u16.to_le_bytes());
            fits(&all, 73_728 << 10)
        };
        assert_eq!((with(1, 1000), with(1, 0)), (Some(true), Some(false)), "moved blocks need some");
    }

    /// Blocks of 1 KiB and groups of 8192, as `mkfs.ext4` makes them on 100 MiB: 13 groups with 1976 inodes of 256 bytes.
    fn superblock(blocks: u32, free: u32, inodes: u32, free_inodes: u32) -> [u8; 1024] {
        let mut all = [0; 1024];
        let words = [(0, inodes), (4, blocks), (0xc, free), (0x10, free_inodes), (0x14, 1), (0x20, 8192)];
        for (at, word) in words.into_iter().chain([(0x28, 1976), (0x58, 256)]) {
            all[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
        }
        all
    }

    #[test]
    fn what_describes_the_groups_that_go_needs_no_room() {
        // 25 groups become 13; 12 times 496 blocks go with them.
        let full = |used: u32| superblock(204_800, 204_800 - used, 25 * 1976, 25 * 1976 - 20);
        assert_eq!(fits(&full(77_051), 102_676 << 10), Some(true));
        assert_eq!(fits(&full(102_676), 102_676 << 10), Some(true));
        assert_eq!(fits(&full(102_676 + 12 * 496), 102_676 << 10), Some(false), "not one block is left");
        assert_eq!(fits(&full(77_051), 64_000 << 10), Some(false));
    }

    #[test]
    fn inodes_go_with_their_groups() {
        let with = |inodes: u32| superblock(204_800, 150_000, 25 * 1976, 25 * 1976 - inodes);
        assert_eq!(fits(&with(13 * 1976), 102_676 << 10), Some(true));
        assert_eq!(fits(&with(13 * 1976 + 1), 102_676 << 10), Some(false));
    }

    #[test]
    fn what_can_not_be_true_is_no_promise() {
        assert_eq!(fits(&[0; 1024], 1 << 20), None);
        assert_eq!(fits(&[0xff; 1024], 1 << 20), Some(false), "bigalloc");
        assert_eq!(fits(&superblock(1000, 2000, 1976, 0), 900 << 10), None);
        assert_eq!(fits(&superblock(1000, 900, 1976, 0), 1 << 40), None);
        assert_eq!(fits(&[], 1 << 20), None);
    }
}
