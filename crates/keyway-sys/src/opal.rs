//! The kernel's own Opal code: what it knows of a drive, and the key it keeps for resume.
//!
//! Structures and numbers: `include/uapi/linux/sed-opal.h`.

use rustix::ioctl::{Getter, Opcode, Updater, ioctl};
use std::io;
use std::os::fd::AsFd;
use zeroize::Zeroize;

/// `IOC_OPAL_SAVE`: `_IOW('p', 220, struct opal_lock_unlock)`.
const SAVE: Opcode = 0x4118_70DC;
/// `IOC_OPAL_GET_STATUS`: `_IOR('p', 236, struct opal_status)` (Linux 6.0).
const GET_STATUS: Opcode = 0x8008_70EC;
/// `OPAL_RO`.
const READ_ONLY: u32 = 1;
/// `OPAL_RW`.
const READ_WRITE: u32 = 2;
/// `OPAL_KEY_MAX`.
pub const OPAL_KEY_MAX: usize = 256;
/// `OPAL_USER9`, the last that the kernel's list has.
const LAST_USER: u8 = 9;

/// What the kernel says of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpalStatus(u32);

impl OpalStatus {
    /// It takes the drive for one with Opal.
    pub const fn supported(self) -> bool {
        self.0 & 1 != 0
    }
    /// The drive is in use as a locking one.
    pub const fn locking_enabled(self) -> bool {
        self.0 & 4 != 0
    }
    /// At least one range is locked.
    pub const fn locked(self) -> bool {
        self.0 & 8 != 0
    }
}

/// `struct opal_lock_unlock`, the structures inside it spread out.
#[repr(C)]
#[derive(Zeroize)]
struct LockUnlock {
    single_user: u32,
    who: u32,
    range: u8,
    key_len: u8,
    key_type: u8,
    align: [u8; 5],
    key: [u8; OPAL_KEY_MAX],
    state: u32,
    flags: u16,
    align2: [u8; 2],
}

/// Who unlocks a range when the machine wakes up, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpalSave {
    /// The range's number; 0 is the global one.
    pub range: u8,
    /// The user's number, 1 to 9; 0 is the first administrator.
    pub user: u8,
    /// The range is in single user mode.
    pub single_user: bool,
    /// It is to come back readable only.
    pub read_only: bool,
}

/// Leaves a range's secret with the kernel, which unlocks the range with it when the machine wakes
/// up. `key` is what the drive itself is told: hashed already where a convention hashes.
///
/// # Errors
/// `EINVAL` for a secret longer than 255 bytes, a user above 9 or a kernel without Opal, `ENOTTY` or
/// `EOPNOTSUPP` where the kernel does not take this for an Opal drive, `EACCES` without the right.
pub fn opal_save(device: impl AsFd, save: OpalSave, key: &[u8]) -> io::Result<()> {
    let key_len = u8::try_from(key.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    if save.user > LAST_USER {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut request = LockUnlock {
        single_user: u32::from(save.single_user),
        who: u32::from(save.user),
        range: save.range,
        key_len,
        key_type: 0,
        align: [0; 5],
        key: [0; OPAL_KEY_MAX],
        state: if save.read_only { READ_ONLY } else { READ_WRITE },
        flags: 0,
        align2: [0; 2],
    };
    request.key.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    // SAFETY: IOC_OPAL_SAVE reads one `struct opal_lock_unlock`, which `LockUnlock` is; in place,
    // so that no copy of the secret stays behind.
    let done = unsafe { ioctl(device, Updater::<SAVE, LockUnlock>::new(&mut request)) };
    request.zeroize();
    Ok(done?)
}

/// What the kernel's Opal code says of a drive.
///
/// # Errors
/// `ENOTTY` or `EOPNOTSUPP` where it does not take this for an Opal drive, or is older than 6.0.
pub fn opal_status(device: impl AsFd) -> io::Result<OpalStatus> {
    // SAFETY: IOC_OPAL_GET_STATUS writes one `struct opal_status`: two 32-bit numbers, of which any
    // bytes are valid ones.
    let [flags, _] = unsafe { ioctl(device, Getter::<GET_STATUS, [u32; 2]>::new()) }?;
    Ok(OpalStatus(flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_has_the_kernels_size_and_places() {
        assert_eq!(size_of::<LockUnlock>(), 280);
        assert_eq!(std::mem::offset_of!(LockUnlock, key), 16);
        assert_eq!(std::mem::offset_of!(LockUnlock, state), 272);
        // The size is part of the ioctl's number.
        assert_eq!(SAVE >> 16 & 0x3FFF, 280);
    }

    #[test]
    fn what_is_no_drive_is_an_error() {
        let null = std::fs::File::open("/dev/null").expect("Linux has it");
        let save = OpalSave { range: 0, user: 1, single_user: false, read_only: false };
        assert!(opal_save(&null, save, b"key").is_err());
        assert!(opal_save(&null, OpalSave { user: 10, ..save }, b"key").is_err());
        assert!(opal_status(&null).is_err());
    }

    #[test]
    fn flags_are_the_kernels() {
        assert!(OpalStatus(1).supported() && !OpalStatus(1).locking_enabled());
        assert!(OpalStatus(0xF).locking_enabled() && OpalStatus(0xF).locked());
    }
}
