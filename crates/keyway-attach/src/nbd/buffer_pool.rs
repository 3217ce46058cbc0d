//! Memory for large requests, limited for all connections together and for each.

use keyway_store::AlignedBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often whoever waits for room looks whether the server is being stopped.
const LOOK: Duration = Duration::from_millis(50);

/// Room for so many bytes.
pub(crate) struct BufferPool {
    bytes: usize,
    free: Mutex<usize>,
    freed: Condvar,
    /// Buffers that were used, for the next ones.
    spare: Mutex<Vec<AlignedBuf>>,
}

/// Some of it, for as long as this is kept.
pub(crate) struct TakenMemory<'a> {
    room: &'a BufferPool,
    bytes: usize,
}

impl BufferPool {
    pub(crate) const fn new(bytes: usize) -> Self {
        Self { bytes, free: Mutex::new(bytes), freed: Condvar::new(), spare: Mutex::new(Vec::new()) }
    }

    /// Waits until there is room for so many bytes, or for all that there can ever be; `None` when it is not worth
    /// waiting any more.
    pub(crate) fn take(&self, bytes: usize, closing: &dyn Fn() -> bool) -> Option<TakenMemory<'_>> {
        let bytes = bytes.min(self.bytes);
        let mut free = self.lock();
        while *free < bytes {
            if closing() {
                return None;
            }
            free = self.freed.wait_timeout(free, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= bytes;
        Some(TakenMemory { room: self, bytes })
    }

    /// A buffer that was used before, or an empty one.
    pub(crate) fn buffer(&self) -> AlignedBuf {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps a buffer for the next one, unless half of the room is kept already.
    pub(crate) fn give_back(&self, buffer: AlignedBuf) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: usize = spare.iter().map(AlignedBuf::capacity).sum();
        if kept + buffer.capacity() <= self.bytes / 2 {
            spare.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TakenMemory<'_> {
    fn drop(&mut self) {
        *self.room.lock() += self.bytes;
        self.room.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_comes_back_and_nobody_waits_for_ever() {
        let room = BufferPool::new(100);
        let never = || false;
        let first = room.take(60, &never).expect("there is room");
        assert!(room.take(60, &|| true).is_none());
        let second = room.take(40, &never).expect("there is room");
        drop(first);
        // More than there is: all of it.
        assert!(room.take(1000, &|| true).is_none());
        drop(second);
        assert_eq!(room.take(1000, &never).expect("all of it").bytes, 100);
        std::thread::scope(|scope| {
            let held = room.take(100, &never).expect("all of it");
            let waits = scope.spawn(|| room.take(1, &never).is_some());
            drop(held);
            assert!(waits.join().expect("no panic"));
        });
    }
}
