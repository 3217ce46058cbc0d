//! Every shipped workload, from its own file, at a size that takes seconds: each cell gets a figure on
//! each target, and what requests wrote is verified.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::workload::{self, Operation, Procedure};
use keyway_lab::{
    Cell, Drive, Entrant, Findings, Judging, Rig, Target, Workload, measure, measure_procedure,
};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The largest block of any workload (ATTO's).
const SPAN: u64 = 64 << 20;

/// A workload with its own cells, its turns and bytes as few as can be.
fn small(original: &Workload) -> Workload {
    let slow = std::env::var_os("KEYWAY_SLOW").is_some();
    let mut workload = original.clone();
    let turns = &mut workload.turns;
    (turns.runs, turns.slices, turns.discarded, turns.pause_seconds) = (1, 2, 0, 0.0);
    turns.seconds = 0.004;
    match &mut workload.kind {
        Procedure::Requests(requests) => {
            (requests.span_bytes, requests.verify) = (SPAN, true);
            // ATTO has 216 cells: one of nine, its smallest and largest blocks among them, shows the way.
            if !slow && requests.cells.len() > 100 {
                let few = |all: usize| (0..all).filter(|n| n % 9 == 0 || n + 1 == all).collect::<Vec<_>>();
                let kept = few(requests.cells.len());
                requests.cells = kept.iter().map(|n| requests.cells[*n].clone()).collect();
                requests.metrics = kept.iter().map(|n| requests.metrics[*n]).collect();
            }
            for cell in &mut requests.cells {
                *cell = Cell { span_bytes: SPAN, ..cell.clone() };
            }
        }
        Procedure::Positions(p) => (p.samples, p.sample_bytes, p.access_samples) = (4, 1 << 20, 8),
        Procedure::Condition(c) => (c.at_most_seconds, c.round_seconds) = (0.5, 0.02),
        Procedure::Tree(tree) => {
            (tree.folders, tree.read_bytes) = (5, 1 << 20);
            for group in &mut tree.files {
                (group.count, group.bytes) = (4, 1 << 18);
            }
        }
        Procedure::Copy(copy) => copy.bytes = 3 << 20,
        Procedure::Timed(timed) => timed.bytes = 64 << 20,
        // The mix runs in the calibration; here one of its parts shows that it is found and replayed.
        Procedure::Traces(traces) if traces.traces == ["pcmark-like"] || !slow => {
            traces.traces = vec!["boot".to_owned()];
        }
        Procedure::Traces(_) => {}
    }
    workload
}

fn entrants(rig: &Rig, targets: &[&str], folder: &Path) -> Vec<Entrant> {
    let entrant = |words: &&str| {
        let target: Target = words.parse().expect("a target");
        let timed = rig.timed(&target, |_, _, _, _| unreachable!("nothing is encrypted in place"));
        let subject = rig.in_process(&rig.volume(&target).expect("a volume")).expect("a subject");
        let own = folder.join(words.replace(':', "-"));
        std::fs::create_dir_all(&own).expect("a folder");
        Entrant { timed, folder: Some(own), ..Entrant::new(*words, subject) }
    };
    targets.iter().map(entrant).collect()
}

fn run(workload: &Workload, original: &Workload, entrants: &[Entrant]) -> Findings {
    let stop = AtomicBool::new(false);
    match &workload.kind {
        Procedure::Requests(requests) => {
            measure(original, workload, requests, entrants, Judging::default(), &stop, &())
        }
        _ => measure_procedure(workload, entrants, Judging::default(), &stop, &()),
    }
}

fn check(name: &str, found: &Findings, targets: &[&str]) {
    assert!(
        found.error.is_none() && found.missing.is_empty(),
        "{name}: {:?} {:?}",
        found.error,
        found.missing
    );
    let cells: Vec<&str> = found.series.iter().map(|s| s.cell.as_str()).collect();
    assert!(!cells.is_empty(), "{name}");
    for cell in cells {
        for target in &targets[1..] {
            let row = found.comparisons.iter().find(|r| r.primary && r.cell == cell && r.target == *target);
            let row = row.unwrap_or_else(|| panic!("{name}: nothing of {cell} on {target}"));
            assert!(row.value > 0.0 && row.baseline_value > 0.0, "{name}: {row:?}");
        }
    }
}

#[test]
fn every_shipped_workload_runs_on_a_file_and_what_it_writes_is_verified() {
    let stop = AtomicBool::new(false);
    // A temporary folder may be in memory; the build folder is on a disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let rig =
        Rig::open(&Drive::Path(folder.path().to_owned()), SPAN + (96 << 20), false, &stop).expect("a rig");
    for original in workload::shipped().expect("they parse") {
        let workload = small(&original);
        // Whoever lends the encryption in place times it.
        if matches!(&workload.kind, Procedure::Timed(timed) if timed.operation == Operation::InPlace) {
            continue;
        }
        // Unlocking has no plain side.
        let unlock = workload.name == "unlock-time";
        let mut targets = vec![if unlock { "veracrypt:serpent" } else { "plain" }, "veracrypt:aes"];
        // Keyway's own operations are different code for each format.
        if matches!(workload.kind, Procedure::Timed(_)) {
            targets.push("bitlocker:aes-xts-128");
        }
        let found = run(&workload, &original, &entrants(&rig, &targets, folder.path()));
        check(&workload.name, &found, &targets);
        if workload.name == "iometer-condition" {
            assert!(found.notes.iter().any(|n| n.contains("settled")), "{:?}", found.notes);
        }
    }
}
