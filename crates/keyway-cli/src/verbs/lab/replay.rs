//! `lab replay`: makes a trace's requests again.

use crate::verbs::*;
use keyway::lab::trace::Think;
use keyway::lab::{ReplayMedium, TraceReplay};
use std::sync::atomic::AtomicBool;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A shipped trace, or a file: a recording, a fio iolog (version 2 or 3), blkparse's text
    #[arg(value_name = "TRACE|FILE")]
    trace: String,
    /// A modelled drive
    #[arg(long, value_name = "model:NAME", required_unless_present = "on")]
    drive: Option<String>,
    /// A file or device instead; its bytes are overwritten where the trace writes
    #[arg(long, value_name = "FILE|DEVICE", conflicts_with = "drive")]
    on: Option<PathBuf>,
    /// Encrypt in between, as a VeraCrypt volume with this cipher would; `none` for not
    #[arg(long = "with", value_name = "CIPHER", default_value = "none")]
    cipher: String,
    /// Keep the pauses of whoever was recorded
    #[arg(long)]
    think: bool,
    /// Requests in flight, for traces that do not tell (fio's)
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: usize,
    /// Put requests past the volume's end somewhere inside it
    #[arg(long)]
    fold: bool,
    /// Of a modelled drive: simulated time, exact and at once, which knows no cipher's cost
    #[arg(long, requires = "drive")]
    simulated: bool,
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut replay = TraceReplay::find(&args.trace)?;
    replay.cipher.clone_from(&args.cipher);
    replay.think = if args.think { Think::Kept } else { Think::Removed };
    (replay.depth, replay.fold) = (args.depth, args.fold);
    let medium = match (&args.drive, &args.on) {
        (Some(name), _) => ReplayMedium::model(name, args.simulated)?,
        (None, Some(path)) => {
            if replay.writes() {
                out.confirm(&format!("overwrite bytes of {} where the trace writes", path.display()))?;
            }
            ReplayMedium::File(path.clone())
        }
        (None, None) => return Err(Failure::usage("nothing to replay on", "give --drive or --on")),
    };
    let report = replay.run(medium, &AtomicBool::new(false))?;
    if report.lateness.as_ref().is_some_and(|lateness| !lateness.kept) {
        out.warn("this machine was too busy to keep the drive's time; the figures are too slow");
    }
    out.result(&report, || pairs(&report.told()))
}
