//! The power of the real code fails before every write and flush, over and over, of all conversions;
//! afterwards the conversion is resumed and every byte is right.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::FreeSpace;
use keyway_convert::veracrypt::{self, ResumeSecrets, VeraCryptPlan};
use keyway_convert::{
    ConversionKind, ConvertError, Journal as Records, JournalLocation, Redundancy, Stopped, find,
};
use keyway_engine::{Access, Device};
use keyway_store::{FaultPlan, FaultStore, MemStore};
use keyway_testkit::{Rng, require_tool};
use keyway_volume::veracrypt::{HashName, UnlockRequest, unlock};
use std::ops::ControlFlow;
use std::sync::Arc;
use support::case::{Case, KINDS, NEW, OLD, SIZE, opened, secrets, wish};
use support::cuts::{Interrupted, cut_over_and_over};
use support::faults::{Journal, after_any_fault};
use support::{Damage, Loss, Power};

/// Cuts that each conversion is put through, at least. There are eleven of three kinds; those of used space only are
/// encryptions all.
fn cuts_wanted(case: &Case) -> u64 {
    match (std::env::var_os("KEYWAY_SLOW"), case.plan.marker.used) {
        (None, _) => 120,
        (Some(_), None) => 10_000,
        (Some(_), Some(_)) => 5_000,
    }
}

impl Interrupted for Case {
    fn name(&self) -> &str {
        &self.name
    }

    fn image(&self) -> &[u8] {
        &self.image
    }

    fn damage(&self) -> Damage {
        self.damage()
    }

    fn begin(&self, power: &Arc<Power>) -> Result<Stopped, ConvertError> {
        self.begin(&**power)
    }

    fn resume(&self, power: &Arc<Power>) -> Option<Result<Stopped, ConvertError>> {
        self.resume(&**power)
    }

    fn is_untouched(&self, medium: &[u8]) -> bool {
        !self.is_found(medium) && self.is_untouched(medium)
    }

    fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        self.is_done(medium)
    }
}

#[test]
fn every_byte_is_right_after_any_loss_of_power() {
    for case in Case::all() {
        cut_over_and_over(&case, cuts_wanted(&case));
    }
}

#[test]
fn what_no_loss_of_power_does_is_refused_or_harms_nothing() {
    let runs = if std::env::var_os("KEYWAY_SLOW").is_some() { 12_000 } else { 120 };
    let mut refused = 0;
    for case in Case::all() {
        let size = case.plan.marker.size as usize;
        let journal = |medium: &[u8]| {
            let found = find(&MemStore::from_vec(medium[..size].to_vec())).expect("read")?;
            let in_a_file = found.marker.journal != JournalLocation::OnMedium;
            Some(Journal::at(&found.marker.place, size, in_a_file))
        };
        let ends = after_any_fault(&case, &journal, runs);
        assert!(ends.done > runs / 8, "{}: {ends:?}", case.name);
        refused += ends.refused;
    }
    assert!(refused > runs / 2, "{refused}");
}

/// A drive that has wiped the journal, and brings a page of it back as it was in the beginning: what is there is through,
/// and nothing of it is done anew.
#[test]
fn an_old_record_begins_nothing_anew_where_all_is_through() {
    let cases = KINDS.map(Case::new).into_iter().chain(KINDS.map(Case::with_a_file));
    for case in cases.chain([Case::used_only(FreeSpace::Leave)]) {
        let whole = Arc::new(Power::new(case.image.clone(), None));
        assert_eq!(case.begin(&*whole).expect("nothing fails"), Stopped::Done);
        let (steps, place, size) = (whole.steps(), &case.plan.marker.place, case.plan.marker.size);
        let file = if case.plan.marker.journal == JournalLocation::OnMedium { 0 } else { size };
        let records = place.slots.iter().map(|slot| slot.record + file);
        let pages: Vec<_> = place.heads.iter().copied().chain(records).collect();
        let mut ends = [0, 0];
        for (seen, at) in
            [2, 4, 8].into_iter().flat_map(|seen| pages.iter().map(move |at| (seen, *at as usize)))
        {
            // How many steps a run has depends on what goes on side by side: the last ten that this one comes to.
            let mut cuts = 0;
            for cut in (0..steps).rev() {
                let power = Power::new(case.image.clone(), Some(cut)).with(case.damage()).seen_at(seen);
                let power = Arc::new(power);
                if case.begin(&*power).is_ok() {
                    continue;
                }
                let before = power.photo().expect("it came so far");
                let mut medium = Arc::into_inner(power).expect("nobody else has it").left(Loss::All);
                medium[at..at + 4096].copy_from_slice(&before[at..at + 4096]);
                let store = MemStore::from_vec(medium.clone());
                let when = format!("{}, cut before {cut} of {steps}, {seen}, {at}", case.name);
                match case.resume(&store) {
                    Some(Ok(stopped)) => {
                        ends[0] += 1;
                        assert_eq!(stopped, Stopped::Done, "{when}");
                        case.is_done(&store.snapshot()).unwrap_or_else(|wrong| panic!("{when}: {wrong}"));
                    }
                    Some(Err(_)) => {
                        ends[1] += 1;
                        assert!(store.snapshot() == medium, "{when}: refused, and written to");
                    }
                    None => case.is_done(&medium).unwrap_or_else(|wrong| panic!("{when}: {wrong}")),
                }
                cuts += 1;
                if cuts == 10 {
                    break;
                }
            }
        }
        assert!(ends[0] > 50, "{}: {ends:?}", case.name);
    }
}

/// The marker's first sector, torn so close to its edge that no whole identifier is there: where it comes,
/// and where a header or a file system's first page replaces it.
#[test]
fn a_front_that_is_torn_next_to_an_edge_is_mended() {
    for case in Case::all() {
        let kind = &case.name;
        for (time, at) in (1..=2).flat_map(|time| [1, 15, 497, 511].map(|at| (time, at))) {
            for (begins, others) in [(true, true), (true, false), (false, true), (false, false)] {
                let power = Power::failing_behind_the_front(case.image.clone(), time);
                assert!(case.begin(&power).is_err());
                let loss = Loss::Front { at, begins, others };
                let store = MemStore::from_vec(power.left(loss));
                let resumed = case.resume(&store).expect("the second marker is there");
                assert_eq!(resumed.expect("goes on"), Stopped::Done);
                let done = case.is_done(&store.snapshot());
                assert!(done.is_ok(), "{kind}, the {time}. time, {loss:?}: {done:?}");
            }
        }
    }
}

#[test]
fn free_space_is_left_filled_or_trimmed_as_asked() {
    for free in [FreeSpace::Leave, FreeSpace::Fill, FreeSpace::Trim] {
        let case = Case::used_only(free);
        let power = Power::new(case.image.clone(), None);
        case.begin(&power).expect("nothing fails");
        let medium = power.left(Loss::All);
        case.is_done(&medium).expect("converted");
        // Between two stretches, farther from the lower one than it moves up.
        let last = case.used.len() - 1;
        let far = case.used[last - 1].end + 131_072..case.used[last].start;
        assert!(far.len() >= 32_768);
        let found = &medium[far.clone()];
        match free {
            FreeSpace::Leave => assert!(found == &case.image[far]),
            FreeSpace::Fill => {
                let zeros = found.iter().filter(|byte| **byte == 0).count();
                assert!(found != &case.image[far] && zeros < found.len() / 64);
            }
            FreeSpace::Trim => assert!(found.iter().all(|byte| *byte == 0)),
        }
    }
}

/// Somebody goes on using the file system after the power failed before the marker was in front: what they have put
/// where it was free must not be left behind.
#[test]
fn what_is_used_is_looked_up_again_where_nothing_had_begun() {
    let Some(mkfs) = require_tool("mkfs.ext4") else { return };
    let folder = tempfile::tempdir().expect("temp");
    let size = 8 << 20;
    let moved = veracrypt::content_capacity(size, true);
    let image = |bytes: usize, seed: u64| {
        let content = folder.path().join(format!("content{bytes}"));
        std::fs::create_dir(&content).expect("made");
        std::fs::write(content.join("file"), Rng::new(seed).bytes(bytes)).expect("written");
        let path = folder.path().join(format!("image{bytes}"));
        std::fs::File::create(&path).expect("made").set_len(moved).expect("sized");
        let mut command = std::process::Command::new(&mkfs);
        let done =
            command.args(["-q", "-F", "-b", "1024", "-d"]).arg(&content).arg(&path).output().expect("runs");
        assert!(done.status.success());
        std::fs::read(path).expect("read")
    };
    let (before, after) = (image(100_000, 1), image(3_000_000, 2));
    let mut medium = before.clone();
    medium.resize(size as usize, 0);
    let own = secrets(NEW);
    let store = Power::new(medium, Some(9));
    let used = veracrypt::used_stretches(&store, moved).expect("an ext4");
    let plan = veracrypt::encryption(&store, moved, &wish(&own, "aes"), None).expect("planned");
    let plan = plan.of_used(used.clone(), FreeSpace::Leave).expect("possible");
    let conversion = plan.conversion(&store, None).expect("planned");
    plan.begin(&conversion).expect("begun");
    assert!(conversion.run(false, &()).is_err());
    let mut left = store.left(Loss::All);
    assert!(left[..moved as usize] == before[..]);
    left[..moved as usize].copy_from_slice(&after);
    for wrong in [false, true] {
        let mut left = left.clone();
        if wrong {
            // The list was torn when the power failed once more.
            let at = left.len() - (4096 * 5) - 16_384;
            left[at..at + 600].fill(7);
        }
        let store = MemStore::from_vec(left);
        let found = find(&store).expect("read").expect("the second marker is there");
        assert!(!found.in_front);
        let opens = ResumeSecrets { old: &own, new: None };
        let plan = VeraCryptPlan::resume(found, &store, None, &opens).expect("opens");
        let conversion = plan.conversion(&store, None).expect("planned");
        assert_eq!(conversion.run(false, &()).expect("goes on"), Stopped::Done);
        let store = Arc::new(store);
        let layout = opened(&store, NEW).layout;
        let device = Device::new(Box::new(store), layout, Access::ReadOnly).expect("fits");
        let now = veracrypt::used_stretches(&MemStore::from_vec(after.clone()), moved).expect("an ext4");
        assert_ne!(now, used);
        for range in now {
            let mut content = vec![0; (range.end - range.start) as usize];
            device.read_at(&mut content, range.start).expect("read");
            assert!(content == after[range.start as usize..range.end as usize], "{range:?}");
        }
    }
}

#[test]
fn every_single_error_is_an_error_and_resume_goes_on() {
    for case in Case::all() {
        let kind = &case.name;
        let whole = FaultStore::new(MemStore::from_vec(case.image.clone()), FaultPlan::default());
        case.begin(&whole).expect("nothing fails");
        let steps = whole.steps();
        for n in (0..steps).step_by(if cuts_wanted(&case) > 1000 { 1 } else { 9 }) {
            let plans = [
                FaultPlan { writes_fail_from: Some((n, 5)), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { flushes_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
                FaultPlan { reads_fail_from: Some(n), survivors: Some(n), ..FaultPlan::default() },
            ];
            for plan in plans {
                let faulty = FaultStore::new(MemStore::from_vec(case.image.clone()), plan.clone());
                let result = case.begin(&faulty);
                let left = faulty.into_medium().expect("a medium");
                match result {
                    // There are fewer of these than steps.
                    Ok(done) => assert_eq!(done, Stopped::Done),
                    Err(e) => assert!(
                        matches!(e, ConvertError::Store(_) | ConvertError::Unreadable { .. }),
                        "{kind}, {plan:?}: {e}"
                    ),
                }
                match case.resume(&left) {
                    Some(done) => assert_eq!(done.expect("goes on"), Stopped::Done),
                    None if case.is_untouched(&left.snapshot()) => continue,
                    None => {}
                }
                let done = case.is_done(&left.snapshot());
                assert!(done.is_ok(), "{kind}, {plan:?}: {done:?}");
            }
        }
    }
}

#[test]
fn pausing_after_every_segment_changes_nothing() {
    for case in Case::all().into_iter().filter(|case| case.plan.marker.journal == JournalLocation::OnMedium) {
        let kind = &case.name;
        let store = MemStore::from_vec(case.image.clone());
        let conversion = case.plan.conversion(&store, None).expect("planned");
        case.plan.begin(&conversion).expect("begun");
        let (mut marked, mut runs, mut last) = (false, 0, 0);
        while conversion.run(marked, &|_: u64, _: u64| ControlFlow::Break(())).expect("runs")
            == Stopped::Paused
        {
            let found = find(&store).expect("read").expect("under way");
            marked = found.in_front;
            let done = conversion.done().expect("a journal");
            assert!(done > last || last == 0, "{kind}: it goes on");
            (runs, last) = (runs + 1, done);
            assert!(runs < 100);
        }
        // Segments of which an eighth is kept are large.
        assert!(runs > if kind.contains("an eighth") { 2 } else { 5 }, "{kind}: {runs}");
        case.is_done(&store.snapshot()).expect("converted");
    }
}

#[test]
fn what_came_out_opens_with_the_new_secret_only() {
    for kind in [ConversionKind::Encryption, ConversionKind::Reencryption] {
        let case = Case::new(kind);
        let store = Arc::new(MemStore::from_vec(case.image.clone()));
        case.begin(&*store).expect("converted");
        let unlocked = opened(&store, NEW);
        let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadOnly).expect("fits");
        let mut content = vec![0; case.plain.len()];
        device.read_at(&mut content, 0).expect("read");
        assert!(content == case.plain);
        let old = secrets(OLD);
        let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&old) };
        assert!(unlock(&store, &request).is_err());
    }
}

/// The last step wipes the records, then what they need, then the marker: wherever it is cut, and cut again.
#[test]
fn the_last_step_may_be_cut_twice() {
    let one_of = if std::env::var_os("KEYWAY_SLOW").is_some() { 1 } else { 6 };
    for case in Case::all() {
        let whole = Power::new(case.image.clone(), None);
        case.begin(&whole).expect("converted");
        for cut in whole.steps().saturating_sub(16)..whole.steps() {
            // The third ones of this cut are not those of its neighbours.
            for again in (cut % one_of..12).step_by(one_of as usize) {
                let power = Power::new(case.image.clone(), Some(cut));
                let _ = case.begin(&power);
                let power = Power::new(power.left(Loss::Nothing), Some(again));
                let _ = case.resume(&power);
                let store = MemStore::from_vec(power.left(Loss::Nothing));
                if let Some(done) = case.resume(&store) {
                    assert_eq!(done.expect("goes on"), Stopped::Done);
                }
                let done = case.is_done(&store.snapshot());
                assert!(done.is_ok(), "{}, cut before {cut} and {again}: {done:?}", case.name);
            }
        }
    }
}

/// From the last page of a decryption on, the medium is a file system in use; only traces are left to be wiped.
#[test]
fn what_was_written_to_a_volume_that_is_whole_again_stays() {
    let case = Case::new(ConversionKind::Decryption);
    let whole = Power::new(case.image.clone(), None);
    case.begin(&whole).expect("converted");
    let mut seen = 0;
    for cut in whole.steps().saturating_sub(12)..whole.steps() {
        let power = Power::new(case.image.clone(), Some(cut));
        let _ = case.begin(&power);
        let mut left = power.left(Loss::Nothing);
        match find(&MemStore::from_vec(left.clone())).expect("read") {
            Some(found) if !found.in_front => seen += 1,
            _ => continue,
        }
        left[..4096].fill(0xab);
        let store = MemStore::from_vec(left);
        case.resume(&store).expect("found").expect("wiped");
        let medium = store.snapshot();
        assert!(medium[..4096].iter().all(|byte| *byte == 0xab), "cut before {cut}");
        assert!(medium[4096..case.plain.len()] == case.plain[4096..]);
    }
    assert!(seen > 1);
}

/// Another conversion's file may lie where the journal was, or one that holds nothing: it says neither that everything
/// is done nor that nothing was.
#[test]
fn a_file_that_holds_no_record_proves_nothing() {
    for case in KINDS.map(Case::with_a_file) {
        let whole = Power::new(case.image.clone(), None);
        case.begin(&whole).expect("converted");
        let mut seen = [0, 0];
        for cut in 0..whole.steps() {
            let power = Power::new(case.image.clone(), Some(cut));
            let _ = case.begin(&power);
            let mut medium = power.left(Loss::Nothing);
            let file = MemStore::new(medium.split_off(SIZE).len());
            let store = MemStore::from_vec(medium.clone());
            let Some(found) = find(&store).expect("read") else { continue };
            seen[usize::from(found.in_front)] += 1;
            let conversion = case.plan.conversion(&store, Some(&file)).expect("planned");
            let refused = conversion.run(found.in_front, &());
            assert!(matches!(refused, Err(ConvertError::NoJournal)), "{}, cut before {cut}", case.name);
            assert!(store.snapshot() == medium, "{}, cut before {cut}: it was written to", case.name);
        }
        assert!(seen.iter().all(|seen| *seen > 1), "{}: {seen:?}", case.name);
    }
}

#[test]
fn a_marker_that_is_overwritten_in_the_middle_stops_everything() {
    let case = Case::new(ConversionKind::Encryption);
    let whole = Power::new(case.image.clone(), None);
    case.begin(&whole).expect("converted");
    let power = Power::new(case.image.clone(), Some(whole.steps() / 2));
    assert!(case.begin(&power).is_err());
    let mut left = power.left(Loss::All);
    left[..4096].fill(0);
    let before = left.clone();
    let store = MemStore::from_vec(left);
    assert!(matches!(case.resume(&store), Some(Err(ConvertError::Overwritten))));
    // What the journal held is where it belongs, nothing else has changed but the journal.
    assert!(store.snapshot()[4096..65_536] == before[4096..65_536]);
}

/// More garbage than parity mends: nothing is written, and the place is named. Kept whole it would not matter.
#[test]
fn what_can_not_be_mended_is_left_as_it_is() {
    let case = Case::new(ConversionKind::Reencryption);
    let whole = Power::new(case.image.clone(), None);
    case.begin(&whole).expect("converted");
    let mut seen = 0;
    for cut in 0..whole.steps() {
        let power = Power::new(case.image.clone(), Some(cut));
        assert!(case.begin(&power).is_err());
        let mut left = power.left(Loss::Nothing);
        let store = MemStore::from_vec(left.clone());
        let Some(found) = find(&store).expect("read").filter(|found| found.in_front) else { continue };
        let journal = Records::new(&store, &store, found.marker.place, found.marker.id);
        let newest = journal.read().expect("read").expect("a record").newest;
        if newest.len < 16_384 {
            continue;
        }
        assert_eq!(newest.redundancy, Redundancy::InPlace);
        seen += 1;
        // As long as a run of that segment, and a sector longer.
        for (bytes, mended) in [(4096, true), (4608, false)] {
            let at = newest.target as usize + 4096;
            left[at..at + bytes].copy_from_slice(&Rng::new(cut).bytes(bytes));
            let store = MemStore::from_vec(left.clone());
            match case.resume(&store).expect("found") {
                Ok(done) => {
                    assert!(mended && done == Stopped::Done, "cut before {cut}");
                    case.is_done(&store.snapshot()).expect("every byte is right");
                }
                Err(ConvertError::Torn { at: first }) => {
                    assert!(!mended && first == at as u64, "cut before {cut}: {first} instead of {at}");
                    assert!(store.snapshot() == left, "cut before {cut}: it was written to");
                }
                Err(e) => panic!("cut before {cut}: {e}"),
            }
        }
    }
    assert!(seen > 10, "{seen}");
}
