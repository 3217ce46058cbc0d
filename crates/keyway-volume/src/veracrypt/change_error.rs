//! Why a volume's headers could not be changed, backed up or restored.

use super::create_error::CreateError;
use super::header::HeaderFault;
use super::header_location::HeaderLocation;
use super::params::{Format, HashName};
use crate::VolumeError;
use keyway_error::{Advice, explain, explain_io};
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
    #[error("the header of this system partition lies outside of it, on its drive")]
    SystemElsewhere,
    /// A system's header whose encrypted area is another one than the drive's.
    #[error(
        "the backup says that {backup} bytes of the system are encrypted, {}", there(*.drive)
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
    #[error("the {place} could not be written: {why}")]
    Unchanged {
        /// The copy.
        place: HeaderLocation,
        /// What went wrong.
        why: HeaderWriteFault,
    },
    /// The last copy could not be written; the others have the new secret.
    #[error("the {place} could not be written: {why}")]
    Half {
        /// The copy.
        place: HeaderLocation,
        /// What went wrong.
        why: HeaderWriteFault,
    },
    /// The only copy could not be written.
    #[error("the {place} could not be written: {why}")]
    Only {
        /// The copy.
        place: HeaderLocation,
        /// What went wrong.
        why: HeaderWriteFault,
    },
    /// The secret for the outer volume opened a hidden one.
    #[error("this password opens the hidden volume")]
    IsHidden,
    /// The secret for the hidden volume opened the outer one.
    #[error("the second password opens the outer volume again, not a hidden one")]
    NotHidden,
    /// The outer volume's secret is right, and the hidden one's opens nothing.
    #[error(
        "the outer volume opened, but nothing opened with the hidden volume's password, keyfiles and PIM"
    )]
    HiddenSecret(#[source] VolumeError),
    /// The secret opens nothing in the backup.
    #[error("no header in the backup opened with this password, keyfiles and PIM")]
    NotInBackup(#[source] VolumeError),
    /// The secret opens neither the copy that was to be restored nor the header in front.
    #[error(
        "neither the header in front nor its copy at the end opened with this password, keyfiles and PIM"
    )]
    NeitherOpens(#[source] VolumeError),
    /// The secret opens the header in front, and not the copy that was to be restored.
    #[error(
        "the header in front opens, and its copy at the end does not: it is damaged, or has another secret"
    )]
    DamagedCopy,
    /// The header in front opens, and where the copy was the medium has ended.
    #[error("the header in front opens, and its copy is not there: the file or device ends before it")]
    CopyCutOff,
    /// The secret is right, and both headers are damaged.
    #[error("the copy of the header at the end does not open, and the header in front is damaged: {0}")]
    BothDamaged(HeaderFault),
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
    #[error("this volume has other master keys than the backup: restoring it would make the data unreadable")]
    OtherMasterKeys,
    /// The backup is from before the volume got another size.
    #[error(
        "the backup is from when this volume had {backup} bytes of data, and it has {now} now: with that size its file \
         system would be cut, or end behind the volume"
    )]
    OtherSize {
        /// Bytes of data in the backup.
        backup: u64,
        /// Bytes of data that the volume has.
        now: u64,
    },
    /// The backup is from before the volume was made larger, which the file system in it shows.
    #[error(
        "the backup is from when this volume had {backup} bytes of data, and the file system in it has {filesystem} now: \
         it would end behind the volume, and nothing could mount it"
    )]
    FilesReachFurther {
        /// Bytes of data in the backup.
        backup: u64,
        /// Bytes that the file system says it has.
        filesystem: u64,
        /// Bytes of the file or device.
        present: u64,
    },
    /// Neither a header nor the data says that the backup is this volume's.
    #[error(
        "nothing shows that the backup is of this volume: no header that is there opens with this secret, and the backup's \
         keys make no file system of the data"
    )]
    NothingShown,
    /// The backup is of a volume that is larger than this one.
    #[error(
        "the backup is of a volume of {backup} bytes, and this one has {present}: it is another volume's, or this one is \
         not all there"
    )]
    OtherVolumesSize {
        /// Bytes of the volume in the backup.
        backup: u64,
        /// Bytes that are there.
        present: u64,
    },
    /// Where the copy would be lies none.
    #[error(
        "the copy of the header at the end opens with nothing: what lies there is not random, as a header is"
    )]
    BlankCopy,
    /// There is no embedded copy.
    #[error("this volume keeps no copy of its header")]
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
    #[error("its boot loader is made for one key derivation")]
    Hash,
    /// Another PIM.
    #[error("its boot loader may have been told the PIM")]
    Pim,
    /// Keyfiles.
    #[error("its boot loader knows no keyfiles")]
    Keyfiles,
    /// A password that can't be typed there.
    #[error("its boot loader takes at most 64 characters, those of an American keyboard (ASCII)")]
    Password,
}

/// What went wrong with a header that was written.
#[derive(Debug, thiserror::Error)]
pub enum HeaderWriteFault {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was written reads back differently, or does not open.
    #[error("it reads back differently from what was written")]
    ReadBack,
}

explain! { ChangeError, through Open | Make {
    Self::System(SystemFault::Hash | SystemFault::Pim) => [EncryptedSystem Request, OnlyPassword],
    Self::System(SystemFault::Keyfiles) => [EncryptedSystem Request, PasswordAlone],
    Self::System(SystemFault::Password) => [EncryptedSystem Request, TypeablePassword],
    Self::SystemElsewhere => [EncryptedSystem Request, NameDrive],
    Self::OtherExtent { .. } => [OtherExtent State, RestoreLater],
    Self::HashNotOffered { .. } => [Request, TakeOfferedHash],
    Self::Unchanged { .. } => [Failed Medium, OpensAsBefore],
    Self::Half { .. } => [Failed Medium, CopyOffMedium],
    Self::Only { .. } => [Failed Medium, CopyOffOrRestore],
    Self::IsHidden => [IsHidden Secret, GiveBothSecrets],
    Self::NotHidden => [NotHidden Secret, GiveHiddenSecret],
    Self::HiddenSecret(error) => {
        let mut meaning = error.explain();
        // Nothing narrows the search for the hidden one, and other spellings are tried of the volume's own password.
        let is_own = |step: &Advice| matches!(step, Advice::CheckSecrets | Advice::TryArgon2id | Advice::TryKeyboardLayout);
        meaning.advice.retain(|step| !is_own(step));
        meaning.advice.insert(0, Advice::CheckHiddenOptions);
        meaning
    },
    Self::NotInBackup(error) => {
        let mut meaning = error.explain();
        meaning.advice.retain(|step| *step != Advice::TryKeyboardLayout);
        meaning.advise(Advice::SecretOfBackup)
    },
    Self::NeitherOpens(error) => {
        let mut meaning = error.explain();
        meaning.advice.retain(|step| *step != Advice::TryKeyboardLayout);
        meaning.advise(Advice::ElseRestoreFromFile)
    },
    Self::DamagedCopy => [Damaged Contents, WriteCopyAnew],
    Self::CopyCutOff => [Damaged Contents, CheckCopy],
    Self::BothDamaged(_) => [Damaged Contents, RestoreFromFile],
    Self::NotABackup { path, .. } => [NotABackup Contents, NameHeaderBackup; path],
    Self::BackupFile { path, source } => { explain_io(source).about(path) },
    Self::OtherMasterKeys | Self::NothingShown => [OtherMasterKeys State, CheckBackup],
    Self::OtherSize { .. } => [OtherExtent State, CheckBackup],
    Self::FilesReachFurther { present, .. } => [OtherExtent State, RestoreThenResize { bytes: *present }],
    Self::OtherVolumesSize { .. } => [OtherVolume State, OwnBackupOrWhole],
    Self::BlankCopy => [Damaged Contents, RestoreFromFileOrMakeOne],
    Self::NoCopy => [Failed State, RestoreFromFile],
} }
