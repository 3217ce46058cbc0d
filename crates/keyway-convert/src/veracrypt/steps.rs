//! The steps of each conversion, in order.

use super::areas::{HEAD, PAGE, end_group, first_record, header_page, list_at, noise};
use super::plan::VeraCryptPlan;
use super::used_space::Rest;
use crate::ConvertError;
use crate::marker::{ConversionKind, tail};
use crate::step::{Keyed, Step, moving, wiping};
use keyway_volume::veracrypt::HEADERS_BYTES;
use std::ops::Range;

impl VeraCryptPlan {
    pub(super) fn encrypt(&self) -> Result<Vec<Step>, ConvertError> {
        let m = &self.marker;
        let moved_to = HEADERS_BYTES;
        let mut steps = vec![
            moving(0, (0, None), (m.park, self.new_key(0)), HEAD),
            Step::Put(vec![(0, m.to_bytes()), (PAGE, noise(HEAD - PAGE)?)]),
        ];
        // From the last one on: a target may reach into the source of the next one.
        for range in self.stretches().into_iter().rev() {
            let (at, len) = (range.start, range.end - range.start);
            let stretch = moving(at, (at, None), (at + moved_to, self.new_key(at)), len);
            match self.free_below(&range) {
                Some([aside, back]) => steps.extend([aside, stretch, back]),
                None => steps.push(stretch),
            }
        }
        steps.push(moving(0, (m.park, self.new_key(0)), (moved_to, self.new_key(0)), HEAD));
        let Rest { filled, trimmed } = self.rest();
        steps.push(wiping(filled, true));
        if !trimmed.is_empty() {
            steps.push(Step::Trim(trimmed));
        }
        steps.extend([self.new_headers()?, self.last(true)]);
        Ok(steps)
    }

    pub(super) fn decrypt(&self) -> Result<Vec<Step>, ConvertError> {
        let m = &self.marker;
        let end = end_group(m.size);
        Ok(vec![
            moving(0, (HEADERS_BYTES, self.old_key(0)), (m.park, self.old_key(0)), PAGE),
            Step::Put(vec![(0, m.to_bytes()), (end, noise(PAGE)?)]),
            moving(PAGE, (HEADERS_BYTES + PAGE, self.old_key(PAGE)), (PAGE, None), m.moved - PAGE),
            wiping(Some(m.moved..end), false),
            moving(0, (m.park, self.old_key(0)), (0, None), PAGE),
            self.last(false),
        ])
    }

    pub(super) fn reencrypt(&self) -> Result<Vec<Step>, ConvertError> {
        let m = &self.marker;
        let end = end_group(m.size);
        let area = HEADERS_BYTES;
        Ok(vec![
            Step::Put(vec![(0, m.to_bytes()), (end, noise(PAGE)?)]),
            moving(0, (area, self.old_key(0)), (area, self.new_key(0)), m.moved),
            wiping([PAGE..area, end + PAGE..first_record(m.size)], true),
            self.new_headers()?,
            self.last(true),
        ])
    }

    /// The backup header, and last the primary one in the place of the marker.
    fn new_headers(&self) -> Result<Step, ConvertError> {
        let [primary, backup] = &self.marker.new;
        let end = end_group(self.marker.size);
        let group = header_page(backup, self.traces().start.saturating_sub(end))?;
        Ok(Step::Put(vec![(end, group), (0, header_page(primary, PAGE)?)]))
    }

    /// What is left of the conversion: the journal's records, their heads, what they need, and last the marker by which all
    /// of it is found.
    fn last(&self, noise: bool) -> Step {
        let size = self.marker.size;
        let traces = match self.marker.kind {
            ConversionKind::Decryption => end_group(size)..tail(size),
            _ => self.traces(),
        };
        let records = first_record(size).max(traces.start)..tail(size);
        let list = traces.start.max(list_at(size)).min(records.start);
        let (heads, list) = (traces.start..list, list..records.start);
        wiping([records, heads, list, tail(size)..size].into_iter().filter(|range| !range.is_empty()), noise)
    }

    /// Where a conversion into a volume keeps what it needs until the headers are there: the journal's records, before them
    /// the list of what is moved, where there is one, and before that the heads, where they are not among the records.
    fn traces(&self) -> Range<u64> {
        let size = self.marker.size;
        let list = if self.marker.used.is_some() { list_at(size) } else { first_record(size) };
        let heads = self.marker.place.heads.first().copied().unwrap_or(list);
        list.min(heads)..tail(size)
    }

    fn old_key(&self, at: u64) -> Option<Keyed> {
        self.keys.old.as_ref().map(|key| key.from(at))
    }

    pub(super) fn new_key(&self, at: u64) -> Option<Keyed> {
        self.keys.new.as_ref().map(|key| key.from(at))
    }
}
