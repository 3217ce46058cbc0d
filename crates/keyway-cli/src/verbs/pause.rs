//! `pause`: asks a converting process to stop.

use crate::conversion::{self, JournalArgs};
use crate::conversion_bitlocker;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shown::shown;
use crate::volume;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a segment may take on the slowest drive.
const PATIENCE: Duration = Duration::from_secs(120);

/// Nobody waits longer than this without a word.
const FIRST_WORD: Duration = Duration::from_secs(2);

/// Stop a conversion in good order, until `keyway resume`
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway pause /dev/sdb1
  $ keyway pause secret.hc --json")]
pub(crate) struct Args {
    /// The file or block device that is being converted
    volume: PathBuf,
    #[command(flatten)]
    journal: JournalArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.volume;
    volume::must_exist(path)?;
    let Some(running) = keyway::conversion::running(path)? else {
        return Err(Failure::usage(
            format!("{} is not being converted just now", path.display()),
            "`keyway status` tells what it is",
        ));
    };
    let pid = Pid::from_raw(running.pid);
    let asked = pid.map(|pid| kill_process(pid, Signal::TERM));
    if let Some(Err(e)) = asked {
        return Err(Failure::io("stop the conversion of", path, &e.into()));
    }
    let (began, mut told) = (Instant::now(), false);
    while keyway::conversion::running(path)?.is_some() {
        if !told && began.elapsed() > FIRST_WORD {
            told = true;
            out.note(&format!("waiting for process {}, which converts {}", running.pid, path.display()));
        }
        if began.elapsed() > PATIENCE {
            return Err(Failure::new(
                Exit::Busy,
                format!("process {} does not stop", running.pid),
                "wait for its drive; ending it by force loses nothing either",
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let journal = args.journal.path().or(running.journal.as_deref());
    if let Some(document) = conversion::half_converted(path, journal)? {
        return out.result(&document, || conversion::describe_in_words(path, &document));
    }
    // What else is paused of a BitLocker volume is a whole one.
    let document = conversion_bitlocker::paused(path)?
        .unwrap_or_else(|| json!({"volume": path, "conversion_status": "Done"}));
    out.result(&document, || match () {
        () if document.get("percentage_encrypted").is_some() => {
            conversion_bitlocker::paused_in_words(path, &document)
        }
        () => format!("{}: the conversion had come to its end.", shown(path)),
    })
}
