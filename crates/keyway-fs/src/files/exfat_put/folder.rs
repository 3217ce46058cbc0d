//! A folder of exFAT as its writer knows it: what is in it, and where there is room for more.

use super::clusters::FIRST;
use super::damaged;
use super::entries::{Body, Entries};
use crate::exfat::{Boot, ENTRY, FILE, NAME, STREAM, Set, is_whole};
use crate::files::error::FilesError;
use crate::files::window::Window;
use std::collections::HashMap;
use std::ops::Range;

/// Entries of a sector of 512 bytes: two in one of these are written both or neither.
pub(super) const IN_SECTOR: u64 = 16;
/// Bytes read at a time.
const PIECE: u64 = 4096;
/// Entries that follow the first (7.4.2).
const FOLLOW: std::ops::RangeInclusive<usize> = 2..=18;
/// Entries of the root folder alone (7.1, 7.2, 7.3).
pub(super) const BITMAP: u8 = 0x81;
pub(super) const CAPITALS: u8 = 0x82;
const LABEL: u8 = 0x83;
/// In a type: whether it is in use, follows another, and may be passed over by who doesn't know it (6.2.1).
pub(super) const IN_USE: u8 = 0x80;
const SECONDARY: u8 = 0x40;
const BENIGN: u8 = 0x20;

/// A file or folder in a folder.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Where its entries lie on the medium.
    pub(super) places: Vec<u64>,
    pub(super) is_folder: bool,
    pub(super) body: Body,
    /// Whether nothing belongs to it but what is known here.
    pub(super) is_plain: bool,
    /// Its number among the folders that were read.
    pub(super) read: Option<usize>,
}

/// A folder that was read.
pub(super) struct Folder {
    pub(super) clusters: Vec<u32>,
    pub(super) contiguous: bool,
    /// The folder around it, and its name there in capitals; the root has none.
    pub(super) above: Option<(usize, Vec<u16>)>,
    /// By their names in capitals.
    pub(super) names: HashMap<Vec<u16>, Known>,
    /// Entries behind the last one in use.
    pub(super) end: u64,
    /// Entries before that are not in use.
    pub(super) gaps: Vec<Range<u64>>,
}

impl Folder {
    /// Where an entry lies.
    pub(super) fn place(&self, boot: &Boot, index: u64) -> Result<u64, FilesError> {
        let each = boot.cluster / ENTRY as u64;
        let cluster = usize::try_from(index / each).ok().and_then(|n| self.clusters.get(n));
        let cluster = cluster.ok_or_else(|| damaged("a folder that ends too early"))?;
        let start = boot.heap + u64::from(cluster.saturating_sub(FIRST)) * boot.cluster;
        Ok(start + index % each * ENTRY as u64)
    }

    /// Entries that it has room for.
    pub(super) fn room(&self, boot: &Boot) -> u64 {
        self.clusters.len() as u64 * (boot.cluster / ENTRY as u64)
    }

    /// Takes a gap for so many entries; with `together` the first two lie in one sector.
    pub(super) fn gap(&mut self, wanted: u64, together: bool) -> Option<u64> {
        let fits = |gap: &Range<u64>| {
            let start = gap.start + u64::from(together && is_last(gap.start));
            (start + wanted <= gap.end).then_some(start)
        };
        let (i, start) = self.gaps.iter().enumerate().find_map(|(i, gap)| Some((i, fits(gap)?)))?;
        let gap = self.gaps.swap_remove(i);
        let rest = [gap.start..start, start + wanted..gap.end];
        self.gaps.extend(rest.into_iter().filter(|rest| !rest.is_empty()));
        Some(start)
    }
}

/// Whether the next entry lies in another sector.
pub(super) fn is_last(index: u64) -> bool {
    index % IN_SECTOR == IN_SECTOR - 1
}

/// What is in a folder, as it lies there.
pub(super) struct Scan {
    /// The entries of each file, and where they are.
    pub(super) sets: Vec<(Vec<u64>, Entries)>,
    /// Of the root folder: its bitmap, its table of capitals.
    pub(super) own: Vec<[u8; ENTRY]>,
    pub(super) end: u64,
    pub(super) gaps: Vec<Range<u64>>,
}

/// Reads a folder to its end. What isn't whole, or unknown and not to be passed over (6.2.1), is an error: it would not
/// stay what it is.
pub(super) fn scan(window: &Window, boot: &Boot, clusters: &[u32]) -> Result<Scan, FilesError> {
    let mut scan = Scan { sets: Vec::new(), own: Vec::new(), end: 0, gaps: Vec::new() };
    let (mut missing, mut passes) = (0usize, false);
    let piece = PIECE.min(boot.cluster);
    for cluster in clusters {
        let start = boot.heap + u64::from(cluster.saturating_sub(FIRST)) * boot.cluster;
        for part in 0..boot.cluster / piece {
            let mut bytes = vec![0; piece as usize];
            let at = start + part * piece;
            window.read_exact_at(&mut bytes, at).map_err(FilesError::from_io)?;
            for (i, entry) in bytes.as_chunks::<ENTRY>().0.iter().enumerate() {
                let place = at + (i * ENTRY) as u64;
                let kind = entry[0];
                if missing > 0 {
                    if kind & IN_USE == 0 || kind & SECONDARY == 0 {
                        return Err(damaged("a file's entry is cut off"));
                    }
                    missing -= 1;
                    if let Some((places, set)) = scan.sets.last_mut() {
                        places.push(place);
                        set.push(*entry);
                        if missing == 0 && !is_whole(set) {
                            return Err(damaged("a file's entry has another check sum"));
                        }
                    }
                } else if kind == 0 {
                    return Ok(scan);
                } else if kind & IN_USE == 0 {
                    match scan.gaps.last_mut() {
                        Some(gap) if gap.end == scan.end => gap.end += 1,
                        _ => scan.gaps.push(scan.end..scan.end + 1),
                    }
                    passes = false;
                } else if kind == FILE {
                    missing = usize::from(entry[1]);
                    if !FOLLOW.contains(&missing) {
                        return Err(damaged("a file's entry has no such length"));
                    }
                    scan.sets.push((vec![place], vec![*entry]));
                    passes = false;
                } else if kind & SECONDARY != 0 {
                    if !passes {
                        return Err(damaged("an entry that belongs to no file"));
                    }
                } else if matches!(kind, BITMAP | CAPITALS | LABEL) {
                    scan.own.push(*entry);
                } else if kind & BENIGN != 0 {
                    passes = true;
                } else {
                    let what =
                        format!("a folder has entries of the kind {kind:#04x}, which no driver may change");
                    return Err(FilesError::Unsupported(what));
                }
                scan.end += 1;
            }
        }
    }
    if missing > 0 {
        return Err(damaged("a file's entry is cut off"));
    }
    Ok(scan)
}

/// A file's name, and what is known of it.
pub(super) fn known(places: Vec<u64>, entries: &[[u8; ENTRY]]) -> Result<(Vec<u16>, Known), FilesError> {
    let set = Set::of(entries).ok_or_else(|| damaged("a file without its stream"))?;
    let (bytes, _) = set.lengths();
    let body = Body { first: set.first_cluster(), bytes, contiguous: set.is_contiguous() };
    let names = entries.iter().skip(2).take_while(|entry| entry[0] == NAME).count();
    let is_plain = entries.len() == 2 + names && entries.get(1).is_some_and(|entry| entry[0] == STREAM);
    Ok((set.units(), Known { places, is_folder: set.is_folder(), body, is_plain, read: None }))
}
