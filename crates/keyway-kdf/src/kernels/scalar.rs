//! The lane code with one lane: plain words.

use super::blake2s::Blake2s;
use super::chain;
use super::lane::{KeyBlock, Lane};
use super::ripemd160::Ripemd160;
use super::rows::{self, OneState};
use super::streebog::Streebog;
use super::whirlpool::Whirlpool;

pub(super) fn blake2s(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
    // SAFETY: plain words need no special instructions.
    unsafe { chain::advance::<u32, Blake2s, 8>(key, lanes, iterations) }
}

pub(super) fn ripemd160(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
    // SAFETY: plain words need no special instructions.
    unsafe { chain::advance::<u32, Ripemd160, 5>(key, lanes, iterations) }
}

pub(super) fn whirlpool(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
    // SAFETY: plain words need no special instructions.
    unsafe { rows::advance::<OneState, Whirlpool>(key, lanes, iterations) }
}

pub(super) fn streebog(key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
    // SAFETY: plain words need no special instructions.
    unsafe { rows::advance::<OneState, Streebog>(key, lanes, iterations) }
}
