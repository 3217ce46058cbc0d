//! `close`: flush, unmount, detach, wipe the keys.

use crate::failure::Failure;
use crate::output::Output;
use crate::shown::shown;
use keyway_attach::AttachError;
use keyway_attach::session::{self, Closing, SessionState};
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
    let mut left = match &args.which {
        Some(name) => vec![name.clone()],
        None => session::list()?.into_iter().map(|state| state.id).collect(),
    };
    let (mut closed, mut failures) = (Vec::new(), Vec::new());
    // A volume that holds another one can go when that has gone.
    loop {
        let (mut busy, before) = (Vec::new(), closed.len());
        for (name, done) in at_once(left, out) {
            let done = match done {
                Err(AttachError::Deleted { volume }) => deleted_too(&name, &volume, out),
                Err(AttachError::Busy { what, users }) => {
                    busy.push((name, AttachError::Busy { what, users }));
                    continue;
                }
                // Somebody else has closed it.
                Err(AttachError::NotOpen(_)) if args.all => continue,
                done => done.map_err(Failure::from),
            };
            match done {
                Ok(done) => closed.push(Closed::new(done.state, done.killed)),
                Err(failure) => failures.push(failure),
            }
        }
        if busy.is_empty() || closed.len() == before {
            failures.extend(busy.into_iter().map(|(_, e)| Failure::from(e)));
            break;
        }
        left = busy.into_iter().map(|(name, _)| name).collect();
    }
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

/// Closes them side by side: none waits for another one's medium. Says whom it waits for.
fn at_once(names: Vec<String>, out: Output) -> Vec<(String, Result<session::Closed, AttachError>)> {
    let tell = |words: &str| out.note(words);
    let close = &|name: &str| session::close_so(name, &Closing { deleted: false, tell: &tell });
    std::thread::scope(|scope| {
        let closing: Vec<_> = names.iter().map(|name| scope.spawn(move || close(name))).collect();
        let panicked = |_| Err(AttachError::io("close it", std::io::Error::other("the thread panicked")));
        let done: Vec<_> = closing.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect();
        names.iter().cloned().zip(done).collect()
    })
}

/// Closes a volume whose file was deleted while it was open, where that is wanted: nobody opens it again.
fn deleted_too(name: &str, volume: &str, out: Output) -> Result<session::Closed, Failure> {
    out.confirm(&format!(
        "{volume} was deleted while it was open. What is in it can be read and copied until it is closed, and by \
         nobody afterwards."
    ))?;
    let tell = |words: &str| out.note(words);
    Ok(session::close_so(name, &Closing { deleted: true, tell: &tell })?)
}

fn words(document: &Document) -> String {
    if document.closed.is_empty() {
        return "Nothing was open.".to_owned();
    }
    let lines = document.closed.iter().map(|c| format!("{} is closed.", shown(&c.volume)));
    lines.collect::<Vec<_>>().join("\n")
}
