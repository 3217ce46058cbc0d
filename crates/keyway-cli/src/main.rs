//! The command line: words in; tables, JSON and exit codes out. No logic that belongs below.
#![forbid(unsafe_code)]

mod address;
mod args;
mod asking;
mod attach_words;
mod conversion;
mod conversion_words;
mod dry_run;
mod failure;
mod new_volume_args;
mod nvme_auth;
mod output;
mod progress;
mod prompt;
mod session_words;
mod size;
mod status_words;
mod unlock_args;
mod verbs;
mod words;

use args::Cli;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use failure::{Exit, Failure};
use keyway::shown;
use output::Output;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(tell_panic));
    keyway::session::on_notice(output::notice);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(fit(without_hidden(error))),
    };
    let out = Output { json: cli.json, yes: cli.yes };
    let done = harden().and_then(|()| cli.verb.run(out));
    progress::SEARCH.done();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            out.failure(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// A library that a medium brings to its knees may tell what it stumbled over, in that medium's words.
fn tell_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let backtrace = std::backtrace::Backtrace::capture();
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "keyway: {}", shown::line(&panic.to_string()));
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        let _ = writeln!(err, "{backtrace}");
    }
}

/// Any verb may hold a secret: no core dumps, and no other process of this user may look inside.
fn harden() -> Result<(), Failure> {
    keyway_sys::harden_process().map_err(|e| {
        let what = format!("could not protect this process from others: {e}");
        Failure::new(Exit::NotPermitted, what, "run it outside the sandbox it is in")
    })
}

/// The verbs that only Keyway itself calls are not offered to anybody.
fn without_hidden(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(verbs)) = error.get(ContextKind::ValidSubcommand) {
        let all = Cli::command();
        let is_hidden = |name: &str| all.get_subcommands().any(|v| v.is_hide_set() && v.get_name() == name);
        let shown = verbs.iter().filter(|name| !is_hidden(name)).cloned().collect();
        error.insert(ContextKind::ValidSubcommand, ContextValue::Strings(shown));
    }
    error
}

/// Help and version go to standard output; wrong words are told with exit code 2.
fn usage(error: clap::Error) -> ExitCode {
    let json = std::env::args_os().any(|a| a == "--json");
    if matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(arg)) if arg == "--password") {
        let what = "a password is never an argument: there every program on this machine can read it";
        let failure = Failure::usage(what, "use --password-file FILE or --password-fd N, or be asked for it");
        Output { json, yes: false }.failure(&failure);
        return ExitCode::from(Exit::Usage as u8);
    }
    let text = error.render().to_string();
    let _ = match shown::lines(&text) {
        told if told == text => error.print(),
        // What a parser of ours says of a word may hold it, too.
        told => writeln!(std::io::stderr().lock(), "{told}"),
    };
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if json {
        let failure = Failure::usage(
            first_paragraph(&error.render().to_string()),
            "see `keyway --help` and `keyway VERB --help`",
        );
        let _ = Output { json: true, yes: false }.result(&output::error_document(&failure), String::new);
    }
    ExitCode::from(Exit::Usage as u8)
}

/// Words of the command line as clap repeats them, without what would steer the terminal: a shell may have
/// found them on somebody's medium.
fn fit(mut error: clap::Error) -> clap::Error {
    let one = |text: &String| shown::line(text);
    let told = error.context().filter_map(|(kind, value)| {
        let value = match value {
            ContextValue::String(text) => ContextValue::String(one(text)),
            ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(one).collect()),
            _ => return None,
        };
        Some((kind, value))
    });
    for (kind, value) in told.collect::<Vec<_>>() {
        error.insert(kind, value);
    }
    error
}

/// What is wrong, in one line: the words that are missing stand in the lines below the first.
fn first_paragraph(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
#[path = "../tests/inner/wrong_usage.rs"]
mod tests;
