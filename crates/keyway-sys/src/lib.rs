//! The few things Keyway asks of Linux that no safe crate offers: ioctls and process settings.
//!
//! Every function here is a safe wrapper that takes and returns owned, checked types.

mod process;

pub use process::harden_process;
