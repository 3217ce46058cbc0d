//! NVMe/TCP of a build without it: no address is taken, and no secret read.

pub use crate::NvmeError;
pub use crate::namespace::{Namespace, NamespaceError, SecurityRefusal, VolumeNamespace};

use crate::{LocalUsers, Refusals, Stop};
use keyway_error::explain;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// A text can't be read as a secret here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this program was built without NVMe/TCP")]
pub struct SecretFault;

explain!(SecretFault => [Usage Request, ServeOtherwise]);

/// A secret that both sides know; there is none.
#[derive(Debug)]
pub enum AuthSecret {}

impl AuthSecret {
    /// That there is none.
    pub const fn parse(_: &[u8]) -> Result<Self, SecretFault> {
        Err(SecretFault)
    }
}

/// What is needed to let hosts prove themselves.
#[derive(Debug)]
pub struct Credentials {
    /// What a host must know.
    pub host: AuthSecret,
    /// What this side proves to know, to a host that asks for it.
    pub controller: Option<AuthSecret>,
}

/// How to serve.
#[derive(Clone, Default)]
pub struct Options {
    /// The subsystem's name.
    pub nqn: String,
    /// What a host must prove to know.
    pub credentials: Option<Arc<Credentials>>,
    /// Who of this machine may connect without credentials.
    pub users: LocalUsers,
    /// Who was refused.
    pub refusals: Arc<Refusals>,
}

/// A bound server; there is none.
pub enum Server {}

impl Server {
    /// That there is none.
    ///
    /// # Errors
    /// [`NvmeError::System`].
    pub fn bind(at: SocketAddr, _: Arc<dyn Namespace>, _: &Options) -> Result<Self, NvmeError> {
        let source = io::Error::new(io::ErrorKind::Unsupported, "this program was built without NVMe/TCP");
        Err(NvmeError::System { doing: "listen on", at, source })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        match *self {}
    }

    /// The subsystem's name.
    pub const fn nqn(&self) -> &str {
        match *self {}
    }

    /// Serves.
    pub const fn run(&self, _: &Stop) -> Result<(), NvmeError> {
        match *self {}
    }
}
