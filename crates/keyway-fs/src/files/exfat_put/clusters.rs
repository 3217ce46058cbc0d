//! Which of exFAT's clusters are free: its bitmap (7.1), of which a part is given out.

use super::damaged;
use crate::files::error::FilesError;
use crate::files::pending::Step;
use crate::files::window::Window;
use std::ops::Range;

/// The first cluster's number (4.1).
pub(super) const FIRST: u32 = 2;

/// Clusters one after the other, by their numbers.
pub(super) type Piece = Range<u32>;

/// Where bytes lie on the medium, and how many.
pub(super) type Places = Vec<(u64, usize)>;

/// One cluster.
pub(super) fn piece(cluster: u32) -> [Piece; 1] {
    [Piece { start: cluster, end: cluster.saturating_add(1) }]
}

/// The bitmap. What is freed is given out again only after it was written.
pub(super) struct Clusters {
    bits: Vec<u8>,
    count: u32,
    free: u32,
    /// Where its bytes lie, in order.
    places: Places,
    /// Where the next search begins: behind what was given out last.
    from: u32,
    taken: Vec<Piece>,
    freed: Vec<Piece>,
}

impl Clusters {
    /// Reads the bitmap of `count` clusters, which lies in these places.
    pub(super) fn read(window: &Window, places: Places, count: u32) -> Result<Self, FilesError> {
        let mut bits = Vec::new();
        for (at, len) in &places {
            let mut piece = vec![0; *len];
            window.read_exact_at(&mut piece, *at).map_err(FilesError::from_io)?;
            bits.extend(piece);
        }
        let mut all =
            Self { bits, count, free: 0, places, from: FIRST, taken: Vec::new(), freed: Vec::new() };
        all.free = (FIRST..all.end()).filter(|cluster| !all.is_used(*cluster)).count() as u32;
        Ok(all)
    }

    /// The number behind the last cluster's.
    fn end(&self) -> u32 {
        self.count.saturating_add(FIRST)
    }

    /// How many are free.
    pub(super) fn free(&self) -> u32 {
        self.free
    }

    /// How many of a hundred are in use.
    pub(super) fn percent(&self) -> u8 {
        let used = u64::from(self.count.saturating_sub(self.free)) * 100;
        used.checked_div(u64::from(self.count)).unwrap_or_default() as u8
    }

    /// Whether a cluster belongs to something; what doesn't exist does.
    pub(super) fn is_used(&self, cluster: u32) -> bool {
        let Some(index) = cluster.checked_sub(FIRST).filter(|index| *index < self.count) else { return true };
        self.bits.get(index as usize / 8).is_none_or(|byte| byte >> (index % 8) & 1 == 1)
    }

    fn set(&mut self, piece: &Piece, used: bool) {
        for cluster in piece.clone() {
            let index = cluster.saturating_sub(FIRST);
            if let Some(byte) = self.bits.get_mut(index as usize / 8) {
                let bit = 1 << (index % 8);
                *byte = if used { *byte | bit } else { *byte & !bit };
            }
        }
        let len = piece.end.saturating_sub(piece.start);
        self.free = if used { self.free.saturating_sub(len) } else { self.free.saturating_add(len) };
    }

    /// Takes so many: in one piece where there is one, otherwise in as many as it needs.
    pub(super) fn take(&mut self, wanted: u64) -> Option<Vec<Piece>> {
        let wanted = u32::try_from(wanted).ok().filter(|wanted| *wanted <= self.free)?;
        if wanted == 0 {
            return Some(Vec::new());
        }
        let whole = self.run(self.from..self.end(), wanted).or_else(|| self.run(FIRST..self.end(), wanted));
        let pieces = match whole {
            Some(piece) => vec![piece],
            None => self.scraps(wanted),
        };
        for piece in &pieces {
            self.set(piece, true);
        }
        self.from = pieces.last().map_or(FIRST, |piece| piece.end);
        self.taken.extend(pieces.iter().cloned());
        Some(pieces)
    }

    /// Takes one: the one behind that other, where it is free.
    pub(super) fn take_behind(&mut self, other: Option<u32>) -> Option<u32> {
        let next = other.and_then(|other| other.checked_add(1)).filter(|next| !self.is_used(*next));
        let Some(next) = next else { return self.take(1)?.first().map(|piece| piece.start) };
        let piece = next..next.saturating_add(1);
        self.set(&piece, true);
        self.taken.push(piece);
        Some(next)
    }

    fn run(&self, within: Piece, wanted: u32) -> Option<Piece> {
        let mut start = within.start;
        for cluster in within.clone() {
            if self.is_used(cluster) {
                start = cluster.saturating_add(1);
            } else if cluster - start + 1 == wanted {
                return Some(start..cluster + 1);
            }
        }
        None
    }

    fn scraps(&self, wanted: u32) -> Vec<Piece> {
        let (mut pieces, mut left): (Vec<Piece>, u32) = (Vec::new(), wanted);
        for cluster in FIRST..self.end() {
            if left == 0 {
                break;
            }
            if self.is_used(cluster) {
                continue;
            }
            left -= 1;
            match pieces.last_mut() {
                Some(last) if last.end == cluster => last.end += 1,
                _ => pieces.push(cluster..cluster + 1),
            }
        }
        pieces
    }

    /// What was taken for something that came to nothing.
    pub(super) fn give_back(&mut self, pieces: &[Piece]) {
        pieces.iter().for_each(|piece| self.set(piece, false));
    }

    /// What belonged to something that is removed.
    pub(super) fn release(&mut self, pieces: Vec<Piece>) {
        self.freed.extend(pieces);
    }

    /// Has the window hold all that has changed.
    pub(super) fn stage(&mut self, window: &Window) -> Result<(), FilesError> {
        let taken = std::mem::take(&mut self.taken);
        self.stage_bytes(window, Step::Unreachable, &taken)?;
        let freed = std::mem::take(&mut self.freed);
        freed.iter().for_each(|piece| self.set(piece, false));
        self.stage_bytes(window, Step::Freed, &freed)
    }

    fn stage_bytes(&self, window: &Window, step: Step, pieces: &[Piece]) -> Result<(), FilesError> {
        for piece in pieces {
            let [first, last] = [piece.start, piece.end.saturating_sub(1)]
                .map(|cluster| cluster.saturating_sub(FIRST) as usize / 8);
            let mut begin = 0;
            for (at, len) in &self.places {
                let (from, to) = (first.max(begin), (last + 1).min(begin + len));
                if let Some(bytes) = self.bits.get(from..to).filter(|bytes| !bytes.is_empty()) {
                    window.stage(step, at + (from - begin) as u64, bytes)?;
                }
                begin += len;
            }
        }
        Ok(())
    }

    /// Where these clusters' bytes lie, of `bytes` in all.
    pub(super) fn places(
        (heap, cluster): (u64, u64),
        pieces: &[Piece],
        bytes: u64,
    ) -> Result<Places, FilesError> {
        let (mut places, mut left) = (Vec::new(), bytes);
        for piece in pieces {
            let at = heap + u64::from(piece.start.saturating_sub(FIRST)) * cluster;
            let len = (u64::from(piece.end - piece.start) * cluster).min(left);
            left -= len;
            places.push((at, usize::try_from(len).map_err(|_| damaged("a part of it is too large"))?));
        }
        Ok(places)
    }
}
