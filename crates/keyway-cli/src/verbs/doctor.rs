//! `doctor`: what this machine can do, what would be chosen, and why; and what is encrypted on it.

use crate::attach_words::because;
use crate::verbs::*;
use crate::words::sentences;
use keyway::Capabilities;
use keyway::encrypted::{self, EncryptedDevice};

/// Tell what this machine can do, and what is encrypted on it
///
/// What would be chosen, and why, is told as well. With a drive, only what is encrypted on that. No secret is asked
/// for, and nothing is written.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Only this drive, partition or file
    #[arg(value_name = "DRIVE")]
    drive: Option<PathBuf>,
}

#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    here: Capabilities,
    because: String,
    encrypted: Vec<EncryptedDevice>,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    if let Some(drive) = &args.drive {
        let found = encrypted::on(drive)?;
        return out.result(&json!({"encrypted": found}), || devices(&found));
    }
    let (here, encrypted) = (Capabilities::look(), encrypted::on_this_machine());
    let document = Document { because: because(here.attachment), here, encrypted };
    let words = |Document { here, because, encrypted }: &Document| {
        let (rows, way, found) = (pairs(&here.rows(sentences)), here.attachment, devices(encrypted));
        format!("{rows}\n`keyway open` would attach by {way}: {because}.\n\n{found}")
    };
    out.result(&document, || words(&document))
}

/// What is encrypted, device by device.
fn devices(found: &[EncryptedDevice]) -> String {
    if found.is_empty() {
        return "There is no drive here.\n".to_owned();
    }
    table(&["device", "size", "encrypted"], usize::MAX, found.iter().map(EncryptedDevice::cells))
}
