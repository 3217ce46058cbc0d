//! Volume formats: what a file or device holds, and how a secret turns it into a
//! [`Layout`](keyway_engine::Layout).
//!
//! All sizes and offsets are bytes unless a name says otherwise. Whatever comes from the medium
//! is parsed once into types with limits; a header that lies is [`VolumeError::DamagedHeader`].
#![forbid(unsafe_code)]

mod error;
pub mod mkfs;
mod progress;
mod secrets;
pub mod veracrypt;

pub use error::{KeyfileFault, NotAVolume, Unsupported, VolumeError};
pub use progress::{Progress, Stage};
pub use secrets::Secrets;
pub use veracrypt::{Format, HashName};
