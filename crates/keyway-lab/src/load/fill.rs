//! The bytes that are written.

use super::offsets::Rng;
use crate::error::LabError;
use crate::workload::Data;
use keyway_store::{AlignedBuf, Store};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes written at a time when a drive is prepared.
pub(crate) const PIECE: usize = 1 << 20;

/// Fills a buffer with what the workload writes.
pub(crate) fn fill(buf: &mut [u8], data: Data, rng: &mut Rng) {
    match data {
        Data::Zero => buf.fill(0),
        Data::Pattern => {
            for (n, byte) in buf.iter_mut().enumerate() {
                *byte = (n % 16) as u8;
            }
        }
        Data::Random => {
            for chunk in buf.chunks_mut(8) {
                let word = rng.next().to_le_bytes();
                chunk.copy_from_slice(word.get(..chunk.len()).unwrap_or_default());
            }
        }
    }
}

/// Writes random bytes from the start and puts them on the medium.
pub(crate) fn write_noise(store: &dyn Store, bytes: u64, stop: &AtomicBool) -> Result<(), LabError> {
    let mut piece = AlignedBuf::zeroed(PIECE);
    let mut rng = Rng::new(0x5eed);
    for at in (0..bytes).step_by(PIECE) {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::Stopped);
        }
        piece.resize(PIECE.min((bytes - at) as usize));
        fill(&mut piece, Data::Random, &mut rng);
        store.write_at(&piece, at)?;
    }
    Ok(store.flush()?)
}
