//! FAT12, FAT16 and FAT32 (Microsoft's FAT specification, whose headings stand beside constants). A node's number is
//! where its entry lies on the medium, in units of an entry.

use super::chains::{Chains, Width, damaged};
use super::map::FileMap;
use super::node::{Each, Found, Node, Nodes};
use crate::calendar::civil;
use crate::fields::number;
use crate::files::{FilesError, Window};

/// Bytes of an entry ("FAT Directory Structure").
pub(super) const ENTRY: usize = 32;
/// Largest folder, in bytes: 65,536 entries.
const LARGEST_FOLDER: u64 = 2 << 20;
/// Attributes: a volume's label, a folder, and the four that only a piece of a long name has at once.
const LABEL: u8 = 0x08;
const FOLDER: u8 = 0x10;
const LONG: u8 = 0x0f;
/// From so many clusters on it is not FAT12, or not FAT16 ("FAT Type Determination").
const FAT16_FROM: u64 = 4085;
const FAT32_FROM: u64 = 65_525;
/// Characters of a piece of a long name: where they stand ("FAT Long Directory Entries").
const PIECES: [(usize, usize); 3] = [(1, 5), (14, 6), (28, 2)];
/// Longest long name, in pieces of 13.
const MOST_PIECES: u8 = 20;

/// The upper half of code page 437 ("OEM United States"), which short names are in where nobody says otherwise.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// A FAT file system.
pub(super) struct Fat {
    chains: Chains,
    root: FileMap,
    /// The root folder's first cluster; 0 where it has a place of its own.
    root_cluster: u32,
}

impl Fat {
    /// Reads the boot sector ("Boot Sector and BPB").
    pub(super) fn open(window: Window) -> Result<Self, FilesError> {
        let mut boot = [0; 512];
        window.read_exact_at(&mut boot, 0).map_err(FilesError::from_io)?;
        let byte = |at| number::<1>(&boot, at).unwrap_or_default();
        let short = |at| number::<2>(&boot, at).unwrap_or_default();
        let long = |at| number::<4>(&boot, at).unwrap_or_default();
        let (sector, per_cluster, reserved, tables) = (short(11), byte(13), short(14), byte(16));
        let senseless = || damaged("its boot sector makes no sense");
        if !matches!(sector, 512 | 1024 | 2048 | 4096) || !per_cluster.is_power_of_two() || tables == 0 {
            return Err(senseless());
        }
        let is_wide = short(22) == 0;
        let table = if is_wide { long(36) } else { short(22) };
        let sectors = if short(19) == 0 { long(32) } else { short(19) };
        let root_sectors = (short(17) * ENTRY as u64).div_ceil(sector);
        let root_at = reserved + tables * table;
        let heap = root_at + root_sectors;
        let clusters = sectors.checked_sub(heap).ok_or_else(senseless)? / per_cluster;
        if sectors * sector > window.size() {
            return Err(damaged("it is larger than the volume"));
        }
        let width = match clusters {
            _ if is_wide => Width::Bits28,
            _ if clusters < FAT16_FROM => Width::Bits12,
            _ if clusters < FAT32_FROM => Width::Bits16,
            _ => return Err(senseless()),
        };
        // Where the copies of the table are not kept alike, one of them counts.
        let active = if is_wide && short(40) & 0x80 != 0 { short(40) & 0xf } else { 0 };
        let chains = Chains {
            table: (reserved + active.min(tables - 1) * table) * sector,
            width,
            heap: heap * sector,
            cluster: per_cluster * sector,
            clusters: u32::try_from(clusters).map_err(|_| senseless())?,
            window,
        };
        let root_cluster = if is_wide { long(44) as u32 } else { 0 };
        let root = if is_wide {
            chains.folder(root_cluster, LARGEST_FOLDER)?
        } else {
            let mut root = FileMap::new(root_sectors * sector);
            root.add(0, root_sectors * sector, root_at * sector, chains.window.size())?;
            root
        };
        Ok(Self { chains, root, root_cluster })
    }

    fn first_cluster(&self, entry: &[u8; ENTRY]) -> u32 {
        let low = number::<2>(entry, 26).unwrap_or_default();
        let high = if self.chains.width == Width::Bits28 { number::<2>(entry, 20) } else { None };
        (high.unwrap_or_default() << 16 | low) as u32
    }

    fn entry(&self, number: u64) -> Result<[u8; ENTRY], FilesError> {
        let mut entry = [0; ENTRY];
        let at = number.saturating_mul(ENTRY as u64);
        self.chains.window.read_exact_at(&mut entry, at).map_err(FilesError::from_io)?;
        Ok(entry)
    }

    /// Where a folder lies; nothing for the root, which is known.
    fn folder(&self, folder: &Node) -> Result<Option<FileMap>, FilesError> {
        if folder.number == 0 {
            return Ok(None);
        }
        self.chains.folder(self.first_cluster(&self.entry(folder.number)?), LARGEST_FOLDER).map(Some)
    }
}

impl Nodes for Fat {
    fn root(&self) -> u64 {
        0
    }

    fn node(&mut self, number: u64) -> Result<Node, FilesError> {
        if number == 0 {
            return Ok(Node { identity: u64::from(self.root_cluster), ..Node::folder(0, None) });
        }
        let entry = self.entry(number)?;
        let modified = time(&entry);
        if entry[11] & FOLDER != 0 {
            let identity = u64::from(self.first_cluster(&entry));
            return Ok(Node { identity, ..Node::folder(number, modified) });
        }
        Ok(Node::file(number, crate::fields::number::<4>(&entry, 28).unwrap_or_default(), modified))
    }

    fn list(&mut self, folder: &Node, from: u64, each: &mut Each<'_>) -> Result<(), FilesError> {
        let own = self.folder(folder)?;
        let map = own.as_ref().unwrap_or(&self.root);
        let mut long = LongName::default();
        let mut at = from;
        while let Some((place, _)) = map.find(at) {
            let mut entry = [0; ENTRY];
            self.chains.window.read_exact_at(&mut entry, place).map_err(FilesError::from_io)?;
            // Every folder but the root begins with an entry for itself; noise does not.
            if at == 0 && own.is_some() && (!entry.starts_with(b".          ") || entry[11] & FOLDER == 0) {
                return Err(damaged("what is called a folder is none"));
            }
            at = at.saturating_add(ENTRY as u64);
            match (entry[0], entry[11]) {
                (0, _) => return Ok(()),
                (0xe5, _) => long = LongName::default(),
                (_, attributes) if attributes & 0x3f == LONG => long.add(&entry),
                (_, attributes) if attributes & LABEL != 0 => long = LongName::default(),
                (b'.', _) if entry.starts_with(b".          ") || entry.starts_with(b"..         ") => {}
                _ => {
                    let name = std::mem::take(&mut long).of(&entry).unwrap_or_else(|| short_name(&entry));
                    let found = Found { name: name.into_bytes(), number: place / ENTRY as u64, next: at };
                    if !each(found) {
                        return Ok(());
                    }
                }
            }
        }
        map.ended_at(at)
    }

    fn map(&mut self, file: &Node) -> Result<FileMap, FilesError> {
        let entry = self.entry(file.number)?;
        self.chains.map(self.first_cluster(&entry), file.size, false)
    }

    fn ignores_case(&self) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        u64::from(self.chains.clusters).saturating_mul(self.chains.cluster)
    }
}

/// A long name as its pieces come, the last one first.
#[derive(Default)]
struct LongName {
    /// The pieces still to come.
    left: u8,
    sum: u8,
    units: Vec<u16>,
}

impl LongName {
    fn add(&mut self, entry: &[u8; ENTRY]) {
        let (order, sum) = (entry[0], entry[13]);
        if order & 0x40 != 0 {
            *self = Self { left: order & 0x3f, sum, units: Vec::new() };
        }
        if self.left == 0 || self.left > MOST_PIECES || order & 0x3f != self.left || sum != self.sum {
            *self = Self::default();
            return;
        }
        self.left -= 1;
        let bytes = PIECES.iter().flat_map(|(at, n)| entry.iter().skip(*at).take(n * 2));
        let bytes: Vec<u8> = bytes.copied().collect();
        let mut units: Vec<u16> =
            bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        units.append(&mut self.units);
        self.units = units;
        if self.left == 0 {
            let end = self.units.iter().position(|unit| *unit == 0).unwrap_or(self.units.len());
            self.units.truncate(end);
        }
    }

    /// The name, if it is that entry's.
    fn of(self, entry: &[u8; ENTRY]) -> Option<String> {
        let short = entry.iter().take(11);
        let sum = short.fold(0u8, |sum, byte| sum.rotate_right(1).wrapping_add(*byte));
        let whole = self.left == 0 && !self.units.is_empty() && sum == self.sum;
        whole.then(|| String::from_utf16_lossy(&self.units))
    }
}

/// A name of eight letters and three.
fn short_name(entry: &[u8; ENTRY]) -> String {
    let part = |from: usize, len: usize, lower: bool| {
        let bytes = entry.iter().skip(from).take(len).enumerate();
        let text: String = bytes
            // The one letter that would mean that the entry is free stands as another.
            .map(|(i, byte)| if from + i == 0 && *byte == 5 { 0xe5 } else { *byte })
            .map(|byte| match byte.checked_sub(0x80) {
                None => char::from(byte),
                Some(upper) => CP437.chars().nth(usize::from(upper)).unwrap_or(char::REPLACEMENT_CHARACTER),
            })
            .collect();
        let text = text.trim_end_matches(' ');
        if lower { text.to_lowercase() } else { text.to_owned() }
    };
    // Windows NT's marks for names that are all in small letters.
    let (name, extension) = (part(0, 8, entry[12] & 8 != 0), part(8, 3, entry[12] & 0x10 != 0));
    if extension.is_empty() { name } else { format!("{name}.{extension}") }
}

/// When it was last written; the file system keeps no time zone, and UTC is assumed.
fn time(entry: &[u8; ENTRY]) -> Option<i64> {
    let (time, date) = (number::<2>(entry, 22)? as u32, number::<2>(entry, 24)? as u32);
    civil([1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, (time & 31) * 2])
}
