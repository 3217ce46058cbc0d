//! Where secrets come from: a file, a descriptor, a TPM, or somebody who is asked.
//!
//! [`Secrets`] is asked: a terminal's prompt, a window's dialog, a keyring, a test. [`Sources`] says what was named
//! beforehand, so that nobody is asked for it.

#[cfg(feature = "tpm")]
mod asking_tpm;
mod bitlocker;
mod password;
mod tpm;

pub use bitlocker::recovery_in;
pub use password::{PasswordSource, SecretFrom, one_standard_input};
pub use tpm::{NewTpmSource, TpmSource};

use crate::detect::look_at_bitlocker;
use crate::error::{Error, Misuse};
use crate::searching::SearchProgress;
use crate::unlock::{Family, Key, UnlockArguments};
use keyway_secret::SecretBytes;
use keyway_sed::Authority;
use keyway_volume::Secrets as VeraCryptSecret;
use keyway_volume::bitlocker::Secret;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Somebody who can be asked for a secret.
///
/// A [`SecretBytes`] answers everything with itself; `()` answers nothing.
pub trait Secrets {
    /// The answer, or `None` where nobody can be asked: then what was named must do.
    ///
    /// # Errors
    /// Whatever went wrong while asking: [`Error::answer`].
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error>;
}

/// What is asked for, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question<'a> {
    /// What is wanted.
    pub wanted: Wanted,
    /// What it opens.
    pub subject: &'a Subject,
}

/// A kind of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wanted {
    /// A password that is in force.
    Password,
    /// A password to be set: whoever asks a person asks twice.
    NewPassword,
    /// A BitLocker volume's recovery password.
    RecoveryPassword,
    /// The PIN of a TPM's protector.
    Pin,
    /// A PIN to be set: whoever asks a person asks twice.
    NewPin,
    /// The secret on a drive's label (PSID).
    Psid,
}

/// What a secret opens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The volume at this path.
    Volume(PathBuf),
    /// The hidden volume in the one at this path.
    Hidden(PathBuf),
    /// The outer volume at this path, around a hidden one.
    Outer(PathBuf),
    /// A header's backup file: the secret that was in force when it was made.
    Backup(PathBuf),
    /// Somebody whom the drive at this path knows.
    Drive(PathBuf, Authority),
    /// Something with a name of its own.
    Named(String),
}

impl Secrets for () {
    fn answer(&self, _: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        Ok(None)
    }
}

impl Secrets for SecretBytes {
    fn answer(&self, _: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        Ok(Some(Self::copy_of(self)))
    }
}

impl<S: Secrets + ?Sized> Secrets for &S {
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        (**self).answer(question)
    }
}

/// What was named to open a volume. Nothing is needed: what is missing is asked for.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Sources {
    /// Password, keyfiles and PIM.
    pub password: PasswordSource,
    /// A recovery password: its 48 digits, or a file that holds it; `-` is standard input.
    pub recovery_password: Option<OsString>,
    /// A startup key's file, or a folder in which the volume's one is looked for.
    pub startup_key: Option<PathBuf>,
    /// A TPM that is asked for the key.
    pub tpm: Option<TpmSource>,
}

impl Sources {
    /// Nothing was named.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether anything was named that only BitLocker volumes have.
    pub fn names_bitlocker(&self) -> bool {
        self.recovery_password.is_some() || self.startup_key.is_some() || self.tpm.is_some()
    }

    fn recovery_from_stdin(&self) -> bool {
        self.recovery_password.as_deref() == Some(OsStr::new("-"))
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
        progress: &dyn SearchProgress,
    ) -> Result<Key, Error> {
        match crate::detect::family(path, arguments)? {
            Family::VeraCrypt => self.veracrypt_key(path, secrets).map(Key::VeraCrypt),
            Family::BitLocker => self.bitlocker_key(path, arguments, secrets, progress).map(Key::BitLocker),
        }
    }

    /// The same of a volume that is known to be a VeraCrypt or TrueCrypt one.
    ///
    /// # Errors
    /// As [`Sources::key`].
    pub fn veracrypt_key(&self, path: &Path, secrets: &dyn Secrets) -> Result<VeraCryptSecret, Error> {
        if self.names_bitlocker() {
            return Err(Misuse::NotBitLocker(path.to_owned()).into());
        }
        self.password.read(Wanted::Password, &Subject::Volume(path.to_owned()), secrets)
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
        progress: &dyn SearchProgress,
    ) -> Result<Vec<Secret>, Error> {
        self.bitlocker_key_of(path, secrets, || look_at_bitlocker(path, arguments, progress))
    }
}
