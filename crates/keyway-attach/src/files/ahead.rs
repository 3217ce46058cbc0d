//! Reads on where a file is read from its beginning to its end. The kernel asks for 128 KiB at a time, and no user but root
//! can tell it to ask for more: two such under way keep neither a drive busy nor more than one CPU.
//!
//! Whoever has answered a request looks whether there is something to read ahead, and does it before it takes the next
//! one; so nobody waits for what is not under way.

use keyway_store::AlignedBuf;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that are read ahead at a time, and how often for one file.
const CHUNK: usize = 512 << 10;
const DEPTH: usize = 4;
/// Files that are read so at once. With all of them it is 16 MiB.
const STREAMS: usize = 8;
/// So many requests in a row make a file one that is read to its end.
const ROW: u32 = 2;
/// Requests that are under way together come in any order, so far apart.
const APART: u64 = 256 << 10;

/// What is read ahead.
#[derive(Default)]
pub(super) struct Ahead {
    /// The one that was used last is the last.
    streams: Mutex<Vec<Stream>>,
}

/// A file that is read.
struct Stream {
    node: u64,
    /// Where the next request begins, if it goes on.
    next: u64,
    row: u32,
    /// Where the next chunk begins; nothing is left to be read where there is none.
    end: Option<u64>,
    chunks: VecDeque<Arc<Chunk>>,
}

/// A piece that is read ahead.
pub(super) struct Chunk {
    /// Where it begins.
    pub(super) start: u64,
    content: Mutex<Content>,
    there: Condvar,
}

enum Content {
    UnderWay,
    /// So many bytes of it; fewer than there is room for at the file's end.
    There(AlignedBuf, usize),
    /// It could not be read: whoever wants it finds out why.
    Failed,
}

impl Ahead {
    fn streams(&self) -> MutexGuard<'_, Vec<Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills `buf` with what was read ahead; waits for what is under way. `None` where it was not, or failed.
    pub(super) fn take(&self, node: u64, buf: &mut [u8], offset: u64) -> Option<usize> {
        let covers = |chunk: &&Arc<Chunk>| {
            let within = offset.checked_sub(chunk.start);
            within.is_some_and(|within| within.saturating_add(buf.len() as u64) <= CHUNK as u64)
        };
        let chunk = {
            let streams = self.streams();
            let stream = streams.iter().find(|stream| stream.node == node)?;
            Arc::clone(stream.chunks.iter().find(covers)?)
        };
        let mut content = chunk.content.lock().unwrap_or_else(PoisonError::into_inner);
        while matches!(*content, Content::UnderWay) {
            content = chunk.there.wait(content).unwrap_or_else(PoisonError::into_inner);
        }
        let Content::There(bytes, len) = &*content else { return None };
        let from = usize::try_from(offset.checked_sub(chunk.start)?).ok()?;
        let found = bytes.get(from.min(*len)..*len)?;
        let n = found.len().min(buf.len());
        buf.get_mut(..n)?.copy_from_slice(found.get(..n)?);
        Some(n)
    }

    /// Takes note of a request that was answered; what is to be read ahead now, if anything.
    pub(super) fn note(&self, node: u64, offset: u64, len: u64) -> Option<Arc<Chunk>> {
        let mut streams = self.streams();
        let end = offset.saturating_add(len);
        let new = || Stream { node, next: end, row: 0, end: Some(0), chunks: VecDeque::new() };
        let known = streams.iter().position(|stream| stream.node == node);
        let mut stream = known.map_or_else(new, |index| streams.remove(index));
        let goes_on = offset.abs_diff(stream.next) <= APART;
        if known.is_some() && goes_on {
            stream.row = stream.row.saturating_add(1);
            stream.next = stream.next.max(end);
        } else {
            stream = new();
        }
        // What lies so far behind was used.
        stream.chunks.retain(|chunk| chunk.start.saturating_add(CHUNK as u64 + APART) > offset);
        let begins = stream.end.map(|end| end.max(stream.next));
        let wanted = begins.filter(|_| stream.row >= ROW && stream.chunks.len() < DEPTH);
        let chunk = wanted.map(|start| {
            stream.end = Some(start.saturating_add(CHUNK as u64));
            let (content, there) = (Mutex::new(Content::UnderWay), Condvar::new());
            let chunk = Arc::new(Chunk { start, content, there });
            stream.chunks.push_back(Arc::clone(&chunk));
            chunk
        });
        if streams.len() >= STREAMS {
            streams.remove(0);
        }
        streams.push(stream);
        chunk
    }

    /// Reads a chunk by `read`, which is given the room for it.
    pub(super) fn fill(&self, node: u64, chunk: &Chunk, read: impl FnOnce(&mut [u8]) -> Option<usize>) {
        let mut bytes = AlignedBuf::zeroed(CHUNK);
        let read = read(&mut bytes).map(|len| len.min(CHUNK));
        if read.is_none_or(|len| len < CHUNK)
            && let Some(stream) = self.streams().iter_mut().find(|stream| stream.node == node)
        {
            stream.end = None;
        }
        *chunk.content.lock().unwrap_or_else(PoisonError::into_inner) = match read {
            Some(len) => Content::There(bytes, len),
            None => Content::Failed,
        };
        chunk.there.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(at: u64) -> u8 {
        (at / 1000 % 251) as u8
    }

    /// Reads as a file's of so many bytes would be; how many bytes came from what was read ahead.
    fn read(ahead: &Ahead, node: u64, size: u64, offset: u64, len: usize) -> u64 {
        let mut buf = vec![0; len];
        let taken = ahead.take(node, &mut buf, offset);
        if let Some(n) = taken {
            assert_eq!(n as u64, size.saturating_sub(offset).min(len as u64));
            assert!((offset..).zip(buf.iter().take(n)).all(|(at, found)| *found == byte(at)));
        }
        if let Some(chunk) = ahead.note(node, offset, len as u64) {
            ahead.fill(node, &chunk, |room| {
                let len = size.saturating_sub(chunk.start).min(room.len() as u64) as usize;
                (chunk.start..).zip(room.iter_mut().take(len)).for_each(|(at, to)| *to = byte(at));
                Some(len)
            });
        }
        taken.unwrap_or_default() as u64
    }

    #[test]
    fn a_file_that_is_read_to_its_end_is_read_ahead() {
        let (ahead, size, step) = (Ahead::default(), (5u64 << 20) + 77, 128u64 << 10);
        let taken: u64 =
            (0..size.div_ceil(step)).map(|n| read(&ahead, 1, size, n * step, step as usize)).sum();
        assert!(taken >= size - 4 * step, "{taken}");
        assert!(ahead.streams().iter().all(|stream| stream.chunks.len() <= DEPTH));
    }

    #[test]
    fn what_is_read_here_and_there_is_not() {
        let (ahead, size) = (Ahead::default(), 1 << 30);
        let taken: u64 = (0..500u64).map(|n| read(&ahead, 1, size, n * 7_919_000 % size, 4096)).sum();
        assert_eq!(taken, 0);
        for node in 0..20 {
            (0..9).for_each(|n| {
                read(&ahead, node, size, n * 4096, 4096);
            });
        }
        assert_eq!(ahead.streams().len(), STREAMS);
    }

    #[test]
    fn what_fails_is_left_to_who_wants_it() {
        let ahead = Ahead::default();
        let chunk = (0..9).find_map(|n| ahead.note(1, n * 4096, 4096)).expect("it goes on");
        ahead.fill(1, &chunk, |_| None);
        assert_eq!(ahead.take(1, &mut [0; 4096], chunk.start), None);
        assert!(ahead.note(1, 9 * 4096, 4096).is_none(), "no more of it");
    }
}
