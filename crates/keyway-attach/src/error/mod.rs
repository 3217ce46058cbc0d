//! What can go wrong while attaching, sorted by who can do something about it.

mod dm_crypt;
mod nbd;
mod nvme_tcp;
mod ublk;
mod vhost_user;

pub use dm_crypt::{DmCryptError, Unmappable};
pub use nbd::NbdError;
pub use nvme_tcp::NvmeError;
pub use ublk::UblkError;
pub use vhost_user::VhostError;

use keyway_engine::DeviceError;
use keyway_error::{Advice, Fault, Kind, Meaning, explain, explain_io};
use keyway_fs::FileSystemKind;
use keyway_fs::files::FilesError;
use keyway_store::InUse;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A process that keeps something busy.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct User {
    /// Its process number.
    pub pid: u32,
    /// Its name, as `ps` shows it.
    pub name: String,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// What a process that does not answer is at, as far as one can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// It was stopped (SIGSTOP), or a debugger holds it.
    Stopped,
    /// It waits for a medium.
    Medium,
    /// Something else.
    Busy,
}

impl Silence {
    /// By its state, as `/proc/PID/stat` has it.
    pub(crate) fn of(state: Option<char>) -> Self {
        match state {
            Some('T' | 't') => Self::Stopped,
            Some('D') => Self::Medium,
            _ => Self::Busy,
        }
    }

    /// What to do about the process of that number.
    pub(crate) const fn advice(self, pid: u32) -> Advice {
        match self {
            Self::Stopped => Advice::LetGoOn { pid },
            Self::Medium => Advice::WaitForMedium,
            Self::Busy => Advice::WaitOrLook,
        }
    }
}

/// A serving process that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SilentProcess {
    /// Its process number.
    pub pid: u32,
    /// The volume that it serves.
    pub volume: PathBuf,
    /// What it is at.
    pub why: Silence,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "it is stopped",
            Self::Medium => "it waits for a medium",
            Self::Busy => "it is busy",
        })
    }
}

/// An attachment that could not be made, used or undone.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The volume is served by another process already.
    #[error("{} is already open{}", volume.display(), mounted_on(mountpoint.as_deref()))]
    AlreadyOpen {
        /// The volume.
        volume: PathBuf,
        /// Where it is mounted.
        mountpoint: Option<PathBuf>,
    },
    /// Somebody has the volume's bytes, by its name or by another one.
    #[error("could not open {}: {by}", .volume.display())]
    Taken {
        /// The volume.
        volume: PathBuf,
        /// Who.
        by: InUse,
    },
    /// Something uses what should go away.
    #[error("{what} is in use{}", by(.users))]
    Busy {
        /// The mount point, device or file, with a remark behind it, or what the kernel calls it.
        what: String,
        /// The same as a path, where it is one.
        path: Option<PathBuf>,
        /// Who uses it, as far as this user may see.
        users: Vec<User>,
    },
    /// A further mount keeps a file system from being unmounted.
    #[error("{} is in use: {}", at.display(), further(at, other))]
    MountedThere {
        /// Where it is mounted.
        at: PathBuf,
        /// Where what must be unmounted before it is: over it, inside it, or its own second place.
        other: PathBuf,
    },
    /// This user may not do it.
    #[error("not permitted to {what}: {source}")]
    NotPermitted {
        /// What was tried.
        what: String,
        /// What would help.
        advice: Advice,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The machine lacks something.
    #[error("{what} is missing")]
    Missing {
        /// The device, program or kernel part.
        what: String,
        /// What would help.
        advice: Advice,
    },
    /// FUSE is there, and nothing is mounted by it: the kernel or its helper says why.
    #[error("could not {doing}: {source}")]
    NoFuse {
        /// What was being done.
        doing: String,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// The volume's file system could not be mounted.
    #[error("the volume holds {found}, and it could not be mounted at {at}: {source}")]
    Mount {
        /// The file system found, or "no file system we know".
        found: String,
        /// The mount point.
        at: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The file system says that it is larger than the volume.
    #[error(
        "the volume has {present} bytes, and the {found} file system in it says that it has {claims}: it ends behind the \
         volume and can't be mounted at {at}"
    )]
    EndsTooSoon {
        /// The file system's type.
        found: String,
        /// The mount point.
        at: PathBuf,
        /// Bytes that it says it has.
        claims: u64,
        /// Bytes of the volume.
        present: u64,
    },
    /// The file system has faults that its driver does not mount.
    #[error(
        "the volume holds {found} that is damaged or was not copied whole: it could not be mounted at {at}: {source}"
    )]
    Unmountable {
        /// The file system's type.
        found: String,
        /// The mount point.
        at: PathBuf,
        /// The system's reason, or its program's.
        #[source]
        source: io::Error,
    },
    /// Mounting it writes to the volume, whose medium did not take that.
    #[error("the {found} in the volume could not be mounted at {at}, which writes to it: {why}", at = at.display())]
    MountUnwritten {
        /// The file system's type.
        found: String,
        /// The mount point.
        at: PathBuf,
        /// Why it could not be written.
        why: String,
    },
    /// Nothing on this machine mounts what the volume holds.
    #[error("nothing here mounts {}, which the volume holds: not on {}", if filesystem == "vfat" { "FAT" } else { filesystem.as_str() }, at.display())]
    NoFileSystem {
        /// The file system's type.
        filesystem: String,
        /// The mount point.
        at: PathBuf,
    },
    /// Nothing of that name is open.
    #[error("{0} is not open")]
    NotOpen(String),
    /// The runtime folder belongs to somebody else or others may write to it.
    #[error("{} is not a folder of this user's alone{}", path.display(), owner.map_or_else(String::new, |user| format!(": it is user {user}'s")))]
    UnsafeFolder {
        /// The folder.
        path: PathBuf,
        /// Another user, whose it is.
        owner: Option<u32>,
        /// It is this user's own folder, and others may enter it.
        own: bool,
    },
    /// The variable that overrides the runtime folder names it from the working folder.
    #[error("KEYWAY_RUNTIME_DIR is not a whole path: {}", .0.display())]
    RelativeFolder(PathBuf),
    /// The runtime folder's path leaves no room for its sockets' names.
    #[error("the path of {} is too long for the sockets in it: it may have {most} bytes", path.display())]
    LongFolder {
        /// The folder.
        path: PathBuf,
        /// The bytes that it may have.
        most: usize,
    },
    /// The serving process is there, and does not answer. What it was asked for is done when it goes on.
    #[error("process {pid}, which serves {volume}, does not answer: {why}")]
    Silent {
        /// The volume.
        volume: String,
        /// The process.
        pid: u32,
        /// What it is at.
        why: Silence,
    },
    /// The volume's file was deleted; it is still served.
    #[error("{volume} was deleted while it was open, and what is in it goes when it is closed")]
    Deleted {
        /// The volume.
        volume: String,
    },
    /// The serving process did not answer as it should.
    #[error("the process that serves {volume} did not answer: {reason}")]
    NoAnswer {
        /// The volume.
        volume: String,
        /// What happened instead.
        reason: String,
    },
    /// It is closed and nothing is left, but something went wrong on the way.
    #[error("{volume} is closed, but not cleanly: {reason}")]
    ClosedBadly {
        /// The volume.
        volume: String,
        /// What went wrong.
        reason: String,
    },
    /// The same of one that took no more writes since one would have damaged the hidden volume.
    #[error(
        "{volume} is closed, but not all that was written is in it: a write would have damaged the hidden volume and was \
         refused, and so was everything after it ({reason})"
    )]
    ClosedGuarded {
        /// The volume.
        volume: String,
        /// What went wrong.
        reason: String,
    },
    /// An option of mount(8) that no volume is mounted with.
    #[error("{option} is no option for the file system in a volume: {why}")]
    MountOption {
        /// The option.
        option: String,
        /// Why.
        why: &'static str,
    },
    /// The device itself failed, most often its last flush.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The file system in the volume is not one that we read, or is damaged.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The hand-over to the kernel.
    #[error(transparent)]
    DmCrypt(#[from] DmCryptError),
    /// The kernel's ublk driver.
    #[error(transparent)]
    Ublk(#[from] UblkError),
    /// The NBD server.
    #[error(transparent)]
    Nbd(#[from] NbdError),
    /// The server for virtual machines.
    #[error(transparent)]
    Vhost(#[from] VhostError),
    /// The NVMe/TCP controller.
    #[error(transparent)]
    Nvme(#[from] NvmeError),
    /// Anything else the system said.
    #[error("could not {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// With which file or folder, where it is one.
        path: Option<PathBuf>,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl AttachError {
    /// An I/O error with what was being done; lack of rights becomes [`AttachError::NotPermitted`].
    pub fn io(doing: impl Into<String>, source: impl Into<io::Error>) -> Self {
        let (doing, source) = (doing.into(), source.into());
        if source.kind() == io::ErrorKind::PermissionDenied {
            return Self::NotPermitted { what: doing, advice: Advice::BecomeRoot, source };
        }
        Self::Io { doing, path: None, source }
    }

    /// Somebody uses what is at that path.
    pub(crate) fn busy(path: &Path, users: Vec<User>) -> Self {
        Self::Busy { what: path.display().to_string(), path: Some(path.to_owned()), users }
    }

    /// The same, and how.
    pub(crate) fn busy_so(path: &Path, how: impl fmt::Display, users: Vec<User>) -> Self {
        Self::Busy { what: format!("{} ({how})", path.display()), path: Some(path.to_owned()), users }
    }

    /// The same as [`AttachError::io`] of what is done with a file or folder: a verb.
    pub(crate) fn on(doing: &str, path: &Path, source: impl Into<io::Error>) -> Self {
        match Self::io(format!("{doing} {}", path.display()), source) {
            Self::Io { doing, source, .. } => Self::Io { doing, path: Some(path.to_owned()), source },
            other => other,
        }
    }
}

/// What checks a file system of that type.
fn checked(filesystem: &str) -> Advice {
    let known = FileSystemKind::ALL.into_iter().find(|kind| kind.mount_type() == filesystem);
    match known {
        Some(FileSystemKind::Ntfs) => Advice::LetWindowsCheck,
        known => Advice::CheckFirst { checker: known.map_or("fsck", FileSystemKind::repaired_by).to_owned() },
    }
}

explain! { AttachError, through Device | Files | DmCrypt | Ublk | Nbd | Vhost | Nvme {
    Self::AlreadyOpen { volume, .. } => [AlreadyOpen InUse, CloseNamed { volume: volume.clone() }; volume],
    Self::Taken { volume, by } => [Busy InUse, (by.advice()); volume],
    Self::Busy { path, .. } => {
        let meaning = Meaning::new(Kind::Busy, Fault::InUse).advise(Advice::CloseUsers);
        path.iter().fold(meaning, |meaning, path| meaning.about(path))
    },
    Self::MountedThere { other, .. } => [Busy InUse, UnmountIt { path: other.clone() }; other],
    Self::NotPermitted { advice, .. } => [NotPermitted Machine, (advice.clone())],
    Self::Missing { advice, .. } => [Missing Machine, (advice.clone())],
    Self::NoFuse { .. } => [NotPermitted Machine, AskDoctorOrNbd],
    Self::Mount { .. } => [Mount Machine, LookInside],
    Self::EndsTooSoon { claims, .. } => [DamagedFilesystem Contents, CopyAllOfIt { bytes: *claims }],
    Self::MountUnwritten { .. } => [Mount Medium, RoomOrReadOnly],
    Self::Unmountable { found, .. } => [DamagedFilesystem Contents, (checked(found))],
    Self::NoFileSystem { filesystem, .. } => [Mount Machine, ReachFiles { filesystem: filesystem.clone() }],
    Self::MountOption { .. } => [Usage Request, LeaveOutMountOption],
    Self::NotOpen(volume) => [NotOpen State, ListOpen; volume],
    Self::UnsafeFolder { path, own: true, .. } => [State, KeepOthersOut { path: path.clone() }; path],
    Self::UnsafeFolder { path, owner: Some(_), .. } => [State, OwnRuntimeFolder; path],
    Self::UnsafeFolder { path, .. } => [State, RemoveOrRuntimeFolder; path],
    Self::RelativeFolder(_) => [State, NameWholePath],
    Self::LongFolder { path, .. } => [State, ShortRuntimeFolder; path],
    Self::Silent { volume, pid, why } => [NoAnswer InUse, (why.advice(*pid)); volume],
    Self::Deleted { volume } => [Deleted InUse, CopyNow; volume],
    Self::NoAnswer { volume, .. } => [NoAnswer State, TryStatus; volume],
    Self::ClosedBadly { volume, .. } => [Medium, CheckLastWrites; volume],
    Self::ClosedGuarded { volume, .. } => [HiddenVolume State, ProtectAgainAndCheck; volume],
    Self::Io { source, path, .. } => {
        let meaning = Meaning::of(Fault::Medium).advise_each(explain_io(source).advice);
        path.iter().fold(meaning, |meaning, path| meaning.about(path))
    },
} }

/// The ports below this one are for who may have them (ip(7)).
const FREE_PORTS: u16 = 1024;

/// An address that can't be listened on, or where nobody can be served: an address that somebody else has is the caller's choice,
/// and so is one that this user may not have, or that this machine has not.
fn not_served(source: &io::Error, port: Option<u16>) -> Meaning {
    match (source.kind(), port) {
        (io::ErrorKind::PermissionDenied, Some(..FREE_PORTS)) => {
            Meaning::new(Kind::NotPermitted, Fault::Machine).advise(Advice::TakeFreePort)
        }
        (io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied, _) => explain_io(source),
        (io::ErrorKind::AddrNotAvailable, _) => {
            Meaning::new(Kind::NotFound, Fault::State).advise(Advice::ListAddresses)
        }
        _ => explain_io(source).advice.into_iter().fold(Meaning::of(Fault::Medium), Meaning::advise),
    }
}

fn further(at: &Path, other: &Path) -> String {
    match (other == at, other.starts_with(at)) {
        (true, _) => "something else is mounted over it".to_owned(),
        (_, true) => format!("something else is mounted in it, at {}", other.display()),
        _ => format!("it is mounted at {} as well", other.display()),
    }
}

fn mounted_on(folder: Option<&Path>) -> String {
    folder.map_or_else(String::new, |folder| format!(", mounted on {}", folder.display()))
}

fn by(users: &[User]) -> String {
    if users.is_empty() {
        return String::new();
    }
    let names: Vec<_> = users.iter().map(User::to_string).collect();
    format!(" by {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_this_user_may_not_have_is_told_as_that() {
        let of = |errno, port| {
            let meaning = not_served(&io::Error::from_raw_os_error(errno), port);
            (meaning.kind, meaning.fault, meaning.advice)
        };
        // Linux's EACCES, EADDRINUSE, EADDRNOTAVAIL.
        let root = (Kind::NotPermitted, Fault::Machine, vec![Advice::BecomeRoot]);
        assert_eq!(of(13, Some(80)), (Kind::NotPermitted, Fault::Machine, vec![Advice::TakeFreePort]));
        assert_eq!((of(13, Some(10809)), of(13, None)), (root.clone(), root));
        assert_eq!(of(98, Some(80)).1, Fault::InUse);
        assert_eq!(of(99, Some(80)), (Kind::NotFound, Fault::State, vec![Advice::ListAddresses]));
        assert_eq!(of(5, Some(80)).1, Fault::Medium);
    }
}
