//! Prints what each key derivation costs with each kernel on one core of this machine.
//!
//! `cargo run --release -p keyway-kdf --example kdf_speed [-- ITERATIONS [NAME]]`

use keyway_kdf::{Argon2idCost, Block, Kernel, Prf, argon2id, pbkdf2_blocks_with};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Milliseconds of one run: the best of many short ones, which a busy machine disturbs least.
fn time(rounds: u32, mut run: impl FnMut()) -> f64 {
    (0..rounds).fold(f64::INFINITY, |best, _| {
        let before = Instant::now();
        run();
        best.min(before.elapsed().as_secs_f64() * 1e3)
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let iterations: u32 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let only = arguments.next();
    println!("PBKDF2, one thread, scaled to 500,000 iterations from {iterations}, best of 40 runs");
    println!("{:<10} {:<9} {:>6} {:>12} {:>14}", "hash", "kernel", "blocks", "ms a batch", "ms per block");
    let never = AtomicBool::new(false);
    for prf in Prf::ALL {
        if only.as_deref().is_some_and(|name| name != prf.name()) {
            continue;
        }
        for kernel in Kernel::available(prf) {
            let widest = kernel.lanes(prf);
            let mut counts = vec![1, widest / 4, widest / 2, widest];
            counts.retain(|&n| n > 0);
            counts.dedup();
            for count in counts {
                let blocks: Vec<Block<'_>> =
                    (1..=count).map(|i| Block { salt: &[7; 64], index: i as u32 }).collect();
                let ms = time(40, || {
                    std::hint::black_box(pbkdf2_blocks_with(
                        kernel,
                        prf,
                        b"password",
                        iterations,
                        &blocks,
                        &never,
                    ));
                }) * 500_000.0
                    / f64::from(iterations);
                println!(
                    "{:<10} {:<9} {count:>6} {ms:>12.1} {:>14.1}",
                    prf.name(),
                    kernel.name(),
                    ms / count as f64
                );
            }
        }
    }
    if only.is_none() {
        let cost = Argon2idCost { memory_kib: 416 * 1024, passes: 6, lanes: 1 };
        let ms = time(3, || {
            std::hint::black_box(argon2id(cost, b"password", &[7; 64], 192, &never).is_ok());
        });
        println!("argon2id, 416 MiB, 6 passes, 1 lane: {ms:.0} ms");
    }
}
