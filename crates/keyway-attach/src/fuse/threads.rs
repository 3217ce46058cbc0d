//! The threads that serve a file system, as they are started.

use super::Transport;
use super::request::FileSystem;
use super::transport::device::Channel;
use super::transport::helpers::HELPERS;
use super::transport::rings::{self, Server, Shared};
use super::volume_file::VolumeFile;
use crate::Stop;
use crate::cpus::cpus;
use crate::notice::{self, Notice};
use crate::on_panic::AbortOnPanic;
use keyway_sys::sandbox::give_up_paths;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};

/// Threads on `/dev/fuse`, and about as many requests of the medium at once: a drive wants depth,
/// a page cache no more than there are CPUs.
const CHANNELS: usize = 8;

/// The serving threads as they are started.
pub(crate) struct Threads<F> {
    pub(crate) file: Arc<F>,
    gone: Arc<Stop>,
    confined: bool,
    running: Arc<AtomicUsize>,
    pub(crate) handles: Vec<JoinHandle<()>>,
    /// What each thread says when it has given up its paths.
    begun: Vec<mpsc::Receiver<io::Result<()>>>,
}

impl<F: FileSystem> Threads<F> {
    /// None yet; `confined` ones give up their paths before they take the first request, and `gone` is requested when the
    /// last has ended.
    pub(crate) fn new(file: Arc<F>, gone: Arc<Stop>, confined: bool) -> Self {
        // The threads ask, too.
        cpus();
        let running = Arc::new(AtomicUsize::new(1));
        Self { file, gone, confined, running, handles: Vec::new(), begun: Vec::new() }
    }

    /// Waits until every thread has given up its paths: after this one has entered a role, they can't any more, and a
    /// thread that is missing leaves requests without an answer.
    pub(crate) fn all_begin(&mut self) -> io::Result<()> {
        let ended = || io::Error::other("a thread ended before it began");
        self.begun.drain(..).try_for_each(|begun| begun.recv().map_err(|_| ended())?)
    }

    /// Threads on `/dev/fuse`: all of them, or the one that takes what never comes over rings.
    pub(crate) fn start_channels(&mut self, fuse: &OwnedFd, transport: Transport) -> io::Result<()> {
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

    fn spawn(&mut self, work: impl FnOnce(&F) -> io::Result<()> + Send + 'static) -> io::Result<()> {
        let file = Arc::clone(&self.file);
        let (gone, running) = (Arc::clone(&self.gone), Arc::clone(&self.running));
        let confined = self.confined;
        let (begins, begun) = mpsc::sync_channel(1);
        running.fetch_add(1, Ordering::AcqRel);
        let thread = Builder::new().name("keyway-fuse".into()).spawn(move || {
            let _alone = AbortOnPanic;
            let ready = if confined { give_up_paths() } else { Ok(()) };
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
    pub(crate) fn one_ends(&self) {
        end(&self.gone, &self.running);
    }
}

impl Threads<VolumeFile> {
    /// A thread per queue, and helpers for all. Says whether the kernel took entries in every queue;
    /// where it did not, it uses none and the threads end with the mount.
    pub(crate) fn start_rings(&mut self, fuse: &OwnedFd) -> io::Result<bool> {
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
}

fn end(gone: &Stop, running: &AtomicUsize) {
    if running.fetch_sub(1, Ordering::AcqRel) == 1 {
        gone.request();
    }
}
