//! Paths in JSON, and as values of it.

pub use keyway_error::path_text::{Paths, deserialize, serialize};
use std::path::Path;

/// A path as [`serialize`] writes it.
pub fn value(path: &Path) -> serde_json::Value {
    match path.to_str() {
        Some(text) => text.into(),
        None => path.as_os_str().as_encoded_bytes().into(),
    }
}
