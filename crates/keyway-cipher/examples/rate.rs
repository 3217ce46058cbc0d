//! MB/s of XTS over units of 512 bytes on one core, 64 KiB at a time, by cipher:
//! `cargo run --release -p keyway-cipher --example rate -- [KERNEL [CIPHER]...]`. Ciphers take turns; each
//! figure is the median of 1,500 turns, with the best: encrypt, decrypt. A turn is shorter than the time that
//! a busy machine takes a processor away for.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program")]

use keyway_cipher::{Algorithm, Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use std::time::Instant;

const CIPHERS: [&str; 8] = [
    "aes",
    "serpent",
    "twofish",
    "camellia",
    "kuznyechik",
    "aes-twofish-serpent",
    "serpent-twofish-aes",
    "kuznyechik-serpent-camellia",
];
const BYTES: usize = 1 << 16;

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next();
    let asked: Vec<String> = args.collect();
    let kernels = Kernel::available();
    let best = *kernels.last().expect("at least one");
    let kernel = name.map_or(best, |n| kernels.into_iter().find(|k| k.name() == n).expect("runs here"));
    let mut sides = Vec::new();
    for cipher in CIPHERS.iter().filter(|c| asked.is_empty() || asked.iter().any(|a| a == *c)) {
        let chain: Chain = cipher.parse().expect("a chain");
        let spec = Spec { chain, mode: Mode::Xts, unit_bytes: 512 };
        let key =
            |a: Algorithm| LayerKey { key: &[7; 32][..a.key_bytes()], tweak_key: &[9; 32][..a.key_bytes()] };
        let keys: Vec<_> = spec.chain.layers().map(key).collect();
        let made = SectorCipher::with_kernel(&spec, &keys, kernel).expect("available");
        sides.push((*cipher, made, [Vec::new(), Vec::new()]));
    }
    let mut buffer = vec![0u8; BYTES];
    for _ in 0..1500 {
        for (_, cipher, [encrypt, decrypt]) in &mut sides {
            let before = Instant::now();
            cipher.encrypt_sectors(&mut buffer, 7);
            encrypt.push(before.elapsed().as_secs_f64());
            let before = Instant::now();
            cipher.decrypt_sectors(&mut buffer, 7);
            decrypt.push(before.elapsed().as_secs_f64());
        }
    }
    println!("{}: MB/s, median (best)", kernel.name());
    for (cipher, _, times) in sides {
        let [encrypt, decrypt] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            let rate = |s: f64| BYTES as f64 / s / 1e6;
            format!("{:.0} ({:.0})", rate(times[times.len() / 2]), rate(times[0]))
        });
        println!("{cipher}: {encrypt}, {decrypt}");
    }
}
