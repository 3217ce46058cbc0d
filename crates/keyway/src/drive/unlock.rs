//! Unlocking ranges: by a session with the drive, or by the kernel, which does it itself when the machine wakes up.

use super::handle::Drive;
use super::kernel::KernelUnlock;
use super::outcome::OutcomeFacts;
use super::secret::DriveSecrets;
use crate::error::Error;
use keyway_sed::Authority;
use keyway_sed::host::ranges::Lock;
use keyway_sys::{OpalLock, reread_partitions};
use std::fs::File;

impl Drive {
    /// Unlocks ranges: for reading only, by the kernel, with the secret left for when the machine wakes up.
    pub(super) fn unlock(
        &mut self,
        ranges: &[u16],
        (read_only, by_kernel, for_resume): (bool, bool, bool),
        by: &[Authority],
        secrets: &DriveSecrets<'_>,
    ) -> Result<OutcomeFacts, Error> {
        let pin = secrets.pin(self, by.first().copied().filter(|_| by.len() == 1))?;
        let shadowed = self.discovery().locking().is_some_and(|l| l.mbr_enabled && !l.mbr_done);
        let lock = if read_only { OpalLock::ReadOnly } else { OpalLock::ReadWrite };
        let kernel = KernelUnlock { ranges, lock, pin: &pin };
        let (by, covered) = if by_kernel {
            (kernel.unlock(self, by)?, shadowed)
        } else {
            let lock = if read_only { Lock::ReadOnly } else { Lock::Unlocked };
            self.session_as(by, &pin, &mut |session| {
                ranges.iter().try_for_each(|range| session.must_be_placed(*range))?;
                ranges.iter().try_for_each(|range| session.lock(*range, lock))?;
                if !shadowed {
                    return Ok(false);
                }
                match session.shadow_done(true) {
                    Err(e) if e.status().is_some() => Ok(true),
                    other => other.map(|()| false),
                }
            })?
        };
        let saved = for_resume && self.is_device();
        if self.is_device() {
            let device = File::open(&self.path).map_err(|e| Error::system("open", &self.path, e))?;
            // A file system that is in use keeps the old table; then nothing has changed there either.
            let _ = reread_partitions(&device);
            if saved {
                kernel.save(self, by)?;
            }
        }
        Ok(OutcomeFacts::Unlocked { by, covered, saved })
    }
}
