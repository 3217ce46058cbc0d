//! `drive list` and `drive info`: what drives say of themselves, without a secret.

use crate::verbs::*;
use keyway::drive::{Drive, LockState, in_words, list};

#[derive(clap::Subcommand, Debug)]
pub(super) enum Action {
    /// List this machine's drives: which encrypt by themselves, and in what state they are
    List {
        /// Devices to list; all NVMe, SATA and SAS drives when left out
        devices: Vec<PathBuf>,
    },
    /// Tell everything a drive says of itself; no secret is needed
    Info {
        /// The drive's device, or a virtual drive's file
        device: PathBuf,
    },
}

/// Runs one of them.
pub(super) fn run(action: &Action, out: Output) -> Result<(), Failure> {
    match action {
        Action::List { devices } => list_all(devices, out),
        Action::Info { device } => show(device, out),
    }
}

fn list_all(devices: &[PathBuf], out: Output) -> Result<(), Failure> {
    let drives = list(devices)?;
    out.result(&json!({"drives": drives}), || {
        if drives.is_empty() {
            return "No NVMe, SATA or SAS drive is here.".to_owned();
        }
        let cells = drives.iter().map(|drive| {
            let text = |field: &Option<String>| field.clone().unwrap_or_default();
            let standard = drive.standards.first().copied().unwrap_or("none").to_owned();
            let method = drive.encryption_method.unwrap_or_default().to_owned();
            let state = drive.reason.clone().unwrap_or_else(|| state(drive.state));
            let on_it = drive.contents.as_ref().map(ToString::to_string).unwrap_or_default();
            let (device, model, firmware) = (&drive.device, text(&drive.model), text(&drive.firmware));
            vec![shown(device), model, firmware, standard, method, state, on_it]
        });
        table(&["device", "model", "firmware", "standard", "encryption", "state", "on it"], usize::MAX, cells)
    })
}

/// Tells everything a drive says of itself.
pub(crate) fn show(path: &Path, out: Output) -> Result<(), Failure> {
    let info = Drive::open(path)?.info();
    out.result(&info, || format!("{}\n{}", shown(path), pairs(&in_words::rows(&info, &state(info.state)))))
}

fn state(state: Option<LockState>) -> String {
    said("drive is", &json!({ "state": state }))
}
