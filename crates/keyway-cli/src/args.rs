//! The words of the command line; each verb's own are in its file under `verbs/`.

use crate::failure::Failure;
use crate::output::Output;
#[cfg(feature = "lab")]
use crate::verbs::{bench, demo, lab};
use crate::verbs::{
    cat, choice, close, create, decrypt, doctor, drive, encrypt, erase, favourite, get, header, info, ls,
    open, pause, protector, put, resize, resume, serve, serve_volume, status, ublk_owner,
};
use clap::{Arg, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use keyway::pace::PaceStyle;
use keyway::spelled::first_sentence;
use keyway::told::said_in;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Opens, makes, converts and serves encrypted volumes, and measures what they cost.
#[derive(Parser, Debug)]
#[command(
    name = "keyway",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "`keyway VERB -h` shows what a verb takes; `keyway demo` is the tour.",
    after_long_help = "Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 wrong secret, 4 not a volume or a \
                       damaged one,\n5 not permitted or something is missing here, 6 busy, 7 not open (--exit-code).\n\
                       `keyway VERB --help` shows examples; `keyway demo` is the tour."
)]
pub(crate) struct Cli {
    /// Print the answer as one JSON document
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// Do what destroys data without asking
    #[arg(long, global = true, display_order = 901)]
    pub(crate) yes: bool,
    /// Tell more, such as how a volume is attached and why so
    #[arg(long, short, global = true, display_order = 904, hide_short_help = true)]
    pub(crate) verbose: bool,
    /// Tell the result, warnings and errors alone: no progress, no remarks
    #[arg(
        long,
        short,
        global = true,
        conflicts_with = "verbose",
        display_order = 905,
        hide_short_help = true
    )]
    pub(crate) quiet: bool,
    /// Tell so how far long work is; left out, by a bar on a terminal and by lines elsewhere
    #[arg(long, global = true, value_name = "HOW", display_order = 906, hide_short_help = true, value_parser = choice(PROGRESS))]
    pub(crate) progress: Option<PaceStyle>,
    /// Append to FILE what is done, step by step, with times and errors and without secrets; KEYWAY_LOG names one
    /// as well
    #[arg(long, global = true, value_name = "FILE", display_order = 907, hide_short_help = true)]
    pub(crate) log: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Cli {
    /// What these words say; only the verb that they name has its help made, which for all takes longer than most verbs.
    pub(crate) fn of<W: AsRef<OsStr> + Clone + Into<OsString>>(words: &[W]) -> Result<Self, clap::Error> {
        let mut command = with_help_of(|verb| words.iter().any(|word| word.as_ref() == verb));
        Self::from_arg_matches_mut(&mut command.try_get_matches_from_mut(words)?)
    }
}

/// The command line, with the help of the verbs that are asked for.
pub(crate) fn with_help_of(asked: impl Fn(&str) -> bool) -> Command {
    Cli::command()
        .mut_subcommands(|verb| if asked(verb.get_name()) { with_help("", ("", ""), verb) } else { verb })
}

const PROGRESS: [(&str, PaceStyle, &str); 3] = [
    ("none", PaceStyle::None, "Not at all"),
    ("line", PaceStyle::Line, "A line every ten seconds"),
    ("json", PaceStyle::Json, "A JSON object every second, each in a line"),
];

/// The examples in each verb's help, and which options `-h` shows of it.
const EXAMPLES: &str = include_str!("../words/examples.txt");
const USUAL: &str = include_str!("../words/usual.txt");

/// Options that many verbs have, and that stand behind their own.
const LAST: [&str; 2] = ["dry-run", "require-sandbox"];

/// A verb, and what it has of verbs, with their examples, or those of the one above. What is used most stands first, and alone
/// in `-h`.
fn with_help(above: &str, inherited: (&str, &str), verb: Command) -> Command {
    let path = format!("{above} {}", verb.get_name());
    let named = format!("[{}]", path.trim_start());
    let own = EXAMPLES.split("\n\n\n").find_map(|block| block.strip_prefix(&named));
    let examples = own.unwrap_or(inherited.0).to_owned();
    let usual = match said_in(USUAL, path.trim_start(), &Value::Null) {
        none if none.is_empty() => inherited.1.to_owned(),
        usual => usual,
    };
    let mut others = 100..;
    let verb = verb.mut_args(|arg| {
        let valued = arg.get_action().takes_values();
        let arg = in_short(arg.ignore_case(valued));
        let long = arg.get_long().unwrap_or_default().to_owned();
        let place = usual.split(' ').position(|usual| usual == long);
        match place {
            _ if arg.is_positional() => arg.help_heading(None::<&str>),
            Some(place) if !LAST.contains(&&*long) => arg.help_heading(None::<&str>).display_order(place),
            Some(_) => arg.help_heading(None::<&str>),
            None if LAST.contains(&&*long) => arg.hide_short_help(!usual.is_empty()),
            None => arg.hide_short_help(!usual.is_empty()).display_order(others.next().unwrap_or_default()),
        }
    });
    let whole = format!("`keyway{path} --help` tells all, with examples.");
    let verb = verb.after_help(whole).after_long_help(format!("Examples:{}", examples.trim_end()));
    verb.mut_subcommands(|verb| with_help(&path, (&examples, &usual), verb))
}

/// An option whose help in `-h` is the first sentence, or the first half of one, of that in `--help`.
fn in_short(arg: Arg) -> Arg {
    let long = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    match first_sentence(&long).map(str::to_owned) {
        Some(short) => arg.help(short).long_help(long),
        None => arg,
    }
}

/// The verbs; those behind the line are this program's own and not shown.
macro_rules! verbs {
    ($($(#[$on:meta])* $name:ident: $module:ident,)* --- $($hidden:ident: $own:ident,)*) => {
        /// What to do.
        #[derive(Subcommand, Debug)]
        pub(crate) enum Verb {
            $($(#[$on])* $name($module::Args),)*
            $(#[command(hide = true)] $hidden($own::Args),)*
        }

        impl Verb {
            /// Does it.
            pub(crate) fn run(&self, out: Output) -> Result<(), Failure> {
                match self {
                    $($(#[$on])* Self::$name(args) => $module::run(args, out),)*
                    $(Self::$hidden(args) => $own::run(args, out),)*
                }
            }
        }
    };
}

verbs! {
    #[cfg(feature = "lab")]
    Demo: demo,
    Create: create, Open: open, Close: close, Favourite: favourite, Status: status, Info: info, Cat: cat, Ls: ls, Get: get, Put: put,
    Protector: protector, Header: header, Erase: erase, Drive: drive, Encrypt: encrypt, Resize: resize, Decrypt: decrypt,
    Pause: pause, Resume: resume, Serve: serve,
    #[cfg(feature = "lab")]
    Bench: bench,
    #[cfg(feature = "lab")]
    Lab: lab,
    Doctor: doctor,
    ---
    ServeVolume: serve_volume, UblkOwner: ublk_owner,
}

#[cfg(test)]
#[path = "../tests/inner/args.rs"]
mod tests;
