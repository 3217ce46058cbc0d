//! Who a user is, as this machine's databases have it: files, directories on the network, whatever `nsswitch.conf` names.

use std::ffi::{CStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;

/// The longest entry that is taken.
const MOST: usize = 64 << 10;

/// A user of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The name; anything at all may be in it.
    pub name: OsString,
    /// The number.
    pub user: u32,
    /// The number of the first group.
    pub group: u32,
}

impl Account {
    /// The user of that number, if there is one.
    ///
    /// # Errors
    /// The databases can't be asked.
    pub fn of(user: u32) -> io::Result<Option<Self>> {
        let mut room = vec![0u8; 1024];
        loop {
            let (mut entry, mut found) = (MaybeUninit::<libc::passwd>::uninit(), std::ptr::null_mut());
            // SAFETY: all pointers are to memory of the length that is told; the entry and what it points to lie in `entry`
            // and `room`, which live until it has been copied below.
            let code = unsafe {
                libc::getpwuid_r(
                    user,
                    entry.as_mut_ptr(),
                    room.as_mut_ptr().cast(),
                    room.len(),
                    &raw mut found,
                )
            };
            match code {
                0 if found.is_null() => return Ok(None),
                0 => {}
                libc::ERANGE if room.len() < MOST => {
                    room = vec![0; room.len() * 2];
                    continue;
                }
                code => return Err(io::Error::from_raw_os_error(code)),
            }
            // SAFETY: the call succeeded and found somebody, so the entry is written (getpwuid_r(3)).
            let entry = unsafe { entry.assume_init() };
            // SAFETY: the name is a string with its zero byte, in `room`.
            let name = unsafe { CStr::from_ptr(entry.pw_name) }.to_bytes().to_vec();
            return Ok(Some(Self { name: OsString::from_vec(name), user, group: entry.pw_gid }));
        }
    }
}

/// The number of the user who connected to a socket (`SO_PEERCRED`, unix(7)). What else the kernel tells is not looked at: the
/// number of a process in another container is 0.
///
/// # Errors
/// It is no socket of this machine.
pub fn peer_user(socket: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = size_of_val(&peer) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `peer`, which any bytes are fit for.
    let code = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    if code == 0 { Ok(peer.uid) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known_and_nobody_else_is_made_up() {
        let root = Account::of(0).expect("asked").expect("everywhere");
        assert_eq!((root.name.to_str(), root.user, root.group), (Some("root"), 0, 0));
        assert_eq!(Account::of(4_000_000_001).expect("asked"), None);
    }

    #[test]
    fn who_connected_is_told_by_the_kernel() {
        let (one, _other) = UnixStream::pair().expect("a pair");
        // SAFETY: it takes nothing and can't fail (geteuid(2)).
        assert_eq!(peer_user(&one).expect("a socket"), unsafe { libc::geteuid() });
    }
}
