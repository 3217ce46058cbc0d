//! What was measured, as a document and as tables.

use super::ciphers::CipherRow;
use super::kdfs::KdfRow;
use super::race::Setting;
use super::{clock, copying, plan, rounded};
use crate::machine;
use crate::output::{bytes, table};
use keyway_volume::bitlocker::FileTime;
use serde::Serialize;

/// Everything that was measured.
#[derive(Serialize)]
pub(crate) struct Document {
    pub(crate) machine: Machine,
    pub(crate) ciphers: Vec<CipherRow>,
    pub(crate) kdfs: Vec<KdfRow>,
    /// Of the first setting.
    pub(crate) memcpy_mb_s: f64,
    pub(crate) memory: Vec<MemoryRow>,
}

/// Where, when and how.
#[derive(Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    /// The features that the kernels use.
    pub(crate) features: Vec<String>,
    pub(crate) cores: u16,
    /// The operating system's kernel.
    pub(crate) system: String,
    /// ISO 8601, UTC.
    pub(crate) date: String,
    pub(crate) keyway: &'static str,
    pub(crate) command: String,
    /// The measuring core's, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clock_mhz: Option<f64>,
    /// How the clock is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clock_known_by: Option<&'static str>,
}

impl Machine {
    pub(super) fn here() -> Self {
        let (processor, features) = machine::processor();
        let system = rustix::system::uname();
        let clock_mhz = clock::hertz().map(|hertz| (hertz / 1e6).round());
        // No secret is ever an argument.
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        Self {
            processor,
            features,
            cores: plan::cores(),
            system: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
            date: FileTime::now().to_string(),
            keyway: env!("CARGO_PKG_VERSION"),
            command: std::iter::once("keyway".to_owned()).chain(words).collect::<Vec<_>>().join(" "),
            clock_mhz,
            clock_known_by: clock_mhz.map(|_| clock::HOW),
        }
    }
}

/// What copying memory does: the ceiling of all that touches each byte.
#[derive(Serialize)]
pub(crate) struct MemoryRow {
    pub(crate) buffer_bytes: u64,
    pub(crate) threads: u16,
    pub(crate) memcpy_mb_s: f64,
}

impl MemoryRow {
    pub(super) fn of(setting: Setting) -> Self {
        Self {
            buffer_bytes: setting.buffer as u64,
            threads: setting.threads,
            memcpy_mb_s: rounded(copying(setting)),
        }
    }
}

/// Buffer and threads.
pub(super) type Point = (u64, u16);

impl Document {
    /// The settings of the ciphers, in the order measured.
    pub(super) fn points(&self) -> Vec<Point> {
        unique(self.ciphers.iter().map(CipherRow::point))
    }

    /// The ciphers, in the order measured.
    pub(super) fn names(&self) -> Vec<&str> {
        unique(self.ciphers.iter().map(|row| row.cipher.as_str()))
    }

    /// The kernels that were measured there, the fastest first.
    pub(super) fn kernels_at(&self, point: Point) -> Vec<&'static str> {
        let here = self.ciphers.iter().filter(|row| row.point() == point);
        let mut kernels = unique(here.map(|row| row.kernel));
        kernels.reverse();
        kernels
    }

    /// The settings that more was measured with than the chosen kernel.
    pub(super) fn points_of_comparison(&self) -> Vec<Point> {
        let compared = |point: &Point| self.ciphers.iter().any(|row| row.point() == *point && !row.chosen);
        let all = self.points();
        let some: Vec<_> = all.iter().copied().filter(compared).collect();
        if some.is_empty() { all.into_iter().take(1).collect() } else { some }
    }

    pub(super) fn row(&self, cipher: &str, kernel: &str, point: Point) -> Option<&CipherRow> {
        self.ciphers.iter().find(|r| r.cipher == cipher && r.kernel == kernel && r.point() == point)
    }

    /// The chosen kernel's, or the fastest of those measured there.
    pub(super) fn best_row(&self, cipher: &str, point: Point) -> Option<&CipherRow> {
        let here = || self.ciphers.iter().filter(|r| r.cipher == cipher && r.point() == point);
        here().find(|row| row.chosen).or_else(|| here().max_by(|a, b| a.mb_s().total_cmp(&b.mb_s())))
    }

    pub(super) fn memory_at(&self, (buffer, threads): Point) -> Option<f64> {
        let here = |row: &&MemoryRow| row.buffer_bytes == buffer && row.threads == threads;
        self.memory.iter().find(here).map(|row| row.memcpy_mb_s)
    }
}

impl CipherRow {
    pub(super) fn point(&self) -> Point {
        (self.buffer_bytes, self.threads)
    }
}

/// A setting in words.
pub(super) fn point_words((buffer, threads): Point) -> String {
    match threads {
        1 => format!("{}, one core", bytes(buffer)),
        _ => format!("{}, {threads} threads", bytes(buffer)),
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

/// Tables for people.
pub(super) fn words(document: &Document) -> String {
    let mut text = String::new();
    for point in document.points_of_comparison() {
        text.push_str(&format!("{}: encrypt / decrypt in MB/s\n", point_words(point)));
        text.push_str(&comparison(document, point));
        text.push('\n');
    }
    let points = document.points();
    if points.len() > 1 {
        text.push_str("The kernel that would be chosen, the slower of encrypt and decrypt in MB/s\n");
        let headings: Vec<String> = points.iter().map(|&point| point_words(point)).collect();
        let mut header = vec!["cipher"];
        header.extend(headings.iter().map(String::as_str));
        let speed = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.0}"));
        let row = |name: &str, value: &dyn Fn(Point) -> Option<f64>| -> Vec<String> {
            let cells = points.iter().map(|&point| speed(value(point)));
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        let mut rows: Vec<_> = document
            .names()
            .into_iter()
            .map(|name| row(name, &|point| document.best_row(name, point).map(CipherRow::mb_s)))
            .collect();
        rows.push(row("copying memory", &|point| document.memory_at(point)));
        text.push_str(&table(&header, 1, rows));
        text.push('\n');
    }
    text.push_str("Copying memory\n");
    let rows = document
        .memory
        .iter()
        .map(|row| vec![point_words((row.buffer_bytes, row.threads)), format!("{:.0}", row.memcpy_mb_s)]);
    text.push_str(&table(&["buffer", "MB/s"], 1, rows));
    if !document.kdfs.is_empty() {
        text.push_str("\nKey derivations on one core\n");
        let rows = document.kdfs.iter().map(|row| {
            vec![
                row.kdf.clone(),
                row.kernel.unwrap_or_default().to_owned(),
                row.iterations.to_string(),
                format!("{:.0}", row.ms),
            ]
        });
        text.push_str(&table(&["", "kernel", "iterations", "ms"], 2, rows));
    }
    let machine = &document.machine;
    text.push_str(&format!(
        "\n{}, {} cores; 512-byte sectors, MB = 10^6 bytes, * the kernel that would be chosen.\n",
        machine.processor, machine.cores
    ));
    if let (Some(mhz), Some(how)) = (machine.clock_mhz, machine.clock_known_by) {
        text.push_str(&format!("Cycles per byte at about {mhz:.0} MHz: {how}.\n"));
    }
    text
}

/// A line for each cipher, a column for each kernel.
fn comparison(document: &Document, point: Point) -> String {
    let kernels = document.kernels_at(point);
    let with_cycles =
        document.ciphers.iter().any(|row| row.point() == point && row.cycles_per_byte().is_some());
    let mut header = vec!["cipher"];
    header.extend(&kernels);
    if with_cycles {
        header.push("cycles/byte");
    }
    let row = |name: &str| {
        let cell = |kernel: &&str| {
            document.row(name, kernel, point).map_or_else(String::new, |row| {
                let mark = if row.chosen { "*" } else { " " };
                format!("{:.0} /{:>6.0}{mark}", row.encrypt_mb_s, row.decrypt_mb_s)
            })
        };
        let mut cells = vec![name.to_owned()];
        cells.extend(kernels.iter().map(cell));
        if with_cycles {
            let best = document.best_row(name, point).and_then(CipherRow::cycles_per_byte);
            cells.push(best.map_or_else(String::new, |cycles| format!("{cycles:.2}")));
        }
        cells
    };
    table(&header, 1, document.names().into_iter().map(row))
}
