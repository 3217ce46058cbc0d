//! Opens a device file's way to the security commands.

use super::nvme::NvmeTransport;
use super::security::{SecurityTransport, TransportError};
use super::sg::SgTransport;
use super::system::sorted;
use std::fs::File;

/// Finds out what the block or character device takes: NVMe's commands, else SCSI's or ATA's.
/// The device need only be open for reading: root may send it commands all the same, and nobody is
/// told that its content changed.
///
/// # Errors
/// [`TransportError::NotADrive`] where it takes neither; else what the drive or the system said.
pub fn open_device(file: File) -> Result<Box<dyn SecurityTransport>, TransportError> {
    let again = file.try_clone().map_err(sorted)?;
    match NvmeTransport::open(file) {
        Ok(transport) => Ok(Box::new(transport)),
        Err(TransportError::NotADrive) => Ok(Box::new(SgTransport::open(again)?)),
        Err(other) => Err(other),
    }
}
