//! What opens a volume, as far as it can be seen.

use super::veracrypt::SecretProtector;
use crate::description::named;
use crate::error::Error;
use crate::locked::LockedVolume;
use crate::searching::Searched;
use crate::unlock::Family;
use crate::volume::OpenOptions;
use keyway_volume::bitlocker::ProtectorInfo;
use keyway_volume::veracrypt::Derivation;
use keyway_volume::{HashName, Info, inspect};
use serde::Serialize;

/// What opens a volume.
#[derive(Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ListedProtectors {
    /// The protectors of a BitLocker volume: its metadata tells them to everybody.
    BitLocker {
        /// All of them.
        key_protectors: Vec<ProtectorInfo>,
        /// Keys of other drives that this one unlocks in Windows.
        auto_unlock_keys: usize,
        /// What the volume's owner should know.
        #[serde(skip)]
        warnings: Vec<String>,
    },
    /// The one secret of a VeraCrypt or TrueCrypt volume.
    VeraCrypt {
        /// It.
        key_protectors: [ListedSecret; 1],
        /// What the volume's owner should know.
        #[serde(skip)]
        warnings: Vec<String>,
    },
}

/// The one secret of a VeraCrypt or TrueCrypt volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ListedSecret {
    /// Without it nobody sees what it is.
    Unknown {
        /// Always "0".
        id: &'static str,
        /// Always "password".
        kind: &'static str,
    },
    /// It opened the volume.
    Known {
        /// What kind of secret it is.
        #[serde(flatten)]
        secret: SecretProtector,
        /// The key derivation's hash.
        hash: HashName,
        /// And its cost.
        #[serde(flatten)]
        derivation: Derivation,
    },
}

/// Lists what opens a volume. A VeraCrypt or TrueCrypt volume is opened for it where its secret was named.
///
/// # Errors
/// The volume can't be read, is none, or does not open.
pub fn list(volume: &LockedVolume<'_>) -> Result<ListedProtectors, Error> {
    let confining = volume.confining()?;
    if volume.family()? == Family::BitLocker {
        let store = volume.to_look()?;
        let searched = Searched::new(&store, volume.progress);
        confining.enter()?;
        let seen = volume.arguments.look_at_bitlocker(&searched).map_err(|e| volume.said(e))?;
        let warnings = named(&seen.warnings, &volume.path);
        let (key_protectors, auto_unlock_keys) = (seen.info.key_protectors, seen.info.auto_unlock_keys);
        return Ok(ListedProtectors::BitLocker { key_protectors, auto_unlock_keys, warnings });
    }
    if !volume.sources.password.is_given() {
        let store = volume.to_look()?;
        let seen = inspect(&store).map_err(|e| volume.said(e))?;
        if let Some(reason) = seen.not_a_volume {
            return Err(store.not_a_volume(&volume.path, reason));
        }
        let key_protectors = [ListedSecret::Unknown { id: "0", kind: "password" }];
        return Ok(ListedProtectors::VeraCrypt { key_protectors, warnings: Vec::new() });
    }
    let secret = volume.asking(&confining).veracrypt_key()?;
    // While there are paths.
    let protector = SecretProtector::from(&secret);
    let options = OpenOptions::new().arguments(volume.arguments.clone()).confined(confining.before());
    let opened = options.open_with(&volume.path, &secret)?;
    let known = match opened.info {
        Info::VeraCrypt(info) => {
            ListedSecret::Known { secret: protector, hash: info.hash, derivation: info.derivation }
        }
        Info::BitLocker(_) => ListedSecret::Unknown { id: "0", kind: "password" },
    };
    Ok(ListedProtectors::VeraCrypt { key_protectors: [known], warnings: opened.warnings })
}
