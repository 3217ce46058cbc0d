//! How fast this machine ciphers and derives keys: what [`BenchPlan`] says is measured, told in a [`BenchDocument`].
//!
//! Kernels take turns on the same buffers (`race`), and the median turn counts.

mod answer;
mod ciphers;
mod clock;
mod document;
mod error;
mod kdfs;
mod memory;
mod plan;
mod race;
mod report;
mod subject;
mod tables;

pub use answer::answer;
pub use ciphers::CipherRow;
pub use document::{BenchDocument, BenchMachine, MemoryRow, Point, point_words};
pub use error::BenchError;
pub use kdfs::KdfRow;
pub use memory::memcpy;
pub use plan::{BenchPlan, Buffers, Threads};
pub use race::Setting;
pub use report::html;
pub use subject::BenchSubject;
pub use tables::tables;

use keyway_cipher::{CipherError, Kernel};
use memory::copying;
use race::rounded;
use std::time::Duration;

/// The kernels of these names; all that this machine has where there are none, or one is `all`.
///
/// # Errors
/// This machine has no such kernel.
pub fn kernels(names: &[String]) -> Result<Vec<Kernel>, BenchError> {
    let have = Kernel::available();
    if names.is_empty() || names.iter().any(|name| name == "all") {
        return Ok(have);
    }
    let find = |name: &String| have.iter().copied().find(|kernel| kernel.name() == name.as_str());
    let missing = |name: &String| {
        let present = have.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ");
        BenchError::NoSuchKernel { name: name.clone(), present }
    };
    names.iter().map(|name| find(name).ok_or_else(|| missing(name))).collect()
}

/// Told before each measurement: of what, and how many of how many are done.
pub type BenchWatch<'a> = dyn Fn(BenchSubject, usize, usize) + 'a;

/// Measures each subject with these kernels as the plan says; `command` is kept in the document.
///
/// # Errors
/// None of the kernels serves any of the subjects.
pub fn measure(
    subjects: &[BenchSubject],
    kernels: &[Kernel],
    plan: &BenchPlan,
    key_derivations: bool,
    command: String,
    watch: &BenchWatch<'_>,
) -> Result<BenchDocument, BenchError> {
    let mut ciphers = Vec::new();
    let all = subjects.len() * (plan.all_kernels.len() + plan.chosen_kernel.len());
    let mut done = 0;
    let mut told = |subject| {
        watch(subject, done, all);
        done += 1;
    };
    for &subject in subjects {
        for &setting in &plan.all_kernels {
            told(subject);
            ciphers.extend(ciphers::rows(subject, kernels, setting)?);
        }
        for &setting in &plan.chosen_kernel {
            told(subject);
            ciphers.extend(ciphers::rows(subject, &[subject.chosen()?], setting)?);
        }
    }
    if ciphers.is_empty() {
        return Err(BenchError::NoKernel);
    }
    let memory = plan.all_kernels.first().map(|&setting| copying(setting)).unwrap_or_default();
    Ok(BenchDocument {
        machine: BenchMachine::here(command),
        ciphers,
        kdfs: if key_derivations { kdfs::rows() } else { Vec::new() },
        memcpy_mb_s: rounded(memory.mb_s),
        memcpy_spread_percent: rounded(memory.spread_percent),
        memory: plan.memory_settings().into_iter().map(MemoryRow::of).collect(),
    })
}

/// What the kernel that would be chosen does on one core; `None` where there is no kernel.
///
/// # Errors
/// The cipher can't be made.
pub fn chosen_row(
    subject: BenchSubject,
    buffer: usize,
    time: Duration,
) -> Result<Option<CipherRow>, CipherError> {
    let setting = Setting { buffer, threads: 1, time };
    Ok(ciphers::rows(subject, &[subject.chosen()?], setting)?.into_iter().next())
}
