//! exFAT, written to: new files and folders, by Microsoft's published specification, whose section numbers stand beside
//! each constant.
//!
//! A file's bytes go to free clusters at once. All that leads to them waits ([`super::pending`]) and is written when
//! everything was put, between the volume's mark of being changed and its removal: first what nothing leads to yet, then
//! what makes folders longer, the entries, the end of those that were replaced, and last what these had. So whatever was
//! there is there when the power fails, at any write; a set of entries that two sectors share is written anew elsewhere,
//! never changed.

mod clusters;
mod entries;
mod folder;
mod names;
mod reading;
mod staging;

use super::entry::NewEntry;
use super::error::{FilesError, whole};
use super::fat::copy;
use super::pending::{SECTOR, Step};
use super::window::Window;
use crate::exfat::{Boot, ENTRY, FILE, LARGEST_FOLDER};
use crate::fields::number;
use crate::superblock::FileSystemKind;
use clusters::{Clusters, FIRST, Piece, piece};
use entries::{Body, Entries};
use folder::{BITMAP, CAPITALS, Folder, IN_USE, Known, Scan, is_last};
use names::Capitals;
use reading::{by_name, chain, must_be_summed, must_be_used, parts};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Seek, SeekFrom};

/// What follows a chain's last cluster (4.1).
const END: u32 = 0xffff_ffff;
/// `VolumeFlags` in the boot sector (3.1.13), and its bits: being changed; to be cleared by who changes it.
const FLAGS: usize = 106;
const CHANGING: u16 = 2;
const CLEAR: u16 = 8;
/// `PercentInUse` (3.1.18).
const PERCENT: usize = 112;
/// Sectors whose sum the next one repeats (3.4).
const SUMMED: u64 = 11;
/// Entries that a set has beside its name's, and units of a name in each of these.
const BESIDE: u64 = 2;
const UNITS: u64 = 15;

fn damaged(what: &str) -> FilesError {
    FilesError::Damaged(what.to_owned())
}

/// An exFAT file system that is written to.
pub(crate) struct Writer {
    window: Window,
    boot: Boot,
    clusters: Clusters,
    capitals: Capitals,
    /// The root is the first.
    folders: Vec<Folder>,
    /// Folders' clusters that nothing on the medium leads to yet.
    fresh: HashSet<u32>,
}

impl Writer {
    /// Reads what a writer must know.
    ///
    /// # Errors
    /// It was not unmounted, is damaged, or has what isn't known here.
    pub(crate) fn open(window: Window) -> Result<Self, FilesError> {
        let mut sector = [0; SECTOR];
        window.read_exact_at(&mut sector, 0).map_err(FilesError::from_io)?;
        let boot = Boot::parse(&sector, window.size()).map_err(damaged)?;
        let sector_bytes = 1u64 << sector[108];
        if sector[105] != 1 {
            return Err(FilesError::Unsupported(
                "this version of exFAT isn't written by this program".to_owned(),
            ));
        }
        if sector[110] != 1 {
            return Err(FilesError::Unsupported(
                "exFAT with two tables isn't written by this program".to_owned(),
            ));
        }
        if flags(&sector) & CHANGING != 0 {
            return Err(FilesError::Unclean { checker: FileSystemKind::ExFat.repaired_by() });
        }
        must_be_summed(&window, sector_bytes)?;
        let table_bytes = number::<4>(&sector, 84).unwrap_or_default() * sector_bytes;
        let needed = (u64::from(boot.clusters) + u64::from(FIRST)) * 4;
        if table_bytes < needed || boot.table < (SUMMED + 1) * sector_bytes || boot.table + needed > boot.heap
        {
            return Err(damaged("its table of clusters has no room"));
        }
        let root = chain(&window, &boot, boot.root, None, false)?;
        let Scan { sets, own, end, gaps } = folder::scan(&window, &boot, &root)?;
        let entry = |kind: u8, what| {
            // The second bitmap is that of a second table.
            own.iter().find(|entry| entry[0] == kind && entry[1] & 1 == 0).ok_or_else(|| damaged(what))
        };
        let bitmap = entry(BITMAP, "it has no bitmap")?;
        let table = entry(CAPITALS, "it has no table of capital letters")?;
        let bits = u64::from(boot.clusters).div_ceil(8);
        let (places, of_bitmap) = parts(&window, &boot, bitmap, bits, bits..=u64::MAX)?;
        let clusters = Clusters::read(&window, places, boot.clusters)?;
        let len = number::<8>(table, 24).unwrap_or_default();
        let (places, of_table) = parts(&window, &boot, table, len, 2..=names::LARGEST)?;
        let sum = number::<4>(table, 4).unwrap_or_default() as u32;
        let capitals = Capitals::read(&window, &places, sum)?;
        for owned in [&root, &of_bitmap, &of_table] {
            must_be_used(&clusters, owned)?;
        }
        let mut own = HashSet::new();
        if ![&root, &of_bitmap, &of_table].into_iter().flatten().all(|cluster| own.insert(*cluster)) {
            return Err(damaged("its own parts lie over each other"));
        }
        let names = by_name(&capitals, sets)?;
        let root = Folder { clusters: root, contiguous: false, above: None, names, end, gaps };
        Ok(Self { window, boot, clusters, capitals, folders: vec![root], fresh: HashSet::new() })
    }

    /// A name as this file system compares it.
    pub(crate) fn folded(&self, name: &OsStr) -> Vec<u16> {
        self.capitals.of(&name.to_string_lossy().encode_utf16().collect::<Vec<_>>())
    }

    /// Whether there is room for all of these.
    pub(crate) fn must_fit(&self, new: &[NewEntry<'_>]) -> Result<(), FilesError> {
        let cluster = self.boot.cluster;
        let mut wanted = 0u64;
        // What is added to each folder, and whether it is new.
        let mut folders: HashMap<&[OsString], (u64, bool)> = HashMap::new();
        for entry in new {
            let Some((name, folder)) = entry.path.split_last() else { continue };
            let units = name.to_string_lossy().encode_utf16().count() as u64;
            // One may stay free before a folder's.
            let bytes = (BESIDE + units.div_ceil(UNITS) + 1) * ENTRY as u64;
            let held = folders.entry(folder).or_default();
            held.0 = held.0.saturating_add(bytes);
            match entry.len {
                Some(len) => wanted = wanted.saturating_add(len.div_ceil(cluster)),
                None => folders.entry(entry.path).or_default().1 = true,
            }
        }
        for (bytes, is_new) in folders.into_values() {
            wanted = wanted.saturating_add(bytes.div_ceil(cluster).max(u64::from(is_new)));
        }
        if wanted > u64::from(self.clusters.free()) { Err(self.no_room(wanted)) } else { Ok(()) }
    }

    fn no_room(&self, clusters: u64) -> FilesError {
        let bytes = |clusters: u64| clusters.saturating_mul(self.boot.cluster);
        let [free, all] = [self.clusters.free(), self.boot.clusters].map(|clusters| bytes(clusters.into()));
        FilesError::no_room(FileSystemKind::ExFat, free, bytes(clusters), all)
    }

    /// Writes `len` bytes to free clusters, for a new file or in place of one. What was begun and failed is given back.
    pub(crate) fn put(
        &mut self,
        path: &[OsString],
        mut from: impl Read,
        len: u64,
        modified: Option<i64>,
    ) -> Result<(), FilesError> {
        let (folder, name, capitals) = self.place_of(path)?;
        let old = self.known(folder, &capitals).cloned();
        let leaves = old.as_ref().map(|old| self.all_of(old, &path[path.len() - 1])).transpose()?;
        let wanted = len.div_ceil(self.boot.cluster);
        let pieces = self.clusters.take(wanted).ok_or_else(|| self.no_room(wanted))?;
        let done = self.write(&pieces, &mut from, len).and_then(|()| {
            let first = pieces.first().map_or(0, |piece| piece.start);
            let body = Body { first, bytes: len, contiguous: pieces.len() == 1 };
            self.chain(&pieces)?;
            self.add(folder, &name, capitals, false, modified, body)
        });
        if let Err(e) = done {
            self.clusters.give_back(&pieces);
            return Err(e);
        }
        if let (Some(old), Some(leaves)) = (old, leaves) {
            self.remove(&old.places)?;
            self.clusters.release(leaves);
        }
        Ok(())
    }

    /// Makes a folder, or leaves the one that is there.
    pub(crate) fn put_folder(&mut self, path: &[OsString]) -> Result<(), FilesError> {
        let (folder, name, capitals) = self.place_of(path)?;
        match self.known(folder, &capitals) {
            Some(known) if known.is_folder => return Ok(()),
            Some(_) => return Err(FilesError::Exists(whole(path))),
            None => {}
        }
        let first = self.new_cluster(None)?;
        let body = Body { first, bytes: self.boot.cluster, contiguous: true };
        let added = self.add(folder, &name, capitals, true, None, body);
        if added.is_err() {
            self.fresh.remove(&first);
            self.clusters.give_back(&piece(first));
        }
        added
    }

    /// Writes all that waits, and flushes the medium.
    pub(crate) fn commit(&mut self) -> Result<(), FilesError> {
        self.clusters.stage(&self.window)?;
        if self.window.has_pending() {
            self.mark(true)?;
            self.window.write_pending()?;
            self.mark(false)?;
            self.fresh.clear();
        }
        Ok(self.window.flush_store()?)
    }

    fn folder(&self, id: usize) -> Result<&Folder, FilesError> {
        self.folders.get(id).ok_or_else(|| damaged("a folder that is none"))
    }

    fn folder_mut(&mut self, id: usize) -> Result<&mut Folder, FilesError> {
        self.folders.get_mut(id).ok_or_else(|| damaged("a folder that is none"))
    }

    fn known(&self, folder: usize, capitals: &[u16]) -> Option<&Known> {
        self.folders.get(folder)?.names.get(capitals)
    }

    /// The folder that something new goes to, its name, and that in capitals.
    fn place_of(&mut self, path: &[OsString]) -> Result<(usize, Vec<u16>, Vec<u16>), FilesError> {
        let (name, folders) = path.split_last().ok_or_else(|| FilesError::IsAFolder(OsString::from("/")))?;
        let name = names::units(name)?;
        let mut at = 0;
        for folder in folders {
            at = self.enter(at, folder)?;
        }
        let capitals = self.capitals.of(&name);
        Ok((at, name, capitals))
    }

    /// A folder in a folder, which is read where it was not.
    fn enter(&mut self, around: usize, name: &OsStr) -> Result<usize, FilesError> {
        let capitals = self.folded(name);
        let known = self.known(around, &capitals).ok_or_else(|| FilesError::NotFound(name.to_owned()))?;
        if !known.is_folder {
            return Err(FilesError::NotAFolder(name.to_owned()));
        }
        if let Some(id) = known.read {
            return Ok(id);
        }
        let Body { first, bytes, contiguous } = known.body;
        let clusters = self.chain_of(&known.body, LARGEST_FOLDER)?;
        if bytes % self.boot.cluster != 0
            || self.folders.iter().any(|other| other.clusters.first() == Some(&first))
        {
            return Err(damaged("a folder that can't be where it is"));
        }
        let Scan { sets, end, gaps, own } = folder::scan(&self.window, &self.boot, &clusters)?;
        if !own.is_empty() {
            return Err(damaged("a folder with what the root alone has"));
        }
        let names = by_name(&self.capitals, sets)?;
        let above = Some((around, capitals.clone()));
        let id = self.folders.len();
        self.folders.push(Folder { clusters, contiguous, above, names, end, gaps });
        if let Some(known) = self.folder_mut(around)?.names.get_mut(&capitals) {
            known.read = Some(id);
        }
        Ok(id)
    }

    /// The clusters of something that is there, all of them its own by the bitmap.
    fn chain_of(&self, body: &Body, largest: u64) -> Result<Vec<u32>, FilesError> {
        if body.bytes > largest {
            return Err(damaged("something is larger than can be"));
        }
        let count = body.bytes.div_ceil(self.boot.cluster);
        if body.first == 0 && count == 0 {
            return Ok(Vec::new());
        }
        let chain = chain(&self.window, &self.boot, body.first, Some(count), body.contiguous)?;
        must_be_used(&self.clusters, &chain)?;
        Ok(chain)
    }

    /// What becomes free with a file whose place another takes.
    fn all_of(&self, old: &Known, name: &OsStr) -> Result<Vec<Piece>, FilesError> {
        if old.is_folder {
            return Err(FilesError::IsAFolder(name.to_owned()));
        }
        if !old.is_plain {
            let what = "that file has more to it than this program knows, and isn't replaced";
            return Err(FilesError::Unsupported(what.to_owned()));
        }
        let all = u64::from(self.boot.clusters).saturating_mul(self.boot.cluster);
        let chain = self.chain_of(&old.body, all)?;
        if self.folders.iter().any(|folder| folder.clusters.iter().any(|cluster| chain.contains(cluster))) {
            return Err(damaged("a file lies over a folder"));
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for cluster in chain {
            match pieces.last_mut() {
                Some(last) if last.end == cluster => last.end += 1,
                _ => pieces.push(cluster..cluster + 1),
            }
        }
        Ok(pieces)
    }

    fn write(&mut self, pieces: &[Piece], from: &mut impl Read, len: u64) -> Result<(), FilesError> {
        for (at, n) in Clusters::places((self.boot.heap, self.boot.cluster), pieces, len)? {
            self.window.seek(SeekFrom::Start(at)).map_err(FilesError::from_io)?;
            copy(from, &mut self.window, n as u64, &FilesError::from_io)?;
        }
        Ok(())
    }

    /// Makes these pieces a chain; one in one piece needs none.
    fn chain(&self, pieces: &[Piece]) -> Result<(), FilesError> {
        if pieces.len() < 2 {
            return Ok(());
        }
        let behind = pieces.iter().skip(1).map(|piece| piece.start).chain([END]);
        for (piece, behind) in pieces.iter().zip(behind) {
            let next = (piece.start + 1..piece.end).chain([behind]);
            let bytes: Vec<u8> = next.flat_map(u32::to_le_bytes).collect();
            self.window.stage(Step::Unreachable, self.link(piece.start), &bytes)?;
        }
        Ok(())
    }

    /// Where a cluster's number stands in the table.
    fn link(&self, cluster: u32) -> u64 {
        self.boot.table + u64::from(cluster) * 4
    }

    /// Takes a cluster of zeros for a folder.
    fn new_cluster(&mut self, behind: Option<u32>) -> Result<u32, FilesError> {
        let cluster = self.clusters.take_behind(behind).ok_or_else(|| self.no_room(1))?;
        if let Err(e) = self.write(&piece(cluster), &mut io::repeat(0), self.boot.cluster) {
            self.clusters.give_back(&piece(cluster));
            return Err(e);
        }
        self.fresh.insert(cluster);
        Ok(cluster)
    }

    /// Adds a file's or folder's entries to a folder.
    fn add(
        &mut self,
        folder: usize,
        name: &[u16],
        capitals: Vec<u16>,
        is_folder: bool,
        modified: Option<i64>,
        body: Body,
    ) -> Result<(), FilesError> {
        let set = entries::entries(name, names::hash(&capitals), is_folder, modified, body);
        let places = self.room_for(folder, set.len() as u64, is_folder)?;
        self.stage_set(&places, &set)?;
        let known = Known { places, is_folder, body, is_plain: true, read: None };
        self.folder_mut(folder)?.names.insert(capitals, known);
        Ok(())
    }

    /// Room for so many entries. With `together` the first two lie in one sector, so that they can be changed.
    fn room_for(&mut self, id: usize, wanted: u64, together: bool) -> Result<Vec<u64>, FilesError> {
        let start = match self.folder_mut(id)?.gap(wanted, together) {
            Some(start) => start,
            None => {
                let mut start = self.folder(id)?.end;
                let passes = together && is_last(start);
                start += u64::from(passes);
                while self.folder(id)?.room(&self.boot) < start + wanted {
                    self.extend(id)?;
                }
                if passes {
                    let mut none = [0; ENTRY];
                    none[0] = FILE & !IN_USE;
                    let place = self.folder(id)?.place(&self.boot, start - 1)?;
                    self.stage_set(&[place], &[none])?;
                }
                self.end_at(id, start + wanted)?;
                start
            }
        };
        let folder = self.folder(id)?;
        (start..start + wanted).map(|index| folder.place(&self.boot, index)).collect()
    }

    /// The folder ends there now, and what lies behind is none of it (6.2.1).
    fn end_at(&mut self, id: usize, end: u64) -> Result<(), FilesError> {
        self.folder_mut(id)?.end = end;
        let folder = self.folder(id)?;
        if end == folder.room(&self.boot) {
            return Ok(());
        }
        let (place, mut next) = (folder.place(&self.boot, end)?, [0; 1]);
        self.window.read_exact_at(&mut next, place).map_err(FilesError::from_io)?;
        if next != [0] { self.window.stage(Step::Links, place, &[0; ENTRY]) } else { Ok(()) }
    }

    /// Makes a folder a cluster longer.
    fn extend(&mut self, id: usize) -> Result<(), FilesError> {
        let (clusters, mut contiguous) = (self.folder(id)?.clusters.clone(), self.folder(id)?.contiguous);
        if (clusters.len() as u64 + 1) * self.boot.cluster > LARGEST_FOLDER {
            return Err(self.no_room(1));
        }
        let last = clusters.last().copied();
        let new = self.new_cluster(last)?;
        let end = END.to_le_bytes();
        match last {
            None => contiguous = true,
            Some(last) if contiguous && last + 1 == new => {}
            Some(last) => {
                if contiguous {
                    for pair in clusters.windows(2) {
                        if let [one, next] = pair {
                            self.window.stage(Step::Unreachable, self.link(*one), &next.to_le_bytes())?;
                        }
                    }
                    contiguous = false;
                }
                self.window.stage(Step::Unreachable, self.link(new), &end)?;
                self.window.stage(Step::Links, self.link(last), &new.to_le_bytes())?;
            }
        }
        let folder = self.folder_mut(id)?;
        folder.clusters.push(new);
        folder.contiguous = contiguous;
        self.tell_length(id)
    }

    /// Says in a folder's own entries where it lies now, and how long it is. The root has none.
    fn tell_length(&mut self, id: usize) -> Result<(), FilesError> {
        let folder = self.folder(id)?;
        let Some((above, capitals)) = folder.above.clone() else { return Ok(()) };
        let body = Body {
            first: folder.clusters.first().copied().unwrap_or_default(),
            bytes: folder.clusters.len() as u64 * self.boot.cluster,
            contiguous: folder.contiguous,
        };
        let known = self.known(above, &capitals).ok_or_else(|| damaged("a folder without a name"))?;
        let old = known.places.clone();
        let mut set: Entries = Vec::new();
        for place in &old {
            let mut entry = [0; ENTRY];
            self.window.read_exact_at(&mut entry, *place).map_err(FilesError::from_io)?;
            set.push(entry);
        }
        entries::give_body(&mut set, body);
        let sector = |i: usize| old.get(i).map(|place| place / SECTOR as u64);
        let stays = sector(0) == sector(1) || old.first().is_some_and(|place| self.is_fresh(*place));
        let places = match stays {
            true => old,
            false => {
                let places = self.room_for(above, set.len() as u64, true)?;
                self.remove(&old)?;
                places
            }
        };
        self.stage_set(&places, &set)?;
        if let Some(known) = self.folder_mut(above)?.names.get_mut(&capitals) {
            known.places = places;
            known.body = body;
        }
        Ok(())
    }
}

fn flags(sector: &[u8; SECTOR]) -> u16 {
    number::<2>(sector, FLAGS).unwrap_or_default() as u16
}
