//! Cuts the power of a conversion over and over, before each of its writes and flushes, and again while it is resumed.

use super::{Damage, Loss, Power};
use keyway_convert::{ConvertError, Stopped};
use keyway_testkit::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A conversion, what it begins with, and how its end is judged.
pub(crate) trait Interrupted: Sync {
    fn name(&self) -> &str;

    fn image(&self) -> &[u8];

    /// What becomes of sectors that are being written.
    fn damage(&self) -> Damage;

    /// From the beginning to wherever it ends.
    fn begin(&self, power: &Arc<Power>) -> Result<Stopped, ConvertError>;

    /// Goes on with what is found; `None` where nothing is.
    fn resume(&self, power: &Arc<Power>) -> Option<Result<Stopped, ConvertError>>;

    /// Whether everything is as it was before; asked where nothing is found.
    fn is_untouched(&self, medium: &[u8]) -> bool;

    /// Whether everything is converted, and every byte right.
    fn is_done(&self, medium: &[u8]) -> Result<(), String>;
}

fn left(power: Arc<Power>, loss: Loss) -> Vec<u8> {
    Arc::into_inner(power).expect("nobody else has it").left(loss)
}

/// Resumes, cutting the power again and again while the seed says so; gives the medium.
fn recovered(
    case: &dyn Interrupted,
    cut: Arc<Power>,
    loss: Loss,
    rng: &mut Rng,
    cuts: &AtomicU64,
    when: &str,
) -> Vec<u8> {
    let (mut cut, mut loss) = (cut, loss);
    for round in 0..4 {
        // Half of them while the journal's segments are put back, which is what a resumption begins with.
        let again = (round < 3 && rng.below(3) == 0).then(|| match rng.below(2) {
            0 => rng.below(4),
            _ => rng.below(40),
        });
        // One in four times the process was killed, and the power stayed.
        let killed = round < 3 && rng.below(4) == 0;
        let power = if killed {
            Arc::into_inner(cut).expect("nobody else has it").survived(again)
        } else {
            Power::new(left(cut, loss), again).with(case.damage())
        };
        let power = Arc::new(power);
        match case.resume(&power) {
            // Nothing is found: what was written last may arrive or not.
            None => return left(power, Loss::Nothing),
            // It may have been through, but for a flush that nobody but who was killed knew of.
            Some(Ok(Stopped::Done)) if killed => (cut, loss) = (power, Loss::All),
            Some(Ok(Stopped::Done)) => return left(power, Loss::All),
            Some(Ok(Stopped::Paused)) => panic!("{when}: nobody paused it"),
            Some(Err(e)) => {
                assert!(again.is_some_and(|at| power.steps() > at), "{when}, round {round}: {e}");
                cuts.fetch_add(1, Ordering::Relaxed);
                (cut, loss) = (power, Loss::Some(rng.next_u64()));
            }
        }
    }
    unreachable!("the last round is not cut")
}

/// Cuts the power at least that often.
pub(crate) fn cut_over_and_over(case: &dyn Interrupted, wanted: u64) {
    let name = case.name();
    let whole = Arc::new(Power::new(case.image().to_vec(), None));
    assert_eq!(case.begin(&whole).expect("nothing fails"), Stopped::Done, "{name}");
    let steps = whole.steps();
    case.is_done(&left(whole, Loss::All)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (cuts, next) = (AtomicU64::new(0), AtomicU64::new(0));
    // A stride that meets every step in time, and few of each neighbourhood in a short run.
    let stride = (1..).find(|n| n * 7 > steps / 5 && !steps.is_multiple_of(*n)).unwrap_or(1);
    let one = || {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        let cut = turn * stride % steps;
        let loss = match turn % 5 {
            0 => Loss::All,
            1 => Loss::Nothing,
            _ => Loss::Some(turn),
        };
        let when = format!("{name}, cut before {cut} of {steps}, {loss:?}");
        let power = Power::new(case.image().to_vec(), Some(cut)).with(case.damage());
        let power = Arc::new(power);
        let medium = match case.begin(&power) {
            // How many flushes there are is a matter of time; the last ones may not come.
            Ok(done) => {
                assert_eq!(done, Stopped::Done, "{when}");
                left(power, Loss::All)
            }
            Err(e) => {
                assert!(power.steps() > cut, "{when}: {e}");
                cuts.fetch_add(1, Ordering::Relaxed);
                recovered(case, power, loss, &mut Rng::new(turn ^ 0x5eed), &cuts, &when)
            }
        };
        if let Err(wrong) = case.is_done(&medium) {
            assert!(case.is_untouched(&medium), "{when}: {wrong}");
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while cuts.load(Ordering::Relaxed) < wanted {
                    one();
                }
            });
        }
    });
    eprintln!("{name}: {} cuts over {steps} writes and flushes", cuts.into_inner());
}
