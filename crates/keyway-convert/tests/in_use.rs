//! Volumes that are read and written while they are converted, through losses of power: what was flushed is
//! there afterwards, and everything that is read meanwhile is what was written.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::{ConvertError, Stopped, find};
use keyway_store::MemStore;
use keyway_testkit::Rng;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::case::{Case, KINDS};
use support::user::{Turns, User};
use support::{Damage, Loss, Power};

/// Begins, is in use until it is through or the power fails.
fn used(case: &Case, store: &Arc<Power>, user: &mut User) -> Result<Stopped, ConvertError> {
    // The first segment is moved before anybody uses the volume: of what is replaced in place not everything is kept.
    store.harm(case.damage());
    let conversion = case.plan.conversion(&**store, None)?;
    case.plan.begin(&conversion)?;
    assert_eq!(conversion.run(false, &|_: u64, _: u64| ControlFlow::Break(()))?, Stopped::Paused);
    store.harm(Damage::default());
    let (live, reached) = case.plan.live(&conversion, store.clone())?;
    let live = Arc::new(live);
    let volume = live.device()?;
    let turns = Turns::default();
    std::thread::scope(|scope| {
        let converting = scope.spawn(|| {
            let done = conversion.run_in_use(reached, &live, &turns);
            turns.end();
            done
        });
        turns.used(user, &volume);
        converting.join().expect("does not panic")
    })
}

#[test]
fn what_was_flushed_is_there_after_any_loss_of_power() {
    let wanted = if std::env::var_os("KEYWAY_SLOW").is_some() { 20_000 } else { 30 };
    for case in KINDS.map(Case::new).into_iter().chain(Case::used_in_use()) {
        let kind = &case.name;
        let whole = Arc::new(Power::new(case.image.clone(), None));
        let mut user = User::new(&case.plain, 1);
        assert_eq!(used(&case, &whole, &mut user).expect("nothing fails"), Stopped::Done);
        assert!(user.writes > 20, "{kind}: only {} writes went on meanwhile", user.writes);
        let steps = whole.steps();
        let whole = Arc::into_inner(whole).expect("nobody else has it").left(Loss::Nothing);
        case.is_clean(&whole).expect("clean");
        assert!(case.content(&whole) == user.content, "{kind}: what was written is there");
        let (next, cuts, writes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while cuts.load(Ordering::Relaxed) < wanted {
                        let turn = next.fetch_add(1, Ordering::Relaxed);
                        let mut rng = Rng::new(turn ^ 0xc07);
                        let cut = rng.below(steps);
                        let loss = [Loss::Some(turn), Loss::All, Loss::Nothing][turn as usize % 3];
                        let when = format!("{kind}, cut before {cut} of {steps}, {loss:?}");
                        let power = Arc::new(Power::new(case.image.clone(), Some(cut)));
                        let mut user = User::new(&case.plain, turn);
                        let done = used(&case, &power, &mut user);
                        let power = Arc::into_inner(power).expect("nobody else has it");
                        if done.is_err() {
                            assert!(power.steps() > cut, "{when}: {done:?}");
                        }
                        let is_cut = power.steps() > cut;
                        cuts.fetch_add(u64::from(is_cut), Ordering::Relaxed);
                        writes.fetch_add(user.writes, Ordering::Relaxed);
                        let left = power.left(if is_cut { loss } else { Loss::Nothing });
                        if find(&MemStore::from_vec(left.clone())).expect("read").is_none()
                            && case.is_clean(&left).is_err()
                        {
                            assert!(case.is_untouched(&left), "{when}: neither begun nor through");
                            continue;
                        }
                        let store = MemStore::from_vec(left);
                        if let Some(done) = case.resume(&store) {
                            done.unwrap_or_else(|e| panic!("{when}: {e}"));
                        }
                        let medium = store.snapshot();
                        user.check(&case.content(&medium), &when);
                        if let Err(wrong) = case.is_clean(&medium) {
                            panic!("{when}: {wrong}");
                        }
                    }
                });
            }
        });
        eprintln!("{kind}: {} cuts, {} writes meanwhile", cuts.into_inner(), writes.into_inner());
    }
}
