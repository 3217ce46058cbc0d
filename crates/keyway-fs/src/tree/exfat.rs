//! exFAT. A node's number is where the first entry of its set lies on the medium, in units of an entry.

use super::chains::{Chains, Width, damaged};
use super::map::FileMap;
use super::node::{Each, Found, Node, Nodes};
use crate::exfat::{Boot, ENTRY, FILE, LARGEST_FOLDER, Set, is_whole};
use crate::files::{FilesError, Window};

/// Entries that follow the first at most (7.4.2).
const MOST: usize = 18;

/// The entries of a set.
type Entries = Vec<[u8; ENTRY]>;

/// An exFAT file system.
pub(super) struct ExFat {
    chains: Chains,
    root_cluster: u32,
}

impl ExFat {
    /// Reads the main boot sector.
    pub(super) fn open(window: Window) -> Result<Self, FilesError> {
        let mut sector = [0; 512];
        window.read_exact_at(&mut sector, 0).map_err(FilesError::from_io)?;
        let Boot { table, heap, cluster, clusters, root } =
            Boot::parse(&sector, window.size()).map_err(damaged)?;
        let chains = Chains { window, table, width: Width::Bits32, heap, cluster, clusters };
        Ok(Self { chains, root_cluster: root })
    }

    fn read_entry(&self, at: u64) -> Result<[u8; ENTRY], FilesError> {
        let mut entry = [0; ENTRY];
        self.chains.window.read_exact_at(&mut entry, at).map_err(FilesError::from_io)?;
        Ok(entry)
    }

    /// The set of entries that begins there. Where it reaches into another cluster, the folder would say which; nobody
    /// has that here, and the set's own check sum says which of the two that it can be.
    fn set_at(&self, number: u64) -> Result<Entries, FilesError> {
        let start = number.saturating_mul(ENTRY as u64);
        self.set(start, true)
            .or_else(|_| self.set(start, false))
            .map_err(|_| damaged("a file's entry is none any more"))
    }

    fn set(&self, start: u64, by_table: bool) -> Result<Entries, FilesError> {
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
        let set = Set::of(set).ok_or_else(without_stream)?;
        let (bytes, valid) = set.lengths();
        let mut map = self.chains.map(set.first_cluster(), bytes, set.is_contiguous())?;
        map.valid_to(valid);
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
        let entries = self.set_at(number)?;
        let set = Set::of(&entries).ok_or_else(without_stream)?;
        if set.is_folder() {
            // An empty one may have no cluster.
            let first = Some(u64::from(set.first_cluster())).filter(|first| *first != 0);
            let identity = first.unwrap_or(number.saturating_add(1 << 32));
            return Ok(Node { identity, ..Node::folder(number, set.modified()) });
        }
        Ok(Node::file(number, set.lengths().0, set.modified()))
    }

    fn list(&mut self, folder: &Node, from: u64, each: &mut Each<'_>) -> Result<(), FilesError> {
        let map = self.folder(folder)?;
        let (mut set, mut missing, mut number, mut at): (Entries, usize, u64, u64) = (Vec::new(), 0, 0, from);
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
                && let Some(whole) = Set::of(&set)
                && !each(Found { name: whole.name().into_bytes(), number, next: at })
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

fn without_stream() -> FilesError {
    damaged("a file without its stream")
}
