//! The words of the command line; each verb's own are in its file under `verbs/`.

use crate::failure::Failure;
use crate::output::Output;
#[cfg(feature = "lab")]
use crate::verbs::{bench, demo, lab};
use crate::verbs::{
    cat, close, create, decrypt, doctor, drive, encrypt, erase, get, header, info, ls, open, pause,
    protector, put, resize, resume, serve, serve_volume, status, ublk_owner,
};
use clap::{Command, Parser, Subcommand};

/// Opens, makes, converts and serves encrypted volumes, and measures what they cost.
#[derive(Parser, Debug)]
#[command(
    name = "keyway",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 wrong secret, 4 not a volume or a \
                  damaged one,\n5 not permitted or something is missing here, 6 busy.\n\
                  `keyway VERB --help` shows examples; `keyway demo` is the tour.",
    mut_subcommands(|verb| with_examples("", verb))
)]
pub(crate) struct Cli {
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// Do what destroys data without asking
    #[arg(long, global = true, display_order = 901)]
    pub(crate) yes: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The examples in each verb's help.
const EXAMPLES: &str = include_str!("../words/examples.txt");

/// A verb, and what it has of verbs, with their examples.
fn with_examples(above: &str, verb: Command) -> Command {
    let path = format!("{above} {}", verb.get_name());
    let named = format!("[{}]", path.trim_start());
    let own = EXAMPLES.split("\n\n\n").find_map(|block| block.strip_prefix(&named));
    let verb = verb.mut_args(|arg| {
        let valued = arg.get_action().takes_values();
        arg.ignore_case(valued)
    });
    let verb = match own {
        Some(examples) => verb.after_help(format!("Examples:{}", examples.trim_end())),
        None => verb,
    };
    verb.mut_subcommands(|verb| with_examples(&path, verb))
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
    Create: create, Open: open, Close: close, Status: status, Info: info, Cat: cat, Ls: ls, Get: get, Put: put,
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
