//! `drive`: drives that encrypt by themselves (TCG Opal and its relatives), and virtual ones to try
//! everything on first.

mod act;
#[cfg(feature = "virtual-drive")]
mod emulate;
mod failure;
mod info;
mod list;
mod question;
mod range;
mod setup;
mod table;
mod told;
mod user;
mod whole;

use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::output::Output;
use act::Mode;
use clap::Subcommand;

pub(crate) use info::show;
pub(crate) use setup::{HardwareArgs, OwnerArgs, decrypt, encrypt};

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
    /// Print what would be done, and do nothing
    #[arg(long, global = true, display_order = 902)]
    dry_run: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    #[command(flatten)]
    List(list::Action),
    Setup(setup::Args),
    #[command(flatten)]
    Whole(whole::Action),
    #[command(subcommand)]
    Range(range::Action),
    #[command(subcommand)]
    User(user::Action),
    #[command(subcommand)]
    Mbr(table::ShadowAction),
    #[command(subcommand)]
    Store(table::StoreAction),
    #[cfg(feature = "virtual-drive")]
    Emulate(emulate::Args),
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mode = Mode { out, dry: DryRunArgs { dry_run: args.dry_run } };
    match &args.action {
        Action::List(action) => list::run(action, out),
        Action::Setup(args) => setup::run(args, mode),
        Action::Whole(action) => whole::run(action, mode),
        Action::Range(action) => range::run(action, mode),
        Action::User(action) => user::run(action, mode),
        Action::Mbr(action) => table::shadow(action, mode),
        Action::Store(action) => table::store(action, mode),
        #[cfg(feature = "virtual-drive")]
        Action::Emulate(args) => emulate::run(args, mode),
    }
}
