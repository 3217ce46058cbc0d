//! Why a volume could not be opened, made or changed, sorted by whose fault it is.

use crate::veracrypt::{BACKUP_GROUP_BYTES, HeaderFault, LARGEST_PIM, Place};
use keyway_cipher::CipherError;
use keyway_engine::LayoutError;
use keyway_store::StoreError;
use std::path::PathBuf;

/// A volume that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// No header opened with the secret. The format does not let anyone tell a wrong password
    /// from a file that is no volume.
    #[error(
        "no header opened with this password, keyfiles and PIM: one of them is wrong, or this is not a \
         VeraCrypt or TrueCrypt volume{}",
        .argon2id_skipped.map_or("", Argon2idSkipped::remark)
    )]
    WrongSecret {
        /// Why Argon2id was not tried, if it was not.
        argon2id_skipped: Option<Argon2idSkipped>,
    },
    /// The outer volume opened, the hidden one to be protected did not.
    #[error(
        "the outer volume opened, but no hidden volume opened with the second password; nothing was attached"
    )]
    WrongProtectionSecret,
    /// Neither a password nor a keyfile.
    #[error("no password and no keyfile were given; a volume needs at least one of them")]
    NoSecret,
    /// The password is longer than the format takes.
    #[error("the password has {bytes} bytes in UTF-8; this format takes at most {limit}")]
    PasswordTooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The longest the format takes.
        limit: usize,
    },
    /// A PIM that VeraCrypt does not have.
    #[error("a PIM of {0} is too large; VeraCrypt takes {LARGEST_PIM} at most")]
    PimTooLarge(u32),
    /// It plainly isn't a volume, whatever the secret.
    #[error("this is not an encrypted volume: {0}")]
    NotAVolume(NotAVolume),
    /// The secret is right (the header decrypts), but the header is damaged or lies.
    #[error("{}", damaged(*.place, *.fault))]
    DamagedHeader {
        /// Which header.
        place: Place,
        /// What is wrong with it.
        fault: HeaderFault,
    },
    /// A volume in order that this program can't open.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// A keyfile that can't be used.
    #[error("the keyfile {} can't be used: {fault}", .path.display())]
    Keyfile {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        fault: KeyfileFault,
    },
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The header's fields passed the checks and still make no layout.
    #[error("the header describes an impossible volume: {0}")]
    Layout(#[from] LayoutError),
    /// The cipher can't be set up.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

/// A header that names an end beyond the file's is in order: it is the file that was cut off.
fn damaged(place: Place, fault: HeaderFault) -> String {
    let remedy = match (place.backup(), fault) {
        (_, HeaderFault::BeyondEnd { end, present }) => {
            let whole = end.saturating_add(BACKUP_GROUP_BYTES);
            return format!(
                "this is not the whole volume: its data area ends at byte {end}, and the file or device at \
                 {present}; copy it again in full, or save what is left: make another copy as long as it was \
                 (`truncate -s {whole} COPY`) and open that with --read-only"
            );
        }
        _ if place.is_backup() => {
            "restore it from a header backup file; if the header in front opens the volume, `keyway header backup` makes one"
        }
        (Some(_), _) => "restore it from the volume's backup header or from a header backup file",
        (None, _) => "restore it from a header backup file",
    };
    format!("the {place} is damaged: {fault}; {remedy}")
}

impl VolumeError {
    /// The exit code of the command line's contract: 1 it failed, 2 wrong usage, 3 wrong secret,
    /// 4 not a volume or a damaged one, 5 not permitted or this machine lacks what it needs.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::WrongSecret { .. } | Self::WrongProtectionSecret => 3,
            Self::NoSecret | Self::PasswordTooLong { .. } | Self::PimTooLarge(_) => 2,
            Self::NotAVolume(_) | Self::DamagedHeader { .. } | Self::Layout(_) => 4,
            Self::Unsupported(_) => 4,
            Self::Store(e) if e.source.kind() == std::io::ErrorKind::PermissionDenied => 5,
            Self::Keyfile { .. } | Self::Store(_) | Self::Cipher(_) => 1,
        }
    }
}

/// Why a search did without Argon2id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argon2idSkipped {
    /// The machine has too little memory free for it.
    Memory,
    /// The PIM makes it cost minutes; it is tried only where it is asked for.
    Cost,
}

impl Argon2idSkipped {
    const fn remark(self) -> &'static str {
        match self {
            Self::Memory => "; Argon2id was not tried, because there is too little memory for it",
            Self::Cost => {
                "; Argon2id was not tried, because it takes minutes with this PIM: `--hash argon2id` tries it"
            }
        }
    }
}

/// Why something is plainly not a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAVolume {
    /// Nothing in it.
    #[error("it is empty")]
    Empty,
    /// Smaller than a header.
    #[error("it has {0} bytes, less than a volume's header")]
    TooSmall(u64),
    /// Every place where a header could be holds zeros.
    #[error("there are only zeros where a header would be")]
    Zeros,
    /// Every place where a header could be holds something that is not random, as a header is.
    #[error("what lies where a header would be is not random, as a header is")]
    NotRandom,
    /// It starts with something else that is known.
    #[error("it starts with {0}, unencrypted")]
    Known(&'static str),
}

/// A volume that is in order but can't be opened here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// Written by a newer program with a newer header.
    #[error("the volume's header has version {0}; versions 1 to 5 are supported: look for a newer release")]
    HeaderVersion(u16),
    /// A partition's image, and the header of a drive that is encrypted as a whole.
    #[error(
        "the header encrypts {bytes} bytes of its drive, more than the {present} bytes given here: it is not one \
         partition that is encrypted but the drive; open the drive or its whole image"
    )]
    SystemDrive {
        /// Size of the encrypted area.
        bytes: u64,
        /// Size of what was given as the partition.
        present: u64,
    },
    /// A partition of a drive whose encrypted system lies elsewhere on it.
    #[error(
        "the encrypted system lies at bytes {start} to {end} of the drive; this partition begins at byte \
         {partition} and is not part of it"
    )]
    OutsideSystem {
        /// First byte of the encrypted area.
        start: u64,
        /// First byte after it.
        end: u64,
        /// First byte of the partition.
        partition: u64,
    },
    /// A non-system in-place encryption that was interrupted.
    #[error(
        "the in-place encryption of this volume was interrupted after {encrypted} of {total} bytes: \
         finish it with the program that began it"
    )]
    InPlaceIncomplete {
        /// Bytes done.
        encrypted: u64,
        /// Bytes in all.
        total: u64,
    },
}

/// What is wrong with a keyfile.
#[derive(Debug, thiserror::Error)]
pub enum KeyfileFault {
    /// It can't be read.
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
    /// It has no bytes.
    #[error("it is empty")]
    Empty,
    /// A folder without any file that counts.
    #[error("the folder has no files that are not hidden")]
    EmptyFolder,
}
