//! `favourite`: volumes that are opened by a name.

use super::open;
use crate::args::Cli;
use crate::verbs::*;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};
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
    /// Replace the one that has this name
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    open: open::Args,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let done = |name: &str, what: &str, facts: Value| {
        out.result(&facts, || said(&format!("favourite {what}"), &json!({ "name": name })))
    };
    match &args.action {
        Action::Add(add) => {
            let (volume, mountpoint) = add.open.places();
            let stem = volume.file_stem().unwrap_or_default().to_string_lossy();
            let mut new = Favourite::new(add.name.as_deref().unwrap_or(&stem), volume)?;
            new = mountpoint.map_or(Ok(new.clone()), |at| new.at(at))?;
            (new.options, new.for_all) = (options()?, add.for_all);
            if add.open.is_dry() {
                return out.result(&json!({"dry_run": true, "plan": new}), || "Nothing was kept.".to_owned());
            }
            new.keep(add.force)?;
            done(&new.name, "added", json!(new))
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
        Action::Remove { name, for_all } => {
            favourites::forget(name, *for_all)?;
            done(name, "removed", json!({"name": name, "for_all": for_all}))
        }
    }
}

/// The options of `open` that were given, each in one word.
fn options() -> Result<Vec<String>, Failure> {
    let (mut command, words) = (Cli::command(), std::env::args_os());
    let given = command.try_get_matches_from_mut(words).map_err(|e| Failure::usage(e.to_string(), ""))?;
    let given = given.subcommand_matches("favourite").and_then(|given| given.subcommand_matches("add"));
    let add = command.find_subcommand("favourite").and_then(|verb| verb.find_subcommand("add"));
    let mut words = Vec::new();
    for arg in add.into_iter().flat_map(|add| add.get_arguments()).filter(|arg| !arg.is_global_set()) {
        let (Some(given), Some(long)) = (given, arg.get_long()) else { continue };
        if ["name", "for-all", "force", "dry-run"].contains(&long) {
            continue;
        }
        words.extend(option(given, arg.get_id().as_str(), long, arg.get_action().takes_values())?);
    }
    Ok(words)
}

fn option(given: &ArgMatches, id: &str, long: &str, valued: bool) -> Result<Vec<String>, Failure> {
    if given.value_source(id) != Some(ValueSource::CommandLine) {
        return Ok(Vec::new());
    }
    let values = given.get_raw(id).filter(|_| valued).into_iter().flatten();
    Ok(favourites::option(long, values)?)
}
