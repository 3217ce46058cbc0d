//! A medium lies at every write of what a conversion depends on: records, markers, headers, metadata, first pages, what is parked.
//! At the end everything is converted, or as it was, or an error has said so and `resume` goes on. It is never called done where
//! it is not, by the run or by `resume`, also where nothing is heard of the medium after its lie, and nothing could be
//! put right.
//!
//! `KEYWAY_SLOW=1 cargo test -p keyway-convert --test lying_conversion -- --nocapture | grep '^|'` tells all lies and prints
//! how they ended.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a helper of tests fails as a test does"
)]

mod support;

use keyway_convert::{ConversionKind, ConvertError, FreeSpace, JournalLocation, SlotTable, Stopped};
use keyway_store::Store;
use keyway_volume::bitlocker::{BOOT_BYTES, HEAD_BYTES};
use keyway_volume::veracrypt::HEADERS_BYTES;
use std::ops::Range;
use std::sync::Arc;
use support::bitlocker::Case as BitLocker;
use support::case::{Case as VeraCrypt, KINDS};
use support::cross_format::Case as CrossFormat;
use support::lying::{LiedTo, Lies, Lying, lie_everywhere};

/// So many lies are told of a conversion, where nobody asked for all.
fn some(few: usize) -> Option<usize> {
    std::env::var_os("KEYWAY_SLOW").is_none().then_some(few)
}

/// What is left of a range without others.
fn without(range: Range<u64>, mut out: Vec<Range<u64>>) -> Vec<Range<u64>> {
    out.sort_by_key(|range| range.start);
    let (mut from, mut left) = (range.start, Vec::new());
    for out in out.into_iter().filter(|out| out.start < range.end) {
        left.push(from..out.start);
        from = from.max(out.end);
    }
    left.push(from..range.end);
    left.into_iter().filter(|range| range.start < range.end).collect()
}

/// Segments of a journal: those of a file lie behind the medium.
fn segments(place: &SlotTable, behind: u64) -> Vec<Range<u64>> {
    place.segments().into_iter().map(|range| range.start + behind..range.end + behind).collect()
}

/// Where a journal's first record and first head are.
fn records(place: &SlotTable, behind: u64) -> [u64; 2] {
    [place.heads[0], place.slots[0].record + behind]
}

impl LiedTo for VeraCrypt {
    fn name(&self) -> &str {
        &self.name
    }

    fn image(&self) -> &[u8] {
        &self.image
    }

    fn counts(&self) -> Vec<Range<u64>> {
        let marker = &self.plan.marker;
        let content = match marker.kind {
            ConversionKind::Decryption => 4096..marker.moved,
            _ => HEADERS_BYTES..HEADERS_BYTES + marker.moved,
        };
        let kept = segments(&marker.place, self.file());
        without(0..self.image.len() as u64, std::iter::once(content).chain(kept).collect())
    }

    fn elsewhere(&self) -> Vec<u64> {
        let records = records(&self.plan.marker.place, self.file());
        [0, self.plan.marker.size - 4096].into_iter().chain(records).collect()
    }

    fn medium_bytes(&self) -> u64 {
        self.plan.marker.size
    }

    fn begin(&self, medium: &Arc<Lying>) -> Result<Stopped, ConvertError> {
        self.begin(&**medium)
    }

    fn resume(&self, medium: &Arc<Lying>) -> Option<Result<Stopped, ConvertError>> {
        self.resume(&**medium)
    }

    fn is_untouched(&self, medium: &[u8]) -> bool {
        !self.is_found(medium) && self.is_untouched(medium)
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        self.is_done(medium)
    }
}

/// Where the file of a journal begins on the medium that it is told with; 0 where there is none.
trait WithFile {
    fn file(&self) -> u64;
}

impl WithFile for VeraCrypt {
    fn file(&self) -> u64 {
        if self.plan.marker.journal == JournalLocation::OnMedium { 0 } else { self.plan.marker.size }
    }
}

impl LiedTo for CrossFormat {
    fn name(&self) -> &str {
        self.name
    }

    fn image(&self) -> &[u8] {
        &self.image
    }

    fn counts(&self) -> Vec<Range<u64>> {
        let content = self.plain.len() as u64;
        // In front of the content is a header, or the first page; of what becomes zeros some lies in it.
        let content = 4096..HEADERS_BYTES + content;
        let kept = segments(&self.plan.mark().place(), self.size as u64);
        without(0..self.image.len() as u64, std::iter::once(content).chain(kept).collect())
    }

    fn elsewhere(&self) -> Vec<u64> {
        let records = records(&self.plan.mark().place(), self.size as u64);
        [0, self.size as u64 - 4096].into_iter().chain(records).collect()
    }

    fn medium_bytes(&self) -> u64 {
        self.size as u64
    }

    fn begin(&self, medium: &Arc<Lying>) -> Result<Stopped, ConvertError> {
        self.begin(&**medium, &())
    }

    fn resume(&self, medium: &Arc<Lying>) -> Option<Result<Stopped, ConvertError>> {
        self.resume(&**medium)
    }

    fn is_untouched(&self, medium: &[u8]) -> bool {
        self.is_untouched(medium)
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        self.is_done(medium)
    }
}

/// With where its metadata is.
struct OfBitLocker {
    case: BitLocker,
    copies: [u64; 3],
    place: SlotTable,
}

impl OfBitLocker {
    fn new(case: BitLocker) -> Self {
        let store: Arc<dyn Store> = Arc::new(keyway_store::MemStore::from_vec(case.image.clone()));
        let plan = case.plan(&store).expect("planned");
        Self { copies: plan.mark().copies, place: plan.mark().place.clone(), case }
    }
}

impl LiedTo for OfBitLocker {
    fn name(&self) -> &str {
        self.case.name
    }

    fn image(&self) -> &[u8] {
        &self.case.image
    }

    fn counts(&self) -> Vec<Range<u64>> {
        let copies = self.copies.iter().map(|at| *at..at + 2 * HEAD_BYTES as u64);
        let kept = segments(&self.place, 0);
        copies.chain(std::iter::once(0..BOOT_BYTES)).flat_map(|range| without(range, kept.clone())).collect()
    }

    fn elsewhere(&self) -> Vec<u64> {
        let [first, _, third] = self.copies;
        [0, first, third, third + HEAD_BYTES as u64].into_iter().chain(records(&self.place, 0)).collect()
    }

    fn medium_bytes(&self) -> u64 {
        self.case.image.len() as u64
    }

    /// The pointer is put into a page that has no copy yet, and taken from one whose copy goes.
    fn has_another_first_page(&self) -> bool {
        false
    }

    fn begin(&self, medium: &Arc<Lying>) -> Result<Stopped, ConvertError> {
        let store: Arc<dyn Store> = medium.clone();
        self.case.begin(&store)
    }

    fn resume(&self, medium: &Arc<Lying>) -> Option<Result<Stopped, ConvertError>> {
        let store: Arc<dyn Store> = medium.clone();
        Some(self.case.resume(&store))
    }

    fn is_untouched(&self, _: &[u8]) -> bool {
        // What had not begun is begun again.
        false
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        self.case.is_done(medium)
    }
}

fn something_was_refused(name: &str, all: &[Lies]) {
    // A harness that never gets through to the conversion would pass everything.
    assert!(all.iter().all(|ends| ends.resumed > ends.told / 8), "{name}: {all:?}");
}

#[test]
fn of_veracrypt_volumes() {
    let cases = KINDS.map(VeraCrypt::new).into_iter().chain(KINDS.map(VeraCrypt::with_a_file));
    let used = [FreeSpace::Leave, FreeSpace::Fill, FreeSpace::Trim].map(VeraCrypt::used_only);
    let all: Vec<_> = cases.chain(used).map(|case| lie_everywhere(&case, some(24))).collect();
    something_was_refused("VeraCrypt", &all);
}

#[test]
fn from_one_format_to_the_other() {
    let all: Vec<_> = CrossFormat::all().iter().map(|case| lie_everywhere(case, some(24))).collect();
    something_was_refused("from one to the other", &all);
}

#[test]
fn of_bitlocker_volumes() {
    let cases = [
        BitLocker::encryption("BitLocker, encryption", false, false, false),
        BitLocker::encryption("BitLocker, encryption of a FAT, paused", true, true, false),
        BitLocker::encryption("BitLocker, used space only", true, false, true),
        BitLocker::reencryption("BitLocker, re-encryption", false, false, false),
        BitLocker::reencryption("BitLocker, re-encryption of used space", true, false, true),
        BitLocker::decryption("BitLocker, decryption", false, false),
        BitLocker::decryption("BitLocker, decryption of a FAT, paused", true, true),
    ];
    let cases = cases.into_iter().flatten().map(OfBitLocker::new);
    let all: Vec<_> = cases.map(|case| lie_everywhere(&case, some(10))).collect();
    something_was_refused("BitLocker", &all);
}
