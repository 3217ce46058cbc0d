//! The few things Keyway asks of Linux that no safe crate offers: ioctls, process settings, and memory in huge pages.
//!
//! Every function here is a safe wrapper that takes and returns owned, checked types.

mod account;
mod blkdev;
mod disks;
mod dm;
mod ending;
mod fuse_ring;
mod fusedev;
mod io_memory;
mod io_ring;
mod ioctl_result;
mod keyring;
mod layers;
mod locks;
mod loopdev;
pub mod machine;
mod mount_folder;
mod mounts;
mod nvme;
mod opal;
mod partition;
mod process;
pub mod sandbox;
mod served_ring;
mod sg;
mod signals_at_prompt;
mod ublk;

pub use account::{Account, peer_user};
pub use blkdev::{discard_blocks, is_write_protected, reread_partitions, zero_blocks};
pub use disks::disks_under;
pub use dm::{DM_CONTROL, DeviceMapper, DmDevice, DmTarget};
pub use ending::{HeldSignals, is_asked_to_stop, stop_on_signals};
pub use fuse_ring::{Direction, FuseEntry, FuseRing, RingEvent};
pub use fusedev::fuse_clone;
pub use io_memory::{IoMemory, IoMemoryUse};
pub use io_ring::{IoRing, Transfer};
pub use keyring::KernelKey;
pub use layers::{Layer, LayerRelation, Node, layers, partitions, views};
pub use locks::{LockHolder, write_locked_by, write_locked_under};
pub use loopdev::{LoopStatus, loop_attach, loop_attach_until_closed, loop_detach, loop_set_direct};
pub use mount_folder::{holds_files, is_folder, is_there};
pub use mounts::{Mount, MountTable, Use, claim_device, mounted_over, mounts, uses};
pub use nvme::{NVME_IDENTIFY_BYTES, nvme_identify, nvme_security_receive, nvme_security_send};
pub use opal::{OpalLock, OpalRange, OpalStatus, opal_lock_unlock, opal_save, opal_status};
pub use partition::{Partition, partition_of};
pub use process::{
    bytes_fetched, close_on_exec_from, harden_process, has_output, inherited, is_confined_root, thread_sleeps,
};
pub use sg::{ScsiData, ScsiDone, scsi_command};
pub use signals_at_prompt::{Keys, SignalsAtPrompt};
pub use ublk::{
    NewUblk, UBLK_CONTROL, UblkControl, UblkDevice, UblkEvent, UblkOperation, UblkParameters, UblkQueue,
    UblkRequest, UblkState, ublk_character,
};
