//! FUSE, loop devices and sessions against the real kernel.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod child;
mod durable;
mod file;
mod planted;
mod random;
mod rig;
mod session;
