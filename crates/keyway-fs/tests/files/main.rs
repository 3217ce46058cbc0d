//! File systems that their own tools made, read back file by file; damaged and hostile ones.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod hostile;
mod image;
mod mounted;
mod put;
mod put_exfat;
mod read;
mod tree;
