//! The words of `status`: tables for people.

use crate::output::{bytes, pairs, table};
use crate::session_words::places;
use crate::words::{said, told};
use keyway::conversion::UnderWay;
use keyway::session::in_words::{latency, windows_fields};
use keyway::session::{OpenVolume, OtherUser, VolumeStatus, WaitingVolume};
use keyway::shown::shown;
use keyway::told::facts;
use keyway_attach::path_text::value as in_json;
use keyway_error::Explain;
use serde_json::{Value, json};
use std::path::Path;

/// All that is open, what waits, was left or is converted; where nothing is, what root has.
pub(crate) fn all(
    volumes: &[VolumeStatus],
    of_killed: [&[WaitingVolume]; 2],
    converting: &[UnderWay],
    (roots, own): (&[OtherUser], &str),
) -> String {
    let [waiting, killed] = of_killed.map(<[_]>::iter);
    let waiting = waiting
        .map(|one| dead("waits", one))
        .chain(killed.map(|one| dead("killed", one)))
        .chain(converting.iter().map(|one| said("status converting", &facts(one, Value::Null))))
        .collect::<Vec<_>>()
        .join("\n");
    if volumes.is_empty() && waiting.is_empty() {
        let pids = roots.iter().map(|root| root.pid).collect::<Vec<_>>();
        let facts = json!({"roots": pids, "count": pids.len(), "several": pids.len() > 1, "own": own});
        return said("status none", &facts);
    } else if volumes.is_empty() {
        return waiting;
    }
    let open = || volumes.iter().filter_map(|volume| volume.session.as_ref());
    let mut table = table(&["volume", "by", "at", "size", "read", "written"], 3, open().map(row));
    for open in open() {
        for words in attention(open) {
            let named = open.now.as_ref().is_err_and(|silent| silent.path().is_some());
            let name = if named { String::new() } else { format!("{}: ", shown(&open.state.volume)) };
            table = format!("{}\n{name}{words}", table.trim_end());
        }
    }
    if waiting.is_empty() { table } else { format!("{table}\n{waiting}") }
}

fn row(OpenVolume { state, now, .. }: &OpenVolume) -> Vec<String> {
    let place = state.mountpoint.as_ref().or(state.device.as_ref()).or(state.file.as_ref());
    let place = place.or(state.socket.as_ref()).map(shown);
    let (read, written) = match now {
        Ok(now) => (bytes(now.bytes_read), bytes(now.bytes_written)),
        Err(_) => ("does not answer".to_owned(), String::new()),
    };
    let (volume, by) = (shown(&state.volume), state.attachment.clone());
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
    words.extend(
        status.first_failed_write.as_ref().map(|why| said("status unwritten", &json!({ "why": why }))),
    );
    words.extend(open.shortened_to().map(|bytes| said("status shortened", &json!({ "bytes": bytes }))));
    words.extend(status.moved_to.as_ref().map(|path| format!("its file is {} now", shown(path))));
    words
}

/// What became of its server, and what to do about it.
fn dead(what: &str, volume: &WaitingVolume) -> String {
    said(&format!("status {what}"), &facts(volume, Value::Null))
}

/// The fields of `manage-bde -status` in its words and order, then what only we know.
pub(crate) fn one(path: &Path, status: &VolumeStatus) -> String {
    let (mut name, mut rows) = (path, windows_fields(status));
    rows.extend(status.resume_with.iter().map(|with| ("  what to do", format!("{with}; nothing is lost"))));
    let noise = || ("  what to do", said("status noise", &json!({"volume": in_json(path)})));
    rows.extend((!status.is_known() && status.other_user.is_none()).then(noise));
    rows.extend(status.killed.iter().map(|volume| ("  attention", dead("killed", volume))));
    rows.extend(status.other_user.iter().map(|other| ("  attention", other.to_string())));
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
        Some(waiting) => format!("{text}\n{}", dead("waits", waiting)),
        None => text,
    }
}
