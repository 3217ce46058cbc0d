//! `drive info`: everything a drive says of itself, without a secret.

use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::shown::shown;
use keyway::drive::{BandInfo, Drive, DriveInfo, LockState};
use serde_json::Value;
use std::path::Path;

/// Tells everything a drive says of itself.
pub(crate) fn show(path: &Path, out: Output) -> Result<(), Failure> {
    let info = Drive::open(path)?.info();
    out.result(&info, || format!("{}\n{}", shown(path), pairs(&rows(&info))))
}

pub(super) const fn state_words(state: Option<LockState>) -> &'static str {
    match state {
        Some(LockState::Factory) => "factory state",
        Some(LockState::Unlocked) => "set up, unlocked",
        Some(LockState::Locked) => "locked",
        _ => "does not lock",
    }
}

/// A line for each fact, then one for each feature.
fn rows(info: &DriveInfo) -> Vec<(String, String)> {
    let standards = if info.standards.is_empty() { "none".to_owned() } else { info.standards.join(", ") };
    let mut rows = vec![
        ("  model".to_owned(), info.model.clone()),
        ("  serial number".to_owned(), info.serial.clone()),
        ("  firmware".to_owned(), info.firmware.clone()),
        ("  connected by".to_owned(), info.interface.to_string()),
        ("  standard".to_owned(), standards),
        ("  state".to_owned(), state_words(info.state).to_owned()),
    ];
    let mut row = |label: &str, words: String| rows.push((format!("  {label}"), words));
    let method = info.encryption_method.unwrap_or("none: it locks without encrypting");
    row("encryption method", method.to_owned());
    if info.shadow_enabled {
        let shown = if info.shadow_done { "done, the drive itself is shown" } else { "shown now" };
        row("MBR shadow", shown.to_owned());
    }
    if info.sid_blocked {
        row("owner's authority", "blocked by firmware until the next power cycle (Block SID)".to_owned());
    }
    if info.ieee_1667 {
        let words =
            "spoken, as Windows has it of an encrypted drive (eDrive); Keyway uses TCG's own protocol";
        row("IEEE 1667", words.to_owned());
    }
    if let Some(limits) = info.limits {
        let aligned = match limits.block_bytes {
            Some(size) if limits.alignment_blocks > 1 => {
                format!(", aligned to {}", bytes(limits.alignment_blocks.saturating_mul(size)))
            }
            _ => String::new(),
        };
        row("ranges", format!("{} and the global one{aligned}", limits.ranges));
    }
    if let Some(told) = &info.bands {
        if told.bands.is_empty() {
            row("bands", "told to their masters only".to_owned());
        }
        // Those without a place are all alike.
        for band in told.bands.iter().filter(|band| band.band == 0 || band.blocks > 0) {
            row(&format!("band {}", band.band), band_words(band));
        }
        match told.bands.iter().filter(|band| band.band > 0 && band.blocks == 0).count() {
            0 => {}
            empty => row("other bands", format!("{empty}, without a place on the drive")),
        }
    }
    if let Some(contents) = &info.contents {
        row("on it", contents.to_string());
    }
    for feature in &info.features {
        let facts = feature.facts.iter().filter_map(|(key, value)| fact(&key.replace('_', " "), value));
        row(&format!("{} {}", feature.code, feature.name), facts.collect::<Vec<_>>().join(", "));
    }
    rows
}

/// A band in words.
fn band_words(band: &BandInfo) -> String {
    let place = match (band.band, band.blocks) {
        (0, _) => "everything else".to_owned(),
        (_, blocks) => format!("{blocks} blocks from {}", band.start_block),
    };
    let state = match (band.read_lock_enabled || band.write_lock_enabled, band.read_locked, band.write_locked)
    {
        (false, ..) => "never locks",
        (true, true, true) => "locked",
        (true, true, false) => "locked for reading",
        (true, false, true) => "read-only",
        (true, false, false) => "unlocked",
    };
    let disabled = if band.authority_enabled == Some(false) { " (disabled)" } else { "" };
    format!("{place}, {state}, {}'s{disabled}", band.authority)
}

/// A field in words; nothing for what is not so.
fn fact(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::Bool(true) => Some(name.to_owned()),
        Value::Number(n) => Some(format!("{name} {n}")),
        Value::String(text) if !text.is_empty() => Some(format!("{name} {text}")),
        Value::Array(list) => {
            let names: Vec<&str> = list.iter().filter_map(|item| item.get("name")?.as_str()).collect();
            Some(format!("{name}: {}", names.join(", ")))
        }
        _ => None,
    }
}
