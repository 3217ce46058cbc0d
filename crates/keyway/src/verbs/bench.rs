//! `bench`: how fast this machine ciphers and derives keys.

use crate::failure::Failure;
use crate::output::{Output, table};
use crate::size;
use keyway_cipher::{Chain, CipherError, Kernel, LayerKey, Mode, SectorCipher, Spec};
use keyway_kdf::{Argon2idCost, Prf};
use keyway_store::AlignedBuf;
use keyway_volume::veracrypt::{Derivation, SALT_BYTES, Suite};
use keyway_volume::{Format, HashName};
use serde::Serialize;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Bytes of header key that VeraCrypt derives: enough for three ciphers with two keys of 32 each.
const HEADER_KEY_BYTES: usize = 192;
/// The part of the iterations that is really run; PBKDF2 takes time in proportion to them.
const KDF_SHARE: u32 = 10;

/// Measure ciphers and key derivations on this machine
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway bench
  $ keyway bench --cipher aes --threads 2 --buffer 4M --json")]
pub(crate) struct Args {
    /// Only this cipher or cascade, outermost first. Repeatable
    #[arg(long, value_name = "CIPHER")]
    cipher: Vec<Chain>,
    /// Only this kernel: portable, sse, avx2, avx512, neon. Repeatable
    #[arg(long, value_name = "KERNEL")]
    kernel: Vec<String>,
    /// Bytes ciphered at a time
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "1M")]
    buffer: u64,
    /// Threads that cipher at once, each its own buffer; the speeds are their sum
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Milliseconds per measurement
    #[arg(long, value_name = "MS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    time: u32,
    /// Leave out the key derivations
    #[arg(long)]
    no_kdf: bool,
}

#[derive(Serialize)]
pub(crate) struct CipherRow {
    pub(crate) cipher: String,
    pub(crate) kernel: &'static str,
    threads: u16,
    buffer_bytes: u64,
    sector_bytes: u32,
    pub(crate) encrypt_mb_s: f64,
    pub(crate) decrypt_mb_s: f64,
    pub(crate) chosen: bool,
}

#[derive(Serialize)]
struct KdfRow {
    kdf: String,
    iterations: u32,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_iterations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_kib: Option<u32>,
}

#[derive(Serialize)]
struct Document {
    ciphers: Vec<CipherRow>,
    kdfs: Vec<KdfRow>,
    memcpy_mb_s: f64,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let buffer = usize::try_from(args.buffer).unwrap_or(usize::MAX);
    if !(512..=1 << 30).contains(&buffer) || !buffer.is_multiple_of(512) {
        return Err(Failure::usage(
            "the buffer must be a multiple of 512 bytes, at most 1G",
            "try --buffer 1M",
        ));
    }
    let kernels = kernels(&args.kernel)?;
    let chains = if args.cipher.is_empty() { veracrypt_chains() } else { args.cipher.clone() };
    let time = Duration::from_millis(u64::from(args.time));
    let mut ciphers = Vec::new();
    for chain in chains {
        for &kernel in &kernels {
            ciphers.extend(cipher_row(chain, kernel, buffer, args.threads, time)?);
        }
    }
    if ciphers.is_empty() {
        return Err(Failure::usage(
            "no kernel that was named serves these ciphers in XTS mode",
            "leave --kernel out, or name one of VeraCrypt's ciphers",
        ));
    }
    let kdfs = if args.no_kdf { Vec::new() } else { kdf_rows() };
    let document = Document { ciphers, kdfs, memcpy_mb_s: rounded(memcpy(buffer, args.threads, time)) };
    out.result(&document, || words(&document))
}

/// The ciphers and cascades that VeraCrypt has.
fn veracrypt_chains() -> Vec<Chain> {
    Suite::all(Format::VeraCrypt).iter().map(|suite| suite.chain).collect()
}

fn kernels(names: &[String]) -> Result<Vec<Kernel>, Failure> {
    let all = Kernel::available();
    if names.is_empty() {
        return Ok(all);
    }
    names
        .iter()
        .map(|name| {
            all.iter().copied().find(|k| k.name() == name.as_str()).ok_or_else(|| {
                let have: Vec<_> = all.iter().map(|k| k.name()).collect();
                Failure::usage(
                    format!("this machine has no kernel called {name:?}"),
                    format!("it has: {}", have.join(", ")),
                )
            })
        })
        .collect()
}

impl From<CipherError> for Failure {
    fn from(error: CipherError) -> Self {
        match error {
            CipherError::KernelMissing(_) => Self::new(
                crate::failure::Exit::NotPermitted,
                error.to_string(),
                "`keyway doctor` lists the kernels",
            ),
            _ => Self::usage(error.to_string(), "`keyway bench` lists the ciphers"),
        }
    }
}

/// Measures one cipher in one kernel; `None` where that kernel has nothing of its own for it.
pub(crate) fn cipher_row(
    chain: Chain,
    kernel: Kernel,
    buffer: usize,
    threads: u16,
    time: Duration,
) -> Result<Option<CipherRow>, Failure> {
    let spec = Spec { chain, mode: Mode::Xts, unit_bytes: 512 };
    // The keys are nobody's secret: a counting pattern, different in every byte of a layer.
    let material: Vec<Vec<u8>> = chain
        .layers()
        .zip(0u8..)
        .map(|(layer, n)| (0..layer.key_bytes() as u8 * 2).map(|i| i.wrapping_mul(7) ^ n).collect())
        .collect();
    let keys: Vec<LayerKey<'_>> = material
        .iter()
        .map(|bytes| {
            let (key, tweak_key) = bytes.split_at(bytes.len() / 2);
            LayerKey { key, tweak_key }
        })
        .collect();
    let cipher = match SectorCipher::with_kernel(&spec, &keys, kernel) {
        Err(CipherError::KernelMissing(_)) => return Ok(None),
        other => other?,
    };
    if cipher.kernel() != kernel {
        return Ok(None);
    }
    let chosen = SectorCipher::new(&spec, &keys)?.kernel() == kernel;
    let speed = |work: &(dyn Fn(&mut [u8]) + Sync)| rounded(measure(buffer, threads, time, work));
    Ok(Some(CipherRow {
        cipher: chain.to_string(),
        kernel: kernel.name(),
        threads,
        buffer_bytes: buffer as u64,
        sector_bytes: spec.unit_bytes,
        encrypt_mb_s: speed(&|units| cipher.encrypt_sectors(units, 0)),
        decrypt_mb_s: speed(&|units| cipher.decrypt_sectors(units, 0)),
        chosen,
    }))
}

/// Copies one buffer into another: what moving the bytes alone costs.
pub(crate) fn memcpy(buffer: usize, threads: u16, time: Duration) -> f64 {
    let source = AlignedBuf::zeroed(buffer);
    measure(buffer, threads, time, &|target| target.copy_from_slice(black_box(&source)))
}

/// MB/s (10^6 bytes) of all threads together. Each runs `work` on its own buffer, first once to
/// warm up, until the time is over; the fastest of three rounds counts, because whatever else
/// runs here only ever makes it slower.
fn measure(buffer: usize, threads: u16, time: Duration, work: &(dyn Fn(&mut [u8]) + Sync)) -> f64 {
    let start = Barrier::new(usize::from(threads));
    let per_thread = || {
        let mut units = AlignedBuf::zeroed(buffer);
        work(&mut units);
        let mut best = 0.0f64;
        for _ in 0..3 {
            start.wait();
            let began = Instant::now();
            let mut rounds = 0u64;
            while began.elapsed() < time / 3 || rounds == 0 {
                work(black_box(&mut units));
                rounds += 1;
            }
            let bytes = rounds as f64 * buffer as f64;
            best = best.max(bytes / began.elapsed().as_secs_f64() / 1e6);
        }
        best
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(per_thread)).collect();
        let own = per_thread();
        others.into_iter().map(|t| t.join().unwrap_or(0.0)).sum::<f64>() + own
    })
}

/// VeraCrypt's key derivations at the cost they have without a PIM, each for one header key.
fn kdf_rows() -> Vec<KdfRow> {
    let all = [
        (HashName::Sha512, Some(Prf::Sha512)),
        (HashName::Sha256, Some(Prf::Sha256)),
        (HashName::Blake2s, Some(Prf::Blake2s)),
        (HashName::Whirlpool, Some(Prf::Whirlpool)),
        (HashName::Streebog, Some(Prf::Streebog)),
        (HashName::Ripemd160, Some(Prf::Ripemd160)),
        (HashName::Argon2id, None),
    ];
    let row = |(hash, prf)| match (Derivation::of(Format::VeraCrypt, hash, None, false)?, prf) {
        (Derivation::Pbkdf2 { iterations }, Some(prf)) => Some(pbkdf2_row(prf, iterations)),
        (Derivation::Argon2id { memory_kib, passes }, _) => {
            argon2id_row(Argon2idCost { memory_kib, passes, lanes: 1 })
        }
        (Derivation::Pbkdf2 { .. }, None) => None,
    };
    all.into_iter().filter_map(row).collect()
}

/// Nobody's password.
const PASSWORD: &[u8] = b"correct horse battery";
/// Nobody's salt.
const SALT: [u8; SALT_BYTES] = [7; SALT_BYTES];

fn pbkdf2_row(prf: Prf, iterations: u32) -> KdfRow {
    let measured = (iterations / KDF_SHARE).max(1);
    let began = Instant::now();
    black_box(keyway_kdf::pbkdf2(prf, PASSWORD, &SALT, measured, HEADER_KEY_BYTES));
    let ms = began.elapsed().as_secs_f64() * 1e3 * f64::from(iterations) / f64::from(measured);
    KdfRow {
        kdf: format!("pbkdf2-{}", prf.name()),
        iterations,
        ms: rounded(ms),
        measured_iterations: Some(measured),
        memory_kib: None,
    }
}

/// `None` where the memory can't be had; `doctor` tells that.
fn argon2id_row(cost: Argon2idCost) -> Option<KdfRow> {
    let began = Instant::now();
    black_box(keyway_kdf::argon2id(cost, PASSWORD, &SALT, HEADER_KEY_BYTES, &AtomicBool::new(false)))
        .ok()??;
    Some(KdfRow {
        kdf: "argon2id".to_owned(),
        iterations: cost.passes,
        ms: rounded(began.elapsed().as_secs_f64() * 1e3),
        measured_iterations: None,
        memory_kib: Some(cost.memory_kib),
    })
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn words(document: &Document) -> String {
    let speed = |v: f64| format!("{v:.0}");
    let rows = document.ciphers.iter().map(|r| {
        let mark = if r.chosen { "chosen" } else { "" };
        vec![
            r.cipher.clone(),
            r.kernel.to_owned(),
            speed(r.encrypt_mb_s),
            speed(r.decrypt_mb_s),
            mark.to_owned(),
        ]
    });
    let mut text = table(&["cipher", "kernel", "encrypt MB/s", "decrypt MB/s", ""], 2, rows);
    text.push_str(&format!("\ncopying memory: {:.0} MB/s\n", document.memcpy_mb_s));
    if !document.kdfs.is_empty() {
        let rows = document.kdfs.iter().map(|r| vec![r.kdf.clone(), r.iterations.to_string(), speed(r.ms)]);
        text.push('\n');
        text.push_str(&table(&["key derivation", "iterations", "ms"], 1, rows));
    }
    if let Some(first) = document.ciphers.first() {
        text.push_str(&format!(
            "\n{} thread(s), buffers of {}, XTS over 512-byte units, MB = 10^6 bytes.\n",
            first.threads,
            crate::output::bytes(first.buffer_bytes)
        ));
    }
    text
}
