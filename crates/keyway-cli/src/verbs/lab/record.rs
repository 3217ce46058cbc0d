//! `lab record`: takes down an open volume's requests.

use crate::progress;
use crate::verbs::*;
use std::time::Duration;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The open volume, its loop device, its file, or the folder it is mounted on
    #[arg(value_name = "VOLUME|DEVICE|MOUNTPOINT")]
    volume: String,
    /// The trace's file; must not exist yet
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// End after this time; otherwise at Ctrl-C
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let stop = progress::stop_on_signals()?;
    let limit = args.seconds.map(Duration::from_secs);
    let recorded = keyway::lab::record(&args.volume, &args.output, limit, &stop, |state| {
        if limit.is_none() {
            // Whoever does not hear it can still end it.
            let _ = out.say(&format!("Recording {}; Ctrl-C ends it.\n", shown(&state.volume)));
        }
    })?;
    if recorded.lost > 0 {
        out.warn(&format!("{} requests came after the recording was full", recorded.lost));
    }
    out.result(&recorded, || said("lab recorded", &facts(&recorded, Value::Null)))
}
