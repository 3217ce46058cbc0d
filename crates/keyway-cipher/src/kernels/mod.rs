//! Ciphers in the processor's own vectors: one folder for each architecture, one file for each cipher
//! and instruction set.
//!
//! A kernel is asked through a [`Ready`](crate::pass::Ready) token, which exists only for kernels that were found at
//! run time, and answers false where it does nothing for a cipher; then `portable` does.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{aes, aes_cbc, camellia, elephant, kuznyechik, serpent, twofish, xor_multiples};

#[cfg(not(target_arch = "x86_64"))]
mod none;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use none::{aes, aes_cbc, camellia, elephant, kuznyechik, serpent, twofish, xor_multiples};
