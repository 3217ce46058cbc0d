//! What a process gives up for good before it works on what others wrote: paths, new descriptors, other processes,
//! and every system call that its role does not need.
//!
//! Three layers, each of which holds without the others:
//! `no_new_privs`, so that no program can give anything back; landlock, which knows paths, ports and other processes
//! (`Documentation/userspace-api/landlock.rst`); seccomp, which knows system calls
//! (`Documentation/userspace-api/seccomp_filter.rst`). Root gives up its capabilities as well.

mod calls;
mod capability;
mod landlock;
mod owner;
mod seccomp;

use crate::{io_memory, machine};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a process does once it has everything that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reads or writes an open volume, and what else is open: no path at all.
    Volume,
    /// The same, and reads what lies at certain paths.
    CopyIn,
    /// The same, and makes files in one folder.
    CopyOut,
    /// Converts a medium under a journal, both of which are open, and asks a warden that is there already.
    Convert,
    /// Answers the kernel's FUSE requests, over rings that are there already.
    Fuse,
    /// Serves connections to a socket that it listens at.
    Network,
    /// Shares the memory of a virtual machine.
    VhostUser,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Volume,
        Self::CopyIn,
        Self::CopyOut,
        Self::Convert,
        Self::Fuse,
        Self::Network,
        Self::VhostUser,
    ];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::CopyIn => "copy-in",
            Self::CopyOut => "copy-out",
            Self::Convert => "convert",
            Self::Fuse => "fuse",
            Self::Network => "network",
            Self::VhostUser => "vhost-user",
        }
    }
}

/// A layer that a kernel may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Landlock: no paths (Linux 5.13).
    Landlock,
    /// Landlock's limits on TCP (Linux 6.7).
    LandlockNetwork,
    /// Landlock's limits on signals and abstract sockets (Linux 6.12).
    LandlockScopes,
    /// Seccomp filters.
    Seccomp,
}

impl Layer {
    /// Its name, and since when there is one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Landlock => "landlock (Linux 5.13)",
            Self::LandlockNetwork => "landlock for TCP (Linux 6.7)",
            Self::LandlockScopes => "landlock for signals (Linux 6.12)",
            Self::Seccomp => "seccomp",
        }
    }
}

/// The layers that this kernel, or whatever this process runs in already, does not offer.
pub fn missing_layers() -> Vec<Layer> {
    let mut missing = landlock::missing();
    if !seccomp::is_available() {
        missing.push(Layer::Seccomp);
    }
    missing
}

/// Enters the role, for good: this process with all its threads is left with the calls that the role needs, this
/// thread and those that it starts with no path but those below what is `left`: [`Role::CopyIn`] can read there, and
/// [`Role::CopyOut`] make files, which belong to whoever has the folder.
///
/// A call that is refused fails with EPERM, and the kernel's log has its number (`type=1326`); one that nothing but
/// an attack makes (another program, another process's memory, a kernel module) ends the process.
///
/// # Errors
/// The kernel refuses what it says that it offers. What was entered so far stays.
pub fn enter_role(role: Role, left: &[BorrowedFd<'_>]) -> io::Result<()> {
    give_up_all_paths_but(left, role)?;
    CONFINED.store(true, Ordering::Release);
    if seccomp::is_available() {
        seccomp::enter(role)?;
    }
    Ok(())
}

static CONFINED: AtomicBool = AtomicBool::new(false);

/// Whether this process has entered a role: what takes paths need not be tried.
pub fn is_confined() -> bool {
    CONFINED.load(Ordering::Acquire)
}

/// What of that concerns threads alone, for one that starts before its process can enter a role: this thread has no
/// paths, ports or capabilities any more.
///
/// # Errors
/// The kernel refuses what it says that it offers.
pub fn give_up_paths() -> io::Result<()> {
    give_up_all_paths_but(&[], Role::Volume)
}

fn give_up_all_paths_but(left: &[BorrowedFd<'_>], role: Role) -> io::Result<()> {
    // Buffers that are made later are as they would have been.
    io_memory::find_out();
    // Secrets lie in whole pages.
    let _ = rustix::param::page_size();
    // Opened here, to be read again by who answers for the process.
    let _ = machine::huge_pages();
    rustix::thread::set_no_new_privs(true)?;
    landlock::enter(left, role)?;
    if let (Role::CopyOut, Some(folder)) = (role, left.first()) {
        owner::become_owner_of(*folder)?;
    }
    capability::drop_all(role)?;
    Ok(())
}
