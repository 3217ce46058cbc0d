//! `bench`: how fast this machine ciphers and derives keys.

use super::lab;
use crate::progress;
use crate::verbs::*;
use keyway::lab::bench::{self, BenchPlan, BenchSubject, Buffers, Threads};
use keyway::lab::told::bench as bench_words;
use std::time::Duration;

/// Measure ciphers and key derivations on this machine
///
/// Each cipher works in place on buffers of 512-byte sectors. What is told is the median of five turns,
/// which all kernels take one after the other. Without --buffer, --threads and --kernel every
/// kernel is measured with 1M on one core, and the one that would be chosen also with 4K, with 64K
/// and on all cores.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Only this cipher: VeraCrypt's ciphers and cascades, outermost first, or BitLocker's
    /// aes-xts-128, aes-cbc-128-elephant and so on. Repeatable
    #[arg(long, value_name = "CIPHER", value_parser = parsed::<BenchSubject>)]
    cipher: Vec<BenchSubject>,
    /// Only this kernel: portable, sse, avx2, avx512, neon, or all. Repeatable
    #[arg(long, value_name = "KERNEL")]
    kernel: Vec<String>,
    /// Bytes ciphered at a time, several separated by commas; all stands for 4K,64K,1M,10M,100M
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = size::buffers)]
    buffer: Vec<Buffers>,
    /// Threads that cipher at once, each its own buffer, several numbers separated by commas; all
    /// stands for one on each core. The speeds are their sum
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = size::threads)]
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

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let kernels = bench::kernels(&args.kernel)?;
    let time = Duration::from_millis(u64::from(args.time));
    let plan = BenchPlan::of(&args.buffer, &args.threads, args.kernel.is_empty(), time)?;
    let subjects = if args.cipher.is_empty() { BenchSubject::all() } else { args.cipher.clone() };
    // A place that can't be written to, or holds something, is told before anything is measured.
    let place = args.html.as_deref().map(|path| lab::output_file(path, out)).transpose()?;
    let bar = progress::turns("preparing", None);
    let watch = |subject: BenchSubject, done: usize, all: usize| bar.at(&subject.to_string(), done, all);
    let document = bench::measure(&subjects, &kernels, &plan, !args.no_kdf, lab::command(), &watch)?;
    drop(bar);
    if let Some(place) = place {
        place.write(bench::html(&document).as_bytes())?;
    }
    let page = || args.html.as_deref().map(lab::told_report).unwrap_or_default();
    out.result(&document, || bench_words(&document) + &page())
}
