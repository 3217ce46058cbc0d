//! Speed of every cipher and cascade: `cargo run --release -p keyway-cipher --example cipher_speed [kernel]`.
//!
//! MB/s (10^6) of one core on 1 MiB, 4 KiB and 512 bytes of 512-byte units, encrypting and decrypting,
//! and what share of the first speed 4 KiB reach: the best of several rounds, by the thread's
//! processor time, so that other work disturbs less.

use keyway_cipher::{Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use rustix::time::{ClockId, clock_gettime};

const CHAINS: [&str; 16] = [
    "aes128",
    "aes",
    "serpent",
    "twofish",
    "camellia",
    "kuznyechik",
    "aes-twofish",
    "serpent-aes",
    "kuznyechik-aes",
    "twofish-serpent",
    "camellia-serpent",
    "camellia-kuznyechik",
    "kuznyechik-twofish",
    "aes-twofish-serpent",
    "serpent-twofish-aes",
    "kuznyechik-serpent-camellia",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let kernels = Kernel::available();
    let named = |kernel: &&Kernel| wanted.iter().any(|name| name == kernel.name());
    let kernel = *kernels.iter().find(named).or(kernels.last()).ok_or("no kernel")?;
    println!("kernel {}", kernel.name());
    println!(
        "{:28}{:>8}{:>8}{:>10}{:>8}{:>10}{:>8}{:>10}{:>6}",
        "MB/s", "enc 1M", "dec 1M", "enc 4K", "dec 4K", "enc 512", "dec 512", "share enc", "dec"
    );
    let keys: Vec<u8> = (0..64).collect();
    for name in CHAINS {
        if wanted.iter().any(|w| w.parse::<Chain>().is_ok()) && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let chain: Chain = name.parse()?;
        let layers: Vec<_> = chain
            .layers()
            .map(|a| LayerKey { key: &keys[..a.key_bytes()], tweak_key: &keys[32..][..a.key_bytes()] })
            .collect();
        let spec = Spec { chain, mode: Mode::Xts, unit_bytes: 512 };
        let cipher = SectorCipher::with_kernel(&spec, &layers, kernel)?;
        let mut row = vec![];
        for bytes in [1 << 20, 4096, 512] {
            let mut buffer = vec![0u8; bytes];
            row.push(best(bytes, || cipher.encrypt_sectors(&mut buffer, 7)));
            row.push(best(bytes, || cipher.decrypt_sectors(&mut buffer, 7)));
        }
        println!(
            "{name:28}{:>8.0}{:>8.0}{:>10.0}{:>8.0}{:>10.0}{:>8.0}{:>10.3}{:>6.3}",
            row[0],
            row[1],
            row[2],
            row[3],
            row[4],
            row[5],
            row[2] / row[0],
            row[3] / row[1]
        );
    }
    Ok(())
}

fn best(bytes: usize, mut work: impl FnMut()) -> f64 {
    let mut best = 0f64;
    for _ in 0..12 {
        let (start, mut done, mut spent) = (processor_seconds(), 0, 0.0);
        while spent < 0.02 {
            for _ in 0..(1 << 16) / bytes + 1 {
                work();
                done += bytes;
            }
            spent = processor_seconds() - start;
        }
        best = best.max(done as f64 / spent / 1e6);
    }
    best
}

fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
