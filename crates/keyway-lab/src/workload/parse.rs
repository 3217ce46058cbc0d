//! A workload's file: TOML, every word of it known, every number checked once.

use super::definition::{
    Condition, CopyFile, Data, FileGroup, Operation, Positions, Procedure, Requests, Timed, Traces, Tree,
    Turns, Workload,
};
use super::size::{parse_bytes, short_bytes};
use crate::cell::{Cell, Mix, Pattern};
use crate::error::LabError;
use crate::result::Metric;
use serde::Deserialize;
use toml::Spanned;

/// Limits that no sensible test reaches; what is beyond them is a slip of the pen.
const MOST_RUNS: u32 = 1000;
const MOST_SECONDS: f64 = 7.0 * 86_400.0;
const MOST_IN_FLIGHT: u32 = 4096;
const LARGEST_BLOCK: u64 = 1 << 30;
const LARGEST_SPAN: u64 = 1 << 50;
const MOST_CELLS: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWorkload {
    name: Spanned<String>,
    title: String,
    source: String,
    #[serde(default)]
    deviations: Vec<String>,
    turns: Spanned<RawTurns>,
    requests: Option<Spanned<RawRequests>>,
    positions: Option<Spanned<RawPositions>>,
    condition: Option<Spanned<RawCondition>>,
    tree: Option<Spanned<RawTree>>,
    copy: Option<Spanned<RawCopy>>,
    timed: Option<Spanned<RawTimed>>,
    traces: Option<Spanned<RawTraces>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTurns {
    runs: Spanned<u32>,
    #[serde(default)]
    seconds: Option<Spanned<f64>>,
    #[serde(default)]
    pause: Option<Spanned<f64>>,
    #[serde(default)]
    discarded: u32,
    #[serde(default)]
    slices: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRequests {
    span: Spanned<String>,
    data: Data,
    #[serde(default)]
    verify: bool,
    #[serde(default)]
    task: bool,
    #[serde(default)]
    bytes: Option<Spanned<String>>,
    test: Vec<Spanned<RawTest>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTest {
    pattern: Pattern,
    blocks: Vec<Spanned<String>>,
    queues: Vec<Spanned<u32>>,
    #[serde(default)]
    threads: Option<Spanned<u32>>,
    mixes: Vec<Mix>,
    metric: Metric,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPositions {
    samples: Spanned<u32>,
    sample: Spanned<String>,
    write: bool,
    access_samples: Spanned<u32>,
    access: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCondition {
    block: Spanned<String>,
    queue: Spanned<u32>,
    at_most: Spanned<f64>,
    passes: Spanned<u32>,
    round: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTree {
    folders: Spanned<u32>,
    files: Vec<Spanned<RawFiles>>,
    #[serde(default)]
    read: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFiles {
    count: u32,
    bytes: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCopy {
    bytes: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTimed {
    operation: Operation,
    bytes: Spanned<String>,
    used: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTraces {
    traces: Vec<String>,
    think_time: bool,
}

/// Where we are, for errors.
struct WorkloadText<'a> {
    file: &'a str,
    text: &'a str,
}

impl WorkloadText<'_> {
    fn wrong<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> LabError {
        self.at(at.span().start, what)
    }

    fn at(&self, byte: usize, what: impl Into<String>) -> LabError {
        let line = self.text.bytes().take(byte).filter(|b| *b == b'\n').count() + 1;
        LabError::Workload { file: self.file.to_owned(), line, what: what.into() }
    }

    fn bytes(&self, text: &Spanned<String>, most: u64) -> Result<u64, LabError> {
        let bytes = parse_bytes(text.get_ref()).map_err(|what| self.wrong(text, what))?;
        if bytes == 0 || bytes > most {
            return Err(self.wrong(text, format!("{} is out of range (1 to {most} bytes)", text.get_ref())));
        }
        Ok(bytes)
    }

    fn count(&self, n: &Spanned<u32>, what: &str, most: u32) -> Result<u32, LabError> {
        match *n.get_ref() {
            n if (1..=most).contains(&n) => Ok(n),
            other => Err(self.wrong(n, format!("{what} is {other}, which is not within 1 to {most}"))),
        }
    }

    fn seconds(&self, n: &Spanned<f64>, what: &str) -> Result<f64, LabError> {
        match *n.get_ref() {
            n if (0.0..=MOST_SECONDS).contains(&n) => Ok(n),
            other => Err(self.wrong(n, format!("{what} is {other} s, which makes no sense"))),
        }
    }
}

/// Reads a workload from its text; `file` is for errors.
///
/// # Errors
/// [`LabError::Workload`] with the line and what is wrong there.
pub fn parse(file: &str, text: &str) -> Result<Workload, LabError> {
    let place = WorkloadText { file, text };
    let raw: RawWorkload = toml::from_str(text).map_err(|e| {
        place.at(e.span().map_or(0, |s| s.start), e.message().lines().collect::<Vec<_>>().join(" "))
    })?;
    let named = raw.name.get_ref();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if named.is_empty() || named.len() > 40 || !named.chars().all(fits) {
        return Err(place.wrong(&raw.name, "a name is of small letters, digits and dashes, 40 at most"));
    }
    let turns = turns(&place, &raw.turns, raw.condition.is_some())?;
    let mut kinds = Vec::new();
    if let Some(raw) = &raw.requests {
        if turns.seconds <= 0.0 {
            return Err(place.wrong(raw, "requests are made for a time: [turns] needs seconds"));
        }
        kinds.push(Procedure::Requests(requests(&place, raw.get_ref())?));
    }
    if let Some(raw) = &raw.positions {
        kinds.push(Procedure::Positions(positions(&place, raw.get_ref())?));
    }
    if let Some(raw) = &raw.condition {
        kinds.push(Procedure::Condition(condition(&place, raw.get_ref())?));
    }
    if let Some(raw) = &raw.tree {
        kinds.push(Procedure::Tree(tree(&place, raw.get_ref())?));
    }
    if let Some(raw) = &raw.copy {
        kinds.push(Procedure::Copy(CopyFile { bytes: place.bytes(&raw.get_ref().bytes, LARGEST_SPAN)? }));
    }
    if let Some(raw) = &raw.timed {
        let RawTimed { operation, bytes, used } = raw.get_ref();
        let bytes = place.bytes(bytes, LARGEST_SPAN)?;
        if let Some(used) = used.as_ref().filter(|_| *operation != Operation::InPlace) {
            return Err(place.wrong(used, "only an encryption in place knows what is in use"));
        }
        let used_bytes = used.as_ref().map(|used| place.bytes(used, bytes)).transpose()?;
        kinds.push(Procedure::Timed(Timed { operation: *operation, bytes, used_bytes }));
    }
    if let Some(raw) = &raw.traces {
        if raw.get_ref().traces.is_empty() {
            return Err(place.wrong(raw, "no trace is named"));
        }
        let RawTraces { traces, think_time } = raw.get_ref();
        kinds.push(Procedure::Traces(Traces { traces: traces.clone(), think_time: *think_time }));
    }
    let kind = match (kinds.pop(), kinds.is_empty()) {
        (Some(kind), true) => kind,
        (None, _) => {
            return Err(place.at(
                0,
                "nothing is done: one of [requests], [positions], [condition], [tree], [copy], [timed], [traces] is needed",
            ));
        }
        (Some(_), false) => return Err(place.at(0, "one workload does one thing: split it into two files")),
    };
    let RawWorkload { name, title, source, deviations, .. } = raw;
    Ok(Workload { name: name.into_inner(), title, source, deviations, turns, kind })
}

/// A drive is conditioned once: there is no other turn to take turns with.
fn turns(place: &WorkloadText<'_>, raw: &Spanned<RawTurns>, once: bool) -> Result<Turns, LabError> {
    let raw = raw.get_ref();
    let seconds = |n: &Option<Spanned<f64>>, what| n.as_ref().map_or(Ok(0.0), |n| place.seconds(n, what));
    let slices = match &raw.slices {
        None if once => 1,
        None => 2,
        Some(n) if once && *n.get_ref() > 1 => {
            return Err(place.wrong(n, "a drive is conditioned once: slices are 1"));
        }
        Some(_) if once => 1,
        Some(n) if n.get_ref() % 2 == 1 => {
            return Err(place.wrong(n, "slices must be even, so that A B B A comes out"));
        }
        Some(n) => place.count(n, "slices", 100)?,
    };
    Ok(Turns {
        runs: place.count(&raw.runs, "runs", MOST_RUNS)?,
        seconds: seconds(&raw.seconds, "seconds")?,
        pause_seconds: seconds(&raw.pause, "pause")?,
        discarded: raw.discarded.min(MOST_RUNS),
        slices,
    })
}

fn requests(place: &WorkloadText<'_>, raw: &RawRequests) -> Result<Requests, LabError> {
    let span_bytes = place.bytes(&raw.span, LARGEST_SPAN)?;
    let (mut cells, mut metrics) = (Vec::new(), Vec::new());
    for test in &raw.test {
        let raw = test.get_ref();
        if raw.blocks.is_empty() || raw.queues.is_empty() || raw.mixes.is_empty() {
            return Err(place.wrong(test, "blocks, queues and mixes need at least one value each"));
        }
        if raw.name.is_some() && raw.blocks.len() * raw.queues.len() * raw.mixes.len() > 1 {
            return Err(place.wrong(test, "a name of its own needs one block, one queue and one mix"));
        }
        let threads = raw.threads.as_ref().map_or(Ok(1), |n| place.count(n, "threads", MOST_IN_FLIGHT))?;
        for queue in &raw.queues {
            let queue_depth = place.count(queue, "a queue", MOST_IN_FLIGHT)?;
            if queue_depth.saturating_mul(threads) > MOST_IN_FLIGHT {
                return Err(place
                    .wrong(queue, format!("more than {MOST_IN_FLIGHT} requests in flight make no sense")));
            }
            for block in &raw.blocks {
                let block_bytes = place.bytes(block, LARGEST_BLOCK)?;
                if !block_bytes.is_multiple_of(512) || block_bytes > span_bytes {
                    return Err(
                        place.wrong(block, "a block is a multiple of 512 bytes and not larger than the span")
                    );
                }
                for mix in &raw.mixes {
                    let letters = if raw.pattern == Pattern::Sequential { "SEQ" } else { "RND" };
                    let block = short_bytes(block_bytes);
                    let name = raw.name.clone().unwrap_or_else(|| {
                        format!("{letters}{block} Q{queue_depth}T{threads} {}", mix.name())
                    });
                    let (pattern, mix) = (raw.pattern, *mix);
                    cells.push(Cell { name, pattern, mix, block_bytes, queue_depth, threads, span_bytes });
                    metrics.push(raw.metric);
                }
            }
        }
        if cells.len() > MOST_CELLS {
            return Err(place.wrong(test, format!("more than {MOST_CELLS} cells")));
        }
    }
    if cells.is_empty() {
        return Err(place.wrong(&raw.span, "no test is named"));
    }
    let run_bytes = raw.bytes.as_ref().map(|bytes| place.bytes(bytes, LARGEST_SPAN)).transpose()?;
    let RawRequests { data, verify, task, .. } = *raw;
    Ok(Requests { span_bytes, data, verify, task, run_bytes, cells, metrics })
}

fn positions(place: &WorkloadText<'_>, raw: &RawPositions) -> Result<Positions, LabError> {
    Ok(Positions {
        samples: place.count(&raw.samples, "samples", 1_000_000)?,
        sample_bytes: place.bytes(&raw.sample, LARGEST_BLOCK)?,
        write: raw.write,
        access_samples: place.count(&raw.access_samples, "access_samples", 1_000_000)?,
        access_bytes: place.bytes(&raw.access, LARGEST_BLOCK)?,
    })
}

fn condition(place: &WorkloadText<'_>, raw: &RawCondition) -> Result<Condition, LabError> {
    Ok(Condition {
        block_bytes: place.bytes(&raw.block, LARGEST_BLOCK)?,
        queue_depth: place.count(&raw.queue, "a queue", MOST_IN_FLIGHT)?,
        at_most_seconds: place.seconds(&raw.at_most, "at_most")?,
        passes: place.count(&raw.passes, "passes", 1000)?,
        round_seconds: place.seconds(&raw.round, "round")?,
    })
}

fn tree(place: &WorkloadText<'_>, raw: &RawTree) -> Result<Tree, LabError> {
    let group = |group: &Spanned<RawFiles>| {
        let raw = group.get_ref();
        let bytes = place.bytes(&raw.bytes, LARGEST_SPAN)?;
        if raw.count == 0 || u64::from(raw.count) > bytes {
            return Err(place.wrong(group, "a group has at least one file, and each at least one byte"));
        }
        Ok(FileGroup { count: raw.count, bytes })
    };
    Ok(Tree {
        folders: place.count(&raw.folders, "folders", 1_000_000)?,
        files: raw.files.iter().map(group).collect::<Result<_, _>>()?,
        read_bytes: raw.read.as_ref().map_or(Ok(0), |n| place.bytes(n, LARGEST_SPAN))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"name = "mine"
title = "A test"
source = "nobody"

[turns]
runs = 3
seconds = 1.0

[requests]
span = "64MiB"
data = "random"

[[requests.test]]
pattern = "random"
blocks = ["4KiB", "8KiB"]
queues = [1, 32]
mixes = ["read"]
metric = "iops"
"#;

    #[test]
    fn a_good_file() {
        let workload = parse("mine.toml", GOOD).expect("it is good");
        let Procedure::Requests(requests) = workload.kind else { panic!("requests") };
        let names: Vec<_> = requests.cells.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["RND4K Q1T1 read", "RND8K Q1T1 read", "RND4K Q32T1 read", "RND8K Q32T1 read"]);
        assert_eq!(requests.cells[3].span_bytes, 64 << 20);
    }

    #[test]
    fn nonsense_is_told_with_its_line() {
        let bad = [
            ("queues = [1, 32]", "queues = [1, 0]", 16),
            ("blocks = [\"4KiB\"", "blocks = [\"4KB\"", 15),
            ("blocks = [\"4KiB\"", "blocks = [\"128MiB\"", 15),
            ("seconds = 1.0", "seconds = -1.0", 7),
            ("seconds = 1.0", "seconds = nan", 7),
            ("seconds = 1.0", "second = 1.0", 7),
            ("runs = 3", "runs = 0", 6),
            ("runs = 3", "runs = 3\nslices = 3", 7),
            ("mixes = [\"read\"]", "mixes = [\"reed\"]", 17),
            ("data = \"random\"", "data = \"random\"\ncolour = \"red\"", 12),
            ("span = \"64MiB\"", "span = \"64 sheep\"", 10),
            ("name = \"mine\"", "name = \"My test\"", 1),
            ("metric = \"iops\"", "metric = \"iops\"\n[copy]\nbytes = \"5GB\"", 1),
            ("title = \"A test\"", "title = A test", 2),
        ];
        for (good, wrong, want) in bad {
            let text = GOOD.replacen(good, wrong, 1);
            assert_ne!(text, GOOD, "{good}");
            match parse("mine.toml", &text) {
                Err(LabError::Workload { line, what, .. }) => assert_eq!(line, want, "{wrong}: {what}"),
                other => panic!("{wrong}: {other:?}"),
            }
        }
        let told = parse("mine.toml", &GOOD.replace("runs = 3", "runs = 0")).expect_err("no").to_string();
        assert!(told.starts_with("mine.toml:6: runs is 0"), "{told}");
        assert_eq!(told.lines().count(), 1);
    }
}
