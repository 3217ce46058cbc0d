//! How a worker reaches the open volume, and how it can be cut off.

use keyway_testkit::Open;
use rustix::fs::OFlags;
use rustix::mount::UnmountFlags;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A way to attach a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The FUSE file.
    File,
    /// The loop device on it, past the page cache.
    Device,
    /// The same through the page cache.
    Cached,
    /// NBD on a unix socket.
    Nbd,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::File, Self::Device, Self::Cached, Self::Nbd];

    /// For `open --attach`.
    pub(crate) fn attach(self) -> &'static str {
        if self == Self::Nbd { "nbd" } else { "fuse" }
    }

    pub(crate) fn connect(self, open: &Open<'_>) -> io::Result<Client> {
        let options = |direct: bool| {
            let mut options = File::options();
            let flags = if direct { OFlags::DIRECT } else { OFlags::empty() };
            options.read(true).write(true).custom_flags(flags.bits() as i32);
            options
        };
        match self {
            Self::File => options(false).open(open.path("file")).map(Client::File),
            Self::Cached => options(false).open(open.path("device")).map(Client::File),
            Self::Device => options(true).open(open.path("device")).map(Client::Direct),
            Self::Nbd => Nbd::connect(&open.path("socket")).map(Client::Nbd),
        }
    }

    /// Cuts everybody off without a word, the server alive. NBD's clients hang up by themselves; of FUSE the
    /// connection is ended, by an unmounting with force (root's alone), which finds it in use all the same.
    pub(crate) fn cut_off(self, open: &Open<'_>) {
        if self != Self::Nbd {
            let at = open.path("file");
            let _ = rustix::mount::unmount(at.parent().expect("a folder"), UnmountFlags::FORCE);
        }
    }
}

/// A worker's own.
pub(crate) enum Client {
    File(File),
    Direct(File),
    Nbd(Nbd),
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
            Self::Nbd(nbd) => nbd.ask(Nbd::READ, offset, len, &[]),
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
            Self::Nbd(nbd) => nbd.ask(Nbd::WRITE, offset, bytes.len(), bytes).map(drop),
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) | Self::Direct(file) => file.sync_data(),
            Self::Nbd(nbd) => nbd.ask(Nbd::FLUSH, 0, 0, &[]).map(drop),
        }
    }

    /// Begins a write and goes away in the middle of it.
    pub(crate) fn hang_up(self, offset: u64, bytes: &[u8]) {
        if let Self::Nbd(mut nbd) = self {
            let half = bytes.len() / 2;
            let _ = nbd.send(Nbd::WRITE, offset, bytes.len(), &bytes[..half]);
        }
    }
}

/// A client of the simplest kind: `NBD_OPT_EXPORT_NAME`, simple replies, one request at a time.
pub(crate) struct Nbd(UnixStream);

impl Nbd {
    const READ: u16 = 0;
    const WRITE: u16 = 1;
    const FLUSH: u16 = 3;

    fn connect(socket: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        // The flags it gave, and the option of number 1 with an empty name.
        let flags = [0, 0, greeting[16], greeting[17]];
        stream.write_all(&[&flags[..], b"IHAVEOPT", &1u32.to_be_bytes(), &0u32.to_be_bytes()].concat())?;
        // Size and flags.
        stream.read_exact(&mut [0; 10])?;
        Ok(Self(stream))
    }

    fn send(&mut self, command: u16, offset: u64, len: usize, data: &[u8]) -> io::Result<()> {
        let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
        request.extend([0; 2]);
        request.extend(command.to_be_bytes());
        request.extend([7; 8]);
        request.extend(offset.to_be_bytes());
        request.extend((len as u32).to_be_bytes());
        request.extend(data);
        self.0.write_all(&request)
    }

    fn ask(&mut self, command: u16, offset: u64, len: usize, data: &[u8]) -> io::Result<Vec<u8>> {
        self.send(command, offset, len, data)?;
        let mut reply = [0; 16];
        self.0.read_exact(&mut reply)?;
        let error = i32::from_be_bytes([reply[4], reply[5], reply[6], reply[7]]);
        if reply[..4] != 0x6744_6698u32.to_be_bytes() || reply[8..] != [7; 8] {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let mut bytes = vec![0; if command == Self::READ { len } else { 0 }];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
