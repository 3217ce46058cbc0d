//! Runs of sectors on every kernel: XTS with each cipher and some cascades, BitLocker's CBC with
//! and without diffuser, TrueCrypt's LRW and CBC. `cargo bench -p keyway-cipher -- xts/aes/avx512`
//! runs those whose name has these words; `-- --save-baseline NAME` and `-- --baseline NAME` compare
//! with an earlier run on the same machine.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use keyway_cipher::{Algorithm, Chain, CipherError, Kernel, LayerKey, Mode, SectorCipher, Spec};
use std::time::Duration;

/// A request of a file system's block, and one of reading ahead.
const BUFFERS: [usize; 2] = [4096, 1 << 20];
const KEYS: [u8; 64] = [0x3c; 64];

fn make(spec: &Spec, kernel: Kernel) -> Result<SectorCipher, CipherError> {
    let layer = |algorithm: Algorithm| {
        let (key, seed) = KEYS.split_at(32);
        let tweak_key = match spec.mode {
            Mode::BitLockerCbc => &[],
            Mode::Xts | Mode::BitLockerElephant => &seed[..algorithm.key_bytes()],
            Mode::Lrw | Mode::Cbc | Mode::InnerCbc => seed,
        };
        LayerKey { key: &key[..algorithm.key_bytes()], tweak_key }
    };
    let layers: Vec<_> = spec.chain.layers().map(layer).collect();
    SectorCipher::with_kernel(spec, &layers, kernel)
}

fn bench(criterion: &mut Criterion, mode: Mode, chains: &[&str], unit_bytes: u32) {
    for name in chains {
        for kernel in Kernel::available() {
            let made = name.parse().and_then(|chain: Chain| make(&Spec { chain, mode, unit_bytes }, kernel));
            let cipher = match made {
                Ok(cipher) => cipher,
                Err(error) => {
                    eprintln!("{name} {}: {error}", mode.name());
                    continue;
                }
            };
            let unit = if unit_bytes == 512 { String::new() } else { format!("/{unit_bytes}-byte units") };
            let mut group =
                criterion.benchmark_group(format!("{}/{name}/{}{unit}", mode.name(), kernel.name()));
            for bytes in BUFFERS {
                let mut buffer = vec![0u8; bytes];
                group.throughput(Throughput::BytesDecimal(bytes as u64));
                group.bench_function(BenchmarkId::new("encrypt", bytes), |b| {
                    b.iter(|| cipher.encrypt_sectors(&mut buffer, 7));
                });
                group.bench_function(BenchmarkId::new("decrypt", bytes), |b| {
                    b.iter(|| cipher.decrypt_sectors(&mut buffer, 7));
                });
            }
            group.finish();
        }
    }
}

fn sectors(criterion: &mut Criterion) {
    let singles = ["aes128", "aes", "serpent", "twofish", "camellia", "kuznyechik"];
    bench(criterion, Mode::Xts, &singles, 512);
    bench(criterion, Mode::Xts, &["aes-twofish-serpent", "kuznyechik-serpent-camellia"], 512);
    for unit_bytes in [512, 4096] {
        bench(criterion, Mode::BitLockerCbc, &["aes128", "aes"], unit_bytes);
        bench(criterion, Mode::BitLockerElephant, &["aes128", "aes"], unit_bytes);
    }
    bench(criterion, Mode::Lrw, &["aes", "serpent"], 512);
    bench(criterion, Mode::Cbc, &["aes", "serpent"], 512);
}

criterion_group! {
    name = all;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .sample_size(20);
    targets = sectors
}
criterion_main!(all);
