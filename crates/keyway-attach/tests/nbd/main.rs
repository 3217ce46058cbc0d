//! The NBD server against real clients, against a small client that says what real ones never
//! would, and against media that fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod client;
mod connections;
mod durable;
mod holes;
mod hostile;
mod limits;
mod rig;
mod tls;
mod tls_limits;
mod tools;
