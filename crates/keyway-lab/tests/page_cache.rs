//! Whether the page cache's answers are told. A process of its own: what is fetched is counted for the whole process.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::load::{self, Turn};
use keyway_lab::workload::Data;
use keyway_lab::{Cell, Flag, Mix, Pattern, Subject};
use keyway_testkit::leave_out;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const LEN: u64 = 8 << 20;

/// Whether a turn of reads is flagged.
fn is_flagged(path: &Path, round: u32, direct: bool) -> bool {
    let subject = Subject::File { path: path.to_owned(), start: 0, len: LEN, direct };
    let cell = Cell {
        name: "test".into(),
        pattern: if round.is_multiple_of(2) { Pattern::Random } else { Pattern::Sequential },
        mix: Mix::Read,
        block_bytes: 4096 << (round % 5),
        queue_depth: 1 + round,
        threads: 1,
        span_bytes: LEN,
    };
    let (time, ramp) = (Duration::from_millis(20), Duration::from_millis(2));
    let stop = AtomicBool::new(false);
    let turn = Turn { time, ramp, data: Data::Random, seed: 1, verify: false, stop: &stop };
    load::run(&subject, &cell, turn).expect("it runs").flags.contains(&Flag::PageCache)
}

/// What was just written lies in the page cache; read through the cache it comes from there.
#[test]
fn a_planted_page_cache_read_is_flagged_every_time_and_a_direct_one_never() {
    // A temporary folder may be in memory; the build folder is on a disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("file");
    std::fs::write(&path, vec![5; LEN as usize]).expect("written");
    let before = keyway_sys::bytes_fetched();
    assert!(!is_flagged(&path, 0, true), "direct");
    if keyway_sys::bytes_fetched() == before {
        leave_out(&format!("reads of {} are not counted as fetched", path.display()));
        return;
    }
    for round in 0..20 {
        for direct in [false, true] {
            assert_eq!(is_flagged(&path, round, direct), !direct, "round {round}, direct: {direct}");
        }
    }
}
