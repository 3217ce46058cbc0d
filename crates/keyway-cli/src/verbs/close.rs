//! `close`: flush, unmount, detach, wipe the keys.

use crate::failure::Failure;
use crate::output::Output;
use crate::shown::shown;
use keyway::session::{self, AttachError, SessionState};
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
    /// Its process had been killed, and what it left was cleared away.
    killed: bool,
}

impl Closed {
    fn new(state: SessionState, killed: bool) -> Self {
        let SessionState { volume, device, mountpoint, pid, .. } = state;
        Self { volume, device, mountpoint, pid, killed }
    }
}

/// Runs the verb. With `--all` one that can't be closed does not keep the others open.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let names = match &args.which {
        Some(name) => vec![name.clone()],
        None => session::list()?.into_iter().map(|state| state.id).collect(),
    };
    let (mut closed, mut failures, mut declined) = (Vec::new(), Vec::new(), Vec::new());
    let destroy = |volume: &str| {
        let asked = out.confirm(&format!(
            "{volume} was deleted while it was open. What is in it can be read and copied until it is closed, and by \
             nobody afterwards."
        ));
        asked.map_err(|failure| declined.push(failure)).is_ok()
    };
    for (_, done) in session::close_each(names, &|words: &str| out.note(words), destroy) {
        match done {
            Ok(done) => closed.push(Closed::new(done.state, done.killed)),
            // Told by whoever was asked.
            Err(AttachError::Deleted { .. }) => {}
            // Somebody else has closed it.
            Err(AttachError::NotOpen(_)) if args.all => {}
            Err(e) => failures.push(Failure::from(e)),
        }
    }
    failures.splice(0..0, declined);
    if args.all {
        closed.extend(session::clean_stale()?.into_iter().map(|state| Closed::new(state, true)));
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
    for closed in closed.iter().filter(|closed| closed.killed) {
        out.warn(&format!(
            "{} was served by a process that had been killed; what it left was cleared away. What had been \
             flushed is safe; check what was written last",
            shown(&closed.volume)
        ));
    }
    let document = Document { closed };
    out.result(&document, || words(&document))
}

fn words(document: &Document) -> String {
    if document.closed.is_empty() {
        return "Nothing was open.".to_owned();
    }
    let lines = document.closed.iter().map(|c| format!("{} is closed.", shown(&c.volume)));
    lines.collect::<Vec<_>>().join("\n")
}
