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
//!
//! # What aarch64 has
//! | hash | with its instructions, 2 chains at a time | otherwise |
//! |---|---|---|
//! | SHA-512 | SHA-512 instructions | plain code |
//! | SHA-256, BitLocker's stretch | SHA-256 instructions | NEON, 8 chains; BitLocker's: plain code |
//! | SHA-1 | plain code, which takes the instructions | plain code |
//! | BLAKE2s, RIPEMD-160 | | NEON, 4 and 8 chains |
//! | Whirlpool, Streebog | | NEON, 2 chains, by byte shuffles |
//! | Argon2id | | NEON, two columns or rows at a time |
//!
//! All of it is checked under an emulator (`scripts/test-aarch64`); how fast it is on a real processor nobody has
//! measured yet.
//!
//! # What limits each kernel
//! On one core of Zen 5 (AMD EPYC of 2025, 4.3 GHz), in cycles: of one link of all chains at once for PBKDF2,
//! which is two hashes of one block each, of one link for BitLocker, of one KiB block for Argon2id. Four
//! 512-bit units do additions and exclusive ors; two of them rotate, two do the three-operand
//! logic, two substitute and map bytes (`vpermt2b`, `vpmovb2m`, `gf2p8affine`); simple instructions have
//! a latency of 2. The limit is what these numbers allow, instructions counted from the source.
//!
//! | kernel | chains | measured | limit | by |
//! |---|---|---|---|---|
//! | SHA-512, AVX-512 | 16 | 2830 | 2060 | instructions for four units; 48 vectors in use spill out of 32 registers |
//! | SHA-256, AVX-512 | 32 | 2310 | 1620 | the same |
//! | SHA-256, SHA instructions | 1 | 325 | 256 | latency of `sha256rnds2` (4 for two rounds), 64 of them in a row |
//! | SHA-256, SHA instructions | 2 | 390 | 256 | throughput of `sha256rnds2` (one in 2 cycles); the schedule gets in between |
//! | BLAKE2s, AVX-512 | 16 | 1180 | 960 | latency: 12 dependent instructions a round of mixing; a twin would spill |
//! | RIPEMD-160, AVX-512 | 32 | 1860 | 1280 | latency: 4 dependent instructions a step; twins fill the gaps |
//! | Whirlpool, GFNI | 8 | 2190 | 1560 | instructions for four units (26 a round) |
//! | Streebog, GFNI | 8 | 10,080 | 7660 | the two units for bytes (44 of 58 cycles a transformation) |
//! | Streebog, GFNI | 4 | 7100 | 4870 | the same (28 of 41); latency, though state and key go side by side |
//! | Argon2id, AVX-512, one | 1 | 1190 | 300 | latency of memory: each block names the next only when it is done |
//! | Argon2id, AVX-512, several | 4 | 580 | 300 | bandwidth of memory: 3 KiB a block at 23 GB/s |
//! | BitLocker's stretch, SHA instructions | 1 | 273 | 256 | latency of `sha256rnds2`, 64 of them in a row |
//! | BitLocker's stretch, SHA instructions | 2 | 375 | 256 | throughput of `sha256rnds2` (one in 2 cycles); the schedule gets in between |
#![deny(unsafe_code)]

mod argon2id;
mod bitlocker;
mod hmac;
mod kernels;
mod machine;
mod pbkdf2;
mod prf;

pub use argon2id::{Argon2idCost, Argon2idParameter, KdfError, argon2id, argon2id_many};
pub use bitlocker::{BitlockerStretch, bitlocker_stretch, bitlocker_stretches};
pub use kernels::Kernel;
pub use machine::{FreeMemory, cores, free_memory, look_ahead};
pub use pbkdf2::{Block, lanes, pbkdf2, pbkdf2_blocks, pbkdf2_blocks_with};
pub use prf::Prf;
