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

/// Bytes that a drive may compare with what it holds already.
const PAGE: usize = 4096;

/// Makes a buffer that was written before unlike anything that was: random data has no page twice. Each page gets a new
/// beginning, as fio's buffers do; all of its bytes would take the time of the thread that keeps the drive busy.
pub(crate) fn refresh(buf: &mut [u8], data: Data, rng: &mut Rng) {
    if data == Data::Random {
        for page in buf.chunks_mut(PAGE) {
            for (byte, new) in page.iter_mut().zip(rng.next().to_le_bytes()) {
                *byte = new;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refreshed_buffer_has_no_page_twice() {
        let (mut rng, mut seen) = (Rng::new(1), std::collections::HashSet::new());
        let mut buf = vec![0; 10 * PAGE + 512];
        fill(&mut buf, Data::Random, &mut rng);
        for _ in 0..50 {
            buf.chunks(PAGE).for_each(|page| assert!(seen.insert(page.to_vec())));
            refresh(&mut buf, Data::Random, &mut rng);
        }
        // Others are to be compressed, and stay what they are.
        let before = buf.clone();
        refresh(&mut buf, Data::Pattern, &mut rng);
        assert_eq!(buf, before);
    }
}
