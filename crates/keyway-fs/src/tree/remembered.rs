//! What is remembered between two looks, and no more than that: where the last files lie, and where folders are.

use super::map::FileMap;
use super::node::Node;
use crate::files::EntryKind;
use std::collections::HashMap;
use std::sync::Arc;

/// Files whose places are remembered, and the pieces that they may have together.
const FILES: usize = 512;
const PIECES: usize = 3 << 20;
/// Folders whose place is remembered: some 50 MB. What comes then is not looked at; it costs nobody but who walks
/// through it.
const FOLDERS: usize = 1 << 20;

/// Where the last files lie.
#[derive(Default)]
pub(super) struct Maps {
    known: HashMap<u64, (Arc<FileMap>, u64)>,
    cost: usize,
    /// Counts up, so that the one that was not asked for the longest is known.
    now: u64,
}

impl Maps {
    pub(super) fn get(&mut self, number: u64) -> Option<Arc<FileMap>> {
        self.now = self.now.wrapping_add(1);
        let (map, used) = self.known.get_mut(&number)?;
        *used = self.now;
        Some(Arc::clone(map))
    }

    pub(super) fn remember(&mut self, number: u64, map: FileMap) -> Arc<FileMap> {
        let (cost, map) = (map.cost(), Arc::new(map));
        while !self.known.is_empty()
            && (self.known.len() >= FILES || self.cost.saturating_add(cost) > PIECES)
            && let Some(oldest) = self.known.iter().min_by_key(|(_, (_, used))| *used).map(|(n, _)| *n)
        {
            self.forget(oldest);
        }
        self.forget(number);
        self.cost = self.cost.saturating_add(cost);
        self.known.insert(number, (Arc::clone(&map), self.now));
        map
    }

    fn forget(&mut self, number: u64) {
        if let Some((map, _)) = self.known.remove(&number) {
            self.cost = self.cost.saturating_sub(map.cost());
        }
    }
}

/// Where each folder is, so that none is told in two places.
#[derive(Default)]
pub(super) struct Parents {
    known: HashMap<u64, u64>,
}

impl Parents {
    /// Whether a node may be told as what lies in the folder of that number: a folder lies in one alone.
    pub(super) fn claim(&mut self, node: &Node, parent: u64) -> bool {
        if node.kind != EntryKind::Folder {
            return true;
        }
        // Where an entry is what has the number, it is the entry that counts.
        let by = if node.identity == node.number { parent } else { node.number };
        match self.known.get(&node.identity) {
            Some(known) => *known == by,
            None => {
                if self.known.len() < FOLDERS {
                    self.known.insert(node.identity, by);
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded_and_the_last_stay() {
        let mut maps = Maps::default();
        for number in 0..2 * FILES as u64 {
            assert!(maps.get(number).is_none());
            maps.remember(number, FileMap::inline(vec![0; 100]));
            assert!(maps.get(0).is_some() || number == 0 || number >= FILES as u64);
            assert!(maps.get(number).is_some());
        }
        assert_eq!(maps.known.len(), FILES);
        assert_eq!(maps.cost, maps.known.values().map(|(map, _)| map.cost()).sum::<usize>());
        for number in 0..100 {
            maps.remember(number, FileMap::inline(vec![0; 16 << 20]));
        }
        assert!(maps.cost <= PIECES);
    }

    #[test]
    fn a_folder_is_told_in_one_place() {
        let mut parents = Parents::default();
        let folder = |number, identity| Node { identity, ..Node::folder(number, None) };
        assert!(parents.claim(&folder(7, 7), 2) && parents.claim(&folder(7, 7), 2));
        assert!(!parents.claim(&folder(7, 7), 3));
        assert!(parents.claim(&folder(100, 5), 2));
        assert!(!parents.claim(&folder(101, 5), 2), "another entry for the same clusters");
        assert!(parents.claim(&Node::file(7, 0, None), 3), "a file may have many names");
    }
}
