//! The words that the verbs of `drive` share: which drive, who speaks to it with what secret.

use super::Wanted;
use super::sheet::sheet;
use crate::asking::Terminal;
use crate::verbs::*;
use keyway::drive::{Authority, DriveChange, DriveSecrets, PasswordHash};
use keyway::secrets::{PasswordSource, SecretFrom, one_standard_input};

/// The options of the secret that a drive is told.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Secret")]
pub(super) struct SecretArgs {
    /// Read the password from FILE; `-` is standard input. One trailing newline is dropped
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Read the password from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with = "password_file")]
    password_fd: Option<u32>,
    #[command(flatten)]
    pub(super) hash: HashArgs,
}

/// The convention by which passwords are hashed.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Secret")]
pub(super) struct HashArgs {
    /// How the password becomes what the drive is told: `sedutil` (PBKDF2-SHA1, as sedutil),
    /// `sedutil-sha512` (its fork) or `plain` (not hashed, as the kernel and cryptsetup)
    #[arg(long, value_name = "HOW", default_value_t)]
    pub(super) hash: PasswordHash,
}

/// The options of a secret to be set.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "New secret")]
pub(super) struct NewSecretArgs {
    /// Read the new password from FILE; `-` is standard input. One trailing newline is dropped
    #[arg(long, value_name = "FILE")]
    new_password_file: Option<PathBuf>,
    /// Read the new password from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with = "new_password_file")]
    new_password_fd: Option<u32>,
}

/// A drive that is changed.
#[derive(clap::Args, Debug)]
pub(super) struct DeviceArgs {
    /// The drive's device, or a virtual drive's file
    pub(super) device: PathBuf,
    #[command(flatten)]
    pub(super) dry: DryRunArgs,
}

/// A drive, somebody whom it knows, and the secret.
#[derive(clap::Args, Debug)]
pub(super) struct AdminArgs {
    /// The drive's device, or a virtual drive's file
    pub(super) device: PathBuf,
    /// Whose password it is: admin1, user1 …
    #[arg(long = "as", value_name = "WHO", default_value = "admin1")]
    pub(super) who: Authority,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
}

/// The same where the drive is changed.
#[derive(clap::Args, Debug)]
pub(super) struct ChangeArgs {
    #[command(flatten)]
    pub(super) dry: DryRunArgs,
    #[command(flatten)]
    pub(super) admin: AdminArgs,
}

/// The password in a file, or behind a descriptor.
pub(super) fn source(file: Option<&PathBuf>, descriptor: Option<u32>) -> PasswordSource {
    let mut source = PasswordSource::new();
    source.password = SecretFrom::named(file.map(PathBuf::as_path), descriptor);
    source
}

/// The drive's secrets: the password of whoever acts, and one to be set.
pub(super) fn secrets(
    own: PasswordSource,
    new: PasswordSource,
    hash: PasswordHash,
) -> Result<DriveSecrets<'static>, Failure> {
    one_standard_input([&own, &new])?;
    Ok(DriveSecrets { own, new, hash, sheet: &sheet, ..DriveSecrets::asked(&Terminal) })
}

impl SecretArgs {
    pub(super) fn source(&self) -> PasswordSource {
        source(self.password_file.as_ref(), self.password_fd)
    }

    /// The password, and one to be set.
    pub(super) fn and(&self, new: &NewSecretArgs) -> Result<DriveSecrets<'static>, Failure> {
        secrets(self.source(), source(new.new_password_file.as_ref(), new.new_password_fd), self.hash.hash)
    }

    /// The password alone.
    pub(super) fn alone(&self) -> Result<DriveSecrets<'static>, Failure> {
        self.and(&NewSecretArgs::default())
    }
}

impl DeviceArgs {
    /// Something is wanted of it.
    pub(super) fn wanted(
        &self,
        change: DriveChange,
        by: Option<Authority>,
        secrets: DriveSecrets<'static>,
    ) -> Wanted<'_> {
        Wanted { device: &self.device, change, by, secrets, dry: self.dry }
    }
}

impl ChangeArgs {
    /// Something is wanted of it, with a password to be set.
    pub(super) fn with(&self, new: &NewSecretArgs, change: DriveChange) -> Result<Wanted<'_>, Failure> {
        let AdminArgs { device, who, secret } = &self.admin;
        Ok(Wanted { device, change, by: Some(*who), secrets: secret.and(new)?, dry: self.dry })
    }

    /// Something is wanted of it.
    pub(super) fn wanted(&self, change: DriveChange) -> Result<Wanted<'_>, Failure> {
        self.with(&NewSecretArgs::default(), change)
    }
}
