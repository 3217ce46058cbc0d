//! `serve-volume` (hidden): the process that holds the keys and serves one volume until it is closed.

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::searching::SearchBar;
use keyway::session::serve_as_asked;

/// Serve a volume as standard input asks
#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

/// Runs the verb. Errors go over the pipe; whoever started this prints them.
pub(crate) fn run(_: &Args, _: Output) -> Result<(), Failure> {
    let abandoned = || std::process::exit(Exit::Failed as i32);
    Ok(serve_as_asked(SearchBar::new(), abandoned)?)
}
