//! The library's errors in words for people.

use crate::failure::{Exit, Failure};
use crate::volume::about;
use keyway::{Error, Misuse};
use keyway_error::Kind;
use std::fmt;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::At { path, error } => about(&path, *error),
            Error::System { doing, path, source } => Self::io(doing, &path, &source),
            Error::Folder(path) => Self::new(
                Exit::Failed,
                format!("{} is a folder", path.display()),
                "name a volume's file or a block device",
            )
            .kind(Kind::NotSuitable),
            Error::HalfConverted { ref path, .. } => {
                let hint = format!(
                    "where nothing is at work on it, go on with `keyway resume {}`; nothing is lost",
                    path.display()
                );
                Self::new(Exit::Failed, error.to_string(), hint).kind(Kind::Converting)
            }
            Error::Misuse(misuse) => misuse.into(),
            Error::NoStartupKey(_) => Self::new(
                Exit::WrongSecret,
                error.to_string(),
                "name the startup key's file; Windows hides it on the drive it was saved to",
            )
            .kind(Kind::StartupKey),
            Error::FileSystemInFront(_) => Self::new(
                Exit::Failed,
                error.to_string(),
                "the metadata is what is left of a volume that was here before; what is in that can be read with \
                 --format bitlocker",
            )
            .kind(Kind::HasAFilesystem),
            Error::DamagedAgain => Self::new(
                Exit::Failed,
                error.to_string(),
                "copy the volume to another drive: this one is failing",
            ),
            Error::Answer(source) => match source.downcast::<Self>() {
                Ok(failure) => *failure,
                Err(source) => Self::new(Exit::Failed, source.to_string(), ""),
            },
            Error::Stopped => Self::new(Exit::Failed, "interrupted", "").kind(Kind::Interrupted),
            Error::Store(e) => e.into(),
            Error::Device(e) => e.into(),
            Error::Layout(e) => e.into(),
            Error::VeraCrypt(e) => e.into(),
            Error::BitLocker(e) => e.into(),
            Error::Header(e) => e.into(),
            Error::Create(e) => e.into(),
            Error::CreateBitLocker(e) => e.into(),
            Error::Backup(e) => e.into(),
            Error::Protectors(e) => e.into(),
            Error::Tpm(e) => e.into(),
            Error::Conversion(e) => e.into(),
            Error::Session(e) => e.into(),
            Error::Converting(e) => e.into(),
            Error::Attach(e) => e.into(),
            Error::Files(e) => e.into(),
            other => Self::new(Exit::Failed, other.to_string(), ""),
        }
    }
}

impl From<Misuse> for Failure {
    fn from(misuse: Misuse) -> Self {
        let message = misuse.to_string();
        match misuse {
            Misuse::NotBitLocker(_) => Self::usage(
                format!("{message}, and only these have recovery passwords, startup keys and TPMs"),
                "give its password or keyfiles",
            ),
            Misuse::NoKeyfiles => Self::usage(
                message,
                "give its password, recovery password (--recovery-password) or startup key (--startup-key)",
            ),
            Misuse::NothingHidden => Self::usage(message, "leave out the --protect-… options"),
            Misuse::SizeOfADevice => {
                Self::usage(format!("{message}; --size is for files"), "leave --size out")
            }
            Misuse::NoSize => Self::usage(message, "add --size SIZE, such as --size 512M or --size 10G"),
            Misuse::NoHidden => Self::usage(message, "leave out --hidden"),
            Misuse::NoBitLockerBeginning(_) => {
                Self::usage(message, "if it is one whose first sector is lost, add --format bitlocker")
            }
            Misuse::NothingToRepair(_) => Self::usage(
                message,
                "if it is one whose first sector is lost, add --format bitlocker; a VeraCrypt or TrueCrypt \
                 volume's header is restored by `keyway header restore`",
            ),
            Misuse::NoBackupFile => Self::usage(
                message,
                "name the file; from a copy on the volume itself: `keyway header repair`",
            ),
            Misuse::OneStandardInput => {
                Self::usage(message, "give one of them with --…password-fd N or in a file")
            }
            Misuse::RecoveryAndPassword => Self::usage(message, "one of them is enough"),
            Misuse::NoPassword => Self::usage(
                "no password was given and there is no terminal to ask on",
                "use --password-file FILE (`-` is standard input), --password-fd N or --keyfile PATH",
            ),
            Misuse::PasswordTooLong { .. } => {
                Self::usage(message, "use a shorter password, or give the file as --keyfile")
            }
            Misuse::Descriptor { .. } => {
                Self::usage(message, "open it before: keyway … --password-fd 3 3<FILE")
            }
            Misuse::PastEnd { .. } => {
                Self::usage(message, "ask for less; `keyway info` tells the volume's size")
            }
            _ => Self::usage(message, ""),
        }
    }
}

/// So that the library carries it from whoever was asked for a secret to whoever asked.
impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
