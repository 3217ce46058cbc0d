//! The ciphers' rounds over vectors of any kind, and what drives them over runs of blocks.
//!
//! What a vector has to be able to do is a trait, which each architecture's folder implements for its own.
//! All of it is `#[inline(always)]`, to become part of an entry point that has turned the instructions on:
//! the drivers in [`run`], [`cbc`], [`elephant`] and [`lrw`] read and write whole vectors through pointers,
//! always inside the slices they were given.
//!
//! No branch and no address in memory depends on a key or a text.
#![allow(unsafe_code, reason = "vectors; see the module's documentation")]

pub(super) mod aes;
pub(super) mod bytes;
pub(super) mod camellia;
pub(super) mod camellia_aes;
pub(super) mod cbc;
pub(super) mod elephant;
pub(super) mod entry_point;
pub(super) mod kuznyechik;
pub(super) mod kuznyechik_nibbles;
pub(super) mod kuznyechik_shuffles;
pub(super) mod lanes;
pub(super) mod lrw;
pub(super) mod nibbles;
pub(super) mod run;
pub(super) mod serpent;
pub(super) mod twofish;
