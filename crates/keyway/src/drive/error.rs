//! Why a drive does not do what it is asked for, as data.

use super::no_drive::NoDrive;
use keyway_error::{Advice, Explain, Fault, Kind, Meaning, explain};
use keyway_sed::Authority;
use keyway_sed::diagnosis::{Diagnosis, Situation, diagnose};
use keyway_sed::host::HostError;
use keyway_sed::password::{PIN_MAX, PasswordError, PasswordHash};
use keyway_sed::transport::TransportError;
use std::path::{Path, PathBuf};

/// Why a drive does not do what it is asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// The drive refused, did not answer, or lacks it.
    #[error("{}: {}", path.display(), diagnosis.what)]
    Refused {
        /// The drive.
        path: PathBuf,
        /// What that comes from, and what helps.
        diagnosis: Box<Diagnosis>,
        /// What it said.
        #[source]
        source: HostError,
    },
    /// Setting it up failed, and so did undoing it: it may have an owner now, whose secret must not be lost.
    #[error("{0}")]
    HalfSetUp(#[source] Box<Self>),
    /// Giving its owner another secret was cut short: one of its two authorities may have the new one already.
    #[error("{0}")]
    HalfChanged(#[source] Box<Self>),
    /// It is no drive, but something else.
    #[error("{} is no drive that encrypts by itself: it is {is}", path.display())]
    NoDrive {
        /// What was named.
        path: PathBuf,
        /// What that is.
        is: NoDrive,
    },
    /// It keeps to no standard that is known here.
    #[error("{} keeps to no standard of self-encryption that Keyway knows", .0.display())]
    NoStandard(PathBuf),
    /// It keeps to the Enterprise standard, by which drives are only read here.
    #[error("{} keeps to the Enterprise standard, which Keyway reads but does not manage", .0.display())]
    OnlyRead(PathBuf),
    /// It is in its factory state: there is nobody to speak as.
    #[error("{}: locking is not in use on this drive", .0.display())]
    NotSetUp(PathBuf),
    /// Its locking is in use already.
    #[error("{} is set up already", .0.display())]
    SetUpAlready(PathBuf),
    /// Its owner's authority is blocked already.
    #[error("{}: the owner's authority is blocked already, until the next power cycle", .0.display())]
    BlockedAlready(PathBuf),
    /// It has an owner: only a drive that nobody has taken over is kept from being.
    #[error("{} has an owner, so nobody else can become that: there is nothing to block", .0.display())]
    NothingToBlock(PathBuf),
    /// Its Locking SP is neither in its factory state nor in use.
    #[error("{} has locking in a state that it can't be set up from", .0.display())]
    OddState(PathBuf),
    /// Somebody uses it.
    #[error("{} is in use: {user}", disk.display())]
    InUse {
        /// The disk that is used.
        disk: PathBuf,
        /// By whom.
        user: keyway_sys::Use,
    },
    /// A recovery sheet on the drive that it is for.
    #[error("{} would lie on the drive that it is for", .0.display())]
    SheetOnDrive(PathBuf),
    /// The global range has no place that could be set.
    #[error("range 0 is everything that no other covers: it has no place")]
    GlobalRangeHasNoPlace,
    /// The global range can't be removed.
    #[error("range 0 is everything that no other covers: it stays")]
    GlobalRangeStays,
    /// A range by a number that the drive has none for.
    #[error("{} has no range {range}: besides range 0 it has {ranges}", path.display())]
    NoRange {
        /// The drive.
        path: PathBuf,
        /// The number.
        range: u16,
        /// How many it has.
        ranges: u16,
    },
    /// A range of no length.
    #[error("a range has a length")]
    NoLength,
    /// Who is no user.
    #[error("{0} is no user")]
    NoUser(Authority),
    /// Who may not see what was asked for: the drive leaves it out of its answer.
    #[error("{}: {who} may not see that", path.display())]
    NotShown {
        /// The drive.
        path: PathBuf,
        /// Who.
        who: Authority,
    },
    /// The owner's password by somebody else, or somebody else's by the owner.
    #[error("the owner (sid) and the others belong to different parts of the drive")]
    OtherPart,
    /// The kernel is to unlock a virtual drive's file.
    #[error("no kernel knows a virtual drive's file")]
    KernelKnowsNoFile,
    /// The kernel has no name for that authority.
    #[error("the kernel can't unlock as {0}")]
    UnknownToKernel(Authority),
    /// The kernel has no name for that range.
    #[error("the kernel knows ranges up to 255")]
    RangeUnknownToKernel,
    /// The password can't be given to a drive.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// What should be the label's secret has another length.
    #[error("a PSID has {PIN_MAX} characters, this one has {0}")]
    PsidLength(usize),
    /// Nobody gave the label's secret.
    #[error("no PSID was given")]
    NoPsid,
    /// Nothing says what the owner's secret is to be.
    #[error("the drive's owner needs a secret, and nothing says which")]
    NoOwnersSecret,
    /// A virtual drive's file, in a program without virtual drives.
    #[error("{} is a virtual drive, and this program was built without them", .0.display())]
    NoVirtualDrives(PathBuf),
    /// A virtual drive that can't be made, switched on or used.
    #[cfg(feature = "virtual-drive")]
    #[error(transparent)]
    Virtual(#[from] keyway_virtual_drive::DriveError),
    /// A virtual drive's size is not a multiple of 4096 bytes, or none.
    #[error("{0} bytes are no size of a virtual drive: it is a multiple of 4096 bytes")]
    VirtualSize(u64),
    /// Serving a virtual drive.
    #[error(transparent)]
    Served(#[from] keyway_attach::nvme_tcp::NvmeError),
}

impl DriveError {
    /// What an error of the drive's means, where it has not said anything of itself yet.
    pub(super) fn unreached(path: &Path, source: HostError) -> Self {
        if let HostError::Transport(TransportError::NotADrive) = source {
            return Self::NoDrive { path: path.to_owned(), is: NoDrive::at(path) };
        }
        let hash = PasswordHash::default();
        Self::said(path, source, &Situation { discovery: None, hash, factory_pin: false, tried: &[] })
    }

    /// What an error of a drive's means in this situation.
    pub fn said(path: &Path, source: HostError, situation: &Situation<'_>) -> Self {
        let mut diagnosis = Box::new(diagnose(&source, situation));
        diagnosis.meaning = diagnosis.meaning.about(path);
        Self::Refused { path: path.to_owned(), diagnosis, source }
    }

    /// What the drive's refusal may come from, the likeliest first, and what helps against it; `None` where the drive
    /// was not asked.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        match self {
            Self::Refused { diagnosis, .. } => Some(diagnosis),
            Self::HalfSetUp(error) | Self::HalfChanged(error) => error.diagnosis(),
            _ => None,
        }
    }
}

explain! { DriveError {
    Self::Refused { diagnosis, .. } => { diagnosis.meaning.clone() },
    Self::HalfSetUp(error) => {
        let mut meaning = error.explain();
        meaning.kind = Kind::HalfSetUp;
        meaning.advice.insert(0, Advice::KeepOwnersSecret);
        meaning
    },
    Self::HalfChanged(error) => {
        let mut meaning = error.explain();
        meaning.advice.push(Advice::RepeatToFinish);
        meaning
    },
    Self::NoDrive { path, is: NoDrive::PartOf(disk) } => [NotADrive Contents, NameWholeDrive { drive: disk.clone() }; path],
    Self::NoDrive { path, .. } => [NotADrive Contents, NameEncryptingDrive; path],
    Self::NoStandard(path) => [Unsupported Machine, EncryptBySoftware; path],
    Self::OnlyRead(path) => [Unsupported Machine, UseSedutil; path],
    Self::NotSetUp(path) => [NotSetUp State, SetDriveUp; path],
    Self::SetUpAlready(path) => [SetUpAlready State, SeeState, RevertSetupCutShort; path],
    Self::BlockedAlready(path) | Self::NothingToBlock(path) => [NotNow State, SeeState; path],
    Self::OddState(path) => [NotNow State, RevertByPsidFirst; path],
    Self::InUse { disk, .. } => [InUse InUse, CloseThatFirst; disk],
    Self::SheetOnDrive(path) => [Request, KeepElsewhere; path],
    Self::GlobalRangeHasNoPlace | Self::GlobalRangeStays => [Request, NameAnother],
    Self::NoRange { path, .. } => [Request, ListRanges; path],
    Self::NoLength => [Request, RemoveRangeInstead],
    Self::NoUser(_) => [Request, NameUser],
    Self::NotShown { path, .. } => [NotAllowed Machine, AuthenticateAsAdministrator; path],
    Self::OtherPart => [Request, ChangeAsThemselves],
    Self::KernelKnowsNoFile => [Request, ServeVirtualDrive],
    Self::UnknownToKernel(_) => [Request, UnlockAsKernelKnows],
    Self::RangeUnknownToKernel => [Request, LeaveOutKernel],
    Self::Password(error) => [Request, (error.step())],
    Self::PsidLength(_) => [Request, ReadPsidAgain],
    Self::NoPsid => [Request, GivePsid],
    Self::NoOwnersSecret => [Request, GiveOwnersSource],
    Self::NoVirtualDrives(path) => [Unsupported Machine, BuildWithVirtualDrives; path],
    #[cfg(feature = "virtual-drive")]
    Self::Virtual(error) => { error.explain() },
    Self::VirtualSize(bytes) => [Request, TakeSize { bytes: (bytes / 4096 * 4096).max(4096) }],
    Self::Served(error) => { served(error) },
} }

/// A virtual drive's address is chosen by whoever asks.
fn served(error: &keyway_attach::nvme_tcp::NvmeError) -> Meaning {
    use keyway_attach::nvme_tcp::NvmeError as E;
    match error {
        E::Remote(_) | E::Name(_) => {
            error.advice().into_iter().fold(Meaning::of(Fault::Request), Meaning::advise)
        }
        E::System { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => {
            Meaning::of(Fault::InUse).advise(Advice::OtherPort)
        }
        E::System { .. } => Meaning::of(Fault::State),
    }
}
