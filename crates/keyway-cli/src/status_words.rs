//! The words of `status`: tables for people.

use crate::output::{bytes, pairs, table};
use crate::session_words::places;
use crate::words::{said, told};
use keyway::session::{Latencies, OpenVolume, OtherUser, VolumeStatus, WaitingVolume};
use keyway::shown::shown;
use keyway::told::facts;
use keyway_error::Explain;
use keyway_volume::bitlocker::Protection;
use serde_json::{Value, json};
use std::path::Path;

/// All that is open, and what waits; where nothing is, what root has.
pub(crate) fn all(volumes: &[VolumeStatus], waiting: &[WaitingVolume], roots: &[OtherUser]) -> String {
    let waiting = waiting.iter().map(waits).collect::<Vec<_>>().join("\n");
    if volumes.is_empty() && waiting.is_empty() {
        let pids = roots.iter().map(|root| root.pid).collect::<Vec<_>>();
        return said("status none", &json!({ "roots": pids }));
    } else if volumes.is_empty() {
        return waiting;
    }
    let open = || volumes.iter().filter_map(|volume| volume.session.as_ref());
    let mut table = table(&["volume", "by", "at", "size", "read", "written"], 3, open().map(row));
    for open in open() {
        for words in attention(open) {
            let named = open.now.as_ref().is_err_and(|silent| silent.path().is_some());
            let name = if named { String::new() } else { format!("{}: ", open.state.volume.display()) };
            table = format!("{}\n{name}{words}", table.trim_end());
        }
    }
    if waiting.is_empty() { table } else { format!("{table}\n{waiting}") }
}

fn row(OpenVolume { state, now, .. }: &OpenVolume) -> Vec<String> {
    let place = state.mountpoint.as_ref().or(state.device.as_ref()).or(state.file.as_ref());
    let place = place.map(|p| p.display().to_string()).or_else(|| state.socket.clone());
    let (read, written) = match now {
        Ok(now) => (bytes(now.bytes_read), bytes(now.bytes_written)),
        Err(_) => ("does not answer".to_owned(), String::new()),
    };
    let (volume, by) = (state.volume.display().to_string(), state.attachment.clone());
    vec![volume, by, place.unwrap_or_default(), bytes(state.size_bytes), read, written]
}

/// What its owner should do something about.
pub(crate) fn attention(open: &OpenVolume) -> Vec<String> {
    let status = match &open.now {
        Ok(status) => status,
        Err(silent) => return vec![told(silent)],
    };
    let mut words = Vec::new();
    if status.writes_refused > 0 {
        words.push(said("status refused", &json!({ "writes": status.writes_refused })));
    }
    if status.guard_hit {
        words.push(said("status guard", &Value::Null));
    }
    if status.deleted {
        words.push(said("status deleted", &Value::Null));
    }
    words.extend(status.moved_to.as_ref().map(|path| format!("its file is {} now", path.display())));
    words
}

/// What it is, and what to do about it.
pub(crate) fn waits(waiting: &WaitingVolume) -> String {
    said("status waits", &facts(waiting, Value::Null))
}

/// The fields of `manage-bde -status` in its words and order, then what only we know.
pub(crate) fn one(path: &Path, status: &VolumeStatus) -> String {
    let unknown = || "Unknown".to_owned();
    let protectors = status.key_protectors.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut name = path;
    let mut rows = vec![
        ("  Size:", bytes(status.size_bytes)),
        ("  BitLocker Version:", status.bitlocker_version.unwrap_or("None").to_owned()),
        ("  Conversion Status:", status.conversion_status.clone()),
        ("  Percentage Encrypted:", status.percentage_encrypted.map_or_else(unknown, |p| format!("{p:.1}%"))),
        ("  Encryption Method:", status.encryption_method.clone().unwrap_or_else(unknown)),
        ("  Protection Status:", status.protection_status.to_owned()),
        ("  Lock Status:", status.lock_status.to_owned()),
        ("  Identification Field:", unknown()),
    ];
    let kinds = protectors.iter().filter_map(|p| Some((p.get("kind")?.as_str()?, p.get("id")?.as_str()?)));
    let mut label = "  Key Protectors:";
    for (kind, id) in kinds {
        let id = if id == "0" { String::new() } else { format!("  {id}") };
        rows.push((label, format!("{}{id}", windows_kind(kind))));
        label = "";
    }
    if !label.is_empty() {
        rows.push((label, if status.is_known() { "None Found".to_owned() } else { unknown() }));
    }
    if let Some(description) = &status.description {
        rows.push(("  Description:", description.clone()));
    }
    let theirs = |other: &OtherUser| format!("none of yours; {other} has it open (process {})", other.pid);
    rows.extend(status.other_user.iter().map(|other| ("  attention", theirs(other))));
    if let Some(open) = &status.session {
        name = &open.state.volume;
        rows.extend(places(&open.state, true));
        if let Ok(now) = &open.now {
            rows.push(("  read", format!("{} in {} requests", bytes(now.bytes_read), now.reads)));
            rows.push(("  written", format!("{} in {} requests", bytes(now.bytes_written), now.writes)));
            rows.extend(latency(&now.latency));
        }
        rows.push(("  process", open.state.pid.to_string()));
        rows.extend(attention(open).into_iter().map(|words| ("  attention", words)));
    }
    let text = format!("{}\n{}", shown(name), pairs(&rows));
    match &status.waiting {
        Some(waiting) => format!("{text}\n{}", waits(waiting)),
        None => text,
    }
}

/// How long requests took: a line for each kind that there was, with the median and the 99th percentile by layer.
fn latency(found: &Latencies) -> Vec<(&'static str, String)> {
    let kinds = [("  reads", &found.reads), ("  writes", &found.writes), ("  flushes", &found.flushes)];
    let mut rows = Vec::new();
    for (kind, times) in kinds {
        let layers = [("store", &times.store), ("cipher", &times.cipher)];
        let mut words: Vec<String> = layers
            .into_iter()
            .filter_map(|(layer, times)| {
                let times = times.as_ref()?;
                let (p50, p99) = (duration(times.p50_ns), duration(times.p99_ns));
                Some(format!("{layer} {p50} (p99 {p99})"))
            })
            .collect();
        // The kernel counts no time for the flushes of some block devices.
        let whole = times.whole_mean_ns.filter(|mean| *mean > 0);
        words.extend(whole.map(|mean| format!("in all {} on average", duration(mean))));
        if !words.is_empty() {
            rows.push((kind, words.join(", ")));
        }
    }
    rows
}

/// A time for people.
fn duration(nanoseconds: u64) -> String {
    let n = nanoseconds as f64;
    let (value, unit) = match nanoseconds {
        0..1_000 => (n, "ns"),
        1_000..1_000_000 => (n / 1e3, "µs"),
        1_000_000..1_000_000_000 => (n / 1e6, "ms"),
        _ => (n / 1e9, "s"),
    };
    let digits = usize::from(value < 10.0 && unit != "ns");
    format!("{value:.digits$} {unit}")
}

/// What `manage-bde` calls a kind of protector.
fn windows_kind(kind: &str) -> String {
    let known = Protection::KNOWN.into_iter().find(|protection| protection.name() == kind);
    match known {
        Some(protection) => protection.windows_name().to_owned(),
        // Keyfiles are VeraCrypt's.
        None => kind.chars().take(1).flat_map(char::to_uppercase).chain(kind.chars().skip(1)).collect(),
    }
}

#[cfg(test)]
#[path = "../tests/inner/status_words.rs"]
mod tests;
