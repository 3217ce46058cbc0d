//! The runtime folder, and a session's own folder in it.

use super::patience::FIRST_WORD;
use super::process::is_ending;
use crate::notice::{Notice, tell};
use crate::{AttachError, User, fuse};
use keyway_error::Advice;
use rustix::fs::{FlockOperation, Mode, flock};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Overrides the place of the runtime folder: several independent sets of sessions for one user,
/// as tests want them.
pub const RUNTIME_VARIABLE: &str = "KEYWAY_RUNTIME_DIR";

/// A folder that only its owner can use.
const PRIVATE: u32 = 0o700;
/// A file that only its owner can use.
const PRIVATE_FILE: u32 = 0o600;

/// Whoever clears away what killed processes left may have a file system to write out first.
const LOCK_PATIENCE: Duration = Duration::from_secs(60);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Time for a killed process to give back its memory and files. One that waits for a medium may take longer, or for ever.
const ENDING_PATIENCE: Duration = Duration::from_secs(5);
const ENDING_PAUSE: Duration = Duration::from_millis(5);

/// Where this user's sessions are: `$KEYWAY_RUNTIME_DIR`, else `/run/keyway` for root, else
/// `$XDG_RUNTIME_DIR/keyway` where that is this user's own, else a folder for this machine in `$XDG_STATE_HOME/keyway` or
/// `~/.local/state/keyway`: nobody else can be there first. Made if it is not there; refused if anybody
/// else could have put things into it.
pub fn runtime_folder() -> Result<PathBuf, AttachError> {
    match wanted()? {
        Some(RuntimeFolderPlace::Here(path)) => private(path),
        Some(RuntimeFolderPlace::AtHome(base)) => {
            let made = DirBuilder::new().recursive(true).mode(PRIVATE).create(&base);
            made.map_err(|e| AttachError::on("make", &base, e))?;
            private(private(base.join("keyway"))?.join(machine()))
        }
        None => Err(AttachError::Missing {
            what: "a folder for what this user has open".into(),
            advice: Advice::SetRuntimeFolder,
        }),
    }
}

/// The same for a session, whose sockets' paths must be short: unix(7) has 108 bytes for one and its end.
///
/// # Errors
/// As [`runtime_folder`]; or its path is too long.
pub fn folder_for_sessions() -> Result<PathBuf, AttachError> {
    // A session's name and its control socket's.
    const WITHIN: usize = "/01234567/control".len();
    const MOST: usize = 107 - WITHIN;
    let path = runtime_folder()?;
    match path.as_os_str().len() {
        ..=MOST => Ok(path),
        _ => Err(AttachError::LongFolder { path, most: MOST }),
    }
}

/// The same folder where it is there already: where it is not, nothing of this user's is open, and whoever only looks needs none.
///
/// # Errors
/// It is there, and not this user's alone; or the variable names none.
pub fn existing_runtime_folder() -> Result<Option<PathBuf>, AttachError> {
    let (above, path) = match wanted()? {
        None => return Ok(None),
        Some(RuntimeFolderPlace::Here(path)) => (None, path),
        Some(RuntimeFolderPlace::AtHome(base)) => {
            let above = base.join("keyway");
            let path = above.join(machine());
            (Some(above), path)
        }
    };
    match path.symlink_metadata().map_err(|e| e.kind()) {
        // What this user can't even look at is not where anything of his is.
        Err(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied) => {
            Ok(None)
        }
        _ => {
            above.map(alone).transpose()?;
            alone(path).map(Some)
        }
    }
}

/// Where it is wanted; `None` where there is no place for one.
fn wanted() -> Result<Option<RuntimeFolderPlace>, AttachError> {
    let named = std::env::var_os(RUNTIME_VARIABLE).map(PathBuf::from).unwrap_or_default();
    // Another one in each folder that a command is typed in would be none: what is open in one is not found in the next.
    if !named.as_os_str().is_empty() && named.is_relative() {
        return Err(AttachError::RelativeFolder(named));
    }
    let user = rustix::process::geteuid();
    let home = std::env::home_dir().filter(|home| home.is_dir());
    // What `su` leaves in the environment is another user's.
    let own = |path: &Path| path.metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == user.as_raw());
    Ok(place(user.is_root(), |name| std::env::var_os(name), own, home))
}

/// Where the runtime folder is wanted.
#[derive(Debug, PartialEq, Eq)]
enum RuntimeFolderPlace {
    /// Below a folder that is there.
    Here(PathBuf),
    /// In this folder of the user's home, which may have to be made.
    AtHome(PathBuf),
}

fn place(
    root: bool,
    variable: impl Fn(&str) -> Option<OsString>,
    own: impl Fn(&Path) -> bool,
    home: Option<PathBuf>,
) -> Option<RuntimeFolderPlace> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(path) = absolute(RUNTIME_VARIABLE) {
        return Some(RuntimeFolderPlace::Here(path));
    }
    if root {
        return Some(RuntimeFolderPlace::Here(PathBuf::from("/run/keyway")));
    }
    if let Some(base) = absolute("XDG_RUNTIME_DIR").filter(|base| own(base)) {
        return Some(RuntimeFolderPlace::Here(base.join("keyway")));
    }
    let state = || Some(home.filter(|home| home.is_absolute())?.join(".local/state"));
    absolute("XDG_STATE_HOME").or_else(state).map(RuntimeFolderPlace::AtHome)
}

/// A name for this machine: several may share a home, and one can't tell what lives on another.
fn machine() -> String {
    let mut hash = crc32fast::Hasher::new();
    hash.update(&std::fs::read("/etc/machine-id").unwrap_or_default());
    hash.update(rustix::system::uname().nodename().to_bytes());
    format!("{:08x}", hash.finalize())
}

/// Makes the folder, if it is not there, and refuses one that anybody else could have put things into.
fn private(path: PathBuf) -> Result<PathBuf, AttachError> {
    match rustix::fs::mkdir(&path, Mode::from_raw_mode(PRIVATE)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(rustix::io::Errno::NOENT) => {
            let above = path.parent().unwrap_or(&path).to_owned();
            let what =
                format!("{}, where this user's folder of what is open was to be made,", above.display());
            return Err(AttachError::Missing { what, advice: Advice::MakeFolder { path: above } });
        }
        Err(e) => return Err(AttachError::on("make", &path, e)),
    }
    alone(path)
}

/// Refuses a folder that anybody else could have put things into.
pub(super) fn alone(path: PathBuf) -> Result<PathBuf, AttachError> {
    let meta = std::fs::symlink_metadata(&path)
        .map_err(|e| AttachError::io(format!("look at {}", path.display()), e))?;
    let owner = Some(meta.uid()).filter(|user| *user != rustix::process::geteuid().as_raw());
    let own = meta.is_dir() && owner.is_none();
    match own && meta.mode() & 0o077 == 0 {
        true => Ok(path),
        false => Err(AttachError::UnsafeFolder { path, own, owner }),
    }
}

/// Names in a session's folder.
#[derive(Debug, Clone)]
pub(super) struct SessionFolder {
    path: PathBuf,
}

impl SessionFolder {
    /// The files without which no other process finds or reaches a session.
    pub(super) const FOUND_BY: [&'static str; 3] = ["state.json", "control", "lock"];

    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
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

    #[cfg(feature = "vhost-user")]
    pub(super) fn vhost_user(&self) -> PathBuf {
        self.path.join("vhost-user")
    }

    pub(super) fn nbd(&self) -> PathBuf {
        self.path.join("nbd")
    }

    pub(super) fn trace(&self) -> PathBuf {
        self.path.join("trace")
    }

    pub(super) fn inside(&self) -> PathBuf {
        self.path.join("inside")
    }

    pub(super) fn later_mount(&self) -> PathBuf {
        self.path.join("mounted")
    }

    fn made(&self) -> PathBuf {
        self.path.join("made")
    }

    /// Keeps in mind that `at` was made to mount on: it goes with this folder, which is the last to go.
    pub(super) fn keep_made(&self, at: &Path) -> Result<(), AttachError> {
        std::os::unix::fs::symlink(at, self.made()).map_err(|e| AttachError::on("write", &self.made(), e))
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
        let failed = |e: io::Error| AttachError::on("make", &folder.path, e);
        let mode = Mode::from_raw_mode(PRIVATE);
        rustix::fs::mkdir(&folder.path, mode).map_err(|e| failed(e.into()))?;
        rustix::fs::mkdir(folder.mount_point(), mode).map_err(|e| failed(e.into()))?;
        let lock = open_lock(&folder.lock(), true).map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|e| failed(e.into()))?;
        Ok((folder, lock))
    }

    /// Whether a process serves it, which its state says to be `pid`. A folder without a lock file is being removed.
    ///
    /// A killed process has its locks until the last of its threads is through: that is waited for.
    pub(super) fn is_alive(&self, pid: Option<u32>) -> bool {
        if !self.is_locked_for_long(pid) {
            return false;
        }
        if !pid.is_some_and(is_ending) {
            return true;
        }
        // Killed long ago, it still is there: a thread of it may wait for what nobody answers but the process itself.
        fuse::abort(&self.mount_point());
        self.is_locked_for_long(pid)
    }

    /// Whether it is locked, after its process had time to end where it is about to.
    fn is_locked_for_long(&self, pid: Option<u32>) -> bool {
        let until = Instant::now() + ENDING_PATIENCE;
        while self.is_locked() {
            if !pid.is_some_and(is_ending) || Instant::now() >= until {
                return true;
            }
            std::thread::sleep(ENDING_PAUSE);
        }
        false
    }

    fn is_locked(&self) -> bool {
        let Ok(lock) = open_lock(&self.lock(), false) else { return false };
        matches!(flock(&lock, FlockOperation::NonBlockingLockShared), Err(rustix::io::Errno::WOULDBLOCK))
    }

    /// Removes the files, one by one: what is mounted in the folder must never be entered.
    pub(super) fn remove(&self) -> Result<(), AttachError> {
        if let Ok(at) = std::fs::read_link(self.made()) {
            // What has something in it or on it is somebody's own by now, and stays.
            let _ = std::fs::remove_dir(at);
        }
        for name in [
            "state.json",
            "state.json.new",
            "control",
            "nbd",
            "vhost-user",
            "trace",
            "mounted",
            "made",
            "lock",
        ] {
            remove(std::fs::remove_file(self.path.join(name)), &self.path)?;
        }
        remove(std::fs::remove_dir(self.inside()), &self.path)?;
        remove(std::fs::remove_dir(self.mount_point()), &self.path)?;
        remove(std::fs::remove_dir(&self.path), &self.path)
    }
}

/// Whether a folder's name is a session's.
pub(super) fn is_session_id(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// All sessions' folders, dead or alive.
pub(super) fn session_folders(runtime: &Path) -> Vec<SessionFolder> {
    let entries = std::fs::read_dir(runtime).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_session_id))
        .map(|entry| SessionFolder::new(entry.path()))
        .collect()
}

/// Held while session folders are made or dead ones removed.
pub(super) fn lock_runtime(runtime: &Path) -> Result<File, AttachError> {
    let failed = |e: io::Error| AttachError::on("lock", runtime, e);
    let path = runtime.join("lock");
    let lock = open_lock(&path, true).map_err(failed)?;
    let (began, mut told) = (Instant::now(), false);
    loop {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
            Err(e) => return Err(failed(e.into())),
        }
        let busy = || AttachError::busy(&path, User::of_lock(&lock));
        if began.elapsed() >= LOCK_PATIENCE {
            return Err(busy());
        }
        if !told && began.elapsed() >= FIRST_WORD {
            told = true;
            tell(&Notice::Waiting(busy()));
        }
        std::thread::sleep(LOCK_PAUSE);
    }
}

fn open_lock(path: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(create).truncate(false).mode(PRIVATE_FILE).open(path)
}

fn remove(done: io::Result<()>, folder: &Path) -> Result<(), AttachError> {
    match done {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(AttachError::on("remove", folder, e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_for_a_session_goes_with_it_and_what_somebody_put_there_stays() {
        let place = tempfile::tempdir().expect("a folder");
        let (made, id) = (place.path().join("made"), place.path().join("00000000"));
        std::fs::create_dir(&made).expect("room");
        for letter in [Some(made.join("letter")), None] {
            std::fs::create_dir(&id).expect("room");
            letter.iter().for_each(|letter| std::fs::write(letter, "theirs").expect("room"));
            let folder = SessionFolder::new(id.clone());
            folder.keep_made(&made).expect("room");
            folder.remove().expect("removed");
            assert!(!id.exists() && made.exists() == letter.is_some());
            letter.iter().for_each(|letter| std::fs::remove_file(letter).expect("it stays"));
        }
    }

    #[test]
    fn nothing_is_where_anybody_could_have_been_first() {
        let given = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            }
        };
        let home = || Some(PathBuf::from("/home/u"));
        let here = |path: &str| Some(RuntimeFolderPlace::Here(path.into()));
        let at_home = |path: &str| Some(RuntimeFolderPlace::AtHome(path.into()));
        let own = |path: &Path| path != Path::new("/tmp");
        let place = |root, variables, home| place(root, given(variables), own, home);
        assert_eq!(place(true, &[], home()), here("/run/keyway"));
        assert_eq!(place(false, &[("XDG_RUNTIME_DIR", "/run/user/7")], home()), here("/run/user/7/keyway"));
        let all: &[_] = &[(RUNTIME_VARIABLE, "/r"), ("XDG_RUNTIME_DIR", "/run/user/7")];
        assert_eq!(place(false, all, home()), here("/r"));
        assert_eq!(place(false, &[], home()), at_home("/home/u/.local/state"));
        assert_eq!(place(false, &[("XDG_RUNTIME_DIR", "")], home()), at_home("/home/u/.local/state"));
        assert_eq!(place(false, &[("XDG_RUNTIME_DIR", "/tmp")], home()), at_home("/home/u/.local/state"));
        assert_eq!(place(false, &[("XDG_STATE_HOME", "/s")], home()), at_home("/s"));
        assert_eq!(place(false, &[("XDG_STATE_HOME", "s")], home()), at_home("/home/u/.local/state"));
        assert_eq!(place(false, &[], None), None);
        assert_eq!(place(false, &[], Some("relative".into())), None);
    }

    #[test]
    fn a_folder_that_others_may_use_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        assert_eq!(private(at("new")).expect("it is made"), at("new"));
        let mode = at("new").metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(private(at("new")).is_ok());
        symlink(at("new"), at("link")).expect("room");
        assert!(matches!(private(at("link")), Err(AttachError::UnsafeFolder { own: false, .. })));
        std::fs::set_permissions(at("new"), std::fs::Permissions::from_mode(0o750)).expect("ours");
        assert!(matches!(private(at("new")), Err(AttachError::UnsafeFolder { own: true, .. })));
        std::fs::write(at("file"), "").expect("room");
        assert!(matches!(private(at("file")), Err(AttachError::UnsafeFolder { own: false, .. })));
    }

    #[test]
    fn who_holds_the_lock_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = lock_runtime(folder.path()).expect("nobody has it");
        let users = User::of_lock(&held);
        assert_eq!(users.iter().map(|user| user.pid).collect::<Vec<_>>(), [std::process::id()]);
        drop(held);
        drop(lock_runtime(folder.path()).expect("nobody has it"));
    }
}
