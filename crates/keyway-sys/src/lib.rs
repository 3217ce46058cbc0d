//! The few things Keyway asks of Linux that no safe crate offers: ioctls and process settings.
//!
//! Every function here is a safe wrapper that takes and returns owned, checked types.

mod mounts;
mod process;

pub use mounts::{Use, claim_device, uses};
pub use process::{close_on_exec_from, harden_process};
