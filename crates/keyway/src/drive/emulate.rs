//! A virtual drive that encrypts itself, as a disk of a real kernel's.

use super::error::DriveError;
use crate::error::Error;
use keyway_attach::nvme_tcp::{Namespace, NamespaceError, SecurityRefusal, Server};
use keyway_attach::vhost_user::VhostServer;
use keyway_attach::{AttachError, Stop, on_signals};
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_virtual_drive::{Drive, Fault, IoError, Profile, SecurityError};
use rustix::process::Signal;
use serde::Serialize;
use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use keyway_attach::nvme_tcp::Options as NvmeOptions;
pub use keyway_virtual_drive::Label;

/// A virtual drive under power: it is switched on as long as this lives.
pub struct VirtualDrive {
    path: PathBuf,
    drive: Arc<Drive>,
    created: bool,
    faults: Vec<Fault>,
    server: Option<Front>,
}

/// How a kernel gets to it.
enum Front {
    /// Over a network.
    Nvme(Server),
    /// As a disk of a virtual machine.
    Scsi(VhostServer),
}

/// A virtual drive, and how a kernel gets to it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct VirtualDriveInfo {
    /// Its file.
    #[serde(with = "keyway_attach::path_text")]
    pub file: PathBuf,
    /// It was made just now.
    pub created: bool,
    /// Its bytes.
    pub size_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// The standard that it keeps to.
    pub ssc: &'static str,
    /// How its firmware misbehaves.
    pub faults: Vec<String>,
    /// Its serial number.
    pub serial: String,
    /// The factory's secret.
    pub msid: String,
    /// The label's secret.
    pub psid: String,
    /// Where it is served as an NVMe/TCP controller.
    pub address: Option<SocketAddr>,
    /// By which name.
    pub nqn: Option<String>,
    /// Where it is served as a SCSI disk.
    #[serde(with = "keyway_attach::path_text")]
    pub socket: Option<PathBuf>,
}

impl VirtualDrive {
    /// Refuses a name that is taken, before anything is made.
    ///
    /// # Errors
    /// Something is there.
    pub fn must_be_new(path: &Path) -> Result<(), Error> {
        let taken = || Error::system("make", path, rustix::io::Errno::EXIST.into());
        path.symlink_metadata().map_or(Ok(()), |_| Err(taken()))
    }

    /// Makes one in a new file, and switches it on.
    ///
    /// # Errors
    /// The file is there already or can't be made, or there is no such drive.
    pub fn create(path: &Path, profile: Profile, bytes: u64, block_bytes: u32) -> Result<Self, Error> {
        if bytes == 0 || !bytes.is_multiple_of(4096) {
            return Err(DriveError::VirtualSize(bytes).into());
        }
        let label = Label::random().map_err(DriveError::from)?;
        let config = profile.config(bytes / u64::from(block_bytes.max(1)), block_bytes, label);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|e| Error::system("make", path, e))?;
        let made = file
            .set_len(config.medium_bytes())
            .map_err(|e| Error::system("enlarge", path, e))
            .and_then(|()| Ok(FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered)?))
            .and_then(|store| Ok(Drive::create(Arc::new(store), &config).map_err(DriveError::from)?));
        if made.is_err() {
            // It is ours, and no drive: nobody misses it.
            let _ = std::fs::remove_file(path);
        }
        Ok(Self::on(path, made?, true))
    }

    /// Switches on the one that is in the file.
    ///
    /// # Errors
    /// It can't be opened, or holds none.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let store = FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered)?;
        let drive = Drive::open(Arc::new(store)).map_err(|e| Error::from(DriveError::from(e)).at(path))?;
        Ok(Self::on(path, drive, false))
    }

    fn on(path: &Path, drive: Drive, created: bool) -> Self {
        Self { path: path.to_owned(), drive: Arc::new(drive), created, faults: Vec::new(), server: None }
    }

    /// Lets its firmware misbehave.
    pub fn inject(&mut self, faults: &[Fault]) {
        self.drive.inject(faults);
        self.faults = faults.to_vec();
    }

    /// Takes an address to serve it at as an NVMe/TCP controller; port 0 chooses one.
    ///
    /// # Errors
    /// The address can't be had, or may not be used.
    pub fn bind_nvme_tcp(&mut self, address: SocketAddr, options: &NvmeOptions) -> Result<(), Error> {
        let server = Server::bind(address, self.namespace(), options).map_err(DriveError::from)?;
        self.server = Some(Front::Nvme(server));
        Ok(())
    }

    /// Makes a socket to serve it on as a SCSI disk of a virtual machine (vhost-user-scsi).
    ///
    /// # Errors
    /// The socket can't be made.
    pub fn bind_scsi(&mut self, socket: &Path) -> Result<(), Error> {
        self.server = Some(Front::Scsi(VhostServer::bind(socket).map_err(AttachError::from)?));
        Ok(())
    }

    fn namespace(&self) -> Arc<dyn Namespace> {
        Arc::new(DriveNamespace { drive: Arc::clone(&self.drive), serial: self.drive.config().label.serial })
    }

    /// What it is, what is printed on it, and where it is served.
    pub fn info(&self) -> VirtualDriveInfo {
        let config = self.drive.config();
        let (server, socket) = match &self.server {
            Some(Front::Nvme(server)) => (Some(server), None),
            Some(Front::Scsi(server)) => (None, Some(server.path().to_owned())),
            None => (None, None),
        };
        VirtualDriveInfo {
            file: self.path.clone(),
            created: self.created,
            size_bytes: config.data_bytes(),
            block_bytes: config.block_bytes,
            ssc: config.ssc.name(),
            faults: self.faults.iter().map(ToString::to_string).collect(),
            serial: config.label.serial,
            msid: config.label.msid,
            psid: config.label.psid,
            address: server.map(|s| s.address()),
            nqn: server.map(|s| s.nqn().to_owned()),
            socket,
        }
    }

    /// Serves it where an address or socket was taken, until it is stopped; then everything is on its medium.
    ///
    /// # Errors
    /// Serving it failed, or its medium did.
    pub fn serve(&self, stop: &Stop) -> Result<(), Error> {
        match &self.server {
            Some(Front::Nvme(server)) => server.run(stop).map_err(DriveError::from)?,
            Some(Front::Scsi(server)) => {
                server.run_scsi(&self.namespace(), stop).map_err(AttachError::from)?
            }
            None => {}
        }
        match self.drive.flush() {
            Err(IoError::Drive(error)) => Err(DriveError::from(error).into()),
            // Nothing else is said of a flush.
            _ => Ok(()),
        }
    }

    /// For a process that has nothing else to do: what one of the usual signals stops. SIGUSR1 takes the power away for a
    /// moment, so that everything is locked that locks on a power cycle; `cycled` hears whether the drive came back.
    ///
    /// # Errors
    /// Signals can't be caught.
    pub fn stop_by_signals(
        &self,
        cycled: impl Fn(Result<(), DriveError>) + Send + 'static,
    ) -> Result<Arc<Stop>, Error> {
        let system = |e| Error::system("listen for", Path::new("signals"), e);
        let stop = Arc::new(Stop::new().map_err(system)?);
        let (stopping, drive) = (Arc::clone(&stop), Arc::clone(&self.drive));
        let ends = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT].map(Signal::as_raw);
        on_signals(&ends, move || stopping.request()).map_err(system)?;
        let cycle = move || cycled(drive.power_cycle().map_err(DriveError::from));
        on_signals(&[Signal::USR1.as_raw()], cycle).map_err(system)?;
        Ok(stop)
    }
}

/// The drive as a controller serves it.
struct DriveNamespace {
    drive: Arc<Drive>,
    serial: String,
}

fn fault(error: IoError) -> NamespaceError {
    match error {
        IoError::Locked { .. } | IoError::Shadowed { .. } => NamespaceError::AccessDenied,
        IoError::OutOfRange { .. } => NamespaceError::OutOfRange,
        IoError::Drive(_) => NamespaceError::Medium,
    }
}

fn refusal(error: SecurityError) -> SecurityRefusal {
    match error {
        SecurityError::Protocol(_) | SecurityError::ComId(_) | SecurityError::TransferLength(_) => {
            SecurityRefusal::Field
        }
        SecurityError::AnswerWaiting | SecurityError::NotNow => SecurityRefusal::Sequence,
        SecurityError::Failed => SecurityRefusal::Failed,
    }
}

impl Namespace for DriveNamespace {
    fn serial(&self) -> String {
        self.serial.clone()
    }

    fn model(&self) -> &str {
        "Keyway virtual drive"
    }

    fn blocks(&self) -> u64 {
        self.drive.blocks()
    }

    fn block_bytes(&self) -> u32 {
        self.drive.block_bytes()
    }

    fn read(&self, lba: u64, buf: &mut [u8]) -> Result<(), NamespaceError> {
        self.drive.read(lba, buf).map_err(fault)
    }

    fn write(&self, lba: u64, bytes: &[u8]) -> Result<(), NamespaceError> {
        self.drive.write(lba, bytes).map_err(fault)
    }

    fn flush(&self) -> Result<(), NamespaceError> {
        self.drive.flush().map_err(fault)
    }

    fn discard(&self, lba: u64, blocks: u64) -> Result<(), NamespaceError> {
        self.drive.discard(lba, blocks).map_err(fault)
    }

    fn reset(&self) {
        self.drive.reset();
    }

    fn times_switched_on(&self) -> u64 {
        self.drive.power_cycles()
    }

    fn has_security(&self) -> bool {
        true
    }

    fn security_send(&self, protocol: u8, com_id: u16, bytes: &[u8]) -> Result<(), SecurityRefusal> {
        self.drive.security_send(protocol, com_id, bytes).map_err(refusal)
    }

    fn security_receive(&self, protocol: u8, com_id: u16, len: usize) -> Result<Vec<u8>, SecurityRefusal> {
        self.drive.security_receive(protocol, com_id, len).map_err(refusal)
    }
}
