//! The kernel's own way to unlock a drive: what it does by itself when the machine wakes up, if it was given the
//! secret.

use super::secret::Who;
use super::target::Target;
use crate::failure::Failure;
use keyway_sed::Status;
use keyway_sed::host::{Did, HostError, Refused};
use keyway_sys::{OpalLock, OpalRange, opal_lock_unlock, opal_save};
use std::fs::File;

/// A range as the kernel takes it: it knows the first administrator, the users 1 to 9, and ranges up to 255.
fn named(range: u16, who: Who, lock: OpalLock) -> Result<OpalRange, Failure> {
    let user = match who {
        Who::Admin(1) => Some(0),
        Who::User(n) => u8::try_from(n).ok().filter(|n| *n <= 9),
        _ => None,
    };
    let user = user.ok_or_else(|| {
        Failure::usage(
            format!("the kernel can't unlock as {who}"),
            "unlock as admin1 or as one of user1 to user9",
        )
    })?;
    let range = u8::try_from(range).map_err(|_| {
        Failure::usage("the kernel knows ranges up to 255", "leave out --for-resume and --by-kernel")
    })?;
    Ok(OpalRange { range, user, single_user: false, lock })
}

/// What is unlocked, as whom and how.
pub(super) struct Unlock<'a> {
    pub(super) ranges: &'a [u16],
    pub(super) lock: OpalLock,
    pub(super) pin: &'a [u8],
}

impl Unlock<'_> {
    /// Has the kernel do it, as the one who was named, or else as the first user and then the first administrator;
    /// who it was.
    pub(super) fn by_kernel(&self, target: &Target, who: Option<Who>) -> Result<Who, Failure> {
        let candidates = who.map_or_else(|| vec![Who::User(1), Who::Admin(1)], |who| vec![who]);
        let mut refusal = None;
        for who in candidates {
            match self.as_who(target, who)? {
                Status::Success => return Ok(who),
                status => {
                    refusal = Some(Refused { did: Did::Authenticate, authority: Some(who.uid()), status })
                }
            }
        }
        let refused =
            refusal.map_or(HostError::Asked("the kernel was asked for nothing"), HostError::Refused);
        Err(target.failure(&refused))
    }

    fn as_who(&self, target: &Target, who: Who) -> Result<Status, Failure> {
        let device = device(target)?;
        for range in self.ranges {
            let range = named(*range, who, self.lock)?;
            let told = opal_lock_unlock(&device, range, self.pin);
            let told = told.map_err(|e| Failure::io("have the kernel unlock", &target.path, &e))?;
            if told != 0 {
                return Ok(Status::from_code(told));
            }
        }
        Ok(Status::Success)
    }

    /// Leaves the secret with the kernel, for when the machine wakes up.
    pub(super) fn save(&self, target: &Target, who: Who) -> Result<(), Failure> {
        let device = device(target)?;
        for range in self.ranges {
            opal_save(&device, named(*range, who, self.lock)?, self.pin)
                .map_err(|e| Failure::io("leave the secret with the kernel for", &target.path, &e))?;
        }
        Ok(())
    }
}

fn device(target: &Target) -> Result<File, Failure> {
    File::open(&target.path).map_err(|e| Failure::io("open", &target.path, &e))
}
