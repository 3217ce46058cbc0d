//! What a claim is worth: held against the software of its time, and against Keyway.

use super::definition::{Claim, HeldAgainst, Study};
use super::simulated::Simulated;
use crate::result::{Comparison, Document, Flag, Metric, Verdict};
use crate::stats::{self, Interval};
use keyway_error::enum_table;
use serde::{Deserialize, Serialize};

/// What was found where an article claims something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The value without encryption, with hardware's, or published: what the claim was held against.
    pub baseline: f64,
    /// The value in question.
    pub value: f64,
    /// Cost in percent; less than nothing is a gain.
    pub cost_percent: f64,
    /// Its interval.
    pub low: f64,
    /// The other end.
    pub high: f64,
    /// What that is.
    pub verdict: Verdict,
}

enum_table! {
    /// Whether the software of the time, as a cost model, comes to what was published.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Reproduced {
        /// The same word, and a cost within a quarter of the published one, where one was published.
        Yes("reproduced"),
        /// Something else.
        No("not reproduced"),
        /// The article gives no other pair of figures to take a cost from.
        NoModel("no cost model"),
    }
    /// For people.
    pub name: &'static str,
}

enum_table! {
    /// Whether the claim is true of Keyway.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Standing {
        /// The whole interval agrees with it.
        Holds("holds"),
        /// The whole interval contradicts it.
        Refuted("refuted"),
        /// Neither can be said yet.
        Undecided("undecided"),
        /// Its test was not measured, or not all of its turns were made: nothing is said of it.
        NotMeasured("not measured"),
    }
    /// For people.
    pub name: &'static str,
}

/// A claim and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimVerdict {
    /// The study's name.
    pub study: String,
    /// The drive, as it calls itself.
    pub drive: String,
    /// The claim, as it is in the table.
    pub claim: Claim,
    /// The cost model's figures.
    pub simulated: Option<Simulated>,
    /// What those say.
    pub then: Option<Said>,
    /// Whether that is what was published.
    pub reproduced: Reproduced,
    /// What Keyway does; none where it was not measured.
    pub now: Option<Said>,
    /// Whether the claim is true of it.
    pub standing: Standing,
    /// By how many points of percent Keyway costs less than published; only where a cost was published.
    pub less_by: Option<f64>,
    /// Reasons to doubt what was measured.
    pub flags: Vec<Flag>,
}

impl ClaimVerdict {
    /// Of a claim that is refuted: by how much.
    pub fn by_how_much(&self) -> Option<String> {
        let now = self.now.as_ref().filter(|_| self.standing == Standing::Refuted)?;
        if let Some(points) = self.less_by.filter(|_| self.claim.says == Verdict::Costs) {
            return Some(format!("by {points:.0} points of percent"));
        }
        match self.claim.against {
            HeldAgainst::Figure => Some(format!("by {:.2} times the figure", now.value / now.baseline)),
            _ => Some(format!("{} to {} % instead", tenths(now.low), tenths(now.high))),
        }
    }
}

fn tenths(percent: f64) -> String {
    format!("{percent:.1}").replace('-', "−")
}

/// A cost model that comes so near to the published cost, as a part of it, has reproduced it.
const NEAR: f64 = 0.25;

/// Judges a claim by what an experiment found. `together` is how many claims are told of by it: the intervals hold for all.
pub(super) fn judged(
    study: &Study,
    claim: &Claim,
    document: &Document,
    simulated: Option<Simulated>,
    together: usize,
) -> ClaimVerdict {
    let then = simulated.map(|found| exact(claim, found));
    let mut now = measured(claim, document, together);
    let mut standing = match &now {
        // A part of its turns is what chance left of them.
        Some(now) if !is_cut_short(claim, document) => standing(claim, now),
        _ => Standing::NotMeasured,
    };
    // What this machine could not measure decides nothing.
    let too_few = rows(claim, document).any(|row| row.flags.contains(&Flag::TooFewCores));
    if too_few || standing == Standing::NotMeasured {
        now.iter_mut().for_each(|now| now.verdict = Verdict::Undecided);
    }
    if too_few && standing != Standing::NotMeasured {
        standing = Standing::Undecided;
    }
    let less_by = claim
        .percent
        .zip(now.as_ref().filter(|_| standing != Standing::NotMeasured))
        .map(|(percent, now)| percent - now.cost_percent);
    let mut flags: Vec<Flag> = rows(claim, document).flat_map(|row| row.flags.iter().copied()).collect();
    flags.sort_unstable();
    flags.dedup();
    ClaimVerdict {
        study: study.name.clone(),
        drive: document.drive.clone(),
        claim: claim.clone(),
        reproduced: then.as_ref().map_or(Reproduced::NoModel, |then| reproduced(claim, then)),
        simulated,
        then,
        now,
        standing,
        less_by,
        flags,
    }
}

/// What became of a claim whose experiment did not come to its turn.
pub(super) fn unmeasured(study: &Study, claim: &Claim, drive: String) -> ClaimVerdict {
    ClaimVerdict {
        study: study.name.clone(),
        drive,
        claim: claim.clone(),
        simulated: None,
        then: None,
        reproduced: Reproduced::NoModel,
        now: None,
        standing: Standing::NotMeasured,
        less_by: None,
        flags: Vec::new(),
    }
}

/// Whether turns of the claim's test are missing: the run was stopped, or failed.
fn is_cut_short(claim: &Claim, document: &Document) -> bool {
    let of_it = format!("{} on ", claim.cell);
    document.missing.iter().any(|what| what.starts_with(&of_it))
        || rows(claim, document).any(|row| row.flags.contains(&Flag::Incomplete))
}

/// The rows of the claim's test and target.
fn rows<'a>(claim: &'a Claim, document: &'a Document) -> impl Iterator<Item = &'a Comparison> {
    let of = claim.of.to_string();
    document.cells.iter().filter(move |row| row.cell == claim.cell && row.target == of && row.primary)
}

fn said(metric: Metric, baseline: f64, value: f64, ratio: f64, interval: Interval, verdict: Verdict) -> Said {
    let (a, b) = (metric.cost_percent(interval.low), metric.cost_percent(interval.high));
    let cost_percent = metric.cost_percent(ratio);
    Said { baseline, value, cost_percent, low: a.min(b), high: a.max(b), verdict }
}

/// The simulated clock's figures have no interval: each is the same whenever it is made.
fn exact(claim: &Claim, found: Simulated) -> Said {
    let ratio = found.software / found.none;
    let change = if claim.metric.more_is_better() { ratio } else { 1.0 / ratio };
    let verdict = match change {
        _ if !change.is_finite() => Verdict::Undecided,
        _ if change < 1.0 - claim.delta => Verdict::Costs,
        _ if change > 1.0 + claim.delta => Verdict::Gains,
        _ => Verdict::Equal,
    };
    said(claim.metric, found.none, found.software, ratio, Interval { low: ratio, high: ratio }, verdict)
}

/// What was measured, turn by turn.
fn measured(claim: &Claim, document: &Document, together: usize) -> Option<Said> {
    let values = |target: &str| {
        let series = document.series.iter().find(|s| s.cell == claim.cell && s.target == target)?;
        Some(series.values(claim.metric)).filter(|values| !values.is_empty())
    };
    let side = values(&claim.of.to_string())?;
    let base = match claim.against {
        HeldAgainst::None => values("bare").or_else(|| values("plain"))?,
        HeldAgainst::Hardware => values("hardware")?,
        HeldAgainst::Aes => values("veracrypt:aes")?,
        HeldAgainst::Figure => vec![claim.figure?; side.len()],
    };
    let look = rows(claim, document).map(|row| row.looks).max().unwrap_or(1);
    let found = stats::compare(&base, &side, together, look);
    let verdict = found.verdict(claim.metric.more_is_better(), claim.delta);
    Some(said(claim.metric, found.baseline, found.value, found.ratio, found.interval, verdict))
}

fn reproduced(claim: &Claim, then: &Said) -> Reproduced {
    let near = claim.percent.is_none_or(|percent| {
        claim.says == Verdict::Equal || (then.cost_percent - percent).abs() <= NEAR * percent.abs()
    });
    if then.verdict == claim.says && near { Reproduced::Yes } else { Reproduced::No }
}

fn standing(claim: &Claim, now: &Said) -> Standing {
    let delta = claim.delta * 100.0;
    match (claim.says, claim.percent) {
        // A size was published: is it reached?
        (Verdict::Costs, Some(percent)) if now.verdict == Verdict::Costs && now.low >= percent - delta => {
            Standing::Holds
        }
        (Verdict::Costs, Some(percent)) if now.high < percent - delta => Standing::Refuted,
        (Verdict::Costs, Some(_)) => Standing::Undecided,
        _ => match (claim.says, now.verdict) {
            (_, Verdict::Undecided) => Standing::Undecided,
            // Below a figure that somebody measured may lie this machine alone.
            (Verdict::Equal, Verdict::Costs) if claim.against == HeldAgainst::Figure => Standing::Undecided,
            // What costs nothing may gain; a figure is what it is.
            (Verdict::Equal, Verdict::Gains) if claim.against != HeldAgainst::Figure => Standing::Holds,
            (said, found) if said == found => Standing::Holds,
            _ => Standing::Refuted,
        },
    }
}
