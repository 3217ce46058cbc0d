//! The command line: words in; tables, JSON and exit codes out. No logic that belongs below.
#![forbid(unsafe_code)]

mod args;
mod conversion;
mod conversion_between;
mod conversion_bitlocker;
mod failure;
mod given;
mod in_use;
mod in_use_bitlocker;
mod inside;
mod key_file;
mod machine;
mod narrow;
mod nbd_client;
mod nvme_auth;
mod output;
mod progress;
mod prompt;
mod secrets_in;
mod size;
mod spawn;
mod system_drive;
mod tpm_in;
mod verbs;
mod volume;
mod watch;

use args::Cli;
use clap::Parser;
use failure::{Exit, Failure};
use output::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let out = Output { json: cli.json, yes: cli.yes };
    match harden().and_then(|()| cli.verb.run(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            out.failure(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Any verb may hold a secret: no core dumps, and no other process of this user may look inside.
fn harden() -> Result<(), Failure> {
    keyway_sys::harden_process().map_err(|e| {
        let what = format!("could not protect this process from others: {e}");
        Failure::new(Exit::NotPermitted, what, "run it outside the sandbox it is in")
    })
}

/// Help and version go to standard output; wrong words are told with exit code 2.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().any(|a| a == "--json") {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let failure = Failure::usage(first, "see `keyway --help` and `keyway VERB --help`");
        let _ = Output { json: true, yes: false }.result(&output::error_document(&failure), String::new);
    }
    ExitCode::from(Exit::Usage as u8)
}
