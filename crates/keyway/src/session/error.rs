//! Why a volume could not be served, beyond what attaching it says.

use super::others::OtherUser;
use super::refusal::SessionRefusal;
use keyway_attach::nvme_tcp::SecretFault;
use keyway_attach::session::{Lack, LackReason, Need, Spared, Wish};
use keyway_attach::user_mount;
use keyway_error::{Advice, Fault, Kind, Meaning, explain};
use keyway_fs::FileSystemKind;
use keyway_store::StoreError;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// What something is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The volume's file.
    File,
    /// A mounted file system.
    Mount,
    /// A page cache between.
    Cache,
    /// A tool that works on what is in the volume: a file or a device is all that it takes.
    Tool,
}

impl Purpose {
    pub(super) const fn of(wish: Wish) -> Self {
        if wish.mount { Self::Mount } else { Self::File }
    }
}

/// Why a volume could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Discards inside a hidden volume would show everybody who sees the medium that it is there.
    #[error(
        "this is a hidden volume, and discards inside it would show everybody who sees the medium that it is there"
    )]
    DiscardsInHidden,
    /// Somebody has the volume's bytes, by its name or by another one.
    #[error("{error}")]
    Taken {
        /// Who, and where.
        #[source]
        error: StoreError,
        /// The open volume that it is, by its own name.
        volume: Option<PathBuf>,
    },
    /// It is open for a process that is at work on it, and closes it by itself.
    #[error("{} {} by process {pid}", .volume.display(), if *.resizes { "is being resized" } else { "is being worked on" })]
    AtWork {
        /// The volume.
        volume: PathBuf,
        /// The process.
        pid: u32,
        /// It gives the volume another size.
        resizes: bool,
    },
    /// Another partition of the same image is open.
    #[error("partition {open} of {} is open, and one partition of an image can be open at a time", .volume.display())]
    OtherPartition {
        /// The image.
        volume: PathBuf,
        /// The partition's number.
        open: u32,
    },
    /// No volume of this user's sessions here; somebody else has it, or this user with others.
    #[error("{} is {other}", .path.display())]
    Others {
        /// The volume.
        path: PathBuf,
        /// Who.
        other: OtherUser,
    },
    /// Another volume is mounted on the folder.
    #[error("{} is mounted on {} already", .volume.display(), .folder.display())]
    FolderTaken {
        /// The folder.
        folder: PathBuf,
        /// The other volume.
        volume: PathBuf,
    },
    /// The serving process says why it does not serve.
    #[error(transparent)]
    Refused(#[from] SessionRefusal),
    /// This machine or user lacks something that is needed.
    #[error("{}", lacks(*purpose, lack))]
    Lacks {
        /// What for.
        purpose: Purpose,
        /// What.
        lack: Lack,
    },
    /// The tool of the file system inside needs the volume attached, and no program was named that serves it.
    #[error("the volume can't be attached here, which the tool of its file system needs")]
    NotAttachable,
    /// A file system of a ublk device is mounted by root alone.
    #[error("only root may mount a block device")]
    MountNeedsRoot,
    /// Nothing on this machine, or nothing that this user may use, writes to the file system in the volume.
    #[error("nothing here writes to {filesystem}{}", if *root { "" } else { " without root" })]
    NoWriter {
        /// The file system.
        filesystem: FileSystemKind,
        /// Whoever asked is root.
        root: bool,
    },
    /// What would write to the file system in the volume for who is not root needs FUSE.
    #[error("nothing here writes to {filesystem} without root: FUSE can't be used: {lack}")]
    NoFuseToWrite {
        /// The file system.
        filesystem: FileSystemKind,
        /// What FUSE lacks.
        lack: Lack,
    },
    /// Without root the files are shown in a folder, and only read: nothing reaches the hidden volume.
    #[error("without root the files are only read in a folder, where nothing can reach the hidden volume")]
    OnlyReadUnprotected,
    /// The file system in the volume was mounted, and can only be read.
    #[error("the {0} in the volume can only be read here")]
    OnlyRead(FileSystemKind),
    /// What was put into the outer volume would have damaged the hidden one.
    #[error("the file system would have written into the hidden volume; those writes were refused")]
    HiddenHit,
    /// A file system that was made over the volume's own metadata has written there.
    #[error(
        "{} went over the volume's own metadata and {} refused there: what the file system keeps there is lost",
        if .0.writes == 1 { "1 write".to_owned() } else { format!("{} writes", .0.writes) },
        if .0.writes == 1 { "was" } else { "were" }
    )]
    OverMetadata(Spared),
    /// What hosts must prove can't be read.
    #[error(transparent)]
    HostSecret(#[from] SecretFault),
    /// The serving process could not be started or talked to.
    #[error("could not {doing}: {source}")]
    Process {
        /// What was being done: a verb.
        doing: &'static str,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The serving process ended before it said anything.
    #[error("the serving process ended without an answer ({})", .0.map(|how| how.to_string()).unwrap_or_default())]
    NoAnswer(Option<ExitStatus>),
    /// Whoever started this process to serve a volume did not say which.
    #[error("no request on standard input: {0}")]
    NoRequest(#[source] io::Error),
    /// The pipe to whoever started this process.
    #[error("the pipe to the caller broke: {0}")]
    CallerGone(#[source] io::Error),
}

explain! { SessionError, through Refused | HostSecret {
    Self::DiscardsInHidden => [Usage Request, LeaveOutDiscards],
    Self::Taken { error, volume: None } => {
        let mut meaning = error.explain();
        meaning.kind = Kind::Busy;
        meaning
    },
    Self::Taken { error, volume: Some(volume) } => {
        let mut meaning = error.explain();
        meaning.kind = Kind::AlreadyOpen;
        // By whichever name it goes here.
        meaning.advice = vec![Advice::CloseNamed { volume: volume.clone() }];
        meaning
    },
    Self::AtWork { volume, pid, .. } => [Busy InUse, WaitForProcess { pid: *pid }; volume],
    Self::OtherPartition { volume, .. } => [AlreadyOpen InUse, CloseNamed { volume: volume.clone() }; volume],
    // Another file may have the volume's name by now.
    Self::FolderTaken { folder, .. } => [Busy InUse, CloseNamed { volume: folder.clone() }; folder],
    Self::Others { path, other } if other.is_own() => [AlreadyOpen InUse, (other.close(path)); path],
    Self::Others { path, other } => [NotPermitted Machine, (other.close(path)); path],
    Self::Lacks { purpose, lack: lack @ Lack { reason: LackReason::NoRights, .. } } if !matches!(purpose, Purpose::Tool) => { lack.explain() },
    Self::Lacks { lack: Lack { need: Need::LoopDevice, reason: LackReason::Device(..) }, .. } => [Missing Machine, LoadLoop],
    Self::Lacks { purpose: Purpose::Cache, .. } => [NotPermitted Machine, RootOrNoCache],
    Self::Lacks { purpose: Purpose::Tool, lack } => [NotPermitted Machine, (for_a_tool(lack))],
    Self::Lacks { lack: Lack { reason: LackReason::NoFusermount, .. }, .. } => [NotPermitted Machine, InstallFuse],
    Self::Lacks { purpose: Purpose::Mount, lack: Lack { need: Need::LoopDevice, .. } } => [NotPermitted Machine, RootOrFile],
    Self::Lacks { lack: lack @ Lack { reason: LackReason::NotYours(..), .. }, .. } => { lack.explain() },
    Self::Lacks { .. } => [NotPermitted Machine, AskDoctorOrNbd],
    Self::NotAttachable => [NotPermitted Machine, AskDoctor],
    Self::OnlyReadUnprotected => [NotPermitted Machine, RootOrUnprotected],
    Self::MountNeedsRoot => [NotPermitted Machine, RootOrDevice],
    Self::NoWriter { filesystem, root } => [Missing Machine, (to_write(*filesystem, *root))],
    // Root's loop device is made of a file that FUSE shows, too.
    Self::NoFuseToWrite { lack: Lack { reason: LackReason::Device(..), .. }, .. } =>
        [Missing Machine, LoadFileSystem { filesystem: "fuse".to_owned() }],
    Self::NoFuseToWrite { lack, .. } => {
        let package = matches!(lack.reason, LackReason::NoFusermount).then(|| "fuse3".to_owned());
        Meaning::new(Kind::Missing, Fault::Machine).advise(Advice::PutAsRoot { package })
    },
    Self::HiddenHit => [HiddenVolume State, ProtectAgainAndCheck],
    Self::OverMetadata(spared) => [Metadata State, MakeFileSystemAround { bytes: spared.room_bytes }],
    Self::OnlyRead(_) => [Unsupported State, ReadSystemLog],
    Self::NoAnswer(_) => [Ours, ReadSystemLogForMemory],
    Self::NoRequest(_) => [Usage Request, OpenByVerb],
    Self::Process { .. } | Self::CallerGone(_) => [Medium, Retry],
} }

/// What helps where no other way to attach does.
fn for_a_tool(lack: &Lack) -> Advice {
    match lack.reason {
        LackReason::NoFusermount => Advice::InstallPackage { package: "fuse3".to_owned() },
        LackReason::Device(..) => Advice::LoadFileSystem { filesystem: "fuse".to_owned() },
        LackReason::NoRights => Advice::GiveCapability { to_open: false },
        _ => Advice::BecomeRoot,
    }
}

/// What helps where nothing writes to a file system.
fn to_write(filesystem: FileSystemKind, root: bool) -> Advice {
    let package = user_mount::package(filesystem.mount_type()).map(str::to_owned);
    match package {
        package if !root => Advice::PutAsRoot { package },
        // mount(8) knows this one as well.
        Some(package) if filesystem == FileSystemKind::Ntfs => Advice::InstallPackage { package },
        _ => Advice::LoadFileSystem { filesystem: filesystem.mount_type().to_owned() },
    }
}

fn lacks(purpose: Purpose, lack: &Lack) -> String {
    match purpose {
        Purpose::Cache => format!("a page cache needs a loop device: {lack}"),
        Purpose::Mount if lack.need == Need::LoopDevice => format!("mounting needs a loop device: {lack}"),
        _ => format!("FUSE can't be used here: {lack}"),
    }
}

impl SessionError {
    /// The serving process could not be started or talked to.
    pub(super) fn process(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Process { doing, source }
    }
}
