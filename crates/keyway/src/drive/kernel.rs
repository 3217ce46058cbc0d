//! The kernel's own way to unlock a drive: what it does by itself when the machine wakes up, if it was given the secret.

use super::error::DriveError;
use super::handle::Drive;
use crate::error::Error;
use keyway_sed::host::{HostError, Operation, Refused};
use keyway_sed::{Authority, Status};
use keyway_sys::{OpalLock, OpalRange, opal_lock_unlock, opal_save};
use std::fs::File;

/// What is unlocked, and how.
pub(super) struct KernelUnlock<'a> {
    pub(super) ranges: &'a [u16],
    pub(super) lock: OpalLock,
    pub(super) pin: &'a [u8],
}

impl KernelUnlock<'_> {
    /// Has the kernel do it, as the first of these whom the drive accepts.
    pub(super) fn unlock(&self, drive: &Drive, by: &[Authority]) -> Result<Authority, Error> {
        let mut tried = Vec::new();
        let mut last = Status::NotAuthorized;
        for who in by {
            tried.push(who.uid());
            last = self.unlock_as(drive, *who)?;
            if last == Status::Success {
                return Ok(*who);
            }
        }
        let refused =
            Refused { operation: Operation::Authenticate, authority: tried.last().copied(), status: last };
        Err(drive.said(HostError::Refused(refused), &tried).into())
    }

    fn unlock_as(&self, drive: &Drive, who: Authority) -> Result<Status, Error> {
        let device = device(drive)?;
        for range in self.ranges {
            let told = opal_lock_unlock(&device, self.named(*range, who)?, self.pin)
                .map_err(|e| Error::system("have the kernel unlock", &drive.path, e))?;
            if told != 0 {
                return Ok(Status::from_code(told));
            }
        }
        Ok(Status::Success)
    }

    /// Leaves the secret with the kernel, for when the machine wakes up.
    pub(super) fn save(&self, drive: &Drive, who: Authority) -> Result<(), Error> {
        let device = device(drive)?;
        for range in self.ranges {
            opal_save(&device, self.named(*range, who)?, self.pin)
                .map_err(|e| Error::system("leave the secret with the kernel for", &drive.path, e))?;
        }
        Ok(())
    }

    /// A range as the kernel takes it: it knows the first administrator, the users 1 to 9, and ranges up to 255.
    fn named(&self, range: u16, who: Authority) -> Result<OpalRange, DriveError> {
        let user = match who {
            Authority::Admin(1) => Some(0),
            Authority::User(n) => u8::try_from(n).ok().filter(|n| *n <= 9),
            _ => None,
        };
        let user = user.ok_or(DriveError::UnknownToKernel(who))?;
        let range = u8::try_from(range).map_err(|_| DriveError::RangeUnknownToKernel)?;
        Ok(OpalRange { range, user, single_user: false, lock: self.lock })
    }
}

fn device(drive: &Drive) -> Result<File, Error> {
    File::open(&drive.path).map_err(|e| Error::system("open", &drive.path, e))
}
