//! One way to prove who one is and to act: a session with the part of a drive that locks.

use super::error::DriveError;
use super::handle::Drive;
use crate::error::Error;
use keyway_secret::SecretBytes;
use keyway_sed::host::{Credential, HostError, Operation, Refused, Session};
use keyway_sed::{Authority, Status};

/// What is done in a session.
pub(super) type Step<'a, T> = &'a mut dyn FnMut(&mut Session<'_>) -> Result<T, HostError>;

impl Drive {
    /// Does something in a session with the Locking SP.
    pub(super) fn session<T>(
        &mut self,
        by: &[Authority],
        pin: &SecretBytes,
        what: Step<'_, T>,
    ) -> Result<T, Error> {
        self.session_as(by, pin, what).map(|(_, done)| done)
    }

    /// The same, as the first of these whose secret it is.
    pub(super) fn session_as<T>(
        &mut self,
        by: &[Authority],
        pin: &SecretBytes,
        what: Step<'_, T>,
    ) -> Result<(Authority, T), Error> {
        self.must_be_set_up()?;
        let mut tried = Vec::new();
        for who in by {
            let credential = Credential { authority: who.uid(), pin };
            tried.push(credential.authority);
            let done = self.host.locking(Some(credential)).and_then(|mut session| {
                let done = what(&mut session)?;
                session.end()?;
                Ok(done)
            });
            match done {
                Ok(done) => return Ok((*who, done)),
                // It says so to a wrong password and to a user that is not enabled.
                Err(HostError::Refused(Refused { operation: Operation::Authenticate, status, .. }))
                    if status != Status::AuthorityLockedOut && tried.len() < by.len() => {}
                Err(error) => return Err(self.said(error, &tried).into()),
            }
        }
        Err(DriveError::NotSetUp(self.path.clone()).into())
    }
}
