//! `close`: flush, unmount, detach, wipe the keys.

use crate::failure::Failure;
use crate::output::Output;
use keyway_attach::session::{self, SessionState};
use serde::Serialize;
use std::path::PathBuf;

/// Flush, unmount and detach a volume, and wipe its keys
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway close secret.hc
  $ sudo keyway close /mnt/secret
  $ keyway close --all")]
pub(crate) struct Args {
    /// The volume, its loop device, its file, or the folder it is mounted on
    #[arg(value_name = "VOLUME|DEVICE|MOUNTPOINT", required_unless_present = "all")]
    which: Option<String>,
    /// Close everything this user has open
    #[arg(long, conflicts_with = "which")]
    all: bool,
}

#[derive(Serialize)]
struct Document {
    closed: Vec<Closed>,
}

#[derive(Serialize)]
struct Closed {
    volume: PathBuf,
    device: Option<PathBuf>,
    mountpoint: Option<PathBuf>,
    pid: u32,
}

impl From<SessionState> for Closed {
    fn from(state: SessionState) -> Self {
        Self { volume: state.volume, device: state.device, mountpoint: state.mountpoint, pid: state.pid }
    }
}

/// Runs the verb. With `--all` one that can't be closed does not keep the others open.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let names = match &args.which {
        Some(name) => vec![name.clone()],
        None => session::list()?.into_iter().map(|state| state.id).collect(),
    };
    let mut closed = Vec::new();
    let mut failures = Vec::new();
    for name in names {
        match session::close(&name) {
            Ok(state) => closed.push(Closed::from(state)),
            Err(e) => failures.push(Failure::from(e)),
        }
    }
    if args.all {
        closed.extend(session::clean_stale()?.into_iter().map(Closed::from));
    }
    if let Some(last) = failures.pop() {
        for closed in &closed {
            out.warn(&format!("{} was closed, but not everything was", closed.volume.display()));
        }
        for failure in &failures {
            out.warn(&failure.message);
        }
        return Err(last);
    }
    let document = Document { closed };
    out.result(&document, || words(&document))
}

fn words(document: &Document) -> String {
    if document.closed.is_empty() {
        return "Nothing was open.".to_owned();
    }
    let lines = document.closed.iter().map(|c| format!("{} is closed.", c.volume.display()));
    lines.collect::<Vec<_>>().join("\n")
}
