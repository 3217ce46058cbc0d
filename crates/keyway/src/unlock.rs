//! What a volume is looked for as, and the key that opens it.

use crate::error::Error;
use crate::searching::Searched;
use crate::system_drive::SystemDrive;
use keyway_attach::path_text;
use keyway_error::enum_table;
use keyway_store::Store;
use keyway_volume::bitlocker::{self, Locked};
use keyway_volume::veracrypt::KeyWatch;
use keyway_volume::{HashName, HeaderChoice, Secrets as VeraCryptSecret, UnlockRequest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

enum_table! {
    /// A volume's format.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum VolumeFormat {
        /// VeraCrypt.
        VeraCrypt("veracrypt"),
        /// TrueCrypt.
        TrueCrypt("truecrypt"),
        /// BitLocker.
        BitLocker("bitlocker"),
    }
    /// Its stable word.
    pub name: &'static str,
}

impl VolumeFormat {
    /// The formats that are opened together with it.
    pub const fn family(self) -> Family {
        match self {
            Self::VeraCrypt | Self::TrueCrypt => Family::VeraCrypt,
            Self::BitLocker => Family::BitLocker,
        }
    }

    const fn veracrypt(self) -> Option<keyway_volume::Format> {
        match self {
            Self::VeraCrypt => Some(keyway_volume::Format::VeraCrypt),
            Self::TrueCrypt => Some(keyway_volume::Format::TrueCrypt),
            Self::BitLocker => None,
        }
    }
}

/// Formats that are opened by the same code. A front says of each what it does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// VeraCrypt and TrueCrypt: both look random from their first byte.
    VeraCrypt,
    /// BitLocker.
    BitLocker,
}

/// What a volume is looked for as. Nothing is needed: everything is found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnlockArguments {
    /// Only this format. Whoever says BitLocker is believed where the first sector is lost: the metadata is looked for.
    pub format: Option<VolumeFormat>,
    /// Only this key derivation's hash.
    pub hash: Option<HashName>,
    /// Which copy of the header.
    pub header: HeaderChoice,
    /// It is this partition of a disk. 0 is the disk as a whole. Without a number it is the only one that
    /// may be meant, where it is a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<u32>,
    /// It is an encrypted system.
    pub system: bool,
    /// It is a partition of an encrypted system, whose header lies in this drive or file.
    #[serde(with = "path_text")]
    pub system_header: Option<PathBuf>,
}

impl UnlockArguments {
    /// Everything is found out.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether lost metadata is looked for in all of the medium.
    pub(crate) fn searches(&self) -> bool {
        self.format == Some(VolumeFormat::BitLocker)
    }

    /// Whether nobody has said what it is.
    pub(crate) fn finds_out(&self) -> bool {
        self.format.is_none()
            && !self.system
            && self.system_header.is_none()
            && self.header == HeaderChoice::Auto
    }

    /// The request for BitLocker's code.
    pub(crate) fn bitlocker_request<'a>(
        &self,
        secrets: &'a [bitlocker::Secret],
    ) -> bitlocker::UnlockRequest<'a> {
        bitlocker::UnlockRequest { search: self.searches(), ..bitlocker::UnlockRequest::new(secrets) }
    }

    /// Which of VeraCrypt's and TrueCrypt's formats alone, where one was said.
    pub(crate) fn veracrypt_format(&self) -> Option<keyway_volume::Format> {
        self.format.and_then(VolumeFormat::veracrypt)
    }

    /// The request for VeraCrypt's code. `drive` is where a system partition's header may be.
    pub(crate) fn veracrypt_request<'a>(
        &self,
        secret: &'a VeraCryptSecret,
        protect: Option<&'a VeraCryptSecret>,
        drive: Option<&'a SystemDrive>,
        watch: &'a dyn KeyWatch,
    ) -> UnlockRequest<'a> {
        UnlockRequest {
            secrets: secret,
            format: self.veracrypt_format(),
            hash: self.hash,
            header: self.header,
            system: self.system,
            system_header: drive.map(SystemDrive::header),
            protect_hidden: protect,
            watch,
        }
    }

    /// What can be said of a BitLocker volume without a secret.
    pub(crate) fn look_at_bitlocker(&self, store: &Searched<'_>) -> Result<Locked, Error> {
        let seen = if self.searches() { bitlocker::find(store) } else { bitlocker::look(store) };
        store.unless_stopped(seen.map_err(Error::from))
    }

    /// The drive around a partition of an encrypted system.
    pub(crate) fn system_drive(&self, path: &Path) -> Result<Option<SystemDrive>, Error> {
        SystemDrive::of(path, self.system_header.as_deref(), self.system)
    }
}

/// What opens a volume.
pub enum Key {
    /// A VeraCrypt or TrueCrypt volume's one secret: password, keyfiles, PIM.
    VeraCrypt(VeraCryptSecret),
    /// A BitLocker volume's secrets; none for one whose protection is suspended.
    BitLocker(Vec<bitlocker::Secret>),
}

/// The same, borrowed.
#[derive(Clone, Copy)]
pub enum KeyRef<'a> {
    /// A VeraCrypt or TrueCrypt volume's.
    VeraCrypt(&'a VeraCryptSecret),
    /// A BitLocker volume's.
    BitLocker(&'a [bitlocker::Secret]),
}

impl KeyRef<'_> {
    /// How many secrets it is: of one, what is mixed into it counts as one with it.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::VeraCrypt(_) => 1,
            Self::BitLocker(secrets) => secrets.len(),
        }
    }
}

impl<'a> From<&'a VeraCryptSecret> for KeyRef<'a> {
    fn from(secret: &'a VeraCryptSecret) -> Self {
        Self::VeraCrypt(secret)
    }
}

impl<'a> From<&'a [bitlocker::Secret]> for KeyRef<'a> {
    fn from(secrets: &'a [bitlocker::Secret]) -> Self {
        Self::BitLocker(secrets)
    }
}

impl<'a> From<&'a Key> for KeyRef<'a> {
    fn from(key: &'a Key) -> Self {
        match key {
            Key::VeraCrypt(secret) => Self::VeraCrypt(secret),
            Key::BitLocker(secrets) => Self::BitLocker(secrets),
        }
    }
}

/// Whether a store begins as a BitLocker volume does.
pub(crate) fn begins_as_bitlocker(store: &dyn Store) -> Result<bool, Error> {
    Ok(bitlocker::is_volume(store)?)
}
