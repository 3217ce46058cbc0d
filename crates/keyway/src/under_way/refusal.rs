//! Why a conversion isn't begun, or not as it was asked for, as data. Nothing was changed.

use keyway_convert::ConversionKind;
use keyway_error::explain;
use keyway_fs::resize::ResizeToolError;
use keyway_store::size::words;
use std::path::PathBuf;

/// Why a conversion isn't begun, or not as it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionRefusal {
    /// Free space of a volume that gets another format, or of a VeraCrypt volume, is re-encrypted like the rest.
    #[error("only a BitLocker volume that stays one is re-encrypted without its free space")]
    UsedSpaceOnly,
    /// A file is made larger only for a volume that needs more room.
    #[error("a volume that keeps its format keeps its size when it is re-encrypted")]
    KeepsItsSize,
    /// What only BitLocker volumes have, for one that is and stays a VeraCrypt volume.
    #[error("only a BitLocker volume has a recovery password or a startup key")]
    NotBitLocker,
    /// The same where a conversion goes on.
    #[error("only a BitLocker volume has a recovery password, a startup key or a TPM")]
    NotBitLockers,
    /// A new secret beside the old one, where there is no old one.
    #[error("only a volume that is encrypted already has a new secret beside the old one")]
    NothingEncrypted,
    /// The same where a conversion goes on that is none.
    #[error("only a re-encryption has a new secret beside the old one")]
    NoNewSecret,
    /// Free space that is filled or trimmed while somebody may write to it.
    #[error("while it is in use a volume's free space may come into use, and can't be filled or trimmed")]
    FreeSpaceInUse,
    /// An encryption of what is a BitLocker volume.
    #[error("{} is a BitLocker volume already", .0.display())]
    BitLockerAlready(PathBuf),
    /// There is nothing to encrypt.
    #[error("there is no file system on {} that is known here", .0.display())]
    NoFileSystem(PathBuf),
    /// A device that shall grow.
    #[error("only files can be made larger")]
    DeviceCantGrow,
    /// There is no room behind the file system, and it can't be made smaller.
    #[error("{} are missing for headers and journal", words(*missing))]
    CantShrink {
        /// How many.
        missing: u64,
        /// Which file system.
        filesystem: keyway_fs::FileSystemKind,
        /// It is in a file, which could grow.
        is_file: bool,
    },
    /// The file system's own tool has not made it smaller.
    #[error("{error}")]
    TooFull {
        /// Why.
        #[source]
        error: ResizeToolError,
        /// How many bytes are missing behind it.
        missing: u64,
        /// Which file system.
        filesystem: keyway_fs::FileSystemKind,
        /// It is in a file, which could grow.
        is_file: bool,
    },
    /// Its tool has, and it isn't.
    #[error("the file system in {} did not get small enough", .0.display())]
    StillTooLarge(PathBuf),
    /// It is not what it was when it was looked at.
    #[error("the file system on {} was changed by somebody else meanwhile", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// Its encryption was begun, and has changed nothing; and since then it got larger.
    #[error("the file system on {} is larger than when its encryption was begun", path.display())]
    Grown {
        /// The file or device.
        path: PathBuf,
        /// Bytes that it had.
        bytes: u64,
    },
    /// What opens a volume, for a file system that becomes a BitLocker volume.
    #[error("there is no volume yet that anything could open")]
    NothingToOpen,
    /// The To Go layout for a BitLocker volume that is made in place.
    #[error("no BitLocker volume that is made in place has the To Go layout")]
    NoToGo,
    /// More room for a VeraCrypt volume that becomes a BitLocker volume.
    #[error("there is room enough for a BitLocker volume's metadata where VeraCrypt's headers were")]
    RoomEnough,
    /// A VeraCrypt volume's keyfiles or PIM, for the BitLocker volume that it becomes.
    #[error("a BitLocker volume has no keyfiles and no PIM, so it can't have the secret of this volume")]
    NotItsSecret,
    /// A hash for the BitLocker volume that a VeraCrypt volume becomes.
    #[error(
        "the hash is the new volume's, and a BitLocker volume has no choice of one; the old volume's is found out"
    )]
    NewOnesHash,
    /// A VeraCrypt volume in a file that is too small for a BitLocker volume.
    #[error("{size} bytes are too few")]
    TooSmallForBitLocker {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        size: u64,
        /// Those of the smallest BitLocker volume.
        least: u64,
    },
    /// A VeraCrypt volume that is too small for what a conversion needs within it.
    #[error("{size} bytes are too few for a conversion in place")]
    TooSmallToConvert {
        /// The file or device.
        path: PathBuf,
        /// Its bytes.
        size: u64,
        /// Those of the smallest volume that can be converted.
        least: u64,
    },
    /// Keyfiles or a PIM for the BitLocker volume that becomes a VeraCrypt volume.
    #[error(
        "a BitLocker volume has no keyfiles and no PIM; the VeraCrypt volume that it becomes can have them"
    )]
    NewOnesSecret,
    /// A recovery password that is to be shown to whoever uses the volume meanwhile.
    #[error("in use, the answer is told to whoever uses the volume, and a recovery password is not for them")]
    ShownToUsers,
    /// A device whose headers have no place while its format changes.
    #[error(
        "from one format to the other a device's headers can't stay on it, so they are kept in a file meanwhile"
    )]
    NeedsJournalFile,
    /// Two secrets from standard input.
    #[error("two passwords can't both come from standard input")]
    OneStandardInput,
    /// What only BitLocker volumes have, for one that becomes a VeraCrypt volume.
    #[error("a VeraCrypt volume has no recovery password, no startup key and no To Go layout")]
    NotVeraCrypts,
    /// New protectors for a BitLocker volume that is re-encrypted.
    #[error("a BitLocker volume keeps its protectors when it is re-encrypted")]
    KeepsProtectors,
    /// Free space of an encrypted volume that is filled or trimmed.
    #[error("what is free in an encrypted volume is noise already, and under another key it stays so")]
    FreeIsNoise,
    /// It was interrupted before it had changed anything, and nothing of it is left.
    #[error("the {} was interrupted before it had begun; nothing was changed", conversion.name())]
    NotBegun {
        /// What was to be done.
        conversion: ConversionKind,
        /// The format that the volume was to get, where that was another.
        new_format: Option<&'static str>,
    },
    /// All of it was done already but for its traces.
    #[error("the conversion of {} was through but for its traces, and these are gone now", .0.display())]
    WasThrough(PathBuf),
    /// The thread that converts ended without a word.
    #[error("the conversion of {} ended by itself", .0.display())]
    EndedByItself(PathBuf),
    /// Nobody converts it.
    #[error("{} is not being converted just now", .0.display())]
    NotConverted(PathBuf),
    /// It was paused or interrupted before.
    #[error("the conversion of {} is paused already", .0.display())]
    PausedAlready(PathBuf),
    /// Whoever converts it does not stop.
    #[error("process {0} does not stop")]
    DoesNotStop(i32),
}

explain! { ConversionRefusal {
    Self::UsedSpaceOnly => [Request, ConvertAllSpace],
    Self::KeepsItsSize => [Request, ResizeInstead],
    Self::NotBitLocker => [Request, LeaveOutOrBitLocker],
    Self::NotBitLockers => [Request, GivePasswordOrKeyfiles],
    Self::NothingEncrypted => [Request, OwnSecretOrReencrypt],
    Self::NoNewSecret => [Request, LeaveOutNewSecret],
    Self::FreeSpaceInUse => [Request, LeaveFreeSpaceOrOffline],
    Self::BitLockerAlready(path) => [Request, ResumeOrReencrypt { path: path.clone() }; path],
    Self::NoFileSystem(path) => [Contents, CreateOrReencrypt; path],
    Self::DeviceCantGrow => [Request, LeaveOutGrow],
    Self::CantShrink { missing, filesystem, is_file: true } =>
        [NoRoom Request, CantShrinkSoGrowFile { filesystem: filesystem.to_string(), bytes: *missing }],
    Self::CantShrink { missing, filesystem, is_file: false } =>
        [NoRoom Request, CantShrinkSoGrowPartition { filesystem: filesystem.to_string(), bytes: *missing }],
    Self::TooFull { is_file: true, .. } => [NoRoom Request, GrowFileInstead],
    Self::TooFull { missing, filesystem, .. } =>
        [NoRoom Request, MakeRoomOrGrowPartition { filesystem: filesystem.to_string(), bytes: *missing }],
    Self::StillTooLarge(path) => [State, CheckWithTools; path],
    Self::ChangedMeanwhile(path) => [InUse, TryWhenUnused; path],
    Self::Grown { path, bytes } => [NoRoom State, ShrinkAndResume { bytes: *bytes }; path],
    Self::NothingToOpen => [Request, NewKeysOnly],
    Self::NoToGo => [Request, LeaveOutToGo],
    Self::RoomEnough => [Request, LeaveOutGrow],
    Self::NewOnesSecret => [Request, GiveThemToTheNew],
    Self::NotItsSecret => [Request, GiveNewPasswordOrNone],
    Self::NewOnesHash => [Request, LeaveHashOut],
    Self::TooSmallForBitLocker { path, least, .. } =>
        [Request, ResizeForBitLocker { path: path.clone(), bytes: *least }; path],
    Self::TooSmallToConvert { path, least, .. } =>
        [Request, ResizeForConversion { path: path.clone(), bytes: *least }; path],
    Self::ShownToUsers => [Request, NameRecoveryFileOrNone],
    Self::NeedsJournalFile => [Request, NameJournalElsewhere],
    Self::OneStandardInput => [Request, GiveOneFromAFile],
    Self::NotVeraCrypts => [Request, LeaveOutNewKeys],
    Self::KeepsProtectors => [Request, LeaveOutProtectors],
    Self::FreeIsNoise => [Request, LeaveOutFreeSpace],
    Self::NotBegun { new_format: Some(format), .. } =>
        [NotBegun State, BeginReencryption { format: (*format).to_owned() }],
    Self::NotBegun { conversion: ConversionKind::Decryption, .. } => [NotBegun State, BeginDecryption],
    Self::NotBegun { conversion: ConversionKind::Encryption | ConversionKind::Reencryption, .. } =>
        [NotBegun State, BeginEncryption],
    Self::WasThrough(path) => [Request, OpenIt { path: path.clone() }; path],
    Self::EndedByItself(path) => [Ours, ResumeVolume { path: path.clone() }; path],
    Self::PausedAlready(path) => [Paused State, ResumeVolume { path: path.clone() }; path],
    Self::NotConverted(path) => [Request, AskStatus; path],
    Self::DoesNotStop(_) => [InUse, WaitForDrive],
} }
