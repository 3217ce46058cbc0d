//! Block ciphers and disk modes over runs of sectors.
//!
//! The one thing to know is [`SectorCipher`]: made once per volume from a [`Spec`] and keys, then
//! asked to encrypt or decrypt whole runs of data units in place. It never sees a format: which
//! key goes where is the caller's business, told by one [`LayerKey`] per cipher of the chain.
//!
//! Units: a *data unit* is what one tweak covers ([`Spec::unit_bytes`], 512 in VeraCrypt whatever
//! the sector size); `first_unit` counts data units from where the format says.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_imports, reason = "what only vector kernels use")
)]
#![deny(unsafe_code)] // only the kernels are allowed it

mod bitlocker;
mod cbc;
mod cipher;
mod elephant;
mod kernels;
mod lrw;
mod portable;
mod sector;
mod spec;
mod xts;

pub use sector::SectorCipher;
pub use spec::{Algorithm, Chain, CipherError, Kernel, LayerKey, Mode, Spec};
