//! The one secret of a VeraCrypt or TrueCrypt volume, and another in its place.

use crate::error::Error;
use crate::locked::LockedVolume;
use crate::medium;
use crate::secrets::{PasswordSource, Subject, Wanted, one_standard_input};
use keyway_secret::SecretBytes;
use keyway_volume::veracrypt;
use keyway_volume::{HashName, Secrets as VeraCryptSecret};

/// What is to be another. What isn't named stays; where nothing is, a new password is asked for.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SecretChange {
    /// The new password, keyfiles and PIM.
    pub secret: PasswordSource,
    /// The new key derivation's hash.
    pub hash: Option<HashName>,
    /// There are no keyfiles any more.
    pub no_keyfiles: bool,
}

/// What opens the volume now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedSecret {
    /// It is a hidden volume's.
    pub hidden: bool,
    /// The key derivation's hash.
    pub hash: HashName,
    /// How many keyfiles there are.
    pub keyfiles: usize,
    /// The PIM.
    pub pim: Option<u32>,
    /// How many copies of the header there are: 1 or 2.
    pub copies: usize,
}

/// The one protector of a VeraCrypt or TrueCrypt volume: what kind of secret it is, and nothing secret.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SecretProtector {
    /// Always "0": there is no other.
    pub id: &'static str,
    /// "password", or "keyfiles" where these are all.
    pub kind: &'static str,
    /// How many keyfiles and folders of keyfiles.
    pub keyfiles: usize,
    /// The PIM.
    pub pim: Option<u32>,
}

impl From<&VeraCryptSecret> for SecretProtector {
    fn from(secret: &VeraCryptSecret) -> Self {
        let kind = if secret.password.is_empty() { "keyfiles" } else { "password" };
        Self { id: "0", kind, keyfiles: secret.keyfiles.len(), pim: secret.pim }
    }
}

/// Gives a VeraCrypt or TrueCrypt volume another secret.
///
/// # Errors
/// It does not open or can't be written, or the wishes can't be granted.
pub fn change_secret(volume: &LockedVolume<'_>, change: &SecretChange) -> Result<ChangedSecret, Error> {
    medium::must_exist(&volume.path)?;
    medium::must_be_writable(&volume.path)?;
    one_standard_input([&volume.sources.password, &change.secret])?;
    let subject = Subject::Volume(volume.path.clone());
    let old = volume.veracrypt_key()?;
    let named = change.hash.is_some() || change.no_keyfiles || change.secret.is_given();
    let read = if change.secret.password.is_some() || !named {
        change.secret.read(Wanted::NewPassword, &subject, volume.secrets)?
    } else {
        let keyfiles = change.secret.absolute_keyfiles()?;
        VeraCryptSecret { password: SecretBytes::copy_of(&old.password), keyfiles, pim: change.secret.pim }
    };
    let keeps_keyfiles = read.keyfiles.is_empty() && !change.no_keyfiles;
    let wanted = VeraCryptSecret {
        password: read.password,
        keyfiles: if keeps_keyfiles { old.keyfiles.clone() } else { read.keyfiles },
        pim: read.pim.or(old.pim),
    };
    let store = volume.to_change()?;
    let drive = volume.system_drive()?;
    let request = volume.arguments.veracrypt_request(&old, None, drive.as_ref());
    let changed = veracrypt::change(&store, &request, &wanted, change.hash).map_err(|e| volume.said(e))?;
    Ok(ChangedSecret {
        hidden: changed.hidden,
        hash: changed.hash,
        keyfiles: wanted.keyfiles.len(),
        pim: wanted.pim,
        copies: changed.copies,
    })
}
