//! `drive list` and `drive info`: what drives say of themselves, without a secret.

use super::info::{show, state_words};
use crate::failure::Failure;
use crate::output::{Output, table};
use keyway::drive::list;
use keyway_error::Kind;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Subcommand, Debug)]
pub(super) enum Action {
    /// List this machine's drives: which encrypt by themselves, and in what state they are
    #[command(after_help = "Examples:
  $ sudo keyway drive list
  $ sudo keyway drive list --json")]
    List {
        /// Devices to list; all NVMe, SATA and SAS drives when left out
        devices: Vec<PathBuf>,
    },
    /// Tell everything a drive says of itself; no secret is needed
    #[command(after_help = "Examples:
  $ sudo keyway drive info /dev/nvme0n1
  $ keyway drive info virtual.drive --json")]
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
    let mut drives = list(devices);
    // A list that says nothing but that one may not ask is no list.
    if drives.iter().all(|drive| drive.error.is_some()) {
        let failures = drives.iter_mut().filter_map(|drive| drive.error.take().map(Failure::from));
        if let Some(denied) = failures.filter(|failure| failure.kind == Kind::NotPermitted).last() {
            return Err(denied);
        }
    }
    out.result(&json!({"drives": drives}), || {
        if drives.is_empty() {
            return "No NVMe, SATA or SAS drive is here.".to_owned();
        }
        let cells = drives.iter().map(|drive| {
            let text = |field: &Option<String>| field.clone().unwrap_or_default();
            let standard = drive.standards.first().copied().unwrap_or("none").to_owned();
            let method = drive.encryption_method.unwrap_or_default().to_owned();
            let state = drive.reason.clone().unwrap_or_else(|| state_words(drive.state).to_owned());
            let on_it = drive.contents.as_ref().map(ToString::to_string).unwrap_or_default();
            vec![
                drive.device.display().to_string(),
                text(&drive.model),
                text(&drive.firmware),
                standard,
                method,
                state,
                on_it,
            ]
        });
        table(&["device", "model", "firmware", "standard", "encryption", "state", "on it"], usize::MAX, cells)
    })
}
