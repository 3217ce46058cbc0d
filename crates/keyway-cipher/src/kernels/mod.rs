//! Ciphers in the processor's own vectors: the rounds of each over any vector, and one folder for each
//! architecture, with one file for each cipher and instruction set.
//!
//! A kernel is asked through a [`Ready`](crate::pass::Ready) token, which exists only for kernels that were found at
//! run time, and answers false where it does nothing for a cipher; then `portable` does.

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod rounds;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod aarch64;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use aarch64 as chosen;

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
use x86_64 as chosen;

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
mod none;
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
use none as chosen;

pub(crate) use chosen::{aes, aes_cbc, camellia, elephant, kuznyechik, serpent, twofish, xor_multiples};
