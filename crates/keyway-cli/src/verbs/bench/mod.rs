//! `bench`: how fast this machine ciphers and derives keys.

mod table;
mod words;

use crate::failure::{Exit, Failure};
use crate::machine;
use crate::output::Output;
use keyway_cipher::{CipherError, Kernel};
use keyway_lab::bench::{self, BenchError, Buffers, CipherRow, Plan, Subject, Threads};
use std::path::PathBuf;
use std::time::Duration;

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
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = words::buffers)]
    buffer: Vec<Buffers>,
    /// Threads that cipher at once, each its own buffer, several numbers separated by commas; all
    /// stands for one on each core. The speeds are their sum
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::threads)]
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
    let document = bench::measure(&subjects, &kernels, &plan, !args.no_kdf, machine::command())?;
    if let Some(path) = &args.html {
        std::fs::write(path, bench::html(&document)).map_err(|e| Failure::io("write", path, &e))?;
    }
    out.result(&document, || table::words(&document))
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

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        let hint = match error {
            BenchError::Cipher(error) => return error.into(),
            BenchError::NoKernel => "leave --kernel out, or name one of VeraCrypt's ciphers",
            BenchError::Memory { .. } => "try a smaller --buffer or fewer --threads",
            _ => "",
        };
        Self::usage(error.to_string(), hint)
    }
}

/// What the kernel that would be chosen does on one core.
pub(crate) fn chosen_row(subject: Subject, buffer: usize, time: Duration) -> Result<CipherRow, Failure> {
    let row = bench::chosen_row(subject, buffer, time)?;
    row.ok_or_else(|| Failure::new(Exit::Failed, format!("{subject} has no kernel"), ""))
}
