//! What comes out: samples, comparisons, and the document that holds them all.

use crate::histogram::Histogram;
use crate::tail::{self, Tail};
use crate::target::PathKind;
use keyway_error::enum_table;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One cell on one subject for one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Which of the workload's runs it is a part of, from 0.
    pub run: u32,
    /// What its blocks and its data follow from.
    #[serde(default)]
    pub seed: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Requests.
    pub operations: u64,
    /// Processor time of this process and, where one serves the path, of that, in seconds.
    pub cpu_seconds: f64,
    /// Processor time of the whole machine: the kernel's threads and other programs included, and whoever else was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu_seconds: Option<f64>,
    /// Energy of the processor package, where the machine tells it.
    pub joules: Option<f64>,
    /// Each request's time. Kept once for all turns of a series, see [`Series::latency`].
    #[serde(skip)]
    pub latency: Histogram,
    /// The slowest of them: bucket and count, from the slowest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<(u32, u64)>,
    /// Values that do not follow from the others: mean latency, seconds, a score.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<Metric, f64>,
    /// What was noticed while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

impl Sample {
    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }

    /// The value of a metric, where this sample has it.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        if let Some(value) = self.values.get(&metric) {
            return Some(*value);
        }
        let rate = |n: f64| (self.seconds > 0.0 && n > 0.0).then(|| n / self.seconds);
        match metric {
            Metric::MbS => rate(self.bytes() as f64 / 1e6),
            Metric::Iops => rate(self.operations as f64),
            Metric::LatencyUs | Metric::Seconds | Metric::Score => None,
            Metric::CpuSPerGib => {
                (self.bytes() > 0).then(|| self.cpu_seconds / (self.bytes() as f64 / f64::from(1u32 << 30)))
            }
        }
    }
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Bandwidth, 10^6 bytes per second.
    MbS,
    /// Requests per second.
    Iops,
    /// Mean time of a request, microseconds.
    LatencyUs,
    /// How long something took.
    Seconds,
    /// A score of a workload's own definition; more is better.
    Score,
    /// Processor seconds per GiB moved.
    CpuSPerGib,
}

impl Metric {
    /// Whether a larger value is the better one.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::MbS | Self::Iops | Self::Score)
    }

    /// How much worse a ratio to the baseline is, in percent.
    pub(crate) fn cost_percent(self, ratio: f64) -> f64 {
        100.0 * if self.more_is_better() { 1.0 - ratio } else { ratio - 1.0 }
    }

    /// For the heading of a column.
    pub fn unit(self) -> &'static str {
        match self {
            Self::MbS => "MB/s",
            Self::Iops => "IOPS",
            Self::LatencyUs => "µs",
            Self::Seconds => "s",
            Self::Score => "score",
            Self::CpuSPerGib => "CPU s/GiB",
        }
    }
}

enum_table! {
    /// What the samples of two subjects say. What earlier versions said is read as what it is now.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Verdict {
        /// Worse than the baseline by more than the change that counts.
        #[serde(alias = "slower")]
        Costs("costs"),
        /// Better than the baseline by more than that.
        #[serde(alias = "faster")]
        Gains("gains"),
        /// Within that.
        Equal("equal"),
        /// Neither can be said yet.
        #[serde(alias = "no measurable difference")]
        Undecided("undecided"),
    }
    /// The words of the contract.
    pub name: &'static str,
}

enum_table! {
    /// A reason to doubt a number.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Flag {
        /// Memory answered instead of the drive.
        PageCache("page-cache", "memory answered instead of the drive: the figure is not the drive's"),
        /// The baseline's own turns moved: heat, a neighbour, a cache that filled up.
        Drift("drift", "the baseline itself moved between the turns: heat, a neighbour or a cache that filled up"),
        /// The turns of one subject differ much among themselves.
        Noise("noise", "the turns differ by more than a tenth among themselves: let the machine rest and run longer"),
        /// The span is smaller than the workload's own.
        TooSmallFile(
            "too-small-file",
            "fewer bytes were touched than the test is made for: a cache in the drive may answer",
        ),
        /// The data could be compressed, and the drive seems to do it.
        Compressible(
            "compressible",
            "the drive compresses, and plain data of this test can be compressed while encrypted data cannot",
        ),
        /// Parts of the medium were never written, and it answers for them without looking.
        NotConditioned("not-conditioned", "parts were never written before: the drive answers for them without looking"),
        /// Too few turns for an interval.
        TooFewTurns("too-few-turns", "too few turns for an interval"),
        /// A modelled drive is driven by more threads than there are processors.
        TooFewCores(
            "too-few-cores",
            "more threads than processors drive the modelled drive: they would take its time from each other",
        ),
        /// This machine was too busy to keep a modelled drive's times.
        BusyMachine("busy-machine", "this machine was too busy to keep the modelled drive's times"),
        /// The run was stopped before all turns were done.
        Incomplete("incomplete", "the run was stopped before all turns were done"),
    }
    /// The word in JSON and tables.
    pub name: &'static str,
    /// What it means, for the foot of a table.
    pub meaning: &'static str,
}

/// One cell of one target against the baseline: a row of the table, an entry of `cells` in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The workload's name.
    pub workload: String,
    /// The cell's name.
    pub cell: String,
    /// The target's words.
    pub target: String,
    /// The baseline's words.
    pub baseline: String,
    /// What the values count.
    pub metric: Metric,
    /// Whether this is the metric the workload's original tells for the cell.
    pub primary: bool,
    /// The target's value: the baseline's times the ratio.
    pub value: f64,
    /// Median over the baseline's blocks of turns.
    pub baseline_value: f64,
    /// Bounds of the value's own interval.
    pub value_low: f64,
    /// The other bound.
    pub value_high: f64,
    /// The centre of the ratios of turns that stand beside each other.
    pub ratio: f64,
    /// Lower bound of the ratio, 95 % for the whole comparison.
    pub ratio_low: f64,
    /// Upper bound.
    pub ratio_high: f64,
    /// The change that counts, as a part of 1.
    #[serde(default)]
    pub delta: f64,
    /// What this says.
    pub verdict: Verdict,
    /// Of the ratio to the bare drive, the part of the way there: the same way without a cipher, to the bare drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_cost: Option<f64>,
    /// The cipher's part: the target to the same way without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher_cost: Option<f64>,
    /// How many seconds of measuring would decide it, by what was seen; none where no time would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_to_decide: Option<f64>,
    /// Why it may be wrong.
    pub flags: Vec<Flag>,
    /// Best of the runs, as the original tells it, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<f64>,
    /// The baseline's best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_best: Option<f64>,
    /// Processor seconds per GiB, median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s_per_gib: Option<f64>,
    /// The baseline's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_cpu_s_per_gib: Option<f64>,
    /// Joules per GiB, median, where the machine tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joules_per_gib: Option<f64>,
    /// The same of the whole machine, whoever it was: true where nothing else runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu_s_per_gib: Option<f64>,
    /// The baseline's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_machine_cpu_s_per_gib: Option<f64>,
    /// How long all but one of 10,000 requests take at most, where there were enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p9999: Option<Tail>,
    /// The baseline's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_p9999: Option<Tail>,
    /// Turns of each.
    pub turns: usize,
    /// How often it was looked at, and measured on.
    #[serde(default)]
    pub looks: u32,
}

impl Comparison {
    /// How much worse than the baseline, in percent; less than nothing is better.
    pub fn cost_percent(&self) -> f64 {
        self.metric.cost_percent(self.ratio)
    }

    /// The interval of that.
    pub fn cost_interval(&self) -> (f64, f64) {
        let (a, b) = (self.metric.cost_percent(self.ratio_low), self.metric.cost_percent(self.ratio_high));
        (a.min(b), a.max(b))
    }
}

/// The machine a document comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Logical processors.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Kernel, as `uname -sr` says.
    pub kernel: String,
    /// Keyway's version.
    pub keyway: String,
}

/// A published figure and what the model makes of the same load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRow {
    /// The model's name.
    pub model: String,
    /// The load, for people.
    pub load: String,
    /// The figure's unit.
    pub unit: String,
    /// What was published.
    pub published: f64,
    /// Where.
    pub source: String,
    /// The public page on which it was read; none: an estimate that nobody has compared.
    pub read_in: Option<String>,
    /// What the model gives.
    pub modelled: f64,
    /// How far that is off, in percent of what was published.
    pub deviation_percent: f64,
    /// Whether the model is held to it (to 5 %).
    pub binding: bool,
}

/// All samples of one cell on one target, in the order of the turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The workload's name.
    pub workload: String,
    /// The cell's name.
    pub cell: String,
    /// The target's words.
    pub target: String,
    /// The turns.
    pub samples: Vec<Sample>,
    /// The times of all requests of all turns.
    pub latency: Histogram,
}

impl Series {
    /// The values of a metric in the order of the turns; empty where a turn has none.
    pub fn values(&self, metric: Metric) -> Vec<f64> {
        self.samples.iter().map(|s| s.value(metric)).collect::<Option<_>>().unwrap_or_default()
    }

    /// What all but one of 10,000 requests stay below; none where there are too few requests or turns.
    pub(crate) fn tail(&self) -> Option<Tail> {
        let turns = self.samples.iter().map(|turn| (turn.operations, &*turn.slowest));
        tail::quantile(&turns.collect::<Vec<_>>())
    }

    /// Each run's value, its slices taken together.
    pub(crate) fn per_run(&self, metric: Metric) -> Vec<f64> {
        let mut runs: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
        self.samples.iter().for_each(|s| runs.entry(s.run).or_default().push(s));
        let value = |samples: &Vec<&Sample>| {
            let values: Option<Vec<f64>> = samples.iter().map(|s| s.value(metric)).collect();
            let weighted = |(value, s): (f64, &&Sample)| value * s.seconds.max(1e-9);
            let seconds: f64 = samples.iter().map(|s| s.seconds.max(1e-9)).sum();
            Some(values?.into_iter().zip(samples).map(weighted).sum::<f64>() / seconds)
        };
        runs.values().filter_map(value).collect()
    }
}

/// Everything a run found, as it is stored and merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The rows.
    pub cells: Vec<Comparison>,
    /// The raw samples behind them.
    pub series: Vec<Series>,
    /// Where it was measured.
    pub machine: Machine,
    /// The drive, as the user named it and as it calls itself.
    pub drive: String,
    /// How requests reached the volumes.
    pub path: PathKind,
    /// What else it depended on.
    #[serde(default)]
    pub circumstances: crate::Circumstances,
    /// The date, as ISO 8601 UTC.
    pub date: String,
    /// The command that was given.
    pub command: String,
    /// What was not done, and why; empty when all was.
    pub missing: Vec<String>,
    /// Remarks for the reader: where a modelled drive's figures come from, what was left out.
    pub notes: Vec<String>,
    /// How long it took, in seconds.
    #[serde(default)]
    pub seconds: f64,
    /// A modelled drive beside what was published of it; empty for a real one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibration: Vec<CalibrationRow>,
}

impl Document {
    /// How many tests it tells of.
    pub fn tests(&self) -> usize {
        self.cells.iter().filter(|row| row.primary).count()
    }
}
