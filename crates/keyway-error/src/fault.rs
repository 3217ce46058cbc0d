//! Whose fault a failure is.

use crate::Kind;
use serde::{Deserialize, Serialize};

/// Whose fault a failure is, and so who can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// What was asked for makes no sense, or can't be had together.
    Request,
    /// No secret that was given opens it.
    Secret,
    /// What the medium holds is not a volume we know, or is damaged.
    Contents,
    /// This user may not do it, or this machine lacks what it needs.
    Machine,
    /// Somebody else uses it.
    InUse,
    /// The thing is not in a state for it: absent, there already, full, half done.
    State,
    /// The medium or the system failed.
    Medium,
    /// The user stopped it.
    Stopped,
    /// Ours.
    Ours,
}

impl Fault {
    /// The kind of a failure of which nothing more precise is known.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Request => Kind::Usage,
            Self::Secret => Kind::WrongSecret,
            Self::Contents => Kind::NotAVolume,
            Self::Machine => Kind::NotPermitted,
            Self::InUse => Kind::Busy,
            Self::State | Self::Medium | Self::Ours => Kind::Failed,
            Self::Stopped => Kind::Interrupted,
        }
    }
}
