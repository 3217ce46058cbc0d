//! Our load generator against fio on the same file: the eight cells of CrystalDiskMark's default
//! profile. Takes some minutes; `KEYWAY_SLOW=1` runs it where fio is installed.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::load::{self, Turn};
use keyway_lab::workload::{self, Data, Kind};
use keyway_lab::{Cell, Metric, Mix, Pattern, Subject, stats};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SPAN: u64 = 256 << 20;
/// How far apart the medians of the two may be.
const APART: f64 = 0.05;
/// The interval of the ratio is at most this long to either side before anything is said: a real
/// difference of a tenth then lies two and a half of the estimate's deviations outside.
const SURE: f64 = 0.04;
/// Pairs of turns: so many at least, and so many at most until the interval is short enough.
const PAIRS: (usize, usize) = (16, 80);

/// What the pairs of turns say about two generators.
#[derive(Debug, PartialEq)]
enum Told {
    Agree,
    Differ,
    /// The machine is too restless.
    Nothing,
}

/// The median of the pairs' ratios with its interval, and what it says.
fn told(ours: &[f64], theirs: &[f64]) -> (f64, f64, f64, Told) {
    let ratio = stats::compare(theirs, ours, 1);
    let (low, high) = (ratio.interval.low, ratio.interval.high);
    let told = match () {
        () if !ratio.enough || high - low > 2.0 * SURE => Told::Nothing,
        () if (ratio.ratio - 1.0).abs() <= APART => Told::Agree,
        () if low > 1.0 + APART || high < 1.0 - APART => Told::Differ,
        () => Told::Nothing,
    };
    (ratio.ratio, low, high, told)
}

/// MB/s of a turn with fio, after the same ramp.
fn fio(path: &Path, cell: &Cell, seed: u64) -> f64 {
    let kind = match (cell.pattern, cell.mix) {
        (Pattern::Sequential, Mix::Read) => "read",
        (Pattern::Sequential, _) => "write",
        (Pattern::Random, Mix::Read) => "randread",
        (Pattern::Random, _) => "randwrite",
    };
    let mut fio = Command::new("fio");
    // io_uring with registered buffers, direct, no map of blocks that were touched, the same random
    // bytes written again and again: what our generator does.
    fio.args(["--name=cell", "--ioengine=io_uring", "--fixedbufs=1", "--direct=1"]);
    fio.args(["--time_based", "--ramp_time=100ms", "--output-format=json"]);
    fio.args(["--norandommap", "--refill_buffers=0", "--scramble_buffers=0"]);
    // Buffers in huge pages like ours (tunable of glibc 2.35 and later): in ordinary ones it is chance
    // into how many pieces a request of 1 MiB is cut, and fio's own runs differ by a factor of two.
    // A buffer has to be of 2 MiB for that: the block size of the direction that is not used sees to it.
    fio.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1").arg("--iomem_align=2m");
    let other = if cell.block_bytes < 1 << 20 { cell.block_bytes } else { 4 << 20 };
    let blocks = match cell.mix {
        Mix::Read => format!("{},{other}", cell.block_bytes),
        _ => format!("{other},{}", cell.block_bytes),
    };
    fio.arg(format!("--runtime={}ms", TURN.as_millis()))
        .arg(format!("--filename={}", path.display()))
        .arg(format!("--rw={kind}"))
        .arg(format!("--size={SPAN}"))
        .arg(format!("--bs={blocks}"))
        .arg(format!("--iodepth={}", cell.queue_depth))
        .arg(format!("--randseed={seed}"));
    let out = fio.output().expect("fio runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let json = text.find('{').and_then(|at| serde_json::from_str::<serde_json::Value>(&text[at..]).ok());
    let json = json.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)));
    let way = if cell.mix == Mix::Read { "read" } else { "write" };
    json["jobs"][0][way]["bw_bytes"].as_f64().expect("a bandwidth") / 1e6
}

const TURN: Duration = Duration::from_millis(400);
const RAMP: Duration = Duration::from_millis(100);

fn ours(path: &Path, cell: &Cell, seed: u64) -> f64 {
    let stop = AtomicBool::new(false);
    let subject = Subject::File { path: path.to_owned(), start: 0, len: SPAN, direct: true };
    let turn = Turn { time: TURN, ramp: RAMP, data: Data::Random, seed, verify: false, stop: &stop };
    load::run(&subject, cell, turn).expect("it runs").value(Metric::MbS).expect("a speed")
}

#[test]
fn fio_and_we_agree_within_5_percent() {
    if std::env::var_os("KEYWAY_SLOW").is_none() {
        eprintln!("SKIP: takes some minutes; KEYWAY_SLOW=1 runs it");
        return;
    }
    if keyway_testkit::require_tool("fio").is_none() {
        return;
    }
    // A temporary folder may be in memory; the build folder is on a disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("file");
    let mut file = File::create(&path).expect("made");
    file.write_all(&vec![7; SPAN as usize]).expect("written");
    // What is still on its way to the disk would hinder the first cell.
    file.sync_all().expect("on the disk");
    let Kind::Requests(requests) = workload::find("cdm").expect("shipped").kind else { panic!("requests") };
    let only = std::env::var("KEYWAY_FIO_CELL").unwrap_or_default();
    let cells = requests.cells.iter().filter(|c| c.mix != Mix::Mix70 && c.name.contains(&only));
    let mut wrong = Vec::new();
    for cell in cells {
        let cell = Cell { span_bytes: SPAN, ..cell.clone() };
        let (mut us, mut them) = (Vec::new(), Vec::new());
        let verdict = loop {
            // A B B A, two pairs at a time, after which it is looked again.
            for seed in 0..2 {
                let seed = us.len() as u64 + seed;
                if seed.is_multiple_of(2) {
                    us.push(ours(&path, &cell, seed));
                    them.push(fio(&path, &cell, seed));
                } else {
                    them.push(fio(&path, &cell, seed));
                    us.push(ours(&path, &cell, seed));
                }
            }
            let verdict = told(&us, &them);
            if us.len() >= PAIRS.0 && (verdict.3 != Told::Nothing || us.len() >= PAIRS.1) {
                break verdict;
            }
        };
        let (ratio, low, high, verdict) = verdict;
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let line = format!(
            "{:<20} {:>9.1} MB/s, fio {:>9.1}: {:+.1} % ({:+.1} … {:+.1}), {} pairs: {verdict:?}",
            cell.name,
            stats::median(&us),
            stats::median(&them),
            percent(ratio),
            percent(low),
            percent(high),
            us.len(),
        );
        eprintln!("{line}");
        if verdict != Told::Agree {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The verdict itself, on noise of a tenth: the same generator agrees, one that is a tenth slower is
/// found out, and too few turns say nothing.
#[test]
fn the_verdict_tells_a_tenth_from_nothing() {
    let mut rng = keyway_testkit::Rng::new(3);
    let mut turns = |level: f64, n: usize| -> Vec<f64> {
        (0..n).map(|_| level * (0.95 + rng.below(1000) as f64 / 10_000.0)).collect()
    };
    for _ in 0..50 {
        assert_eq!(told(&turns(1000.0, 80), &turns(1000.0, 80)).3, Told::Agree);
        assert_eq!(told(&turns(900.0, 80), &turns(1000.0, 80)).3, Told::Differ);
        assert_eq!(told(&turns(1000.0, 4), &turns(1000.0, 4)).3, Told::Nothing);
    }
}
