//! `drive setup`: from the factory's state to a locked drive in one command.

use super::recognise;
use super::secret::{SecretArgs, derive, source};
use super::sheet::{self, admin_secret};
use super::target::{Target, must_be_opal};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::secrets_in::{SecretSource, one_stdin};
use crate::shown::shown;
use crate::verbs::name_of;
use keyway::key_file::NewFile;
use keyway_secret::SecretBytes;
use keyway_sed::host::Credential;
use keyway_sed::host::owner::LifeCycle;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::setup::{Plan, USER};
use keyway_sed::password::PasswordHash;
use keyway_sed::uid::authority;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Take a drive from its factory state to a locked one; what is on it stays
///
/// The password unlocks the drive from day to day (as user1). The owner's secret, which may do
/// everything, is made up and written to the recovery sheet, or given by you.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive setup /dev/nvme0n1 --recovery-sheet /media/stick/sheet.txt
  $ keyway drive setup virtual.drive --recovery-sheet sheet.txt --password-file pw.txt --json")]
pub(crate) struct Args {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    #[command(flatten)]
    owner: OwnerArgs,
    #[command(flatten)]
    secret: SecretArgs,
}

/// Where the owner's secret goes or comes from, and how the drive is left.
#[derive(clap::Args, Debug, Clone, Default)]
#[group(skip)]
pub(crate) struct OwnerArgs {
    /// Make up the owner's secret, and write it to this new file. Not onto the drive itself
    #[arg(long, value_name = "FILE", help_heading = "Drive")]
    pub(super) recovery_sheet: Option<PathBuf>,
    /// Read the owner's secret from FILE instead; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "recovery_sheet", help_heading = "Drive")]
    admin_password_file: Option<PathBuf>,
    /// Read the owner's secret from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with_all = ["recovery_sheet", "admin_password_file"], help_heading = "Drive")]
    admin_password_fd: Option<u32>,
    /// Leave the drive unlocked until it loses power
    #[arg(long, help_heading = "Drive")]
    pub(super) leave_unlocked: bool,
    /// Have the drive belong to its user alone: the owner can erase it, and not unlock it (Single User Mode)
    #[arg(long, help_heading = "Drive")]
    pub(super) single_user: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let Args { device, owner, secret } = args;
    let hash = secret.hash.hash;
    set_up(device, hash, &secret.source(), owner, out)?;
    let state = if owner.leave_unlocked { "unlocked" } else { "locked" };
    let document = json!({"device": device, "state": state, "user": format!("user{USER}"),
        "hash": hash.name(), "single_user": owner.single_user, "recovery_sheet": owner.recovery_sheet});
    out.result(&document, || format!("{} is set up. {}", shown(device), owner.what_next(device)))
}

impl OwnerArgs {
    /// Whether any of it was.
    pub(crate) fn is_given(&self) -> bool {
        self.leave_unlocked || self.single_user || self.recovery_sheet.is_some() || self.secret().is_given()
    }

    fn secret(&self) -> SecretSource {
        source(&self.admin_password_file, self.admin_password_fd)
    }

    /// What someone should know who has set a drive up.
    pub(super) fn what_next(&self, device: &Path) -> String {
        let now =
            if self.leave_unlocked { "It is unlocked until it loses power." } else { "It is locked now." };
        let sheet = self.recovery_sheet.as_ref().map_or_else(String::new, |path| {
            format!(
                "\nThe owner's secret is in {}: print it, write the PSID of the drive's label on it, and keep it away \
                 from the drive.",
                shown(path)
            )
        });
        format!("{now}\nUnlock it with: keyway drive unlock {}{sheet}", shown(device))
    }
}

/// Sets a drive up; how long the drive took. `own` is the user's password, `owner` says where the owner's secret is.
pub(super) fn set_up(
    device: &Path,
    hash: PasswordHash,
    own: &SecretSource,
    owner: &OwnerArgs,
    out: Output,
) -> Result<Duration, Failure> {
    let admin = owner.secret();
    if owner.recovery_sheet.is_none() && !admin.is_given() {
        return Err(Failure::usage(
            "the drive's owner needs a secret, and nothing says which",
            "use --recovery-sheet FILE to have one made up, or --admin-password-file FILE",
        ));
    }
    one_stdin([own, &admin])?;
    let mut target = Target::open(device, hash)?;
    must_be_factory_fresh(&mut target)?;
    if !owner.leave_unlocked {
        target.must_be_unused()?;
    }
    if let Some(sheet) = &owner.recovery_sheet {
        target.must_not_hold(sheet)?;
    }
    if !target.host.discovery().locking().is_some_and(|l| l.media_encryption) {
        out.warn("this drive locks without encrypting: whoever takes its chips out can read them");
    }
    if let Some(on_it) = recognise::contents(device) {
        out.warn(&format!("on it is {on_it}; that stays as it is"));
    }
    let serial = target.serial();
    let user_pin = derive(&own.read_new(&name_of(device))?.password, hash, &serial)?;
    let (admin_pin, sheet) = match &owner.recovery_sheet {
        Some(path) => {
            let secret = admin_secret()?;
            let pin = derive(&secret, hash, &serial)?;
            (
                pin,
                Some(sheet::write(path, device, target.host.identity(), (hash, owner.single_user), &secret)?),
            )
        }
        None => (derive(&admin.read_new("the owner")?.password, hash, &serial)?, None),
    };
    let plan = Plan {
        lock: if owner.leave_unlocked { Lock::Unlocked } else { Lock::Locked },
        single_user: owner.single_user,
    };
    let begun = Instant::now();
    if let Err(failure) = target.with(|host| host.set_up(&admin_pin, &user_pin, plan)) {
        return Err(take_back(&mut target, (&admin_pin, &user_pin), failure, sheet));
    }
    let took = begun.elapsed();
    sheet.map(NewFile::keep);
    Ok(took)
}

/// Says why not, before anyone is asked for a password.
fn must_be_factory_fresh(target: &mut Target) -> Result<(), Failure> {
    let path = target.path.clone();
    let name = path.display();
    must_be_opal(&path, target.host.discovery())?;
    if target.host.discovery().locking().is_some_and(|l| l.enabled) {
        return Err(Failure::new(
            Exit::Failed,
            format!("{name} is set up already"),
            "`keyway drive info` shows its state; if a set-up was cut short, `keyway drive revert DEVICE --keep-data` with \
             the owner's secret takes it back and loses nothing",
        )
        .kind(keyway_error::Kind::SetUpAlready));
    }
    // Tries the factory's secret, which tells whether somebody owns it, or firmware blocks.
    target.factory_pin = true;
    let tried = target.with(|host| {
        let msid = host.msid()?;
        host.admin(Some(Credential { authority: authority::SID, pin: &msid }))?.end()?;
        host.locking_life()
    });
    target.factory_pin = false;
    match tried? {
        LifeCycle::ManufacturedInactive => Ok(()),
        LifeCycle::Manufactured | LifeCycle::Other(_) => Err(Failure::new(
            Exit::Failed,
            format!("{name} has locking in a state that it can't be set up from"),
            "take it back to the factory's state first: keyway drive revert DEVICE --psid PSID",
        )
        .kind(keyway_error::Kind::NotNow)),
    }
}

/// Undoes what was done, keeping the data. Where that fails, too, the owner's secret must not be lost.
fn take_back(
    target: &mut Target,
    (admin, user): (&SecretBytes, &SecretBytes),
    failure: Failure,
    sheet: Option<NewFile>,
) -> Failure {
    match target.host.take_back(admin, user) {
        Ok(()) => failure,
        Err(_) => {
            sheet.map(NewFile::keep);
            let hint = format!(
                "the drive may have an owner now, by the secret you gave or the one on the recovery sheet: keep it; \
                 `keyway drive revert --keep-data` with it takes the drive back. {}",
                failure.hint
            );
            failure.hint(hint).kind(keyway_error::Kind::HalfSetUp)
        }
    }
}
