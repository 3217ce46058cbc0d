//! The power of the real code fails before every write and flush of each conversion of a BitLocker volume,
//! over and over; afterwards the conversion is resumed and every byte is right.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::FreeSpace;
use keyway_convert::bitlocker::{BitLockerPlan, find, how_far};
use keyway_convert::{ConversionKind, ConvertError, Stopped};
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_volume::bitlocker::is_volume;
use std::sync::Arc;
use support::bitlocker::{Case, content, opened, used_of_fat};
use support::cuts::{Interrupted, cut_over_and_over};
use support::faults::{Journal, after_any_fault};
use support::{Damage, Loss, Power};

/// Where a run that is not in front is told of, in the first sector's boot loader: 36 bytes.
const POINTER: std::ops::Range<usize> = 216..252;

fn cases() -> Vec<Case> {
    let cases = [
        Case::encryption("encryption, metadata at the end", false, false, false),
        Case::encryption("encryption of a FAT", true, false, false),
        Case::encryption("encryption, paused", true, true, false),
        Case::encryption("used space only", true, false, true),
        Case::reencryption("re-encryption", false, false, false),
        Case::reencryption("re-encryption of a FAT, paused", true, true, false),
        Case::reencryption("re-encryption, used space only", true, false, true),
        Case::decryption("decryption", false, false),
        Case::decryption("decryption of a FAT, paused", true, true),
        Case::encryption("encryption, kept whole", false, false, false).map(Case::kept_whole),
        Case::reencryption("re-encryption, kept whole", false, false, false).map(Case::kept_whole),
        Case::decryption("decryption, kept whole", false, false).map(Case::kept_whole),
    ];
    // What is paused while free space is filled waits for `resume`, with its marker in front.
    let filled = [("filled", false, FreeSpace::Fill), ("filled, paused", true, FreeSpace::Fill)];
    let free = filled.into_iter().chain([("trimmed", false, FreeSpace::Trim)]).map(|(name, pause, free)| {
        Case::encryption(name, true, pause, true).map(|case| Case { free, ..case })
    });
    cases.into_iter().chain(free).flatten().collect()
}

/// Cuts that each conversion is put through, at least: of each kind as many.
fn cuts_wanted(cases: &[Case], case: &Case) -> u64 {
    let same = cases.iter().filter(|other| other.kind == case.kind).count() as u64;
    if std::env::var_os("KEYWAY_SLOW").is_some() { 16_800 / same } else { 200 / same }
}

impl Interrupted for Case {
    fn name(&self) -> &str {
        self.name
    }

    fn image(&self) -> &[u8] {
        &self.image
    }

    fn damage(&self) -> Damage {
        Damage { in_place: self.in_place(), garbage: vec![] }
    }

    fn begin(&self, power: &Arc<Power>) -> Result<Stopped, ConvertError> {
        let store: Arc<dyn Store> = power.clone();
        self.begin(&store)
    }

    fn resume(&self, power: &Arc<Power>) -> Option<Result<Stopped, ConvertError>> {
        let store: Arc<dyn Store> = power.clone();
        if self.kind == ConversionKind::Reencryption {
            self.is_secret(&power.seen()).unwrap_or_else(|open| panic!("{}, after a cut: {open}", self.name));
        }
        Some(self.resume(&store))
    }

    fn is_untouched(&self, _medium: &[u8]) -> bool {
        // What had not begun is begun again.
        false
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        self.is_done(medium)
    }
}

#[test]
fn every_byte_is_right_after_any_loss_of_power() {
    let cases = cases();
    for case in &cases {
        cut_over_and_over(case, cuts_wanted(&cases, case));
    }
}

#[test]
fn every_single_error_is_an_error_and_resume_goes_on() {
    for case in cases() {
        let whole = Arc::new(FaultStore::new(MemStore::from_vec(case.image.clone()), FaultPlan::default()));
        let shared: Arc<dyn Store> = whole.clone();
        case.begin(&shared).expect("nothing fails");
        let steps = whole.steps();
        for n in (0..steps).step_by(if std::env::var_os("KEYWAY_SLOW").is_some() { 7 } else { 82 }) {
            let plans = [
                FaultPlan { writes_fail_from: Some((n, 5)), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { flushes_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { reads_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
            ];
            for plan in plans {
                let faulty = Arc::new(FaultStore::new(MemStore::from_vec(case.image.clone()), plan.clone()));
                let shared: Arc<dyn Store> = faulty.clone();
                let result = case.begin(&shared);
                drop(shared);
                let faulty = Arc::into_inner(faulty).expect("nobody else");
                let left: Arc<MemStore> = Arc::new(faulty.into_medium().expect("a medium"));
                if let Ok(done) = result {
                    assert_eq!(done, Stopped::Done, "there are fewer of these than steps");
                }
                let shared: Arc<dyn Store> = left.clone();
                let resumed = case.resume(&shared);
                assert_eq!(resumed.expect("goes on"), Stopped::Done, "{}, {plan:?}", case.name);
                let done = case.is_done(&left.snapshot());
                assert!(done.is_ok(), "{}, {plan:?}: {done:?}", case.name);
            }
        }
    }
}

/// A drive that brings back the first page of the time before the run, instead of the marker: it looks as if nothing had begun,
/// and whoever began would encrypt once more what is encrypted.
#[test]
fn an_old_first_page_does_not_make_a_run_one_that_had_not_begun() {
    let mut refused = 0;
    for case in cases().into_iter().filter(|case| case.kind == ConversionKind::Encryption) {
        let whole = Arc::new(Power::new(case.image.clone(), None));
        let shared: Arc<dyn Store> = whole.clone();
        case.begin(&shared).expect("nothing fails");
        for cut in (0..whole.steps()).step_by(19) {
            let power = Arc::new(Power::new(case.image.clone(), Some(cut)));
            let shared: Arc<dyn Store> = power.clone();
            let begun = case.begin(&shared);
            drop(shared);
            let mut medium = Arc::into_inner(power).expect("nobody else has it").left(Loss::Nothing);
            let found = find(&MemStore::from_vec(medium.clone())).expect("read");
            let Some(found) = found.filter(|found| found.in_front && begun.is_err()) else { continue };
            if !how_far(&found, &MemStore::from_vec(medium.clone()), None).is_ok_and(|(done, _)| done > 0) {
                continue;
            }
            // With the pointer that it got before the marker came in front.
            let pointer = medium[POINTER].to_vec();
            medium[..4096].copy_from_slice(&case.image[..4096]);
            medium[POINTER].copy_from_slice(&pointer);
            let store: Arc<MemStore> = Arc::new(MemStore::from_vec(medium.clone()));
            let shared: Arc<dyn Store> = store.clone();
            if case.resume(&shared).is_err() {
                assert!(
                    store.snapshot() == medium,
                    "{}, cut before {cut}: refused, and written to",
                    case.name
                );
                refused += 1;
            } else {
                let done = case.is_done(&store.snapshot());
                assert!(done.is_ok(), "{}, cut before {cut}: {done:?}", case.name);
            }
        }
    }
    assert!(refused > 10, "{refused}");
}

/// Filling free space is no state of the format: paused in it, nothing but the marker knows.
#[test]
fn what_is_paused_while_free_space_is_filled_goes_on_with_that() {
    let Some(case) = Case::encryption("filling", true, true, true) else { return };
    let case = Case { free: FreeSpace::Fill, ..case };
    let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
    assert_eq!(case.run(&case.plan(&store).expect("planned"), &store, true).expect("runs"), Stopped::Paused);
    let found = find(&store).expect("read").expect("still there");
    assert!(found.in_front && found.mark.free == FreeSpace::Fill);
    let (done, total) = how_far(&found, &store, None).expect("counted");
    assert!(done > 0 && done < total, "{done} of {total}");
    assert_eq!(case.resume(&store).expect("goes on"), Stopped::Done);
    let mut medium = vec![0; store.size() as usize];
    store.read_at(&mut medium, 0).expect("read");
    case.is_done(&medium).expect("filled, and every byte right");
    // Nothing but a first encryption of used space knows what is free.
    let plain = Case { used_only: false, ..case };
    let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(plain.image.clone()));
    assert!(matches!(plain.plan(&store), Err(ConvertError::Unsupported(..))));
}

/// A paused volume is an ordinary one: it opens, tells how far it is, can be written, and goes on.
#[test]
fn a_paused_volume_is_whole_and_both_ways_lead_on() {
    for used_only in [false, true] {
        let Some(case) = Case::encryption("paused", true, true, used_only) else { return };
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
        let plan = case.plan(&store).expect("planned");
        assert_eq!(case.run(&plan, &store, true).expect("runs"), Stopped::Paused);
        assert!(find(&store).expect("read").is_none(), "nothing of the run is left");
        let unlocked = opened(&store, &case.key);
        assert!(unlocked.read_only.is_none());
        let percent = unlocked.info.percentage_encrypted;
        assert!(percent > 0.5 && percent < 99.0, "{percent}");
        case.same(&content(&store, &case.key), "paused").expect("whole");
        // Back from here.
        let unlocked = opened(&store, &case.key);
        let back =
            BitLockerPlan::of_volume(&store, unlocked, ConversionKind::Decryption, None).expect("planned");
        assert_eq!(case.run(&back, &store, false).expect("runs"), Stopped::Done);
        assert!(!is_volume(&store).expect("read"));
        assert!(back.kept_bad().is_none());
        let mut medium = vec![0; store.size() as usize];
        store.read_at(&mut medium, 0).expect("read");
        assert_eq!(used_of_fat(&medium), used_of_fat(&case.image), "it has its clusters back");
    }
}

#[test]
fn what_no_loss_of_power_does_is_refused_or_harms_nothing() {
    let runs = if std::env::var_os("KEYWAY_SLOW").is_some() { 3_000 } else { 45 };
    let (mut done, mut refused) = (0, 0);
    for case in cases() {
        let journal = |medium: &[u8]| {
            let found = find(&MemStore::from_vec(medium.to_vec())).expect("read")?;
            Some(Journal::at(&found.mark.place, medium.len(), false))
        };
        let ends = after_any_fault(&case, &journal, runs);
        (done, refused) = (done + ends.done, refused + ends.refused);
    }
    assert!(done > 4 * runs && refused > 0, "{done}, {refused}");
}
