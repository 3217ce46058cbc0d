//! How fast this machine ciphers and derives keys: what [`Plan`] says is measured, told in a [`Document`].
//!
//! Kernels take turns on the same buffers (`race`), and the median turn counts.

mod ciphers;
mod clock;
mod document;
mod kdfs;
mod plan;
mod race;
mod report;
mod subject;

use keyway_cipher::{CipherError, Kernel};
use std::hint::black_box;
use std::time::Duration;

pub use ciphers::CipherRow;
pub use document::{Document, Machine, MemoryRow, Point, point_words};
pub use kdfs::KdfRow;
pub use plan::{Buffers, Plan, Threads};
pub use race::Setting;
pub use report::html;
pub use subject::Subject;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// None of the kernels serves any of the ciphers.
    #[error("no kernel that was named serves these ciphers")]
    NoKernel,
    /// More than the memory that is free.
    #[error(
        "{threads} threads with {} each, and as much again to copy to, are more than the memory \
         that is free",
        keyway_store::size::words(*.buffer as u64)
    )]
    Memory {
        /// Bytes of each thread's buffer.
        buffer: usize,
        /// Threads.
        threads: u16,
    },
    /// A cipher could not be made.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

/// Measures each subject with these kernels as the plan says; `command` is kept in the document.
///
/// # Errors
/// None of the kernels serves any of the subjects.
pub fn measure(
    subjects: &[Subject],
    kernels: &[Kernel],
    plan: &Plan,
    key_derivations: bool,
    command: String,
) -> Result<Document, BenchError> {
    let mut ciphers = Vec::new();
    for &subject in subjects {
        for &setting in &plan.all_kernels {
            ciphers.extend(ciphers::rows(subject, kernels, setting)?);
        }
        for &setting in &plan.chosen_kernel {
            ciphers.extend(ciphers::rows(subject, &[subject.chosen()?], setting)?);
        }
    }
    if ciphers.is_empty() {
        return Err(BenchError::NoKernel);
    }
    Ok(Document {
        machine: Machine::here(command),
        ciphers,
        kdfs: if key_derivations { kdfs::rows() } else { Vec::new() },
        memcpy_mb_s: plan.all_kernels.first().map_or(0.0, |&setting| rounded(copying(setting))),
        memory: plan.memory_settings().into_iter().map(MemoryRow::of).collect(),
    })
}

/// What the kernel that would be chosen does on one core; `None` where there is no kernel.
///
/// # Errors
/// The cipher can't be made.
pub fn chosen_row(subject: Subject, buffer: usize, time: Duration) -> Result<Option<CipherRow>, CipherError> {
    let setting = Setting { buffer, threads: 1, time };
    Ok(ciphers::rows(subject, &[subject.chosen()?], setting)?.into_iter().next())
}

/// MB/s that one core copies in memory.
pub fn memcpy(buffer: usize, time: Duration) -> f64 {
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
    race::race(setting, &[&copy]).first().copied().unwrap_or(0.0) / 2.0
}

/// To a tenth.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
