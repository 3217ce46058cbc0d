//! Where secrets come from: a file, a descriptor, a TPM, or somebody who is asked.
//!
//! [`Secrets`] is asked: a terminal's prompt, a window's dialog, a keyring, a test. [`Sources`] says what was named
//! beforehand, so that nobody is asked for it.

#[cfg(feature = "tpm")]
mod asking_tpm;
mod bitlocker;
mod password;
mod question;
mod tpm;
mod typed;
mod variants;

pub use crate::secret_role::SecretRole;
pub use crate::variant::Variant;
pub use bitlocker::recovery_in;
pub use password::{PasswordSource, SecretFrom, one_standard_input};
pub(crate) use question::Derived;
pub use question::{Question, Secrets, Subject, Wanted};
pub use tpm::{NewTpmSource, TpmSource};
pub use typed::{CONTROL_C, LINE_LIMIT, Typed};

use crate::detect::{look_at_bitlocker, must_be_noise, seems_bitlocker};
use crate::error::{Error, Misuse};
use crate::progress::{Note, Progress};
use crate::unlock::{Family, Key, UnlockArguments};
use keyway_volume::Secrets as VeraCryptSecret;
use keyway_volume::bitlocker::Secret;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What was named to open a volume. Nothing is needed: what is missing is asked for.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Sources {
    /// Password, keyfiles and PIM.
    pub password: PasswordSource,
    /// A recovery password: its 48 digits, or a file that holds it; `-` is standard input.
    pub recovery_password: Option<OsString>,
    /// The recovery password is asked for, even if there is a password that could be.
    pub asks_recovery_password: bool,
    /// A startup key's file, or a folder in which the volume's one is looked for.
    pub startup_key: Option<PathBuf>,
    /// A TPM that is asked for the key.
    pub tpm: Option<TpmSource>,
    /// A password that is wrong is tried in other spellings, each of which takes as long as the password itself.
    pub tries_variants: bool,
}

impl Sources {
    /// Nothing was named.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, where a password that is wrong is tried in other spellings, or is not.
    #[must_use]
    pub fn in_variants(self, tries_variants: bool) -> Self {
        Self { tries_variants, ..self }
    }

    /// Looks whether what was named is there, and can be what it is named as: before anybody is asked anything.
    ///
    /// # Errors
    /// It isn't, or can't be.
    pub fn check(&self) -> Result<(), Error> {
        self.password.check()?;
        if let Some(key) = &self.startup_key {
            key.metadata().map_err(|e| Error::system("open", key, e))?;
        }
        self.check_recovery_password()
    }

    /// Whether anything was named.
    pub fn is_given(&self) -> bool {
        self.password.is_given() || self.names_bitlocker()
    }

    /// Whether anything was named that only BitLocker volumes have.
    pub fn names_bitlocker(&self) -> bool {
        let recovery = self.recovery_password.is_some() || self.asks_recovery_password;
        recovery || self.startup_key.is_some() || self.tpm.is_some()
    }

    fn recovery_from_stdin(&self) -> bool {
        self.recovery_password.as_deref() == Some(OsStr::new("-"))
    }

    /// Whose code looks at the volume: told before anybody is asked for anything, and so is what is plainly none.
    ///
    /// # Errors
    /// It is none, can't be looked at, or what was named is nothing for it.
    pub fn family(&self, path: &Path, arguments: &UnlockArguments) -> Result<Family, Error> {
        let family = crate::detect::family(path, arguments)?;
        self.must_suit(family, path, arguments).map(|()| family)
    }

    /// Refuses what is nothing for a volume of that family, and what is plainly none.
    pub(crate) fn must_suit(
        &self,
        family: Family,
        path: &Path,
        arguments: &UnlockArguments,
    ) -> Result<(), Error> {
        if family == Family::BitLocker {
            return Ok(());
        }
        must_be_noise(path, arguments)?;
        if self.names_bitlocker() { Err(Misuse::NotBitLocker(path.to_owned()).into()) } else { Ok(()) }
    }

    /// The key of a volume. What wasn't named and is needed is asked for.
    ///
    /// # Errors
    /// The volume can't be looked at, what was named can't be read or is nothing for this volume, or nobody answers.
    pub fn key(
        &self,
        path: &Path,
        arguments: &UnlockArguments,
        secrets: &dyn Secrets,
        progress: &dyn Progress,
    ) -> Result<Key, Error> {
        match self.family(path, arguments)? {
            Family::VeraCrypt => self.veracrypt_key(path, arguments, secrets, progress).map(Key::VeraCrypt),
            Family::BitLocker => self.bitlocker_key(path, arguments, secrets, progress).map(Key::BitLocker),
        }
    }

    /// The same of a volume that is known to be a VeraCrypt or TrueCrypt one.
    ///
    /// # Errors
    /// As [`Sources::key`].
    pub fn veracrypt_key(
        &self,
        path: &Path,
        arguments: &UnlockArguments,
        secrets: &dyn Secrets,
        progress: &dyn Progress,
    ) -> Result<VeraCryptSecret, Error> {
        if self.names_bitlocker() {
            return Err(Misuse::NotBitLocker(path.to_owned()).into());
        }
        if seems_bitlocker(path, arguments) {
            progress.note(&Note::HasMetadata);
        }
        let secret = self.password.read(Wanted::Password, &Subject::Volume(path.to_owned()), secrets)?;
        let with =
            |password| VeraCryptSecret { password, keyfiles: secret.keyfiles.clone(), pim: secret.pim };
        let key = |password| Key::VeraCrypt(with(password));
        let other = self.spelled(path, arguments, &secret.password, &key, progress)?.map(with);
        Ok(other.unwrap_or(secret))
    }

    /// The same of a volume that is known to be a BitLocker one.
    ///
    /// # Errors
    /// As [`Sources::key`].
    pub fn bitlocker_key(
        &self,
        path: &Path,
        arguments: &UnlockArguments,
        secrets: &dyn Secrets,
        progress: &dyn Progress,
    ) -> Result<Vec<Secret>, Error> {
        let mut all =
            self.bitlocker_key_of(path, secrets, || look_at_bitlocker(path, arguments, progress))?;
        for secret in &mut all {
            if let Secret::Password(password) = secret {
                let key = |password| Key::BitLocker(vec![Secret::Password(password)]);
                if let Some(other) = self.spelled(path, arguments, password, &key, progress)? {
                    *password = other;
                }
            }
        }
        Ok(all)
    }
}
