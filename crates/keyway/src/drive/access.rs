//! Whether a drive may be changed now: its standard, its state, its users.

use super::change::DriveChange;
use super::error::DriveError;
use super::handle::Drive;
use super::info::standards;
use crate::error::Error;
use keyway_sed::discovery::Discovery;
use keyway_sed::host::owner::LifeCycle;
use keyway_sed::host::{Credential, Host};
use keyway_sed::uid::authority;
use keyway_store::{OpenMode, Operation, StoreError, refuse_if_claimed};
use keyway_sys::disks_under;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

impl Drive {
    /// Whether it is a device, not a virtual drive's file.
    pub fn is_device(&self) -> bool {
        self.path.metadata().is_ok_and(|meta| meta.file_type().is_block_device())
    }

    /// Refuses a drive of a standard that is only read here.
    pub(super) fn must_be_managed(&self) -> Result<(), DriveError> {
        managed(&self.path, self.discovery())
    }

    /// Refuses a drive in its factory state, which has no one to authenticate as.
    pub(super) fn must_be_set_up(&self) -> Result<(), DriveError> {
        self.must_be_managed()?;
        if self.is_enabled() { Ok(()) } else { Err(DriveError::NotSetUp(self.path.clone())) }
    }

    /// Refuses a drive that is not as it came.
    pub(super) fn must_be_factory_fresh(&mut self) -> Result<(), DriveError> {
        self.must_be_managed()?;
        if self.is_enabled() {
            return Err(DriveError::SetUpAlready(self.path.clone()));
        }
        // Tries the factory's secret, which tells whether somebody owns it, or firmware blocks.
        self.factory_pin = true;
        let tried = self.with(|host| {
            let msid = host.msid()?;
            host.admin(Some(Credential { authority: authority::SID, pin: &msid }))?.end()?;
            host.locking_life()
        });
        self.factory_pin = false;
        match tried? {
            LifeCycle::ManufacturedInactive => Ok(()),
            LifeCycle::Manufactured | LifeCycle::Other(_) => Err(DriveError::OddState(self.path.clone())),
        }
    }

    /// Whether it is taken back to a state that it is in: nobody has a secret for it then, so asking for one misleads.
    /// The label's secret is on the label, and is tried all the same.
    pub(super) fn has_nothing_to_revert(&mut self, change: &DriveChange) -> Result<bool, DriveError> {
        let reverts = matches!(change, DriveChange::Revert { by_label: false } | DriveChange::Release);
        Ok(reverts && !self.is_enabled() && self.with(Host::is_unowned)?)
    }

    /// Refuses to block an owner's authority that is blocked, or somebody's: a drive refuses that without a reason.
    pub(super) fn must_be_blockable(&self) -> Result<(), DriveError> {
        match self.discovery().block_sid() {
            Some(seen) if seen.blocked => Err(DriveError::BlockedAlready(self.path.clone())),
            Some(seen) if seen.sid_differs_from_msid => Err(DriveError::NothingToBlock(self.path.clone())),
            _ => Ok(()),
        }
    }

    /// Whether locking is in use.
    pub(super) fn is_enabled(&self) -> bool {
        self.discovery().locking().is_some_and(|l| l.enabled)
    }

    /// Refuses to cut off what is in use: on the whole drive, whichever of its devices was named.
    pub(super) fn must_be_unused(&self) -> Result<(), Error> {
        for disk in self.disks()? {
            let uses = keyway_sys::uses(&disk).map_err(|e| Error::system("look at", &disk, e))?;
            if let Some(user) = uses.into_iter().next() {
                return Err(DriveError::InUse { disk, user }.into());
            }
            // An open volume in one of its partitions, too.
            refuse_if_claimed(&disk, OpenMode::ReadWrite)
                .map_err(|e| StoreError::new(Operation::Open, disk.display().to_string(), 0, 0, e))?;
        }
        Ok(())
    }

    /// Refuses a file that would lie on the drive itself, where nobody can read it who needs it.
    pub(super) fn must_not_hold(&self, file: &Path) -> Result<(), Error> {
        let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let below = disks_under(folder).map_err(|e| Error::system("look at", folder, e))?;
        if self.disks()?.iter().any(|disk| below.contains(disk)) {
            return Err(DriveError::SheetOnDrive(file.to_owned()).into());
        }
        Ok(())
    }

    /// The drive's disks; none of a virtual drive's file.
    fn disks(&self) -> Result<Vec<PathBuf>, Error> {
        let look = |e| Error::system("look at", &self.path, e);
        if self.path.metadata().map_err(look)?.is_file() {
            return Ok(Vec::new());
        }
        let disks = disks_under(&self.path).map_err(look)?;
        // Where the kernel does not say what it is a part of, it is the disk.
        Ok(if disks.is_empty() && self.is_device() { vec![self.path.clone()] } else { disks })
    }
}

fn managed(path: &Path, discovery: &Discovery) -> Result<(), DriveError> {
    match standards(discovery).as_slice() {
        [] => Err(DriveError::NoStandard(path.to_owned())),
        ["Enterprise"] => Err(DriveError::OnlyRead(path.to_owned())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_sed::discovery::{BasicSsc, Feature, Ssc};

    #[test]
    fn a_drive_that_is_only_read_is_not_managed() {
        let managed = |features| {
            managed(Path::new("/dev/sdx"), &Discovery { revision: (0, 1), vendor: [0; 32], features })
        };
        let enterprise = BasicSsc { base_com_id: 0x07fe, ..BasicSsc::default() };
        assert!(matches!(managed(vec![Feature::Enterprise(enterprise)]), Err(DriveError::OnlyRead(_))));
        assert!(matches!(managed(Vec::new()), Err(DriveError::NoStandard(_))));
        assert!(managed(vec![Feature::OpalV2(Ssc::default())]).is_ok());
    }
}
