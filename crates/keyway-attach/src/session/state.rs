//! What a serving process says about itself.

use super::latency::Latencies;
use super::medium::Inode;
use super::process::started;
use super::reason::Reason;
use super::sandbox::SandboxState;
use crate::{AttachError, Refused};
use keyway_sys::{IoMemory, IoMemoryUse};
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A session as its state file describes it. What does not apply is `None` (`null` in JSON).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    /// Names the session and its folder; 8 hexadecimal digits.
    pub id: String,
    /// Canonical path of the volume when it was opened.
    #[serde(with = "crate::path_text")]
    pub volume: PathBuf,
    /// The file or device that this path led to.
    #[serde(default)]
    pub inode: Option<Inode>,
    /// "fuse", "files", "mountd", "nbd", "vhost-user", "nvme-tcp", "ublk" or "dm-crypt".
    pub attachment: String,
    /// The loop device, dm-crypt's or ublk's.
    #[serde(default, with = "crate::path_text")]
    pub device: Option<PathBuf>,
    /// The decrypted volume as a file.
    #[serde(default, with = "crate::path_text")]
    pub file: Option<PathBuf>,
    /// Where clients connect: a path, or ADDRESS:PORT.
    #[serde(default, with = "crate::path_text")]
    pub socket: Option<PathBuf>,
    /// The same as the URI that NBD clients take, where it is NBD that is spoken there.
    #[serde(default)]
    pub uri: Option<String>,
    /// Where the file system inside is mounted.
    #[serde(default, with = "crate::path_text")]
    pub mountpoint: Option<PathBuf>,
    /// The type of the file system inside: as it is mounted, and where it is not, as `mount -t` would take it.
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
    /// Whether it is for reading only: opened so, or because it takes no more writes since its guard refused one.
    pub read_only: bool,
    /// How requests reach the serving process: "/dev/fuse", "fuse over io_uring", "nbd", "ublk"; "dm-crypt" where
    /// they do not, because the kernel does the work.
    pub transport: String,
    /// The loop device below `device`, through whose page cache that one goes.
    #[serde(default, with = "crate::path_text")]
    pub cache: Option<PathBuf>,
    /// It closes by itself when nothing was asked of it for so many seconds, and nobody uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_when_idle_seconds: Option<f64>,
    /// Why it is attached this way, where nobody asked for it.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// What the serving process is confined to, where it is.
    #[serde(default)]
    pub sandbox: Option<SandboxState>,
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
    /// Write requests so far of which bytes were refused that belong to the volume's metadata.
    #[serde(default)]
    pub writes_refused: u64,
    /// How long they took, by layer.
    pub latency: Latencies,
    /// The memory that they go through.
    #[serde(default)]
    pub buffers: Buffers,
    /// Whether a write was refused because it would have damaged the hidden volume; the volume
    /// takes no more writes since then.
    pub guard_hit: bool,
    /// Why the first write failed of which bytes are not on the medium; nothing where all are.
    #[serde(default)]
    pub first_failed_write: Option<String>,
    /// Whether the volume's file was deleted: what is in it goes when it is closed.
    #[serde(default)]
    pub deleted: bool,
    /// Where the volume's file is, if it was moved since it was opened.
    #[serde(default, with = "crate::path_text")]
    pub moved_to: Option<PathBuf>,
    /// Connections of other users of this machine that were refused.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// Writes over the volume's own metadata, by a file system that was made over it. Those bytes were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spared {
    /// So many write requests had some.
    pub writes: u64,
    /// Bytes before the first of the metadata: a file system that has no more leaves all of it alone.
    pub room_bytes: u64,
}

/// The memory of a serving process that requests go through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// Bytes that may be used; what was never touched, or given back since, takes no memory.
    pub bytes: u64,
    /// Bytes of them that belong to somebody.
    pub lent_bytes: u64,
    /// Bytes of them that are kept out of swap.
    pub locked_bytes: u64,
    /// Bytes of huge pages that the process has now; `None` where the kernel does not tell.
    pub huge_page_bytes: Option<u64>,
}

impl Buffers {
    /// Those of this process.
    pub(super) fn of_this_process() -> Self {
        let IoMemoryUse { mapped, lent, locked } = IoMemory::in_use();
        let [bytes, lent_bytes, locked_bytes] = [mapped, lent, locked].map(|bytes| bytes as u64);
        Self { bytes, lent_bytes, locked_bytes, huge_page_bytes: keyway_sys::machine::huge_pages() }
    }
}

impl SessionState {
    /// Whether nothing is written through it: it was opened so, or whoever mounted its device has found that it must not be, as
    /// with an NTFS in which a Windows is hibernated.
    pub fn is_only_read(&self) -> bool {
        let read_only_at = |at: &PathBuf| {
            let all = keyway_sys::mounts().unwrap_or_default();
            all.iter().rev().find(|mount| mount.at == *at).is_some_and(|mount| mount.read_only)
        };
        self.read_only || self.device.is_some() && self.mountpoint.as_ref().is_some_and(read_only_at)
    }

    /// The fields that are for processes, and not for people.
    pub const fn for_processes() -> &'static [&'static str] {
        &["id", "inode", "pid_started", "opened", "transport", "reasons", "details"]
    }

    /// What its details have where the volume is converted while it is open.
    pub const CONVERTING: &str = "converting";

    /// Whether it is.
    pub fn is_converting(&self) -> bool {
        self.details.get(Self::CONVERTING).is_some()
    }

    /// What its details call the mount point where that is a folder which was made for it.
    pub const MOUNTPOINT_MADE: &str = "mountpoint_made";

    /// That folder.
    pub(super) fn made(&self) -> Option<PathBuf> {
        crate::path_text::deserialize(self.details.get(Self::MOUNTPOINT_MADE)?).ok()
    }

    /// Puts the state at `path`, whole or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<(), AttachError> {
        let new = path.with_extension("json.new");
        let write = || {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            std::fs::rename(&new, path)
        };
        write().map_err(|e: io::Error| AttachError::on("write", path, e))
    }

    /// Reads what [`SessionState::write`] wrote.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    /// The paths that a user has of it, the volume's left out.
    pub(super) fn places(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.device, &self.cache, &self.file, &self.mountpoint].into_iter().flatten()
    }

    /// Whether it says `what` of itself: its id, or a path, the volume's left out.
    pub(super) fn is_called(&self, what: &Path) -> bool {
        Path::new(&self.id) == what
            || self.socket.as_ref().is_some_and(|socket| socket == what)
            || self.places().any(|path| path == what)
    }

    /// Whether it is of that volume, which has this path now, and is this file.
    pub(super) fn is_of(&self, volume: &Path, inode: Option<&Inode>) -> bool {
        self.volume == volume && inode.zip(self.inode.as_ref()).is_none_or(|(found, open)| found.was(open))
    }

    /// Whether another file has its path now.
    pub fn is_replaced(&self) -> bool {
        self.inode.zip(Inode::at(&self.volume)).is_some_and(|(open, now)| !now.is(&open))
    }

    /// What [`close`](super::close) finds it by, whatever has become of its volume's path: that, or where else it is.
    pub fn closes_by(&self) -> PathBuf {
        let other = || self.mountpoint.as_ref().or(self.device.as_ref()).or(self.file.as_ref());
        match self.is_replaced() {
            false => self.volume.clone(),
            true => other().cloned().unwrap_or_else(|| PathBuf::from(&self.id)),
        }
    }

    /// Whether the serving process, the very one, still exists.
    pub(super) fn process_exists(&self) -> bool {
        started(self.pid) == Some(self.pid_started)
    }
}
