//! Volume formats: detect, unlock, create and change.
#![forbid(unsafe_code)]

pub mod mkfs;
mod progress;

pub use progress::{Progress, Stage};
