//! Why ublk can't be used for a volume.

/// ublk can't be used.
#[derive(Debug, thiserror::Error)]
pub enum UblkError {
    /// There is no driver, or not for this user.
    #[error(
        "ublk can't be used: {0}; `keyway doctor` tells more, and the other ways to attach work without it"
    )]
    Missing(String),
    /// Nobody has handed this user the node of a device of its own.
    #[error(
        "{node} belongs to root and not to who made its device; a udev rule must hand it over, and docs/reference/attachments.md has it"
    )]
    NotHandedOver {
        /// The node.
        node: String,
    },
    /// The volume is attached already, by a server that was killed.
    #[error(
        "{volume} is still {device}, whose server was killed; serve it again: keyway open {volume} --attach ublk, or give it up: keyway close {volume}"
    )]
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
    #[error(
        "{0} protected a hidden volume, and would not any more; open it with --protect-hidden, or give it up with `keyway close`"
    )]
    Unprotected(String),
}

impl UblkError {
    /// The exit code that stands for this error.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Missing(_) | Self::NotHandedOver { .. } => 5,
            Self::Waiting { .. } => 6,
            Self::Another { .. } | Self::Unprotected(_) => 1,
        }
    }
}
