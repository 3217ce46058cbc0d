//! `favourite`: volumes that are opened by a name.

use super::open;
use crate::verbs::*;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, Command, FromArgMatches};
use keyway::favourites::{self, Favourite};

/// Keep a volume under a name, with all that opens it but its secret
///
/// `keyway open NAME` opens it as it was added; `close`, `status`, `info`, `ls`, `get`, `put` and `cat` take the name, too.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Keep a volume, and what `open` takes beside it
    Add(Box<Add>),
    /// List them
    List,
    /// Forget one; the volume stays as it is
    Remove {
        /// Its name
        name: String,
        /// One of all users' (needs root)
        #[arg(long)]
        for_all: bool,
        #[command(flatten)]
        dry: DryRunArgs,
    },
}

#[derive(clap::Args, Debug)]
struct Add {
    /// What it is called; left out, as the volume's file is
    #[arg(long)]
    name: Option<String>,
    /// For all users of this machine (needs root)
    #[arg(long)]
    for_all: bool,
    /// Open it when the machine starts, by systemd; with --for-all
    #[arg(long, requires = "for_all")]
    at_boot: bool,
    /// Replace the one that has this name
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    open: Opened,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Add(add) => {
            let (volume, mountpoint) = add.open.args.places();
            let stem = volume.file_stem().unwrap_or_default().to_string_lossy();
            let mut new = Favourite::new(add.name.as_deref().unwrap_or(&stem), volume)?;
            new = mountpoint.map_or(Ok(new.clone()), |at| new.at(at))?;
            for (long, values) in &add.open.options {
                new.options.extend(favourites::option(long, values.iter().map(OsString::as_os_str))?);
            }
            (new.for_all, new.at_boot) = (add.for_all, add.at_boot);
            new.doubts()?.iter().for_each(|doubt| out.warn(&said("favourite doubt", doubt)));
            if add.open.args.is_dry() {
                return out.result(&json!({"dry_run": true, "plan": new}), || "Nothing was kept.".to_owned());
            }
            new.keep(add.force)?;
            let told = || said("favourite added", &facts(&new, json!({"hidden": new.is_hidden()})));
            out.result(&json!(new), told)
        }
        Action::List => {
            let all = favourites::all()?;
            let row = |one: &Favourite| {
                let whose = if one.for_all { "all users" } else { "you" }.to_owned();
                let at = one.mountpoint.clone().unwrap_or_default();
                vec![one.name.clone(), one.volume.clone(), at, one.options.join(" "), whose]
            };
            let table =
                || table(&["name", "volume", "at", "options", "whose"], usize::MAX, all.iter().map(row));
            let none = || "There is no favourite: `keyway favourite add VOLUME` keeps one.".to_owned();
            out.result(&json!({"favourites": all}), || if all.is_empty() { none() } else { table() })
        }
        Action::Remove { name, for_all, dry } => {
            let kept = favourites::to_forget(name, *for_all)?;
            let told = |_: &Value| said("favourite removed", &json!({ "name": name }));
            let forget = |kept: Favourite| kept.forget().map(|()| json!({"name": name, "for_all": for_all}));
            dry.carry_out(kept, None, forget, told, out)
        }
    }
}

/// What `open` takes, and which of its options were given.
#[derive(Debug)]
struct Opened {
    args: open::Args,
    options: Vec<(String, Vec<OsString>)>,
}

impl clap::Args for Opened {
    fn augment_args(command: Command) -> Command {
        open::Args::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        open::Args::augment_args_for_update(command)
    }
}

impl FromArgMatches for Opened {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        let command = open::Args::augment_args(Command::new("open"));
        let option = |arg: &clap::Arg| {
            let (id, long) = (arg.get_id().as_str(), arg.get_long().filter(|long| *long != "dry-run")?);
            let valued = arg.get_action().takes_values();
            let values = given.get_raw(id).filter(|_| valued).into_iter().flatten().map(OsString::from);
            let is_given = given.value_source(id) == Some(ValueSource::CommandLine);
            is_given.then(|| (long.to_owned(), values.collect()))
        };
        let options = command.get_arguments().filter_map(option).collect();
        Ok(Self { args: open::Args::from_arg_matches(given)?, options })
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(given)?;
        Ok(())
    }
}
