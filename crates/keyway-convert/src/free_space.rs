//! The space that a file system does not use.

use keyway_error::enum_table;
use serde::{Deserialize, Serialize};

enum_table! {
    /// What becomes of the space that the file system does not use.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FreeSpace {
        /// It stays as it is, with what was deleted in it.
        Leave("leave", 1),
        /// It is overwritten with bytes that nobody can tell from cipher text.
        Fill("fill", 2),
        /// The drive is told that nobody needs it (a file gets holes).
        Trim("trim", 3),
    }
    /// The word of the command line.
    pub name: &'static str,
    /// The byte in a marker.
    pub(crate) code: u8,
}

impl FreeSpace {
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|space| space.code() == code)
    }
}
