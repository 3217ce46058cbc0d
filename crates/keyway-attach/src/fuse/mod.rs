//! The decrypted volume as the file `volume` in a FUSE file system of its own.
//!
//! Nothing but the kernel and, without root, the `fusermount3` program is needed: the protocol
//! for one file is small, and speaking it ourselves lets written data land in aligned memory,
//! keeps the data path free of allocations, and lets requests come over io_uring where the kernel
//! offers it.
//!
//! The file is opened for direct I/O, whatever the application asked: no byte waits in a page
//! cache above the encryption, and `fsync` returns when the medium has everything.

pub(crate) mod abi;
mod connect;
pub(crate) mod request;
mod threads;
pub(crate) mod transport;
mod volume_file;

use crate::loopdev::{LOOK, PATIENCE};
use crate::retry::retry;
use crate::{AttachError, Stop, User};
use keyway_engine::Device;
use keyway_sys::sandbox::is_confined;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fmt, io};
use transport::device::Channel;
use transport::rings;
use volume_file::{Holes, VolumeFile};

pub use connect::try_out;
pub(crate) use connect::{Show, abort, connect, disconnect, is_dead, is_mounted};
pub(crate) use threads::Threads;
pub(crate) use volume_file::FILE_NAME;

/// How requests reach the serving process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Reads and writes on `/dev/fuse`: every kernel has it.
    Device,
    /// Shared rings, a queue per CPU: Linux 6.14 and later, where root has allowed it.
    Rings,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "/dev/fuse",
            Self::Rings => "fuse over io_uring",
        })
    }
}

/// How a volume is mounted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// By this transport alone; `None`: by rings where the kernel offers them.
    pub transport: Option<Transport>,
    /// What is written has waited in a page cache above the file, as that of a loop device: after a write that fails, no
    /// flush succeeds any more.
    pub cached: bool,
    /// The threads that serve give up their paths before they take the first request.
    pub confined: bool,
}

/// A mounted volume and the threads that serve it.
pub struct FuseMount {
    at: PathBuf,
    volume: Arc<VolumeFile>,
    transport: Transport,
    threads: Vec<JoinHandle<()>>,
}

impl FuseMount {
    /// Mounts a file system with the one file `volume` at the folder `at` and serves it from
    /// threads of its own. `gone` is requested when it is unmounted, by us or by anybody else.
    pub fn serve(
        device: Arc<Device>,
        at: &Path,
        options: Options,
        gone: Arc<Stop>,
    ) -> Result<Self, AttachError> {
        let fail = |e: io::Error| AttachError::io("speak FUSE with the kernel", e);
        let file = Arc::new(VolumeFile::new(device, options.cached));
        let want_rings = options.transport != Some(Transport::Device);
        let allowed = want_rings.then(rings::Permit::get);
        let fuse = connect(at, Show::File)?;
        let mut threads = Threads::new(file, gone, options.confined);
        let started = (|| {
            let agreed = Channel::new().init(&fuse, &*threads.file, want_rings)?;
            drop(allowed);
            let transport =
                if agreed && threads.start_rings(&fuse)? { Transport::Rings } else { Transport::Device };
            threads.start_channels(&fuse, transport)?;
            threads.all_begin()?;
            Ok(transport)
        })();
        threads.one_ends();
        match started {
            Ok(transport) => {
                Ok(Self { at: at.to_owned(), volume: threads.file, transport, threads: threads.handles })
            }
            Err(e) => {
                drop(fuse);
                disconnect(at, true)?;
                Err(fail(e))
            }
        }
    }

    /// The decrypted volume's path.
    pub fn file(&self) -> PathBuf {
        self.at.join(FILE_NAME)
    }

    /// How requests reach us.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Lets the loop device which lies on the file and which nobody uses yet pass discards on to the medium, when it
    /// `learns` ([`loopdev::forgo_zeroing`](crate::loopdev::forgo_zeroing)). `false`, and nothing has changed, where this
    /// kernel's loop devices would pass zeroing on as discards as well, or somebody does use it.
    pub(crate) fn pass_discards(&self, learns: impl FnOnce() -> bool) -> bool {
        self.volume.make_holes(Holes::Tried);
        let learned = learns();
        self.volume.make_holes(if learned { Holes::Discards } else { Holes::Refused });
        learned
    }

    /// Unmounts and waits for the threads. Fails, and changes nothing, while somebody has the file
    /// open.
    pub fn unmount(&mut self) -> Result<(), AttachError> {
        release(&self.at, &self.file())?;
        self.join();
        Ok(())
    }

    /// Waits for the threads, after it was unmounted.
    pub(crate) fn join(&mut self) {
        join(&mut self.threads);
    }
}

/// How long threads that serve a mount are waited for when it is gone.
const ENDING: Duration = Duration::from_secs(3);

/// Waits for threads that serve a mount, when it is gone. A process that began a mount namespace of its own while there was
/// one (a container) still has a copy, for which they stay: not for ever, since this process ends soon, and the copy
/// with it. No byte of it waits in a cache.
pub(crate) fn join(threads: &mut Vec<JoinHandle<()>>) {
    let until = Instant::now() + ENDING;
    for thread in threads.drain(..) {
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        // A thread that panicked has printed why; the rest has to end all the same.
        let _ = if thread.is_finished() { thread.join() } else { Ok(()) };
    }
}

/// Unmounts what is mounted at the folder `at`, unless somebody uses it, by the name of `what`.
pub(crate) fn release(at: &Path, what: &Path) -> Result<(), AttachError> {
    let mounts = keyway_sys::mounts().unwrap_or_default();
    if let Some(other) = keyway_sys::mounted_over(&mounts, at, Path::new(connect::SOURCE)) {
        let users = User::of_mount(&other);
        return Err(AttachError::busy_so(&other, "something else is mounted there", users));
    }
    let refused = |e: &AttachError| matches!(e, AttachError::Io { source, .. } if source.kind() == io::ErrorKind::ResourceBusy);
    // A loop device that was detached lets go of its file a moment later, on a busy machine a long one: nobody has it, and it is
    // busy all the same.
    let passes = |e: &AttachError| refused(e) && User::of_mount(at).is_empty();
    retry(PATIENCE, LOOK, passes, || disconnect(at, false)).map_err(|e| match refused(&e) {
        true => AttachError::busy(what, User::of_mount(at)),
        false => e,
    })
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        if !self.threads.is_empty() && !is_confined() {
            // Nobody is left to be told.
            let _ = disconnect(&self.at, true);
        }
    }
}
