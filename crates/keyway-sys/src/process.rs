//! What a process that holds keys gives up, and what it does not inherit.

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{DumpableBehavior, Resource, Rlimit, geteuid, set_dumpable_behavior, setrlimit};
use rustix::thread::{CapabilitySet, capabilities};
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Makes this process write no core dump and be unreadable to other processes of the same user.
pub fn harden_process() -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Whether this program was started with a standard output that can be written to.
static HAS_OUTPUT: AtomicBool = AtomicBool::new(true);

/// Has that looked at before `main`: by then the standard library has put /dev/null where nothing was open, which others do on
/// purpose, and its own standard output takes what the system refuses there.
// SAFETY: the section holds functions that take nothing, which the loader calls once each while there is only one thread; this
// one needs nothing of what the standard library sets up after that.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look_at_output;

extern "C" fn look_at_output() {
    // SAFETY: the call takes two numbers and changes nothing; where nothing is open by the first one, it says so.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    let is_writable = flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY;
    HAS_OUTPUT.store(is_writable, Ordering::Relaxed);
}

/// Whether this program was started with a standard output that can be written to.
pub fn has_output() -> bool {
    HAS_OUTPUT.load(Ordering::Relaxed)
}

/// Whether this is root as a container has it: what only CAP_SYS_ADMIN may, such as mounting, it may not.
pub fn is_confined_root() -> bool {
    let may = || capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_ADMIN));
    geteuid().is_root() && !may()
}

/// How often the calling thread has gone to sleep of its own accord since it was started.
pub fn thread_sleeps() -> u64 {
    usage(libc::RUSAGE_THREAD).map_or(0, |usage| usage.ru_nvcsw.try_into().unwrap_or_default())
}

/// Bytes that this process had fetched from block devices since it was started: what `/proc/self/io` counts as
/// `read_bytes`, which a [hardened](harden_process) process may not open unless it is root's.
pub fn bytes_fetched() -> Option<u64> {
    // In blocks of 512 bytes: getrusage(2), task_io_get_inblock() in the kernel.
    usage(libc::RUSAGE_SELF).and_then(|usage| u64::try_from(usage.ru_inblock).ok()?.checked_mul(512))
}

fn usage(of: libc::c_int) -> Option<libc::rusage> {
    // SAFETY: `rusage` is made of integers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes one `rusage` to where it is told, and does nothing else.
    let done = unsafe { libc::getrusage(of, &raw mut usage) };
    (done == 0).then_some(usage)
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

/// What the process that started this one left open by that number. It is not handed on any further.
///
/// # Errors
/// Nothing is open by it, or it is one of the three that every process has.
pub fn inherited(number: RawFd) -> io::Result<File> {
    if number <= 2 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: a flag is set and the descriptor is duplicated through it, for which it must not be -1; were nothing open by that
    // number, both calls would fail and change nothing.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl_setfd(fd, FdFlags::CLOEXEC)?;
    Ok(fd.try_clone_to_owned()?.into())
}
