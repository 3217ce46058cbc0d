//! The socket: one machine at a time, and the next one when it has gone.

use super::backend::Backend;
use super::block::Block;
use super::scsi::Scsi;
use super::virtio_device::VirtioDevice;
use crate::address::Listen;
use crate::notice::{self, Notice};
use crate::{Namespace, Stop, VhostError};
use keyway_engine::Device;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vhost::vhost_user::Listener as Connections;
use vhost_user_backend::VhostUserDaemon;
use vm_memory::{GuestMemoryAtomic, GuestMemoryMmap};

/// A bound server.
pub struct VhostServer {
    listener: crate::nbd::Listener,
    path: PathBuf,
}

impl VhostServer {
    /// Takes the path; a socket left there by a dead server is replaced. Only this user may connect.
    ///
    /// # Errors
    /// The path is taken or can't be used.
    pub fn bind(path: &Path) -> Result<Self, VhostError> {
        let listener = crate::nbd::Listener::bind(&Listen::Unix(path.to_owned()), false)?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Serves one machine after the other until `stop` is requested, then lets running requests
    /// finish and returns. Does not flush the device; whoever closes it does.
    ///
    /// # Errors
    /// The system refuses threads, descriptors or the socket.
    pub fn run(&self, device: &Arc<Device>, stop: &Stop) -> Result<(), VhostError> {
        self.serve(&(Arc::new(Block::new(device.clone())) as Arc<dyn VirtioDevice>), stop)
    }

    /// As [`VhostServer::run`], a disk behind a SCSI host adapter (`vhost-user-scsi`), which takes the commands of
    /// a drive that encrypts itself where `disk` does.
    pub fn run_scsi(&self, disk: &Arc<dyn Namespace>, stop: &Stop) -> Result<(), VhostError> {
        self.serve(&(Arc::new(Scsi::new(disk.clone())) as Arc<dyn VirtioDevice>), stop)
    }

    fn serve(&self, virtio: &Arc<dyn VirtioDevice>, stop: &Stop) -> Result<(), VhostError> {
        let fail = |source: io::Error| VhostError::System { at: self.path.clone(), source };
        let socket = self.listener.fd.try_clone().map_err(fail)?;
        let socket = UnixListener::from(socket);
        socket.set_nonblocking(true).map_err(fail)?;
        let mut connections = Connections::from(socket);
        loop {
            if wait(&self.listener.fd, stop).map_err(fail)? {
                return Ok(());
            }
            self.one_machine(virtio, &mut connections, stop).map_err(fail)?;
        }
    }

    fn one_machine(
        &self,
        virtio: &Arc<dyn VirtioDevice>,
        connections: &mut Connections,
        stop: &Stop,
    ) -> io::Result<()> {
        let memory = GuestMemoryAtomic::new(GuestMemoryMmap::new());
        let (backend, helpers) = Backend::new(Arc::clone(virtio), memory.clone())?;
        let mut daemon = VhostUserDaemon::new("keyway-vhost".into(), backend, memory).map_err(other)?;
        daemon.start(connections).map_err(other)?;
        let ended = Stop::new()?;
        let waited = std::thread::scope(|scope| {
            if let Some(handle) = daemon.shutdown_handle() {
                let ended = &ended;
                scope.spawn(move || {
                    // Until we are to stop, or the machine has gone by itself.
                    let _ = wait(ended, stop);
                    handle.shutdown();
                });
            }
            // However a machine ends its connection, it is gone and the next one may come.
            let waited = daemon.wait();
            ended.request();
            waited
        });
        if let Err(e) = waited {
            tell(&e.to_string());
        }
        helpers.end();
        // Ends the queues' threads, and with the last sender the helpers.
        drop(daemon);
        helpers.join();
        Ok(())
    }
}

/// A machine that spoke nonsense is worth a line in the log, not an end.
fn tell(why: &str) {
    // QEMU closes in the middle of a message when it ends.
    if !why.contains("isconnected") && !why.contains("partial message") {
        notice::tell(&Notice::MachineLeft(why.to_owned()));
    }
}

/// Waits until `first` is readable or `stop` is requested; says whether it was the latter.
fn wait(first: impl AsFd, stop: &Stop) -> io::Result<bool> {
    loop {
        let mut ready = [
            PollFd::from_borrowed_fd(first.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Ok(_) => {
                let [_, stopped] = &ready;
                return Ok(!stopped.revents().is_empty());
            }
            Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// The crate's errors are no `std::error::Error`.
fn other(error: vhost_user_backend::Error) -> io::Error {
    io::Error::other(error.to_string())
}
