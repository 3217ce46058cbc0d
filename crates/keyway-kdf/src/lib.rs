//! A secret becomes a key: PBKDF2, Argon2id and BitLocker's stretch.
//!
//! PBKDF2 is a chain of HMACs that cannot be shortened, but the chains of different output blocks
//! and different salts do not depend on each other. A disk header of unknown kind asks for many of
//! them under one password, so the unit here is a *batch of blocks*: name the blocks you need
//! ([`Block`]: a salt and a block number), and [`pbkdf2_blocks`] computes them side by side.
//! [`lanes`] says how many the processor takes at once for the price of one.
//!
//! [`pbkdf2`] is the ordinary function of RFC 8018 for everything else, [`argon2id`] is RFC 9106 and
//! [`bitlocker_stretch`] what BitLocker makes of a password.
//!
//! # What time gives away
//! Nothing in the vector kernels, nor in the plain ones of SHA, BLAKE2s and RIPEMD-160: no branch
//! and no memory address depends on a secret. The plain code of Whirlpool and Streebog looks
//! bytes up in tables, and Argon2id reads memory as its data says from the middle of its first
//! pass on, by design (RFC 9106, section 3.4).
#![deny(unsafe_code)]

mod argon2id;
mod bitlocker;
mod hmac;
mod kernels;
mod pbkdf2;
mod prf;

pub use argon2id::{Argon2idCost, Argon2idParameter, KdfError, argon2id, argon2id_many};
pub use bitlocker::{BitlockerStretch, bitlocker_stretch, bitlocker_stretches};
pub use kernels::{Kernel, UnknownKernel};
pub use pbkdf2::{Block, lanes, pbkdf2, pbkdf2_blocks, pbkdf2_blocks_with};
pub use prf::Prf;
