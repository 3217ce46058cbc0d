//! What went wrong, in words for people and scripts, and the exit code that goes with it.

#[cfg(test)]
mod reference;
#[cfg(test)]
mod samples;

use crate::words;
use keyway_attach::AttachError;
use keyway_convert::ConvertError;
use keyway_engine::{DeviceError, LayoutError};
use keyway_error::{Advice, Explain, Fault, Kind, Meaning, explain_io};
use keyway_fs::allocation::AllocationError;
use keyway_fs::files::FilesError;
use keyway_fs::mkfs::MkfsError;
use keyway_fs::resize::RoomError;
use keyway_lab::LabError;
use keyway_store::StoreError;
use keyway_volume::bitlocker::tpm::TpmProtectorError;
use keyway_volume::bitlocker::{self, BitLockerError};
use keyway_volume::veracrypt::{ChangeError, CreateError};
use keyway_volume::{NotAVolume, VolumeError};
use std::io;
use std::path::Path;

/// The exit codes that scripts rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It failed.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// No key opened it.
    WrongSecret = 3,
    /// Not a volume we know, or a damaged one.
    NotAVolume = 4,
    /// Not permitted, or this machine lacks what it needs.
    NotPermitted = 5,
    /// Busy.
    Busy = 6,
}

impl Exit {
    /// The code that tells scripts whose fault it was: the one table of exit codes.
    pub(crate) const fn of(fault: Fault) -> Self {
        match fault {
            Fault::Request => Self::Usage,
            Fault::Secret => Self::WrongSecret,
            Fault::Contents => Self::NotAVolume,
            Fault::Machine => Self::NotPermitted,
            Fault::InUse => Self::Busy,
            _ => Self::Failed,
        }
    }

    /// The kind where nothing more precise is known.
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Failed => Kind::Failed,
            Self::Usage => Kind::Usage,
            Self::WrongSecret => Kind::WrongSecret,
            Self::NotAVolume => Kind::NotAVolume,
            Self::NotPermitted => Kind::NotPermitted,
            Self::Busy => Kind::Busy,
        }
    }

    /// The code of a process that ended with this number; anything unknown is a failure.
    pub(crate) const fn from_code(code: u8) -> Self {
        match code {
            2 => Self::Usage,
            3 => Self::WrongSecret,
            4 => Self::NotAVolume,
            5 => Self::NotPermitted,
            6 => Self::Busy,
            _ => Self::Failed,
        }
    }
}

/// Why a verb failed: one line what is wrong, one what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// Which kind of failure; scripts know it by its word.
    pub(crate) kind: Kind,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it; empty where nothing helps.
    pub(crate) hint: String,
    /// What else the JSON document says, beside the error.
    pub(crate) detail: serde_json::Value,
}

impl Failure {
    /// A failure whose kind is the exit code's own word.
    pub(crate) fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            exit,
            kind: exit.kind(),
            message: message.into(),
            hint: hint.into(),
            detail: serde_json::Value::Null,
        }
    }

    /// The same with a more precise kind.
    pub(crate) fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same with another advice.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same with more advice behind its own.
    pub(crate) fn also(mut self, more: &str) -> Self {
        if !self.hint.is_empty() {
            self.hint.push_str("; ");
        }
        self.hint.push_str(more);
        self
    }

    /// The same with more for the JSON document: an object whose keys stand beside `error`.
    pub(crate) fn with(mut self, detail: serde_json::Value) -> Self {
        self.detail = detail;
        self
    }

    /// Whether somebody made the file or device shorter while it was looked at: another look sees what it is now.
    pub(crate) fn is_shorter(&self) -> bool {
        self.hint == words::sentence(&Advice::WaitForItsSize)
    }

    /// Wrong usage.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message, hint)
    }

    /// An error of a crate below: its exit code, and its text, whose part after the first "; " is
    /// the advice.
    pub(crate) fn told(code: u8, text: &str) -> Self {
        let (message, hint) = text.split_once("; ").unwrap_or((text, ""));
        Self::new(Exit::from_code(code), message, hint)
    }

    /// What an error means, with the words that say what happened.
    pub(crate) fn meant(meaning: &Meaning, message: impl Into<String>) -> Self {
        Self::new(Exit::of(meaning.fault), message, words::sentences(&meaning.advice)).kind(meaning.kind)
    }

    /// A system call on a path that failed, sorted by errno.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::meant(&explain_io(error), format!("could not {doing} {}: {error}", path.display()))
    }
}

/// Failures of what the crates below explain.
macro_rules! explained {
    ($($error:ty,)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::meant(&error.explain(), error.to_string())
            }
        }
    )*};
}

explained! {
    StoreError, DeviceError, LayoutError, FilesError, RoomError, TpmProtectorError, AttachError,
}

impl From<VolumeError> for Failure {
    fn from(error: VolumeError) -> Self {
        use VolumeError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Store(error) => error.into(),
            E::WrongSecret { argon2id_skipped: Some(_) } => told,
            E::WrongSecret { argon2id_skipped: None } => told
                .hint("check the password, --keyfile and --pim, and that this is the right file or device"),
            E::WrongProtectionSecret => told
                .kind(Kind::WrongProtectionSecret)
                .hint("check the hidden volume's secret (--protect-…); without it use --read-only"),
            E::NoSecret => told.hint("use --password-file FILE, --password-fd N or --keyfile PATH"),
            E::PasswordTooLong { .. } => told.hint("check that the file holds the password and nothing else"),
            E::NotAVolume(NotAVolume::Empty | NotAVolume::TooSmall(_)) => told.hint(NAME_IT),
            E::NotAVolume(_) => told.hint(NAME_ANOTHER),
            E::DamagedHeader { .. } => told.kind(Kind::Damaged),
            E::Layout(_) => told.kind(Kind::Damaged).hint("restore the header: keyway header restore VOLUME"),
            E::Unsupported(_) => told.kind(Kind::Unsupported),
            E::Keyfile { .. } => told.kind(Kind::Keyfile).hint("check the path; an empty file is no keyfile"),
            E::PimTooLarge(_) | E::Cipher(_) => told,
        }
    }
}

impl From<BitLockerError> for Failure {
    fn from(error: BitLockerError) -> Self {
        use BitLockerError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Store(error) => error.into(),
            E::Layout(error) => error.into(),
            E::NotBitLocker(bitlocker::BootFault::Nowhere) => told.hint(NAME_IT),
            E::NotBitLocker(_) => told.hint(NAME_ANOTHER),
            E::BootSector(_) | E::NoMetadata(_) | E::Impossible(_) | E::DamagedKey(_) => {
                told.kind(Kind::Damaged)
            }
            E::HalfConverted => told.kind(Kind::Converting),
            E::Tampered => told.kind(Kind::Tampered),
            E::Unsupported(_) => told.kind(Kind::Unsupported),
            E::NoSuchProtector { .. } => told.kind(Kind::NoSuchProtector).hint(ALL_SECRETS),
            E::NoSecret(_) => told.kind(Kind::NoSecret).hint(ALL_SECRETS),
            E::WrongPassword => told.hint("check the password, and that this is the right file or device"),
            E::MistypedRecoveryPassword(_) => told.kind(Kind::MistypedRecoveryPassword),
            E::WrongRecoveryPassword(_) => told.kind(Kind::WrongRecoveryPassword),
            E::OtherStartupKey { .. } => {
                told.kind(Kind::OtherStartupKey).hint("name the .BEK file of that identifier")
            }
            E::WrongStartupKey(_) => told.kind(Kind::WrongStartupKey),
            E::NotAStartupKey { .. } => told.kind(Kind::StartupKey),
            E::Stopped => told.kind(Kind::Interrupted),
            E::WrongMasterKey | E::NotUtf8 | E::Cipher(_) => told,
        }
    }
}

const NAME_IT: &str = "name the file or device that holds the volume";

/// What to do about something that does not begin as a volume does.
const NAME_ANOTHER: &str = "name the file or device that holds the volume; of a BitLocker volume whose first \
     sector was overwritten, `keyway info --format bitlocker` looks for what is left";

/// The options that open a BitLocker volume.
const ALL_SECRETS: &str =
    "use --password-file FILE, --recovery-password DIGITS-OR-FILE, --startup-key FILE.BEK or --tpm";

impl From<bitlocker::ChangeError> for Failure {
    fn from(error: bitlocker::ChangeError) -> Self {
        use bitlocker::ChangeError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::NoSuchProtector(_) => told.kind(Kind::NoSuchProtector),
            E::HasOne(_) => told.kind(Kind::Exists),
            E::LastProtector(_) => told.kind(Kind::LastProtector).hint(
                "add another one first: keyway protector add; to destroy what is in the volume: keyway erase, or --last",
            ),
            E::LastSecret(_) => {
                told.kind(Kind::LastProtector).hint("add another one first: keyway protector add; or add --last")
            }
            E::NothingToResume => told.kind(Kind::LastProtector),
            E::NotSuspended => told.kind(Kind::NotSuspended),
            E::Make(_) | E::OtherKind { .. } => told,
            E::Write(e) => e.into(),
        }
    }
}

impl From<bitlocker::RewriteError> for Failure {
    fn from(error: bitlocker::RewriteError) -> Self {
        use bitlocker::RewriteError as E;
        let told = Self::told(1, &error.to_string());
        match &error {
            E::Full(_) => told.kind(Kind::NoSpace),
            E::Nothing(e) if e.source.kind() == io::ErrorKind::PermissionDenied => {
                Self { exit: Exit::NotPermitted, ..told }.kind(Kind::NotPermitted)
            }
            E::Nothing(_) => {
                told.kind(Kind::Io).hint("look at the system's log (`dmesg`) for the drive's own report")
            }
            E::Partly(_) => told.kind(Kind::PartlyWritten),
        }
    }
}

impl From<bitlocker::BackupError> for Failure {
    fn from(error: bitlocker::BackupError) -> Self {
        use bitlocker::BackupError as E;
        let told = Self::told(4, &error.to_string());
        match error {
            E::Open(e) => e.into(),
            E::Make(e) => e.into(),
            E::File { path, source } => Self::io("read", &path, &source),
            E::NotABackup { .. } => {
                told.kind(Kind::NotABackup).hint("name a file that `keyway header backup` wrote")
            }
            E::OtherVolume { .. } | E::OtherSize { .. } => Self { exit: Exit::Failed, ..told }
                .kind(Kind::OtherVolume)
                .hint("use --force if you are sure"),
            E::Remains { .. } => Self { exit: Exit::Failed, ..told }
                .kind(Kind::Ambiguous)
                .hint("copy what is in it: open it read-only"),
            E::OtherKey => {
                Self { exit: Exit::Failed, ..told }.kind(Kind::OtherKey).hint("use --force if you are sure")
            }
            E::Write(e) => e.into(),
            E::FirstSector(_) => Self { exit: Exit::Failed, ..told }.kind(Kind::PartlyWritten),
        }
    }
}

impl From<bitlocker::ResizeError> for Failure {
    fn from(error: bitlocker::ResizeError) -> Self {
        use bitlocker::ResizeError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Open(e) => e.into(),
            E::Write(e) => e.into(),
            E::Store(e) => e.into(),
            E::Unsupported(_) => told.kind(Kind::Unsupported),
            E::Random(_) | E::Size { .. } => told,
        }
    }
}

impl From<keyway_volume::veracrypt::ResizeError> for Failure {
    fn from(error: keyway_volume::veracrypt::ResizeError) -> Self {
        use keyway_volume::veracrypt::ResizeError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Open(e) => e.into(),
            E::Make(e) => e.into(),
            E::Store(e) => e.into(),
            E::Unsupported(_) => told.kind(Kind::Unsupported),
            E::Random(_) | E::Size { .. } => told,
        }
    }
}

impl From<CreateError> for Failure {
    fn from(error: CreateError) -> Self {
        use CreateError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Volume(error) => error.into(),
            E::Store(error) => error.into(),
            E::Layout(error) => error.into(),
            E::Cipher(error) => error.into(),
            E::FileSystem(MkfsError::Device(error)) => error.into(),
            E::FileSystem(MkfsError::Missing(_)) => told.kind(Kind::Missing),
            E::FileSystem(MkfsError::Refused { .. }) => {
                told.kind(Kind::Filesystem).hint("take another file system, or a larger volume")
            }
            E::FileSystem(_) => told.kind(Kind::Filesystem),
            E::Exists(_) => told.kind(Kind::Exists),
            E::NoSpace { .. } => told.kind(Kind::NoSpace),
            E::InUse { .. } => told.kind(Kind::InUse),
            E::Stopped => told.kind(Kind::Interrupted),
            _ => told,
        }
    }
}

impl From<bitlocker::CreateError> for Failure {
    fn from(error: bitlocker::CreateError) -> Self {
        use bitlocker::CreateError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Volume(error) => error.into(),
            E::Store(error) => error.into(),
            E::Layout(error) => error.into(),
            E::Cipher(error) => error.into(),
            E::FileSystem(MkfsError::Device(error)) => error.into(),
            E::FileSystem(MkfsError::Missing(_)) => told.kind(Kind::Missing),
            E::FileSystem(MkfsError::Refused { .. }) => {
                told.kind(Kind::Filesystem).hint("take another file system, or a larger volume")
            }
            E::Allocation(AllocationError::Store(error)) => error.into(),
            E::FileSystem(_) | E::FileSystemNotOffered(_) | E::Allocation(_) => told.kind(Kind::Filesystem),
            E::Stopped => told.kind(Kind::Interrupted),
            _ => told,
        }
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        use ChangeError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Open(error) => error.into(),
            E::Make(error) => error.into(),
            E::BackupFile { path, source } => Self::io("read", &path, &source),
            E::System(_) => told.kind(Kind::EncryptedSystem),
            E::SystemElsewhere => told.kind(Kind::EncryptedSystem),
            E::OtherExtent { .. } => told.kind(Kind::OtherExtent).hint(
                "restore a backup made after the encryption ended; --force restores this one all the same",
            ),
            E::OtherMasterKeys => {
                told.kind(Kind::OtherMasterKeys).hint("check the backup; --force restores it all the same")
            }
            E::NotABackup { .. } => {
                told.kind(Kind::NotABackup).hint("name a file that `keyway header backup` or VeraCrypt wrote")
            }
            E::IsHidden => told
                .kind(Kind::IsHidden)
                .hint("give the outer volume's secret, and the hidden one's as --hidden-…"),
            E::NotHidden => told.kind(Kind::NotHidden).hint("give the hidden volume's secret as --hidden-…"),
            _ => told,
        }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            LabError::Device(error) => error.into(),
            LabError::Store(error) => error.into(),
            LabError::WouldDestroy { .. } => told.kind(Kind::WouldDestroy),
            LabError::TooSmall { .. } => told.kind(Kind::TooSmall),
            LabError::Differs { .. } => told.kind(Kind::Verify),
            LabError::NoSpace { .. } => told.kind(Kind::NoSpace),
            LabError::Workload { .. } => told.kind(Kind::Workload),
            LabError::NoSuchWorkload(_) => told.kind(Kind::NoSuchWorkload),
            LabError::Stopped => Self::new(Exit::Failed, "stopped", "").kind(Kind::Interrupted),
            _ => told,
        }
    }
}

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Self {
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            ConvertError::Store(e) => e.into(),
            ConvertError::Volume(e) => e.into(),
            ConvertError::NoRoom { missing } => {
                told.kind(Kind::NoRoom).with(serde_json::json!({ "missing_bytes": missing }))
            }
            ConvertError::Unsupported(_) => told.kind(Kind::Unsupported),
            ConvertError::NoJournal => told.kind(Kind::NoJournal),
            ConvertError::ImpossibleRecord
            | ConvertError::RecordLost { .. }
            | ConvertError::JournalOlder
            | ConvertError::MediumOlder
            | ConvertError::Torn { .. }
            | ConvertError::Overwritten
            | ConvertError::Size { .. } => told.kind(Kind::Damaged),
            ConvertError::BitLocker(e) => e.into(),
            ConvertError::Metadata(e) => e.into(),
            ConvertError::Resize(e) => e.into(),
            ConvertError::NotConvertible(_) => told.kind(Kind::Unsupported),
            ConvertError::Allocation(AllocationError::Store(e)) => e.into(),
            ConvertError::Allocation(_) => told.kind(Kind::Filesystem),
            ConvertError::TooLong(_) | ConvertError::Device(_) | ConvertError::Layout(_) => told,
            ConvertError::Headers(_) | ConvertError::Random(_) => told,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_contract() {
        let all =
            [Exit::Failed, Exit::Usage, Exit::WrongSecret, Exit::NotAVolume, Exit::NotPermitted, Exit::Busy];
        assert_eq!(all.map(|e| e as u8), [1, 2, 3, 4, 5, 6]);
        for exit in all {
            assert_eq!(Exit::from_code(exit as u8), exit);
        }
    }

    #[test]
    fn advice_is_what_follows_the_semicolon() {
        let told = Failure::told(6, "it is open; close it");
        assert_eq!((told.exit, &*told.message, &*told.hint), (Exit::Busy, "it is open", "close it"));
        assert_eq!(Failure::told(1, "it is open").hint, "");
        assert_eq!(told.also("come back").hint, "close it; come back");
        assert_eq!(Failure::told(1, "it is open").also("come back").hint, "come back");
    }

    #[test]
    fn system_errors_find_their_code() {
        let of = |errno| Failure::io("open", Path::new("/x"), &io::Error::from_raw_os_error(errno)).exit;
        // Linux's EACCES, EBUSY, ENOSPC, EROFS.
        assert_eq!(of(13), Exit::NotPermitted);
        assert_eq!(of(16), Exit::Busy);
        assert_eq!(of(28), Exit::Failed);
        assert_eq!(of(30), Exit::NotPermitted);
    }
}
