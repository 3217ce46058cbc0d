//! `drive list`: this machine's drives, and what each can do.

use super::info::{State, encryption_method, state};
use super::recognise;
use super::target::{Target, standards};
use crate::failure::{Exit, Failure};
use crate::output::{Output, table};
use keyway_sed::password::PasswordHash;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// List this machine's drives: which encrypt by themselves, and in what state they are
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive list
  $ sudo keyway drive list --json")]
pub(crate) struct Args {
    /// Devices to list; all NVMe, SATA and SAS drives when left out
    devices: Vec<PathBuf>,
}

#[derive(Serialize, Default)]
struct Row {
    device: PathBuf,
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    standards: Vec<&'static str>,
    state: Option<State>,
    /// Who encrypts, where it is the drive.
    encryption_method: Option<&'static str>,
    /// What is on it that has to do with that.
    contents: Option<String>,
    /// Why nothing is known.
    reason: Option<String>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let devices = if args.devices.is_empty() { drives() } else { args.devices.clone() };
    let mut denied = None;
    let rows: Vec<Row> = devices
        .into_iter()
        .map(|device| match Target::open(&device, PasswordHash::default()) {
            Ok(target) => {
                let id = target.host.identity();
                let discovery = target.host.discovery();
                Row {
                    model: Some(id.model.clone()),
                    serial: Some(id.serial.clone()),
                    firmware: Some(id.firmware.clone()),
                    standards: standards(discovery),
                    state: state(discovery),
                    encryption_method: encryption_method(discovery),
                    contents: recognise::contents(&device),
                    reason: None,
                    device,
                }
            }
            Err(failure) => {
                let reason = Some(without_name(&device, &failure.message));
                if failure.kind == keyway_error::Kind::NotPermitted {
                    denied = Some(failure);
                }
                Row { device, reason, ..Row::default() }
            }
        })
        .collect();
    // A list that says nothing but that one may not ask is no list.
    if let Some(denied) = denied.filter(|_| rows.iter().all(|row| row.reason.is_some())) {
        return Err(Failure { exit: Exit::NotPermitted, ..denied });
    }
    out.result(&serde_json::json!({ "drives": rows }), || {
        if rows.is_empty() {
            return "No NVMe, SATA or SAS drive is here.".to_owned();
        }
        let cells = rows.iter().map(|row| {
            let standard = row.standards.first().map_or_else(|| "none".to_owned(), |s| (*s).to_owned());
            let state = match (&row.reason, row.state) {
                (Some(reason), _) => reason.clone(),
                (None, Some(state)) => state.words().to_owned(),
                (None, None) => "does not lock".to_owned(),
            };
            let text = |field: &Option<String>| field.clone().unwrap_or_default();
            let method = row.encryption_method.unwrap_or_default().to_owned();
            let (model, firmware, on_it) = (text(&row.model), text(&row.firmware), text(&row.contents));
            vec![row.device.display().to_string(), model, firmware, standard, method, state, on_it]
        });
        table(&["device", "model", "firmware", "standard", "encryption", "state", "on it"], usize::MAX, cells)
    })
}

fn without_name(device: &Path, message: &str) -> String {
    message.strip_prefix(&format!("{}: ", device.display())).unwrap_or(message).to_owned()
}

/// Whole disks whose drivers take security commands.
fn drives() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.starts_with("nvme") || name.starts_with("sd"));
    names.sort();
    names.iter().map(|name| Path::new("/dev").join(name)).collect()
}
