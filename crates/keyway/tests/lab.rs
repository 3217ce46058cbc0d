//! The laboratory's workloads that encrypt in place, which this crate lends it, at a size that takes seconds.
#![cfg(feature = "lab")]
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway::lab::workload::{self, Procedure, Workload};
use keyway::lab::{
    Drive, Entrant, Findings, Judging, Rig, Target, encrypt_in_place, measure, measure_procedure,
};
use std::sync::atomic::AtomicBool;

/// What is encrypted in place, and as much of it as holds data.
const BYTES: u64 = 64 << 20;
const USED_BYTES: u64 = 24 << 20;

const SPAN: u64 = BYTES + (96 << 20);

/// A workload with its turns and bytes as few as can be.
fn small(original: &Workload) -> Workload {
    let mut workload = original.clone();
    let turns = &mut workload.turns;
    (turns.runs, turns.slices, turns.discarded, turns.pause_seconds) = (1, 2, 0, 0.0);
    turns.seconds = 0.004;
    match &mut workload.kind {
        Procedure::Requests(requests) => {
            requests.span_bytes = BYTES;
            requests.cells.iter_mut().for_each(|cell| cell.span_bytes = BYTES);
        }
        Procedure::Positions(p) => (p.samples, p.sample_bytes, p.access_samples) = (4, 1 << 20, 8),
        Procedure::Timed(timed) => {
            timed.bytes = BYTES;
            timed.used_bytes = timed.used_bytes.map(|_| USED_BYTES);
        }
        _ => {}
    }
    workload
}

fn entrants(rig: &Rig, targets: &[&str]) -> Vec<Entrant> {
    let entrant = |words: &&str| {
        let target: Target = words.parse().expect("a target");
        let timed = rig.timed(&target, encrypt_in_place);
        if target == Target::Hardware(None) {
            let (subject, drive) = rig.hardware().expect("it is set up").expect("on a model");
            return Entrant { timed, model: Some(drive), ..Entrant::new(*words, subject) };
        }
        let subject = rig.in_process(&rig.volume(&target).expect("a volume")).expect("a subject");
        Entrant { timed, ..Entrant::new(*words, subject) }
    };
    targets.iter().map(entrant).collect()
}

/// Runs a shipped workload; every cell has a figure on every target.
fn run(name: &str, rig: &Rig, targets: &[&str]) -> Option<Findings> {
    if name == "in-place-used-time" && keyway_testkit::require_tool("mkfs.exfat").is_none() {
        return None;
    }
    let (original, stop) = (workload::find(name).expect("shipped"), AtomicBool::new(false));
    let (workload, entrants) = (small(&original), entrants(rig, targets));
    let found = match &workload.kind {
        Procedure::Requests(requests) => {
            measure(&original, &workload, requests, &entrants, Judging::default(), &stop, &())
        }
        _ => measure_procedure(&workload, &entrants, Judging::default(), &stop, &()),
    };
    assert!(
        found.error.is_none() && found.missing.is_empty(),
        "{name}: {:?} {:?}",
        found.error,
        found.missing
    );
    for cell in found.series.iter().map(|s| &s.cell) {
        for target in &targets[1..] {
            let row = found.comparisons.iter().find(|r| r.primary && r.cell == *cell && r.target == *target);
            let row = row.unwrap_or_else(|| panic!("{name}: nothing of {cell} on {target}"));
            assert!(row.value > 0.0 && row.baseline_value > 0.0, "{name}: {row:?}");
        }
    }
    Some(found)
}

/// How many MiB the first turn on a target wrote.
fn moved(found: &Findings, target: &str) -> u64 {
    let series = found.series.iter().find(|s| s.target == target).expect("a series");
    series.samples.first().expect("a turn").bytes_written >> 20
}

/// How long it takes is the machine's affair; how much has to be moved is not.
fn check_what_is_moved(name: &str, found: &Findings) {
    let used = if name == "in-place-used-time" { USED_BYTES } else { BYTES } >> 20;
    assert_eq!(["plain", "veracrypt:aes"].map(|target| moved(found, target)), [used, BYTES >> 20], "{name}");
    // And its metadata; free space is left alone.
    let bitlocker = moved(found, "bitlocker:aes-xts-128");
    assert!((used..used + 16).contains(&bitlocker), "{name}: {bitlocker} MiB");
}

#[test]
fn a_file_is_encrypted_in_place() {
    // A temporary folder may be in memory; the build folder is on a disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let rig = Rig::open(&Drive::from(folder.path()), SPAN, false, &AtomicBool::new(false)).expect("a rig");
    for name in ["in-place-time", "in-place-used-time"] {
        let found = run(name, &rig, &["plain", "veracrypt:aes", "bitlocker:aes-xts-128"]);
        found.iter().for_each(|found| check_what_is_moved(name, found));
    }
}

#[cfg(feature = "virtual-drive")]
#[test]
fn a_modelled_drive_encrypts_by_itself_and_is_ready_at_once() {
    let drive = Drive::from("model:crucial-m500");
    let rig = Rig::open(&drive, SPAN, false, &AtomicBool::new(false)).expect("a rig");
    for name in ["anand-4k-qd32", "gnome-disks", "in-place-time", "in-place-used-time"] {
        let found = run(name, &rig, &["plain", "hardware", "veracrypt:aes", "bitlocker:aes-xts-128"]);
        found
            .iter()
            .filter(|_| name.starts_with("in-place"))
            .for_each(|found| check_what_is_moved(name, found));
    }
}
