//! The steps of each conversion, in order.

use super::used::{Rest, list_at};
use super::{HEAD, PAGE, Plan, end_group, first_record};
use crate::ConvertError;
use crate::marker::{Kind, tail};
use crate::step::{Keyed, Move, Side, Step, Wipe};
use keyway_volume::veracrypt::{HEADERS_BYTES, Noise, SealedHeader};
use std::ops::Range;

impl Plan {
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

    /// What is left of the conversion: the journal's records, what they need, and last the marker by which all of
    /// it is found.
    fn last(&self, noise: bool) -> Step {
        let size = self.marker.size;
        let traces = match self.marker.kind {
            Kind::Decryption => end_group(size)..tail(size),
            _ => self.traces(),
        };
        let records = first_record(size).max(traces.start)..tail(size);
        let others = traces.start..records.start;
        wiping([records, others, tail(size)..size].into_iter().filter(|range| !range.is_empty()), noise)
    }

    /// Where a conversion into a volume keeps what it needs until the headers are there: the journal's records, and
    /// before them the list of what is moved, where there is one.
    fn traces(&self) -> Range<u64> {
        let size = self.marker.size;
        let start = if self.marker.used.is_some() { list_at(size) } else { first_record(size) };
        start..tail(size)
    }

    fn old_key(&self, at: u64) -> Option<Keyed> {
        self.keys.old.as_ref().map(|key| key.from(at))
    }

    pub(super) fn new_key(&self, at: u64) -> Option<Keyed> {
        self.keys.new.as_ref().map(|key| key.from(at))
    }
}

impl Keyed {
    /// For a side that begins that many bytes later.
    pub(crate) fn from(&self, at: u64) -> Self {
        let units = at / u64::from(self.cipher.unit_bytes());
        Self { cipher: self.cipher.clone(), first_unit: self.first_unit + units }
    }
}

pub(super) fn moving(logical: u64, from: (u64, Option<Keyed>), to: (u64, Option<Keyed>), len: u64) -> Step {
    let from_end = to.0 > from.0;
    let side = |(offset, key)| Side { offset, key };
    Step::Move(Move { logical, from: side(from), to: side(to), len, from_end })
}

pub(crate) fn wiping(ranges: impl IntoIterator<Item = Range<u64>>, noise: bool) -> Step {
    Step::Wipe(Wipe { ranges: ranges.into_iter().collect(), noise })
}

/// A header with noise behind it.
pub(crate) fn header_page(header: &SealedHeader, len: u64) -> Result<Vec<u8>, ConvertError> {
    let mut page = noise(len)?;
    for (to, from) in page.iter_mut().zip(header.bytes()) {
        *to = *from;
    }
    Ok(page)
}

pub(crate) fn noise(len: u64) -> Result<Vec<u8>, ConvertError> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    Noise::new()?.fill(&mut bytes);
    Ok(bytes)
}
