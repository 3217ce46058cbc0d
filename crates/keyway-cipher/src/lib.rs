//! Block ciphers and disk modes over runs of sectors.
//!
//! The one thing to know is [`SectorCipher`]: made once per volume from a [`Spec`] and keys, then
//! asked to encrypt or decrypt whole runs of data units in place. It never sees a format: which
//! key goes where is the caller's business, told by one [`LayerKey`] per cipher of the chain.
//!
//! Units: a *data unit* is what one tweak covers ([`Spec::unit_bytes`], 512 in VeraCrypt whatever
//! the sector size); `first_unit` counts data units from where the format says.
//!
//! # Kernels
//!
//! | cipher | portable | `sse` (SSE4.1, AES-NI) | `avx2` | `avx512` | `neon` (aarch64) |
//! |---|---|---|---|---|---|
//! | AES | bit-sliced, 4 blocks | AES-NI | VAES, or AES-NI | VAES | AES instructions, 8 blocks |
//! | Serpent | bit-sliced, 4 blocks | 16 blocks | 32 | 64, logic of three operands | 16 |
//! | Twofish | **tables** | **tables** | shuffles, 32 blocks | VBMI and GFNI, 64 | shuffles, 16 |
//! | Camellia | **tables** | AES-NI, 16 blocks | GFNI or AES-NI, 32 | GFNI, 64 | AES instructions, 16 |
//! | Kuznyechik | **tables** | shuffles, 16 blocks | GFNI or shuffles, 32 | VBMI and GFNI, 64 | shuffles, 16 |
//! | Elephant | one unit | 4 units | 8 | 16 | 4 |
//! | Blowfish, CAST5, Triple DES | **tables** | **tables** | **tables** | **tables** | **tables** |
//!
//! What says **tables** reads them at addresses that depend on keys and texts, which other programs
//! on the same processor may observe through its caches. Nothing else here has a branch or an
//! address that depends on a secret. Kuznyechik's `sse` kernel is slower than its tables and is
//! there for that reason alone.
//!
//! On an aarch64 processor without AES instructions, AES and Camellia are left to the portable code. The `neon` kernels are
//! checked under an emulator (`scripts/test-aarch64`); how fast they are on a real processor nobody has measured yet.
//!
//! # What limits them
//!
//! Cycles per byte, XTS on 512-byte units, the slower direction, counted on a Zen 5 server; and what
//! its ports allow: four vector operations per cycle, two of them AES, GFNI, shuffles, shifts or
//! rotations, results in two cycles and more.
//!
//! | cipher | `avx512` | ports | `avx2` | ports | what keeps them apart |
//! |---|---|---|---|---|---|
//! | AES-256 | 0.17 | 0.11 | 0.36 | 0.22 | the tweaks, and rounds that wait for them |
//! | Serpent | 1.2 | 0.73 | 4.3 | 3.1 | rounds wait for each other; `avx2` has too few registers for four groups |
//! | Twofish | 1.1 | 0.63 | 5.6 | 4.3 | turning words to bytes and back every round |
//! | Camellia | 0.74 | 0.30 | 1.6 | 0.57 | rounds wait for each other; in `avx2`, registers |
//! | Kuznyechik | 1.6 | 1.1 | 6.2 | 3.3 | each of 16 sums a round waits for the one before; in `avx2`, registers |
//!
//! Without GFNI Kuznyechik's `avx2` kernel takes 7.3 (590 MB/s at 4.3 GHz), and its ports 5.3.
//!
//! A run of 4 KiB has eight tweaks, which would take a whole group of 64 blocks where 1 MiB takes one
//! in seventeen. `avx512` kernels therefore have rounds for a few blocks in as few vectors as hold them:
//! of the speed of 1 MiB, 4 KiB reach 0.87 to 0.98, and 0.85 or more through each cascade.

#![cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(dead_code, unused_imports, reason = "what only vector kernels use")
)]
#![deny(unsafe_code)] // only the kernels are allowed it

mod bitlocker;
mod cbc;
mod cipher;
mod elephant;
mod kernels;
mod lrw;
mod pass;
mod portable;
mod sector;
mod spec;
mod truecrypt_cbc;
mod xts;

pub use sector::SectorCipher;
pub use spec::{Algorithm, Chain, CipherError, Kernel, LayerKey, Mode, Spec};
