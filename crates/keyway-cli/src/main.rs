//! The command line: words in; tables, JSON and exit codes out. No logic that belongs below.
#![forbid(unsafe_code)]

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
mod status_words;
mod unlock_args;
mod usage;
mod verbs;
mod words;

use args::Cli;
use failure::{Exit, Failure};
use keyway::shown;
use keyway_error::Explain;
use output::Output;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(tell_panic));
    keyway::session::on_notice(output::notice);
    keyway::know_own_processes();
    let words = usage::words(std::env::args_os());
    let cli = match Cli::of(&words) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &words),
    };
    let out = Output { json: cli.json, yes: cli.yes, verbose: cli.verbose };
    output::be_quiet(cli.quiet);
    progress::be_told(cli.progress, cli.quiet);
    let done = harden().and_then(|()| log(cli.log, &words)).and_then(|()| {
        let verb = keyway::logged_to().map(|_| usage::command_of(&words).0);
        let volume = verb.as_ref().and_then(|_| usage::volume_of(&words)).map(PathBuf::from);
        let log = |ended| verb.iter().for_each(|verb| keyway::log_verb(verb, volume.as_deref(), ended));
        log(None);
        let run = || cli.verb.run(out).map_err(|failure| usage::named(failure, &words));
        let done = asking::in_tries(run, |failure| Output { json: false, ..out }.failure(failure));
        log(Some(done.as_ref().copied().map_err(|failure| failure as &dyn Explain)));
        keyway::lost_log().iter().for_each(|why| out.warn(why));
        done
    });
    progress::SEARCH.done();
    ended(done, out)
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

/// Logs to the file that was named, or to the variable's.
fn log(named: Option<PathBuf>, words: &[OsString]) -> Result<(), Failure> {
    let variable = || std::env::var_os("KEYWAY_LOG").filter(|named| !named.is_empty()).map(PathBuf::from);
    let logged = named.or_else(variable).map_or(Ok(()), |path| keyway::log_to(&path));
    logged.map_err(|error| usage::named(error.into(), words))
}

/// Help and version go to standard output; wrong words are told with exit code 2.
fn usage(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let out = Output { json: words.iter().any(|word| word == "--json"), yes: false, verbose: false };
    let told = if error.use_stderr() { Err(usage::failure(error, words)) } else { output::print_help(error) };
    ended(told, out)
}

/// The exit code, and why it is none of success.
fn ended(done: Result<(), Failure>, out: Output) -> ExitCode {
    let Err(failure) = done else { return ExitCode::SUCCESS };
    out.failure(&failure);
    ExitCode::from(failure.exit as u8)
}
