//! Keys in the kernel's keyring, for those parts of the kernel that take them from there.
//!
//! System calls: add_key(2), keyctl(2); numbers: `include/uapi/linux/keyctl.h`.

use std::ffi::CString;
use std::io;

/// `KEY_SPEC_THREAD_KEYRING`: seen by the calling thread alone, gone with it.
const THREAD_KEYRING: libc::c_long = -1;
/// `KEYCTL_INVALIDATE` (Linux 3.5): the key can't be found from now on, and is wiped.
const INVALIDATE: libc::c_long = 21;
/// `KEYCTL_UNLINK`.
const UNLINK: libc::c_long = 9;

/// A key in the calling thread's own keyring, for as long as this value lives. Its kind is `logon`: the
/// kernel never gives it back to a program.
pub struct KernelKey {
    serial: libc::c_long,
    description: String,
    /// Its keyring is a thread's: the value stays with that.
    _stays: std::marker::PhantomData<*const ()>,
}

impl KernelKey {
    /// Adds a key; `description` is `prefix:name`, as its kind demands.
    ///
    /// # Errors
    /// `ENOSYS` where the kernel has no keyrings, `EDQUOT` where the user's share is used up,
    /// `InvalidInput` for a description without a prefix.
    pub fn add(description: &str, key: &[u8]) -> io::Result<Self> {
        let text = CString::new(description).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: both texts end with a zero, the key has the length that is given, and the call keeps
        // no pointer to them.
        let serial = unsafe {
            libc::syscall(
                libc::SYS_add_key,
                c"logon".as_ptr(),
                text.as_ptr(),
                key.as_ptr(),
                key.len(),
                THREAD_KEYRING,
            )
        };
        if serial < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { serial, description: description.to_owned(), _stays: std::marker::PhantomData })
    }

    /// What it is found by.
    pub fn description(&self) -> &str {
        &self.description
    }
}

impl Drop for KernelKey {
    fn drop(&mut self) {
        // SAFETY: both calls take numbers only. Either is enough; the thread's end would be, too.
        unsafe {
            libc::syscall(libc::SYS_keyctl, INVALIDATE, self.serial);
            libc::syscall(libc::SYS_keyctl, UNLINK, self.serial, THREAD_KEYRING);
        }
    }
}
