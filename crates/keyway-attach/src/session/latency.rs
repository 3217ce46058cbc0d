//! How long a session's requests took, layer by layer, as `status` tells it.

use keyway_engine::Spread;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// How long requests took. What there is nothing of is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Reads.
    pub reads: Latency,
    /// Writes.
    pub writes: Latency,
    /// Flushes.
    pub flushes: Latency,
}

/// How long one kind of request took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// With the file or device that the volume is in. A sample of the requests, as `cipher`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<Times>,
    /// Encrypting or decrypting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher: Option<Times>,
    /// From the kernel's taking them to its answer, both layers above among it: the mean over all requests of
    /// the block device, in nanoseconds, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_mean_ns: Option<u64>,
}

/// How the times of a layer are spread, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Requests that were timed: of reads and writes about one in eight, of flushes all.
    pub count: u64,
    /// Their mean.
    pub mean_ns: u64,
    /// Half took no longer, to an eighth of it.
    pub p50_ns: u64,
    /// 99 of 100 took no longer.
    pub p99_ns: u64,
    /// Steps of the histogram: nanoseconds below which, and not below the step before, so many were.
    pub histogram: Vec<(u64, u64)>,
}

impl Times {
    fn of(spread: &Spread) -> Option<Self> {
        Some(Self {
            count: spread.count(),
            mean_ns: spread.mean()?,
            p50_ns: spread.percentile(50)?,
            p99_ns: spread.percentile(99)?,
            histogram: spread.steps().collect(),
        })
    }
}

impl Latencies {
    /// What our engine measured.
    pub(super) fn of(found: &keyway_engine::Latency) -> Self {
        let layers = |store, cipher| Latency {
            store: Times::of(store),
            cipher: Times::of(cipher),
            whole_mean_ns: None,
        };
        Self {
            reads: layers(&found.read_store, &found.read_cipher),
            writes: layers(&found.write_store, &found.write_cipher),
            flushes: layers(&found.flush_store, &Spread::default()),
        }
    }

    /// With what the kernel counts of the block device.
    pub(super) fn with_device(mut self, stat: &KernelStat) -> Self {
        self.reads.whole_mean_ns = mean(stat.reads, stat.read_ms);
        self.writes.whole_mean_ns = mean(stat.writes, stat.write_ms);
        self.flushes.whole_mean_ns = mean(stat.flushes, stat.flush_ms);
        self
    }
}

fn mean(requests: u64, milliseconds: u64) -> Option<u64> {
    milliseconds.saturating_mul(1_000_000).checked_div(requests)
}

/// The kernel's own count of a block device's requests (`Documentation/block/stat.rst`): requests, merges,
/// sectors of 512 bytes and milliseconds of reads, the same of writes, three of what waits, four of discards,
/// requests and milliseconds of flushes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KernelStat {
    pub(super) reads: u64,
    pub(super) read_sectors: u64,
    read_ms: u64,
    pub(super) writes: u64,
    pub(super) written_sectors: u64,
    write_ms: u64,
    pub(super) flushes: u64,
    flush_ms: u64,
}

impl KernelStat {
    /// What the kernel counts of the block device at that path.
    pub(super) fn open(device: &Path) -> Option<File> {
        File::open(Path::new("/sys/block").join(device.file_name()?).join("stat")).ok()
    }

    /// What it has counted by now.
    pub(super) fn read(counts: &File) -> Option<Self> {
        // Seventeen numbers.
        let mut text = [0; 1024];
        let len = counts.read_at(&mut text, 0).ok()?;
        Some(Self::parse(&String::from_utf8_lossy(text.get(..len)?)))
    }

    /// What has come to it since then: loop devices are used again, and count on.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            read_sectors: self.read_sectors.saturating_sub(before.read_sectors),
            read_ms: self.read_ms.saturating_sub(before.read_ms),
            writes: self.writes.saturating_sub(before.writes),
            written_sectors: self.written_sectors.saturating_sub(before.written_sectors),
            write_ms: self.write_ms.saturating_sub(before.write_ms),
            flushes: self.flushes.saturating_sub(before.flushes),
            flush_ms: self.flush_ms.saturating_sub(before.flush_ms),
        }
    }

    pub(super) fn parse(text: &str) -> Self {
        let fields: Vec<u64> = text.split_ascii_whitespace().map(|word| word.parse().unwrap_or(0)).collect();
        let field = |n: usize| fields.get(n).copied().unwrap_or(0);
        Self {
            reads: field(0),
            read_sectors: field(2),
            read_ms: field(3),
            writes: field(4),
            written_sectors: field(6),
            write_ms: field(7),
            flushes: field(15),
            flush_ms: field(16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_count_is_read() {
        let line = "  12 0 800 6 7 1 40 2 0 9 8 0 0 0 0 3 1\n";
        let stat = KernelStat::parse(line);
        assert_eq!((stat.reads, stat.read_sectors, stat.writes, stat.written_sectors), (12, 800, 7, 40));
        let told = Latencies::default().with_device(&stat);
        assert_eq!(told.reads.whole_mean_ns, Some(500_000));
        assert_eq!(told.flushes.whole_mean_ns, Some(333_333));
        let later = KernelStat::parse("  14 0 816 26 8 1 48 5 0 9 8 0 0 0 0 3 1\n").since(&stat);
        let told = Latencies::default().with_device(&later);
        assert_eq!(told.reads.whole_mean_ns, Some(10_000_000), "of the last two alone");
        assert_eq!((told.writes.whole_mean_ns, told.flushes.whole_mean_ns), (Some(3_000_000), None));
        let nothing = Latencies::default().with_device(&KernelStat::parse(""));
        assert_eq!(nothing, Latencies::default());
    }
}
