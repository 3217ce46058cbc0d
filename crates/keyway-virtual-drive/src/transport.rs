//! A virtual drive in this process: no commands, no kernel, the same bytes.

use crate::drive::Drive;
use keyway_sed::transport::{Identity, Interface, Refusal, SecurityTransport, TransportError};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The model's name.
const MODEL: &str = "Keyway virtual drive";

/// A virtual drive under power.
pub struct VirtualTransport {
    drive: Arc<Drive>,
    identity: Identity,
}

impl VirtualTransport {
    /// Talks to that drive.
    pub fn new(drive: Arc<Drive>) -> Self {
        let label = drive.config().label;
        let identity = Identity::new(Interface::Virtual, MODEL, &label.serial, env!("CARGO_PKG_VERSION"));
        Self { drive, identity }
    }
}

impl SecurityTransport for VirtualTransport {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError> {
        let refused = |e| TransportError::Refused(Refusal::Virtual(e));
        self.drive.security_send(protocol, com_id, data).map_err(refused)
    }

    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        let refused = |e| TransportError::Refused(Refusal::Virtual(e));
        // What a drive keeps for its host may be a secret.
        let bytes =
            Zeroizing::new(self.drive.security_receive(protocol, com_id, into.len()).map_err(refused)?);
        into.fill(0);
        into.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
        Ok(())
    }
}
