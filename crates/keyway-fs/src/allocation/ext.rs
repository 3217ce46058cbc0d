//! ext2, ext3 and ext4: a bitmap of a block per group, and descriptors that say where it is.
//!
//! Source: the kernel's documentation of ext4 (*Data Structures and Algorithms*): superblock, group
//! descriptors, flexible groups, groups that are not initialised.

use super::clusters::Clusters;
use super::error::AllocationError;
use super::medium::{number, read};
use keyway_store::Store;

/// Where the superblock is, and how much of it is looked at.
const AT: usize = 1024;
const BYTES: usize = 1024;

/// Incompatible features: the journal holds changes; descriptors among the groups; descriptors of 64 bytes.
const RECOVER: u64 = 0x4;
const META_GROUPS: u64 = 0x10;
const WIDE: u64 = 0x80;
/// Features that only readers may ignore: backups of the superblock in some groups only; descriptors with
/// checksums (two kinds), which alone may leave bitmaps out; bitmaps of clusters of blocks.
const SPARSE_BACKUPS: u64 = 0x1;
const CHECKSUMS: u64 = 0x10 | 0x400;
const CLUSTERS: u64 = 0x200;
/// A feature that anybody may ignore: two groups with backups that the superblock names.
const TWO_BACKUPS: u64 = 0x200;

/// The file system's state: it was unmounted; it has faults.
const UNMOUNTED: u64 = 1;
const FAULTY: u64 = 2;

/// A group's flag: its bitmap was never written, and of its blocks only the file system's own are used.
const UNINITIALISED: u64 = 2;

/// Where everything is.
struct Shape {
    block: u64,
    first: u64,
    blocks: u64,
    per_group: u64,
    /// Blocks of a group's inode table.
    inode_blocks: u64,
    /// Blocks of all descriptors, and those kept free for more.
    descriptors: u64,
    descriptor: usize,
    /// Bitmaps may be left out.
    may_leave_out: bool,
    /// Groups with a backup of the superblock: all, the sparse ones, or two.
    sparse: bool,
    two: Option<[u64; 2]>,
}

impl Shape {
    fn parse(sb: &[u8]) -> Result<Self, AllocationError> {
        let damaged = AllocationError::Damaged("its superblock");
        let (incompatible, readers) = (number::<4>(sb, 0x60), number::<4>(sb, 0x64));
        let state = number::<2>(sb, 0x3a);
        if incompatible & RECOVER != 0 || state & UNMOUNTED == 0 || state & FAULTY != 0 {
            return Err(AllocationError::Dirty("ext4's journal or its state"));
        }
        if incompatible & META_GROUPS != 0 || readers & CLUSTERS != 0 {
            return Err(AllocationError::Unsupported("meta groups or block clusters"));
        }
        let shift = number::<4>(sb, 0x18);
        let wide = incompatible & WIDE != 0;
        let blocks = number::<4>(sb, 4) | if wide { number::<4>(sb, 0x150) << 32 } else { 0 };
        let (first, per_group) = (number::<4>(sb, 0x14), number::<4>(sb, 0x20));
        let descriptor = if wide { number::<2>(sb, 0xfe) } else { 32 };
        if shift > 6 || first > 1 || blocks <= first || !matches!(descriptor, 32 | 64) {
            return Err(damaged);
        }
        let block = 1024u64 << shift;
        let inode_bytes = if number::<4>(sb, 0x4c) == 0 { 128 } else { number::<2>(sb, 0x58) };
        // A bitmap is a block.
        if per_group == 0 || per_group > block * 8 || !per_group.is_multiple_of(8) || inode_bytes < 128 {
            return Err(damaged);
        }
        let groups = (blocks - first).div_ceil(per_group);
        let table = groups.checked_mul(descriptor).ok_or(damaged)?.div_ceil(block);
        Ok(Self {
            block,
            first,
            blocks,
            per_group,
            inode_blocks: (number::<4>(sb, 0x28) * inode_bytes).div_ceil(block),
            descriptors: table + number::<2>(sb, 0xce),
            descriptor: descriptor as usize,
            may_leave_out: readers & CHECKSUMS != 0,
            sparse: readers & SPARSE_BACKUPS != 0,
            two: (number::<4>(sb, 0x5c) & TWO_BACKUPS != 0)
                .then(|| [number::<4>(sb, 0x24c), number::<4>(sb, 0x250)]),
        })
    }

    fn has_backup(&self, group: u64) -> bool {
        let is_power = |base: u64| {
            let mut n = base;
            while n < group {
                n *= base;
            }
            n == group
        };
        match self.two {
            Some(two) => group == 0 || two.contains(&group),
            None => !self.sparse || group <= 1 || is_power(3) || is_power(5) || is_power(7),
        }
    }
}

/// Reads the map of the file system whose superblock is in this first page. Blocks are numbered from the beginning of
/// the medium.
pub(super) fn open(store: &dyn Store, head: &[u8]) -> Result<Clusters, AllocationError> {
    let shape = Shape::parse(head.get(AT..AT + BYTES).unwrap_or_default())?;
    let mut map = Clusters::new(store, 0, shape.block, shape.blocks)?;
    let groups = (shape.blocks - shape.first).div_ceil(shape.per_group);
    let table = read(store, (shape.first + 1) * shape.block, groups * shape.descriptor as u64)?;
    (0..shape.first).for_each(|block| map.set(block, true));
    for (group, descriptor) in (0..).zip(table.chunks_exact(shape.descriptor)) {
        let start = shape.first + group * shape.per_group;
        let count = shape.per_group.min(shape.blocks - start);
        let place = |low: usize, high: usize| {
            number::<4>(descriptor, low)
                | if shape.descriptor == 64 { number::<4>(descriptor, high) << 32 } else { 0 }
        };
        let bitmap = place(0, 0x20);
        if shape.may_leave_out && number::<2>(descriptor, 0x12) & UNINITIALISED != 0 {
            if shape.has_backup(group) {
                (start..start + (1 + shape.descriptors).min(count)).for_each(|block| map.set(block, true));
            }
        } else {
            let at = bitmap.checked_mul(shape.block).ok_or(AllocationError::Damaged("a bitmap's place"))?;
            let bits = read(store, at, count.div_ceil(8))?;
            for index in 0..count {
                let byte = bits.get((index / 8) as usize).copied().unwrap_or(0xff);
                if byte >> (index % 8) & 1 == 1 {
                    map.set(start + index, true);
                }
            }
        }
        // They may lie in another group, whose bitmap is left out.
        let (inodes, table) = (place(4, 0x24), place(8, 0x28));
        let own = [(bitmap, 1), (inodes, 1), (table, shape.inode_blocks)];
        for (first, n) in own {
            let end = first.saturating_add(n).min(shape.blocks);
            (first..end).for_each(|block| map.set(block, true));
        }
    }
    Ok(map)
}
