//! `drive info`: everything a drive says of itself, without a secret.

use super::recognise;
use super::target::{Target, standards};
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::shown::shown;
use keyway_sed::discovery::{DataRemoval, Discovery, Feature};
use keyway_sed::host::Host;
use keyway_sed::host::enterprise::Band;
use keyway_sed::password::PasswordHash;
use keyway_sed::protocols::IEEE_1667;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Tell everything a drive says of itself; no secret is needed
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive info /dev/nvme0n1
  $ keyway drive info virtual.drive --json")]
pub(crate) struct Args {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
}

/// Where a drive is between factory and locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// Locking is not in use.
    Factory,
    /// Locking is in use, and everything is unlocked.
    Unlocked,
    /// Something is locked.
    Locked,
}

impl State {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Factory => "factory state",
            Self::Unlocked => "set up, unlocked",
            Self::Locked => "locked",
        }
    }
}

/// `None` where the drive can't lock.
pub(super) fn state(discovery: &Discovery) -> Option<State> {
    let locking = discovery.locking().filter(|l| l.supported)?;
    Some(match (locking.enabled, locking.locked) {
        (false, _) => State::Factory,
        (true, false) => State::Unlocked,
        (true, true) => State::Locked,
    })
}

/// Who encrypts, where it is the drive.
pub(super) fn encryption_method(discovery: &Discovery) -> Option<&'static str> {
    discovery.locking().filter(|l| l.media_encryption).map(|_| recognise::METHOD)
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    show(&args.device, out)
}

/// Tells everything a drive says of itself.
pub(crate) fn show(path: &Path, out: Output) -> Result<(), Failure> {
    let document = document(path)?;
    out.result(&document, || words(path, &document))
}

fn document(path: &Path) -> Result<Value, Failure> {
    let mut target = Target::open(path, PasswordHash::default())?;
    let contents = recognise::contents(path);
    let limits = limits(&mut target.host);
    let bands = bands(&mut target.host);
    // Not every drive has the list; that is no failure of `info`.
    let spoken = target.host.protocols().unwrap_or_default();
    let id = target.host.identity();
    let discovery = target.host.discovery();
    let features: Vec<Value> = discovery
        .features
        .iter()
        .map(|f| {
            let mut fields = fields(f);
            fields.insert("name".to_owned(), json!(f.name()));
            fields.insert("code".to_owned(), json!(format!("{:#06x}", f.code())));
            Value::Object(fields)
        })
        .collect();
    Ok(json!({
        "format": "opal",
        "device": path,
        "interface": id.interface.to_string(),
        "model": id.model,
        "serial": id.serial,
        "firmware": id.firmware,
        "standards": standards(discovery),
        "state": state(discovery),
        "encryption_method": encryption_method(discovery),
        "cipher": Value::Null,
        "locking_enabled": discovery.locking().is_some_and(|l| l.enabled),
        "locked": discovery.locking().is_some_and(|l| l.locked),
        "shadow_enabled": discovery.locking().is_some_and(|l| l.mbr_enabled),
        "shadow_done": discovery.locking().is_some_and(|l| l.mbr_done),
        "sid_blocked": discovery.block_sid().is_some_and(|b| b.blocked),
        "security_protocols": spoken.iter().map(|p| format!("{p:#04x}")).collect::<Vec<_>>(),
        "ieee_1667": spoken.contains(&IEEE_1667),
        "limits": limits,
        "bands": bands,
        "contents": contents,
        "features": features,
    }))
}

/// What a drive tells everybody about its ranges, where its Locking SP is in use.
fn limits(host: &mut Host) -> Value {
    if !host.discovery().locking().is_some_and(|l| l.enabled) {
        return Value::Null;
    }
    // Not every drive lets anybody ask; that is no failure of `info`.
    let told = host.locking(None).and_then(|mut session| {
        let limits = session.range_limits()?;
        session.end()?;
        Ok(limits)
    });
    told.map_or(Value::Null, |l| {
        json!({"ranges": l.ranges, "block_bytes": l.block_bytes, "alignment_blocks": l.alignment,
            "lowest_aligned_block": l.lowest_aligned})
    })
}

/// What a drive of the Enterprise standard tells everybody about its bands.
fn bands(host: &mut Host) -> Value {
    if !host.discovery().speaks_enterprise() {
        return Value::Null;
    }
    // What it keeps to itself is no failure of `info`.
    host.bands().map_or(Value::Null, |told| {
        let bands: Vec<Value> = told
            .bands
            .iter()
            .map(|Band { range: b, master_enabled }| {
                json!({"band": b.number, "start_block": b.start, "blocks": b.blocks,
                    "read_lock_enabled": b.read_lock_enabled, "write_lock_enabled": b.write_lock_enabled,
                    "read_locked": b.read_lock_enabled && b.read_locked,
                    "write_locked": b.write_lock_enabled && b.write_locked,
                    "locks_on_power_cycle": b.locks_on_power_cycle,
                    "authority": format!("BandMaster{}", b.number), "authority_enabled": master_enabled})
            })
            .collect();
        json!({"most": told.most, "bands": bands})
    })
}

/// A band in words.
fn band_words(band: &Value) -> String {
    let yes = |key: &str| band.get(key).and_then(Value::as_bool).unwrap_or_default();
    let number = |key: &str| band.get(key).and_then(Value::as_u64).unwrap_or_default();
    let place = match (number("band"), number("blocks")) {
        (0, _) => "everything else".to_owned(),
        (_, 0) => "empty".to_owned(),
        (_, blocks) => format!("{blocks} blocks from {}", number("start_block")),
    };
    let state = match (
        yes("read_lock_enabled") || yes("write_lock_enabled"),
        yes("read_locked"),
        yes("write_locked"),
    ) {
        (false, ..) => "never locks",
        (true, true, true) => "locked",
        (true, true, false) => "locked for reading",
        (true, false, true) => "read-only",
        (true, false, false) => "unlocked",
    };
    let whose = band.get("authority").and_then(Value::as_str).unwrap_or_default();
    let disabled = band.get("authority_enabled").and_then(Value::as_bool) == Some(false);
    format!("{place}, {state}, {whose}'s{}", if disabled { " (disabled)" } else { "" })
}

/// A drive's state for `status`.
pub(crate) struct DriveStatus {
    /// Its model.
    pub(crate) model: Option<String>,
    /// Bytes of the drive; 0 where that is not known.
    pub(crate) size_bytes: u64,
    /// Locking is in use.
    pub(crate) locking: bool,
    /// Something is locked.
    pub(crate) locked: bool,
    /// The medium is encrypted.
    pub(crate) encrypts: bool,
}

/// What `status` shows of a drive.
pub(crate) fn status(path: &Path) -> Result<DriveStatus, Failure> {
    let target = Target::open(path, PasswordHash::default())?;
    let state = state(target.host.discovery());
    Ok(DriveStatus {
        model: Some(target.host.identity().model.clone()),
        size_bytes: target.virtual_bytes.unwrap_or_else(|| recognise::size(path)),
        locking: matches!(state, Some(State::Locked | State::Unlocked)),
        locked: state == Some(State::Locked),
        encrypts: target.host.discovery().locking().is_some_and(|l| l.media_encryption),
    })
}

/// What a descriptor says, by field.
fn fields(feature: &Feature) -> Map<String, Value> {
    let value = match feature {
        Feature::TPer(t) => json!({"sync": t.sync, "async": t.async_protocol, "ack_nak": t.ack_nak,
            "buffer_management": t.buffer_management, "streaming": t.streaming,
            "com_id_management": t.com_id_management}),
        Feature::Locking(l) => json!({"supported": l.supported, "enabled": l.enabled, "locked": l.locked,
            "media_encryption": l.media_encryption, "mbr_enabled": l.mbr_enabled, "mbr_done": l.mbr_done,
            "mbr_shadowing": !l.mbr_shadowing_not_supported, "hardware_reset": l.hardware_reset_supported}),
        Feature::Geometry(g) => json!({"align_required": g.align_required,
            "logical_block_bytes": g.logical_block_bytes, "alignment_blocks": g.alignment_granularity,
            "lowest_aligned_block": g.lowest_aligned_lba}),
        Feature::Enterprise(s) | Feature::OpalV1(s) => json!({"base_com_id": s.base_com_id,
            "com_ids": s.com_ids, "range_crossing_fails": s.range_crossing_fails}),
        Feature::OpalV2(s) | Feature::Ruby(s) => json!({"minor_version": s.minor_version,
            "base_com_id": s.base_com_id, "com_ids": s.com_ids, "admins": s.admins, "users": s.users,
            "range_crossing_fails": s.range_crossing_fails, "initial_sid_is_msid": s.initial_sid_pin == 0,
            "reverted_sid_is_msid": s.reverted_sid_pin == 0}),
        Feature::Opalite(s) | Feature::PyriteV1(s) | Feature::PyriteV2(s) => json!({
            "minor_version": s.minor_version, "base_com_id": s.base_com_id, "com_ids": s.com_ids,
            "initial_sid_is_msid": s.initial_sid_pin == 0, "reverted_sid_is_msid": s.reverted_sid_pin == 0}),
        Feature::SingleUser(s) => json!({"ranges": s.ranges, "any": s.any, "all": s.all, "policy": s.policy}),
        Feature::DataStore(d) => json!({"max_tables": d.max_tables, "max_bytes": d.max_bytes,
            "alignment": d.alignment}),
        Feature::BlockSid(b) => json!({"sid_differs_from_msid": b.sid_differs_from_msid,
            "blocked": b.blocked, "hardware_reset_clears": b.hardware_reset_clears}),
        Feature::NamespaceLocking(n) => json!({"ranges_configurable": n.ranges_configurable,
            "ranges_present": n.ranges_present, "max_keys": n.max_keys, "unused_keys": n.unused_keys,
            "max_ranges_per_namespace": n.max_ranges_per_namespace}),
        Feature::DataRemoval(d) => json!({"processing": d.processing, "interrupted": d.interrupted,
            "mechanisms": mechanisms(d)}),
        Feature::Other(o) => json!({"version": o.version,
            "bytes": o.bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()}),
    };
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The ways of removing data, in words, with their times in seconds where they are told.
fn mechanisms(removal: &DataRemoval) -> Vec<Value> {
    const NAMES: [&str; 6] =
        ["overwriting", "block erase", "new key", "unmapping", "resetting write pointers", "the maker's own"];
    NAMES
        .iter()
        .zip(removal.times)
        .enumerate()
        .filter(|(bit, _)| removal.mechanisms >> bit & 1 == 1)
        .map(|(bit, (name, time))| {
            let unit = if removal.in_minutes >> bit & 1 == 1 { 60 } else { 2 };
            json!({"name": name, "seconds": (time > 0).then_some(u64::from(time) * unit)})
        })
        .collect()
}

/// A line for each fact, then one for each feature.
fn words(path: &Path, document: &Value) -> String {
    let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let yes = |key: &str| document.get(key).and_then(Value::as_bool).unwrap_or_default();
    let mut rows = vec![
        ("  model".to_owned(), text("model")),
        ("  serial number".to_owned(), text("serial")),
        ("  firmware".to_owned(), text("firmware")),
        ("  connected by".to_owned(), text("interface")),
    ];
    let standards =
        document.get("standards").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = standards.iter().filter_map(Value::as_str).collect();
    rows.push(("  standard".to_owned(), if names.is_empty() { "none".to_owned() } else { names.join(", ") }));
    let state = match document.get("state").and_then(Value::as_str) {
        Some("factory") => State::Factory.words(),
        Some("unlocked") => State::Unlocked.words(),
        Some("locked") => State::Locked.words(),
        _ => "does not lock",
    };
    rows.push(("  state".to_owned(), state.to_owned()));
    let method = match document.get("encryption_method").and_then(Value::as_str) {
        Some(method) => method.to_owned(),
        None => "none: it locks without encrypting".to_owned(),
    };
    rows.push(("  encryption method".to_owned(), method));
    if yes("shadow_enabled") {
        let shown = if yes("shadow_done") { "done, the drive itself is shown" } else { "shown now" };
        rows.push(("  MBR shadow".to_owned(), shown.to_owned()));
    }
    if yes("sid_blocked") {
        let blocked = "blocked by firmware until the next power cycle (Block SID)";
        rows.push(("  owner's authority".to_owned(), blocked.to_owned()));
    }
    if yes("ieee_1667") {
        let words =
            "spoken, as Windows has it of an encrypted drive (eDrive); Keyway uses TCG's own protocol";
        rows.push(("  IEEE 1667".to_owned(), words.to_owned()));
    }
    if let Some(limits) = document.get("limits").filter(|l| l.is_object()) {
        let number = |key: &str| limits.get(key).and_then(Value::as_u64);
        let alignment = number("alignment_blocks").zip(number("block_bytes"));
        let aligned = alignment.filter(|(blocks, _)| *blocks > 1);
        let aligned = aligned.map(|(n, size)| format!(", aligned to {}", bytes(n.saturating_mul(size))));
        let ranges = number("ranges").unwrap_or_default();
        rows.push((
            "  ranges".to_owned(),
            format!("{ranges} and the global one{}", aligned.unwrap_or_default()),
        ));
    }
    if let Some(told) = document.get("bands").filter(|b| b.is_object()) {
        let bands = told.get("bands").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if bands.is_empty() {
            rows.push(("  bands".to_owned(), "told to their masters only".to_owned()));
        }
        for (n, band) in bands.iter().enumerate() {
            // Those without a place are all alike.
            if n == 0 || band.get("blocks").and_then(Value::as_u64) != Some(0) {
                rows.push((format!("  band {n}"), band_words(band)));
            }
        }
        let empty =
            bands.iter().skip(1).filter(|b| b.get("blocks").and_then(Value::as_u64) == Some(0)).count();
        if empty > 0 {
            rows.push(("  other bands".to_owned(), format!("{empty}, without a place on the drive")));
        }
    }
    if let Some(contents) = document.get("contents").and_then(Value::as_str) {
        rows.push(("  on it".to_owned(), contents.to_owned()));
    }
    let features = document.get("features").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for feature in features.iter().filter_map(Value::as_object) {
        let word = |key: &str| feature.get(key).and_then(Value::as_str).unwrap_or_default();
        let facts = feature.iter().filter(|(key, _)| !matches!(key.as_str(), "name" | "code"));
        let facts: Vec<String> =
            facts.filter_map(|(key, value)| fact(&key.replace('_', " "), value)).collect();
        rows.push((format!("  {} {}", word("code"), word("name")), facts.join(", ")));
    }
    format!("{}\n{}", shown(path), pairs(&rows))
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
