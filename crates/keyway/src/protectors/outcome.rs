//! What came of a change of what opens a volume.

use super::bitlocker::Added;
use super::veracrypt::ChangedSecret;
use keyway_attach::path_text;
use keyway_volume::bitlocker::{Guid, Protection, RecoveryPassword, RewriteError};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What opens a volume now.
#[derive(Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ProtectorOutcome {
    /// A protector of a BitLocker volume is in force.
    Set(Box<SetProtector>),
    /// A VeraCrypt or TrueCrypt volume has another secret.
    Secret(ChangedSecret),
    /// A protector is gone.
    Removed(RemovedProtector),
    /// Protection was suspended or resumed.
    Protection(ProtectionStatus),
}

/// A protector that is in force now.
#[derive(Serialize)]
#[non_exhaustive]
pub struct SetProtector {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// The protector's identifier.
    pub id: Guid,
    /// Its kind.
    pub kind: Protection,
    /// The file that its secret is in, if it is in one.
    #[serde(with = "path_text")]
    pub file: Option<PathBuf>,
    /// The measurements that it is bound to: numbers of a TPM's PCRs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcrs: Option<Vec<u32>>,
    /// A new recovery password that is in no file. It is shown to its owner.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digits")]
    pub recovery_password: Option<RecoveryPassword>,
    /// It took the place of another.
    #[serde(skip)]
    pub replaced: bool,
    /// A copy of the metadata that could not be written.
    #[serde(skip)]
    pub warning: Option<RewriteError>,
}

/// A protector that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RemovedProtector {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// The protector's identifier.
    pub removed: Guid,
    /// What opens the volume now.
    #[serde(skip)]
    pub opens: StillOpens,
}

/// What opens a volume after a protector was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StillOpens {
    /// Enough.
    Secrets,
    /// Only the clear key of its suspended protection: anybody reads it.
    ClearKey,
    /// Only a TPM: if that machine fails, so does the volume.
    Tpm,
}

/// Protection that was suspended or resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProtectionStatus {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// "Protection On" or "Protection Off", as Windows has it.
    pub protection_status: &'static str,
    /// The clear key's identifier, where it was suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Guid>,
}

/// Where a recovery password leaves locked memory: it is to be shown.
pub(crate) fn digits<S: Serializer>(password: &Option<RecoveryPassword>, to: S) -> Result<S::Ok, S::Error> {
    match password {
        Some(password) => to.serialize_str(&String::from_utf8_lossy(&password.to_text())),
        None => to.serialize_none(),
    }
}

impl SetProtector {
    pub(super) fn of(volume: PathBuf, added: Added) -> Self {
        let Added { id, kind, file, warning } = added;
        Self { volume, id, kind, file, pcrs: None, recovery_password: None, replaced: false, warning }
    }
}
