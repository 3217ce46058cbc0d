//! Why something could not be done, as data: what a person reads is the front's to say.

mod misuse;

pub use crate::conversion::{ConversionError, ConversionRefusal};
pub use crate::disk::DiskError;
pub use crate::drive::DriveError;
pub use crate::favourites::FavouriteError;
pub use crate::resize::ResizeError;
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
use keyway_volume::bitlocker::BitLockerError;
pub use misuse::Misuse;
use std::io;
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
    /// What can be no header's backup was named as one.
    #[error("{} is {what}, and no file with a header's backup", path.display())]
    NoBackup {
        /// It.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// There is no header of an encrypted system in what was named for it.
    #[error("{} holds no header of an encrypted system: it is too short for one, or what lies there is not random", .0.display())]
    NoSystemHeader(PathBuf),
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
    #[error("the system gives no random numbers: {0}")]
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

explain! { Error, through Misuse | Disk | Store | Device | Layout | Cipher | Resizing | VeraCryptSize | BitLockerSize | Room
    | VeraCrypt | BitLocker | Header | Create | CreateBitLocker | Backup | Protectors | Tpm | Conversion | Converting
    | Session | Attach | Drive | Favourite | Files
{
    // What names a file itself, as a keyfile's error does, is about that one.
    Self::At { path, error } => {
        let meaning = error.explain();
        if meaning.path.is_some() { meaning } else { meaning.about(path) }
    },
    Self::CanOnlyBeRead(error) => {
        let mut meaning = error.explain();
        meaning.advice = vec![Advice::ReadOnlyOrAsWriter];
        meaning
    },
    Self::System { path, source, .. } => { explain_io(source).about(path) },
    Self::NoBackup { path, .. } => [NotSuitable State, NameHeaderBackup; path],
    Self::NoSystemHeader(path) => [NotAVolume Contents, NameSystemHeader; path],
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

/// The error's own words, behind the volume's name where they don't name it.
fn named(path: &Path, error: &Error) -> String {
    match error.path() {
        Some(named) if named == path => error.to_string(),
        _ => format!("{}: {error}", path.display()),
    }
}

impl Error {
    /// What the system said, where it was that which failed; else all of it.
    pub fn reason(&self) -> String {
        match self {
            Self::System { source, .. } => source.to_string(),
            other => other.to_string(),
        }
    }

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
