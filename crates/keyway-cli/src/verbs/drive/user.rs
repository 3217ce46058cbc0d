//! `drive user`: who may unlock what, and their passwords.

use super::args::{AdminArgs, ChangeArgs, DeviceArgs, HashArgs, NewSecretArgs, SecretArgs};
use crate::verbs::*;
use keyway::drive::{Authority, Drive, DriveChange, DriveSecrets};

/// List users, give them passwords, and say what they may unlock
#[derive(clap::Subcommand, Debug)]
pub(super) enum Action {
    /// Users, whether they are enabled, and how many wrong passwords were given
    List(AdminArgs),
    /// Give a user, an administrator or the owner another password
    Password {
        #[command(flatten)]
        on: DeviceArgs,
        /// Whose password: owner (also sid), admin1, user1 …
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
        #[command(flatten)]
        on: DeviceArgs,
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
        #[command(flatten)]
        on: DeviceArgs,
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
    admin: ChangeArgs,
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

pub(super) fn run(action: &Action, out: Output) -> Result<(), Failure> {
    let wanted = match action {
        Action::List(admin) => return list(admin, out),
        Action::Password { on, whose, by, secret, new } => {
            on.wanted(DriveChange::SetPassword { whose: *whose }, *by, secret.and(new)?)
        }
        Action::Enable { user: RangeArgs { range, user: UserArgs { admin, user } }, new } => {
            admin.with(new, DriveChange::EnableUser { user: *user, range: *range })?
        }
        Action::Disable(UserArgs { admin, user }) => {
            admin.wanted(DriveChange::DisableUser { user: *user })?
        }
        Action::Allow(of) | Action::Forbid(of) => {
            let (user, range, allowed) = (of.user.user, of.range, matches!(action, Action::Allow(_)));
            of.user.admin.wanted(DriveChange::AllowUser { user, range, allowed })?
        }
        Action::Alone { on, ranges, secret, new } => {
            on.wanted(DriveChange::GiveToUsers { ranges: ranges.clone() }, None, secret.and(new)?)
        }
        Action::MoveIn { on, range, hash, new } => {
            let secrets = DriveSecrets { hash: hash.hash, ..SecretArgs::default().and(new)? };
            on.wanted(DriveChange::MoveIn { range: *range }, None, secrets)
        }
    };
    wanted.run(out)
}

fn list(admin: &AdminArgs, out: Output) -> Result<(), Failure> {
    let told = Drive::open(&admin.device)?.users(admin.who, &admin.secret.alone()?)?;
    out.result(&told, || {
        let cells = told.users.iter().map(|user| {
            let tries = user.tries.map_or_else(String::new, |t| match t.limit {
                0 => format!("{} wrong, no limit", t.wrong),
                limit => format!("{} wrong of {limit}", t.wrong),
            });
            let state = if user.enabled { "enabled" } else { "not enabled" };
            vec![user.user.to_string(), state.to_owned(), tries]
        });
        table(&["user", "state", "passwords"], usize::MAX, cells)
    })
}
