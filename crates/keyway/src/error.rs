//! Why something could not be done, as data: what a person reads is the front's to say.

pub use crate::conversion::{ConversionError, ConversionRefusal};
pub use crate::disk::DiskError;
pub use crate::drive::DriveError;
pub use crate::favourites::FavouriteError;
pub use crate::resize::ResizeError;
use crate::secret_role::SecretRole;
pub use crate::session::SessionError;
pub use crate::tpm::TpmProtectorError;
use crate::{bitlocker, veracrypt};
pub use keyway_attach::AttachError;
pub use keyway_cipher::CipherError;
use keyway_convert::ConversionKind;
pub use keyway_convert::ConvertError;
pub use keyway_engine::{DeviceError, LayoutError};
pub use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
use keyway_error::{ended_early, explain, explain_io};
pub use keyway_fs::Container;
pub use keyway_fs::files::FilesError;
pub use keyway_fs::mkfs::MkfsError;
pub use keyway_fs::resize::ResizeToolError;
pub use keyway_store::StoreError;
use keyway_store::size::words;
pub use keyway_volume::VolumeError;
use keyway_volume::bitlocker::{BitLockerError, Protection};
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
    /// What can hold no volume was named as one.
    #[error("{} is {what}, not a volume", path.display())]
    NoMedium {
        /// It.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// A container of another kind.
    #[error("{} is {}, not a volume that can be opened here", path.display(), container.name())]
    Container {
        /// It.
        path: PathBuf,
        /// Which kind.
        container: Container,
    },
    /// A conversion has not come to its end: nothing but that conversion may touch the volume.
    #[error("{} is half converted: its {} has not come to its end", path.display(), conversion.name())]
    HalfConverted {
        /// The volume.
        path: PathBuf,
        /// What is done to it.
        conversion: ConversionKind,
    },
    /// The same of a partition of a disk or its image.
    #[error("a partition of {} is half converted: its {} has not come to its end, and is resumed on the partition's own device", path.display(), conversion.name())]
    PartitionHalfConverted {
        /// The disk.
        path: PathBuf,
        /// What is done to the partition.
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
    /// A file that should hold a recovery password holds none.
    #[error("there is no recovery password in {}", .0.display())]
    NoRecoveryPasswordIn(PathBuf),
    /// There is less of a BitLocker volume than there was, and what is missing is needed.
    #[error(
        "this is not the whole volume: it was cut, and {present} of its {expected} bytes are left ({} of {})",
        words(*present), words(*expected)
    )]
    CutOff {
        /// The bytes that it had.
        expected: u64,
        /// Those that there are.
        present: u64,
        /// What failed by it.
        #[source]
        error: Box<Self>,
    },
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
    /// The file system is not encrypted, and is mounted.
    #[error("{error}, and it is mounted at {}", .at.display())]
    PlainMounted {
        /// That it is no volume.
        #[source]
        error: Box<Self>,
        /// Where it is mounted.
        at: PathBuf,
    },
    /// What should be logged to is no file that a log is appended to.
    #[error("could not log to {}: it is {what}", .path.display())]
    NoLog {
        /// What was named.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// It failed, and what was prepared for it was taken back, or could not be; or more helps than it knows itself.
    #[error("{error}")]
    TakenBack {
        /// Why it failed.
        #[source]
        error: Box<Self>,
        /// What has become of what was prepared.
        left: Advice,
    },
    /// A disk, and no partition of it could be taken.
    #[error(transparent)]
    Disk(#[from] DiskError),
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
    /// Neither the password nor another spelling of it.
    #[error("{error}; and none of {count} other spellings of the password opens it")]
    NoVariant {
        /// How many were tried.
        count: usize,
        /// What was said of the password itself.
        #[source]
        error: Box<Self>,
    },
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
    Room(#[from] ResizeToolError),
    /// Serving a volume.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Attaching or closing a volume.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// A drive that encrypts by itself.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A favourite.
    #[error(transparent)]
    Favourite(#[from] FavouriteError),
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
    /// `-` for a new file, which elsewhere means standard output.
    #[error("a new file can't be standard output: where it fails to be written whole it is removed again")]
    NotStandardOutput,
    /// A label where no file system is to be made.
    #[error("a label is a file system's name, and none is to be made")]
    LabelOfNothing,
    /// Options of mount(8) where nothing is mounted by the kernel.
    #[error(
        "mount options other than ro, nosuid, nodev and noatime are for what the kernel mounts, and here the files are shown by this program"
    )]
    MountOptionsOfFiles,
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
    /// A TPM that is to open a volume which no TPM opens yet, where one is to be added.
    #[error("no TPM opens {} yet, so --tpm can't: another thing opens it for the new protector", .0.display())]
    TpmOpensNothing(PathBuf),
    /// A PIN or measurements for a protector without a TPM.
    #[error("a protector of the kind {} has no TPM: no PIN and no PCRs", .0.name())]
    NoTpmInIt(Protection),
    /// A password for a protector with a TPM.
    #[error("a protector of the kind {} has no password", .0.name())]
    NoPasswordInIt(Protection),
    /// The beginning of an identifier, and no protector's begins so.
    #[error("{} has no protector that begins with {named}", path.display())]
    NoSuchBeginning {
        /// The volume.
        path: PathBuf,
        /// The beginning.
        named: String,
    },
    /// The beginning of several protectors' identifiers.
    #[error("{} has several protectors that begin with {named}: {all}", path.display())]
    SeveralBeginSo {
        /// The volume.
        path: PathBuf,
        /// The beginning.
        named: String,
        /// All of them.
        all: String,
    },
    /// The name of a kind of protectors, and the volume has none.
    #[error("{} has no protector of the kind {}", path.display(), kind.name())]
    NoneOfKind {
        /// The volume.
        path: PathBuf,
        /// The kind.
        kind: Protection,
    },
    /// The name of a kind of which the volume has several.
    #[error("{} has several protectors of the kind {}: {all}", path.display(), kind.name())]
    SeveralOfKind {
        /// The volume.
        path: PathBuf,
        /// The kind.
        kind: Protection,
        /// All of them.
        all: String,
    },
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
    /// Another format was named than that of a BitLocker volume.
    #[error("{} is a BitLocker volume", .0.display())]
    IsBitLocker(PathBuf),
    /// A BitLocker volume, where a system that VeraCrypt encrypted was named.
    #[error("{} is a BitLocker volume, and no system that VeraCrypt encrypted", .0.display())]
    NoSystem(PathBuf),
    /// There is nobody to ask for a recovery password.
    #[error("no recovery password was given and there is nobody to ask")]
    NoRecoveryPassword,
    /// Two passwords from standard input.
    #[error("two passwords can't both come from standard input")]
    OneStandardInput,
    /// A password and a recovery password from standard input.
    #[error("password and recovery password can't both come from standard input")]
    RecoveryAndPassword,
    /// There is nothing to read a password from, and nobody to ask for it.
    #[error("{} was given and there is nobody to ask", .0.missing())]
    NoPassword(SecretRole),
    /// What should hold a password holds nothing.
    #[error("{} is empty: there is no password in it", .0.display())]
    EmptyPassword(PathBuf),
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
    /// To close when nobody uses it, where nobody knows whether somebody does.
    #[error(
        "who has it as a network's or a virtual machine's disk may ask nothing of it for hours, and use it all the same"
    )]
    IdleClients,
    /// A page cache where no loop device is made.
    #[error("the page cache is for the loop device on a FUSE file, which is not made in this way")]
    CacheNeedsLoop,
    /// A hidden volume to protect, by the kernel.
    #[error("the kernel would not protect the hidden volume: dm-crypt writes whatever it is given")]
    KernelProtectsNothing,
    /// A mount point that is no folder.
    #[error("the mount point {} is not a folder", .0.display())]
    MountPointNotFolder(PathBuf),
    /// The folder that this machine's own system is in, as a mount point.
    #[error("/ is the whole of this machine, and nothing is mounted over it")]
    MountPointRoot,
    /// A mount point that isn't there.
    #[error("there is no folder {} to mount it on", .0.display())]
    NoMountPoint(PathBuf),
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
    /// There is no such volume, and another word is a file: they may have been exchanged.
    #[error("there is no {}, and {} is a file here", path.display(), file.display())]
    VolumeFirst {
        /// What should be the volume.
        path: PathBuf,
        /// The other word.
        file: PathBuf,
    },
    /// Everything of a volume, without a new name for it.
    #[error("everything in the volume needs a new folder to go to")]
    NeedsNewFolder,
    /// Several that go to what is no folder here.
    #[error("these go into a folder here, and {} is none", .0.display())]
    GetIntoFolder(PathBuf),
    /// The last of two words, which is in the volume and not here: both of them may have been meant.
    #[error("{} is in the volume, too, and nothing here is called so", .0.display())]
    GetOneOfThem(PathBuf),
    /// A path that ends in no name.
    #[error("{} is no name for something new", .0.display())]
    NoNewName(PathBuf),
    /// Something to put into a volume that is no file.
    #[error("{} is not a file", .0.display())]
    PutNotAFile(PathBuf),
    /// A file to put into a volume that has more in it than the length it tells: files of `/proc` do.
    #[error("{} tells the length 0 and has something in it all the same", .0.display())]
    PutNoLength(PathBuf),
    /// What is to go into a folder of the volume, and that is none.
    #[error("these go into a folder of the volume, and {} is none", .0.display())]
    PutIntoFolder(PathBuf),
    /// The last of several words, which is a file or folder here and no folder in the volume: all of them may have been meant.
    #[error("{} is a {} here, and no folder in the volume", .path.display(), if *.is_folder { "folder" } else { "file" })]
    PutOneOfThem {
        /// It.
        path: PathBuf,
        /// Whether it is a folder here.
        is_folder: bool,
    },
    /// A file, and where it goes is written as a folder, which isn't there.
    #[error("there is no folder {}", .0.display())]
    NoSuchFolder(PathBuf),
    /// More than is put into a volume at once, or folders without end.
    #[error("{} leads too deep, or has more than a million files", .0.display())]
    TooMuchToPut(PathBuf),
    /// More than the volume has.
    #[error("the offset {offset} is past the end of the volume ({size} bytes)")]
    PastEnd {
        /// What was asked for.
        offset: u64,
        /// The volume's size.
        size: u64,
    },
}

explain! { Error, through Misuse | Disk | Store | Device | Layout | Cipher | Resizing | VeraCryptSize | BitLockerSize | Room
    | VeraCrypt | BitLocker | Header | Create | CreateBitLocker | Backup | Protectors | Tpm | Conversion | Converting
    | Session | Attach | Drive | Favourite | Files
{
    Self::At { path, error } => { error.explain().about(path) },
    Self::CanOnlyBeRead(error) => {
        let mut meaning = error.explain();
        meaning.advice = vec![Advice::ReadOnlyOrAsWriter];
        meaning
    },
    Self::System { path, source, .. } => { explain_io(source).about(path) },
    Self::Folder(path) => [NotSuitable State, NameVolumeNotFolder; path],
    Self::NoMedium { path, .. } => [NotSuitable Contents, NameVolumeNotFolder; path],
    Self::Container { path, container } => [NotAVolume Contents,
        OpenContainer { container: container.word().to_owned(), path: path.clone() }; path],
    Self::HalfConverted { path, .. } => [Converting State, Resume { path: path.clone() }; path],
    Self::PartitionHalfConverted { path, .. } => [Converting State, NamePartitionDevice { path: path.clone() }; path],
    Self::NoStartupKey(path) => [StartupKey Secret, NameStartupKeyFile; path],
    Self::NoRecoveryPasswordIn(path) => [MistypedRecoveryPassword Secret, NameRecoveryPassword; path],
    Self::CutOff { expected, .. } => [Damaged Contents, CopyAgain { bytes: *expected }],
    Self::NoRecoveryPassword(path) => [NoSuchProtector State, AddRecoveryPassword; path],
    Self::PlainMounted { error, at } => {
        let mut meaning = error.explain();
        meaning.advice = vec![Advice::FilesAreAt { path: at.clone() }];
        meaning
    },
    Self::NoLog { path, .. } => [NotSuitable State, NameLogFile; path],
    Self::TakenBack { error, left } => { error.explain().advise(left.clone()) },
    Self::FileSystemInFront(_) => [HasAFilesystem State, ReadRemains],
    Self::DamagedAgain => [Medium, CopyToAnotherDrive],
    Self::NoVariant { error, .. } => {
        let mut meaning = error.explain();
        meaning.advice.retain(|step| *step != Advice::TryKeyboardLayout);
        meaning
    },
    Self::Answer(_) | Self::Random(_) => [Ours, ReportWithDoctor],
    Self::Stopped => [Stopped],
} }

explain! { Misuse {
    Self::NotBitLocker(path) => [Usage Request, GivePasswordOrKeyfiles; path],
    Self::IsBitLocker(path) => [Usage Request, LeaveOutFormat; path],
    Self::NoSystem(path) => [Usage Request, LeaveOutSystem; path],
    Self::NoRecoveryPassword => [Usage Request, NameRecoveryPassword],
    Self::NoKeyfiles => [Usage Request, GiveBitLockerSecret],
    Self::NothingHidden => [Usage Request, ProtectNothing],
    Self::SizeOfADevice => [Usage Request, LeaveSizeOut],
    Self::NoSize => [Usage Request, GiveSize],
    Self::NoHidden => [Usage Request, LeaveHiddenOut],
    Self::OneSecret(path) => [Usage Request, ChangeItsSecret; path],
    Self::ForBitLockerOnly(path) => [Usage Request, LeaveOutBitLockers; path],
    Self::OneDerivation => [Usage Request, NewPasswordOrOtherProtector],
    Self::PasswordOnly => [Usage Request, GivePassword],
    Self::NoFolder => [Usage Request, NameFolderElsewhere],
    Self::NoPasswordToChange(path) => [Usage Request, AddPasswordOrName; path],
    Self::NoSuchBeginning { path, .. } | Self::NoneOfKind { path, .. } =>
        [NoSuchProtector Request, ListProtectors; path],
    Self::SeveralOfKind { path, .. } => [Ambiguous Request, NameOneOfThem; path],
    Self::SeveralBeginSo { path, .. } => [Ambiguous Request, NameMoreOfIt; path],
    Self::TpmOpensNothing(path) => [Usage Request, OpenByOtherThanTpm; path],
    Self::NoTpmInIt(_) => [Usage Request, LeaveOutTpmOptions],
    Self::NoPasswordInIt(_) => [Usage Request, GiveNewPin],
    Self::Unchangeable(_) => [Usage Request, AddThenRemove],
    Self::SeveralRecoveryPasswords { path, .. } => [Usage Request, NameProtector; path],
    Self::NewKeyfiles => [Usage Request, LeaveOutKeyfiles],
    Self::PasswordAndNone => [Usage Request, LeaveOutOne],
    Self::RecoveryShownAtTheEnd => [Usage Request, NameRecoveryFile],
    Self::NoSuchMethod(_) => [Usage Request, TakeOfferedMethod],
    Self::OptionsOfBitLocker => [Usage Request, BitLockerOrLeaveOut],
    Self::NothingHiddenToMake => [Usage Request, GiveHiddenSize],
    Self::HiddenInBitLocker => [Usage Request, LeaveHiddenOutOrVeraCrypt],
    Self::NoChoiceOfHash => [Usage Request, LeaveHashOut],
    Self::NoBitLockerBeginning(path) => [Usage Request, SearchMetadata; path],
    Self::NothingToRepair(path) => [Usage Request, SearchOrRestoreHeader; path],
    Self::NoBackupFile => [Usage Request, NameBackupFile],
    Self::OneStandardInput => [Usage Request, OneOnStandardInput],
    Self::RecoveryAndPassword => [Usage Request, LeaveOutOne],
    Self::NoPassword(SecretRole::Own) => [Usage Request, GiveSecret],
    Self::NoPassword(SecretRole::New) => [Usage Request, GiveNewSecret],
    Self::NoPassword(SecretRole::Drive) => [Usage Request, GiveDrivePassword],
    Self::NoPassword(SecretRole::NewOfDrive) => [Usage Request, GiveNewDrivePassword],
    Self::NoPassword(SecretRole::Hidden) => [Usage Request, GiveHiddenSecret],
    Self::NoPassword(SecretRole::Protected) => [Usage Request, GiveProtectSecret],
    Self::EmptyPassword(path) => [Usage Request, WritePassword; path],
    Self::PasswordTooLong { path, .. } => [Usage Request, ShorterOrKeyfile; path],
    Self::Descriptor { .. } => [Usage Request, OpenDescriptor],
    Self::PastEnd { .. } => [Usage Request, AskForLess],
    Self::NotStandardOutput => [Usage Request, NameFile],
    Self::LabelOfNothing => [Usage Request, NameFileSystem],
    Self::MountOptionsOfFiles => [Usage Request, LeaveOutMountOptions],
    Self::CacheWithHidden => [Usage Request, LeaveOutCache],
    Self::DiscardsAroundHidden => [Usage Request, LeaveOutDiscards],
    Self::NothingToProtect => [Usage Request, LeaveOutReadOnly],
    Self::MountNeedsDevice => [Usage Request, OtherWayOrNoMount],
    Self::IdleClients => [Usage Request, OtherWayOrNotIdle],
    Self::CacheNeedsLoop => [Usage Request, OtherWayOrNoCache],
    Self::KernelProtectsNothing => [Usage Request, NotByKernel],
    Self::MountPointNotFolder(path) => [Usage Request, MakeMountPoint; path],
    Self::MountPointRoot => [Usage Request, MakeMountPoint],
    Self::NoMountPoint(path) => [NotFound State, MakeFolder { path: path.clone() }; path],
    Self::NoUnprovenPort => [Usage Request, LeaveOutAnyUser],
    Self::Unproven { by_nvme: false, .. } => [Usage Request, LoopbackOrTls],
    Self::Unproven { by_nvme: true, .. } => [Usage Request, LoopbackOrSecret],
    Self::VolumeFirst { path, .. } => [NotFound State, VolumeFirst; path],
    Self::NeedsNewFolder => [Usage Request, NameNewFolder],
    Self::GetIntoFolder(path) => [NotSuitable State, MakeFolder { path: path.clone() }; path],
    Self::GetOneOfThem(_) => [NotSuitable State, GetBoth],
    Self::NoNewName(path) => [Usage Request, NameFolderOrNewFile; path],
    Self::PutNotAFile(path) => [Usage Request, OnlyFilesAndFolders; path],
    Self::PutNoLength(path) => [Usage Request, CopyItFirst; path],
    Self::PutIntoFolder(_) => [NotSuitable State, NameFolderInVolume],
    Self::PutOneOfThem { .. } => [NotSuitable State, PutAll],
    Self::NoSuchFolder(_) => [NotFound State, LeaveSlashOut],
    Self::TooMuchToPut(path) => [Usage Request, PutFilesSingly; path],
} }

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
        Self::System { doing, path: path.to_owned(), source: ended_early(source) }
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

impl From<ConversionRefusal> for Error {
    fn from(refusal: ConversionRefusal) -> Self {
        ConversionError::from(refusal).into()
    }
}

/// Puts the volume to an error of a crate below.
pub(crate) fn about<E: Into<Error>>(path: &Path) -> impl Fn(E) -> Error + '_ {
    |error| error.into().at(path)
}
