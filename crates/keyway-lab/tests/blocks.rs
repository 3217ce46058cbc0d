//! Which blocks a run touches: as many as independent draws would, none of them read warm by one side more often than
//! by another, and a sequence goes on where it ended.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use keyway_lab::workload::{Data, Procedure, Requests, Turns, Workload};
use keyway_lab::{Cell, Entrant, Judging, Metric, Mix, Pattern, Subject, measure};
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use support::Reads;

const BLOCK: u64 = 4096;
const NAMES: [&str; 4] = ["plain", "one", "two", "three"];

/// All requests in the order in which they came: whose, and which block.
type Trail = Arc<Mutex<Vec<(usize, u64)>>>;

/// What a run of so many sides touches, on a drive that they share.
fn trail(sides: usize, pattern: Pattern, blocks: u64, runs: u32) -> Vec<(usize, u64)> {
    let trail = Trail::default();
    let entrant = |side: usize| {
        let told = trail.clone();
        let read = move |_: usize, offset: u64| {
            // So that a turn has some hundred requests on any machine.
            std::thread::sleep(Duration::from_micros(20));
            told.lock().unwrap_or_else(PoisonError::into_inner).push((side, offset / BLOCK));
        };
        Entrant::new(NAMES[side], Subject::InProcess(Arc::new(Reads { size: blocks * BLOCK, read })))
    };
    let entrants: Vec<Entrant> = (0..sides).map(entrant).collect();
    let span_bytes = blocks * BLOCK;
    let name = "a cell".to_owned();
    let cell =
        Cell { name, pattern, mix: Mix::Read, block_bytes: BLOCK, queue_depth: 1, threads: 1, span_bytes };
    let requests = Requests {
        span_bytes,
        data: Data::Random,
        verify: false,
        task: false,
        run_bytes: None,
        cells: vec![cell],
        metrics: vec![Metric::Iops],
    };
    let turns = Turns { runs, seconds: 0.08, pause_seconds: 0.0, discarded: 1, slices: 4 };
    let kind = Procedure::Requests(requests.clone());
    let [name, title, source] = ["test", "a test", "here"].map(str::to_owned);
    let workload = Workload { name, title, source, deviations: vec![], turns, kind };
    let found =
        measure(&workload, &workload, &requests, &entrants, Judging::default(), &AtomicBool::new(false), &());
    assert!(found.error.is_none(), "{:?}", found.error);
    let all = std::mem::take(&mut *trail.lock().unwrap_or_else(PoisonError::into_inner));
    assert!(all.len() > 500, "{} requests", all.len());
    all
}

#[test]
fn turns_draw_their_blocks_independently() {
    const BLOCKS: u64 = 5_000;
    for sides in 1..=4 {
        let all = trail(sides, Pattern::Random, BLOCKS, 12);
        let distinct = all.iter().map(|(_, block)| block).collect::<HashSet<_>>().len() as f64;
        // Of n blocks, m draws leave each out with a chance of (1 - 1/n)^m.
        let left_out = (1.0 - 1.0 / BLOCKS as f64).powi(all.len() as i32);
        let expected = BLOCKS as f64 * (1.0 - left_out);
        let sigma = (BLOCKS as f64 * left_out * (1.0 - left_out)).sqrt();
        assert!(
            (distinct - expected).abs() < 6.0 * sigma.max(1.0),
            "{sides} sides: {} draws touch {distinct} blocks, {expected:.0} are likely",
            all.len()
        );
    }
}

/// With a cache that keeps everything, a block is cold once. Each side must find as many of its own cold as the others.
#[test]
fn no_side_reads_warm_what_another_has_read() {
    for sides in 2..=4 {
        for (pattern, blocks) in [(Pattern::Random, 1_000_000), (Pattern::Sequential, 1 << 40)] {
            let (mut seen, mut cold, mut count) = (HashSet::new(), [0f64; 4], [0f64; 4]);
            for (side, block) in trail(sides, pattern, blocks, 6) {
                count[side] += 1.0;
                cold[side] += f64::from(u8::from(seen.insert(block)));
            }
            let shares: Vec<f64> = cold.iter().zip(count).take(sides).map(|(cold, all)| cold / all).collect();
            let (least, most) = shares.iter().fold((1f64, 0f64), |(l, m), s| (l.min(*s), m.max(*s)));
            assert!(most - least < 0.02 && least > 0.9, "{sides} sides, {pattern:?}: {shares:?} read cold");
        }
    }
}

#[test]
fn a_sequence_goes_on_until_the_span_is_over() {
    for sides in 1..=3 {
        let all = trail(sides, Pattern::Sequential, 400, 3);
        // A block comes again when all others have come: a cache smaller than the span never has it.
        let mut last = std::collections::HashMap::new();
        for (at, (_, block)) in all.iter().enumerate() {
            if let Some(before) = last.insert(*block, at) {
                assert!(at - before >= 390, "{sides} sides: block {block} came again after {}", at - before);
            }
        }
        assert_eq!(last.len(), 400, "{sides} sides");
    }
}
