//! `serve-volume` (hidden): the process that holds the keys and serves one volume until it is closed.

use crate::verbs::*;
use keyway::session::{serve_as_asked, warden};

/// Serve a volume as standard input asks
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Hold no key, and take down what the process asks for that serves
    #[arg(long)]
    warden: bool,
}

/// Runs the verb. Errors go over the pipe; whoever started this prints them.
pub(crate) fn run(args: &Args, _: Output) -> Result<(), Failure> {
    if args.warden {
        return Ok(warden().map_err(keyway::Error::from)?);
    }
    let abandoned = || std::process::exit(Exit::Failed as i32);
    Ok(serve_as_asked(SearchBar::new(crate::progress::StandardError), abandoned)?)
}
