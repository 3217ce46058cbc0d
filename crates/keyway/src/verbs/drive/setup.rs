//! `drive setup`: from the factory's state to a locked drive in one command.

use super::recognise;
use super::secret::{SecretArgs, derive, source};
use super::sheet::{self, admin_secret};
use super::target::{Target, must_be_opal};
use crate::failure::{Exit, Failure};
use crate::key_file::NewFile;
use crate::output::Output;
use crate::secrets_in::one_stdin;
use crate::verbs::name_of;
use keyway_secret::SecretBytes;
use keyway_sed::host::Credential;
use keyway_sed::host::owner::LifeCycle;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::setup::USER;
use keyway_sed::uid::authority;
use serde_json::json;
use std::path::PathBuf;

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
    /// Make up the owner's secret, and write it to this new file. Not onto the drive itself
    #[arg(long, value_name = "FILE", required_unless_present_any = ["admin_password_file", "admin_password_fd"])]
    recovery_sheet: Option<PathBuf>,
    /// Read the owner's secret from FILE instead; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "recovery_sheet", help_heading = "Secret")]
    admin_password_file: Option<PathBuf>,
    /// Read the owner's secret from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with_all = ["recovery_sheet", "admin_password_file"], help_heading = "Secret")]
    admin_password_fd: Option<u32>,
    #[command(flatten)]
    secret: SecretArgs,
    /// Leave the drive unlocked until it loses power
    #[arg(long)]
    leave_unlocked: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let hash = args.secret.hash.hash;
    let mut target = Target::open(&args.device, hash)?;
    must_be_factory_fresh(args, &mut target)?;
    if !args.leave_unlocked {
        target.must_be_unused()?;
    }
    if !target.host.discovery().locking().is_some_and(|l| l.media_encryption) {
        out.warn("this drive locks without encrypting: whoever takes its chips out can read them");
    }
    if let Some(on_it) = recognise::contents(&args.device) {
        out.warn(&format!("on it is {on_it}; that stays as it is"));
    }
    let own = args.secret.source();
    let admin = source(&args.admin_password_file, args.admin_password_fd);
    one_stdin(&[own.clone(), admin.clone()])?;
    let serial = target.serial();
    let user_pin = derive(&own.read_new(&name_of(&args.device))?.password, hash, &serial)?;
    let (admin_pin, sheet) = match &args.recovery_sheet {
        Some(path) => {
            let secret = admin_secret()?;
            let pin = derive(&secret, hash, &serial)?;
            (pin, Some(sheet::write(path, &args.device, target.host.identity(), hash, &secret)?))
        }
        None => (derive(&admin.read_new("the owner")?.password, hash, &serial)?, None),
    };
    let lock = if args.leave_unlocked { Lock::Unlocked } else { Lock::Locked };
    if let Err(failure) = target.with(|host| host.set_up(&admin_pin, &user_pin, lock)) {
        return Err(take_back(&mut target, &admin_pin, failure, sheet));
    }
    sheet.map(NewFile::keep);
    let state = if args.leave_unlocked { "unlocked" } else { "locked" };
    let document = json!({"device": args.device, "state": state, "user": format!("user{USER}"),
        "hash": hash.name(), "recovery_sheet": args.recovery_sheet});
    out.result(&document, || {
        let device = args.device.display();
        let now = if args.leave_unlocked { "It is unlocked until it loses power." } else { "It is locked now." };
        let sheet = match &args.recovery_sheet {
            Some(path) => format!(
                "\nThe owner's secret is in {}: print it, write the PSID of the drive's label on it, and keep it away \
                 from the drive.",
                path.display()
            ),
            None => String::new(),
        };
        format!("{device} is set up. {now}\nUnlock it with: keyway drive unlock {device}{sheet}")
    })
}

/// Says why not, before anyone is asked for a password.
fn must_be_factory_fresh(args: &Args, target: &mut Target) -> Result<(), Failure> {
    let name = args.device.display();
    must_be_opal(&args.device, target.host.discovery())?;
    if target.host.discovery().locking().is_some_and(|l| l.enabled) {
        return Err(Failure::new(
            Exit::Failed,
            format!("{name} is set up already"),
            "`keyway drive info` shows its state; if a set-up was cut short, `keyway drive revert DEVICE --keep-data` with \
             the owner's secret takes it back and loses nothing",
        )
        .kind("set-up-already"));
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
        .kind("not-now")),
    }
}

/// Undoes what was done, keeping the data. Where that fails, too, the owner's secret must not be lost.
fn take_back(target: &mut Target, admin: &SecretBytes, failure: Failure, sheet: Option<NewFile>) -> Failure {
    match target.host.take_back(admin) {
        Ok(()) => failure,
        Err(_) => {
            sheet.map(NewFile::keep);
            let hint = format!(
                "the drive may have an owner now, by the secret you gave or the one on the recovery sheet: keep it; \
                 `keyway drive revert --keep-data` with it takes the drive back. {}",
                failure.hint
            );
            failure.hint(hint).kind("half-set-up")
        }
    }
}
