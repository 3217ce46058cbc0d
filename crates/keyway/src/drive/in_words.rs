//! What is told of a drive that encrypts by itself, for people.

use super::{BandInfo, DriveInfo};
use crate::told;
use keyway_store::size::words as bytes;

/// A line for each fact, then one for each feature; `state` is what a front calls the state that it is in.
pub fn rows(info: &DriveInfo, state: &str) -> Vec<(String, String)> {
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
        ("state", Some(state.to_owned())),
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
