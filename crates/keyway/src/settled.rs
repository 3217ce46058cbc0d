//! When it can be told how long work still takes: what its first moments come to is wild.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// It is told after so much time and so large a part …
const ENOUGH_TIME: Duration = Duration::from_secs(3);
const ENOUGH_PART: f64 = 0.02;
/// … or when so many readings agree within that factor.
const READINGS: usize = 3;
const AGREE: f64 = 1.5;

/// What was seen of work.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// When it began, and how far it was; that is not known of work that goes on with its next part.
    first: Option<(Instant, Option<u64>)>,
    /// How long all of it would take by what was seen then: the last of them, a second apart.
    guesses: VecDeque<(Instant, f64)>,
}

impl Settled {
    /// Of work that began then.
    pub(crate) fn begun_at(begun: Option<Instant>) -> Self {
        Self { first: begun.map(|begun| (begun, None)), guesses: VecDeque::new() }
    }

    /// When it began.
    pub(crate) fn begun(&self) -> Option<Instant> {
        self.first.map(|(begun, _)| begun)
    }

    /// What is left, where enough was seen to say so.
    pub(crate) fn left(
        &mut self,
        now: Instant,
        (done, total): (u64, u64),
        left: Option<Duration>,
    ) -> Option<Duration> {
        let (begun, before) = *self.first.get_or_insert((now, Some(done)));
        let elapsed = now.saturating_duration_since(begun);
        let seen = done.saturating_sub(before.unwrap_or(done)) as f64 / total.max(1) as f64;
        let whole = elapsed.saturating_add(left?).as_secs_f64();
        let apart = |(at, _): &(Instant, f64)| now.saturating_duration_since(*at) >= Duration::from_secs(1);
        if self.guesses.back().is_none_or(apart) {
            self.guesses.push_back((now, whole));
            if self.guesses.len() > READINGS {
                self.guesses.pop_front();
            }
        }
        let all = self.guesses.iter().map(|(_, whole)| *whole);
        let (least, most) = (all.clone().fold(f64::MAX, f64::min), all.fold(0.0, f64::max));
        let agree = self.guesses.len() == READINGS && most <= AGREE * least;
        let enough = elapsed >= ENOUGH_TIME && seen >= ENOUGH_PART;
        left.filter(|_| agree || enough)
    }
}

#[cfg(test)]
mod tests {
    use crate::pace::{Pace, PaceStyle};
    use serde_json::Value;
    use std::time::{Duration, Instant};

    /// The first moments come to anything: a cache takes what comes first at once.
    #[test]
    fn what_is_left_is_told_when_it_has_settled() {
        let left = |reached: &[(u64, u64)]| {
            let (begun, mut pace) = (Instant::now(), Pace::new(PaceStyle::Json, "encrypting"));
            let mut at = |(ms, done): &(u64, u64)| {
                let told = pace.at(begun + Duration::from_millis(*ms), *done, 10_000, 80);
                let told: Value = serde_json::from_str(&told.unwrap_or_default()).unwrap_or_default();
                told["seconds_left"].as_u64()
            };
            reached.iter().map(&mut at).collect::<Vec<_>>()
        };
        // Half of it at once, then hardly anything.
        assert_eq!(left(&[(0, 0), (1000, 5000), (2000, 5010)]), [None; 3]);
        // Steady: three readings agree before three seconds and a fiftieth are over.
        assert_eq!(left(&[(0, 0), (1000, 20), (2000, 40), (3000, 60)]), [None, None, None, Some(497)]);
        // Unsteady, but enough of it.
        assert_eq!(left(&[(0, 0), (1000, 10), (2000, 100), (4000, 1000)])[3], Some(36));
    }
}
