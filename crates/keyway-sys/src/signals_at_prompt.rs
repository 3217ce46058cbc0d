//! Signals that end a process, held back while a terminal shows nothing of what is typed: it must show it again before.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

/// Those that end a process which has nothing to say to them.
const ENDING: [libc::c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Signals that end a process wait as long as this lives, where this thread is the only one; then they do what they do.
pub struct SignalsAtPrompt {
    /// Can be read when one waits.
    waiting: OwnedFd,
    before: libc::sigset_t,
    /// The mask is this thread's.
    of_this_thread: PhantomData<*const ()>,
}

impl SignalsAtPrompt {
    /// Holds them.
    ///
    /// # Errors
    /// The system's reason.
    pub fn hold() -> io::Result<Self> {
        // SAFETY: a set of signals is plain bits, and the calls below write all of both.
        let (mut ending, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
        // SAFETY: it points to a set of this function's own.
        unsafe { libc::sigemptyset(&raw mut ending) };
        for signal in ENDING {
            // SAFETY: the same; the number is a signal's.
            unsafe { libc::sigaddset(&raw mut ending, signal) };
        }
        // SAFETY: it reads the set, and makes a descriptor that nobody else has.
        let waiting = unsafe { libc::signalfd(-1, &raw const ending, libc::SFD_CLOEXEC) };
        if waiting < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is open, and this function's own.
        let waiting = unsafe { OwnedFd::from_raw_fd(waiting) };
        // SAFETY: it reads the one set and writes the other.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const ending, &raw mut before) } {
            0 => Ok(Self { waiting, before, of_this_thread: PhantomData }),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// What is typed there, up to a signal.
    pub const fn keys<'a>(&'a self, terminal: &'a File) -> Keys<'a> {
        Keys { held: self, terminal }
    }
}

impl Drop for SignalsAtPrompt {
    fn drop(&mut self) {
        // SAFETY: it reads the set that the same call wrote; nothing is asked back.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut()) };
    }
}

/// What is typed on a terminal, up to a signal that is held.
pub struct Keys<'a> {
    held: &'a SignalsAtPrompt,
    terminal: &'a File,
}

impl Read for Keys<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut both =
            [PollFd::new(&self.held.waiting, PollFlags::IN), PollFd::new(self.terminal, PollFlags::IN)];
        while let Err(why) = poll(&mut both, None) {
            if why != Errno::INTR {
                return Err(why.into());
            }
        }
        let [signal, _] = &both;
        if signal.revents().is_empty() {
            return self.terminal.read(into);
        }
        Err(io::Error::other("a signal ended it"))
    }
}

/// One test at a time is about what signals do.
#[cfg(test)]
pub(crate) static SIGNALS: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn keys_come_until_a_signal_does() {
        let _alone = SIGNALS.lock();
        let (from, mut to) = io::pipe().expect("a pipe");
        let from = File::from(OwnedFd::from(from));
        // SAFETY: what is ignored does nothing when it is let through below; no other test is about it meanwhile.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        let held = SignalsAtPrompt::hold().expect("held");
        let mut key = [0];
        to.write_all(b"a").expect("room");
        assert_eq!((held.keys(&from).read(&mut key).expect("a key"), key), (1, *b"a"));
        // SAFETY: this thread is there.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGHUP) };
        assert_eq!(held.keys(&from).read(&mut key).map_err(|e| e.kind()), Err(io::ErrorKind::Other));
    }
}
