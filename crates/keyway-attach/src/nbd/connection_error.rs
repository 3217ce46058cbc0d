//! Why a connection ends before its time, and how a client breaks the protocol.

use std::io;

/// What the client did that the protocol forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Handshake flags that the server did not offer.
    #[error("the client set unknown handshake flags {0:#x}")]
    ClientFlags(u32),
    /// Not the head of an option.
    #[error("the client sent something that is not an option")]
    OptionMagic,
    /// Option data of an absurd length.
    #[error("the client announced an option of {0} bytes")]
    OptionLength(usize),
    /// It never chose.
    #[error("the client sent options without end")]
    TooManyOptions,
    /// An export that is not here, asked for in the way that knows no error reply.
    #[error("the client asked for an export that does not exist")]
    UnknownExport,
    /// It chose an export in the clear, in the way that knows no error reply.
    #[error("the client did not start TLS, without which nothing is served here")]
    NoTls,
    /// Not the head of a request.
    #[error("the client sent something that is not a request")]
    RequestMagic,
}

/// Why a connection ended before its time. The server goes on.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The client broke the protocol.
    #[error(transparent)]
    Client(#[from] Violation),
    /// The stream failed or ended in mid-message.
    #[error("the connection was lost: {0}")]
    Wire(#[from] io::Error),
}
