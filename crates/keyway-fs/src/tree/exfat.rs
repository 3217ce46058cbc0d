//! exFAT, by Microsoft's published specification, whose section numbers stand beside each constant. A node's number is
//! where the first entry of its set lies on the medium, in units of an entry.

use super::chains::{Chains, Width, damaged};
use super::map::FileMap;
use super::node::{Found, Node, Nodes};
use crate::fields::number;
use crate::files::{FilesError, Window, exfat_time};

/// Bytes of a directory entry (6.2).
const ENTRY: usize = 32;
/// Types of entries in use (6.2.1): a file's first, its stream, a piece of its name.
const FILE: u8 = 0x85;
const STREAM: u8 = 0xc0;
const NAME: u8 = 0xc1;
/// Entries that follow the first at most (7.4.2).
const MOST: usize = 18;
/// The bit of a folder among a file's attributes (7.4.4).
const IS_FOLDER: u64 = 0x10;
/// `NoFatChain` among a stream's flags (6.3.4.2).
const CONTIGUOUS: u8 = 2;
/// Largest folder (7.4: 256 MB).
const LARGEST_FOLDER: u64 = 256 << 20;
/// The most clusters that there are (3.1.9).
const MOST_CLUSTERS: u64 = 0xffff_fff5;

type Set = Vec<[u8; ENTRY]>;

/// An exFAT file system.
pub(super) struct ExFat {
    chains: Chains,
    root_cluster: u32,
}

impl ExFat {
    /// Reads the main boot sector (3.1).
    pub(super) fn open(window: Window) -> Result<Self, FilesError> {
        let mut boot = [0; 512];
        window.read_exact_at(&mut boot, 0).map_err(FilesError::from_io)?;
        let long = |at| number::<4>(&boot, at).unwrap_or_default();
        let (sector_shift, cluster_shift) = (boot[108], boot[109]);
        // 3.1.14 and 3.1.15: sectors of 512 to 4096 bytes, clusters up to 32 MiB.
        if boot.get(3..11) != Some(b"EXFAT   ")
            || !(9..=12).contains(&sector_shift)
            || cluster_shift > 25 - sector_shift
        {
            return Err(damaged("its boot sector makes no sense"));
        }
        let cluster = 1u64 << (sector_shift + cluster_shift);
        // 3.1.13: with two tables, a flag says which is in use.
        let second = boot[106] & 1 != 0 && boot[110] == 2;
        let table = long(80) + if second { long(84) } else { 0 };
        let (heap, clusters) = (long(88) << sector_shift, long(92));
        if clusters > MOST_CLUSTERS || heap + clusters * cluster > window.size() {
            return Err(damaged("it is larger than the volume"));
        }
        let table = table << sector_shift;
        let clusters = u32::try_from(clusters).unwrap_or_default();
        let chains = Chains { window, table, width: Width::Bits32, heap, cluster, clusters };
        Ok(Self { chains, root_cluster: long(96) as u32 })
    }

    fn read_entry(&self, at: u64) -> Result<[u8; ENTRY], FilesError> {
        let mut entry = [0; ENTRY];
        self.chains.window.read_exact_at(&mut entry, at).map_err(FilesError::from_io)?;
        Ok(entry)
    }

    /// The set of entries that begins there. Where it reaches into another cluster, the folder would say which; nobody
    /// has that here, and the set's own check sum says which of the two that it can be.
    fn set_at(&self, number: u64) -> Result<Set, FilesError> {
        let start = number.saturating_mul(ENTRY as u64);
        self.set(start, true)
            .or_else(|_| self.set(start, false))
            .map_err(|_| damaged("a file's entry is none any more"))
    }

    fn set(&self, start: u64, by_table: bool) -> Result<Set, FilesError> {
        let cut_off = || damaged("a file's entry is cut off");
        let first = self.read_entry(start)?;
        let count = usize::from(first[1]);
        if first[0] != FILE || !(1..=MOST).contains(&count) {
            return Err(cut_off());
        }
        let (mut set, mut at) = (vec![first], start);
        for _ in 0..count {
            let cluster = self.chains.around(at).ok_or_else(cut_off)?;
            at = at.saturating_add(ENTRY as u64);
            if self.chains.around(at) != Some(cluster) {
                let next = if by_table { self.chains.next(cluster)? } else { cluster.checked_add(1) };
                at = self.chains.place(next.ok_or_else(cut_off)?)?;
            }
            set.push(self.read_entry(at)?);
        }
        if is_whole(&set) { Ok(set) } else { Err(cut_off()) }
    }

    /// Where the bytes of a set lie.
    fn map_of(&self, set: &[[u8; ENTRY]]) -> Result<FileMap, FilesError> {
        let stream = set.get(1).ok_or_else(|| damaged("a file without its stream"))?;
        let field = |at| number::<8>(stream, at).unwrap_or_default();
        let first = number::<4>(stream, 20).unwrap_or_default() as u32;
        let mut map = self.chains.map(first, field(24), stream[1] & CONTIGUOUS != 0)?;
        map.valid_to(field(8));
        Ok(map)
    }

    fn folder(&self, folder: &Node) -> Result<FileMap, FilesError> {
        if folder.number == 0 {
            // Its length stands nowhere: its chain tells (3.1.10).
            return self.chains.folder(self.root_cluster, LARGEST_FOLDER);
        }
        let map = self.map_of(&self.set_at(folder.number)?)?;
        if map.size() > LARGEST_FOLDER { Err(damaged("a folder is too large")) } else { Ok(map) }
    }
}

impl Nodes for ExFat {
    fn root(&self) -> u64 {
        0
    }

    fn node(&mut self, number: u64) -> Result<Node, FilesError> {
        if number == 0 {
            return Ok(Node { identity: u64::from(self.root_cluster), ..Node::folder(0, None) });
        }
        let set = self.set_at(number)?;
        let [file, stream, ..] = set.as_slice() else { return Err(damaged("a file without its stream")) };
        let modified = exfat_time(crate::fields::number::<4>(file, 12).unwrap_or_default() as u32, file[23]);
        if crate::fields::number::<2>(file, 4).unwrap_or_default() & IS_FOLDER != 0 {
            // An empty one may have no cluster.
            let first = crate::fields::number::<4>(stream, 20).filter(|first| *first != 0);
            let identity = first.unwrap_or(number.saturating_add(1 << 32));
            return Ok(Node { identity, ..Node::folder(number, modified) });
        }
        Ok(Node::file(number, crate::fields::number::<8>(stream, 24).unwrap_or_default(), modified))
    }

    fn list(
        &mut self,
        folder: &Node,
        from: u64,
        each: &mut dyn FnMut(Found) -> bool,
    ) -> Result<(), FilesError> {
        let map = self.folder(folder)?;
        let (mut set, mut missing, mut number, mut at): (Set, usize, u64, u64) = (Vec::new(), 0, 0, from);
        while let Some((place, _)) = map.find(at) {
            let entry = self.read_entry(place)?;
            at = at.saturating_add(ENTRY as u64);
            match entry[0] {
                // The end of the folder (6.2.1).
                0 => return Ok(()),
                FILE => {
                    (set, missing, number) = (vec![entry], usize::from(entry[1]), place / ENTRY as u64);
                    continue;
                }
                _ if missing > 0 => {
                    set.push(entry);
                    missing -= 1;
                }
                _ => continue,
            }
            // What is no whole set is none; `ls` says so.
            if missing == 0
                && is_whole(&set)
                && !each(Found { name: name(&set).into_bytes(), number, next: at })
            {
                return Ok(());
            }
        }
        map.ended_at(at)
    }

    fn map(&mut self, file: &Node) -> Result<FileMap, FilesError> {
        self.map_of(&self.set_at(file.number)?)
    }

    fn ignores_case(&self) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        u64::from(self.chains.clusters).saturating_mul(self.chains.cluster)
    }
}

/// Whether the entries are those of one file, all of them: there is a stream, and their check sum is right (6.3.3).
fn is_whole(set: &[[u8; ENTRY]]) -> bool {
    let [file, stream, ..] = set else { return false };
    let bytes = set.as_flattened().iter().enumerate().filter(|(i, _)| !matches!(i, 2 | 3));
    let sum = bytes.fold(0u16, |sum, (_, byte)| sum.rotate_right(1).wrapping_add(u16::from(*byte)));
    stream[0] == STREAM && number::<2>(file, 2) == Some(u64::from(sum))
}

fn name(set: &[[u8; ENTRY]]) -> String {
    let len = set.get(1).map_or(0, |stream| usize::from(stream[3]));
    let pieces = set.iter().filter(|entry| entry[0] == NAME);
    let units = pieces.flat_map(|piece| piece.as_chunks::<2>().0.iter().skip(1));
    let units: Vec<u16> = units.map(|unit| u16::from_le_bytes(*unit)).take(len).collect();
    String::from_utf16_lossy(&units)
}
