//! Every shape of a file system that its own `mkfs` can make, and what its own tools say of one afterwards.

use crate::needs::require_tool;
use std::fmt;
use std::path::Path;
use std::process::Command;

/// A file system with one size of sectors and clusters (or blocks).
#[derive(Debug, Clone)]
pub struct Shape {
    /// `ntfs`, `exfat`, `fat12`, `fat16`, `fat32`, `ext4`.
    pub kind: &'static str,
    /// Bytes of a sector, by what its first sector says.
    pub sector: u64,
    /// Bytes of a cluster.
    pub cluster: u64,
    mkfs: &'static str,
    arguments: Vec<String>,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with sectors of {} and clusters of {}", self.kind, self.sector, self.cluster)
    }
}

/// The powers of two in that range.
fn powers(from: u64, to: u64) -> impl Iterator<Item = u64> + Clone {
    (0..40).map(|shift| 1 << shift).filter(move |n| (from..=to).contains(n))
}

impl Shape {
    fn new(
        kind: &'static str,
        mkfs: &'static str,
        (sector, cluster): (u64, u64),
        arguments: &[&str],
        numbers: &[(&str, u64)],
    ) -> Self {
        let mut all: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        for (flag, number) in numbers {
            all.extend([(*flag).to_owned(), number.to_string()]);
        }
        Self { kind, sector, cluster, mkfs, arguments: all }
    }

    /// All that NTFS has.
    pub fn ntfs() -> impl Iterator<Item = Self> {
        let both = powers(512, 4096).flat_map(|sector| powers(sector, 2 << 20).map(move |n| (sector, n)));
        let flags = ["-q", "-Q", "-F", "-p", "0", "-H", "0", "-S", "0"];
        both.map(move |(sector, cluster)| {
            Self::new("ntfs", "mkntfs", (sector, cluster), &flags, &[("-s", sector), ("-c", cluster)])
        })
    }

    /// All that exFAT has in sectors of 512 bytes: its `mkfs` takes the device's.
    pub fn exfat() -> impl Iterator<Item = Self> {
        powers(512, 32 << 20)
            .map(|cluster| Self::new("exfat", "mkfs.exfat", (512, cluster), &[], &[("-c", cluster)]))
    }

    /// All that FAT has.
    pub fn fat() -> impl Iterator<Item = Self> {
        let both = powers(512, 4096).flat_map(|sector| powers(1, 128).map(move |n| (sector, n)));
        let kinds = [("fat12", 12), ("fat16", 16), ("fat32", 32)];
        both.flat_map(move |(sector, n)| {
            kinds.map(|(kind, bits)| {
                let numbers = [("-F", bits), ("-S", sector), ("-s", n)];
                Self::new(kind, "mkfs.fat", (sector, sector * n), &[], &numbers)
            })
        })
    }

    /// All that ext4 has.
    pub fn ext4() -> impl Iterator<Item = Self> {
        powers(1024, 64 << 10)
            .map(|block| Self::new("ext4", "mkfs.ext4", (512, block), &["-q", "-F"], &[("-b", block)]))
    }

    /// Bytes of a medium, 64 MiB at least, for which the `mkfs` makes it, if any.
    pub fn bytes(&self) -> u64 {
        let clusters = match self.kind {
            // 65,524 of them at most.
            "fat16" => 6000,
            // 4084 of them at most.
            "fat12" => 2000,
            // Enough that no driver takes it for another kind, where that is not too large.
            "fat32" if self.cluster <= 4096 => 68_000,
            _ => 40,
        };
        (self.cluster * clusters).max(64 << 20).next_multiple_of(1 << 20)
    }

    /// Makes it over all of a new file; `false` where the `mkfs` does not. `None` after a visible skip.
    ///
    /// # Panics
    /// When the file can't be made.
    pub fn make(&self, path: &Path, bytes: u64) -> Option<bool> {
        let mkfs = require_tool(self.mkfs)?;
        std::fs::File::create(path).expect("created").set_len(bytes).expect("sized");
        let done = Command::new(mkfs).args(&self.arguments).arg(path).output().expect("it runs");
        Some(done.status.success())
    }

    /// Its own tools find nothing wrong. What only reads it in parts, as for a mount, does not suffice where `whole`.
    ///
    /// # Panics
    /// When they do find something.
    pub fn check(&self, path: &Path, whole: bool) {
        let tools: &[(&str, &[&str])] = match self.kind {
            "ntfs" if whole => &[
                ("ntfsresize", &["--info", "--force", "--bad-sectors", "--no-progress-bar"]),
                ("ntfsfix", &["-n"]),
            ],
            "ntfs" => &[("ntfsinfo", &["-m"])],
            "exfat" => &[("fsck.exfat", &["-n"])],
            "ext4" => &[("e2fsck", &["-f", "-n"])],
            _ => &[("fsck.fat", &["-n"])],
        };
        for (tool, arguments) in tools {
            let Some(program) = require_tool(tool) else { continue };
            let done = Command::new(program).args(*arguments).arg(path).output().expect("it runs");
            let said = [done.stdout, done.stderr].concat();
            assert!(done.status.success(), "{self}: {tool}: {}", String::from_utf8_lossy(&said));
        }
    }
}
