//! `bench`: how fast this machine ciphers and derives keys.

mod ciphers;
mod clock;
mod document;
mod kdfs;
mod plan;
mod race;
mod report;
mod subject;

use crate::failure::{Exit, Failure};
use crate::output::Output;
use document::{Document, Machine};
use keyway_cipher::{CipherError, Kernel};
use plan::{Buffers, Plan, Threads};
use race::{Setting, race};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use ciphers::CipherRow;
pub(crate) use subject::Subject;

/// Measure ciphers and key derivations on this machine
///
/// Each cipher works in place on buffers of 512-byte sectors. What is told is the median of five turns,
/// which all kernels take one after the other. Without --buffer, --threads and --kernel every
/// kernel is measured with 1M on one core, and the one that would be chosen also with 4K, with 64K
/// and on all cores.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway bench --html speed.html
  $ keyway bench --cipher aes --cipher aes-cbc-128 --kernel all --buffer 4K,1M --threads 1,all --json")]
pub(crate) struct Args {
    /// Only this cipher: VeraCrypt's ciphers and cascades, outermost first, or BitLocker's
    /// aes-xts-128, aes-cbc-128-elephant and so on. Repeatable
    #[arg(long, value_name = "CIPHER")]
    cipher: Vec<Subject>,
    /// Only this kernel: portable, sse, avx2, avx512, neon, or all. Repeatable
    #[arg(long, value_name = "KERNEL")]
    kernel: Vec<String>,
    /// Bytes ciphered at a time, several separated by commas; all stands for 4K,64K,1M,10M,100M
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = plan::buffers)]
    buffer: Vec<Buffers>,
    /// Threads that cipher at once, each its own buffer, several numbers separated by commas; all
    /// stands for one on each core. The speeds are their sum
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = plan::threads)]
    threads: Vec<Threads>,
    /// Milliseconds for all turns of one measurement
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    time: u32,
    /// Leave out the key derivations
    #[arg(long)]
    no_kdf: bool,
    /// Write a report with bar charts to this file as well
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let all = args.kernel.is_empty() || args.kernel.iter().any(|name| name == "all");
    let kernels = if all { Kernel::available() } else { named_kernels(&args.kernel)? };
    let time = Duration::from_millis(u64::from(args.time));
    let plan = Plan::of(&args.buffer, &args.threads, args.kernel.is_empty(), time)?;
    let subjects = if args.cipher.is_empty() { Subject::all() } else { args.cipher.clone() };
    let mut ciphers = Vec::new();
    for subject in subjects {
        for &setting in &plan.all_kernels {
            ciphers.extend(ciphers::rows(subject, &kernels, setting)?);
        }
        for &setting in &plan.chosen_kernel {
            ciphers.extend(ciphers::rows(subject, &[subject.chosen()?], setting)?);
        }
    }
    if ciphers.is_empty() {
        return Err(Failure::usage(
            "no kernel that was named serves these ciphers",
            "leave --kernel out, or name one of VeraCrypt's ciphers",
        ));
    }
    let document = Document {
        machine: Machine::here(),
        ciphers,
        kdfs: if args.no_kdf { Vec::new() } else { kdfs::rows() },
        memcpy_mb_s: plan.all_kernels.first().map_or(0.0, |&setting| rounded(copying(setting))),
        memory: plan.memory_settings().into_iter().map(document::MemoryRow::of).collect(),
    };
    if let Some(path) = &args.html {
        std::fs::write(path, report::html(&document)).map_err(|e| Failure::io("write", path, &e))?;
    }
    out.result(&document, || document::words(&document))
}

fn named_kernels(names: &[String]) -> Result<Vec<Kernel>, Failure> {
    let all = Kernel::available();
    let find = |name: &String| {
        all.iter().copied().find(|k| k.name() == name.as_str()).ok_or_else(|| {
            let have: Vec<_> = all.iter().map(|k| k.name()).collect();
            Failure::usage(
                format!("this machine has no kernel called {name:?}"),
                format!("it has: {}", have.join(", ")),
            )
        })
    };
    names.iter().map(find).collect()
}

impl From<CipherError> for Failure {
    fn from(error: CipherError) -> Self {
        match error {
            CipherError::KernelMissing(_) => {
                Self::new(Exit::NotPermitted, error.to_string(), "`keyway doctor` lists the kernels")
            }
            _ => Self::usage(error.to_string(), "`keyway bench` lists the ciphers"),
        }
    }
}

/// What the kernel that would be chosen does on one core.
pub(crate) fn chosen_row(subject: Subject, buffer: usize, time: Duration) -> Result<CipherRow, Failure> {
    let setting = Setting { buffer, threads: 1, time };
    let rows = ciphers::rows(subject, &[subject.chosen()?], setting)?;
    rows.into_iter().next().ok_or_else(|| Failure::new(Exit::Failed, format!("{subject} has no kernel"), ""))
}

/// MB/s that one core copies in memory.
pub(crate) fn memcpy(buffer: usize, time: Duration) -> f64 {
    copying(Setting { buffer, threads: 1, time })
}

/// MB/s of copying one buffer into another: what moving the bytes alone costs.
fn copying(setting: Setting) -> f64 {
    // Source and target are the halves of a buffer of each thread; one of them counts.
    let setting = Setting { buffer: 2 * setting.buffer, ..setting };
    let copy = |both: &mut [u8]| {
        let (source, target) = both.split_at_mut(both.len() / 2);
        target.copy_from_slice(black_box(source));
    };
    race(setting, &[&copy]).first().copied().unwrap_or(0.0) / 2.0
}

/// To a tenth.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
