//! What a serving process says about itself.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A session as its state file describes it. What does not apply is `None` (`null` in JSON).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    /// Names the session and its folder; 8 hexadecimal digits.
    pub id: String,
    /// Canonical path of the volume.
    pub volume: PathBuf,
    /// "fuse" or "nbd".
    pub attachment: String,
    /// The loop device.
    pub device: Option<PathBuf>,
    /// The decrypted volume as a file.
    pub file: Option<PathBuf>,
    /// Where NBD clients connect: a path, or ADDRESS:PORT.
    pub socket: Option<String>,
    /// Where the file system inside is mounted.
    pub mountpoint: Option<PathBuf>,
    /// The mounted file system's type.
    pub filesystem: Option<String>,
    /// The serving process.
    pub pid: u32,
    /// When that process started, in clock ticks since boot: with the pid it names one process.
    pub pid_started: u64,
    /// When the volume was opened, in seconds since 1970.
    pub opened: u64,
    /// The volume's size in bytes.
    pub size_bytes: u64,
    /// The volume's sector size in bytes.
    pub sector_bytes: u32,
    /// Whether it was opened for reading only.
    pub read_only: bool,
    /// How requests reach the serving process: "/dev/fuse", "fuse over io_uring", "nbd".
    pub transport: String,
    /// What the format says about the volume.
    pub details: serde_json::Value,
}

/// A session as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// What does not change while it is open.
    #[serde(flatten)]
    pub state: SessionState,
    /// Read requests so far.
    pub reads: u64,
    /// Bytes read so far.
    pub bytes_read: u64,
    /// Write requests so far.
    pub writes: u64,
    /// Bytes written so far.
    pub bytes_written: u64,
    /// Flushes so far.
    pub flushes: u64,
    /// Whether a write was refused because it would have damaged the hidden volume; the volume
    /// takes no more writes since then.
    pub guard_hit: bool,
}
