//! Why a volume could not be opened, made or changed, sorted by whose fault it is.

use crate::looks::Looks;
use crate::veracrypt::{BACKUP_BYTES, BACKUP_GROUP_BYTES, HeaderFault, HeaderLocation, LARGEST_PIM};
use keyway_cipher::CipherError;
use keyway_engine::LayoutError;
use keyway_error::{Advice, explain};
use keyway_store::StoreError;
use std::io::ErrorKind;
use std::path::PathBuf;

/// A volume that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// No header opened with the secret. The format does not let anyone tell a wrong password
    /// from a file that is no volume.
    #[error(
        "no header opened with this password, keyfiles and PIM: one of them is wrong, or this is not a \
         VeraCrypt or TrueCrypt volume"
    )]
    WrongSecret {
        /// Why Argon2id was not tried, if it was not.
        argon2id_skipped: Option<Argon2idSkipped>,
        /// What can be seen in the password.
        looks: Looks,
        /// What was asked for alone, in the words of the options: a format, a hash, a header.
        narrowed: Vec<&'static str>,
        /// A BitLocker volume's metadata lies in it: it may be one whose first sector is lost. Who opens volumes of all
        /// formats looks.
        has_metadata: bool,
    },
    /// The outer volume opened, the hidden one to be protected did not.
    #[error("the outer volume opened, but no hidden volume opened with the second password")]
    WrongProtectionSecret {
        /// What was asked for alone, by the names of the options: the hidden volume may have another.
        narrowed: Vec<&'static str>,
    },
    /// The secret that should open the outer volume opens the hidden one, which is to be protected.
    #[error("this password opens the hidden volume, not the outer one around it")]
    IsHidden,
    /// Neither a password nor a keyfile.
    #[error("no password and no keyfile were given")]
    NoSecret,
    /// The password is longer than the format takes.
    #[error("the password has {bytes} bytes in UTF-8")]
    PasswordTooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The longest the format takes.
        limit: usize,
    },
    /// A PIM that VeraCrypt does not have.
    #[error("a PIM of {0} is too large")]
    PimTooLarge(u32),
    /// It plainly isn't a volume, whatever the secret.
    #[error("this is not an encrypted volume: {0}")]
    NotAVolume(NotAVolume),
    /// The secret is right (the header decrypts), but the header is damaged or lies.
    #[error("{}", damaged(*.place, *.fault))]
    DamagedHeader {
        /// Which header.
        place: HeaderLocation,
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
fn damaged(place: HeaderLocation, fault: HeaderFault) -> String {
    match fault {
        HeaderFault::BeyondEnd { present: BACKUP_BYTES, .. } => {
            "this is as long as a backup of a volume's header, and not the volume".to_owned()
        }
        HeaderFault::BeyondEnd { end, present } => format!(
            "this is not the whole volume: its data area ends at byte {end}, and the file or device at {present}"
        ),
        _ => format!("the {place} is damaged: {fault}"),
    }
}

/// What mends a damaged header.
fn mend(place: HeaderLocation, fault: HeaderFault) -> Advice {
    match (place.backup(), fault) {
        (_, HeaderFault::BeyondEnd { present: BACKUP_BYTES, .. }) => Advice::RestoreFromThis,
        (_, HeaderFault::BeyondEnd { end, .. }) => {
            Advice::CopyAgain { bytes: end.saturating_add(BACKUP_GROUP_BYTES) }
        }
        _ if place.is_backup() => Advice::RestoreFromFileOrMakeOne,
        (Some(_), _) => Advice::RestoreFromBackup,
        (None, _) => Advice::RestoreFromFile,
    }
}

/// What narrowed the search may have left out the right one.
fn leave_out(narrowed: &[&'static str]) -> impl Iterator<Item = Advice> {
    narrowed.iter().map(|what| Advice::LeaveOutNarrowing { what: (*what).to_owned() })
}

/// What else there is to try, in the order in which it is likely to help.
fn more(narrowed: &[&'static str], looks: Looks, has_metadata: bool) -> impl Iterator<Item = Advice> {
    let other = has_metadata.then_some(Advice::HasMetadata);
    other.into_iter().chain(leave_out(narrowed)).chain(looks.advice())
}

explain! { VolumeError, through Store {
    Self::WrongSecret { argon2id_skipped: None, looks, narrowed, has_metadata } =>
        [WrongSecret Secret, CheckSecrets, ..more(narrowed, *looks, *has_metadata)],
    Self::WrongSecret { argon2id_skipped: Some(Argon2idSkipped::Memory), looks, narrowed, has_metadata } =>
        [WrongSecret Secret, NoMemoryForArgon2id, ..more(narrowed, *looks, *has_metadata)],
    Self::WrongSecret { argon2id_skipped: Some(Argon2idSkipped::Cost), looks, narrowed, has_metadata } =>
        [WrongSecret Secret, TryArgon2id, ..more(narrowed, *looks, *has_metadata)],
    Self::WrongProtectionSecret { narrowed } =>
        [WrongProtectionSecret Secret, CheckHiddenSecret, ..leave_out(narrowed)],
    Self::IsHidden => [IsHidden Secret, OuterFirst],
    Self::NoSecret => [Usage Request, GiveSecret],
    Self::PasswordTooLong { .. } => [Usage Request, CheckPasswordFile],
    Self::PimTooLarge(_) => [Usage Request, LargestPim { most: LARGEST_PIM }],
    Self::NotAVolume(NotAVolume::FileSystem(_)) => [NotAVolume Contents, MountPlain, NameVolumeOrSearch],
    Self::NotAVolume(NotAVolume::Empty | NotAVolume::TooSmall(_)) => [NotAVolume Contents, NameVolume],
    Self::NotAVolume(_) => [NotAVolume Contents, NameVolumeOrSearch],
    Self::DamagedHeader { place, fault } => [Damaged Contents, (mend(*place, *fault))],
    Self::Layout(_) => [Damaged Contents, RestoreHeader],
    Self::Unsupported(Unsupported::HeaderVersion(_)) => [Unsupported Contents, VersionsToFive],
    Self::Unsupported(Unsupported::SystemDrive { .. }) => [Unsupported Contents, OpenWholeDrive],
    Self::Unsupported(Unsupported::OutsideSystem { partition, .. }) =>
        [Unsupported Contents, OtherPartition { offset: *partition }],
    Self::Unsupported(Unsupported::InPlaceIncomplete { .. }) => [Unsupported Contents, FinishWithItsProgram],
    // Whoever may not read it has found it.
    Self::Keyfile { path, fault: KeyfileFault::Unreadable(why) } if why.kind() == ErrorKind::PermissionDenied =>
        [Keyfile State, BecomeRoot; path],
    Self::Keyfile { path, .. } => [Keyfile State, CheckKeyfilePath; path],
    Self::Cipher(_) => [Ours, ReportWithDoctor],
} }

/// Why a search did without Argon2id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argon2idSkipped {
    /// The machine has too little memory free for it.
    Memory,
    /// The PIM makes it cost minutes; it is tried only where it is asked for.
    Cost,
}

/// Why something is plainly not a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAVolume {
    /// Nothing in it.
    #[error("it is empty")]
    Empty,
    /// Smaller than any volume.
    #[error("it has {0} bytes, fewer than any volume")]
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
    /// It is a file system that is not encrypted.
    #[error("it starts with {0}, unencrypted")]
    FileSystem(&'static str),
}

/// A volume that is in order but can't be opened here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// Written by a newer program with a newer header.
    #[error("the volume's header has version {0}")]
    HeaderVersion(u16),
    /// A partition's image, and the header of a drive that is encrypted as a whole.
    #[error(
        "the header encrypts {bytes} bytes of its drive, more than the {present} bytes given here: it is not one \
         partition that is encrypted but the drive"
    )]
    SystemDrive {
        /// Size of the encrypted area.
        bytes: u64,
        /// Size of what was given as the partition.
        present: u64,
    },
    /// A partition of a drive whose encrypted system lies elsewhere on it.
    #[error("the encrypted system lies at bytes {start} to {end} of the drive")]
    OutsideSystem {
        /// First byte of the encrypted area.
        start: u64,
        /// First byte after it.
        end: u64,
        /// First byte of the partition.
        partition: u64,
    },
    /// A non-system in-place encryption that was interrupted.
    #[error("the in-place encryption of this volume was interrupted after {encrypted} of {total} bytes")]
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
    /// It is a socket.
    #[error("it is a socket, and no file")]
    Socket,
    /// A folder without any file that counts.
    #[error("the folder has no files that are not hidden")]
    EmptyFolder,
}
