//! Why a volume's headers could not be changed, backed up or restored.

use super::create_error::CreateError;
use super::params::{Format, HashName};
use super::place::Place;
use crate::VolumeError;
use keyway_store::StoreError;
use std::io;
use std::path::PathBuf;

/// A header that could not be changed, backed up or restored. Unless the message says otherwise,
/// everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The volume did not open.
    #[error(transparent)]
    Open(#[from] VolumeError),
    /// The new header could not be made, or the backup file not be written.
    #[error(transparent)]
    Make(#[from] CreateError),
    /// The boot loader of an encrypted system could not open the header any more.
    #[error("this is an encrypted system, and {0}")]
    System(SystemFault),
    /// The header of a system partition lies on its drive.
    #[error(
        "the header of this system partition lies outside of it, on its drive; name the drive instead of the partition"
    )]
    SystemElsewhere,
    /// A system's header whose encrypted area is another one than the drive's.
    #[error(
        "the backup says that {backup} bytes of the system are encrypted, {}; with the wrong number part of the \
         data would be unreadable", there(*.drive)
    )]
    OtherExtent {
        /// Encrypted bytes as the backup has it.
        backup: u64,
        /// Encrypted bytes as the drive has it; `None` where its header does not open.
        drive: Option<u64>,
    },
    /// The format has no such key derivation.
    #[error("a {} volume can't have its header key derived with {hash}", .format.name())]
    HashNotOffered {
        /// The volume's format.
        format: Format,
        /// The key derivation asked for.
        hash: HashName,
    },
    /// The first copy could not be written; the other is untouched.
    #[error("the {place} could not be written: {why}; nothing has changed, the volume opens as before")]
    Unchanged {
        /// The copy.
        place: Place,
        /// What went wrong.
        why: Why,
    },
    /// The last copy could not be written; the others have the new secret.
    #[error(
        "the {place} could not be written: {why}; the volume opens by its other header with the new secret: \
         copy your files off this medium"
    )]
    Half {
        /// The copy.
        place: Place,
        /// What went wrong.
        why: Why,
    },
    /// The only copy could not be written.
    #[error(
        "the {place} could not be written: {why}; it is the only one, and holds the old or the new secret or \
         neither: copy your files off this medium, or restore a header backup"
    )]
    Only {
        /// The copy.
        place: Place,
        /// What went wrong.
        why: Why,
    },
    /// The secret for the outer volume opened a hidden one.
    #[error("this password opens the hidden volume; the outer volume's is needed here")]
    IsHidden,
    /// The secret for the hidden volume opened the outer one.
    #[error("the second password opens the outer volume again, not a hidden one")]
    NotHidden,
    /// The file is no header backup.
    #[error("{} is no header backup: it has {bytes} bytes, where a backup has 131072, or 1024 from TrueCrypt 5 and older, or 512 of an encrypted system", .path.display())]
    NotABackup {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The file could not be read.
    #[error("could not read {}: {source}", .path.display())]
    BackupFile {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The backup belongs to another volume, or to this one before it was made anew.
    #[error(
        "this volume has other master keys than the backup: restoring it would make the data unreadable; \
         it is the backup of another volume, or of this one before it was made anew"
    )]
    OtherMasterKeys,
    /// There is no embedded copy.
    #[error("this volume keeps no copy of its header; restore it from a header backup file")]
    NoCopy,
}

fn there(drive: Option<u64>) -> String {
    match drive {
        Some(bytes) => format!("the drive says {bytes}"),
        None => "which is not all of it, and the drive's own header does not open".to_owned(),
    }
}

/// What a system's boot loader would not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SystemFault {
    /// Another key derivation.
    #[error(
        "its boot loader is made for one key derivation; only the password can be changed from outside, the rest \
         with VeraCrypt in that system"
    )]
    Hash,
    /// Another PIM.
    #[error(
        "its boot loader may have been told the PIM; only the password can be changed from outside, the rest with \
         VeraCrypt in that system"
    )]
    Pim,
    /// Keyfiles.
    #[error("its boot loader knows no keyfiles; take a password alone")]
    Keyfiles,
    /// A password that can't be typed there.
    #[error(
        "its boot loader takes at most 64 characters, those of an American keyboard (ASCII); take such a password"
    )]
    Password,
}

/// What went wrong with a header that was written.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was written reads back differently, or does not open.
    #[error("it reads back differently from what was written")]
    ReadBack,
}

impl ChangeError {
    /// The exit code of the command line's contract, as for [`VolumeError::exit_code`].
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Open(e) => e.exit_code(),
            Self::Make(e) => e.exit_code(),
            Self::HashNotOffered { .. } | Self::System(_) | Self::SystemElsewhere => 2,
            Self::IsHidden | Self::NotHidden => 3,
            Self::NotABackup { .. } => 4,
            _ => 1,
        }
    }
}
