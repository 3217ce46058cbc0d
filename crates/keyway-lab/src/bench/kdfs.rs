//! What key derivations cost: VeraCrypt's without a PIM, and BitLocker's.

use super::race::{median, rounded, spread_percent};
use keyway_kdf::{Argon2idCost, BitlockerStretch, Kernel, Prf};
use keyway_volume::veracrypt::{Derivation, SALT_BYTES};
use keyway_volume::{Format, HashName};
use serde::Serialize;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Bytes of header key that VeraCrypt derives: enough for three ciphers with two keys of 32 each.
const HEADER_KEY_BYTES: usize = 192;
/// The part of the iterations that is really run; PBKDF2 takes time in proportion to them.
const SHARE: u32 = 20;
/// How often each is run; the median counts.
const RUNS: usize = 3;

/// Nobody's password.
const PASSWORD: &[u8] = b"correct horse battery";
/// Nobody's salt.
const SALT: [u8; SALT_BYTES] = [7; SALT_BYTES];

/// The time of one derivation on one core.
#[derive(Serialize, Debug, Clone)]
pub struct KdfRow {
    /// Its name.
    pub kdf: String,
    /// Iterations, or Argon2id's passes.
    pub iterations: u32,
    /// Milliseconds of all iterations.
    pub ms: f64,
    /// How far the runs lie from that, which is their median, in percent of it; none where it was run once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_percent: Option<f64>,
    /// The widest of the kernels, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<&'static str>,
    /// How many iterations were really run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_iterations: Option<u32>,
    /// Memory that it fills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_kib: Option<u32>,
}

/// VeraCrypt's at the cost they have without a PIM, each for one header key, and BitLocker's.
pub(super) fn rows() -> Vec<KdfRow> {
    let mut rows: Vec<KdfRow> = HashName::ALL.into_iter().filter_map(veracrypt).collect();
    rows.push(bitlocker("bitlocker", 1));
    rows.push(bitlocker("bitlocker-pair", 2));
    rows
}

fn veracrypt(hash: HashName) -> Option<KdfRow> {
    match (Derivation::of(Format::VeraCrypt, hash, None, false)?, hash.prf()) {
        (Derivation::Pbkdf2 { iterations }, Some(prf)) => Some(pbkdf2(prf, iterations)),
        (Derivation::Argon2id { memory_kib, passes }, _) => {
            argon2id(Argon2idCost { memory_kib, passes, lanes: 1 })
        }
        (Derivation::Pbkdf2 { .. }, None) => None,
    }
}

/// Milliseconds, the median of a few runs, and their spread.
fn time(mut run: impl FnMut()) -> (f64, Option<f64>) {
    let once = |_| {
        let began = Instant::now();
        run();
        began.elapsed().as_secs_f64() * 1e3
    };
    let runs: Vec<f64> = (0..RUNS).map(once).collect();
    (median(runs.clone()), Some(rounded(spread_percent(&runs))))
}

fn pbkdf2(prf: Prf, iterations: u32) -> KdfRow {
    let measured = (iterations / SHARE).max(1);
    let (ms, spread_percent) = time(|| {
        black_box(keyway_kdf::pbkdf2(prf, PASSWORD, &SALT, measured, HEADER_KEY_BYTES));
    });
    KdfRow {
        kdf: format!("pbkdf2-{}", prf.name()),
        iterations,
        ms: rounded(ms * f64::from(iterations) / f64::from(measured)),
        spread_percent,
        kernel: Kernel::available(prf).first().map(|kernel| kernel.name()),
        measured_iterations: Some(measured),
        memory_kib: None,
    }
}

/// `None` where the memory can't be had; `doctor` tells that. Run once, it takes long enough.
fn argon2id(cost: Argon2idCost) -> Option<KdfRow> {
    let began = Instant::now();
    black_box(keyway_kdf::argon2id(cost, PASSWORD, &SALT, HEADER_KEY_BYTES, &AtomicBool::new(false)))
        .ok()??;
    Some(KdfRow {
        kdf: "argon2id".to_owned(),
        iterations: cost.passes,
        ms: rounded(began.elapsed().as_secs_f64() * 1e3),
        spread_percent: None,
        kernel: None,
        measured_iterations: None,
        memory_kib: Some(cost.memory_kib),
    })
}

/// BitLocker's stretch of so many protectors at once.
fn bitlocker(name: &str, protectors: usize) -> KdfRow {
    let asked = vec![BitlockerStretch { password_hash: &[7; 32], salt: &[7; 16] }; protectors];
    let (ms, spread_percent) = time(|| {
        black_box(keyway_kdf::bitlocker_stretches(&asked, &AtomicBool::new(false)));
    });
    KdfRow {
        kdf: name.to_owned(),
        // 2^20 by the format.
        iterations: 1 << 20,
        ms: rounded(ms),
        spread_percent,
        kernel: None,
        measured_iterations: None,
        memory_kib: None,
    }
}
