//! Protectors with a TPM: alone, with a PIN, with a startup key, with both.
//!
//! What the TPM seals, and what it takes to get from there to the volume master key:
//!
//! ```text
//! protector               the TPM seals                              then
//! TPM              0x0100 a key entry: the volume master key         -
//! TPM, startup key 0x0300 a key entry: an intermediate key           xor the startup key
//! TPM, PIN         0x0500 a sealed entry, opened by the stretched    -
//!                         PIN: a key entry with an intermediate key
//! TPM, PIN, startup key   the same                                   xor the startup key
//!                  0x0700
//! ```
//!
//! The intermediate key opens the protector's own sealed entry, which is the volume master key. So
//! the PIN counts twice: the TPM refuses to unseal without it, and counts the refusals; and what it
//! unseals is worth nothing without it.
//!
//! # The PIN
//! SHA-256 of SHA-256 of its UTF-16LE, stretched with the salt as a password is: the *stretched PIN*.
//! The TPM's authorization value is the first 20 bytes of SHA-256(SHA-256(stretched PIN ‖ label)),
//! where the label is the 20 bytes of the protector's concat hash key, `BitLockerAuthData` and three
//! zeros.
//!
//! # The entries, in Windows' order
//! ```text
//! kind  bytes
//! 0x02      …  a name, where it has one
//! 0x03    108  stretch key, PIN only: algorithm 0x2004, flags 0x10 (0x14: not only digits), salt;
//!              in it, sealed with the volume master key: SHA-256 of the PIN's UTF-16LE as a key
//!              0x2004, flags 0x10, so that Windows can seal anew without asking for the PIN
//! 0x10     12  PIN only: zeros
//! 0x12     28  PIN only: the concat hash key's label
//! 0x06      …  the TPM blob
//! 0x11     12  PIN only: zeros
//! 0x13     12  PIN only: zeros
//! 0x04     92  use key, startup key only: algorithm 0x2002; in it, sealed with the volume master
//!              key: the startup key
//! 0x05     80  all but TPM alone: the volume master key, sealed with the intermediate key
//! ```
//!
//! # The TPM blob
//! ```text
//! the entry's own field: the registers (PCRs) as a bitmap of 32 bits, little-endian
//! TPM2B_PRIVATE, TPM2B_PUBLIC   the sealed object, big-endian as the TPM wants it
//! TPM2B_DIGEST                  SHA-256 of the registers' values that it is sealed to
//! size 3, 3 bytes               the registers again, as TPMS_PCR_SELECTION has them
//! ```
//! The object's policy is `PolicyAuthValue`, then `PolicyPCR`. Its attributes are fixedTPM and
//! fixedParent, and noDA where there is no PIN. Its parent is the storage root key at 0x81000001.
//! The registers' bank is not stored; it is taken to be that of the hash of the object's name, and
//! only SHA-256 is supported.
//!
//! # Sources
//! Kinds, algorithms and flags: libbde and dissect.fve. Sealed data, xor and stretching: the tool
//! SPITkey by en4rab and its published traces. The TPM's commands: S. Han's *BitLeaker*; itm4n's *A
//! Deep Dive into TPM-based BitLocker Drive Encryption*; G. Quéré's trace in *Privescing a
//! BitLocker + PIN-Encrypted Company Laptop*. Each step above was recomputed from those traces of
//! real machines (the tests below repeat it), the authorization value among them: the MACs that
//! a machine and its TPM exchanged come out only with it. Nothing official describes any of it.
//!
//! Not known from any source: what the three entries of zeros mean, and what Windows does for a
//! TPM whose SHA-256 bank is off. Protectors of Windows 7 and TPM 1.2 have another shape and are
//! refused by name.
//!
//! # What sealing here means for Windows
//! Windows seals to the registers as *its boot manager* will find them, this program to the ones
//! that *this* system has now. A protector added here opens here, as long as the machine starts
//! in the same way; that Windows' boot manager opens it is not to be expected.

mod blob;
mod error;
mod pin;
mod profile;
mod protect;
mod unlock;

pub use blob::BlobFault;
pub use error::TpmProtectorError;
pub use pin::{Pin, PinFault};
pub use profile::usual_pcrs;
pub use protect::{TpmProtected, TpmProtection, protect};
pub use unlock::{TpmSecrets, pcrs_of, unseal, unseal_any};
