//! A drive that is open for commands: the way to it, and what its errors mean.

use super::error::DriveError;
use crate::error::Error;
use crate::medium;
use keyway_sed::Uid;
use keyway_sed::diagnosis::Situation;
use keyway_sed::discovery::Discovery;
use keyway_sed::host::{Host, HostError};
use keyway_sed::password::PasswordHash;
use keyway_sed::transport::{Identity, TransportError, open_device};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A drive, open for commands.
pub struct Drive {
    pub(super) path: PathBuf,
    pub(super) host: Host,
    /// Bytes of a virtual drive, whose file is larger than what it holds.
    virtual_bytes: Option<u64>,
    /// How the passwords given to it are hashed.
    pub(super) hash: PasswordHash,
    /// Whether what it is told is the factory's secret.
    pub(super) factory_pin: bool,
}

impl Drive {
    /// Opens a device, or a virtual drive's file, which is switched on by that; asks it what it is.
    ///
    /// # Errors
    /// It isn't there, is no drive that takes security commands, or does not answer.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (host, virtual_bytes) = open(path)?;
        Ok(Self {
            path: path.to_owned(),
            host,
            virtual_bytes,
            hash: PasswordHash::default(),
            factory_pin: false,
        })
    }

    /// Its device or file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its model, serial number and firmware.
    pub fn identity(&self) -> &Identity {
        self.host.identity()
    }

    /// What it says of itself, as of the last command that changed it.
    pub const fn discovery(&self) -> &Discovery {
        self.host.discovery()
    }

    /// Its bytes; 0 where that can't be known.
    pub fn size_bytes(&self) -> u64 {
        self.virtual_bytes.unwrap_or_else(|| size(&self.path))
    }

    /// Does something with it; what its refusal means depends on what is known of it.
    pub(super) fn with<T>(
        &mut self,
        what: impl FnOnce(&mut Host) -> Result<T, HostError>,
    ) -> Result<T, DriveError> {
        what(&mut self.host).map_err(|e| self.said(e, &[]))
    }

    /// What an error of the drive's means. `tried` are all whose secret it was tried as.
    pub(super) fn said(&self, error: HostError, tried: &[Uid]) -> DriveError {
        let discovery = Some(self.host.discovery());
        let Self { hash, factory_pin, .. } = *self;
        DriveError::said(&self.path, error, &Situation { discovery, hash, factory_pin, tried })
    }
}

/// How a virtual drive's file begins.
const VIRTUAL: &[u8; 8] = b"KEYWYSED";

/// Whether the path is a drive that locks by itself: a device that the kernel takes for one, or a virtual one's file.
pub fn is_drive(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    if file.metadata().is_ok_and(|meta| meta.is_file()) {
        let mut head = [0; 8];
        return file.read_exact(&mut head).is_ok() && head == *VIRTUAL;
    }
    keyway_sys::opal_status(&file).is_ok_and(|status| status.supported() && status.locking_enabled())
}

/// Bytes of a device, 0 where that can't be known.
fn size(path: &Path) -> u64 {
    FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered).map_or(0, |store| store.size())
}

/// Opens it; of a virtual drive its bytes, too.
fn open(path: &Path) -> Result<(Host, Option<u64>), Error> {
    medium::must_be_a_drive(path)?;
    let file = File::open(path).map_err(|e| Error::system("open", path, e))?;
    let kind = file.metadata().map_err(|e| Error::system("open", path, e))?.file_type();
    if !kind.is_block_device() && !kind.is_char_device() {
        return open_virtual(path).map(|(host, bytes)| (host, Some(bytes)));
    }
    let host = open_device(file).map_err(Into::into).and_then(Host::open);
    Ok((host.map_err(|e| DriveError::unreached(path, e))?, None))
}

#[cfg(feature = "virtual-drive")]
fn open_virtual(path: &Path) -> Result<(Host, u64), Error> {
    use keyway_virtual_drive::{Drive, DriveError as Fault, VirtualTransport};
    use std::sync::Arc;
    let store = medium::open(path, keyway_engine::Access::ReadWrite, Caching::Buffered)?;
    let drive = Drive::open(Arc::new(store)).map_err(|error| match error {
        Fault::NotADrive => DriveError::unreached(path, TransportError::NotADrive.into()).into(),
        other => Error::from(DriveError::from(other)).at(path),
    })?;
    let bytes = drive.config().data_bytes();
    let host = Host::open(Box::new(VirtualTransport::new(Arc::new(drive))));
    Ok((host.map_err(|e| DriveError::unreached(path, e))?, bytes))
}

#[cfg(not(feature = "virtual-drive"))]
fn open_virtual(path: &Path) -> Result<(Host, u64), Error> {
    if is_drive(path) {
        return Err(DriveError::NoVirtualDrives(path.to_owned()).into());
    }
    Err(DriveError::unreached(path, TransportError::NotADrive.into()).into())
}
