//! Why ublk can't be used for a volume.

use keyway_error::{Advice, Explain, Fault, Kind, Meaning};

/// ublk can't be used.
#[derive(Debug, thiserror::Error)]
pub enum UblkError {
    /// There is no driver, or not for this user.
    #[error("ublk can't be used: {0}")]
    Missing(String),
    /// Nobody has handed this user the node of a device of its own.
    #[error("{node} belongs to root and not to who made its device")]
    NotHandedOver {
        /// The node.
        node: String,
    },
    /// The volume is attached already, by a server that was killed.
    #[error("{volume} is still {device}, whose server was killed")]
    Waiting {
        /// The volume.
        volume: String,
        /// The block device.
        device: String,
    },
    /// Another volume than the one that was served.
    #[error(
        "{device} was {size} bytes in sectors of {sector_bytes} bytes, and this volume is not: it is not the one that was attached"
    )]
    Another {
        /// The block device.
        device: String,
        /// Its size.
        size: u64,
        /// Its sectors'.
        sector_bytes: u32,
    },
    /// A hidden volume was protected.
    #[error("{0} protected a hidden volume, and would not any more")]
    Unprotected(String),
}

impl Explain for UblkError {
    fn explain(&self) -> Meaning {
        match self {
            Self::Missing(_) => (Kind::NotPermitted, Fault::Machine, Advice::AskDoctor).into(),
            Self::NotHandedOver { .. } => (Kind::NotPermitted, Fault::Machine, Advice::AddUdevRule).into(),
            Self::Waiting { volume, .. } => {
                (Kind::Busy, Fault::InUse, Advice::ServeAgain { volume: volume.clone() }).into()
            }
            Self::Another { .. } => Meaning::of(Fault::State),
            Self::Unprotected(_) => (Kind::Failed, Fault::State, Advice::ProtectOrClose).into(),
        }
    }
}
