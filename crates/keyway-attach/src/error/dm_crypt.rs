//! Why a volume can't be handed over to the kernel.

use keyway_error::explain;
use std::io;

/// The volume can't be handed over to the kernel.
#[derive(Debug, thiserror::Error)]
pub enum DmCryptError {
    /// There is no device-mapper, or not for this user.
    #[error("device-mapper can't be used: {0}")]
    Missing(String),
    /// The kernel's dm-crypt can't do what this volume needs.
    #[error("dm-crypt can't decrypt this volume: {0}")]
    Unmappable(#[from] Unmappable),
    /// It was tried, and the kernel said no.
    #[error("dm-crypt does not take {cipher}: {source}")]
    Refused {
        /// As dm-crypt calls it.
        cipher: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

/// Why the kernel can't decrypt a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unmappable {
    /// Writes to the outer volume could not be checked.
    #[error("the kernel would not protect the hidden volume")]
    Guard,
    /// Linux has no such cipher.
    #[error("the kernel has no {0}")]
    Cipher(&'static str),
    /// The cipher is not used that way in the kernel.
    #[error("the kernel has no {mode} with {cipher}")]
    Mode {
        /// The mode.
        mode: &'static str,
        /// The cipher.
        cipher: &'static str,
    },
    /// The ciphers run together, not one over the other.
    #[error("the kernel has no cascades in {0} mode")]
    Cascade(&'static str),
    /// A cascade in pieces.
    #[error("the volume is a cascade in several pieces")]
    Pieces,
    /// More targets than make sense.
    #[error("the volume lies in {0} pieces")]
    TooMany(usize),
    /// A piece that does not begin or end with a sector.
    #[error("a piece of the volume does not begin with a whole sector")]
    Unaligned,
}

explain! { DmCryptError {
    Self::Missing(_) => [NotPermitted Machine, AskDoctor],
    Self::Unmappable(_) => [NotPermitted Machine, AttachOtherwise],
    Self::Refused { .. } => [NotPermitted Machine, ReadKernelLog],
} }
