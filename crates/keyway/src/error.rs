//! Why something could not be done, as data: what a person reads is the front's to say.

use crate::drive::error::DriveError;
use crate::resize::error::ResizeError;
use crate::session::error::SessionError;
use crate::tpm::TpmProtectorError;
use crate::under_way::error::ConversionError;
use crate::under_way::refusal::Refusal;
use keyway_attach::AttachError;
use keyway_cipher::CipherError;
use keyway_convert::{ConversionKind, ConvertError};
use keyway_engine::{DeviceError, LayoutError};
use keyway_error::{Advice, Explain, Fault, Kind, Meaning, explain_io};
use keyway_fs::files::FilesError;
use keyway_fs::resize::RoomError;
use keyway_store::StoreError;
use keyway_volume::bitlocker::{self, BitLockerError, Protection};
use keyway_volume::{VolumeError, veracrypt};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something about the volume at this path.
    #[error("{}", named(path, error))]
    At {
        /// The volume.
        path: PathBuf,
        /// What about it.
        #[source]
        error: Box<Self>,
    },
    /// The volume may not be written, and could be read.
    #[error(transparent)]
    CanOnlyBeRead(Box<Self>),
    /// The system refused something on a path.
    #[error("could not {doing} {}: {source}", path.display())]
    System {
        /// What was being done: a verb.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// A folder was named where a file or device belongs.
    #[error("{} is a folder", .0.display())]
    Folder(PathBuf),
    /// A conversion has not come to its end: nothing but that conversion may touch the volume.
    #[error("{} is half converted: its {} has not come to its end", path.display(), conversion.name())]
    HalfConverted {
        /// The volume.
        path: PathBuf,
        /// What is done to it.
        conversion: ConversionKind,
    },
    /// What was asked for doesn't go together, or isn't there.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// A folder that should hold a startup key holds none.
    #[error("there is no .BEK file in {}", .0.display())]
    NoStartupKey(PathBuf),
    /// A BitLocker volume has no recovery password, or none of that identifier.
    #[error("{} has no such recovery password", .0.display())]
    NoRecoveryPassword(PathBuf),
    /// A file system begins where a BitLocker volume's first sector was: its metadata is what is left of a volume that
    /// was there before. Nothing was written.
    #[error("a file system ({0}) begins where the first sector was: nothing was written")]
    FileSystemInFront(&'static str),
    /// What was written anew reads as something else.
    #[error("what was written anew is damaged again")]
    DamagedAgain,
    /// Whoever was asked for a secret could not answer, and said why.
    #[error(transparent)]
    Answer(Box<dyn std::error::Error + Send + Sync>),
    /// It failed, and what was prepared for it was taken back, or could not be.
    #[error("{error}")]
    TakenBack {
        /// Why it failed.
        #[source]
        error: Box<Self>,
        /// What has become of what was prepared.
        left: Advice,
    },
    /// Whoever watched wanted it to stop.
    #[error("interrupted")]
    Stopped,
    /// The medium.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The open volume's sectors.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A cipher that can't be made as asked.
    #[error(transparent)]
    Cipher(#[from] CipherError),
    /// A layout that can't be.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A VeraCrypt or TrueCrypt volume.
    #[error(transparent)]
    VeraCrypt(#[from] VolumeError),
    /// A BitLocker volume.
    #[error(transparent)]
    BitLocker(#[from] BitLockerError),
    /// A change of a VeraCrypt or TrueCrypt volume's header.
    #[error(transparent)]
    Header(#[from] veracrypt::ChangeError),
    /// Making such a volume, or overwriting its headers.
    #[error(transparent)]
    Create(#[from] veracrypt::CreateError),
    /// Making a BitLocker volume.
    #[error(transparent)]
    CreateBitLocker(#[from] bitlocker::CreateError),
    /// A backup of a BitLocker volume's metadata.
    #[error(transparent)]
    Backup(#[from] bitlocker::BackupError),
    /// A change of a BitLocker volume's protectors.
    #[error(transparent)]
    Protectors(#[from] bitlocker::ChangeError),
    /// The system gave no random numbers.
    #[error("the system gave no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// A TPM's protector.
    #[error(transparent)]
    Tpm(#[from] TpmProtectorError),
    /// A conversion and its traces.
    #[error(transparent)]
    Conversion(#[from] ConvertError),
    /// A conversion that can't be begun, found or gone on with.
    #[error(transparent)]
    Converting(#[from] ConversionError),
    /// A volume that can't have another size.
    #[error(transparent)]
    Resizing(#[from] ResizeError),
    /// Another size for a VeraCrypt or TrueCrypt volume.
    #[error(transparent)]
    VeraCryptSize(#[from] veracrypt::ResizeError),
    /// Another size for a BitLocker volume.
    #[error(transparent)]
    BitLockerSize(#[from] bitlocker::ResizeError),
    /// A file system's own tools.
    #[error(transparent)]
    Room(#[from] RoomError),
    /// Serving a volume.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Attaching or closing a volume.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// A drive that encrypts by itself.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The files in a volume.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// What was asked for doesn't go together, or isn't there: whoever asked can ask otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// A recovery password, a startup key or a TPM for a volume that is no BitLocker one.
    #[error("{} is not a BitLocker volume, and only these have recovery passwords, startup keys and TPMs", .0.display())]
    NotBitLocker(PathBuf),
    /// Keyfiles or a PIM for a BitLocker volume.
    #[error("a BitLocker volume has no keyfiles and no PIM")]
    NoKeyfiles,
    /// A hidden volume to protect in a BitLocker volume.
    #[error("a BitLocker volume has no hidden one to protect")]
    NothingHidden,
    /// A size for a device, which is taken whole.
    #[error("a device is taken whole")]
    SizeOfADevice,
    /// No size for a new file.
    #[error("a new file needs a size")]
    NoSize,
    /// A hidden volume's header in a BitLocker volume.
    #[error("a BitLocker volume has no hidden one")]
    NoHidden,
    /// A protector to be added to a volume that has one secret: it can only be changed.
    #[error("{} is not a BitLocker volume; others have one secret, which can be changed", .0.display())]
    OneSecret(PathBuf),
    /// What only BitLocker volumes have, for another one.
    #[error("{} is not a BitLocker volume", .0.display())]
    ForBitLockerOnly(PathBuf),
    /// Another key derivation, or keyfiles, for a BitLocker volume's secret.
    #[error("a BitLocker volume has no keyfiles and only one key derivation")]
    OneDerivation,
    /// Keyfiles or a PIM for a BitLocker volume's new password.
    #[error("a BitLocker volume has no keyfiles and no PIM")]
    PasswordOnly,
    /// A startup key that would be written nowhere.
    #[error("a startup key needs a folder to be written to")]
    NoFolder,
    /// A BitLocker volume without a password, and no other protector was named.
    #[error("{} has no password to change", .0.display())]
    NoPasswordToChange(PathBuf),
    /// A protector of a kind that can't be set here.
    #[error("a protector of the kind {} can't be changed", .0.name())]
    Unchangeable(Protection),
    /// One recovery password was wanted, and there are several.
    #[error("{} has {number} recovery passwords", path.display())]
    SeveralRecoveryPasswords {
        /// The volume.
        path: PathBuf,
        /// How many there are.
        number: usize,
    },
    /// Keyfiles or a PIM for a new BitLocker volume.
    #[error("a BitLocker volume has no keyfiles and no PIM")]
    NewKeyfiles,
    /// A password for a volume that is to have none.
    #[error("a password was given for a volume that is to have none")]
    PasswordAndNone,
    /// A recovery password alone that is shown when everything is done: whatever interrupts that, nobody knows it.
    #[error(
        "the recovery password alone would open the volume, and it is shown at the end: nobody could go on with a \
         conversion that is interrupted before"
    )]
    RecoveryShownAtTheEnd,
    /// A cipher that BitLocker does not have.
    #[error("BitLocker has no cipher called {0}")]
    NoSuchMethod(String),
    /// Options of BitLocker volumes for a new volume of another format.
    #[error("startup keys, recovery passwords and the To Go layout are for BitLocker volumes")]
    OptionsOfBitLocker,
    /// A hidden volume's secret where none is to be made.
    #[error("the hidden volume's secret is for making a hidden volume")]
    NothingHiddenToMake,
    /// A hidden volume to be made in a BitLocker volume.
    #[error("a BitLocker volume can't hold a hidden one")]
    HiddenInBitLocker,
    /// A hash for a new BitLocker volume.
    #[error("a BitLocker volume has no choice of a hash")]
    NoChoiceOfHash,
    /// A BitLocker volume's secret for something that does not begin as one: perhaps its first sector is lost.
    #[error("{} does not begin as a BitLocker volume", .0.display())]
    NoBitLockerBeginning(PathBuf),
    /// The same where one is to be repaired: other volumes' headers are restored.
    #[error("{} does not begin as a BitLocker volume", .0.display())]
    NothingToRepair(PathBuf),
    /// A BitLocker volume's metadata is restored from a file only.
    #[error("a BitLocker volume's metadata is restored from a backup file")]
    NoBackupFile,
    /// Two passwords from standard input.
    #[error("two passwords can't both come from standard input")]
    OneStandardInput,
    /// A password and a recovery password from standard input.
    #[error("password and recovery password can't both come from standard input")]
    RecoveryAndPassword,
    /// There is nothing to read a password from, and nobody to ask for it.
    #[error("no password was given and there is nobody to ask")]
    NoPassword,
    /// What should hold a password is too long for one.
    #[error("the password in {} is longer than {limit} bytes", path.display())]
    PasswordTooLong {
        /// Where it is.
        path: PathBuf,
        /// The longest there may be.
        limit: usize,
    },
    /// A descriptor that isn't open for reading.
    #[error("descriptor {descriptor} can't be read: {source}")]
    Descriptor {
        /// Its number.
        descriptor: u32,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// A page cache before a hidden volume's guard.
    #[error(
        "writes that would damage the hidden volume must be refused when they are made, not when the page cache gets to them"
    )]
    CacheWithHidden,
    /// Discards around a hidden volume that is protected.
    #[error("discards would show where the hidden volume lies: everything else is discarded around it")]
    DiscardsAroundHidden,
    /// A hidden volume to protect in a volume that is only read.
    #[error("a volume that is only read needs no protection of the hidden one")]
    NothingToProtect,
    /// A mount point where no block device is made.
    #[error("a mount point needs a block device, which NBD and vhost-user do not make")]
    MountNeedsDevice,
    /// A page cache where no loop device is made.
    #[error("the page cache is for the loop device on a FUSE file, which is not made in this way")]
    CacheNeedsLoop,
    /// A hidden volume to protect, by the kernel.
    #[error("the kernel would not protect the hidden volume: dm-crypt writes whatever it is given")]
    KernelProtectsNothing,
    /// A mount point that is no folder.
    #[error("the mount point {} is not a folder", .0.display())]
    MountPointNotFolder(PathBuf),
    /// All local users let in where there is no port without proof.
    #[error("letting every local user in is for a loopback port at which nobody must prove anything")]
    NoUnprovenPort,
    /// A port for other machines at which nobody must prove anything.
    #[error(
        "{address} is not this machine's loopback; other machines could read the volume and write to it, and see what others do"
    )]
    Unproven {
        /// The address.
        address: IpAddr,
        /// It is NVMe/TCP's; else NBD's.
        by_nvme: bool,
    },
    /// Everything of a volume, without a new name for it.
    #[error("everything in the volume needs a new folder to go to")]
    NeedsNewFolder,
    /// A path that ends in no name.
    #[error("{} is no name for something new", .0.display())]
    NoNewName(PathBuf),
    /// Something to put into a volume that is no file.
    #[error("{} is not a file", .0.display())]
    PutNotAFile(PathBuf),
    /// More than the volume has.
    #[error("the offset {offset} is past the end of the volume ({size} bytes)")]
    PastEnd {
        /// What was asked for.
        offset: u64,
        /// The volume's size.
        size: u64,
    },
}

impl Explain for Error {
    fn explain(&self) -> Meaning {
        use Advice as A;
        use Fault as F;
        use Kind as K;
        match self {
            Self::At { path, error } => error.explain().about(path),
            Self::CanOnlyBeRead(error) => {
                let mut meaning = error.explain();
                meaning.advice = vec![A::ReadOnlyOrAsWriter];
                meaning
            }
            Self::System { path, source, .. } => explain_io(source).about(path),
            Self::Folder(path) => {
                Meaning::new(K::NotSuitable, F::State).advise(A::NameVolumeNotFolder).about(path)
            }
            Self::HalfConverted { path, .. } => {
                Meaning::new(K::Converting, F::State).advise(A::Resume { path: path.clone() }).about(path)
            }
            Self::Misuse(error) => error.explain(),
            Self::NoStartupKey(path) => {
                Meaning::new(K::StartupKey, F::Secret).advise(A::NameStartupKeyFile).about(path)
            }
            Self::NoRecoveryPassword(path) => {
                Meaning::new(K::NoSuchProtector, F::State).advise(A::AddRecoveryPassword).about(path)
            }
            Self::TakenBack { error, left } => error.explain().advise(left.clone()),
            Self::FileSystemInFront(_) => (K::HasAFilesystem, F::State, A::ReadRemains).into(),
            Self::DamagedAgain => Meaning::of(F::Medium).advise(A::CopyToAnotherDrive),
            Self::Answer(_) | Self::Random(_) => Meaning::of(F::Ours),
            Self::Stopped => Meaning::of(F::Stopped),
            Self::Store(error) => error.explain(),
            Self::Device(error) => error.explain(),
            Self::Layout(error) => error.explain(),
            Self::Cipher(error) => error.explain(),
            Self::Resizing(error) => error.explain(),
            Self::VeraCryptSize(error) => error.explain(),
            Self::BitLockerSize(error) => error.explain(),
            Self::Room(error) => error.explain(),
            Self::VeraCrypt(error) => error.explain(),
            Self::BitLocker(error) => error.explain(),
            Self::Header(error) => error.explain(),
            Self::Create(error) => error.explain(),
            Self::CreateBitLocker(error) => error.explain(),
            Self::Backup(error) => error.explain(),
            Self::Protectors(error) => error.explain(),
            Self::Tpm(error) => error.explain(),
            Self::Conversion(error) => error.explain(),
            Self::Converting(error) => error.explain(),
            Self::Session(error) => error.explain(),
            Self::Attach(error) => error.explain(),
            Self::Drive(error) => error.explain(),
            Self::Files(error) => error.explain(),
        }
    }
}

impl Explain for Misuse {
    fn explain(&self) -> Meaning {
        use Advice as A;
        let step = match self {
            Self::NotBitLocker(_) => A::GivePasswordInstead,
            Self::NoKeyfiles => A::GiveBitLockerSecret,
            Self::NothingHidden => A::ProtectNothing,
            Self::SizeOfADevice => A::LeaveSizeOut,
            Self::NoSize => A::GiveSize,
            Self::NoHidden => A::LeaveHiddenOut,
            Self::OneSecret(_) => A::ChangeItsSecret,
            Self::ForBitLockerOnly(_) => A::LeaveOutBitLockers,
            Self::OneDerivation => A::NewPasswordOrOtherProtector,
            Self::PasswordOnly => A::GivePassword,
            Self::NoFolder => A::NameFolderElsewhere,
            Self::NoPasswordToChange(_) => A::NameProtector,
            Self::Unchangeable(_) => A::AddThenRemove,
            Self::SeveralRecoveryPasswords { .. } => A::NameOneProtector,
            Self::NewKeyfiles => A::LeaveOutKeyfiles,
            Self::PasswordAndNone => A::LeaveOutOne,
            Self::RecoveryShownAtTheEnd => A::NameRecoveryFile,
            Self::NoSuchMethod(_) => A::TakeOfferedMethod,
            Self::OptionsOfBitLocker => A::BitLockerOrLeaveOut,
            Self::NothingHiddenToMake => A::GiveHiddenSize,
            Self::HiddenInBitLocker => A::LeaveHiddenOutOrVeraCrypt,
            Self::NoChoiceOfHash => A::LeaveHashOut,
            Self::NoBitLockerBeginning(_) => A::SearchMetadata,
            Self::NothingToRepair(_) => A::SearchOrRestoreHeader,
            Self::NoBackupFile => A::NameBackupFile,
            Self::OneStandardInput => A::OneOnStandardInput,
            Self::RecoveryAndPassword => A::OneIsEnough,
            Self::NoPassword => A::GiveSecret,
            Self::PasswordTooLong { .. } => A::ShorterOrKeyfile,
            Self::Descriptor { .. } => A::OpenDescriptor,
            Self::PastEnd { .. } => A::AskForLess,
            Self::CacheWithHidden => A::LeaveOutCache,
            Self::DiscardsAroundHidden => A::LeaveOutDiscards,
            Self::NothingToProtect => A::LeaveOutReadOnly,
            Self::MountNeedsDevice => A::OtherWayOrNoMount,
            Self::CacheNeedsLoop => A::OtherWayOrNoCache,
            Self::KernelProtectsNothing => A::NotByKernel,
            Self::MountPointNotFolder(_) => A::MakeMountPoint,
            Self::NoUnprovenPort => A::LeaveOutAnyUser,
            Self::Unproven { by_nvme: false, .. } => A::LoopbackOrCertificates,
            Self::Unproven { by_nvme: true, .. } => A::LoopbackOrHostSecret,
            Self::NeedsNewFolder => A::NameNewFolder,
            Self::NoNewName(_) => A::NameFolderOrNewFile,
            Self::PutNotAFile(_) => A::PutFilesSingly,
        };
        let meaning = Meaning::new(Kind::Usage, Fault::Request).advise(step);
        match self {
            Self::NotBitLocker(path)
            | Self::OneSecret(path)
            | Self::ForBitLockerOnly(path)
            | Self::NoPasswordToChange(path)
            | Self::SeveralRecoveryPasswords { path, .. }
            | Self::NoBitLockerBeginning(path)
            | Self::NothingToRepair(path)
            | Self::MountPointNotFolder(path)
            | Self::NoNewName(path)
            | Self::PutNotAFile(path)
            | Self::PasswordTooLong { path, .. } => meaning.about(path),
            _ => meaning,
        }
    }
}

/// The error's own words, behind the volume's name where they don't name it.
fn named(path: &Path, error: &Error) -> String {
    match error.path() {
        Some(named) if named == path => error.to_string(),
        _ => format!("{}: {error}", path.display()),
    }
}

impl Error {
    /// A system call on a path that failed.
    pub(crate) fn system(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::System { doing, path: path.to_owned(), source }
    }

    /// The same, with the volume that it is about.
    pub(crate) fn at(self, path: &Path) -> Self {
        Self::At { path: path.to_owned(), error: Box::new(self) }
    }

    /// The same, with what has become of what was prepared.
    pub(crate) fn leaving(self, left: Advice) -> Self {
        Self::TakenBack { error: Box::new(self), left }
    }

    /// An answer that whoever was asked could not give; the source keeps its own type, and
    /// `downcast` gets it back.
    pub fn answer(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Answer(Box::new(source))
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        ConversionError::from(refusal).into()
    }
}

/// Puts the volume to an error of a crate below.
pub(crate) fn about<E: Into<Error>>(path: &Path) -> impl Fn(E) -> Error + '_ {
    |error| error.into().at(path)
}
