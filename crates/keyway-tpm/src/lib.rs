//! A small TPM 2.0 client: seals a secret to start-up measurements and a PIN, and unseals it.
//!
//! [`Tpm`] speaks to a device of the kernel (`/dev/tpmrm0`) or to an emulator's socket; [`Address`]
//! says which. [`Tpm::seal`] makes a [`SealedObject`], which is no secret and is kept beside what it
//! protects; [`Tpm::unseal`] gives the secret back where the measurements ([`Pcrs`]) are the ones
//! it was sealed to and the authorization value is right. What a PIN or a BitLocker entry is, this
//! crate does not know.
//!
//! # What crosses the bus
//! The wire between processor and TPM can be listened to; published attacks read BitLocker's key
//! from it with a logic analyser. Here neither the sealed secret nor the authorization value ever
//! crosses it in clear: every session is salted by an elliptic-curve agreement (P-256) with a key
//! that the TPM makes for the occasion in its null hierarchy, as the Linux kernel does for its own
//! sessions; commands and answers carry an HMAC; the secret's parameter is encrypted (AES-128-CFB)
//! in both directions. Who can *replace* what the TPM says can still put a key of their own in
//! place of the TPM's: nothing on the disk tells the TPM's key from another.
//!
//! # Why no library
//! `tss-esapi` links a C library at build time, and Keyway builds with Rust alone. The crates that
//! only pack and unpack structures leave the sessions, which are most of the work, to their
//! callers, and read untrusted bytes through casts that need unsafe code. What is needed here is
//! a dozen commands (`tpm.rs`), written out with the bounds of each answer checked as it is read.
//!
//! # Sources
//! "Part N" in this crate means that part of the Trusted Computing Group's *Trusted Platform Module
//! Library* specification, family 2.0, revision 1.59.
#![forbid(unsafe_code)]

mod address;
mod constants;
mod crypt;
mod error;
mod lockout;
mod object;
mod pcr;
mod response_code;
mod seal;
mod session;
mod tpm;
mod transport;
mod wire;

pub use address::{Address, AddressFault};
pub use error::{BadResponse, TpmError, Unfit};
pub use lockout::Lockout;
pub use object::SealedObject;
pub use pcr::{PcrFault, Pcrs};
pub use response_code::ResponseCode;
pub use tpm::Tpm;
pub use transport::{LARGEST_MESSAGE, Transport};
