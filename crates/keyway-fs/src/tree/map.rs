//! Where a file's bytes lie on the medium.

use crate::files::FilesError;
use keyway_store::Store;

/// Pieces of one file: so much memory a file may cost, and more than any file has that is not made to cost it.
const MOST: usize = 1 << 20;

/// Where a file's bytes lie. What no piece covers reads as zeros.
#[derive(Debug, Default)]
pub(crate) struct FileMap {
    size: u64,
    /// In ascending order, and none reaches into the next.
    pieces: Vec<Piece>,
    /// Bytes that were ever written; the rest reads as zeros, whatever lies there.
    valid: u64,
    /// From here on nothing is known: the file system contradicts itself.
    broken: Option<u64>,
    /// The bytes themselves, of a file that lies within its record.
    inline: Option<Vec<u8>>,
}

/// Bytes that lie one behind the other on the medium.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u64,
    len: u64,
    at: u64,
}

impl FileMap {
    /// Nothing but zeros, so far.
    pub(super) fn new(size: u64) -> Self {
        Self { size, valid: u64::MAX, ..Self::default() }
    }

    /// These bytes.
    pub(super) fn inline(bytes: Vec<u8>) -> Self {
        Self { inline: Some(bytes.clone()), ..Self::new(bytes.len() as u64) }
    }

    /// Zeros from there on.
    pub(super) fn valid_to(&mut self, valid: u64) {
        self.valid = valid;
    }

    /// Nothing is known from there on.
    pub(super) fn broken_from(&mut self, from: u64) {
        self.broken = Some(from);
    }

    /// Adds what lies at `at` of a medium of so many bytes, behind all that was added before.
    pub(super) fn add(&mut self, start: u64, len: u64, at: u64, medium: u64) -> Result<(), FilesError> {
        let len = len.min(self.size.saturating_sub(start));
        if len == 0 {
            return Ok(());
        }
        let damaged = |what: &str| FilesError::Damaged(what.to_owned());
        if at.checked_add(len).is_none_or(|end| end > medium) {
            return Err(damaged("it points past the end of the volume"));
        }
        if let Some(last) = self.pieces.last_mut() {
            let end = last.start.saturating_add(last.len);
            if start < end {
                return Err(damaged("parts of a file lie over each other"));
            }
            if start == end && last.at.saturating_add(last.len) == at {
                last.len = last.len.saturating_add(len);
                return Ok(());
            }
        }
        if self.pieces.len() >= MOST {
            return Err(FilesError::Unsupported("it lies in more than a million pieces".to_owned()));
        }
        self.pieces.push(Piece { start, len, at });
        Ok(())
    }

    /// The file's length in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// What it costs to remember it, in pieces.
    pub(super) fn cost(&self) -> usize {
        let inline = self.inline.as_ref().map_or(0, |bytes| bytes.len() / size_of::<Piece>());
        self.pieces.len().saturating_add(inline).saturating_add(4)
    }

    /// Where on the medium that byte lies, and how many from there on lie behind it.
    pub(super) fn find(&self, offset: u64) -> Option<(u64, u64)> {
        let index = self.pieces.partition_point(|piece| piece.start <= offset).checked_sub(1)?;
        let piece = self.pieces.get(index)?;
        let within = offset.checked_sub(piece.start).filter(|within| *within < piece.len)?;
        Some((piece.at.checked_add(within)?, piece.len - within))
    }

    /// A folder was looked through up to there: whether that is its end.
    pub(super) fn ended_at(&self, at: u64) -> Result<(), FilesError> {
        match self.broken {
            Some(from) if from <= at => {
                Err(FilesError::Damaged("a folder's chain of clusters is broken".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Reads from that place on; fewer bytes than asked for at the file's end.
    pub(super) fn read(&self, store: &dyn Store, buf: &mut [u8], offset: u64) -> Result<usize, FilesError> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = buf.len().min(left);
        let end = offset.saturating_add(len as u64);
        if self.broken.is_some_and(|from| end > from) {
            return Err(FilesError::Damaged("a file's chain of clusters ends too early".to_owned()));
        }
        let wanted = buf.get_mut(..len).unwrap_or_default();
        if let Some(bytes) = &self.inline {
            let from = usize::try_from(offset).unwrap_or(usize::MAX);
            let found = bytes.get(from..).unwrap_or_default();
            let n = found.len().min(wanted.len());
            wanted.get_mut(..n).unwrap_or_default().copy_from_slice(found.get(..n).unwrap_or_default());
            return Ok(n);
        }
        let (mut rest, mut at) = (wanted, offset);
        while !rest.is_empty() {
            let room = rest.len() as u64;
            let (place, n) = match self.find(at) {
                _ if at >= self.valid => (None, room),
                Some((place, n)) => (Some(place), n.min(room).min(self.valid - at)),
                None => (None, self.hole(at).min(room)),
            };
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(n as usize);
            match place {
                Some(place) => store.read_at(part, place)?,
                None => part.fill(0),
            }
            rest = tail;
            at = at.saturating_add(n);
        }
        Ok(len)
    }

    /// How many zeros there are from a place on that no piece covers.
    fn hole(&self, offset: u64) -> u64 {
        let next = self.pieces.partition_point(|piece| piece.start <= offset);
        self.pieces.get(next).map_or(u64::MAX, |piece| piece.start - offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn store() -> MemStore {
        let store = MemStore::new(4096);
        let bytes: Vec<u8> = (0..4096u32).map(|n| (n / 16) as u8).collect();
        store.write_at(&bytes, 0).expect("memory");
        store
    }

    #[test]
    fn pieces_holes_and_ends_read_as_they_are() {
        let mut map = FileMap::new(100);
        map.add(0, 16, 1600, 4096).expect("it fits");
        map.add(16, 16, 1616, 4096).expect("it follows");
        map.add(64, 64, 16, 4096).expect("it is cut at the end");
        assert_eq!(map.pieces.len(), 2, "neighbours are one");
        map.valid_to(90);
        let mut all = [9; 200];
        assert_eq!(map.read(&store(), &mut all, 0).expect("read"), 100);
        let want = [vec![100; 16], vec![101; 16], vec![0; 32], vec![1; 16], vec![2; 10], vec![0; 10]];
        assert_eq!(all.get(..100), Some(&*want.concat()));
        for offset in 0..100 {
            let mut some = [9; 7];
            let n = map.read(&store(), &mut some, offset).expect("read");
            let from = offset as usize;
            assert_eq!(some.get(..n), all.get(from..(from + 7).min(100)), "{offset}");
        }
        assert_eq!(map.read(&store(), &mut all, 100).expect("read"), 0);
        assert_eq!(map.read(&store(), &mut all, u64::MAX).expect("read"), 0);
    }

    #[test]
    fn what_can_not_be_is_refused() {
        let mut map = FileMap::new(1 << 40);
        assert!(map.add(0, 16, 4090, 4096).is_err(), "past the medium's end");
        assert!(map.add(0, 16, u64::MAX, 4096).is_err());
        map.add(0, 16, 0, 4096).expect("it fits");
        assert!(map.add(8, 16, 64, 4096).is_err(), "over another");
        map.broken_from(16);
        assert!(map.read(&store(), &mut [0; 17], 0).is_err());
        assert_eq!(map.read(&store(), &mut [0; 16], 0).expect("so far it is known"), 16);
    }
}
