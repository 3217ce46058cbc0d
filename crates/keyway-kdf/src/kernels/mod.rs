//! The ways to compute PBKDF2's chains: for every hash function a few step functions, each for a
//! number of chains at once and an instruction set, chosen at run time.
//!
//! This folder is the only place of the crate with unsafe code.
#![allow(unsafe_code, reason = "SIMD intrinsics; every use says why it is sound")]
#![cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(
        dead_code,
        unused_imports,
        reason = "the vectors here are x86-64's and aarch64's; plain code uses a part of this"
    )
)]

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod aarch64;
pub(crate) mod argon2;
mod blake2s;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod byte_slices;
mod chain;
mod fips180;
#[cfg(target_arch = "x86_64")]
mod gfni;
#[cfg(target_arch = "x86_64")]
mod gfni_pairs;
mod lane;
mod lanes;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod lanes_neon;
pub(crate) mod links;
#[cfg(not(target_os = "linux"))]
#[path = "heap.rs"]
pub(crate) mod memory;
#[cfg(target_os = "linux")]
pub(crate) mod memory;
mod portable;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod quads;
#[cfg(target_arch = "x86_64")]
mod quads_avx2;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod quads_neon;
mod ripemd160;
mod rows;
mod scalar;
mod sha256;
mod sha512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod sha_instructions;
#[cfg(target_arch = "x86_64")]
mod sha_ni;
mod step;
mod streebog;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod streebog_nibbles;
pub(crate) mod stretch;
mod whirlpool;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod whirlpool_nibbles;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use lane::{KeyBlock, Lane};

use crate::prf::Prf;
use keyway_error::enum_table;
use std::fmt;
use step::{Step, steps};

enum_table! {
    /// A family of implementations, by the instructions they need.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Kernel {
        /// Plain code for any processor (which for SHA-1, SHA-256 and, on aarch64, SHA-512 still uses the
        /// SHA instructions where the processor has them).
        Portable("portable"),
        /// NEON's 128-bit vectors, and the SHA instructions where aarch64 has them, two chains at a time.
        Neon("neon"),
        /// 256-bit vectors; four chains of Whirlpool or Streebog.
        Avx2("avx2"),
        /// 512-bit vectors; Whirlpool and Streebog need GFNI and VBMI as well.
        Avx512("avx512"),
    }
    /// The name in lower case, as the command line takes it.
    pub name: &'static str,
}

impl Kernel {
    /// The kernels that exist for this function and run on this processor, the fastest first: `ALL` has the most
    /// demanding last.
    pub fn available(prf: Prf) -> Vec<Self> {
        Self::ALL.into_iter().rev().filter(|&kernel| !Steps::of(prf, kernel).0.is_empty()).collect()
    }

    /// How many chains this kernel computes at once; 0 when it is not [`Kernel::available`].
    pub fn lanes(self, prf: Prf) -> usize {
        Steps::of(prf, self).widest()
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The step functions of one kernel for one hash function, the narrowest first.
#[derive(Clone, Copy)]
pub(crate) struct Steps(&'static [Step]);

impl Steps {
    /// Empty when the kernel does not exist for the function or the processor lacks instructions.
    pub(crate) fn of(prf: Prf, kernel: Kernel) -> Self {
        Self(match kernel {
            Kernel::Portable => portable_steps(prf),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::avx2_steps(prf),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::avx512_steps(prf),
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx2 | Kernel::Avx512 => &[],
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Kernel::Neon => aarch64::neon_steps(prf),
            #[cfg(not(all(target_arch = "aarch64", target_endian = "little")))]
            Kernel::Neon => &[],
        })
    }

    /// The best on this processor.
    pub(crate) fn best(prf: Prf) -> Self {
        Kernel::available(prf).first().map_or(Self(portable_steps(prf)), |&kernel| Self::of(prf, kernel))
    }

    pub(crate) fn widest(self) -> usize {
        self.0.last().map_or(0, |step| step.lanes)
    }

    /// The narrowest step that holds `chains`, or else the widest there is.
    pub(crate) fn fitting(self, chains: usize) -> Option<&'static Step> {
        self.0.iter().find(|step| step.lanes >= chains).or(self.0.last())
    }
}

fn portable_steps(prf: Prf) -> &'static [Step] {
    match prf {
        Prf::Sha512 => steps![1 portable::sha512],
        Prf::Sha256 => steps![1 portable::sha256],
        Prf::Sha1 => steps![1 portable::sha1],
        Prf::Blake2s => steps![1 scalar::blake2s],
        Prf::Ripemd160 => steps![1 scalar::ripemd160],
        Prf::Whirlpool => steps![1 scalar::whirlpool],
        Prf::Streebog => steps![1 scalar::streebog],
    }
}
