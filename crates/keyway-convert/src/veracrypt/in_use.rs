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

use super::areas::{HEAD, content_capacity};
use super::plan::VeraCryptPlan;
use crate::free_space::FreeSpace;
use crate::mover::Checkpoint;
use crate::step::{Step, moving};
use crate::{Conversion, ConvertError, Live, Stopped};
use keyway_error::Advice;
use keyway_store::Store;
use keyway_volume::veracrypt::HEADERS_BYTES;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// How large a file system may be whose used space alone is to be encrypted on a medium of that size while the volume is
/// in use.
pub fn capacity_in_use(store_bytes: u64, on_medium: bool) -> u64 {
    content_capacity(store_bytes, on_medium).saturating_sub(HEAD)
}

impl VeraCryptPlan {
    /// The same encryption for a volume that is to be in use meanwhile. Where used space alone is moved, what is free
    /// counts as moved from the beginning on. Nothing is written.
    ///
    /// # Errors
    /// Free space is to be filled or trimmed; there is no room for what is parked.
    pub fn for_use(mut self) -> Result<Self, ConvertError> {
        if self.marker.used.is_some() && self.found.is_none() {
            self.marker.free_is_new = self.marker.used == Some(FreeSpace::Leave);
            let least = self.marker.moved + HEADERS_BYTES;
            if self.parks() < least {
                return Err(ConvertError::NoRoom { missing: least - self.parks() });
            }
        }
        self.can_be_used()?;
        Ok(self)
    }

    /// The part of the conversion that goes on while the volume is in use: all of it.
    ///
    /// # Errors
    /// [`VeraCryptPlan::can_be_used`] says no.
    pub fn conversion_in_use<'a>(
        &self,
        store: &'a dyn Store,
        journal: Option<&'a dyn Store>,
    ) -> Result<Conversion<'a>, ConvertError> {
        self.can_be_used()?;
        Ok(self.conversion(store, journal)?.in_small_segments())
    }

    /// Begins, or goes on, up to the marker, before which nothing may change; done where there is nothing left to convert.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn begin_in_use(&self, conversion: &Conversion<'_>) -> Result<Stopped, ConvertError> {
        self.run(conversion, &|_: u64, _: u64| ControlFlow::Break(()))
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
            "free space is left out of this conversion, and somebody might use it",
            Advice::GoOnOffline,
        ))
    }

    /// The volume's content where [`Conversion::run`] was paused; `store` is the one that is converted.
    ///
    /// # Errors
    /// See [`ConvertError`]; [`VeraCryptPlan::can_be_used`] says no.
    pub fn live(
        &self,
        conversion: &Conversion<'_>,
        store: Arc<dyn Store>,
    ) -> Result<(Live, Checkpoint), ConvertError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Move;
    use keyway_secret::SecretBytes;
    use keyway_store::MemStore;
    use keyway_testkit::Rng;
    use keyway_volume::Secrets;
    use keyway_volume::veracrypt::{BACKUP_GROUP_BYTES, Fill, HashName, NewVolume};

    const PAGE: u64 = 4096;
    const SEGMENT: u64 = 48 << 10;

    /// Stretches of random lengths, some short and near each other, some not.
    fn stretches(rng: &mut Rng, moved: u64) -> Vec<Range<u64>> {
        let (mut all, mut at) = (vec![], 0);
        loop {
            let most = [40, 200, 1000][rng.below(3) as usize];
            let start = at + PAGE * (u64::from(at > 0) + rng.below(most / 8));
            let end = start + PAGE * (1 + rng.below(most / 4));
            if end > moved {
                return all;
            }
            all.push(start..end);
            at = end;
        }
    }

    fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
        one.start < other.end && other.start < one.end
    }

    /// Where the content is: each byte once, and no two in one place.
    fn places(live: &Live, plan: &VeraCryptPlan) -> Vec<(Range<u64>, Range<u64>)> {
        let (mut places, mut behind) = (live.mapped_ranges(), 0);
        for (content, place) in &places {
            assert_eq!(content.start, behind, "each byte of the content is somewhere");
            behind = content.end;
            let possible = HEADERS_BYTES <= place.start && place.end <= plan.marker.size - BACKUP_GROUP_BYTES;
            assert!(possible, "{place:?} is not the content's");
            assert!(plan.marker.place.segments().iter().all(|segment| !overlap(segment, place)));
        }
        assert_eq!(behind, plan.marker.moved);
        places.sort_by_key(|(_, place)| place.start);
        for pair in places.windows(2) {
            let [(one, low), (other, high)] = pair else { continue };
            assert!(low.end <= high.start, "{one:?} and {other:?} are both at {high:?}");
        }
        places
    }

    #[test]
    fn no_two_bytes_ever_have_one_place_and_no_target_is_anybody_elses() {
        let mut rng = Rng::new(8);
        let password = SecretBytes::copy_of(b"a password that is long");
        let secrets = Secrets { password, keyfiles: vec![], pim: Some(1) };
        let cipher = "aes".parse().expect("a cipher");
        let wish = NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
        let store = Arc::new(MemStore::new(8 << 20));
        let moved = capacity_in_use(store.size(), true);
        let planned = super::super::encryption(&*store, moved, &wish, None).expect("planned");
        let (mut moments, mut stretches_moved) = (0, 0);
        for _ in 0..60 {
            let again = planned.without_list();
            let plan = again.of_used(stretches(&mut rng, moved), FreeSpace::Leave).expect("possible");
            let plan = plan.for_use().expect("possible");
            let steps = plan.encrypt().expect("planned");
            stretches_moved += plan.stretches().len();
            let at = |step: u32, done| {
                Live::new(store.clone(), None, (&plan.free_there(), &steps), step, done).expect("all of it")
            };
            // From where it begins to be in use: the marker is in front.
            let live = at(2, 0);
            for (number, step) in steps.iter().enumerate().skip(2) {
                let m: &Move = match step {
                    Step::Move(m) => m,
                    Step::Wipe(wipe) => {
                        let places = places(&live, &plan);
                        let met = |range| places.iter().any(|(_, place)| overlap(place, range));
                        assert!(!wipe.ranges.iter().any(met), "step {number} wipes what is in use");
                        continue;
                    }
                    _ => continue,
                };
                let mut done = 0;
                while done < m.len {
                    let len = SEGMENT.min(m.len - done);
                    let first = m.segment(done, len);
                    let (content, place) = (m.logical + first, m.from.offset + first);
                    let target = m.to.offset + first..m.to.offset + first + len;
                    for (other, its) in places(&live, &plan) {
                        if other.start <= content && content < other.end {
                            assert_eq!(its.start + (content - other.start), place, "it is where it is read");
                        }
                        // But for the segment itself.
                        for part in
                            [other.start..other.end.min(content), other.start.max(content + len)..other.end]
                        {
                            let from = its.start + part.start.saturating_sub(other.start);
                            let its = from..from + part.end.saturating_sub(part.start);
                            assert!(part.is_empty() || !overlap(&its, &target), "{part:?} is at {its:?}");
                        }
                    }
                    done += len;
                    live.moved(m, first, len);
                    // Told from the beginning it is the same.
                    let places = [places(&live, &plan), places(&at(number as u32, done), &plan)];
                    for (content, place) in places.iter().flatten() {
                        let other = places.iter().flatten().filter(|(other, _)| overlap(other, content));
                        for (other, its) in other {
                            assert_eq!(its.start + content.start, place.start + other.start);
                        }
                    }
                    moments += 1;
                }
            }
            let done = places(&live, &plan);
            assert!(done.iter().all(|(content, place)| content.start + HEADERS_BYTES == place.start));
        }
        assert!(moments > 3000 && stretches_moved > 200, "{moments}, {stretches_moved}");
    }

    #[test]
    fn what_can_not_be_in_use_is_refused() {
        let password = SecretBytes::copy_of(b"a password that is long");
        let secrets = Secrets { password, keyfiles: vec![], pim: Some(1) };
        let cipher = "aes".parse().expect("a cipher");
        let wish = NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
        let store = MemStore::new(8 << 20);
        let plan = |moved, free| {
            let plan = super::super::encryption(&store, moved, &wish, None).expect("planned");
            plan.of_used(vec![0..PAGE, 2 * PAGE..3 * PAGE], free).expect("possible")
        };
        let (most, more) = (capacity_in_use(store.size(), true), content_capacity(store.size(), true));
        assert!(plan(most, FreeSpace::Leave).for_use().is_ok());
        assert!(plan(most, FreeSpace::Leave).can_be_used().is_err(), "it was not made for that");
        let too_large = plan(more, FreeSpace::Leave).for_use();
        assert!(matches!(too_large, Err(ConvertError::NoRoom { missing }) if missing == HEAD));
        for free in [FreeSpace::Fill, FreeSpace::Trim] {
            assert!(matches!(plan(most, free).for_use(), Err(ConvertError::Unsupported(..))));
        }
    }
}
