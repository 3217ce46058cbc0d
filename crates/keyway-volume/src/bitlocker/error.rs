//! Why a BitLocker volume could not be opened, sorted by whose fault it is.

use super::block::BlockFault;
use super::boot::BootFault;
use super::codes::Protection;
use super::guid::Guid;
use super::recovery::RecoveryFault;
use super::startup_key::StartupKeyFault;
use crate::looks::Looks;
use keyway_cipher::CipherError;
use keyway_engine::LayoutError;
use keyway_error::{Advice, explain};
use keyway_store::StoreError;
use std::fmt;
use std::path::PathBuf;

/// A BitLocker volume that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum BitLockerError {
    /// It isn't one.
    #[error("this is not a BitLocker volume: {0}")]
    NotBitLocker(BootFault),
    /// Its first sector is damaged.
    #[error("the volume's first sector is damaged: {0}")]
    BootSector(BootFault),
    /// Its first sector is no more, and its metadata is there.
    #[error("this is a BitLocker volume whose first sector is lost: its metadata is there")]
    FirstSectorLost,
    /// Its first sector was lost while it was being converted.
    #[error(
        "a conversion of this volume was interrupted, and then its first sector was lost: what is encrypted by now \
         only the journal knows"
    )]
    HalfConverted,
    /// No copy of the metadata is good.
    #[error(
        "all three copies of the volume's metadata are damaged: {}",
        Faults(.0)
    )]
    NoMetadata(Box<[CopyFault; 3]>),
    /// No copy of the metadata is good, because the file or device ends before the last of them.
    #[error(
        "this is not the whole volume: its metadata reaches to byte {least}, and the file or device ends at {present} ({} \
         of at least {} MiB)",
        present >> 20,
        least.div_ceil(1 << 20)
    )]
    CutShort {
        /// Bytes that there are.
        present: u64,
        /// Bytes that the volume has at least.
        least: u64,
    },
    /// The metadata's fields can't be true.
    #[error("the volume's metadata is damaged: {0}")]
    Impossible(Impossible),
    /// The metadata is not what was last written with the volume's key.
    #[error(
        "the volume's metadata was changed by someone without its key, or is damaged: its sealed checksum does not \
         match"
    )]
    Tampered,
    /// The secret is right, and what it opens is damaged.
    #[error("the secret is right, but the {0} is damaged")]
    DamagedKey(&'static str),
    /// A volume in order that this program can't open.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// The volume has no protector of the kinds that were given.
    #[error("this volume has no {} protector (it opens with: {})", Kinds(.given), Kinds(.has))]
    NoSuchProtector {
        /// What was given.
        given: Vec<Protection>,
        /// What the volume has.
        has: Vec<Protection>,
    },
    /// Nothing was given, and the volume is not suspended.
    #[error("this volume needs a secret (it opens with: {})", Kinds(.0))]
    NoSecret(Vec<Protection>),
    /// The password opens no protector; these are the others that the volume has.
    #[error("the password is wrong")]
    WrongPassword(Vec<(Protection, Guid)>, Looks),
    /// What was given is wrong, and the volume's protection is suspended: it needs nothing.
    #[error(transparent)]
    OpensWithout(Box<Self>),
    /// The recovery password is well-formed and opens no protector.
    #[error(
        "the recovery password is well-formed, but is not this volume's (whose identifier is {})",
        Ids(.0)
    )]
    WrongRecoveryPassword(Vec<Guid>),
    /// The recovery password can't be one.
    #[error("{0}")]
    MistypedRecoveryPassword(#[from] RecoveryFault),
    /// The startup key belongs to another volume.
    #[error("the startup key {given} is not this volume's")]
    OtherStartupKey {
        /// The key's identifier.
        given: Guid,
        /// Those of the volume's protectors.
        wanted: Vec<Guid>,
    },
    /// The startup key has the right identifier and the wrong key.
    #[error("the startup key {0} has this volume's identifier, but does not open it")]
    WrongStartupKey(Guid),
    /// The volume master key that was given opens nothing.
    #[error("the volume master key is not this volume's")]
    WrongMasterKey,
    /// A file that is no startup key.
    #[error("{} is no startup key: {fault}", .path.display())]
    NotAStartupKey {
        /// The file.
        path: PathBuf,
        /// Why.
        fault: StartupKeyFault,
    },
    /// The password is not UTF-8.
    #[error("the password is not UTF-8 text")]
    NotUtf8(Looks),
    /// It was stopped.
    #[error("it was stopped before the secret was tried in full")]
    Stopped,
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The metadata's fields passed the checks and still make no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The cipher can't be set up.
    #[error(transparent)]
    Cipher(#[from] CipherError),
}

explain! { BitLockerError, through Store | Layout {
    Self::NotBitLocker(BootFault::Nowhere) => [NotAVolume Contents, NameVolume],
    Self::NotBitLocker(_) => [NotAVolume Contents, NameVolumeOrSearch],
    Self::BootSector(_) => [Damaged Contents, RepairFirstSector],
    Self::FirstSectorLost => [Damaged Contents, OpenByMetadata],
    Self::HalfConverted => [Converting Contents, CopyAllThenRestoreFirstPage],
    Self::NoMetadata(_) | Self::Impossible(_) | Self::DamagedKey(_) => [Damaged Contents, RestoreMetadata],
    Self::CutShort { .. } => [Damaged Contents, CopyInFull],
    Self::Tampered => [Tampered Contents, RestoreMetadata],
    Self::Unsupported(Unsupported::Vista) => [Unsupported Contents, ConvertInWindowsOrRepair],
    Self::Unsupported(Unsupported::Method(_)) => [Unsupported Contents, NewerRelease],
    Self::Unsupported(Unsupported::Pieces) => [Unsupported Contents, LetWindowsFinish],
    Self::NoSuchProtector { has, .. } => [NoSuchProtector Secret, (give_one_of(has))],
    Self::NoSecret(has) => [NoSecret Request, (give_one_of(has))],
    Self::WrongPassword(others, looks) =>
        [WrongSecret Secret, CheckPassword, ..looks.advice().into_iter().chain(other_protectors(others))],
    Self::OpensWithout(error) => {
        let mut meaning = error.explain();
        meaning.advice.insert(0, Advice::LeaveSecretOut);
        meaning
    },
    Self::WrongRecoveryPassword(_) => [WrongRecoveryPassword Secret, FindPaper],
    Self::MistypedRecoveryPassword(_) => [MistypedRecoveryPassword Secret, CompareWithPaper],
    Self::OtherStartupKey { .. } => [OtherStartupKey Secret, NameStartupKeyOfThat],
    Self::WrongStartupKey(_) => [WrongStartupKey Secret, MayBeDamaged],
    Self::WrongMasterKey => [WrongSecret Secret, GiveBitLockerSecret],
    Self::NotAStartupKey { path, .. } => [StartupKey Secret, NameStartupKey; path],
    Self::NotUtf8(looks) => [Usage Request, UseUnicode, ..looks.advice()],
    Self::Stopped => [Interrupted Stopped],
    Self::Cipher(_) => [Ours, ReportWithDoctor],
} }

/// What this program can be given of what a volume opens with.
fn give_one_of(has: &[Protection]) -> Advice {
    use Protection as P;
    Advice::GiveAnySecret {
        password: has.contains(&P::Password),
        recovery_password: has.contains(&P::RecoveryPassword),
        startup_key: has.contains(&P::StartupKey),
        tpm: has.iter().any(is_by_tpm),
    }
}

/// Whether a TPM that is asked here opens it, alone or with what can be given beside it.
const fn is_by_tpm(kind: &Protection) -> bool {
    use Protection as P;
    matches!(kind, P::Tpm | P::TpmPin | P::TpmStartupKey | P::TpmPinStartupKey)
}

/// What else opens a volume, as its owner knows it: Windows shows the first eight digits of an identifier.
fn other_protectors(others: &[(Protection, Guid)]) -> Option<Advice> {
    let words = |(kind, id): &(Protection, Guid)| {
        let kind = kind.name().replace('-', " ").replace("tpm", "TPM").replace("pin", "PIN");
        let id: String = id.to_string().chars().take(8).collect();
        format!("{kind} {id}…")
    };
    // A clear key is nothing that its owner has.
    let known = others.iter().filter(|(kind, _)| *kind != Protection::ClearKey);
    let protectors: Vec<String> = known.map(words).collect();
    let has = |wanted| others.iter().any(|(kind, _)| *kind == wanted);
    (!protectors.is_empty()).then_some(Advice::OtherProtectors {
        protectors,
        recovery_password: has(Protection::RecoveryPassword),
        startup_key: has(Protection::StartupKey),
        tpm: others.iter().any(|(kind, _)| is_by_tpm(kind)),
    })
}

/// What is wrong with one copy of the metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyFault {
    /// It lies where none can.
    #[error("nothing can lie at byte {0}")]
    Place(u64),
    /// It lies behind the end: what it was on has been cut.
    #[error("the file or device ends before byte {0}")]
    BeyondEnd(u64),
    /// It lies in or over another copy.
    #[error("byte {0} belongs to another copy")]
    Overlaps(u64),
    /// The medium failed there.
    #[error("{0}")]
    Unreadable(String),
    /// It is damaged.
    #[error("{0}")]
    Block(#[from] BlockFault),
    /// It belongs to another volume.
    #[error("it is that of another volume, {0}")]
    OtherVolume(Guid),
    /// It is not sealed with this volume's master key.
    #[error("its sealed checksum does not match")]
    Unauthentic,
}

/// Fields that can't be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// No first sectors, or more than the volume has.
    #[error("{0} first sectors can't lie elsewhere")]
    BootSectors(u32),
    /// They can't lie there.
    #[error("the first sectors can't lie at byte {0}")]
    BootBackup(u64),
    /// The boot sector's sector size and the volume's size don't go together.
    #[error("a volume of {0} bytes is too small")]
    TooSmall(u64),
    /// Both copies of the encrypt-on-write information are damaged.
    #[error("both copies of the encrypt-on-write information are")]
    EncryptOnWrite,
    /// A bitmap of the encrypt-on-write information.
    #[error("the encrypt-on-write bitmap at byte {0} is")]
    Bitmap(u64),
    /// The bitmaps leave a part of the volume out.
    #[error("the encrypt-on-write bitmaps say nothing of byte {0}")]
    Uncovered(u64),
}

/// A volume that is in order but can't be opened here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// Windows Vista.
    #[error("this volume was made by Windows Vista, or its first sector is damaged")]
    Vista,
    /// An encryption method that isn't known.
    #[error("the encryption method {0:#06x} is not known")]
    Method(u16),
    /// The encrypt-on-write bitmaps are in too many pieces.
    #[error("the volume's conversion is in too many pieces")]
    Pieces,
}

struct Kinds<'a>(&'a [Protection]);

impl fmt::Display for Kinds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        let mut told: Vec<&str> = Vec::new();
        for kind in self.0 {
            if !told.contains(&kind.name()) {
                told.push(kind.name());
            }
        }
        f.write_str(&told.join(", "))
    }
}

struct Ids<'a>(&'a [Guid]);

impl fmt::Display for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, id) in self.0.iter().enumerate() {
            write!(f, "{}{id}", if i > 0 { " or " } else { "" })?;
        }
        Ok(())
    }
}

struct Faults<'a>(&'a [CopyFault; 3]);

impl fmt::Display for Faults<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.0;
        write!(f, "1: {a}, 2: {b}, 3: {c}")
    }
}
