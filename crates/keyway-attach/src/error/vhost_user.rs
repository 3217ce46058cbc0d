//! Why a vhost-user server could not be made, or had to give up.

use super::nbd::NbdError;
use keyway_error::{explain, explain_io};
use std::io;
use std::path::PathBuf;

/// A vhost-user server that could not be made or go on.
#[derive(Debug, thiserror::Error)]
pub enum VhostError {
    /// The socket.
    #[error(transparent)]
    Socket(#[from] NbdError),
    /// Anything else the system said.
    #[error("could not serve virtual machines on {}: {source}", .at.display())]
    System {
        /// The socket.
        at: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

explain! { VhostError, through Socket {
    Self::System { at, source } => [Medium, ..explain_io(source).advice; at],
} }
