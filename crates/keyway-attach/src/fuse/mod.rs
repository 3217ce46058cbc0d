//! The decrypted volume as the file `volume` in a FUSE file system of its own.
//!
//! Nothing but the kernel and, without root, the `fusermount3` program is needed: the protocol
//! for one file is small, and speaking it ourselves lets written data land in aligned memory,
//! keeps the data path free of allocations, and lets requests come over io_uring where the kernel
//! offers it.
//!
//! The file is opened for direct I/O, whatever the application asked: no byte waits in a page
//! cache above the encryption, and `fsync` returns when the medium has everything.

mod abi;
mod connect;
mod transport;
mod volume_file;

use crate::cpus::cpus;
use crate::loopdev::{GLANCE, LOOK};
use crate::notice::{self, Notice};
use crate::on_panic::AbortOnPanic;
use crate::retry::retry;
use crate::{AttachError, Stop, User, loopdev};
use keyway_engine::Device;
use keyway_sys::sandbox::{give_up_paths, is_confined};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};
use std::{fmt, io};
use transport::device::Channel;
use transport::helpers::HELPERS;
use transport::rings::{self, Server, Shared};
use volume_file::{Holes, VolumeFile};

pub(crate) use connect::{disconnect, is_mounted};
pub(crate) use volume_file::FILE_NAME;

/// Threads on `/dev/fuse`, and about as many requests of the medium at once: a drive wants depth,
/// a page cache no more than there are CPUs.
const CHANNELS: usize = 8;

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
        let fuse = connect::connect(at)?;
        let confined = options.confined;
        // The threads ask, too.
        cpus();
        let mut threads = Threads {
            file,
            gone,
            confined,
            running: Arc::new(AtomicUsize::new(1)),
            handles: Vec::new(),
            begun: Vec::new(),
        };
        let started = (|| {
            let agreed = Channel::new().init(&fuse, &threads.file, want_rings)?;
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

    /// Lets the loop device at `device`, which lies on the file and which nobody uses yet, pass discards on
    /// to the medium. `false`, and nothing has changed, where this kernel's loop devices would pass zeroing
    /// on as discards as well, or somebody does use it.
    pub(crate) fn pass_discards(&self, device: &Path) -> bool {
        self.volume.make_holes(Holes::Tried);
        let learned = loopdev::forgo_zeroing(device, self.volume.sector_bytes());
        self.volume.make_holes(if learned { Holes::Discards } else { Holes::Refused });
        learned
    }

    /// Unmounts and waits for the threads. Fails, and changes nothing, while somebody has the file
    /// open.
    pub fn unmount(&mut self) -> Result<(), AttachError> {
        release(&self.at)?;
        self.join();
        Ok(())
    }

    /// Waits for the threads, after it was unmounted.
    pub(crate) fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed why; the rest has to end all the same.
            let _ = thread.join();
        }
    }
}

/// Unmounts what is mounted at the folder `at`, unless somebody has the file open.
pub(crate) fn release(at: &Path) -> Result<(), AttachError> {
    let refused = |e: &AttachError| matches!(e, AttachError::Io { source, .. } if source.kind() == io::ErrorKind::ResourceBusy);
    // A loop device that was detached lets go of its file a moment later: nobody has it, and it is busy all the same.
    let passes = |e: &AttachError| refused(e) && User::of_mount(at).is_empty();
    retry(GLANCE, LOOK, passes, || disconnect(at, false)).map_err(|e| match refused(&e) {
        true => {
            let file = at.join(FILE_NAME).display().to_string();
            AttachError::Busy { what: file, users: User::of_mount(at) }
        }
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

/// The serving threads as they are started.
struct Threads {
    file: Arc<VolumeFile>,
    gone: Arc<Stop>,
    confined: bool,
    running: Arc<AtomicUsize>,
    handles: Vec<JoinHandle<()>>,
    /// What each thread says when it has given up its paths.
    begun: Vec<mpsc::Receiver<io::Result<()>>>,
}

impl Threads {
    /// Waits until every thread has given up its paths: after this one has entered a role, they can't any more, and a
    /// thread that is missing leaves requests without an answer.
    fn all_begin(&mut self) -> io::Result<()> {
        let ended = || io::Error::other("a thread ended before it began");
        self.begun.drain(..).try_for_each(|begun| begun.recv().map_err(|_| ended())?)
    }

    /// A thread per queue, and helpers for all. Says whether the kernel took entries in every queue;
    /// where it did not, it uses none and the threads end with the mount.
    fn start_rings(&mut self, fuse: &OwnedFd) -> io::Result<bool> {
        let (tell, told) = mpsc::channel();
        let fuse = Arc::new(fuse.try_clone()?);
        let shared = Arc::new(Shared::default());
        let queues = rings::queues();
        for cpu in 0..queues {
            let (tell, fuse, shared) = (tell.clone(), Arc::clone(&fuse), Arc::clone(&shared));
            self.spawn(move |file| {
                let server = Server::register(fuse.as_fd(), cpu, queues, file, &shared);
                // The receiver stays until all senders are gone.
                let _ = tell.send(server.is_ok());
                drop(tell);
                let ended = server.map(Server::serve);
                if let Ok(Err(e)) = ended {
                    notice::tell(&Notice::FuseQueueFailed(e));
                    // Nobody else can answer what comes by this queue, so its callers would wait for
                    // ever. When the process is gone, the kernel gives them errors.
                    std::process::abort();
                }
                shared.helpers.end();
                ended.map(|_| ())
            })?;
        }
        for _ in 0..HELPERS {
            let shared = Arc::clone(&shared);
            self.spawn(move |file| {
                shared.helpers.serve(file);
                Ok(())
            })?;
        }
        drop(tell);
        let everywhere = told.iter().all(|taken| taken);
        if !everywhere {
            shared.helpers.end();
        }
        Ok(everywhere)
    }

    /// Threads on `/dev/fuse`: all of them, or the one that takes what never comes over rings.
    fn start_channels(&mut self, fuse: &OwnedFd, transport: Transport) -> io::Result<()> {
        let count = match transport {
            Transport::Rings => 1,
            Transport::Device => CHANNELS,
        };
        for _ in 0..count {
            // A kernel before 4.2 or a locked-down /dev/fuse: share the one descriptor.
            let fuse = keyway_sys::fuse_clone(fuse).or_else(|_| fuse.try_clone())?;
            self.spawn(move |file| Channel::new().serve(fuse, file))?;
        }
        Ok(())
    }

    fn spawn(&mut self, work: impl FnOnce(&VolumeFile) -> io::Result<()> + Send + 'static) -> io::Result<()> {
        let file = Arc::clone(&self.file);
        let (gone, running) = (Arc::clone(&self.gone), Arc::clone(&self.running));
        let confined = self.confined;
        let (begins, begun) = mpsc::sync_channel(1);
        running.fetch_add(1, Ordering::AcqRel);
        let thread = Builder::new().name("keyway-fuse".into()).spawn(move || {
            let _alone = AbortOnPanic;
            let ready = if confined { give_up_paths(None) } else { Ok(()) };
            let is_ready = ready.is_ok();
            // Whoever starts the threads may have given up already.
            let _ = begins.send(ready);
            if is_ready && let Err(e) = work(&file) {
                notice::tell(&Notice::FuseThreadEnded(e));
            }
            end(&gone, &running);
        })?;
        self.begun.push(begun);
        self.handles.push(thread);
        Ok(())
    }

    /// The starting thread holds one share itself, so that a mount that is gone at once is not
    /// reported while threads are still being started.
    fn one_ends(&self) {
        end(&self.gone, &self.running);
    }
}

fn end(gone: &Stop, running: &AtomicUsize) {
    if running.fetch_sub(1, Ordering::AcqRel) == 1 {
        gone.request();
    }
}
