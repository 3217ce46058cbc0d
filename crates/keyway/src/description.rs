//! All that is known of a volume, as a document: what its header says, and what lies in it.

use crate::detect::What;
use crate::told::naming;
use crate::under_way::at_rest;
use crate::volume::Volume;
use keyway_fs::Superblock;
use keyway_volume::Format;
use keyway_volume::bitlocker::Warning;
use serde_json::{Value, json};
use std::path::Path;

impl Volume {
    /// What its header says (`format`, `cipher`, `data_bytes` and so on), the file system inside
    /// (`"filesystem":{"type":"ext4","uuid":"…"}`, or null) and `warnings`.
    pub fn describe(&self) -> Value {
        let inside = Superblock::read(&self.device).ok().flatten();
        let inside = inside.map(|found| json!({"type": found.type_name(), "uuid": found.uuid}));
        with(rested(json!(self.info)), [("filesystem", json!(inside)), ("warnings", json!(self.warnings))])
    }
}

const HAS_METADATA: &str = "a BitLocker volume's metadata lies in it: if it is one whose first sector is lost, `--format bitlocker` finds it";

impl What {
    /// What can be said without a secret; null of what is half converted, which has a description of its own.
    pub fn describe(&self, path: &Path) -> Value {
        match self {
            Self::BitLocker(seen) => {
                with(rested(json!(seen.info)), [("warnings", json!(self.warnings(path)))])
            }
            Self::Noise(seen) => with(
                json!(seen),
                [
                    ("format", Value::Null),
                    ("possible_formats", json!([Format::VeraCrypt, Format::TrueCrypt])),
                ],
            ),
            Self::HalfConverted(_) => Value::Null,
            Self::Disk(disk) => with(json!(disk), [("format", Value::Null)]),
        }
    }

    /// What its owner should know; the commands that mend it name the volume.
    pub fn warnings(&self, path: &Path) -> Vec<String> {
        match self {
            Self::BitLocker(seen) => named(&seen.warnings, path),
            Self::Noise(seen) if seen.has_metadata => vec![HAS_METADATA.to_owned()],
            _ => Vec::new(),
        }
    }
}

/// What its owner should know, about the volume at this path.
pub(crate) fn named(warnings: &[Warning], path: &Path) -> Vec<String> {
    warnings.iter().map(|warning| naming(&warning.to_string(), path.as_os_str(), None, "")).collect()
}

/// The words for a volume that nobody works on: one that is converted just now is told of otherwise.
fn rested(mut document: Value) -> Value {
    if let Some(Value::String(status)) = document.get_mut("conversion_status") {
        *status = at_rest(status);
    }
    document
}

fn with<const N: usize>(mut document: Value, more: [(&str, Value); N]) -> Value {
    if let Some(fields) = document.as_object_mut() {
        fields.extend(more.map(|(key, value)| (key.to_owned(), value)));
    }
    document
}
