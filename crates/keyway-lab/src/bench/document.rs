//! What was measured, as a document.

use super::ciphers::CipherRow;
use super::kdfs::KdfRow;
use super::memory::copying;
use super::race::{Setting, rounded};
use super::{clock, plan};
use keyway_store::size;
use keyway_sys::machine;
use keyway_volume::bitlocker::FileTime;
use serde::Serialize;

/// Everything that was measured.
#[derive(Serialize)]
pub struct BenchDocument {
    /// Where, when and how.
    pub machine: BenchMachine,
    /// What each kernel does with each cipher.
    pub ciphers: Vec<CipherRow>,
    /// What key derivations cost; empty where they were left out.
    pub kdfs: Vec<KdfRow>,
    /// What copying memory does, of the first setting.
    pub memcpy_mb_s: f64,
    /// How far its turns lie from that, in percent of it.
    pub memcpy_spread_percent: f64,
    /// What copying memory does, of every setting and of more than the caches hold.
    pub memory: Vec<MemoryRow>,
}

/// Where, when and how.
#[derive(Serialize)]
pub struct BenchMachine {
    /// What the processor calls itself.
    pub processor: String,
    /// The features that the kernels use.
    pub features: Vec<String>,
    /// Those that this process may use.
    pub cores: u16,
    /// The operating system's kernel.
    pub system: String,
    /// ISO 8601, UTC.
    pub date: String,
    /// The version that measured.
    pub keyway: &'static str,
    /// The command as it was given.
    pub command: String,
    /// The measuring core's, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<f64>,
    /// How the clock is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_known_by: Option<&'static str>,
}

impl BenchMachine {
    /// This one, now; `command` is what was asked for, in the front's words.
    pub fn here(command: String) -> Self {
        let (processor, features) = machine::processor();
        let system = rustix::system::uname();
        let clock_mhz = clock::hertz().map(|hertz| (hertz / 1e6).round());
        Self {
            processor,
            features,
            cores: plan::cores(),
            system: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
            date: FileTime::now().to_string(),
            keyway: env!("CARGO_PKG_VERSION"),
            command,
            clock_mhz,
            clock_known_by: clock_mhz.map(|_| clock::HOW),
        }
    }
}

/// What copying memory does: the ceiling of all that touches each byte.
#[derive(Serialize)]
pub struct MemoryRow {
    /// Bytes that are copied at a time.
    pub buffer_bytes: u64,
    /// Threads that copy at once.
    pub threads: u16,
    /// 10^6 bytes a second, the threads' together.
    pub memcpy_mb_s: f64,
    /// How far the turns lie from that, in percent of it.
    pub memcpy_spread_percent: f64,
}

impl MemoryRow {
    pub(super) fn of(setting: Setting) -> Self {
        let speed = copying(setting);
        Self {
            buffer_bytes: setting.buffer as u64,
            threads: setting.threads,
            memcpy_mb_s: rounded(speed.mb_s),
            memcpy_spread_percent: rounded(speed.spread_percent),
        }
    }
}

/// Buffer and threads.
pub type Point = (u64, u16);

impl BenchDocument {
    /// The settings of the ciphers, in the order measured.
    pub fn points(&self) -> Vec<Point> {
        unique(self.ciphers.iter().map(CipherRow::point))
    }

    /// The ciphers, in the order measured.
    pub fn names(&self) -> Vec<&str> {
        unique(self.ciphers.iter().map(|row| row.cipher.as_str()))
    }

    /// The kernels that were measured there, the fastest first.
    pub fn kernels_at(&self, point: Point) -> Vec<&'static str> {
        let here = self.ciphers.iter().filter(|row| row.point() == point);
        let mut kernels = unique(here.map(|row| row.kernel));
        kernels.reverse();
        kernels
    }

    /// The settings that more was measured with than the chosen kernel.
    pub fn points_of_comparison(&self) -> Vec<Point> {
        let compared = |point: &Point| self.ciphers.iter().any(|row| row.point() == *point && !row.chosen);
        let all = self.points();
        let some: Vec<_> = all.iter().copied().filter(compared).collect();
        if some.is_empty() { all.into_iter().take(1).collect() } else { some }
    }

    /// What one kernel does with one cipher in one setting.
    pub fn row(&self, cipher: &str, kernel: &str, point: Point) -> Option<&CipherRow> {
        self.ciphers.iter().find(|r| r.cipher == cipher && r.kernel == kernel && r.point() == point)
    }

    /// The chosen kernel's, or the fastest of those measured there.
    pub fn best_row(&self, cipher: &str, point: Point) -> Option<&CipherRow> {
        let here = || self.ciphers.iter().filter(|r| r.cipher == cipher && r.point() == point);
        here().find(|row| row.chosen).or_else(|| here().max_by(|a, b| a.mb_s().total_cmp(&b.mb_s())))
    }

    /// What copying memory does in one setting.
    pub fn memory_at(&self, (buffer, threads): Point) -> Option<f64> {
        let here = |row: &&MemoryRow| row.buffer_bytes == buffer && row.threads == threads;
        self.memory.iter().find(here).map(|row| row.memcpy_mb_s)
    }
}

impl CipherRow {
    /// Its setting.
    pub fn point(&self) -> Point {
        (self.buffer_bytes, self.threads)
    }
}

/// A setting in words.
pub fn point_words((buffer, threads): Point) -> String {
    match threads {
        1 => format!("{}, one core", size::words(buffer)),
        _ => format!("{}, {threads} threads", size::words(buffer)),
    }
}

/// Each one where it comes first.
fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut seen, one| {
        if !seen.contains(&one) {
            seen.push(one);
        }
        seen
    })
}
