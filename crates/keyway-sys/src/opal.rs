//! The kernel's own Opal code: what it knows of a drive, its way to unlock one, and the key it keeps for resume.
//!
//! Structures and numbers: `include/uapi/linux/sed-opal.h`.

use crate::ioctl_result::ReturnsNumber;
use rustix::ioctl::{Getter, Opcode, Updater, ioctl};
use std::io;
use std::os::fd::AsFd;
use zeroize::Zeroize;

/// `IOC_OPAL_SAVE`: `_IOW('p', 220, struct opal_lock_unlock)`.
const SAVE: Opcode = 0x4118_70DC;
/// `IOC_OPAL_LOCK_UNLOCK`: `_IOW('p', 221, struct opal_lock_unlock)`.
const LOCK_UNLOCK: Opcode = 0x4118_70DD;
/// `IOC_OPAL_GET_STATUS`: `_IOR('p', 236, struct opal_status)` (Linux 6.0).
const GET_STATUS: Opcode = 0x8008_70EC;
/// `OPAL_RO`.
const READ_ONLY: u32 = 1;
/// `OPAL_RW`.
const READ_WRITE: u32 = 2;
/// `OPAL_LK`.
const LOCKED: u32 = 4;
/// `OPAL_KEY_MAX`.
pub(crate) const OPAL_KEY_MAX: usize = 256;
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

/// What a range lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpalLock {
    /// Reads only.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
    /// Nothing.
    Locked,
}

/// Who locks or unlocks a range, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpalRange {
    /// The range's number; 0 is the global one.
    pub range: u8,
    /// The user's number, 1 to 9; 0 is the first administrator.
    pub user: u8,
    /// The range is in single user mode.
    pub single_user: bool,
    /// What it is to let through.
    pub lock: OpalLock,
}

/// What the drive says by the kernel's mouth: 0, or a TCG method status (Core 2.01, 5.1.5).
fn tell<const OPCODE: Opcode>(device: impl AsFd, range: OpalRange, key: &[u8]) -> io::Result<u8> {
    let key_len = u8::try_from(key.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    if range.user > LAST_USER {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut request = LockUnlock {
        single_user: u32::from(range.single_user),
        who: u32::from(range.user),
        range: range.range,
        key_len,
        key_type: 0,
        align: [0; 5],
        key: [0; OPAL_KEY_MAX],
        state: match range.lock {
            OpalLock::ReadOnly => READ_ONLY,
            OpalLock::ReadWrite => READ_WRITE,
            OpalLock::Locked => LOCKED,
        },
        flags: 0,
        align2: [0; 2],
    };
    request.key.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    // SAFETY: both opcodes that this is used with read one `struct opal_lock_unlock`, which `LockUnlock` is; in place,
    // so that no copy of the secret stays behind.
    let told = unsafe { ioctl(device, ReturnsNumber(Updater::<OPCODE, LockUnlock>::new(&mut request))) };
    request.zeroize();
    u8::try_from(told?).map_err(|_| io::Error::other("the kernel's Opal code answered what it must not"))
}

/// Leaves a range's secret with the kernel, which unlocks the range with it when the machine wakes
/// up. `key` is what the drive itself is told: hashed already where a convention hashes. The drive is not asked
/// whether it is the right one.
///
/// # Errors
/// `EINVAL` for a secret longer than 255 bytes, a user above 9 or a kernel without Opal, `ENOTTY` or
/// `EOPNOTSUPP` where the kernel does not take this for an Opal drive, `EACCES` without the right.
pub fn opal_save(device: impl AsFd, range: OpalRange, key: &[u8]) -> io::Result<()> {
    match tell::<SAVE>(device, range, key)? {
        0 => Ok(()),
        _ => Err(io::Error::other("the kernel's Opal code did not take the secret")),
    }
}

/// Has the kernel lock or unlock a range, as it does itself when the machine wakes up. What the drive answered: 0, or
/// a TCG method status.
///
/// # Errors
/// As [`opal_save`]; a drive's refusal is none.
pub fn opal_lock_unlock(device: impl AsFd, range: OpalRange, key: &[u8]) -> io::Result<u8> {
    tell::<LOCK_UNLOCK>(device, range, key)
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
        assert_eq!(LOCK_UNLOCK, SAVE + 1);
    }

    #[test]
    fn what_is_no_drive_is_an_error() {
        let null = std::fs::File::open("/dev/null").expect("Linux has it");
        let range = OpalRange { range: 0, user: 1, single_user: false, lock: OpalLock::ReadWrite };
        assert!(opal_save(&null, range, b"key").is_err());
        assert!(opal_save(&null, OpalRange { user: 10, ..range }, b"key").is_err());
        assert!(opal_lock_unlock(&null, range, b"key").is_err());
        assert!(opal_status(&null).is_err());
    }

    #[test]
    fn flags_are_the_kernels() {
        assert!(OpalStatus(1).supported() && !OpalStatus(1).locking_enabled());
        assert!(OpalStatus(0xF).locking_enabled() && OpalStatus(0xF).locked());
    }
}
