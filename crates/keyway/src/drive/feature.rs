//! What a feature descriptor says, by field.

use keyway_sed::discovery::{DataRemoval, Feature};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// One thing that a drive can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FeatureInfo {
    /// Its name.
    pub name: &'static str,
    /// The standard's number for it, as `0x0203`.
    pub code: String,
    /// What the drive says of it, by the names that `docs/reference/json.md` lists.
    #[serde(flatten)]
    pub facts: Map<String, Value>,
}

impl From<&Feature> for FeatureInfo {
    fn from(feature: &Feature) -> Self {
        let facts = match facts(feature) {
            Value::Object(facts) => facts,
            _ => Map::new(),
        };
        Self { name: feature.name(), code: format!("{:#06x}", feature.code()), facts }
    }
}

fn facts(feature: &Feature) -> Value {
    match feature {
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
    }
}

/// The ways of removing data, with their times in seconds where they are told.
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
