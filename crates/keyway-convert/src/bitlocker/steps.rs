//! The steps of a run, in order; see the module above.

use super::bad_clusters::{self, Kept};
use super::marker::{BitLockerMarker, PAGE, POINTER_AT, POINTER_BYTES, Work};
use crate::free_space::FreeSpace;
use crate::marker::{ConversionKind, JournalLocation};
use crate::step::{Keyed, Move, Side, Small, Step, Wipe, carry_out};
use keyway_cipher::SectorCipher;
use keyway_store::AlignedBuf;
use keyway_volume::bitlocker::HEAD_BYTES;
use std::ops::Range;
use std::sync::Arc;

const HEAD: u64 = HEAD_BYTES as u64;

/// Steps before the first stretch, pages of the file system and what is done to free space not counted.
const BEFORE: usize = 2;

/// The ciphers of the stretches, before and after; `None` is plain.
#[derive(Clone, Default)]
pub(super) struct Ciphers {
    pub(super) from: Option<Arc<SectorCipher>>,
    pub(super) to: Option<Arc<SectorCipher>>,
}

/// What the first step of the first run writes, besides the copy of the first sectors.
#[derive(Default)]
pub(super) struct Beginnings {
    /// The first half of each copy of the metadata.
    pub(super) head: Vec<u8>,
    /// The pages that are put into the file system.
    pub(super) pages: Vec<Vec<u8>>,
}

impl BitLockerMarker {
    /// The step that ends what can't be paused: the marker is in front, and the file system is kept off the
    /// metadata.
    pub(super) fn marking(work: &Work) -> u32 {
        u32::try_from(BEFORE - 1 + work.pages.len()).unwrap_or(u32::MAX)
    }

    /// The number of the first stretch's step.
    pub(super) fn before(&self, work: &Work) -> usize {
        BEFORE + work.pages.len() + usize::from(self.free != FreeSpace::Leave)
    }

    /// The stretch and the bytes of it that a place in the steps stands for.
    pub(super) fn stretch<'a>(&self, work: &'a Work, step: u32) -> Option<&'a Range<u64>> {
        let index = (step as usize).checked_sub(self.before(work))?;
        match self.kind {
            ConversionKind::Decryption => work.ranges.iter().rev().nth(index),
            _ => work.ranges.get(index),
        }
    }

    /// Whether that step comes before those that put the volume in front and wipe what is left.
    pub(super) fn is_before_the_end(&self, work: &Work, step: u32) -> bool {
        (step as usize) < self.before(work) + work.ranges.len()
    }

    /// All steps. Without ciphers they can only be counted. `head` is the metadata of the volume in its new
    /// state; `kept` is told why clusters could not be given back.
    pub(super) fn steps(
        &self,
        work: &Work,
        beginnings: &Beginnings,
        ciphers: &Ciphers,
        head: Option<&AlignedBuf>,
        kept: &Kept,
    ) -> Vec<Step> {
        let mut steps = vec![self.first(beginnings), Step::Put(vec![(0, self.to_bytes())])];
        for (i, target) in (0..).zip(&work.pages) {
            let side = |offset| Side { offset, key: None };
            let (from, to) = (side(self.spare + i * PAGE), side(*target));
            let logical = self.logical(*target);
            steps.push(Step::Move(Move { logical, from, to, len: PAGE, from_end: false }));
        }
        // First, so that whatever is paused later has it behind it: nothing in a paused volume says that it was wanted.
        match self.free {
            FreeSpace::Leave => {}
            FreeSpace::Fill => steps.push(Step::Wipe(Wipe { ranges: self.free_ranges(work), noise: true })),
            FreeSpace::Trim => steps.push(Step::Trim(self.free_ranges(work))),
        }
        let stretches: Vec<&Range<u64>> = match self.kind {
            ConversionKind::Decryption => work.ranges.iter().rev().collect(),
            _ => work.ranges.iter().collect(),
        };
        steps.extend(stretches.into_iter().map(|range| self.convert(range, ciphers)));
        match self.kind {
            ConversionKind::Decryption => {
                steps.extend(bad_clusters::steps(self, kept));
                steps.extend([self.file_system(), Step::Small(self.forget())]);
            }
            _ => steps.extend([Step::Small(self.volume(head)), Step::Small(self.leave())]),
        }
        steps
    }

    /// Of the first run: everything that lies in bytes which nobody uses.
    fn first(&self, beginnings: &Beginnings) -> Step {
        if !self.fresh {
            return Step::Small(vec![]);
        }
        let len = self.boot.end - self.boot.start;
        let patch = Some((POINTER_AT, self.under.to_vec()));
        let mut writes = vec![Small::Copy { from: 0, to: self.boot.start, len, patch }];
        let put = |at, bytes: &[u8]| Small::Put { at, bytes: bytes.to_vec() };
        writes.extend(self.copies.iter().map(|at| put(*at, &beginnings.head)));
        writes.extend((0..).zip(&beginnings.pages).map(|(i, page)| put(self.spare + i * PAGE, page)));
        Step::Small(writes)
    }

    /// A stretch, from one cipher to the other.
    pub(super) fn convert(&self, range: &Range<u64>, ciphers: &Ciphers) -> Step {
        let key = |cipher: &Option<Arc<SectorCipher>>| {
            cipher.as_ref().map(|cipher| Keyed {
                cipher: cipher.clone(),
                first_unit: range.start / u64::from(cipher.unit_bytes()),
            })
        };
        let side = |cipher| Side { offset: range.start, key: key(cipher) };
        let (len, from_end) = (range.end - range.start, self.kind == ConversionKind::Decryption);
        let (from, to) = (side(&ciphers.from), side(&ciphers.to));
        Step::Move(Move { logical: self.logical(range.start), from, to, len, from_end })
    }

    /// Which byte of the volume lies at a place that holds data.
    fn logical(&self, place: u64) -> u64 {
        if self.boot.contains(&place) { place - self.boot.start } else { place }
    }

    /// How many of the steps can be carried out while the volume is in use. Those that put a file system's
    /// first sectors back in their place can't: somebody might write to them meanwhile.
    pub(super) fn steps_in_use(&self, work: &Work) -> usize {
        let stretches = self.before(work) + work.ranges.len();
        if self.kind == ConversionKind::Decryption { stretches } else { stretches + 2 }
    }

    /// The volume is there, in the state that its metadata says.
    pub(super) fn volume(&self, head: Option<&AlignedBuf>) -> Vec<Small> {
        let head = head.map(|head| head.to_vec()).unwrap_or_default();
        let mut writes: Vec<Small> =
            self.copies.iter().map(|at| Small::Put { at: *at, bytes: head.clone() }).collect();
        if self.fresh {
            // What the file system had behind its first page.
            let range = PAGE..self.boot.end - self.boot.start;
            writes.push(Small::Fill { range, noise: true });
        }
        let patch = Some((POINTER_AT, self.pointer()));
        writes.push(Small::Copy { from: self.park(), to: 0, len: PAGE, patch });
        writes
    }

    /// The file system is there: with its first sector, the last to be written, so that nobody mounts it while that
    /// may still be done again.
    fn file_system(&self) -> Step {
        let (from, len, pointer) = (self.boot.start, self.boot.end - self.boot.start, self.pointer());
        Step::Act(Arc::new(move |store| {
            let first = u64::from(store.sector_bytes()).min(PAGE);
            let rest = Small::Copy { from: from + first, to: first, len: len - first, patch: None };
            let patch = Some((POINTER_AT, pointer.clone()));
            carry_out(store, vec![rest, Small::Copy { from, to: 0, len: first, patch }])
        }))
    }

    /// What the conversion left on a volume goes; last the pointer and the marker it points to.
    pub(super) fn leave(&self) -> Vec<Small> {
        let [first, second, _] = self.copies;
        let mut ranges = vec![first + HEAD..first + 2 * HEAD, second + HEAD..second + 2 * HEAD];
        ranges.extend([self.records(), self.work()]);
        let mut writes = self.segments(true);
        writes.extend(ranges.into_iter().map(zeros));
        writes.push(Small::Copy { from: self.park(), to: 0, len: PAGE, patch: None });
        writes.extend([zeros(self.park()..self.park() + PAGE), zeros(self.tail()..self.tail() + PAGE)]);
        writes
    }

    /// The same on a file system, with all that was the volume's.
    pub(super) fn forget(&self) -> Vec<Small> {
        let [first, second, third] = self.copies;
        let mut writes = self.segments(false);
        let whole = [first..first + 2 * HEAD, second..second + 2 * HEAD];
        let kept = self.boot.start..self.boot.start + PAGE;
        let rest = [third..third + HEAD, self.records().start..third + 2 * HEAD, kept.end..self.boot.end];
        writes.extend(whole.into_iter().chain(rest).map(zeros));
        // What the pointer hides is what the volume had there last, whoever wrote to it on the way.
        let pointer = POINTER_AT as usize..POINTER_AT as usize + POINTER_BYTES;
        writes.push(Small::Part { from: kept.start, to: 0, bytes: pointer });
        writes.extend([kept, self.tail()..self.tail() + PAGE].map(zeros));
        writes
    }

    /// The pointer goes from the first page of a file system that was not encrypted.
    pub(super) fn never_begun(&self) -> Vec<Small> {
        let patch = Some((POINTER_AT, self.under.to_vec()));
        vec![Small::Copy { from: 0, to: 0, len: PAGE, patch }]
    }

    /// The journal's segments among free bytes.
    fn segments(&self, noise: bool) -> Vec<Small> {
        if self.journal != JournalLocation::OnMedium
            || self.place.slots == Self::small_journal(self.copies).slots
        {
            return vec![];
        }
        self.place.segments().into_iter().map(|range| Small::Fill { range, noise }).collect()
    }
}

fn zeros(range: Range<u64>) -> Small {
    Small::Fill { range, noise: false }
}
