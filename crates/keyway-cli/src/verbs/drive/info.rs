//! `drive list` and `drive info`: what drives say of themselves, without a secret.

use crate::verbs::*;
use keyway::drive::{BandInfo, Drive, DriveInfo, LockState, list};
use keyway::told;

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
    out.result(&info, || format!("{}\n{}", shown(path), pairs(&rows(&info))))
}

fn state(state: Option<LockState>) -> String {
    said("drive is", &json!({ "state": state }))
}

/// A line for each fact, then one for each feature.
fn rows(info: &DriveInfo) -> Vec<(String, String)> {
    let standards = if info.standards.is_empty() { "none".to_owned() } else { info.standards.join(", ") };
    let method = info.encryption_method.unwrap_or("none: it locks without encrypting");
    let shadow = if info.shadow_done { "done, the drive itself is shown" } else { "shown now" };
    let blocked = "blocked by firmware until the next power cycle (Block SID)";
    let spoken = "spoken, as Windows has it of an encrypted drive (eDrive); Keyway uses TCG's own protocol";
    let ranges = info.limits.map(|limits| {
        let aligned =
            limits.block_bytes.filter(|_| limits.alignment_blocks > 1).map_or_else(String::new, |size| {
                format!(", aligned to {}", bytes(limits.alignment_blocks.saturating_mul(size)))
            });
        format!("{} and the global one{aligned}", limits.ranges)
    });
    let facts = [
        ("model", Some(info.model.clone())),
        ("serial number", Some(info.serial.clone())),
        ("firmware", Some(info.firmware.clone())),
        ("connected by", Some(info.interface.to_string())),
        ("standard", Some(standards)),
        ("state", Some(state(info.state))),
        ("encryption method", Some(method.to_owned())),
        ("MBR shadow", info.shadow_enabled.then(|| shadow.to_owned())),
        ("owner's authority", info.sid_blocked.then(|| blocked.to_owned())),
        ("IEEE 1667", info.ieee_1667.then(|| spoken.to_owned())),
        ("ranges", ranges),
    ];
    let row = |label: &str, words| (format!("  {label}"), words);
    let mut rows: Vec<_> = facts.into_iter().filter_map(|(label, words)| Some(row(label, words?))).collect();
    if let Some(told) = &info.bands {
        if told.bands.is_empty() {
            rows.push(row("bands", "told to their masters only".to_owned()));
        }
        // Those without a place are all alike.
        let (empty, placed): (Vec<_>, Vec<_>) =
            told.bands.iter().partition(|b| b.band > 0 && b.locks.blocks == 0);
        rows.extend(placed.iter().map(|band| row(&format!("band {}", band.band), band_words(band))));
        if !empty.is_empty() {
            rows.push(row("other bands", format!("{}, without a place on the drive", empty.len())));
        }
    }
    rows.extend(info.contents.iter().map(|contents| row("on it", contents.to_string())));
    rows.extend(
        info.features
            .iter()
            .map(|feature| row(&format!("{} {}", feature.code, feature.name), told::briefly(&feature.facts))),
    );
    rows
}

/// A band in words.
fn band_words(band: &BandInfo) -> String {
    let locks = &band.locks;
    let place = match (band.band, locks.blocks) {
        (0, _) => "everything else".to_owned(),
        (_, blocks) => format!("{blocks} blocks from {}", locks.start_block),
    };
    let lockable = locks.read_lock_enabled || locks.write_lock_enabled;
    let state = match (lockable, locks.read_locked, locks.write_locked) {
        (false, ..) => "never locks",
        (true, true, true) => "locked",
        (true, true, false) => "locked for reading",
        (true, false, true) => "read-only",
        (true, false, false) => "unlocked",
    };
    let disabled = if band.authority_enabled == Some(false) { " (disabled)" } else { "" };
    format!("{place}, {state}, {}'s{disabled}", band.authority)
}
