//! The one secret of a VeraCrypt or TrueCrypt volume, and another in its place.

use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::progress::tell_weakness;
use crate::secrets::{Derived, PasswordSource, Secrets, Subject, Wanted};
use keyway_attach::path_text;
use keyway_secret::SecretBytes;
use keyway_volume::veracrypt;
use keyway_volume::{HashName, Secrets as VeraCryptSecret, Weakness, count_keyfiles};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What is to be another. What isn't named stays; where nothing is, a new password is asked for. It serialises without
/// any secret: what is to be another, and how many keyfiles there will be.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SecretChange {
    /// The new password, keyfiles and PIM.
    pub secret: PasswordSource,
    /// The new key derivation's hash.
    pub hash: Option<HashName>,
    /// There are no keyfiles any more.
    pub no_keyfiles: bool,
    /// There is no password any more: the new keyfiles open it alone. Without any the password stays.
    pub no_password: bool,
}

impl SecretChange {
    fn names_anything(&self) -> bool {
        self.hash.is_some() || self.keyfiles_go() || self.no_password || self.secret.is_given()
    }

    /// Whether there are no keyfiles any more, said in either way.
    const fn keyfiles_go(&self) -> bool {
        self.no_keyfiles || self.secret.no_keyfiles
    }

    /// Refuses to take password and keyfiles away, whichever way that is said.
    ///
    /// # Errors
    /// [`Misuse::NothingWouldOpen`].
    pub(super) fn must_leave_something(&self) -> Result<(), Error> {
        let nothing = self.no_password && self.keyfiles_go() && self.secret.keyfiles.is_empty();
        if nothing { Err(Misuse::NothingWouldOpen.into()) } else { Ok(()) }
    }

    fn sets_a_password(&self) -> bool {
        self.secret.password.is_some() || !self.names_anything()
    }

    /// The secret that there will be: what isn't named is what it was. The password alone may be asked for.
    ///
    /// # Errors
    /// As [`PasswordSource::read`].
    pub(crate) fn over(
        &self,
        old: &VeraCryptSecret,
        wanted: Wanted,
        subject: &Subject,
        secrets: &dyn Secrets,
    ) -> Result<VeraCryptSecret, Error> {
        self.read_over(old, subject, || self.secret.read(wanted, subject, secrets))
    }

    /// The same of one that is set now, of which a key is derived with that hash.
    ///
    /// # Errors
    /// As [`PasswordSource::read`].
    pub(crate) fn set_over(
        &self,
        old: &VeraCryptSecret,
        hash: HashName,
        subject: &Subject,
        secrets: &dyn Secrets,
    ) -> Result<VeraCryptSecret, Error> {
        let keeps_keyfiles = !old.keyfiles.is_empty() && !self.keyfiles_go();
        let keyfiles = keeps_keyfiles || !self.secret.keyfiles.is_empty();
        let derived = Derived { hash, pim: self.secret.pim.or(old.pim), keyfiles };
        self.read_over(old, subject, || self.secret.read_new(derived, subject, secrets))
    }

    fn read_over(
        &self,
        old: &VeraCryptSecret,
        subject: &Subject,
        read: impl FnOnce() -> Result<VeraCryptSecret, Error>,
    ) -> Result<VeraCryptSecret, Error> {
        let read = if self.sets_a_password() {
            read()?
        } else {
            self.secret.check_for(subject)?;
            let keyfiles = self.secret.absolute_keyfiles()?;
            let by_keyfiles_alone = self.no_password && !keyfiles.is_empty();
            let password = SecretBytes::copy_of(if by_keyfiles_alone { &[] } else { &old.password });
            VeraCryptSecret { password, keyfiles, pim: self.secret.pim }
        };
        let keeps_keyfiles = read.keyfiles.is_empty() && !self.keyfiles_go();
        Ok(VeraCryptSecret {
            password: read.password,
            keyfiles: if keeps_keyfiles { old.keyfiles.clone() } else { read.keyfiles },
            pim: read.pim.or(old.pim),
        })
    }
}

impl From<&PasswordSource> for SecretChange {
    fn from(secret: &PasswordSource) -> Self {
        Self { secret: secret.clone(), ..Self::default() }
    }
}

impl Serialize for SecretChange {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let new = count_keyfiles(&self.secret.keyfiles);
        let keyfiles = (self.keyfiles_go() || new > 0).then_some(new);
        let mut fields = to.serialize_struct("SecretChange", 4)?;
        fields.serialize_field("new_password", &(self.sets_a_password() || self.no_password))?;
        fields.serialize_field("new_keyfiles", &keyfiles)?;
        fields.serialize_field("new_pim", &self.secret.pim)?;
        fields.serialize_field("new_hash", &self.hash)?;
        fields.end()
    }
}

/// What opens the volume now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedSecret {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// It is a hidden volume's.
    pub hidden: bool,
    /// The key derivation's hash.
    pub hash: HashName,
    /// How many keyfiles there are.
    #[serde(skip)]
    pub keyfiles: usize,
    /// The PIM.
    pub pim: Option<u32>,
    /// How many copies of the header there are: 1 or 2.
    #[serde(rename = "header_copies")]
    pub copies: usize,
}

/// The one protector of a VeraCrypt or TrueCrypt volume: what kind of secret it is, and nothing secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SecretProtector {
    /// Always "0": there is no other.
    pub id: &'static str,
    /// "password", or "keyfiles" where these are all.
    pub kind: &'static str,
    /// How many keyfiles; a folder stands for its files.
    pub keyfiles: usize,
    /// The PIM.
    pub pim: Option<u32>,
}

impl From<&VeraCryptSecret> for SecretProtector {
    fn from(secret: &VeraCryptSecret) -> Self {
        let kind = if secret.password.is_empty() { "keyfiles" } else { "password" };
        Self { id: "0", kind, keyfiles: count_keyfiles(&secret.keyfiles), pim: secret.pim }
    }
}

/// Gives a VeraCrypt or TrueCrypt volume another secret.
pub(super) fn change_secret(
    volume: &LockedVolume<'_>,
    change: &SecretChange,
) -> Result<ChangedSecret, Error> {
    let subject = Subject::Volume(volume.path.clone());
    let old = volume.veracrypt_key()?;
    let store = volume.to_change()?;
    let drive = volume.system_drive()?;
    let request = volume.arguments.veracrypt_request(&old, None, drive.as_ref(), &volume.progress);
    // Nobody thinks of a new one before the old one has opened it.
    let opened = keyway_volume::unlock(&store, &request);
    let opened = opened.map_err(|e| volume.said(store.counted_on_disk(e.into())))?;
    let hash = change.hash.unwrap_or(opened.opened().hash);
    let wanted = change.set_over(&old, hash, &subject, volume.secrets)?;
    if wanted.password.is_empty() && wanted.keyfiles.is_empty() {
        return Err(volume.said(Misuse::NothingWouldOpen));
    }
    tell_weakness(volume.progress, Weakness::of_secrets(&wanted, hash));
    let changed = veracrypt::change_opened(&store, &opened, &request, &wanted, change.hash);
    let changed = changed.map_err(|e| volume.said(e))?;
    Ok(ChangedSecret {
        volume: volume.path.clone(),
        hidden: changed.hidden,
        hash: changed.hash,
        keyfiles: count_keyfiles(&wanted.keyfiles),
        pim: wanted.pim,
        copies: changed.copies,
    })
}
