//! BitLocker volumes that are read and written while they are converted, through losses of power, and closed in the
//! middle: what was flushed is there afterwards, and everything that is read meanwhile is what was written.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::bitlocker::{BitLockerPlan, find};
use keyway_convert::{ConversionKind, ConvertError, Progress, Stopped};
use keyway_store::{MemStore, Store};
use keyway_testkit::Rng;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::bitlocker::{Case, content, opened};
use support::user::{Turns, User};
use support::{Loss, Power};

/// Waits for the user, and stops after so many segments.
struct Until(Turns, AtomicU64);

impl Progress for Until {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        let left = self.1.fetch_sub(1, Ordering::Relaxed);
        if left == 0 { ControlFlow::Break(()) } else { self.0.at(done, total) }
    }
}

fn cases() -> Vec<Case> {
    let cases = [
        Case::encryption("encryption", false, false, false),
        Case::reencryption("re-encryption", false, false, false),
        Case::decryption("decryption", false, false),
        Case::of_sectors("encryption, sectors of 4096 bytes", ConversionKind::Encryption, 4096),
        Case::of_sectors("re-encryption, sectors of 4096 bytes", ConversionKind::Reencryption, 4096),
        Case::encryption("encryption, used space only", true, false, true),
        Case::reencryption("re-encryption, used space only", true, false, true),
        Case::of_sectors("decryption, sectors of 4096 bytes", ConversionKind::Decryption, 4096),
    ];
    cases.into_iter().flatten().map(|case| Case { in_use: true, ..case }).collect()
}

/// Carries a plan out while its volume is in use, until it is through, closed after so many segments, or the power
/// fails.
fn used(
    case: &Case,
    plan: &BitLockerPlan,
    store: &Arc<dyn Store>,
    user: &mut User,
    segments: u64,
) -> Result<Stopped, ConvertError> {
    let run = plan.conversion_in_use(store, None)?;
    assert_eq!(plan.begin_in_use(&run)?, Stopped::Paused);
    let (live, reached) = plan.live(&run, store.clone())?;
    let live = Arc::new(live);
    let volume = live.device()?;
    if case.used_only {
        // What is free is under the new key already, whatever it was.
        let mark = plan.mark();
        let region = |at: &u64| *at as usize..*at as usize + (64 << 10);
        let boot = mark.boot.start as usize..mark.boot.end as usize;
        if !user.look(&volume, mark.copies.iter().map(region).chain([boot]).collect()) {
            return Err(ConvertError::Unsupported("the power has failed", keyway_error::Advice::Retry));
        }
        case.same(&user.content, "before anybody used it").expect("the file system");
    }
    let until = Until(Turns::default(), AtomicU64::new(segments));
    let stopped = std::thread::scope(|scope| {
        let converting = scope.spawn(|| {
            let done = run.run_in_use(reached, &live, &until);
            until.0.end();
            done
        });
        until.0.used(user, &volume);
        converting.join().expect("does not panic")
    })?;
    drop((volume, live));
    plan.close(&run, stopped)
}

/// The content, whichever way it lies there.
fn found(case: &Case, store: &Arc<dyn Store>) -> Vec<u8> {
    let bytes = case.file_system_bytes as usize;
    match case.kind {
        ConversionKind::Decryption => {
            let mut plain = vec![0; bytes];
            store.read_at(&mut plain, 0).expect("read");
            plain
        }
        _ => content(store, &case.key)[..bytes].to_vec(),
    }
}

#[test]
fn what_was_flushed_is_there_after_any_loss_of_power() {
    let wanted = if std::env::var_os("KEYWAY_SLOW").is_some() { 1_000 } else { 10 };
    for case in cases() {
        let plain = &case.plain[..case.file_system_bytes as usize];
        let whole = Arc::new(Power::new(case.image.clone(), None));
        let shared: Arc<dyn Store> = whole.clone();
        let mut user = User::new(plain, 1).of_sectors(case.sector_bytes);
        let plan = case.plan(&shared).expect("planned");
        assert_eq!(used(&case, &plan, &shared, &mut user, u64::MAX).expect("nothing fails"), Stopped::Done);
        // Used space has few segments.
        assert!(
            user.writes > if case.used_only { 3 } else { 20 },
            "{}: only {} writes went on meanwhile",
            case.name,
            user.writes
        );
        assert!(found(&case, &shared) == user.content, "{}: what was written is there", case.name);
        assert!(find(&shared).expect("read").is_none());
        let steps = whole.steps();
        let (next, cuts, writes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while cuts.load(Ordering::Relaxed) < wanted {
                        let turn = next.fetch_add(1, Ordering::Relaxed);
                        let mut rng = Rng::new(turn ^ 0xc07);
                        let cut = rng.below(steps);
                        // Now and then it is closed before the power fails, or before it is through.
                        let segments = if turn % 4 == 3 { rng.below(30) } else { u64::MAX };
                        let loss = [Loss::Some(turn), Loss::All, Loss::Nothing][turn as usize % 3];
                        let when = format!("{}, cut before {cut} of {steps}, {loss:?}", case.name);
                        let power = Arc::new(Power::new(case.image.clone(), Some(cut)));
                        let shared: Arc<dyn Store> = power.clone();
                        let mut user = User::new(plain, turn).of_sectors(case.sector_bytes);
                        let planned = case.plan(&shared).expect("planned: nothing is written");
                        let done = used(&case, &planned, &shared, &mut user, segments);
                        drop((shared, planned));
                        let power = Arc::into_inner(power).expect("nobody else has it");
                        let is_cut = power.steps() > cut;
                        assert!(done.is_ok() || is_cut, "{when}: {:?}", done.err());
                        cuts.fetch_add(u64::from(is_cut), Ordering::Relaxed);
                        writes.fetch_add(user.writes, Ordering::Relaxed);
                        let left = power.left(if is_cut { loss } else { Loss::Nothing });
                        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(left));
                        let resumed = case.resume(&store);
                        assert_eq!(
                            resumed.unwrap_or_else(|e| panic!("{when}: {e}")),
                            Stopped::Done,
                            "{when}"
                        );
                        assert!(find(&store).expect("read").is_none(), "{when}: it is still found");
                        let mut found = found(&case, &store);
                        // The pointer's own two writes are not mended where they were torn.
                        let pointer = support::bitlocker::POINTER;
                        if case.kind != ConversionKind::Reencryption {
                            found[pointer.clone()].copy_from_slice(&user.content[pointer]);
                        }
                        if user.writes == 0 && case.used_only {
                            // Perhaps it had not begun, and was begun with another key.
                            case.same(&found, &when).expect("the file system");
                            continue;
                        }
                        user.check(&found, &when);
                    }
                });
            }
        });
        eprintln!("{}: {} cuts, {} writes meanwhile", case.name, cuts.into_inner(), writes.into_inner());
    }
}

/// What is closed in the middle is a whole volume, but for a re-encryption; and goes on, in use again or not.
#[test]
fn what_is_closed_in_the_middle_is_whole_and_goes_on() {
    for case in cases() {
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
        let mut user = User::new(&case.plain[..case.file_system_bytes as usize], 7);
        let plan = case.plan(&store).expect("planned");
        assert_eq!(
            used(&case, &plan, &store, &mut user, if case.used_only { 2 } else { 9 }).expect("nothing fails"),
            Stopped::Paused,
            "{}",
            case.name
        );
        let secret = support::bitlocker::key(&case.key);
        let request = keyway_volume::bitlocker::UnlockRequest::new(&secret);
        let in_front = find(&store).expect("read").is_some_and(|found| found.in_front);
        assert_eq!(in_front, case.kind == ConversionKind::Reencryption || case.used_only, "{}", case.name);
        if !in_front {
            let percent = opened(&store, &case.key).info.percentage_encrypted;
            assert!((1.0..99.0).contains(&percent), "{}: {percent}", case.name);
            assert!(content(&store, &case.key)[..user.content.len()] == user.content, "{}", case.name);
        }
        let keyway_convert::bitlocker::Next::Run(plan) =
            keyway_convert::bitlocker::next(&store, &request, None).expect("goes on")
        else {
            panic!("{}: nothing is left to do", case.name)
        };
        assert_eq!(used(&case, &plan, &store, &mut user, u64::MAX).expect("nothing fails"), Stopped::Done);
        assert!(found(&case, &store) == user.content, "{}: what was written is there", case.name);
    }
}

/// Closed when everything is converted, and the last steps are not done yet, it is not paused.
#[test]
fn what_is_closed_at_its_very_end_is_through() {
    for case in cases() {
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
        let plan = case.plan(&store).expect("planned");
        let run = plan.conversion_in_use(&store, None).expect("possible");
        assert_eq!(plan.begin_in_use(&run).expect("begins"), Stopped::Paused);
        let (live, reached) = plan.live(&run, store.clone()).expect("usable");
        let at_the_end = |done: u64, total: u64| match done >= total {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        assert_eq!(run.run_in_use(reached, &live, &at_the_end).expect("runs"), Stopped::Paused);
        drop(live);
        assert_eq!(plan.close(&run, Stopped::Paused).expect("closed"), Stopped::Done, "{}", case.name);
        assert!(find(&store).expect("read").is_none());
        case.same(&found(&case, &store), case.name).expect("nobody has written anything");
    }
}

/// What would hurt whoever uses the volume is refused before anything is changed.
#[test]
fn free_space_must_be_part_of_it() {
    let Some(case) = Case::encryption("all of a FAT", true, false, false) else { return };
    let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
    let can = |case: &Case| case.plan(&store).expect("planned").can_be_used().is_ok();
    assert!(!can(&case), "its journal is in free clusters");
    let case = Case { in_use: true, ..case };
    assert!(can(&case));
    let case = Case { used_only: true, ..case };
    assert!(can(&case), "what is free is under the new cipher from the beginning on");
    let planned = Case { in_use: false, ..case }.plan(&store).expect("planned");
    assert!(planned.can_be_used().is_err());
}
