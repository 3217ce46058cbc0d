//! Inodes of ext on their way to the library, which takes dates that it can't hold for damage: each is
//! handed on with the date of its content in a form that the library lets pass, and read back here.
//!
//! Offsets are those of Linux's documentation of ext4 ("Super Block", "Block Group Descriptors",
//! "Index Nodes"), and so is how a date is put together: 32 bits with a sign, and where the inode has
//! room, two more bits that count steps of 2^32 seconds.

use super::window::{LOOK, Window};
use ext4_view::{Ext4Read, Metadata};
use std::io;

/// Where the superblock begins, and its length.
const SUPERBLOCK: u64 = 1024;
const SUPERBLOCK_LEN: usize = 1024;

/// Features: descriptors of 64 bits (of the incompatible ones), checksums (of those that let read).
const INCOMPAT_64BIT: u32 = 0x80;
const RO_COMPAT: usize = 0x64;
const METADATA_CSUM: u32 = 0x400;

/// Fields of an inode.
const ATIME: usize = 0x08;
const CTIME: usize = 0x0c;
const MTIME: usize = 0x10;
const CHECKSUM_LO: usize = 0x7c;
const EXTRA_ISIZE: usize = 0x80;
const CHECKSUM_HI: usize = 0x82;
const CTIME_EXTRA: usize = 0x84;
const MTIME_EXTRA: usize = 0x88;
const ATIME_EXTRA: usize = 0x8c;
const CRTIME: usize = 0x90;
const CRTIME_EXTRA: usize = 0x94;
/// Bytes that every inode has, and that one with all fields above has.
const OLD: usize = 128;
const WITH_EXTRA: usize = 0x98;

/// The access time of an inode that was changed here; its lowest bit is the sign of the date. Nobody
/// asks for the access time, and a real one like this is the last but a few seconds of 2038's 32 bits.
const MARK: u32 = 0x7fff_fff0;

/// A view of an ext file system whose inodes have dates that the library takes.
pub(crate) struct Inodes {
    window: Window,
    /// Where each group's table begins, in ascending order.
    tables: Vec<u64>,
    /// Bytes of a table, and of an inode.
    table: u64,
    inode: usize,
    checksums: bool,
}

impl Inodes {
    /// Finds the tables. What makes no sense is left to the library to tell.
    pub(crate) fn new(window: Window) -> io::Result<Self> {
        let mut bytes = [0; SUPERBLOCK_LEN];
        window.read_exact_at(&mut bytes, SUPERBLOCK)?;
        let found = Geometry::of(&bytes).filter(|found| found.groups_fit(window.size()));
        let mut all = Self { window, tables: Vec::new(), table: 0, inode: 0, checksums: false };
        let Some(found) = found else { return Ok(all) };
        for group in 0..found.groups {
            let mut descriptor = [0; 64];
            let part = descriptor.get_mut(..found.descriptor.min(64)).unwrap_or_default();
            all.window.read_exact_at(part, found.descriptors + group * found.descriptor as u64)?;
            let low = u64::from(u32_at(&descriptor, 0x8));
            let high = if found.wide { u64::from(u32_at(&descriptor, 0x28)) } else { 0 };
            all.tables.extend((high << 32 | low).checked_mul(found.block));
        }
        all.tables.sort_unstable();
        all.table = found.inodes * found.inode as u64;
        all.inode = found.inode;
        all.checksums = found.checksums;
        Ok(all)
    }

    /// Changes the inodes that lie whole in what was read.
    fn change(&self, start: u64, bytes: &mut [u8]) {
        let end = start.saturating_add(bytes.len() as u64);
        // The last table that begins before is the first that may reach into it.
        let first = self.tables.partition_point(|table| *table <= start).saturating_sub(1);
        for table in self.tables.iter().skip(first).take_while(|table| **table < end) {
            let size = self.inode as u64;
            let from = start.saturating_sub(*table).next_multiple_of(size).saturating_add(*table);
            let to = table.saturating_add(self.table).min(end);
            let mut at = from;
            while at.saturating_add(size) <= to {
                let within = (at - start) as usize;
                if let Some(inode) = bytes.get_mut(within..within + self.inode) {
                    pass(inode, self.checksums);
                }
                at += size;
            }
        }
    }
}

impl Ext4Read for Inodes {
    fn read(
        &mut self,
        start: u64,
        to: &mut [u8],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync + 'static>> {
        self.window.read_exact_at(to, start)?;
        // The library knows no checksums in inodes of 128 bytes and takes them for cut off: such a file
        // system is shown to it as one without.
        if start == SUPERBLOCK && self.inode == OLD {
            let features = u32_at(to, RO_COMPAT) & !METADATA_CSUM;
            put(to, RO_COMPAT, features.to_le_bytes());
        }
        self.change(start, to);
        Ok(())
    }
}

/// When a file was last written, in seconds since 1970.
pub(crate) fn modified(metadata: &Metadata) -> i64 {
    let seconds = metadata.modified().seconds();
    if metadata.accessed().seconds() == i64::from(MARK | 1) { seconds - (1 << 31) } else { seconds }
}

/// What a superblock says of where inodes lie.
struct Geometry {
    block: u64,
    groups: u64,
    descriptors: u64,
    descriptor: usize,
    inodes: u64,
    inode: usize,
    wide: bool,
    checksums: bool,
}

impl Geometry {
    fn of(bytes: &[u8]) -> Option<Self> {
        let wide = u32_at(bytes, 0x60) & INCOMPAT_64BIT != 0;
        let block =
            1024u64.checked_shl(u32_at(bytes, 0x18)).filter(|block| (1024..=65536).contains(block))?;
        let blocks = u64::from(u32_at(bytes, 0x150)) << 32 | u64::from(u32_at(bytes, 0x4));
        let per_group = u64::from(u32_at(bytes, 0x20));
        let inode = usize::from(u16_at(bytes, 0x58));
        let descriptor = if wide { usize::from(u16_at(bytes, 0xfe)) } else { 32 };
        if u16_at(bytes, 0x38) != 0xef53 || per_group == 0 || inode < OLD || descriptor < 32 {
            return None;
        }
        Some(Self {
            groups: blocks.checked_sub(u64::from(u32_at(bytes, 0x14)))?.div_ceil(per_group),
            descriptors: if block == 1024 { 2048 } else { block },
            inodes: u64::from(u32_at(bytes, 0x28)),
            checksums: u32_at(bytes, RO_COMPAT) & METADATA_CSUM != 0 && inode > OLD,
            block,
            descriptor,
            inode,
            wide,
        })
    }

    /// Whether the table of groups lies within the volume, and can be read in one look.
    fn groups_fit(&self, size: u64) -> bool {
        let bytes = self.groups.checked_mul(self.descriptor as u64);
        bytes.is_some_and(|bytes| bytes <= size.saturating_sub(self.descriptors).min(LOOK / 2))
    }
}

/// Gives an inode dates that the library takes, and the checksum that belongs to them: right where it
/// was right, and wrong where it was wrong.
fn pass(inode: &mut [u8], checksums: bool) {
    let old = inode.to_vec();
    let time = u32_at(inode, MTIME);
    put(inode, ATIME, (MARK | time >> 31).to_le_bytes());
    put(inode, CTIME, [0; 4]);
    put(inode, MTIME, (time & 0x7fff_ffff).to_le_bytes());
    if inode.len() >= WITH_EXTRA {
        // A field counts where the inode says that it reaches so far; else something else lies there.
        let reaches = usize::from(u16_at(inode, EXTRA_ISIZE)) + OLD;
        let epoch = if reaches >= MTIME_EXTRA + 4 { u32_at(inode, MTIME_EXTRA) & 3 } else { 0 };
        put(inode, MTIME_EXTRA, epoch.to_le_bytes());
        for field in [CTIME_EXTRA, ATIME_EXTRA, CRTIME, CRTIME_EXTRA] {
            put(inode, field, [0; 4]);
        }
    }
    if checksums {
        // A CRC of two texts differs by the CRC of their difference, whatever came before.
        let change = old.iter().zip(inode.iter()).fold(0, |crc, (old, new)| crc32c(crc, old ^ new));
        let low = u16_at(inode, CHECKSUM_LO) ^ change as u16;
        let high = u16_at(inode, CHECKSUM_HI) ^ (change >> 16) as u16;
        put(inode, CHECKSUM_LO, low.to_le_bytes());
        put(inode, CHECKSUM_HI, high.to_le_bytes());
    }
}

/// One more byte of a CRC-32C.
fn crc32c(crc: u32, byte: u8) -> u32 {
    CRC32C.get(usize::from(crc as u8 ^ byte)).unwrap_or(&0) ^ crc >> 8
}

/// The CRC-32C of each byte (RFC 3720, B.4: the polynomial, its bits the other way round).
const CRC32C: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < table.len() {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0x82f6_3b78 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |field| u16::from_le_bytes(*field))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |field| u32::from_le_bytes(*field))
}

/// Writes a field.
fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    if let Some(field) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *field = value;
    }
}
