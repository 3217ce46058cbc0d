//! A queue with a cipher in between, for measuring: as a VeraCrypt volume's data area, without one.

use crate::error::LabError;
use keyway_cipher::{LayerKey, Mode, SectorCipher, Spec};
use keyway_engine::{Layout, LayoutQueue, Mapping, Segment};
use keyway_store::Queue;
use std::sync::Arc;

/// A VeraCrypt volume's unit in bytes.
const UNIT: u32 = 512;

/// Encrypts what goes through a queue, in XTS mode with 512-byte units as VeraCrypt does, under a
/// fixed key: nothing that needs protection comes by here.
///
/// # Errors
/// The cipher is not known.
pub fn encrypted(queue: Box<dyn Queue>, cipher: &str, size: u64) -> Result<Box<dyn Queue>, LabError> {
    Ok(Box::new(LayoutQueue::new(Arc::new(layout(cipher, size)?), queue)))
}

/// The layout of [`encrypted`]: all of a store under one cipher.
///
/// # Errors
/// The cipher is not known, or the size is not whole units.
pub fn layout(cipher: &str, size: u64) -> Result<Layout, LabError> {
    let unknown = || LabError::Target(cipher.to_owned(), "the cipher is not known".to_owned());
    let chain = cipher.parse().map_err(|_| unknown())?;
    let spec = Spec { chain, mode: Mode::Xts, unit_bytes: UNIT };
    let (key, tweak_key) = ([0x4b; 32], [0x77; 32]);
    let keys: Vec<_> = (0..spec.chain.len()).map(|_| LayerKey { key: &key, tweak_key: &tweak_key }).collect();
    let cipher = Arc::new(SectorCipher::new(&spec, &keys).map_err(|_| unknown())?);
    let size = size / u64::from(UNIT) * u64::from(UNIT);
    let mapping = Mapping::Encrypted { store_offset: 0, first_unit: 256, cipher };
    Ok(Layout::new(UNIT, vec![Segment { start: 0, len: size, mapping }])?)
}
