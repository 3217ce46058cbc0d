//! A disk behind a virtio SCSI host adapter, with a drive's security commands: SCSI's own, and ATA's as a bridge
//! passes them through.
//!
//! [`frame`] is what virtio puts around a command, [`cdb`] parses the command once into a type with limits, [`disk`]
//! carries it out, [`pages`] has what the disk says of itself, [`ata`] what it says as an ATA drive, and [`sense`] how a
//! command fails.
//!
//! Numbers: VIRTIO 1.2, section 5.6; SPC-4, SBC-3 and SAT-3 for the commands.

mod ata;
mod cdb;
mod disk;
mod frame;
mod opcode;
mod pages;
mod sense;

#[cfg(test)]
mod tests;

pub(super) use frame::Scsi;
