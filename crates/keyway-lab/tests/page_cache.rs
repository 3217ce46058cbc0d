//! Whether the page cache's answers are told. A process of its own: what is fetched is counted for the whole process.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::load::{self, Turn};
use keyway_lab::workload::Data;
use keyway_lab::{Cell, Flag, Mix, Pattern, Subject};
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::{leave_out, wait_for};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const LEN: u64 = 8 << 20;

/// What a turn may fetch that the page cache answers: a block past the cache, by which it is found out whether that
/// counts.
const LOOKED_AT: u64 = 64 << 10;

/// Whether a turn of reads is flagged, and how much it read.
fn is_flagged(path: &Path, round: u32, direct: bool) -> (bool, u64) {
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
    let place = Default::default();
    let turn = Turn {
        time,
        bytes: None,
        ramp,
        data: Data::Random,
        seed: 1,
        place: &place,
        verify: false,
        stop: &stop,
    };
    let sample = load::run(&subject, &cell, turn).expect("it runs");
    (sample.flags.contains(&Flag::PageCache), sample.bytes_read)
}

/// A turn that the page cache answers: a busy machine may take pages away again, or leave no time for a request.
fn is_planted_one_flagged(path: &Path, round: u32) -> bool {
    wait_for("a turn that nothing was fetched for", || {
        std::fs::read(path).expect("it is there");
        let before = keyway_sys::bytes_fetched()?;
        let (flagged, bytes_read) = is_flagged(path, round, false);
        let fetched = keyway_sys::bytes_fetched()? - before;
        (flagged || bytes_read > 2 * LOOKED_AT && fetched <= LOOKED_AT).then_some(flagged)
    })
}

/// A folder whose files can be read past the page cache: a temporary one may be in memory, and where the build folder is
/// may know no direct I/O.
fn folder() -> Option<tempfile::TempDir> {
    let places = [PathBuf::from(env!("CARGO_TARGET_TMPDIR")), std::env::temp_dir()];
    let folders = places.iter().map(|place| tempfile::tempdir_in(place).expect("a folder"));
    let takes_direct = |folder: &tempfile::TempDir| {
        let path = folder.path().join("file");
        std::fs::write(&path, vec![5; LEN as usize]).expect("written");
        FileStore::open(&path, OpenMode::ReadOnly, Caching::Direct).expect("it is there").is_direct()
    };
    folders.into_iter().find(takes_direct)
}

/// What was just written lies in the page cache; read through the cache it comes from there.
#[test]
fn a_planted_page_cache_read_is_flagged_every_time_and_a_direct_one_never() {
    let Some(folder) = folder() else {
        leave_out("neither the build folder nor the temporary one knows direct I/O");
        return;
    };
    let path = folder.path().join("file");
    let before = keyway_sys::bytes_fetched();
    assert!(!is_flagged(&path, 0, true).0, "direct");
    if keyway_sys::bytes_fetched() == before {
        leave_out(&format!("reads of {} are not counted as fetched", path.display()));
        return;
    }
    for round in 0..20 {
        assert!(is_planted_one_flagged(&path, round), "round {round}");
        assert!(!is_flagged(&path, round, true).0, "round {round}, direct");
    }
}
