//! What exFAT has on the medium, for whoever reads its files from beginning to end and whoever reads them at random: by
//! Microsoft's published specification, whose section numbers stand beside each constant.

use crate::calendar::civil;
use crate::fields::number;

/// Bytes of a directory entry (6.2).
pub(crate) const ENTRY: usize = 32;
/// Types of entries in use (6.2.1): a file's first, its stream, a piece of its name.
pub(crate) const FILE: u8 = 0x85;
pub(crate) const STREAM: u8 = 0xc0;
pub(crate) const NAME: u8 = 0xc1;
/// The bit of a folder among a file's attributes (7.4.4).
pub(crate) const IS_FOLDER: u64 = 0x10;
/// `NoFatChain` among a stream's flags (6.3.4.2).
pub(crate) const CONTIGUOUS: u8 = 2;
/// Largest folder (7.4: 256 MB).
pub(crate) const LARGEST_FOLDER: u64 = 256 << 20;
/// The most clusters that there are (3.1.9).
const MOST_CLUSTERS: u32 = 0xffff_fff5;

/// What the main boot sector says (3.1), in bytes.
pub(crate) struct Boot {
    /// Where the table in use begins.
    pub(crate) table: u64,
    /// Where the first cluster begins.
    pub(crate) heap: u64,
    /// A cluster's length.
    pub(crate) cluster: u64,
    pub(crate) clusters: u32,
    /// The root folder's first cluster.
    pub(crate) root: u32,
}

impl Boot {
    /// Reads the sector; what is wrong with it for a medium of so many bytes.
    pub(crate) fn parse(sector: &[u8; 512], medium: u64) -> Result<Self, &'static str> {
        let long = |at| number::<4>(sector, at).unwrap_or_default();
        let (sector_shift, cluster_shift) = (sector[108], sector[109]);
        // 3.1.14 and 3.1.15: sectors of 512 to 4096 bytes, clusters up to 32 MiB.
        if sector.get(3..11) != Some(b"EXFAT   ")
            || !(9..=12).contains(&sector_shift)
            || cluster_shift > 25 - sector_shift
        {
            return Err("its boot sector makes no sense");
        }
        let cluster = 1u64 << (sector_shift + cluster_shift);
        // 3.1.13: with two tables, a flag says which is in use.
        let second = sector[106] & 1 != 0 && sector[110] == 2;
        let table = (long(80) + if second { long(84) } else { 0 }) << sector_shift;
        let (heap, clusters) = (long(88) << sector_shift, long(92) as u32);
        if clusters > MOST_CLUSTERS || heap + u64::from(clusters) * cluster > medium {
            return Err("it is larger than the volume");
        }
        Ok(Self { table, heap, cluster, clusters, root: long(96) as u32 })
    }
}

/// A file's or folder's set of entries (7.4, 7.6, 7.7), as far as it goes.
pub(crate) struct Set<'a> {
    file: &'a [u8; ENTRY],
    stream: &'a [u8; ENTRY],
    rest: &'a [[u8; ENTRY]],
}

impl<'a> Set<'a> {
    /// `None` where there is no stream.
    pub(crate) fn of(set: &'a [[u8; ENTRY]]) -> Option<Self> {
        let [file, stream, rest @ ..] = set else { return None };
        (stream[0] == STREAM).then_some(Self { file, stream, rest })
    }

    pub(crate) fn name(&self) -> String {
        String::from_utf16_lossy(&self.units())
    }

    /// The name as it is kept.
    pub(crate) fn units(&self) -> Vec<u16> {
        let pieces = self.rest.iter().filter(|entry| entry[0] == NAME);
        let units = pieces.flat_map(|piece| piece.as_chunks::<2>().0.iter().skip(1));
        units.map(|u| u16::from_le_bytes(*u)).take(usize::from(self.stream[3])).collect()
    }

    pub(crate) fn is_folder(&self) -> bool {
        number::<2>(self.file, 4).unwrap_or_default() & IS_FOLDER != 0
    }

    pub(crate) fn first_cluster(&self) -> u32 {
        number::<4>(self.stream, 20).unwrap_or_default() as u32
    }

    /// Length in bytes, and how many of these were ever written.
    pub(crate) fn lengths(&self) -> (u64, u64) {
        let field = |at| number::<8>(self.stream, at).unwrap_or_default();
        (field(24), field(8))
    }

    /// Whether it lies in one piece, whatever the table says.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.stream[1] & CONTIGUOUS != 0
    }

    /// When it was last written.
    pub(crate) fn modified(&self) -> Option<i64> {
        time(number::<4>(self.file, 12)? as u32, self.file[23])
    }
}

/// A set's check sum (6.3.3).
pub(crate) fn set_sum(entries: &[[u8; ENTRY]]) -> u16 {
    let bytes = entries.as_flattened().iter().enumerate().filter(|(i, _)| !matches!(i, 2 | 3));
    sum16(bytes.map(|(_, byte)| *byte))
}

/// The sum that sets and names have (6.3.3, 7.6.4).
pub(crate) fn sum16(bytes: impl Iterator<Item = u8>) -> u16 {
    bytes.fold(0, |sum: u16, byte| sum.rotate_right(1).wrapping_add(u16::from(byte)))
}

/// The sum that the boot region and the table of capitals have (3.4, 7.2.2).
pub(crate) fn sum32(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0, |sum: u32, byte| sum.rotate_right(1).wrapping_add(u32::from(byte)))
}

/// Whether the entries are those of one file, all of them: there is a stream, and their check sum is right.
pub(crate) fn is_whole(entries: &[[u8; ENTRY]]) -> bool {
    let told = entries.first().and_then(|file| number::<2>(file, 2));
    Set::of(entries).is_some() && told == Some(u64::from(set_sum(entries)))
}

/// A timestamp (7.4.8) and how far its clock was from UTC, in quarters of an hour (7.4.10).
fn time(stamp: u32, offset: u8) -> Option<i64> {
    let bits = |from: u32, count: u32| (stamp >> from) & ((1 << count) - 1);
    let local =
        civil([1980 + bits(25, 7), bits(21, 4), bits(16, 5), bits(11, 5), bits(5, 6), bits(0, 5) * 2])?;
    let quarters = if offset & 0x80 == 0 { 0 } else { i64::from((offset << 1) as i8 >> 1) };
    Some(local - quarters * 900)
}
