//! `pause`: asks a converting process to stop.

use crate::conversion::{self, JournalArgs};
use crate::verbs::*;
use keyway::conversion::{Paused, pause};

/// Stop a conversion in good order, until `keyway resume`
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The file or block device that is being converted
    volume: PathBuf,
    #[command(flatten)]
    journal: JournalArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.volume;
    let paused = pause(path, args.journal.path(), |pid| {
        note(&format!("waiting for process {pid}, which converts {}", shown(path)));
    })?;
    let document = match &paused {
        Paused::HalfConverted(description) => json!(description),
        Paused::Volume(volume) => json!(volume),
        _ => json!({"volume": in_json(path), "conversion_status": "Done"}),
    };
    out.result(&document, || match &paused {
        Paused::HalfConverted(found) => conversion::words(path, found),
        Paused::Volume(volume) => said("pause volume", &facts(volume, json!({"path": in_json(path)}))),
        _ => said("conversion ended", &json!({"path": shown(path)})),
    })
}
