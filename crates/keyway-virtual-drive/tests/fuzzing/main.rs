//! Fuzzing in this process, without a fuzzer's compiler: inputs are changed at random from ones that mean something, and
//! one that does what none before did is kept and changed on. The targets are those of `fuzz/`, which a coverage-guided
//! fuzzer drives.
//!
//! `KEYWAY_FUZZ=10000000 cargo test --release -p keyway-virtual-drive --test fuzzing -- --nocapture` does ten million in each
//! direction. The inputs follow from `KEYWAY_SEED` (1 if not given); one that fails is printed.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod drive;
mod host;
mod inputs;

use inputs::{Random, mutate};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

/// Inputs in each direction, if nobody says how many.
const FEW: u64 = 3000;
/// Inputs to one drive until it is switched off and on.
const TOGETHER: u64 = 16;
/// Inputs that are kept at most.
const KEPT: usize = 20_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Runs `one`, which is told whether it begins anew.
fn fuzz(name: &str, (mut kept, longest): (Vec<Vec<u8>>, usize), one: impl Fn(&[u8], bool) -> u64) {
    let (runs, seed) = (number("KEYWAY_FUZZ").unwrap_or(FEW), number("KEYWAY_SEED").unwrap_or(1));
    let mut random = Random::new(seed);
    let mut seen = HashSet::new();
    let begun = Instant::now();
    let mut input = Vec::new();
    for run in 0..runs {
        let at = usize::try_from(run).unwrap_or(usize::MAX);
        if let Some(first) = kept.get(at) {
            // Each as it is, once.
            input.clone_from(first);
        } else {
            mutate(&mut random, &kept, longest, &mut input);
        }
        let fresh = run % TOGETHER == 0;
        match catch_unwind(AssertUnwindSafe(|| one(&input, fresh))) {
            Ok(what) => {
                if seen.insert(what) && kept.len() < KEPT {
                    kept.push(input.clone());
                }
            }
            Err(panic) => {
                let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
                let before = run % TOGETHER;
                eprintln!("{name}: input {run} of seed {seed} fails, with {before} before it: {hex}");
                resume_unwind(panic);
            }
        }
        if run % 1_000_000 == 999_999 {
            let rate = (run + 1) as f64 / begun.elapsed().as_secs_f64();
            eprintln!("{name}: {} inputs, {} kept, {rate:.0} a second", run + 1, kept.len());
        }
    }
    eprintln!(
        "{name}: {runs} inputs in {:.0} s from seed {seed}, {} did something new; nothing failed",
        begun.elapsed().as_secs_f64(),
        seen.len()
    );
}

#[test]
fn any_host_to_the_drive() {
    // Some ten operations.
    fuzz("drive", (inputs::conversations(), 1024), drive::one);
}

#[test]
fn any_drive_to_the_host() {
    fuzz("host", (inputs::recorded(), 8192), |input, _| host::one(input));
}
