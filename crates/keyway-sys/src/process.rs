//! What a process that holds keys gives up, and what it does not inherit.

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};

/// Makes this process write no core dump and be unreadable to other processes of the same user.
pub fn harden_process() -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// How often the calling thread has gone to sleep of its own accord since it was started.
pub fn thread_sleeps() -> u64 {
    // SAFETY: `rusage` is made of integers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes one `rusage` to where it is told, and does nothing else.
    let done = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    if done == 0 { usage.ru_nvcsw.try_into().unwrap_or_default() } else { 0 }
}

/// Makes every descriptor from `first` on close when this process starts another program, so that
/// what the caller happened to have open does not live on in one that stays.
pub fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if number >= first {
            // SAFETY: the number was just listed as open. Only a flag is set through it; were it
            // closed by now, the call would fail and change nothing.
            let fd = unsafe { BorrowedFd::borrow_raw(number) };
            let _ = fcntl_setfd(fd, FdFlags::CLOEXEC);
        }
    }
    Ok(())
}
