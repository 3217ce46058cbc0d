//! The steps of a conversion from one format to the other, in order; see the module above.

use super::marker::{CrossFormatMarker, Direction};
use super::sheet::{PAGE, Sheet};
use crate::ConvertError;
use crate::marker::tail;
use crate::ranges::without;
use crate::step::{Keyed, Side, Step, moving, wiping};
use crate::veracrypt::{end_group, header_page, noise};
use keyway_cipher::SectorCipher;
use keyway_volume::veracrypt::HEADERS_BYTES;
use std::ops::Range;
use std::sync::Arc;

/// The step that puts the marker in front.
pub(super) const MARKING: u32 = 0;

/// The ciphers of both volumes; of the VeraCrypt one from the first byte of its content on.
#[derive(Clone, Default)]
pub(super) struct CrossFormatKeys {
    pub(super) veracrypt: Option<Keyed>,
    pub(super) bitlocker: Option<Arc<SectorCipher>>,
}

impl CrossFormatKeys {
    /// Content from that byte on, in the BitLocker volume; it lies at `place`.
    fn bitlocker(&self, place: u64) -> Side {
        let key = self.bitlocker.as_ref().map(|cipher| Keyed {
            cipher: cipher.clone(),
            first_unit: place / u64::from(cipher.unit_bytes()),
        });
        Side { offset: place, key }
    }

    /// Content from that byte on, in the VeraCrypt volume; it lies in its own place, or is parked.
    fn veracrypt(&self, logical: u64, parked: Option<u64>) -> Side {
        let key = self.veracrypt.as_ref().map(|key| key.from(logical));
        Side { offset: parked.unwrap_or(HEADERS_BYTES + logical), key }
    }
}

impl Sheet {
    /// All steps. Without keys they can only be counted.
    pub(super) fn steps(
        &self,
        mark: &CrossFormatMarker,
        keys: &CrossFormatKeys,
    ) -> Result<Vec<Step>, ConvertError> {
        match mark.direction {
            Direction::ToBitLocker => self.to_bitlocker(mark, keys),
            Direction::ToVeraCrypt => self.to_veracrypt(mark, keys),
        }
    }

    fn to_bitlocker(
        &self,
        mark: &CrossFormatMarker,
        keys: &CrossFormatKeys,
    ) -> Result<Vec<Step>, ConvertError> {
        let (size, first, heads) = (self.size, self.boot_bytes(), heads(mark));
        let mut volume: Vec<_> = self.copies.iter().map(|at| (*at, self.region())).collect();
        volume.push((0, self.first_page.clone()));
        Ok(vec![
            // No program shall take the volume for whole by its backup header.
            Step::Put(vec![(0, mark.to_bytes()), (end_group(size), noise(PAGE)?)]),
            moving(0, keys.veracrypt(0, None), keys.bitlocker(self.boot.start), first),
            moving(first, keys.veracrypt(first, None), keys.bitlocker(first), self.content - first),
            wiping(
                [PAGE..first, self.content..self.boot.start]
                    .into_iter()
                    .chain(without(std::slice::from_ref(&(self.boot.end..tail(size))), &heads)),
                true,
            ),
            Step::Put(volume),
            wiping(heads.into_iter().chain(std::iter::once(tail(size)..size)), true),
        ])
    }

    fn to_veracrypt(
        &self,
        mark: &CrossFormatMarker,
        keys: &CrossFormatKeys,
    ) -> Result<Vec<Step>, ConvertError> {
        let (size, first, heads) = (self.size, self.boot_bytes(), heads(mark));
        let parked = || keys.veracrypt(0, Some(self.park));
        let mut steps = vec![
            Step::Put(vec![(0, mark.to_bytes())]),
            moving(0, keys.bitlocker(self.boot.start), parked(), first),
        ];
        // From the last one on: a target may reach into the source of the next one.
        for (range, is_hole) in self.parts().into_iter().rev() {
            let (at, len) = (range.start, range.end - range.start);
            let to = keys.veracrypt(at, None);
            if is_hole {
                let mut zeros = vec![0; usize::try_from(len).unwrap_or_default()];
                to.encrypt(&mut zeros, 0);
                steps.push(Step::Put(vec![(to.offset, zeros)]));
            } else {
                steps.push(moving(at, keys.bitlocker(at), to, len));
            }
        }
        let [primary, backup] = &self.headers;
        let end = end_group(size);
        steps.extend([
            moving(0, parked(), keys.veracrypt(0, None), first),
            wiping(
                std::iter::once(PAGE..HEADERS_BYTES).chain(without(
                    std::slice::from_ref(&(HEADERS_BYTES + self.content..tail(size))),
                    &heads,
                )),
                true,
            ),
            Step::Put(vec![(end, header_page(backup, PAGE)?), (0, header_page(primary, PAGE)?)]),
            wiping(heads.into_iter().chain(std::iter::once(tail(size)..size)), true),
        ]);
        Ok(steps)
    }

    /// What the BitLocker volume has behind its first sectors, in order: data, and holes.
    pub(super) fn parts(&self) -> Vec<(Range<u64>, bool)> {
        let holes = self.holes();
        let all = self.boot_bytes()..self.content;
        let data = without(std::slice::from_ref(&all), &holes);
        let mut parts: Vec<_> = data.into_iter().map(|range| (range, false)).collect();
        parts.extend(holes.into_iter().map(|range| (range, true)));
        parts.sort_by_key(|(range, _)| range.start);
        parts
    }
}

/// The heads of the journal's records, which stay until the last step.
fn heads(mark: &CrossFormatMarker) -> Vec<Range<u64>> {
    Some(mark.heads()).filter(|heads| !heads.is_empty()).into_iter().collect()
}
