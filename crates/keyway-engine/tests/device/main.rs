//! The device against plain bytes: any layout, any request, several threads, and layouts that lie.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod limits;
mod model;
mod queue;
mod threads;
mod transfer;

use keyway_cipher::{LayerKey, Mode, SectorCipher, Spec};
use std::sync::Arc;

/// AES-XTS with keys that follow from `number`.
fn cipher(number: u8, unit_bytes: u32) -> Arc<SectorCipher> {
    let spec = Spec { chain: "aes".parse().unwrap(), mode: Mode::Xts, unit_bytes };
    let (key, tweak_key) = ([number; 32], [!number; 32]);
    Arc::new(SectorCipher::new(&spec, &[LayerKey { key: &key, tweak_key: &tweak_key }]).unwrap())
}
