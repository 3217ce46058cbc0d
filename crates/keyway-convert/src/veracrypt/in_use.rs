//! Used space only of a volume that is in use: where what is free is found meanwhile.
//!
//! Somebody may write to free space at any moment. So it counts as moved from the beginning on: it is under the new
//! cipher, and 128 KiB up, where it will be found when all is through. Only the 128 KiB just below a stretch can't be there:
//! the stretch is. But as much just above it is nobody's, which the stretch will move into. There they are until then:
//!
//! ```text
//!                          place on the medium, from below
//! as it is found           | the stretch                  | free below it |
//! the first step: aside    | the stretch                  | nobody's      |
//! the second: the stretch  | nobody's      | the stretch                  |
//! the third: back          | free below it | the stretch                  |
//! ```
//!
//! In between they are parked in another 128 KiB, in front of the parked first 128 KiB. Of stretches that are less than
//! that apart one is made.

use super::steps::moving;
use super::{HEAD, Plan, room};
use crate::mover::Reached;
use crate::step::Step;
use crate::veracrypt::FreeSpace;
use crate::{Conversion, ConvertError, Live};
use keyway_store::Store;
use keyway_volume::veracrypt::HEADERS_BYTES;
use std::ops::Range;
use std::sync::Arc;

/// How large a file system may be whose used space alone is to be encrypted on a medium of that size while the volume is
/// in use.
pub fn room_in_use(store_bytes: u64, on_medium: bool) -> u64 {
    room(store_bytes, on_medium).saturating_sub(HEAD)
}

/// The same ranges, in order; those with less than 128 KiB between them are one, and so are those first 128 KiB with
/// what begins so near behind them.
pub(super) fn far_apart(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut apart: Vec<Range<u64>> = Vec::new();
    for mut range in ranges {
        match apart.last_mut() {
            Some(last) if range.start - last.end < HEAD => last.end = range.end,
            Some(_) => apart.push(range),
            None => {
                if range.start < 2 * HEAD {
                    range.start = HEAD;
                }
                apart.push(range);
            }
        }
    }
    apart
}

impl Plan {
    /// The same encryption for a volume that is to be in use meanwhile. Where used space alone is moved, what is free
    /// counts as moved from the beginning on. Nothing is written.
    ///
    /// # Errors
    /// Free space is to be filled or trimmed; there is no room for what is parked.
    pub fn for_use(mut self) -> Result<Self, ConvertError> {
        if self.marker.used.is_some() {
            self.marker.free_is_new = self.marker.used == Some(FreeSpace::Leave);
            self.can_be_used()?;
            let least = self.marker.moved + HEADERS_BYTES;
            if self.parks() < least {
                return Err(ConvertError::NoRoom { missing: least - self.parks() });
            }
        }
        Ok(self)
    }

    /// Whether the volume can be in use while this conversion goes on. Nothing is changed.
    ///
    /// # Errors
    /// It leaves free space out, and was not begun for that.
    pub fn can_be_used(&self) -> Result<(), ConvertError> {
        if self.marker.used.is_none() || self.marker.free_is_new {
            return Ok(());
        }
        Err(ConvertError::Unsupported(
            "free space is left out of this conversion, and somebody might use it; go on without --online",
        ))
    }

    /// The volume's content where [`Conversion::run`] was paused; `store` is the one that is converted.
    ///
    /// # Errors
    /// See [`ConvertError`]; [`Plan::can_be_used`] says no.
    pub fn live(
        &self,
        conversion: &Conversion<'_>,
        store: Arc<dyn Store>,
    ) -> Result<(Live, Reached), ConvertError> {
        self.can_be_used()?;
        conversion.in_use_of(store, None, self.free_there())
    }

    /// Where what is parked begins.
    pub(super) fn parks(&self) -> u64 {
        let more = if self.marker.free_is_new { HEAD } else { 0 };
        self.marker.park.saturating_sub(more)
    }

    /// The steps before and after that of a stretch: with the free bytes below it that can't be in their place before.
    pub(super) fn free_below(&self, stretch: &Range<u64>) -> Option<[Step; 2]> {
        if !self.marker.free_is_new || stretch.start < 2 * HEAD {
            return None;
        }
        let at = stretch.start - HEAD;
        let place = |offset| (offset, self.new_key(at));
        let [above, parked, below] = [stretch.end, self.parks(), at + HEADERS_BYTES].map(place);
        Some([moving(at, above, parked.clone(), HEAD), moving(at, parked, below, HEAD)])
    }

    /// What counts as moved from the beginning on: all that is free but the last 128 KiB below each stretch.
    fn free_there(&self) -> Vec<Step> {
        if !self.marker.free_is_new {
            return vec![];
        }
        let stretches = self.stretches();
        let ends = stretches.iter().map(|range| range.start - HEAD).chain([self.marker.moved]);
        let free = std::iter::once(HEAD).chain(stretches.iter().map(|range| range.end)).zip(ends);
        let there = free.filter(|(from, to)| from < to).map(|(from, to)| {
            let place = (from + HEADERS_BYTES, self.new_key(from));
            moving(from, place.clone(), place, to - from)
        });
        there.collect()
    }
}
