//! Seconds for 500,000 iterations of PBKDF2, by hash function and kernel, with one and with four salts side by
//! side: `cargo run --release -p keyway-kdf --example link -- [HASH]...`. The kernels take turns; a figure is the
//! median of 300 turns. A turn is shorter than the time that a busy machine takes a processor away for: 100
//! iterations, by the difference between 20 and 120, without what each derivation begins with.
#![allow(clippy::print_stdout, reason = "a program")]

use keyway_kdf::{Block, Kernel, Prf, pbkdf2_blocks_with};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Iterations of the shorter and of the longer derivation.
const TIMED: [u32; 2] = [20, 120];
/// Iterations that are told of.
const TOLD: f64 = 500_000.0;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    println!("hash, kernel, salts: s for 500,000 iterations of all, for each");
    for prf in Prf::ALL.into_iter().filter(|prf| asked.is_empty() || asked.iter().any(|a| a == prf.name())) {
        let mut sides = Vec::new();
        for kernel in Kernel::available(prf) {
            for salts in [1, 4] {
                sides.push((kernel, salts, Vec::new()));
            }
        }
        for _ in 0..300 {
            for (kernel, salts, seconds) in &mut sides {
                let blocks: Vec<Block<'_>> =
                    (1..=*salts).map(|index| Block { salt: &[7; 64], index }).collect();
                let [short, long] = TIMED.map(|iterations| {
                    let never = AtomicBool::new(false);
                    let before = Instant::now();
                    drop(pbkdf2_blocks_with(*kernel, prf, b"password", iterations, &blocks, &never));
                    before.elapsed().as_secs_f64()
                });
                seconds.push(long - short);
            }
        }
        for (kernel, salts, mut seconds) in sides {
            seconds.sort_by(f64::total_cmp);
            let median = seconds[seconds.len() / 2] * TOLD / f64::from(TIMED[1] - TIMED[0]);
            println!("{prf} {kernel} {salts}: {median:.2}, {:.2}", median / f64::from(salts));
        }
    }
}
