//! What is told of an open volume in figures and Windows' words, for people.

use super::{Latencies, Reason, SessionState, VolumeStatus};
use crate::shown::{for_shell, shown};
use crate::told;
use keyway_store::size::words;
use keyway_volume::bitlocker::Protection;

/// How long requests took: a line for each kind that there was, with the median and the 99th percentile by layer.
pub fn latency(found: &Latencies) -> Vec<(&'static str, String)> {
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

/// Where an open volume can be reached.
pub fn places(state: &SessionState) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    rows.extend(state.mountpoint.as_ref().map(|p| ("  mounted at", shown(p))));
    rows.extend(state.device.as_ref().map(|p| ("  device", shown(p))));
    rows.extend(state.file.as_ref().map(|p| ("  file", shown(p))));
    let socket = match state.attachment.as_str() {
        "vhost-user" => "  vhost-user socket",
        "nvme-tcp" => "  NVMe/TCP address",
        _ => "  NBD socket",
    };
    rows.extend(state.socket.as_ref().map(|s| (socket, shown(s))));
    if state.is_only_read() {
        rows.push(("  access", "read-only".to_owned()));
    }
    if state.details["hidden_protected"] == true {
        rows.push(("  hidden volume", "protected: what would reach it is not written".to_owned()));
    }
    let idle = |seconds: f64| format!("when nobody has used it for {}", told::duration(seconds as u64));
    rows.extend(state.close_when_idle_seconds.map(|seconds| ("  closes by itself", idle(seconds))));
    rows.extend(state.cache.as_ref().map(|p| ("  through the cache of", shown(p))));
    rows
}

/// The reasons for a way to attach that are worth a sentence, each with the word of a front's catalogue: of what better ways
/// lack only the kernel's, the chosen one's merit tells the others'.
pub fn worth_telling(reasons: &[Reason]) -> Vec<(&str, &Reason)> {
    let by_socket = reasons.iter().any(|reason| matches!(reason, Reason::Best { way } if way == "nbd"));
    let worth = reasons.iter().filter_map(|reason| {
        let word = match reason {
            Reason::Best { way } => way.as_str(),
            Reason::Lacks { way, .. } if way != "dm-crypt" && (way != "ublk" || by_socket) => return None,
            Reason::Lacks { .. } => "lacks",
            Reason::Waits => "waits",
            Reason::Refused { .. } => "refused",
            _ => return None,
        };
        Some((word, reason))
    });
    worth.collect()
}

/// What the last candidate before the chosen one lacks.
pub fn lacking(reasons: &[Reason]) -> Option<&str> {
    reasons.iter().find_map(|reason| match reason {
        Reason::Lacks { why, .. } => Some(why.as_str()),
        _ => None,
    })
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

/// The fields of `manage-bde -status` in its words and order.
pub fn windows_fields(status: &VolumeStatus) -> Vec<(&'static str, String)> {
    let unknown = || "Unknown".to_owned();
    let protectors = status.key_protectors.as_array().map(Vec::as_slice).unwrap_or_default();
    let partition = status.partition.iter().map(|one| {
        let (at, size) = (words(one.offset_bytes), words(one.size_bytes));
        ("  Partition:", format!("{} of the disk, {size} at {at}", one.number))
    });
    let mut rows: Vec<_> = partition.collect();
    rows.extend([
        ("  Size:", words(status.size_bytes)),
        ("  BitLocker Version:", status.bitlocker_version.unwrap_or("None").to_owned()),
        ("  Conversion Status:", status.conversion_status.clone()),
        ("  Percentage Encrypted:", status.percentage_encrypted.map_or_else(unknown, |p| format!("{p:.1}%"))),
        ("  Encryption Method:", status.encryption_method.clone().unwrap_or_else(unknown)),
        ("  Protection Status:", status.protection_status.to_owned()),
        ("  Lock Status:", status.lock_status.to_owned()),
        ("  Identification Field:", unknown()),
    ]);
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
    if !status.is_known() {
        rows.retain(|(_, said)| *said != unknown());
    }
    rows.extend(status.open_before.iter().map(|before| {
        let close = format!("keyway close {}", for_shell(&before.volume));
        let words = "the file that had this name before is open yet, and was replaced by this one, which is not: copy what you \
                     need from it, then";
        ("  attention", format!("{words} `{close}` closes it, and it is gone"))
    }));
    rows.extend(status.cut_off.iter().map(|cut_off| ("  attention", cut_off.clone())));
    rows.extend(status.description.iter().map(|description| ("  Description:", description.clone())));
    rows
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
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let words = [999, 1500, 42_000, 1_250_000, 3_000_000_000].map(duration);
        assert_eq!(words, ["999 ns", "1.5 µs", "42 µs", "1.2 ms", "3.0 s"]);
    }

    #[test]
    fn a_kind_that_windows_has_no_word_for_keeps_its_own() {
        assert_eq!(windows_kind("keyfile"), "Keyfile");
        assert_eq!(windows_kind("recovery-password"), "Numerical Password");
    }
}
