//! Why ublk can't be used for a volume.

use keyway_error::explain;
use std::path::PathBuf;

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
    #[error("{} is still {device}, whose server was killed", volume.display())]
    Waiting {
        /// The volume.
        volume: PathBuf,
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

explain! { UblkError {
    Self::Missing(_) => [NotPermitted Machine, AskDoctor],
    Self::NotHandedOver { .. } => [NotPermitted Machine, AddUdevRule],
    Self::Waiting { volume, .. } => [Busy InUse, ServeAgain { volume: volume.clone() }; volume],
    Self::Another { .. } => [State, ListOpen],
    Self::Unprotected(_) => [Failed State, ProtectOrClose],
} }
