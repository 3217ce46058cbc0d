//! Prints what each key derivation costs with each kernel on one core of this machine.
//!
//! `cargo run --release -p keyway-kdf --example kdf_speed [-- ITERATIONS [NAME]]`

use keyway_kdf::{Argon2idCost, Block, Kernel, Prf, argon2id, pbkdf2_blocks_with};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Milliseconds this thread has had a processor, or, where the kernel does not count them, gone by.
/// A busy machine does not disturb the former.
fn clock(start: Instant) -> f64 {
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |ns| ns / 1e6)
}

/// Milliseconds of one run, the best of three.
fn time(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..3).fold(f64::INFINITY, |best, _| {
        let before = clock(start);
        run();
        best.min(clock(start) - before)
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let iterations: u32 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(50_000);
    let only = arguments.next();
    println!(
        "PBKDF2, processor time of one thread, scaled to 500,000 iterations from {iterations}, best of three"
    );
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
                let ms = time(|| {
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
        let ms = time(|| {
            std::hint::black_box(argon2id(cost, b"password", &[7; 64], 192, &never).is_ok());
        });
        println!("argon2id, 416 MiB, 6 passes, 1 lane: {ms:.0} ms");
    }
}
