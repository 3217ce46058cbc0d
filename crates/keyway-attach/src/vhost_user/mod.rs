//! A volume straight into a virtual machine: a vhost-user-blk device; or a drive, with its SCSI commands.
//!
//! The machine monitor (QEMU, Cloud Hypervisor, crosvm) connects to a unix socket and hands over the
//! guest's memory; requests then go from the guest's queues to us and back, past the host's kernel.
//! The monitor must share that memory (`memory-backend-memfd,share=on`).
//!
//! A thread per queue carries out what comes, in the order in which it comes; when the medium is slow,
//! what waits behind it goes to helpers, so that a drive gets the depth that the guest asks for.
//!
//! Protocol: the rust-vmm crates. Devices: Virtual I/O Device (VIRTIO) 1.2, sections 5.2 (`block`) and
//! 5.6 (`scsi`).

mod backend;
mod block;
mod config;
mod in_flight;
mod request;
mod scsi;
mod server;
mod virtio_device;

pub use crate::VhostError;
pub use server::VhostServer;
