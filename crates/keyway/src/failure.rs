//! What went wrong, in words for people and scripts, and the exit code that goes with it.

use keyway_attach::AttachError;
use keyway_engine::{DeviceError, LayoutError};
use keyway_lab::LabError;
use keyway_store::StoreError;
use keyway_volume::bitlocker::{self, BitLockerError};
use keyway_volume::mkfs::MkfsError;
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
    /// The stable word for the JSON error document where nothing more precise is known.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::WrongSecret => "wrong-secret",
            Self::NotAVolume => "not-a-volume",
            Self::NotPermitted => "not-permitted",
            Self::Busy => "busy",
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
    /// A stable word for scripts.
    pub(crate) kind: String,
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
            kind: exit.kind().to_owned(),
            message: message.into(),
            hint: hint.into(),
            detail: serde_json::Value::Null,
        }
    }

    /// The same with a more precise word for scripts.
    pub(crate) fn kind(mut self, kind: &str) -> Self {
        kind.clone_into(&mut self.kind);
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

    /// A system call on a path that failed, sorted by errno.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let (exit, kind, hint) = sort_io(error);
        Self::new(exit, format!("could not {doing} {}: {error}", path.display()), hint).kind(kind)
    }
}

/// Exit code, word and advice for an error of the operating system.
fn sort_io(error: &io::Error) -> (Exit, &'static str, &'static str) {
    use io::ErrorKind as K;
    match error.kind() {
        K::NotFound => (Exit::Failed, "not-found", "check the path"),
        K::PermissionDenied => {
            (Exit::NotPermitted, "not-permitted", "run it as a user who may do that, or as root with sudo")
        }
        K::ReadOnlyFilesystem => (
            Exit::NotPermitted,
            "read-only",
            "it can only be read here: use --read-only, or make it writable",
        ),
        K::ResourceBusy | K::ExecutableFileBusy => {
            (Exit::Busy, "busy", "close whatever uses it (`keyway status`, `lsof`) and try again")
        }
        K::AlreadyExists => (Exit::Failed, "exists", "choose another name, or move the old one away"),
        K::StorageFull | K::QuotaExceeded => {
            (Exit::Failed, "no-space", "free some space, or choose a smaller size")
        }
        K::UnexpectedEof => {
            (Exit::NotAVolume, "too-short", "the file ends too early: check that it was copied completely")
        }
        K::OutOfMemory => (Exit::NotPermitted, "no-memory", "close other programs, or add swap space"),
        K::IsADirectory => (Exit::Failed, "not-suitable", "it is a folder: name a file"),
        K::InvalidInput => (Exit::Failed, "not-suitable", "name a regular file or a block device"),
        _ => (Exit::Failed, "io", "look at the system's log (`dmesg`) for the drive's own report"),
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (exit, kind, hint) = sort_io(&error.source);
        let message = match error.operation {
            keyway_store::Operation::Open => format!("could not open {}: {}", error.what, error.source),
            _ => error.to_string(),
        };
        Self::new(exit, message, hint).kind(kind)
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Store(error) => error.into(),
            DeviceError::PastEnd { .. } => {
                Self::usage(error.to_string(), "ask for less; `keyway info` tells the volume's size")
            }
            DeviceError::ReadOnly => {
                Self::new(Exit::NotPermitted, error.to_string(), "open it without --read-only")
                    .kind("read-only")
            }
            DeviceError::HiddenVolume => {
                Self::new(Exit::Failed, error.to_string(), "close it; what was written before is safe")
                    .kind("hidden-volume")
            }
            DeviceError::LostWrites => {
                Self::new(Exit::Failed, error.to_string(), "open it again, and check the file system inside")
                    .kind("lost-writes")
            }
            DeviceError::Metadata(_) => Self::new(Exit::Failed, error.to_string(), "").kind("metadata"),
        }
    }
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
                .kind("wrong-protection-secret")
                .hint("check the hidden volume's secret (--protect-…); without it use --read-only"),
            E::NoSecret => told.hint("use --password-file FILE, --password-fd N or --keyfile PATH"),
            E::PasswordTooLong { .. } => told.hint("check that the file holds the password and nothing else"),
            E::NotAVolume(NotAVolume::Empty | NotAVolume::TooSmall(_)) => told.hint(NAME_IT),
            E::NotAVolume(_) => told.hint(NAME_ANOTHER),
            E::DamagedHeader { .. } => told.kind("damaged"),
            E::Layout(_) => told.kind("damaged").hint("restore the header: keyway header restore VOLUME"),
            E::Unsupported(_) => told.kind("unsupported"),
            E::Keyfile { .. } => told.kind("keyfile").hint("check the path; an empty file is no keyfile"),
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
            E::BootSector(_) | E::NoMetadata(_) | E::Impossible(_) | E::DamagedKey(_) => told.kind("damaged"),
            E::HalfConverted => told.kind("converting"),
            E::Tampered => told.kind("tampered"),
            E::Unsupported(_) => told.kind("unsupported"),
            E::NoSuchProtector { .. } => told.kind("no-such-protector").hint(ALL_SECRETS),
            E::NoSecret(_) => told.kind("no-secret").hint(ALL_SECRETS),
            E::WrongPassword => told.hint("check the password, and that this is the right file or device"),
            E::MistypedRecoveryPassword(_) => told.kind("mistyped-recovery-password"),
            E::WrongRecoveryPassword(_) => told.kind("wrong-recovery-password"),
            E::OtherStartupKey { .. } => {
                told.kind("other-startup-key").hint("name the .BEK file of that identifier")
            }
            E::WrongStartupKey(_) => told.kind("wrong-startup-key"),
            E::NotAStartupKey { .. } => told.kind("startup-key"),
            E::Stopped => told.kind("interrupted"),
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
            E::NoSuchProtector(_) => told.kind("no-such-protector"),
            E::HasOne(_) => told.kind("exists"),
            E::LastProtector(_) | E::NothingToResume => told.kind("last-protector"),
            E::NotSuspended => told.kind("not-suspended"),
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
            E::Full(_) => told.kind("no-space"),
            E::Nothing(e) if e.source.kind() == io::ErrorKind::PermissionDenied => {
                Self { exit: Exit::NotPermitted, ..told }.kind("not-permitted")
            }
            E::Nothing(_) => {
                told.kind("io").hint("look at the system's log (`dmesg`) for the drive's own report")
            }
            E::Partly(_) => told.kind("partly-written"),
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
                told.kind("not-a-backup").hint("name a file that `keyway header backup` wrote")
            }
            E::OtherVolume { .. } | E::OtherSize { .. } => {
                Self { exit: Exit::Failed, ..told }.kind("other-volume").hint("use --force if you are sure")
            }
            E::Remains { .. } => Self { exit: Exit::Failed, ..told }
                .kind("ambiguous")
                .hint("copy what is in it: open it read-only"),
            E::OtherKey => {
                Self { exit: Exit::Failed, ..told }.kind("other-key").hint("use --force if you are sure")
            }
            E::Write(e) => e.into(),
            E::FirstSector(_) => Self { exit: Exit::Failed, ..told }.kind("partly-written"),
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
            E::Unsupported(_) => told.kind("unsupported"),
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
            E::Unsupported(_) => told.kind("unsupported"),
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
            E::FileSystem(MkfsError::Missing(_)) => told.kind("missing"),
            E::FileSystem(MkfsError::Refused { .. }) => {
                told.kind("filesystem").hint("take another file system, or a larger volume")
            }
            E::FileSystem(_) => told.kind("filesystem"),
            E::Exists(_) => told.kind("exists"),
            E::NoSpace { .. } => told.kind("no-space"),
            E::InUse { .. } => told.kind("in-use"),
            E::Stopped => told.kind("interrupted"),
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
            E::FileSystem(MkfsError::Missing(_)) => told.kind("missing"),
            E::FileSystem(MkfsError::Refused { .. }) => {
                told.kind("filesystem").hint("take another file system, or a larger volume")
            }
            E::FileSystem(_) | E::FileSystemNotOffered(_) | E::Allocation(_) => told.kind("filesystem"),
            E::Stopped => told.kind("interrupted"),
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
            E::System(_) => told.kind("encrypted-system"),
            E::SystemElsewhere => told.kind("encrypted-system"),
            E::OtherExtent { .. } => told.kind("other-extent").hint(
                "restore a backup made after the encryption ended; --force restores this one all the same",
            ),
            E::OtherMasterKeys => {
                told.kind("other-master-keys").hint("check the backup; --force restores it all the same")
            }
            E::NotABackup { .. } => {
                told.kind("not-a-backup").hint("name a file that `keyway header backup` or VeraCrypt wrote")
            }
            E::IsHidden => told
                .kind("is-hidden")
                .hint("give the outer volume's secret, and the hidden one's as --hidden-…"),
            E::NotHidden => told.kind("not-hidden").hint("give the hidden volume's secret as --hidden-…"),
            _ => told,
        }
    }
}

impl From<AttachError> for Failure {
    fn from(error: AttachError) -> Self {
        use AttachError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Device(error) => error.into(),
            E::AlreadyOpen { .. } => told.kind("already-open"),
            E::NotOpen(_) => told.kind("not-open"),
            E::Missing { .. } => told.kind("missing"),
            E::Mount { .. } => {
                told.kind("mount").hint("open it without a mount point and look at what is inside")
            }
            E::NoAnswer { .. } => {
                told.kind("no-answer").hint("try again; `keyway status` tells what is open")
            }
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
            LabError::WouldDestroy { .. } => told.kind("would-destroy"),
            LabError::TooSmall { .. } => told.kind("too-small"),
            LabError::Differs { .. } => told.kind("verify"),
            LabError::NoSpace { .. } => told.kind("no-space"),
            LabError::Workload { .. } => told.kind("workload"),
            LabError::NoSuchWorkload(_) => told.kind("no-such-workload"),
            LabError::Stopped => Self::new(Exit::Failed, "stopped", "").kind("interrupted"),
            _ => told,
        }
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Self::new(Exit::NotAVolume, error.to_string(), "check that the file was copied completely")
            .kind("damaged")
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
