//! Volume formats: what a file or device holds, and how a secret turns it into a
//! [`Layout`](keyway_engine::Layout).
//!
//! Each format has one call for opening. It gives the layout for the engine, what the metadata says
//! for people and scripts, and warnings; [`Opened`] is what they have in common.
//!
//! - [`veracrypt::unlock`] is VeraCrypt's and TrueCrypt's. [`inspect`] says what can be said of such
//!   a volume without a secret, which is little: it looks random from its first byte.
//! - [`bitlocker::unlock`] is BitLocker's. [`bitlocker::is_volume`] knows such a volume by its first
//!   sector, and [`bitlocker::look`] tells most of it without a secret.
//!
//! All sizes and offsets are bytes unless a name says otherwise. Whatever comes from the medium
//! is parsed once into types with limits; a header that lies is [`VolumeError::DamagedHeader`].
#![forbid(unsafe_code)]

pub mod bitlocker;
mod error;
mod info;
mod inspect;
pub mod looks;
mod opened;
pub mod overlay;
mod progress;
mod read_back;
mod secrets;
pub mod veracrypt;
mod weakness;

pub use error::{Argon2idSkipped, KeyfileFault, NotAVolume, Unsupported, VolumeError};
pub use info::{VolumeInfo, Warning};
pub use inspect::{Inspection, inspect};
pub use keyway_kdf::look_ahead;
pub use opened::{Info, Opened};
pub use progress::{Progress, Stage};
pub use read_back::{ReadBack, ReadsBackDifferently};
pub use secrets::{Secrets, check_keyfile, check_pim, count_keyfiles};
pub use veracrypt::{Format, HashName, HeaderChoice, SystemHeader, UnlockRequest, Unlocked, unlock};
pub use weakness::Weakness;
