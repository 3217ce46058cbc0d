//! `drive`: drives that encrypt by themselves (TCG Opal and its relatives), and virtual ones to try
//! everything on first.

mod emulate;
mod erase;
mod hardware;
mod info;
mod kernel;
mod list;
mod locks;
mod range;
mod recognise;
mod revert;
mod secret;
mod setup;
mod shadow;
mod sheet;
mod store;
mod target;
mod user;

use crate::failure::Failure;
use crate::output::Output;
use clap::Subcommand;

pub(crate) use hardware::{HardwareArgs, decrypt, encrypt};
pub(crate) use info::{show, status as status_of};
pub(crate) use recognise::{METHOD, is_drive};
pub(crate) use setup::OwnerArgs;

/// Drives that encrypt by themselves: list, set up, lock, unlock, erase, revert
///
/// DEVICE is an NVMe, SATA or SAS drive (/dev/nvme0n1, /dev/sda), or the state file of a virtual drive.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway drive list
  $ keyway drive setup /dev/nvme0n1 --recovery-sheet sheet.txt
  $ keyway drive unlock /dev/nvme0n1 --password-file pw.txt

Try it on a virtual drive before you touch a real one: docs/guide/self-encrypting-drives.md")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    List(list::Args),
    Info(info::Args),
    Setup(setup::Args),
    Lock(locks::LockArgs),
    Unlock(locks::UnlockArgs),
    Range(range::Args),
    User(user::Args),
    Mbr(shadow::Args),
    Store(store::Args),
    Erase(erase::Args),
    Revert(revert::Args),
    Block(revert::BlockArgs),
    Reset(revert::ResetArgs),
    Emulate(emulate::Args),
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::List(args) => list::run(args, out),
        Action::Info(args) => info::run(args, out),
        Action::Setup(args) => setup::run(args, out),
        Action::Lock(args) => locks::lock(args, out),
        Action::Unlock(args) => locks::unlock(args, out),
        Action::Range(args) => range::run(args, out),
        Action::User(args) => user::run(args, out),
        Action::Mbr(args) => shadow::run(args, out),
        Action::Store(args) => store::run(args, out),
        Action::Erase(args) => erase::run(args, out),
        Action::Revert(args) => revert::run(args, out),
        Action::Block(args) => revert::block(args, out),
        Action::Reset(args) => revert::reset(args, out),
        Action::Emulate(args) => emulate::run(args, out),
    }
}
