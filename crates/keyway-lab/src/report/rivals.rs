//! How two candidates stand beside each other: by what both were found to be, and not at all where one is undecided.

use crate::result::{Comparison, Verdict};
use crate::stats::Interval;

/// How one candidate stands beside another in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Faster,
    Slower,
    Equal,
    /// One of them is undecided, or their intervals do not tell them apart.
    Open,
}

/// Both rows are of one test, held against the same baseline. Their intervals hold together, and so does what follows.
pub(crate) fn beside(one: &Comparison, other: &Comparison) -> Beside {
    if one.verdict == Verdict::Undecided || other.verdict == Verdict::Undecided {
        return Beside::Open;
    }
    if one.verdict == Verdict::Equal && other.verdict == Verdict::Equal {
        return Beside::Equal;
    }
    let (one_is, other_is, delta) = (speed(one), speed(other), one.delta.max(other.delta));
    let (low, high) = (one_is.low / other_is.high, one_is.high / other_is.low);
    match () {
        () if low > 1.0 + delta => Beside::Faster,
        () if high < 1.0 - delta => Beside::Slower,
        () if low >= 1.0 - delta && high <= 1.0 + delta => Beside::Equal,
        () => Beside::Open,
    }
}

/// The interval of a row's ratio, as one of which more is better.
fn speed(row: &Comparison) -> Interval {
    if row.metric.more_is_better() {
        Interval { low: row.ratio_low, high: row.ratio_high }
    } else {
        Interval { low: 1.0 / row.ratio_high, high: 1.0 / row.ratio_low }
    }
}

/// How one candidate stands beside another in all tests that both have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Standings {
    pub(crate) faster: usize,
    pub(crate) slower: usize,
    pub(crate) equal: usize,
    pub(crate) open: usize,
    /// By how many points of percent the one costs less, where it is faster, at most.
    pub(crate) saves: f64,
}

impl Standings {
    pub(crate) fn of<'a>(one: impl IntoIterator<Item = &'a Comparison>, other: &[&'a Comparison]) -> Self {
        let mut found = Self::default();
        for one in one {
            let same = |row: &&&Comparison| {
                row.workload == one.workload && row.cell == one.cell && row.metric == one.metric
            };
            let Some(other) = other.iter().find(same) else { continue };
            match beside(one, other) {
                Beside::Faster => {
                    found.faster += 1;
                    found.saves = found.saves.max(other.cost_percent() - one.cost_percent());
                }
                Beside::Slower => found.slower += 1,
                Beside::Equal => found.equal += 1,
                Beside::Open => found.open += 1,
            }
        }
        found
    }

    /// Those of other tests as well.
    pub(crate) fn and(self, more: Self) -> Self {
        Self {
            faster: self.faster + more.faster,
            slower: self.slower + more.slower,
            equal: self.equal + more.equal,
            open: self.open + more.open,
            saves: self.saves.max(more.saves),
        }
    }

    pub(crate) fn tests(&self) -> usize {
        self.faster + self.slower + self.equal + self.open
    }

    pub(crate) fn decided(&self) -> usize {
        self.tests() - self.open
    }

    /// At least half of the tests are decided between them: less is nothing to choose by.
    pub(crate) fn is_known(&self) -> bool {
        self.open * 2 <= self.tests()
    }

    /// Faster somewhere, and slower nowhere that is decided.
    pub(crate) fn is_better(&self) -> bool {
        self.faster > 0 && self.slower == 0
    }

    /// Equal in every test.
    pub(crate) fn is_equal(&self) -> bool {
        self.equal > 0 && self.equal == self.tests()
    }
}
