//! [`Layout`] + [`Store`](keyway_store::Store) + ciphers = [`Device`], a sector device.
//!
//! This crate knows no format: formats stand above it and describe a volume as a [`Layout`].
//! Attachments need this crate alone and never see a key.
#![forbid(unsafe_code)]

mod device;
mod layout;
mod queue;
mod recording;
mod transfer;

pub use device::{Access, Counters, Device, DeviceError};
pub use layout::{Layout, LayoutError, Mapping, Segment};
pub use queue::LayoutQueue;
pub use transfer::Transfer;
