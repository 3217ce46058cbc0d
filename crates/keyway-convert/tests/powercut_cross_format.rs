//! The power of the real code fails before every write and flush while a volume goes from one format to the other,
//! over and over; afterwards the conversion is resumed and every byte is right, and at no time was any of them plain.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::cross_format::{BothSecrets, CrossFormatPlan, find, how_far, look};
use keyway_convert::{ConvertError, Stopped};
use keyway_error::{Explain, Fault};
use keyway_store::{FaultPlan, FaultStore, MemStore};
use keyway_volume::bitlocker::UnlockRequest;
use std::ops::ControlFlow;
use std::sync::Arc;
use support::bitlocker::key;
use support::case::secrets;
use support::cross_format::{Case, Eavesdropper};
use support::cuts::{Interrupted, cut_over_and_over};
use support::faults::{Journal, after_any_fault};
use support::{Damage, Loss, Power};

impl Interrupted for Case {
    fn name(&self) -> &str {
        self.name
    }

    fn image(&self) -> &[u8] {
        &self.image
    }

    fn damage(&self) -> Damage {
        Damage::default()
    }

    fn begin(&self, power: &Arc<Power>) -> Result<Stopped, ConvertError> {
        self.begin(&**power, &())
    }

    fn resume(&self, power: &Arc<Power>) -> Option<Result<Stopped, ConvertError>> {
        let medium = power.seen();
        self.is_secret(&medium).unwrap_or_else(|open| panic!("{}, after a cut: {open}", self.name));
        self.resume(&**power)
    }

    fn is_untouched(&self, medium: &[u8]) -> bool {
        self.is_untouched(medium)
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        self.is_done(medium)
    }
}

#[test]
fn every_byte_is_right_after_any_loss_of_power() {
    let cuts = if std::env::var_os("KEYWAY_SLOW").is_some() { 8_000 } else { 50 };
    for case in Case::all() {
        cut_over_and_over(&case, cuts);
    }
}

/// The marker's first sector, torn so close to its edge that no whole identifier is there: where it comes, and where a
/// header or BitLocker's first sector replaces it.
#[test]
fn a_front_that_is_torn_next_to_an_edge_is_mended() {
    for case in Case::all() {
        for (time, at) in (1..=2).flat_map(|time| [1, 15, 497, 511].map(|at| (time, at))) {
            for (begins, others) in [(true, true), (true, false), (false, true), (false, false)] {
                let power = Power::failing_behind_the_front(case.image.clone(), time);
                assert!(case.begin(&power, &()).is_err());
                let loss = Loss::Front { at, begins, others };
                let torn = power.left(loss);
                // One time in 256 the only byte that came is the one that a random salt had there: then nothing
                // had begun.
                let had_begun = torn.get(..4096) != case.image.get(..4096);
                let store = MemStore::from_vec(torn);
                let resumed = case.resume(&store).expect("the second marker is there");
                assert_eq!(resumed.expect("goes on"), Stopped::Done);
                let medium = store.snapshot();
                if had_begun {
                    let done = case.is_done(&medium);
                    assert!(done.is_ok(), "{}, the {time}. time, {loss:?}: {done:?}", case.name);
                } else {
                    assert!(case.is_untouched(&medium), "{}, the {time}. time, {loss:?}", case.name);
                }
            }
        }
    }
}

#[test]
fn nothing_plain_is_ever_written() {
    for case in Case::all() {
        let medium = Eavesdropper { case: &case, below: MemStore::from_vec(case.image.clone()) };
        assert_eq!(case.begin(&medium, &()).expect("nothing fails"), Stopped::Done);
        case.is_done(&medium.below.snapshot()).expect("converted");
    }
}

#[test]
fn every_single_error_is_an_error_and_resume_goes_on() {
    for case in Case::all() {
        let whole = FaultStore::new(MemStore::from_vec(case.image.clone()), FaultPlan::default());
        case.begin(&whole, &()).expect("nothing fails");
        let steps = whole.steps();
        for n in (0..steps).step_by(if std::env::var_os("KEYWAY_SLOW").is_some() { 1 } else { 34 }) {
            let plans = [
                FaultPlan { writes_fail_from: Some((n, 5)), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { flushes_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { reads_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
            ];
            for plan in plans {
                let faulty = FaultStore::new(MemStore::from_vec(case.image.clone()), plan.clone());
                let result = case.begin(&faulty, &());
                let left = faulty.into_medium().expect("a medium");
                if let Ok(done) = result {
                    assert_eq!(done, Stopped::Done, "there are fewer of these than steps");
                }
                if let Some(resumed) = case.resume(&left) {
                    assert_eq!(resumed.expect("goes on"), Stopped::Done, "{}, {plan:?}", case.name);
                }
                let medium = left.snapshot();
                if let Err(wrong) = case.is_done(&medium) {
                    assert!(case.is_untouched(&medium), "{}, {plan:?}: {wrong}", case.name);
                }
            }
        }
    }
}

/// Paused it is found, tells how far it is, and goes on with both secrets and with no other.
#[test]
fn a_pause_is_found_and_both_secrets_go_on() {
    for case in Case::all() {
        let medium = MemStore::from_vec(case.image.clone());
        let stop = |done: u64, total: u64| match done * 2 > total {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        assert_eq!(case.begin(&medium, &stop).expect("nothing fails"), Stopped::Paused);
        let (store, file) = case.parts(&medium);
        let mark = find(&store).expect("read").filter(|found| found.in_front).expect("found").mark;
        let (done, total) = how_far(&mark, &store, &file).expect("the file is whole");
        assert!(done > total / 3 && done < total, "{done} of {total}");
        let protectors = look(&mark, &store, &file).expect("its metadata is there").info.key_protectors;
        assert_eq!(protectors.len(), 1);
        let (wrong, key) = (secrets("not this one, either"), key(&case.key));
        let both = BothSecrets { veracrypt: &wrong, bitlocker: &UnlockRequest::new(&key) };
        let refused = CrossFormatPlan::resume(&store, &file, mark, &both).err().expect("refused");
        assert_eq!(refused.fault(), Fault::Secret);
        assert_eq!(case.resume_anew(&medium).expect("goes on"), Stopped::Done);
        case.is_done(&medium.snapshot()).expect("converted");
        assert!(case.resume(&medium).is_none(), "nothing is left of it");
    }
}

#[test]
fn what_no_loss_of_power_does_is_refused_or_harms_nothing() {
    let runs = if std::env::var_os("KEYWAY_SLOW").is_some() { 3_000 } else { 80 };
    let (mut done, mut refused) = (0, 0);
    for case in Case::all() {
        let journal = |medium: &[u8]| {
            let found = find(&MemStore::from_vec(medium[..case.size].to_vec())).expect("read")?;
            Some(Journal::at(&found.mark.place(), case.size, true))
        };
        let ends = after_any_fault(&case, &journal, runs);
        (done, refused) = (done + ends.done, refused + ends.refused);
    }
    assert!(done > runs && refused > 10, "{done}, {refused}");
}
