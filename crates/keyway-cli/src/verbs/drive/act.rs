//! What the verbs of `drive` have in common: which drive, who speaks to it with what secret, and that whatever changes it is
//! a plan first.

use super::{question, told};
use crate::asking::Terminal;
use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::secrets_in::SecretSource;
use keyway::drive::{Authority, Drive, DriveChange, DriveOutcome, DriveSecrets, PasswordHash};
use keyway::secrets::one_standard_input;
use std::path::{Path, PathBuf};

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

/// How a verb answers, and whether it only plans.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    pub(super) out: Output,
    pub(super) dry: DryRunArgs,
}

/// A password in a file, or behind a descriptor.
pub(super) fn source(file: &Option<PathBuf>, fd: Option<u32>) -> SecretSource {
    SecretSource { password_file: file.clone(), password_fd: fd, keyfiles: Vec::new(), pim: None }
}

/// The drive's secrets: the password of whoever acts, and one to be set.
pub(super) fn secrets(
    own: &SecretSource,
    new: &SecretSource,
    hash: PasswordHash,
) -> Result<DriveSecrets<'static>, Failure> {
    let mut secrets = DriveSecrets::asked(&Terminal);
    (secrets.own, secrets.new, secrets.hash) = (own.named(), new.named(), hash);
    secrets.sheet = &question::sheet;
    one_standard_input([&secrets.own, &secrets.new])?;
    Ok(secrets)
}

impl SecretArgs {
    pub(super) fn source(&self) -> SecretSource {
        source(&self.password_file, self.password_fd)
    }

    /// The password, and one to be set.
    pub(super) fn and(&self, new: &NewSecretArgs) -> Result<DriveSecrets<'static>, Failure> {
        let new = source(&new.new_password_file, new.new_password_fd);
        secrets(&self.source(), &new, self.hash.hash)
    }
}

impl AdminArgs {
    /// The password alone.
    pub(super) fn secrets(&self) -> Result<DriveSecrets<'static>, Failure> {
        self.secret.and(&NewSecretArgs::default())
    }

    /// Does something to the drive and tells what came of it.
    pub(super) fn act(&self, change: DriveChange, mode: Mode) -> Result<(), Failure> {
        act(&self.device, change, Some(self.who), &self.secrets()?, mode)
    }
}

/// Does something to a drive and tells what came of it.
pub(super) fn act(
    device: &Path,
    change: DriveChange,
    by: Option<Authority>,
    secrets: &DriveSecrets<'_>,
    mode: Mode,
) -> Result<(), Failure> {
    match done(device, change, by, secrets, mode)? {
        Some(outcome) => mode.out.result(&outcome, || told::outcome(&outcome)),
        None => Ok(()),
    }
}

/// Does something to a drive; nothing where only the plan was wanted.
pub(super) fn done(
    device: &Path,
    change: DriveChange,
    by: Option<Authority>,
    secrets: &DriveSecrets<'_>,
    Mode { out, dry }: Mode,
) -> Result<Option<DriveOutcome>, Failure> {
    let mut drive = Drive::open(device)?;
    let plan = drive.plan(change, by)?;
    plan.notes.iter().for_each(|note| out.warn(&question::note(note)));
    if !dry.go_on(&plan, question::loss(&plan).as_deref(), out)? {
        return Ok(None);
    }
    let outcome = match &plan.change {
        DriveChange::WriteTable { .. } => {
            drive.carry_out(plan, secrets, &Progress::interruptible("writing")?)?
        }
        _ => drive.carry_out(plan, secrets, &())?,
    };
    told::warning(&outcome).iter().for_each(|warning| out.warn(warning));
    Ok(Some(outcome))
}
