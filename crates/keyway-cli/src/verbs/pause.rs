//! `pause`: asks a converting process to stop.

use crate::conversion::{self, JournalArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::shown::shown;
use keyway::conversion::{Paused, pause};
use serde_json::json;
use std::path::PathBuf;

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
    let paused = pause(path, args.journal.path(), |pid| {
        out.note(&format!("waiting for process {pid}, which converts {}", path.display()));
    })?;
    let document = match &paused {
        Paused::HalfConverted(description) => conversion::document(path, description),
        Paused::Volume(volume) => conversion::document(path, volume),
        _ => json!({"volume": path, "conversion_status": "Done"}),
    };
    out.result(&document, || match &paused {
        Paused::HalfConverted(_) => conversion::describe_in_words(path, &document),
        Paused::Volume(volume) => format!(
            "{0}: paused with {1:.1} % encrypted. It can be opened and used; `keyway resume {0}` goes on.",
            shown(path),
            volume.percentage_encrypted
        ),
        _ => format!("{}: the conversion had come to its end.", shown(path)),
    })
}
