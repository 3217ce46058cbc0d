//! Bytes that could not be written to the medium, and were not since.
//!
//! Whoever wrote them was told; but that is often the kernel, which tells only who asks for a flush, and many don't. So
//! it is remembered until the end.

use std::fmt::Display;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// More places than that are counted, and not forgotten any more when they are written after all.
const PLACES: usize = 1024;

/// The places, which most devices never have.
#[derive(Default)]
pub(crate) struct Unwritten {
    any: AtomicBool,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    known: Vec<Range<u64>>,
    /// Bytes at others.
    more: u64,
    /// Why the first of them failed.
    why: Option<String>,
}

impl Unwritten {
    /// A write there failed: of it may be there what there was, or anything.
    pub(crate) fn failed(&self, offset: u64, len: u64, why: &dyn Display) {
        let failed = offset..offset.saturating_add(len);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.take_out(&failed);
        places.why.get_or_insert_with(|| why.to_string());
        match places.known.len() < PLACES {
            true => places.known.push(failed),
            false => places.more = places.more.saturating_add(len),
        }
        self.any.store(true, Ordering::Release);
    }

    /// A write there went well.
    #[inline]
    pub(crate) fn written(&self, offset: u64, len: u64) {
        if self.any.load(Ordering::Acquire) {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.take_out(&(offset..offset.saturating_add(len)));
            // Under the lock, as it is set: later writes need not look any more.
            let any = !places.known.is_empty() || places.more > 0;
            places.why = places.why.take().filter(|_| any);
            self.any.store(any, Ordering::Release);
        }
    }

    /// Why the first of them failed, where there are any.
    pub(crate) fn why(&self) -> Option<String> {
        let any = self.any.load(Ordering::Acquire);
        any.then(|| self.places.lock().unwrap_or_else(PoisonError::into_inner).why.clone())?
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> u64 {
        if !self.any.load(Ordering::Acquire) {
            return 0;
        }
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.known.iter().fold(places.more, |sum, place| sum.saturating_add(place.end - place.start))
    }
}

impl Places {
    fn take_out(&mut self, range: &Range<u64>) {
        let mut left = Vec::with_capacity(self.known.len());
        for place in self.known.drain(..) {
            let (before, behind) =
                (place.start..place.end.min(range.start), place.start.max(range.end)..place.end);
            left.extend([before, behind].into_iter().filter(|part| part.start < part.end));
        }
        self.known = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_counted_until_it_is_written() {
        let unwritten = Unwritten::default();
        unwritten.written(0, 4096);
        assert_eq!(unwritten.bytes(), 0);
        unwritten.failed(4096, 4096, &"no space");
        unwritten.failed(4096, 8192, &"no drive");
        assert_eq!(unwritten.bytes(), 8192, "twice at one place is one");
        assert_eq!(unwritten.why().as_deref(), Some("no space"), "the first is the cause");
        unwritten.written(6144, 2048);
        assert_eq!(unwritten.bytes(), 6144, "of its middle both ends are left");
        unwritten.written(0, 5120);
        assert_eq!(unwritten.bytes(), 5120);
        unwritten.written(0, 1 << 20);
        assert_eq!(unwritten.bytes(), 0);
        assert!(!unwritten.any.load(Ordering::Acquire), "later writes take no lock");
        unwritten.failed(0, 512, &"no drive");
        assert_eq!(unwritten.why().as_deref(), Some("no drive"), "what was written after all is no cause");
    }

    #[test]
    fn more_places_than_are_kept_stay() {
        let unwritten = Unwritten::default();
        for n in 0..PLACES as u64 + 3 {
            unwritten.failed(n * 8192, 512, &"no space");
        }
        unwritten.written(0, u64::MAX);
        assert_eq!(unwritten.bytes(), 3 * 512);
    }
}
