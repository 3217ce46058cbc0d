//! `doctor`: what this machine can do, what would be chosen, and why; and what is encrypted on it.

use crate::attach_words::because;
use crate::verbs::*;
use crate::words::sentences;
use keyway::Capabilities;
use keyway::drive_cost::{self, DriveCost};
use keyway::encrypted::{self, EncryptedDevice};

/// Tell what this machine can do, and what is encrypted on it
///
/// What would be chosen, and why, is told as well. With a drive, only what is encrypted on that, and what encryption was
/// found to cost there. No secret is asked for, and nothing is written to a drive.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Only this drive, partition or file
    #[arg(value_name = "DRIVE")]
    drive: Option<PathBuf>,
    /// Measure what encryption costs where DRIVE is read, and keep that with its date
    #[cfg(feature = "lab")]
    #[arg(long, requires = "drive")]
    measure: bool,
    /// Measure for so many minutes at most: 1, unless given
    #[cfg(feature = "lab")]
    #[arg(long, value_name = "N", requires = "measure", value_parser = keyway::lab::spelled::minutes)]
    minutes: Option<f64>,
}

#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    here: Capabilities,
    because: String,
    encrypted: Vec<EncryptedDevice>,
    costs: Vec<DriveCost>,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    if let Some(drive) = &args.drive {
        let found = encrypted::on(drive)?;
        #[cfg(feature = "lab")]
        if args.measure {
            let stop = crate::progress::stop_on_signals()?;
            drive_cost::Measurement::of(drive, args.minutes)?.run(&stop, lab::bar)?;
        }
        let costs = drive_cost::known([drive.as_path()]);
        let words = || encrypted::in_words(&found) + &drive_cost::in_words(&costs);
        return out.result(&json!({"encrypted": found, "costs": costs}), words);
    }
    let (here, encrypted) = (Capabilities::look(), encrypted::on_this_machine());
    let costs = drive_cost::known_here(encrypted.iter().map(|one| one.device.as_path()));
    let document = Document { because: because(here.attachment, here.root), here, encrypted, costs };
    let words = || {
        let Document { here, because, encrypted, costs } = &document;
        let (rows, way) = (pairs(&here.rows(sentences)), here.attachment);
        let found = encrypted::in_words(encrypted) + &drive_cost::in_words(costs);
        format!("{rows}\n`keyway open` would attach by {way}: {because}.\n\n{found}")
    };
    out.result(&document, words)
}
