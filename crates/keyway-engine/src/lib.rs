//! [`Layout`] + [`Store`](keyway_store::Store) + ciphers = [`Device`], a sector device.
//!
//! This crate knows no format: formats stand above it and describe a volume as a [`Layout`].
//! Attachments need this crate alone and never see a key, but for the one that hands the whole work over to the
//! kernel ([`HandOver`]).
#![forbid(unsafe_code)]

mod counters;
mod device;
mod error;
mod extents;
mod hand_over;
mod layout;
mod nested;
mod observation;
mod queue;
mod refused;
mod spread;
mod transfer;
mod unwritten;
mod workers;

pub use counters::{Counters, Latency};
pub use device::{Access, Device};
pub use error::DeviceError;
pub use extents::Extent;
pub use hand_over::{HandOver, LayerSecrets};
pub use layout::{Layout, LayoutError, Mapping, Segment};
pub use observation::Observer;
pub use queue::LayoutQueue;
pub use spread::Spread;
pub use transfer::Transfer;
