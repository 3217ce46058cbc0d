//! Volume formats: what a file or device holds, and how a secret turns it into a
//! [`Layout`](keyway_engine::Layout).
//!
//! The one call for opening is [`unlock`]. It returns an [`Unlocked`]: the layout for the engine,
//! a [`VolumeInfo`] for people and scripts, and [`Warning`]s. [`inspect`] says what can be said
//! without a secret, which is little: a VeraCrypt volume looks random from its first byte.
//!
//! All sizes and offsets are bytes unless a name says otherwise. Whatever comes from the medium
//! is parsed once into types with limits; a header that lies is [`VolumeError::DamagedHeader`].
#![forbid(unsafe_code)]

pub mod bitlocker;
mod error;
pub mod fsprobe;
mod info;
mod inspect;
pub mod mkfs;
mod overlay;
mod progress;
mod secrets;
pub mod veracrypt;

pub use error::{Argon2idSkipped, KeyfileFault, NotAVolume, Unsupported, VolumeError};
pub use info::{VolumeInfo, Warning};
pub use inspect::{Inspection, inspect};
pub use progress::{Progress, Stage};
pub use secrets::Secrets;
pub use veracrypt::{Format, HashName, HeaderChoice, SystemHeader, UnlockRequest, Unlocked, unlock};
