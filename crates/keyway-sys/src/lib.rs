//! The few things Keyway asks of Linux that no safe crate offers: ioctls and process settings.
//!
//! Every function here is a safe wrapper that takes and returns owned, checked types.

mod blkdev;
mod fuse_ring;
mod fusedev;
mod loopdev;
mod mounts;
mod partition;
mod process;

pub use blkdev::discard_blocks;
pub use fuse_ring::{FuseRing, RingRequest};
pub use fusedev::fuse_clone;
pub use loopdev::{LoopStatus, loop_attach, loop_detach, loop_status};
pub use mounts::{Mount, Use, claim_device, mounts, uses};
pub use partition::{Partition, partition_of};
pub use process::{close_on_exec_from, harden_process, thread_sleeps};
