//! The NVMe/TCP controller, as a host finds it: over a real connection, and over streams of any bytes.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod hostile;
mod limits;
mod namespace;
mod promise;
mod protocol;
