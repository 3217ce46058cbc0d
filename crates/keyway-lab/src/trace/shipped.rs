//! The traces that are shipped, and mixes of them.

use keyway_model::trace::{Trace, TraceRecord};
use serde::Deserialize;

/// Recorded by `keyway lab record` while the work was done on ext4; docs/reference/drive-models.md says how.
const TRACES: [(&str, &[u8]); 8] = [
    ("boot", include_bytes!("../../traces/boot.kwtrace")),
    ("install", include_bytes!("../../traces/install.kwtrace")),
    ("compile", include_bytes!("../../traces/compile.kwtrace")),
    ("photo-import", include_bytes!("../../traces/photo-import.kwtrace")),
    ("photo-view", include_bytes!("../../traces/photo-view.kwtrace")),
    ("database", include_bytes!("../../traces/database.kwtrace")),
    ("tree-copy", include_bytes!("../../traces/tree-copy.kwtrace")),
    ("database-read", include_bytes!("../../traces/database-read.kwtrace")),
];

/// Mixes, one readable file each.
const MIXES: [&str; 1] = [include_str!("../../traces/pcmark-like.toml")];

/// Traces one after the other.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceMix {
    /// Its name.
    pub name: String,
    /// What it stands for, and how the parts were chosen.
    pub note: String,
    /// The parts, in order.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
}

/// A trace in a mix.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A shipped trace.
    pub trace: String,
    /// How often it is replayed.
    pub times: u32,
}

/// Names of the shipped traces and mixes.
pub fn names() -> Vec<String> {
    TRACES.iter().map(|(name, _)| (*name).to_owned()).chain(mixes().into_iter().map(|m| m.name)).collect()
}

/// The shipped mixes.
pub fn mixes() -> Vec<TraceMix> {
    MIXES.iter().filter_map(|text| toml::from_str(text).ok()).collect()
}

/// A shipped trace, or a mix as one trace.
pub fn named(name: &str) -> Option<Trace> {
    match TRACES.iter().find(|(known, _)| *known == name) {
        Some((_, bytes)) => Trace::from_bytes(bytes).ok(),
        None => mixes().iter().find(|m| m.name == name).and_then(mix),
    }
}

/// A mix's parts as one trace, each beginning when the one before is done. `None` if a part is not
/// shipped.
pub fn mix(mix: &TraceMix) -> Option<Trace> {
    let mut whole = Trace::default();
    let mut end = 0;
    for part in &mix.parts {
        let trace = TRACES.iter().find(|(name, _)| *name == part.trace)?;
        let trace = Trace::from_bytes(trace.1).ok()?;
        whole.volume_bytes = whole.volume_bytes.max(trace.volume_bytes);
        for _ in 0..part.times {
            let first = trace.records.first().map_or(0, |r| r.start_us);
            let begin = end;
            for record in &trace.records {
                let record = TraceRecord { start_us: begin + (record.start_us - first), ..*record };
                end = end.max(record.end_us().max(record.start_us + 1));
                whole.records.push(record);
            }
        }
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_name_is_a_trace_in_order() {
        let names = names();
        assert_eq!(names.len(), TRACES.len() + MIXES.len(), "{names:?}");
        for name in names {
            let trace = named(&name).unwrap_or_else(|| panic!("{name}"));
            assert!(trace.records.is_sorted_by_key(|r| r.start_us), "{name}");
            assert_eq!(trace.lost, 0);
            assert!(trace.records.len() > 500, "{name}");
            assert!(trace.records.iter().all(|r| r.took_us.is_some()), "{name}");
        }
        assert!(named("nothing of the kind").is_none());
    }

    #[test]
    fn a_mix_is_its_parts_one_after_the_other() {
        let whole = named("pcmark-like").unwrap();
        let mixed = mixes().remove(0);
        let count: usize =
            mixed.parts.iter().map(|p| named(&p.trace).unwrap().records.len() * p.times as usize).sum();
        assert_eq!(whole.records.len(), count);
        let unknown = TraceMix { parts: vec![Part { trace: "x".into(), times: 1 }], ..mixed };
        assert!(mix(&unknown).is_none());
    }
}
