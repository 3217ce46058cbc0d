//! ext2, ext3 and ext4. Offsets and flags are those of Linux's documentation of ext4 ("Super Block", "Block Group
//! Descriptors", "Index Nodes", "Extent Tree", "Directory Entries"). A node's number is its inode's.

use super::map::FileMap;
use super::node::{Each, Found, Node, Nodes};
use crate::fields::number;
use crate::files::{EntryKind, FilesError, Window};

/// The root folder's inode.
const ROOT: u64 = 2;
/// Where the superblock begins, and its magic.
const SUPERBLOCK: u64 = 1024;
const MAGIC: u64 = 0xef53;
/// Incompatible features that are read: entries with types, extents, descriptors of 64 bits, multiple-mount protection,
/// flexible groups, attributes in inodes, a seed for check sums, large folders, data in inodes, encrypted and case-folded
/// folders. What of these a file has that is not read, it says itself.
const KNOWN: u64 = 0x3_e7c2;
/// The journal has to be played back; descriptors of 64 bits.
const RECOVER: u64 = 0x4;
const WIDE: u64 = 0x80;
/// Flags of inodes: encrypted, with extents, with its data in itself.
const ENCRYPTED: u64 = 0x800;
const EXTENTS: u64 = 0x8_0000;
const INLINE: u64 = 0x1000_0000;
/// Where an inode's 60 bytes for its blocks are, and where its further fields begin.
const BLOCKS: usize = 0x28;
const BLOCKS_LEN: usize = 60;
const OLD: u64 = 128;
/// An extent header's magic, and the deepest tree.
const EXTENT_MAGIC: u64 = 0xf30a;
const DEEPEST: u64 = 5;
/// Nodes of a tree of extents that are read for one file: with as many leaves, each full, it has all pieces that are
/// remembered ten times over. A tree that leads to one node from everywhere would take years.
const MOST_NODES: u32 = 1 << 15;
/// Extents longer than that are not written yet, and read as zeros.
const WRITTEN: u64 = 32768;
/// Longest target of a link (`PATH_MAX`).
const LONGEST_TARGET: u64 = 4096;

/// An ext file system.
pub(super) struct Ext {
    window: Window,
    block: u64,
    blocks: u64,
    per_group: u64,
    inodes: u64,
    inode: u64,
    descriptors: u64,
    descriptor: u64,
    wide: bool,
}

fn damaged(what: &str) -> FilesError {
    FilesError::Damaged(what.to_owned())
}

fn unsupported(what: &str) -> FilesError {
    FilesError::Unsupported(what.to_owned())
}

fn at<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    number::<N>(bytes, at).unwrap_or_default()
}

impl Ext {
    pub(super) fn open(window: Window) -> Result<Self, FilesError> {
        let mut bytes = [0; 1024];
        window.read_exact_at(&mut bytes, SUPERBLOCK).map_err(FilesError::from_io)?;
        let incompatible = at::<4>(&bytes, 0x60);
        if incompatible & RECOVER != 0 {
            return Err(unsupported(
                "its ext file system is mounted, or was not unmounted in good order, and its journal is not played back here",
            ));
        }
        if incompatible & !KNOWN != 0 {
            return Err(unsupported("its ext file system has features that are not read here"));
        }
        let wide = incompatible & WIDE != 0;
        let block =
            1024u64.checked_shl(at::<4>(&bytes, 0x18) as u32).filter(|block| (1024..=65536).contains(block));
        let block = block.ok_or_else(|| damaged("its superblock makes no sense"))?;
        let high = if wide { at::<4>(&bytes, 0x150) } else { 0 };
        let found = Self {
            block,
            blocks: high << 32 | at::<4>(&bytes, 0x4),
            per_group: at::<4>(&bytes, 0x28),
            inodes: at::<4>(&bytes, 0x0),
            // The first version had one size alone.
            inode: if at::<4>(&bytes, 0x4c) == 0 { OLD } else { at::<2>(&bytes, 0x58) },
            descriptors: if block == 1024 { 2048 } else { block },
            descriptor: if wide { at::<2>(&bytes, 0xfe).max(32) } else { 32 },
            wide,
            window,
        };
        if at::<2>(&bytes, 0x38) != MAGIC
            || found.per_group == 0
            || !(OLD..=block).contains(&found.inode)
            || found.blocks.checked_mul(block).is_none_or(|end| end > found.window.size())
        {
            return Err(damaged("its superblock makes no sense"));
        }
        Ok(found)
    }

    fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), FilesError> {
        self.window.read_exact_at(buf, offset).map_err(FilesError::from_io)
    }

    fn read_block(&self, block: u64) -> Result<Vec<u8>, FilesError> {
        let mut bytes = vec![0; self.block as usize];
        self.read(&mut bytes, block.saturating_mul(self.block))?;
        Ok(bytes)
    }

    /// An inode's bytes.
    fn inode(&self, inode: u64) -> Result<Vec<u8>, FilesError> {
        if inode == 0 || inode > self.inodes {
            return Err(damaged("it names a file that does not exist"));
        }
        let (group, index) = ((inode - 1) / self.per_group, (inode - 1) % self.per_group);
        let mut descriptor = [0; 64];
        let part = descriptor.get_mut(..self.descriptor.min(64) as usize).unwrap_or_default();
        self.read(part, self.descriptors.saturating_add(group.saturating_mul(self.descriptor)))?;
        let high = if self.wide && self.descriptor >= 64 { at::<4>(&descriptor, 0x28) } else { 0 };
        let table = (high << 32 | at::<4>(&descriptor, 0x8)).saturating_mul(self.block);
        let mut bytes = vec![0; self.inode as usize];
        self.read(&mut bytes, table.saturating_add(index.saturating_mul(self.inode)))?;
        Ok(bytes)
    }

    /// Where the bytes of an inode lie.
    fn map_of(&self, inode: &[u8]) -> Result<FileMap, FilesError> {
        let (size, flags) = (size(inode), at::<4>(inode, 0x20));
        if flags & ENCRYPTED != 0 {
            return Err(unsupported("it is encrypted once more by ext4 itself"));
        }
        let blocks = inode.get(BLOCKS..BLOCKS + BLOCKS_LEN).unwrap_or_default();
        if flags & INLINE != 0 {
            return match blocks.get(..usize::try_from(size).unwrap_or(usize::MAX)) {
                Some(bytes) => Ok(FileMap::inline(bytes.to_vec())),
                None => Err(unsupported("it is kept in a place that is not read here (inline_data)")),
            };
        }
        let mut map = FileMap::new(size);
        if flags & EXTENTS != 0 {
            self.add_extents(&mut map, blocks, DEEPEST, &mut 0)?;
        } else {
            self.add_table(&mut map, blocks)?;
        }
        Ok(map)
    }

    fn add(&self, map: &mut FileMap, first: u64, count: u64, block: u64) -> Result<(), FilesError> {
        let bytes = |blocks: u64| blocks.saturating_mul(self.block);
        map.add(bytes(first), bytes(count), bytes(block), self.window.size())
    }

    /// A node of a tree of extents; each level is nearer to the leaves, so there is an end.
    fn add_extents(
        &self,
        map: &mut FileMap,
        node: &[u8],
        most: u64,
        nodes: &mut u32,
    ) -> Result<(), FilesError> {
        let depth = at::<2>(node, 6);
        if at::<2>(node, 0) != EXTENT_MAGIC || depth > most {
            return Err(damaged("a file's extents make no sense"));
        }
        let entries = node.as_chunks::<12>().0.iter().skip(1).take(at::<2>(node, 2) as usize);
        for entry in entries {
            if depth > 0 {
                *nodes += 1;
                if *nodes > MOST_NODES {
                    return Err(unsupported("it lies in too many pieces"));
                }
                let below = self.read_block(at::<2>(entry, 8) << 32 | at::<4>(entry, 4))?;
                if at::<2>(&below, 6) >= depth {
                    return Err(damaged("a file's extents make no sense"));
                }
                self.add_extents(map, &below, depth - 1, nodes)?;
                continue;
            }
            let len = at::<2>(entry, 4);
            if len <= WRITTEN {
                let block = at::<2>(entry, 6) << 32 | at::<4>(entry, 8);
                self.add(map, at::<4>(entry, 0), len, block)?;
            }
        }
        Ok(())
    }

    /// The table of blocks of ext2 and ext3: twelve, then one of tables, one of tables of these, and one of those.
    fn add_table(&self, map: &mut FileMap, blocks: &[u8]) -> Result<(), FilesError> {
        let mut first = 0;
        for (index, entry) in blocks.as_chunks::<4>().0.iter().enumerate() {
            let levels = (index as u32).saturating_sub(11);
            self.add_branch(map, u64::from(u32::from_le_bytes(*entry)), levels, &mut first)?;
        }
        Ok(())
    }

    fn add_branch(
        &self,
        map: &mut FileMap,
        block: u64,
        levels: u32,
        first: &mut u64,
    ) -> Result<(), FilesError> {
        let covers = (self.block / 4).saturating_pow(levels);
        if first.saturating_mul(self.block) >= map.size() {
            return Ok(());
        }
        if block == 0 {
            *first = first.saturating_add(covers);
        } else if levels == 0 {
            self.add(map, *first, 1, block)?;
            *first = first.saturating_add(1);
        } else {
            for entry in self.read_block(block)?.as_chunks::<4>().0 {
                self.add_branch(map, u64::from(u32::from_le_bytes(*entry)), levels - 1, first)?;
            }
        }
        Ok(())
    }
}

fn size(inode: &[u8]) -> u64 {
    at::<4>(inode, 0x6c) << 32 | at::<4>(inode, 0x4)
}

/// When it was last written: 32 bits with a sign, and where the inode has room, two more that count steps of 2^32
/// seconds.
fn modified(inode: &[u8]) -> i64 {
    let reaches = OLD.saturating_add(at::<2>(inode, 0x80));
    let epoch = if inode.len() as u64 > OLD && reaches >= 0x8c { at::<4>(inode, 0x88) & 3 } else { 0 };
    i64::from(at::<4>(inode, 0x10) as u32 as i32) + ((epoch as i64) << 32)
}

impl Nodes for Ext {
    fn root(&self) -> u64 {
        ROOT
    }

    fn node(&mut self, number: u64) -> Result<Node, FilesError> {
        let inode = self.inode(number)?;
        let mode = at::<2>(&inode, 0) as u16;
        // S_IFMT and its values (stat(2)).
        let kind = match mode & 0o170_000 {
            0o100_000 => EntryKind::File,
            0o040_000 => EntryKind::Folder,
            0o120_000 => EntryKind::Link,
            0o010_000 | 0o020_000 | 0o060_000 | 0o140_000 => EntryKind::Other,
            _ => return Err(damaged("a file is of no kind")),
        };
        let size = if matches!(kind, EntryKind::File | EntryKind::Link) { size(&inode) } else { 0 };
        if size > i64::MAX as u64 {
            return Err(damaged("a file is larger than any can be"));
        }
        let links = at::<2>(&inode, 0x1a) as u32;
        let modified = Some(modified(&inode));
        // What lies in a volume gets no rights on this machine.
        let mode = mode & 0o170_777;
        Ok(Node { number, kind, size, modified, mode, links, identity: number })
    }

    fn list(&mut self, folder: &Node, from: u64, each: &mut Each<'_>) -> Result<(), FilesError> {
        let inode = self.inode(folder.number)?;
        if at::<4>(&inode, 0x20) & INLINE != 0 {
            return Err(unsupported("it is kept in a place that is not read here (inline_data)"));
        }
        let map = self.map_of(&inode)?;
        let mut start = from - from % self.block;
        while start < map.size() {
            // A hole in a folder holds nothing.
            let Some((place, _)) = map.find(start) else {
                start = start.saturating_add(self.block);
                continue;
            };
            let mut block = vec![0; self.block as usize];
            self.read(&mut block, place)?;
            let mut within = from.saturating_sub(start);
            while within < self.block {
                let entry = block.get(within as usize..).unwrap_or_default();
                // Where a block has 64 KiB, its whole length does not fit.
                let len = match at::<2>(entry, 4) {
                    0 | 0xffff if self.block == 65536 => 65536,
                    len => len,
                };
                if len < 8 || len % 4 != 0 || within.saturating_add(len) > self.block {
                    return Err(damaged("a folder's entries make no sense"));
                }
                within += len;
                let (number, name_len) = (at::<4>(entry, 0), at::<1>(entry, 6) as usize);
                let name = entry.get(8..8 + name_len).filter(|_| name_len as u64 + 8 <= len);
                let name = name.ok_or_else(|| damaged("a folder's entries make no sense"))?;
                if number == 0 || matches!(name, b"." | b"..") {
                    continue;
                }
                if !each(Found { name: name.to_vec(), number, next: start.saturating_add(within) }) {
                    return Ok(());
                }
            }
            start = start.saturating_add(self.block);
        }
        Ok(())
    }

    fn map(&mut self, file: &Node) -> Result<FileMap, FilesError> {
        self.map_of(&self.inode(file.number)?)
    }

    fn target(&mut self, link: &Node) -> Result<Vec<u8>, FilesError> {
        let inode = self.inode(link.number)?;
        if link.size == 0 || link.size > LONGEST_TARGET {
            return Err(damaged("a link leads nowhere"));
        }
        let flags = at::<4>(&inode, 0x20);
        if (link.size as usize) < BLOCKS_LEN && flags & (EXTENTS | INLINE | ENCRYPTED) == 0 {
            let target = inode.get(BLOCKS..BLOCKS + link.size as usize);
            return Ok(target.unwrap_or_default().to_vec());
        }
        let map = self.map_of(&inode)?;
        // It has a block of its own.
        let place = map.find(0).filter(|(_, len)| *len >= link.size);
        let (place, _) = place.ok_or_else(|| damaged("a link leads nowhere"))?;
        let mut target = vec![0; link.size as usize];
        self.read(&mut target, place)?;
        Ok(target)
    }

    fn ignores_case(&self) -> bool {
        false
    }

    fn bytes(&self) -> u64 {
        self.blocks.saturating_mul(self.block)
    }
}
