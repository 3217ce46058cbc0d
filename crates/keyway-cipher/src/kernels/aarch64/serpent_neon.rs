//! Serpent with NEON: four times four blocks, a block in every 32-bit lane.

use super::entry_point::entry_point;
use super::serpent::{Decrypt, Encrypt};
use crate::portable::Serpent;
use std::arch::aarch64::uint8x16_t;

entry_point!("neon", [], Serpent, uint8x16_t, 16, 8, Encrypt, Decrypt);
