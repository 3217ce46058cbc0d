//! TLS under NBD of a build without it: there are no certificates.

use super::connection_error::ConnectionError;
use super::wire::{Socket, Wire};
use crate::NbdError;
use std::io::{self, IoSlice};
use std::path::Path;

/// Who we are, and who may come in; there are none.
#[derive(Debug, Clone)]
pub enum Certificates {}

impl Certificates {
    /// That there are none.
    ///
    /// # Errors
    /// [`NbdError::Certificates`].
    pub fn from_folder(folder: &Path) -> Result<Self, NbdError> {
        let reason = "this program was built without TLS".to_owned();
        Err(NbdError::Certificates { path: folder.to_owned(), reason })
    }
}

/// A socket with TLS on it; there is none.
pub(crate) enum TlsWire {}

impl TlsWire {
    pub(crate) const fn accept(_: &Socket, who: &Certificates) -> Result<Self, ConnectionError> {
        match *who {}
    }

    pub(crate) const fn say_goodbye(&self) {
        match *self {}
    }
}

impl Wire for TlsWire {
    fn receive(&self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    fn send(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        match *self {}
    }

    fn hang_up(&self) {
        match *self {}
    }
}
