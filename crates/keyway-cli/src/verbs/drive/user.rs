//! `drive user`: who may unlock what, and their passwords.

use super::range::AdminArgs;
use super::secret::{HashArgs, NewSecretArgs, SecretArgs, Who};
use super::target::Target;
use crate::failure::Failure;
use crate::output::{Output, table};
use crate::secrets_in::one_stdin;
use crate::shown::shown;
use crate::verbs::name_of;
use clap::Subcommand;
use keyway_sed::discovery::Feature;
use keyway_sed::host::Credential;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::single_user::user_of;
use keyway_sed::uid::authority;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Users that are looked at where a drive does not say how many it has (Pyrite: two at least).
const USUAL_USERS: u16 = 2;

/// List users, give them passwords, and say what they may unlock
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive user password /dev/nvme0n1 user1
  $ sudo keyway drive user allow /dev/nvme0n1 user2 --range 1 --password-file admin.txt")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Users, whether they are enabled, and how many wrong passwords were given
    List(ListArgs),
    /// Give a user, an administrator or the owner (sid) another password
    Password(PasswordArgs),
    /// Let a user be used: with a new password, and allowed to unlock a range
    Enable(EnableArgs),
    /// Let a user not be used any more
    Disable(UserArgs),
    /// Let a user lock and unlock a range
    Allow(RangeArgs),
    /// Take that from a user
    Forbid(RangeArgs),
    /// Give ranges to users alone (Single User Mode): range N to user N + 1, whom nobody else can replace
    Alone(AloneArgs),
    /// Set the password of a range's own user where it is empty, and have the range lock
    MoveIn(MoveInArgs),
}

#[derive(clap::Args, Debug)]
struct ListArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    #[command(flatten)]
    admin: AdminArgs,
}

#[derive(clap::Args, Debug)]
struct UserArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Which user: user1, user2 …
    user: Who,
    #[command(flatten)]
    admin: AdminArgs,
}

#[derive(clap::Args, Debug)]
struct RangeArgs {
    /// Which range
    #[arg(long, value_name = "N", default_value_t = 0)]
    range: u16,
    #[command(flatten)]
    user: UserArgs,
}

#[derive(clap::Args, Debug)]
struct AloneArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Which range. Repeatable; none when left out: all are the administrators' again
    #[arg(long, value_name = "N")]
    range: Vec<u16>,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    new: NewSecretArgs,
}

#[derive(clap::Args, Debug)]
struct MoveInArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Which range
    #[arg(long, value_name = "N", default_value_t = 0)]
    range: u16,
    #[command(flatten)]
    hash: HashArgs,
    #[command(flatten)]
    new: NewSecretArgs,
}

#[derive(clap::Args, Debug)]
struct EnableArgs {
    /// Which range the user may unlock
    #[arg(long, value_name = "N", default_value_t = 0)]
    range: u16,
    #[command(flatten)]
    user: UserArgs,
    #[command(flatten)]
    new: NewSecretArgs,
}

#[derive(clap::Args, Debug)]
struct PasswordArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Whose password: sid, admin1, user1 …
    whose: Who,
    /// Who changes it; the same when left out
    #[arg(long = "as", value_name = "WHO")]
    by: Option<Who>,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    new: NewSecretArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::List(args) => list(args, out),
        Action::Password(args) => password(args, out),
        Action::Enable(args) => enable(args, out),
        Action::Disable(args) => {
            let user = number(args.user)?;
            args.admin
                .with(&args.device, |session| session.enable_authority(authority::user(user), false))?;
            told(out, args, json!({"enabled": false}), "is not enabled any more")
        }
        Action::Allow(RangeArgs { user: args, range }) => {
            let user = number(args.user)?;
            args.admin.with(&args.device, |session| session.allow_unlock(*range, user))?;
            told(out, args, json!({"range": range, "allowed": true}), &format!("may unlock range {range}"))
        }
        Action::Alone(args) => alone(args, out),
        Action::MoveIn(args) => move_in(args, out),
        Action::Forbid(RangeArgs { user: args, range }) => {
            let user = number(args.user)?;
            args.admin.with(&args.device, |session| session.forbid_unlock(*range, user))?;
            let words = format!("may not unlock range {range} any more");
            told(out, args, json!({"range": range, "allowed": false}), &words)
        }
    }
}

fn told(out: Output, args: &UserArgs, mut document: Value, words: &str) -> Result<(), Failure> {
    if let Some(fields) = document.as_object_mut() {
        fields.insert("device".to_owned(), json!(args.device));
        fields.insert("user".to_owned(), json!(args.user.to_string()));
    }
    out.result(&document, || format!("{} {words}.", args.user))
}

/// The user's number, where a user was named.
fn number(who: Who) -> Result<u16, Failure> {
    match who {
        Who::User(n) => Ok(n),
        _ => Err(Failure::usage(format!("{who} is no user"), "name one: user1, user2 …")),
    }
}

fn list(args: &ListArgs, out: Output) -> Result<(), Failure> {
    let users = {
        let target = Target::open(&args.device, args.admin.secret.hash.hash)?;
        let told = target.host.discovery().features.iter().find_map(|f| match f {
            Feature::OpalV2(s) | Feature::Ruby(s) => Some(s.users),
            _ => None,
        });
        told.unwrap_or(USUAL_USERS)
    };
    let rows = args.admin.with(&args.device, |session| {
        let mut rows = Vec::new();
        for n in 1..=users {
            let user = session.user(n)?;
            rows.push((Who::User(n), user.enabled, session.tries(authority::user(n)).ok()));
        }
        Ok(rows)
    })?;
    let documents: Vec<Value> = rows
        .iter()
        .map(|(who, enabled, tries)| {
            json!({"user": who.to_string(), "enabled": enabled,
                "tries": tries.map(|t| json!({"limit": t.limit, "wrong": t.wrong, "persistent": t.persistent}))})
        })
        .collect();
    out.result(&json!({"device": args.device, "users": documents}), || {
        let cells = rows.iter().map(|(who, enabled, tries)| {
            let tries = tries.map_or_else(String::new, |t| match t.limit {
                0 => format!("{} wrong, no limit", t.wrong),
                limit => format!("{} wrong of {limit}", t.wrong),
            });
            vec![who.to_string(), (if *enabled { "enabled" } else { "not enabled" }).to_owned(), tries]
        });
        table(&["user", "state", "passwords"], usize::MAX, cells)
    })
}

fn enable(args: &EnableArgs, out: Output) -> Result<(), Failure> {
    let EnableArgs { user: UserArgs { device, user, admin }, range, new } = args;
    one_stdin(&[admin.secret.source(), new.source()])?;
    let number = number(*user)?;
    let mut target = Target::open(device, admin.secret.hash.hash)?;
    target.must_be_set_up()?;
    let pin = admin.secret.pin(&format!("{} on {}", admin.who, name_of(device)), &target.serial())?;
    let fresh =
        new.pin(&format!("{user} on {}", name_of(device)), admin.secret.hash.hash, &target.serial())?;
    target.locking(admin.who, &pin, |session| {
        session.set_pin(authority::user(number), &fresh)?;
        session.enable_authority(authority::user(number), true)?;
        session.allow_unlock(*range, number)
    })?;
    let words = format!("has a password and may unlock range {range}");
    told(out, &args.user, json!({"enabled": true, "range": range, "allowed": true}), &words)
}

fn password(args: &PasswordArgs, out: Output) -> Result<(), Failure> {
    let PasswordArgs { device, whose, by, secret, new } = args;
    one_stdin(&[secret.source(), new.source()])?;
    let by = by.unwrap_or(*whose);
    if (*whose == Who::Sid) != (by == Who::Sid) {
        return Err(Failure::usage(
            "the owner (sid) and the others belong to different parts of the drive",
            "change the owner's password as sid, the others' as admin1 or as themselves",
        ));
    }
    let mut target = Target::open(device, secret.hash.hash)?;
    let pin = secret.pin(&format!("{by} on {}", name_of(device)), &target.serial())?;
    let fresh = new.pin(&format!("{whose} on {}", name_of(device)), secret.hash.hash, &target.serial())?;
    if *whose == Who::Sid {
        target.with(|host| {
            let mut session = host.admin(Some(Credential { authority: authority::SID, pin: &pin }))?;
            session.set_pin(authority::SID, &fresh)?;
            session.end()
        })?;
    } else {
        target.locking(by, &pin, |session| session.set_pin(whose.uid(), &fresh))?;
    }
    let document = json!({"device": device, "whose": whose.to_string(), "changed": true});
    out.result(&document, || format!("{whose} has another password."))
}

/// Reactivate, and the new users' passwords in the same run: between the two their ranges are anybody's.
fn alone(args: &AloneArgs, out: Output) -> Result<(), Failure> {
    let AloneArgs { device, range: ranges, secret, new } = args;
    one_stdin([&secret.source(), &new.source()])?;
    let mut target = Target::open(device, secret.hash.hash)?;
    target.must_be_set_up()?;
    out.confirm(&format!(
        "Every user's password on {} will be empty and no range will lock, but those that are given away now. \
         What is in the ranges stays.",
        device.display()
    ))?;
    let pin = secret.pin(&format!("admin1 on {}", name_of(device)), &target.serial())?;
    let fresh = match ranges.as_slice() {
        [] => None,
        _ => Some(new.pin("the ranges' users", secret.hash.hash, &target.serial())?),
    };
    target.with(|host| {
        host.give_to_users(&pin, ranges)?;
        let Some(fresh) = &fresh else { return Ok(()) };
        ranges.iter().try_for_each(|range| host.move_in(*range, fresh, Lock::Unlocked))
    })?;
    let users: Vec<String> = ranges.iter().map(|range| Who::User(user_of(*range)).to_string()).collect();
    out.result(&json!({"device": device, "ranges": ranges, "users": users}), || match users.as_slice() {
        [] => format!("{}: no range is a user's alone.", shown(device)),
        users => {
            format!("{}: each given range is its user's alone now: {}.", shown(device), users.join(", "))
        }
    })
}

fn move_in(args: &MoveInArgs, out: Output) -> Result<(), Failure> {
    let MoveInArgs { device, range, hash, new } = args;
    let mut target = Target::open(device, hash.hash)?;
    target.must_be_set_up()?;
    let who = Who::User(user_of(*range));
    let fresh = new.pin(&format!("{who} on {}", name_of(device)), hash.hash, &target.serial())?;
    target.with(|host| host.move_in(*range, &fresh, Lock::Unlocked))?;
    let document = json!({"device": device, "range": range, "user": who.to_string()});
    out.result(&document, || format!("Range {range} is {who}'s, and locks at every power cycle."))
}
