//! What was asked for and makes no sense, as data.

use crate::secret_role::SecretRole;
use keyway_error::explain;
use keyway_volume::bitlocker::Protection;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

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
    /// A cipher of BitLocker's for a volume that will be none.
    #[error("{0} is a BitLocker volume's cipher")]
    CipherOfBitLocker(String),
    /// A volume that would open by nothing: its keyfiles go, and it has no password.
    #[error("without keyfiles nothing would be left that opens the volume: it has no password")]
    NothingWouldOpen,
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
    /// A volume as a keyfile of its own, or a folder that it is in.
    #[error("{} is the volume itself, or a folder that it is in: what is in it changes, so it can't be a keyfile of it", .0.display())]
    OwnKeyfile(PathBuf),
    /// A socket where a secret is to be read from a file.
    #[error("{} is a socket: no secret can be read from it", .0.display())]
    Socket(PathBuf),
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
    Self::PasswordOnly => [Usage Request, NewPasswordOrStartupKey],
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
    Self::CipherOfBitLocker(_) => [Usage Request, MakeItBitLocker],
    Self::NothingWouldOpen => [Usage Request, GiveNewSecret],
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
    Self::OwnKeyfile(path) => [Keyfile State, NameKeyfilesApart; path],
    Self::Socket(path) => [NotSuitable State, NameFileOrPipe; path],
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
