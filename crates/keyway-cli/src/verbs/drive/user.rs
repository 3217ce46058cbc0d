//! `drive user`: who may unlock what, and their passwords.

use super::act::{AdminArgs, HashArgs, Mode, NewSecretArgs, SecretArgs, act};
use crate::failure::Failure;
use crate::output::{Output, table};
use clap::Subcommand;
use keyway::drive::{Authority, Drive, DriveChange};
use std::path::PathBuf;

/// List users, give them passwords, and say what they may unlock
#[derive(Subcommand, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive user password /dev/nvme0n1 user1
  $ sudo keyway drive user allow /dev/nvme0n1 user2 --range 1 --password-file admin.txt")]
pub(super) enum Action {
    /// Users, whether they are enabled, and how many wrong passwords were given
    List(AdminArgs),
    /// Give a user, an administrator or the owner (sid) another password
    Password {
        /// The drive's device, or a virtual drive's file
        device: PathBuf,
        /// Whose password: sid, admin1, user1 …
        whose: Authority,
        /// Who changes it; the same when left out
        #[arg(long = "as", value_name = "WHO")]
        by: Option<Authority>,
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        new: NewSecretArgs,
    },
    /// Let a user be used: with a new password, and allowed to unlock a range
    Enable {
        #[command(flatten)]
        user: RangeArgs,
        #[command(flatten)]
        new: NewSecretArgs,
    },
    /// Let a user not be used any more
    Disable(UserArgs),
    /// Let a user lock and unlock a range
    Allow(RangeArgs),
    /// Take that from a user
    Forbid(RangeArgs),
    /// Give ranges to users alone (Single User Mode): range N to user N + 1, whom nobody else can replace
    Alone {
        /// The drive's device, or a virtual drive's file
        device: PathBuf,
        /// Which range. Repeatable; none when left out: all are the administrators' again
        #[arg(long = "range", value_name = "N")]
        ranges: Vec<u16>,
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        new: NewSecretArgs,
    },
    /// Set the password of a range's own user where it is empty, and have the range lock
    MoveIn {
        /// The drive's device, or a virtual drive's file
        device: PathBuf,
        /// Which range
        #[arg(long, value_name = "N", default_value_t = 0)]
        range: u16,
        #[command(flatten)]
        hash: HashArgs,
        #[command(flatten)]
        new: NewSecretArgs,
    },
}

#[derive(clap::Args, Debug)]
pub(super) struct UserArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// Which user: user1, user2 …
    user: Authority,
}

#[derive(clap::Args, Debug)]
pub(super) struct RangeArgs {
    /// Which range
    #[arg(long, value_name = "N", default_value_t = 0)]
    range: u16,
    #[command(flatten)]
    user: UserArgs,
}

/// Runs the verb.
pub(super) fn run(action: &Action, mode: Mode) -> Result<(), Failure> {
    match action {
        Action::List(admin) => list(admin, mode.out),
        Action::Password { device, whose, by, secret, new } => {
            act(device, DriveChange::SetPassword { whose: *whose }, *by, &secret.and(new)?, mode)
        }
        Action::Enable { user: RangeArgs { range, user: UserArgs { admin, user } }, new } => {
            let change = DriveChange::EnableUser { user: *user, range: *range };
            act(&admin.device, change, Some(admin.who), &admin.secret.and(new)?, mode)
        }
        Action::Disable(UserArgs { admin, user }) => {
            admin.act(DriveChange::DisableUser { user: *user }, mode)
        }
        Action::Allow(range) => range.allow(true, mode),
        Action::Forbid(range) => range.allow(false, mode),
        Action::Alone { device, ranges, secret, new } => {
            let change = DriveChange::GiveToUsers { ranges: ranges.clone() };
            act(device, change, None, &secret.and(new)?, mode)
        }
        Action::MoveIn { device, range, hash, new } => {
            let mut secrets = SecretArgs::default().and(new)?;
            secrets.hash = hash.hash;
            act(device, DriveChange::MoveIn { range: *range }, None, &secrets, mode)
        }
    }
}

impl RangeArgs {
    fn allow(&self, allowed: bool, mode: Mode) -> Result<(), Failure> {
        let change = DriveChange::AllowUser { user: self.user.user, range: self.range, allowed };
        self.user.admin.act(change, mode)
    }
}

fn list(admin: &AdminArgs, out: Output) -> Result<(), Failure> {
    let told = Drive::open(&admin.device)?.users(admin.who, &admin.secrets()?)?;
    out.result(&told, || {
        let cells = told.users.iter().map(|user| {
            let tries = user.tries.map_or_else(String::new, |t| match t.limit {
                0 => format!("{} wrong, no limit", t.wrong),
                limit => format!("{} wrong of {limit}", t.wrong),
            });
            vec![
                user.user.to_string(),
                (if user.enabled { "enabled" } else { "not enabled" }).to_owned(),
                tries,
            ]
        });
        table(&["user", "state", "passwords"], usize::MAX, cells)
    })
}
