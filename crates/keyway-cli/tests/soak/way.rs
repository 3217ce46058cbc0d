//! How workers reach the open volume, and how they can be cut off.

use crate::nbd::{self, Nbd, Pki};
use crate::nvme::Nvme;
use crate::vhost::Vhost;
use keyway_testkit::{Open, Volume, wait_until};
use rustix::fs::OFlags;
use rustix::mount::UnmountFlags;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Nothing is waited for longer; then it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A way to attach a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// The FUSE file, by io_uring where the kernel has that.
    File,
    /// The FUSE file, by `/dev/fuse`.
    ClassicFile,
    /// The loop device on the first of these, past the page cache.
    Device,
    /// The same through the page cache.
    Cached,
    /// The loop device that goes through the page cache of the file, asked past its own.
    Through,
    /// NBD on a unix socket.
    Nbd,
    /// NBD on TCP, with TLS.
    Tls,
    /// A virtual machine's disk.
    Vhost,
    /// An NVMe/TCP controller.
    Nvme,
}

impl Way {
    pub(crate) const ALL: [Self; 9] = [
        Self::File,
        Self::ClassicFile,
        Self::Device,
        Self::Cached,
        Self::Through,
        Self::Nbd,
        Self::Tls,
        Self::Vhost,
        Self::Nvme,
    ];

    /// Whether it is a file system's file, or a loop device on one.
    pub(crate) fn is_fuse(self) -> bool {
        self < Self::Nbd
    }

    /// Opens the volume so. There is a `Pki` where TLS is one of the ways.
    pub(crate) fn open<'a>(self, volume: &Volume<'a>, pki: Option<&Pki>) -> Open<'a> {
        is_let_go(volume.path());
        let port = "127.0.0.1:0";
        let (verb, words) = match self {
            Self::File | Self::ClassicFile | Self::Device | Self::Cached => {
                ("open", vec!["--attach", "fuse"])
            }
            Self::Through => ("open", vec!["--attach", "fuse", "--cache"]),
            Self::Nbd => ("open", vec!["--attach", "nbd"]),
            Self::Vhost => ("open", vec!["--attach", "vhost-user"]),
            Self::Tls => ("serve", vec!["--background", "--nbd", "tcp:127.0.0.1:0", "--tls-certificates"]),
            Self::Nvme => ("serve", vec!["--background", "--nvme-tcp", port]),
        };
        let folder = pki.filter(|_| self == Self::Tls).map(|pki| pki.folder().as_os_str().to_owned());
        let words = words.into_iter().map(Into::into).chain(folder).chain(volume.secret().iter().cloned());
        let classic = (self == Self::ClassicFile).then_some(("KEYWAY_FUSE", "dev"));
        volume.keyway().attach(verb, volume.path(), words, classic)
    }

    /// A client for each of so many workers.
    pub(crate) fn connect(
        self,
        open: &Open<'_>,
        pki: Option<&Pki>,
        workers: usize,
    ) -> io::Result<Vec<Client>> {
        let file = |key: &str, direct: bool| {
            let flags = if direct { OFlags::DIRECT } else { OFlags::empty() };
            let mut options = File::options();
            options.read(true).write(true).custom_flags(flags.bits() as i32).open(open.path(key))
        };
        let socket = || open.path("socket");
        let address = || socket().to_string_lossy().into_owned();
        // A disk has one machine.
        let machine = match self {
            Self::Vhost => Some(Arc::new(Mutex::new(Vhost::connect(&socket())?))),
            _ => None,
        };
        let one = |_| match (self, &machine, pki) {
            (Self::Vhost, Some(machine), _) => Ok(Client::Vhost(Arc::clone(machine))),
            (Self::Tls, _, Some(pki)) => Nbd::tls(&address(), pki).map(Client::Nbd),
            (Self::Nvme, ..) => Nvme::connect(&address()).map(Client::Nvme),
            (Self::Nbd, ..) => Nbd::unix(&socket()).map(Client::Nbd),
            (Self::Device | Self::Through, ..) => file("device", true).map(Client::Direct),
            (Self::Cached, ..) => file("device", false).map(Client::File),
            (Self::File | Self::ClassicFile, ..) => file("file", false).map(Client::File),
            (Self::Vhost | Self::Tls, ..) => Err(io::ErrorKind::Unsupported.into()),
        };
        (0..workers).map(one).collect()
    }

    /// Cuts everybody off without a word, the server alive. Clients of a socket hang up by themselves; of FUSE the
    /// connection is ended, by an unmounting with force (root's alone), which finds it in use all the same.
    pub(crate) fn cut_off(self, open: &Open<'_>) {
        if self.is_fuse() {
            let at = open.path("file");
            let _ = rustix::mount::unmount(at.parent().expect("a folder"), UnmountFlags::FORCE);
        }
    }
}

/// Waits for the server before, which may have been killed: its last thread keeps the file open, and locked, until what it
/// waits for in the kernel has come, and what it writes then is not the next server's.
fn is_let_go(file: &Path) {
    let about = file.metadata().expect("a volume");
    let (major, minor) = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
    let lock = format!(" {major:02x}:{minor:02x}:{} ", about.ino());
    let locked = || std::fs::read_to_string("/proc/locks").expect("Linux").contains(&lock);
    wait_until("nobody has the volume's file open to write", || !locked());
}

/// A worker's own.
pub(crate) enum Client {
    File(File),
    Direct(File),
    Nbd(Nbd),
    Nvme(Nvme),
    Vhost(Arc<Mutex<Vhost>>),
}

/// Memory for direct I/O: starts on a page.
struct Aligned {
    memory: Vec<u8>,
    from: usize,
    len: usize,
}

impl Aligned {
    fn new(len: usize) -> Self {
        let memory = vec![0; len + 4096];
        let from = memory.as_ptr().align_offset(4096);
        Self { memory, from, len }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.len]
    }
}

fn locked(machine: &Mutex<Vhost>) -> MutexGuard<'_, Vhost> {
    machine.lock().expect("nobody panicked")
}

impl Client {
    pub(crate) fn read(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::File(file) => {
                let mut bytes = vec![0; len];
                file.read_exact_at(&mut bytes, offset)?;
                Ok(bytes)
            }
            Self::Direct(file) => {
                let mut memory = Aligned::new(len);
                file.read_exact_at(memory.bytes(), offset)?;
                Ok(memory.bytes().to_vec())
            }
            Self::Nbd(nbd) => nbd.ask(nbd::READ, offset, len, &[]),
            Self::Nvme(nvme) => nvme.read(offset, len),
            Self::Vhost(machine) => locked(machine).read(offset, len),
        }
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all_at(bytes, offset),
            Self::Direct(file) => {
                let mut memory = Aligned::new(bytes.len());
                memory.bytes().copy_from_slice(bytes);
                file.write_all_at(memory.bytes(), offset)
            }
            Self::Nbd(nbd) => nbd.ask(nbd::WRITE, offset, bytes.len(), bytes).map(drop),
            Self::Nvme(nvme) => nvme.write(offset, bytes),
            Self::Vhost(machine) => locked(machine).write(offset, bytes),
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) | Self::Direct(file) => file.sync_data(),
            Self::Nbd(nbd) => nbd.ask(nbd::FLUSH, 0, 0, &[]).map(drop),
            Self::Nvme(nvme) => nvme.flush(),
            Self::Vhost(machine) => locked(machine).flush(),
        }
    }

    /// Begins a write and goes away in the middle of it.
    pub(crate) fn hang_up(self, offset: u64, bytes: &[u8]) {
        let _ = match self {
            Self::File(_) | Self::Direct(_) => Ok(()),
            Self::Nbd(mut nbd) => nbd.send(nbd::WRITE, offset, bytes.len(), &bytes[..bytes.len() / 2]),
            Self::Nvme(mut nvme) => nvme.begin(offset, bytes),
            Self::Vhost(machine) => locked(&machine).hang_up(offset, bytes),
        };
    }
}
