//! The virtual drive, as a host finds it.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod conformance;
mod enterprise;
mod firmware;
mod hostile;
mod life;
mod locking;
mod media;
mod power;
mod rig;
mod single_user;
mod small;
mod spec;
mod wire;
