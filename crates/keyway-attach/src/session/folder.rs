//! The runtime folder, and a session's own folder in it.

use crate::AttachError;
use rustix::fs::{FlockOperation, Mode, flock};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Overrides the place of the runtime folder: several independent sets of sessions for one user,
/// as tests want them.
pub const RUNTIME_VARIABLE: &str = "KEYWAY_RUNTIME_DIR";

/// A folder that only its owner can use.
const PRIVATE: u32 = 0o700;
/// A file that only its owner can use.
const PRIVATE_FILE: u32 = 0o600;

/// Where this user's sessions are: `$KEYWAY_RUNTIME_DIR`, else `/run/keyway` for root, else
/// `$XDG_RUNTIME_DIR/keyway`, else `/tmp/keyway-UID`. Made if it is not there; refused if anybody
/// else could have put things into it.
pub fn runtime_folder() -> Result<PathBuf, AttachError> {
    let user = rustix::process::geteuid();
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let path = if let Some(path) = absolute(RUNTIME_VARIABLE) {
        path
    } else if user.is_root() {
        PathBuf::from("/run/keyway")
    } else if let Some(base) = absolute("XDG_RUNTIME_DIR") {
        base.join("keyway")
    } else {
        PathBuf::from(format!("/tmp/keyway-{}", user.as_raw()))
    };
    match rustix::fs::mkdir(&path, Mode::from_raw_mode(PRIVATE)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(e) => return Err(AttachError::io(format!("make {}", path.display()), e)),
    }
    let meta = std::fs::symlink_metadata(&path)
        .map_err(|e| AttachError::io(format!("look at {}", path.display()), e))?;
    if !meta.is_dir() || meta.uid() != user.as_raw() || meta.mode() & 0o077 != 0 {
        return Err(AttachError::UnsafeFolder(path));
    }
    Ok(path)
}

/// Names in a session's folder.
#[derive(Debug, Clone)]
pub(super) struct SessionFolder {
    path: PathBuf,
}

impl SessionFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn id(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(super) fn state(&self) -> PathBuf {
        self.path.join("state.json")
    }

    pub(super) fn control(&self) -> PathBuf {
        self.path.join("control")
    }

    pub(super) fn mount_point(&self) -> PathBuf {
        self.path.join("mnt")
    }

    pub(super) fn vhost_user(&self) -> PathBuf {
        self.path.join("vhost-user")
    }

    pub(super) fn nbd(&self) -> PathBuf {
        self.path.join("nbd")
    }

    pub(super) fn trace(&self) -> PathBuf {
        self.path.join("trace")
    }

    fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Makes a new session's folder, held by the returned file for as long as it is open.
    pub(super) fn create(runtime: &Path) -> Result<(Self, File), AttachError> {
        let _alone = lock_runtime(runtime)?;
        let mut random = [0u8; 4];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
            .map_err(|e| AttachError::io("get a random number", e))?;
        let folder = Self::new(runtime.join(format!("{:08x}", u32::from_ne_bytes(random))));
        let doing = || format!("make {}", folder.path.display());
        let mode = Mode::from_raw_mode(PRIVATE);
        rustix::fs::mkdir(&folder.path, mode).map_err(|e| AttachError::io(doing(), e))?;
        rustix::fs::mkdir(folder.mount_point(), mode).map_err(|e| AttachError::io(doing(), e))?;
        let lock = open_lock(&folder.lock(), true).map_err(|e| AttachError::io(doing(), e))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|e| AttachError::io(doing(), e))?;
        Ok((folder, lock))
    }

    /// Whether a process serves it. A folder without a lock file is being removed.
    pub(super) fn is_alive(&self) -> bool {
        let Ok(lock) = open_lock(&self.lock(), false) else { return false };
        matches!(flock(&lock, FlockOperation::NonBlockingLockShared), Err(rustix::io::Errno::WOULDBLOCK))
    }

    /// Removes the files, one by one: what is mounted in the folder must never be entered.
    pub(super) fn remove(&self) -> Result<(), AttachError> {
        for name in ["state.json", "state.json.new", "control", "nbd", "vhost-user", "trace", "lock"] {
            remove(std::fs::remove_file(self.path.join(name)), &self.path)?;
        }
        remove(std::fs::remove_dir(self.mount_point()), &self.path)?;
        remove(std::fs::remove_dir(&self.path), &self.path)
    }
}

/// All sessions' folders, dead or alive.
pub(super) fn session_folders(runtime: &Path) -> Vec<SessionFolder> {
    let entries = std::fs::read_dir(runtime).into_iter().flatten().flatten();
    let is_id = |name: &str| name.len() == 8 && name.bytes().all(|b| b.is_ascii_hexdigit());
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_id))
        .map(|entry| SessionFolder::new(entry.path()))
        .collect()
}

/// Held while session folders are made or dead ones removed.
pub(super) fn lock_runtime(runtime: &Path) -> Result<File, AttachError> {
    let doing = || format!("lock {}", runtime.display());
    let lock = open_lock(&runtime.join("lock"), true).map_err(|e| AttachError::io(doing(), e))?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|e| AttachError::io(doing(), e))?;
    Ok(lock)
}

fn open_lock(path: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(create).truncate(false).mode(PRIVATE_FILE).open(path)
}

fn remove(done: io::Result<()>, folder: &Path) -> Result<(), AttachError> {
    match done {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(AttachError::io(format!("remove {}", folder.display()), e))
        }
        _ => Ok(()),
    }
}
