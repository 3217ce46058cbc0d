//! Why a connection ends, and how a host breaks the protocol.

use std::io;

/// What the host did that the transport forbids, or that is not spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A PDU that a host does not send, or not now.
    #[error("the host sent a PDU of type {0:#04x}")]
    PduType(u8),
    /// Lengths that do not fit.
    #[error("the host sent a PDU of {0} bytes, which does not fit its type")]
    PduLength(usize),
    /// A PDU format of the future.
    #[error("the host speaks PDU format {0}")]
    Format(u16),
    /// Data that must be aligned.
    #[error("the host wants its data aligned")]
    Alignment,
    /// The host gave up.
    #[error("the host ended the connection with an error")]
    Terminated,
    /// Two commands of the same identifier, or data for none.
    #[error("command identifier {0:#06x} does not belong to a command that waits for data")]
    Identifier(u16),
    /// One more than there are places for.
    #[error("all places are taken, or this queue is another connection's")]
    NoPlace,
    /// Who did not prove to know the secret.
    #[error("the host did not prove that it knows the secret")]
    Unproved,
    /// Data that is not what was asked for.
    #[error("the host sent data for offset {0}, which was not asked for")]
    DataOffset(u32),
}

/// Why a connection ended. The server goes on.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The host broke the protocol.
    #[error(transparent)]
    Host(#[from] Violation),
    /// The stream failed or ended.
    #[error("the connection was lost: {0}")]
    Wire(#[from] io::Error),
}
