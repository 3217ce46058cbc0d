//! The wire: one command out, one answer back.

use crate::address::Address;
use crate::error::TpmError;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The largest command or answer in bytes: what the kernel's driver takes
/// (`TPM_BUFSIZE`, `drivers/char/tpm/tpm.h`).
pub const LARGEST_MESSAGE: usize = 4096;

/// An emulator's socket is given up on after this time. A TPM may take a minute to make an RSA key.
const PATIENCE: Duration = Duration::from_secs(120);

/// Something that takes a command and gives the answer.
pub trait Transport: Send {
    /// Sends `command` and returns the whole answer, header included, as it came. What it says
    /// about its own size is checked by the caller.
    ///
    /// # Errors
    /// When the command can't be sent or no answer comes.
    fn exchange(&mut self, command: &[u8]) -> io::Result<Vec<u8>>;
}

/// Opens the way to a TPM.
pub(crate) fn open(address: &Address) -> Result<Box<dyn Transport>, TpmError> {
    let opened: io::Result<Box<dyn Transport>> = match address {
        Address::Device(path) => {
            File::options().read(true).write(true).open(path).map(|file| Box::new(Device(file)) as _)
        }
        Address::Tcp { host, port } => TcpStream::connect((host.as_str(), *port)).and_then(|stream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            Ok(Box::new(Socket(stream)) as _)
        }),
        Address::Unix(path) => UnixStream::connect(path).and_then(|stream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok(Box::new(Socket(stream)) as _)
        }),
    };
    opened.map_err(|source| {
        let address = address.to_string();
        match source.kind() {
            io::ErrorKind::PermissionDenied => TpmError::NotPermitted { address, source },
            io::ErrorKind::ResourceBusy => TpmError::Busy { address },
            _ => TpmError::NoTpm { address, source },
        }
    })
}

/// A device of the kernel: a write is a command, a read the whole answer.
struct Device(File);

impl Transport for Device {
    fn exchange(&mut self, command: &[u8]) -> io::Result<Vec<u8>> {
        self.0.write_all(command)?;
        let mut answer = vec![0; LARGEST_MESSAGE];
        let length = loop {
            match self.0.read(&mut answer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        answer.truncate(length);
        Ok(answer)
    }
}

/// `swtpm`'s socket: commands and answers one after the other, without frames of its own.
struct Socket<S>(S);

/// Tag and size, which every answer begins with (Part 1, clause 18).
const TAG_AND_SIZE: usize = 6;

impl<S: Read + Write + Send> Transport for Socket<S> {
    fn exchange(&mut self, command: &[u8]) -> io::Result<Vec<u8>> {
        self.0.write_all(command)?;
        let mut header = [0; TAG_AND_SIZE];
        self.0.read_exact(&mut header)?;
        let [.., a, b, c, d] = header;
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if !(TAG_AND_SIZE..=LARGEST_MESSAGE).contains(&length) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("an answer of {length} bytes was announced"),
            ));
        }
        let mut answer = vec![0; length];
        let (start, rest) = answer.split_at_mut(TAG_AND_SIZE);
        start.copy_from_slice(&header);
        self.0.read_exact(rest)?;
        Ok(answer)
    }
}
