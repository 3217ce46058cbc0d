//! The space that a file system does not use.

use serde::{Deserialize, Serialize};

/// What becomes of the space that the file system does not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreeSpace {
    /// It stays as it is, with what was deleted in it.
    Leave,
    /// It is overwritten with bytes that nobody can tell from cipher text.
    Fill,
    /// The drive is told that nobody needs it (a file gets holes).
    Trim,
}

impl FreeSpace {
    /// The byte in a marker.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Leave => 1,
            Self::Fill => 2,
            Self::Trim => 3,
        }
    }

    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Leave),
            2 => Some(Self::Fill),
            3 => Some(Self::Trim),
            _ => None,
        }
    }

    /// The word of the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leave => "leave",
            Self::Fill => "fill",
            Self::Trim => "trim",
        }
    }
}
