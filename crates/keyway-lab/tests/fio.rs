//! Our load generator against fio on the same file: the eight cells of CrystalDiskMark's default
//! profile. Takes two minutes, and a machine that is left alone; `KEYWAY_SLOW=1` runs it where fio is
//! installed.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::load::{self, Turn};
use keyway_lab::workload::{self, Data, Kind};
use keyway_lab::{Cell, Metric, Mix, Pattern, Subject, stats};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SPAN: u64 = 256 << 20;
/// How far the medians may lie apart.
const APART: f64 = 0.05;

/// MB/s of half a second with fio.
fn fio(path: &Path, cell: &Cell, seed: u64) -> f64 {
    let kind = match (cell.pattern, cell.mix) {
        (Pattern::Sequential, Mix::Read) => "read",
        (Pattern::Sequential, _) => "write",
        (Pattern::Random, Mix::Read) => "randread",
        (Pattern::Random, _) => "randwrite",
    };
    let out = Command::new("fio")
        .args([
            "--name=cell",
            "--ioengine=io_uring",
            "--fixedbufs=1",
            "--direct=1",
            "--time_based",
            "--runtime=500ms",
        ])
        .args([
            "--ramp_time=100ms",
            "--norandommap",
            "--refill_buffers=0",
            "--scramble_buffers=0",
            "--output-format=json",
        ])
        .arg(format!("--filename={}", path.display()))
        .arg(format!("--rw={kind}"))
        .arg(format!("--size={}", SPAN))
        .arg(format!("--bs={}", cell.block_bytes))
        .arg(format!("--iodepth={}", cell.queue_depth))
        .arg(format!("--randseed={seed}"))
        .output()
        .expect("fio runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let json = text.find('{').and_then(|at| serde_json::from_str::<serde_json::Value>(&text[at..]).ok());
    let json = json.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)));
    let way = if cell.mix == Mix::Read { "read" } else { "write" };
    json["jobs"][0][way]["bw_bytes"].as_f64().expect("a bandwidth") / 1e6
}

#[test]
fn fio_and_we_agree_within_5_percent() {
    if std::env::var_os("KEYWAY_SLOW").is_none() {
        eprintln!("SKIP: takes two minutes; KEYWAY_SLOW=1 runs it");
        return;
    }
    if keyway_testkit::require_tool("fio").is_none() {
        return;
    }
    // A temporary folder may be in memory; the build folder is on a disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("file");
    std::fs::write(&path, vec![7; SPAN as usize]).expect("written");
    let Kind::Requests(requests) = workload::find("cdm").expect("shipped").kind else { panic!("requests") };
    let cells = requests.cells.iter().filter(|c| c.mix != Mix::Mix70);
    let only = std::env::var("KEYWAY_FIO_CELL").unwrap_or_default();
    let stop = AtomicBool::new(false);
    let mut wrong = Vec::new();
    for cell in cells.filter(|c| c.name.contains(&only)) {
        let cell = Cell { span_bytes: SPAN, ..cell.clone() };
        let subject = Subject::File { path: path.clone(), start: 0, len: SPAN, direct: true };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..10u64 {
            let (time, ramp) = (Duration::from_millis(500), Duration::from_millis(100));
            let turn = Turn { time, ramp, data: Data::Random, seed: round, stop: &stop };
            let mut us = || {
                ours.push(
                    load::run(&subject, &cell, turn).expect("it runs").value(Metric::MbS).expect("a speed"),
                )
            };
            if round % 2 == 0 {
                us();
                theirs.push(fio(&path, &cell, round));
            } else {
                theirs.push(fio(&path, &cell, round));
                us();
            }
        }
        // Neighbouring turns are held against each other: what else the machine does hits both.
        let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(us, them)| us / them).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = stats::median(&ratios);
        let (ours, theirs) = (stats::median(&ours), stats::median(&theirs));
        eprintln!(
            "{:<20} {ours:>9.1} MB/s, fio {theirs:>9.1}: {:+.1} % ({:+.1} to {:+.1} in the middle half)",
            cell.name,
            (ratio - 1.0) * 100.0,
            (ratios[2] - 1.0) * 100.0,
            (ratios[7] - 1.0) * 100.0
        );
        if (ratio - 1.0).abs() > APART {
            wrong.push(format!("{}: {ours:.1} and fio's {theirs:.1} MB/s", cell.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
