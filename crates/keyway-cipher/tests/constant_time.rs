//! Do the kernels that claim constant time keep it? After Reparaz, Balasch and Verbauwhede, "Dude,
//! is my code constant time?", 2017: two classes of input in random order, one always the same, one
//! always new; Welch's t-test on their times, also with the slowest ones cropped, where other work
//! on the machine shows. A leak makes |t| grow with the number of measurements; without one it
//! stays a few units from zero. (Tables that fit into the first cache pass: nobody evicts them here.
//! That a kernel has no such table is for its source to show.)
//!
//! The test of the kernels runs with `KEYWAY_SLOW=1` (a minute); print its table with
//! `KEYWAY_SLOW=1 cargo test --release -p keyway-cipher --test constant_time -- --nocapture`.
#![allow(clippy::expect_used, reason = "tests; the helpers here are not functions marked as such")]

use keyway_cipher::{Algorithm, Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use keyway_testkit::leave_out;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The paper's bound for "definitely not constant time".
const LEAK: f64 = 10.0;
const TEXT: usize = 4096;

/// Mean and variance, updated with each value (Welford).
#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.count;
        self.squares += distance * (value - self.mean);
    }

    /// The variance of the mean.
    fn uncertainty(&self) -> f64 {
        self.squares / (self.count - 1.0) / self.count
    }
}

/// The largest |t| of all croppings. Each sample: whether it is of the class of new inputs, and ns.
fn welch(samples: &[(bool, f64)]) -> f64 {
    let mut sorted: Vec<f64> = samples.iter().map(|(_, ns)| *ns).collect();
    sorted.sort_by(f64::total_cmp);
    [0.5, 0.75, 0.9, 0.97, 1.0]
        .map(|part| sorted[((sorted.len() - 1) as f64 * part) as usize])
        .into_iter()
        .fold(0.0, |largest: f64, limit| {
            let mut classes = [Moments::default(), Moments::default()];
            for (new, ns) in samples.iter().filter(|(_, ns)| *ns <= limit) {
                classes[usize::from(*new)].add(*ns);
            }
            let [same, new] = &classes;
            let spread = (same.uncertainty() + new.uncertainty()).sqrt();
            // A class cropped away altogether has another distribution, if anything has.
            if same.count.min(new.count) < 100.0 {
                return if limit == sorted[sorted.len() - 1] { largest } else { f64::INFINITY };
            }
            if spread > 0.0 { largest.max(((same.mean - new.mean) / spread).abs()) } else { largest }
        })
}

struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// New bytes, or zeros for the class that is always the same: by the same instructions.
    fn fill(&mut self, new: bool, into: &mut [u8]) {
        let mask = black_box(0u64.wrapping_sub(u64::from(new)));
        for bytes in into.as_chunks_mut().0 {
            *bytes = (self.next() & mask).to_ne_bytes();
        }
    }
}

/// |t| of `rounds` measurements; `sample` makes its input from the noise and times what is done to it.
fn leak(rounds: usize, mut sample: impl FnMut(&mut Noise, bool) -> Duration) -> f64 {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut take = || {
        let new = noise.next() >> 32 & 1 == 1;
        (new, sample(&mut noise, new).as_nanos() as f64)
    };
    for _ in 0..rounds / 10 {
        take();
    }
    let samples: Vec<_> = (0..rounds).map(|_| take()).collect();
    welch(&samples)
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn make(algorithm: Algorithm, mode: Mode, keys: &[u8; 64], kernel: Kernel) -> SectorCipher {
    let bytes = algorithm.key_bytes();
    let tweak_key = match mode {
        Mode::BitLockerCbc => &[],
        Mode::Lrw => &keys[32..48],
        _ => &keys[32..][..bytes],
    };
    let spec = Spec { chain: Chain::single(algorithm), mode, unit_bytes: 512 };
    SectorCipher::with_kernel(&spec, &[LayerKey { key: &keys[..bytes], tweak_key }], kernel).expect("made")
}

/// Texts: all zeros against new ones, one key.
fn text_leak(rounds: usize, cipher: &SectorCipher, encrypt: bool) -> f64 {
    let mut text = [0u8; TEXT];
    leak(rounds, |noise, new| {
        noise.fill(new, &mut text);
        let text = black_box(&mut text);
        timed(|| if encrypt { cipher.encrypt_sectors(text, 5) } else { cipher.decrypt_sectors(text, 5) })
    })
}

/// Keys: all zeros against new ones, one text. Each cipher is made anew, and gets the memory of the
/// one before.
fn key_leak(rounds: usize, algorithm: Algorithm, mode: Mode, kernel: Kernel) -> f64 {
    let (mut keys, mut text) = ([0u8; 64], [0u8; TEXT]);
    leak(rounds, |noise, new| {
        noise.fill(new, &mut keys);
        let cipher = make(algorithm, mode, &keys, kernel);
        text.fill(0);
        cipher.encrypt_sectors(&mut text, 5);
        text.fill(0);
        let text = black_box(&mut text);
        timed(|| cipher.encrypt_sectors(text, 5))
    })
}

/// Whether the documentation of `portable` and `kernels` says that times depend on nothing secret.
fn claims(kernel: Kernel, algorithm: Algorithm) -> bool {
    match algorithm {
        Algorithm::Aes128 | Algorithm::Aes256 | Algorithm::Serpent => true,
        Algorithm::Camellia => {
            matches!(kernel, Kernel::Sse | Kernel::Avx2 | Kernel::Avx512)
                || kernel == Kernel::Neon && has_aes()
        }
        Algorithm::Kuznyechik => kernel != Kernel::Portable,
        Algorithm::Twofish => matches!(kernel, Kernel::Avx2 | Kernel::Avx512 | Kernel::Neon),
        Algorithm::Blowfish | Algorithm::Cast5 | Algorithm::TripleDes => false,
    }
}

/// Whether an aarch64 processor has the instructions without which its kernel leaves Camellia to tables.
fn has_aes() -> bool {
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes");
    #[cfg(not(target_arch = "aarch64"))]
    true
}

#[test]
fn kernels_that_claim_it() {
    if std::env::var_os("KEYWAY_SLOW").is_none() {
        leave_out("timing every kernel takes a while; set KEYWAY_SLOW=1");
        return;
    }
    let keys = [0x3c; 64];
    let mut leaks = vec![];
    for kernel in Kernel::available() {
        for (algorithm, mode) in [
            (Algorithm::Aes128, Mode::Xts),
            (Algorithm::Aes256, Mode::Xts),
            (Algorithm::Serpent, Mode::Xts),
            (Algorithm::Twofish, Mode::Xts),
            (Algorithm::Camellia, Mode::Xts),
            (Algorithm::Kuznyechik, Mode::Xts),
            (Algorithm::Aes256, Mode::Lrw),
            (Algorithm::Aes128, Mode::BitLockerCbc),
            (Algorithm::Aes128, Mode::BitLockerElephant),
        ] {
            let claimed = claims(kernel, algorithm);
            if !claimed && kernel != Kernel::Portable {
                continue;
            }
            let cipher = make(algorithm, mode, &keys, kernel);
            let rounds = if kernel == Kernel::Portable { 4_000 } else { 20_000 };
            // A leak shows every time, a coincidence doesn't.
            let least = |mut t: Box<dyn FnMut() -> f64>| {
                (0..3).map(|_| t()).find(|t| *t < LEAK).unwrap_or(f64::INFINITY)
            };
            let t = [
                least(Box::new(|| text_leak(rounds, &cipher, true))),
                least(Box::new(|| text_leak(rounds, &cipher, false))),
                least(Box::new(|| key_leak(rounds / 5, algorithm, mode, kernel))),
            ];
            let what = format!("{} {} {}", kernel.name(), algorithm.name(), mode.name());
            let tables = if claimed { "" } else { "  (tables, claims nothing)" };
            println!("{what:32} |t|: encrypt {:5.1}, decrypt {:5.1}, keys {:5.1}{tables}", t[0], t[1], t[2]);
            if claimed && t.iter().any(|t| *t >= LEAK) {
                leaks.push(what);
            }
        }
    }
    assert!(leaks.is_empty(), "times depend on secrets: {leaks:?}");
}

/// The check must be able to fail: a comparison that stops at the first difference, and one unit
/// in eight done twice when a bit of the text is set.
#[test]
fn leaks_are_found() {
    let mut text = [0u8; TEXT];
    // What else a busy machine does may hide it in one measurement, not in eight.
    let shows = |mut leak: Box<dyn FnMut() -> f64 + '_>| (0..8).any(|_| leak() > LEAK);
    let early_exit = || {
        leak(2_000, |noise, new| {
            noise.fill(new, &mut text);
            let text = black_box(&text);
            timed(|| {
                black_box(text.iter().all(|byte| black_box(*byte) == 0));
            })
        })
    };
    assert!(shows(Box::new(early_exit)), "a comparison with an early exit isn't found");

    let cipher = make(Algorithm::Aes256, Mode::Xts, &[0x3c; 64], Kernel::Portable);
    let mut text = [0u8; TEXT];
    let one_more = || {
        leak(4_000, |noise, new| {
            noise.fill(new, &mut text);
            let text = black_box(&mut text);
            let odd = text[0] & 1 == 1;
            timed(|| {
                cipher.encrypt_sectors(text, 5);
                if odd {
                    cipher.encrypt_sectors(&mut text[..512], 5);
                }
            })
        })
    };
    assert!(shows(Box::new(one_more)), "a unit done twice isn't found");
}

/// The statistic itself, without a clock.
#[test]
fn statistics() {
    let mut noise = Noise(7);
    let mut samples = |shift: f64| -> Vec<(bool, f64)> {
        (0..10_000)
            .map(|_| {
                let new = noise.next() >> 40 & 1 == 1;
                let bell: f64 = (0..8).map(|_| (noise.next() >> 40) as f64 / (1 << 24) as f64).sum();
                // One in a hundred is disturbed by something slow.
                let slow = if (noise.next() >> 32).is_multiple_of(100) { 500.0 } else { 0.0 };
                (new, 100.0 + 10.0 * bell + slow + if new { shift } else { 0.0 })
            })
            .collect()
    };
    let same = welch(&samples(0.0));
    assert!(same < 4.5, "no difference, yet |t| {same:.1}");
    let other = welch(&samples(2.0));
    assert!(other > LEAK, "2 % slower, yet |t| {other:.1}");
}
