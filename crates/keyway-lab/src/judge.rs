//! From series to comparisons: values, ratios, verdicts, and what speaks against believing them.

use crate::cell::Cell;
use crate::result::{Comparison, Flag, Metric, Series, Verdict};
use crate::stats::{self, median};
use crate::target::is_hardware;
use std::time::{Duration, Instant};

/// What is known of a cell besides its samples.
#[derive(Debug, Clone)]
pub struct CellFacts {
    /// The metric that the workload's original tells.
    pub metric: Metric,
    /// The cell, where it is made of requests.
    pub cell: Option<Cell>,
    /// What holds for it on every target.
    pub flags: Vec<Flag>,
    /// Whether the best run is told beside the median.
    pub best: bool,
    /// How often the cell was looked at, this time included.
    pub look: u32,
}

/// What is known of an entrant.
#[derive(Debug, Clone, Default)]
pub struct EntrantFacts {
    /// Decryption of all cores together in MB/s, as measured on this machine; nothing to decrypt
    /// is `None`.
    pub ceiling_mb_s: Option<f64>,
    /// What holds for it in every cell.
    pub flags: Vec<Flag>,
    /// Another program's: it goes a way of its own, and ours takes nothing of its cost apart.
    pub other_program: bool,
}

/// Which of the entrants takes a cost apart, from where a change counts, and how long may be looked for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Judging {
    /// The bare drive past every cache.
    pub bare: Option<usize>,
    /// The way that the others go, without a cipher.
    pub path: Option<usize>,
    /// The change that counts, where somebody said so.
    pub delta: Option<f64>,
    /// Beyond what a workload plans, what is undecided is measured on for so long.
    pub extra: Duration,
    /// The moment by which all is to be done, where there is one; `extra` counts for nothing then.
    pub until: Option<Instant>,
}

/// A change that is smaller than this is none; a drive that encrypts by itself is held to less.
const DELTA: f64 = 0.03;
const HARDWARE_DELTA: f64 = 0.01;

/// Reads that are faster than this times the drive's own, past the cache, came from memory.
const FASTER_THAN_DIRECT: f64 = 1.3;
/// Reads that are faster than this times what the cipher can do were never decrypted.
const FASTER_THAN_CIPHER: f64 = 1.1;
/// A baseline that moved so far during a cell moved for other reasons than encryption.
const DRIFT: f64 = 0.05;
/// And so many times its turns' jitter, which a few turns show by chance.
const DRIFT_JITTERS: f64 = 3.0;
/// A machine that was too busy in one of so many turns was too busy.
const BUSY_TURNS: usize = 4;
/// Turns that differ so much among themselves.
const NOISE: f64 = 0.10;

/// Compares the entrants of each cell with the first one.
pub fn judge(
    series: &[Series],
    cells: &[CellFacts],
    entrants: &[EntrantFacts],
    judging: Judging,
) -> Vec<Comparison> {
    let comparisons = cells.len() * entrants.len().saturating_sub(1).max(1);
    let mut rows = Vec::new();
    for (facts, group) in cells.iter().zip(series.chunks(entrants.len().max(1))) {
        let Some(baseline) = group.first() else { continue };
        let drive = judging.bare.and_then(|n| group.get(n)).map(|s| s.values(Metric::MbS));
        let one = |n: Option<usize>| n.and_then(|n| group.get(n));
        let apart = Apart { bare: one(judging.bare), path: one(judging.path) };
        let drive_best = drive.and_then(|values| values.into_iter().max_by(f64::total_cmp));
        // A single entrant is told against itself, so that its figures have a place.
        let others = if group.len() > 1 { group.get(1..).unwrap_or_default() } else { group };
        let first = usize::from(group.len() > 1);
        for (place, side) in others.iter().enumerate() {
            let entrant = entrants.get(place + first).cloned().unwrap_or_default();
            let mut flags = facts.flags.clone();
            flags.extend(&entrant.flags);
            flags.extend(noticed(side));
            flags.extend(noticed(baseline));
            // They take the modelled drive's time from each other: that says nothing of who else was here.
            if flags.contains(&Flag::TooFewCores) {
                flags.retain(|flag| *flag != Flag::BusyMachine);
            }
            if from_memory(facts, side, &entrant, drive_best.filter(|_| judging.bare != Some(place + first)))
            {
                flags.push(Flag::PageCache);
            }
            for metric in metrics(facts, side) {
                if let Some(row) = row(facts, baseline, side, metric, comparisons, &flags, judging.delta) {
                    let (path_cost, cipher_cost) =
                        if entrant.other_program { (None, None) } else { apart.of(side, metric) };
                    rows.push(Comparison { path_cost, cipher_cost, ..row });
                }
            }
        }
    }
    rows
}

/// What takes a cost apart.
struct Apart<'a> {
    bare: Option<&'a Series>,
    path: Option<&'a Series>,
}

impl Apart<'_> {
    /// What the way there and the cipher make of the bare drive's value, as ratios.
    fn of(&self, side: &Series, metric: Metric) -> (Option<f64>, Option<f64>) {
        let ratio = |base: &Series, side: &Series| {
            let (base, side) = (base.values(metric), side.values(metric));
            (!base.is_empty() && !side.is_empty()).then(|| stats::compare(&base, &side, 1, 1).ratio)
        };
        let Some(path) = self.path else { return (None, None) };
        let bare = self.bare.filter(|bare| bare.target != side.target).and_then(|bare| ratio(bare, path));
        let is_cipher = path.target != side.target && bare.is_some();
        (bare, is_cipher.then(|| ratio(path, side)).flatten())
    }
}

/// What was noticed during the turns. One read from memory is enough to doubt a figure; that the
/// machine was busy for a moment, the median forgives.
fn noticed(series: &Series) -> Vec<Flag> {
    let count = |flag: Flag| series.samples.iter().filter(|s| s.flags.contains(&flag)).count();
    let mut all: Vec<Flag> = series.samples.iter().flat_map(|s| s.flags.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|flag| *flag != Flag::BusyMachine || count(*flag) * BUSY_TURNS > series.samples.len());
    all
}

/// The primary metric first, then what else is known.
fn metrics(facts: &CellFacts, side: &Series) -> Vec<Metric> {
    let all = [Metric::MbS, Metric::Iops, Metric::LatencyUs, Metric::Seconds, Metric::Score];
    let others = all.into_iter().filter(|m| *m != facts.metric);
    std::iter::once(facts.metric).chain(others).filter(|m| !side.values(*m).is_empty()).collect()
}

fn from_memory(facts: &CellFacts, side: &Series, entrant: &EntrantFacts, drive_best: Option<f64>) -> bool {
    let Some(cell) = facts.cell.as_ref().filter(|cell| cell.mix == crate::cell::Mix::Read) else {
        return false;
    };
    let speed = median(&side.values(Metric::MbS));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let at_once = (cell.in_flight() as usize).min(cores) as f64 / cores as f64;
    // A request may be spread over cores, so that one in flight has at least half of them.
    let ceiling = entrant.ceiling_mb_s.map(|all| all * at_once.max(0.5) * FASTER_THAN_CIPHER);
    ceiling.is_some_and(|ceiling| speed > ceiling)
        || drive_best.is_some_and(|drive| speed > drive * FASTER_THAN_DIRECT)
}

fn row(
    facts: &CellFacts,
    baseline: &Series,
    side: &Series,
    metric: Metric,
    comparisons: usize,
    noticed: &[Flag],
    delta: Option<f64>,
) -> Option<Comparison> {
    let (base, values) = (baseline.values(metric), side.values(metric));
    if base.is_empty() || values.is_empty() {
        return None;
    }
    let told = stats::compare(&base, &values, comparisons, facts.look);
    let delta = delta.unwrap_or(if is_hardware(&side.target) { HARDWARE_DELTA } else { DELTA });
    let refused = noticed.contains(&Flag::TooFewCores);
    let verdict = if refused { Verdict::Undecided } else { told.verdict(metric.more_is_better(), delta) };
    let mut flags = noticed.to_vec();
    if !told.enough {
        flags.push(Flag::TooFewTurns);
    }
    let spread = stats::spread(&base);
    if told.enough && stats::drift(&base).abs() > DRIFT.max(DRIFT_JITTERS * stats::jitter(&base)) {
        flags.push(Flag::Drift);
    }
    if spread > NOISE || stats::spread(&values) > NOISE {
        flags.push(Flag::Noise);
    }
    flags.sort_unstable();
    flags.dedup();
    let better = |values: Vec<f64>| {
        let order = |a: &f64, b: &f64| if metric.more_is_better() { a.total_cmp(b) } else { b.total_cmp(a) };
        values.into_iter().max_by(order)
    };
    let best = |series: &Series| better(series.per_run(metric)).filter(|_| facts.best);
    let cpu = |series: &Series| {
        let values = series.values(Metric::CpuSPerGib);
        (!values.is_empty()).then(|| median(&values))
    };
    let joules = || {
        let per_gib =
            |s: &crate::result::Sample| Some(s.joules? / (s.bytes() as f64 / f64::from(1u32 << 30)));
        let values: Option<Vec<f64>> = side.samples.iter().map(per_gib).collect();
        values.filter(|v| !v.is_empty() && v.iter().all(|j| j.is_finite())).map(|v| median(&v))
    };
    let tail_of = |series: &Series| (metric == facts.metric).then(|| series.tail()).flatten();
    Some(Comparison {
        workload: side.workload.clone(),
        cell: side.cell.clone(),
        target: side.target.clone(),
        baseline: baseline.target.clone(),
        metric,
        primary: metric == facts.metric,
        value: told.value,
        baseline_value: told.baseline,
        value_low: told.value_interval.low,
        value_high: told.value_interval.high,
        ratio: told.ratio,
        ratio_low: told.interval.low,
        ratio_high: told.interval.high,
        delta,
        verdict,
        path_cost: None,
        cipher_cost: None,
        seconds_to_decide: None,
        flags,
        best: best(side),
        baseline_best: best(baseline),
        cpu_s_per_gib: cpu(side),
        baseline_cpu_s_per_gib: cpu(baseline),
        joules_per_gib: joules(),
        machine_cpu_s_per_gib: machine_cpu(side),
        baseline_machine_cpu_s_per_gib: machine_cpu(baseline),
        p9999: tail_of(side),
        baseline_p9999: tail_of(baseline),
        turns: values.len(),
        looks: facts.look,
    })
}

/// All turns together: one alone is shorter than what the kernel counts in.
fn machine_cpu(series: &Series) -> Option<f64> {
    let seconds: f64 = series.samples.iter().map(|s| s.machine_cpu_seconds).sum::<Option<f64>>()?;
    let gib = series.samples.iter().map(|s| s.bytes() as f64).sum::<f64>() / f64::from(1u32 << 30);
    (gib > 0.0 && seconds > 0.0).then(|| seconds / gib)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Mix, Pattern};
    use crate::result::Sample;

    fn series(target: &str, speeds: &[f64]) -> Series {
        let sample = |(n, speed): (usize, &f64)| Sample {
            run: n as u32 / 4,
            seconds: 1.0,
            bytes_read: (speed * 1e6) as u64,
            operations: (speed * 10.0) as u64,
            cpu_seconds: 0.1,
            ..Sample::default()
        };
        let samples = speeds.iter().enumerate().map(sample).collect();
        let [workload, cell, target] = ["w", "c", target].map(str::to_owned);
        Series { workload, cell, target, samples, latency: Default::default() }
    }

    fn facts(mix: Mix) -> CellFacts {
        let cell = Cell {
            name: "c".into(),
            pattern: Pattern::Random,
            mix,
            block_bytes: 4096,
            queue_depth: 32,
            threads: 1,
            span_bytes: 1 << 30,
        };
        CellFacts { metric: Metric::MbS, cell: Some(cell), flags: vec![], best: true, look: 1 }
    }

    fn wobbling(level: f64) -> Vec<f64> {
        (0..20).map(|n| level * (1.0 + 0.002 * f64::from(n * 7 % 5))).collect()
    }

    #[test]
    fn a_row_says_what_the_numbers_say() {
        let all = [series("plain", &wobbling(1000.0)), series("veracrypt:aes", &wobbling(900.0))];
        let rows = judge(
            &all,
            &[facts(Mix::Read)],
            &[EntrantFacts::default(), EntrantFacts::default()],
            Judging::default(),
        );
        assert_eq!(rows.iter().map(|r| r.metric).collect::<Vec<_>>(), [Metric::MbS, Metric::Iops]);
        let row = &rows[0];
        assert!((row.ratio - 0.9).abs() < 1e-3 && row.verdict == Verdict::Costs && row.primary);
        assert!(row.flags.is_empty(), "{:?}", row.flags);
        assert!((row.best.expect("told") - 900.0 * 1.005).abs() < 3.0, "{:?}", row.best);
        assert!(row.cpu_s_per_gib.is_some_and(|c| (c - 0.1 / (900e6 / 1073741824.0)).abs() < 0.01));
    }

    #[test]
    fn reads_beyond_the_cipher_or_the_drive_are_flagged_and_writes_are_not() {
        let all = [series("plain", &wobbling(1000.0)), series("veracrypt:kuznyechik", &wobbling(4000.0))];
        let slow = EntrantFacts { ceiling_mb_s: Some(560.0), ..EntrantFacts::default() };
        let fast = EntrantFacts { ceiling_mb_s: Some(20_000.0), ..EntrantFacts::default() };
        let none = EntrantFacts::default();
        let flagged = |mix, side: &EntrantFacts, bare| {
            let rows = judge(
                &all,
                &[facts(mix)],
                &[none.clone(), side.clone()],
                Judging { bare, ..Judging::default() },
            );
            rows[0].flags.contains(&Flag::PageCache)
        };
        assert!(flagged(Mix::Read, &slow, None));
        assert!(!flagged(Mix::Read, &fast, None));
        assert!(flagged(Mix::Read, &fast, Some(0)), "the drive itself reads 1000");
        assert!(!flagged(Mix::Write, &slow, Some(0)));
    }

    /// What the machine was too busy for in a quarter of the turns, the median forgives; and where the model's own threads take
    /// its time from each other, no more is told.
    #[test]
    fn a_machine_is_busy_by_more_than_a_quarter_of_the_turns() {
        let flags = |late: usize, cell: Vec<Flag>| {
            let mut all = [series("plain", &wobbling(1000.0)), series("veracrypt:aes", &wobbling(900.0))];
            for sample in all.iter_mut().flat_map(|side| side.samples.iter_mut().take(late)) {
                sample.flags.push(Flag::BusyMachine);
            }
            let facts = CellFacts { flags: cell, ..facts(Mix::Read) };
            let none = [EntrantFacts::default(), EntrantFacts::default()];
            judge(&all, &[facts], &none, Judging::default()).remove(0).flags
        };
        assert!(flags(5, vec![]).is_empty());
        assert_eq!(flags(6, vec![]), [Flag::BusyMachine]);
        assert_eq!(flags(6, vec![Flag::TooFewCores]), [Flag::TooFewCores]);
    }

    #[test]
    fn drift_and_noise_are_named() {
        let hot: Vec<f64> = (0..20).map(|n| 1000.0 - f64::from(n) * 4.0).collect();
        let wild: Vec<f64> = (0..20).map(|n| if n % 2 == 0 { 700.0 } else { 1300.0 }).collect();
        let none = [EntrantFacts::default(), EntrantFacts::default()];
        let rows = judge(
            &[series("plain", &hot), series("x", &hot)],
            &[facts(Mix::Read)],
            &none,
            Judging::default(),
        );
        assert!(rows[0].flags.contains(&Flag::Drift), "{:?}", rows[0].flags);
        assert_eq!(rows[0].verdict, Verdict::Equal);
        let rows = judge(
            &[series("plain", &wild), series("x", &wild)],
            &[facts(Mix::Read)],
            &none,
            Judging::default(),
        );
        assert!(rows[0].flags.contains(&Flag::Noise), "{:?}", rows[0].flags);
    }
}
