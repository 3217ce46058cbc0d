//! What is kept of a segment puts it together again.

use super::*;
use crate::redundancy::LARGEST_WINDOW;
use crate::step::{Keyed, Side};
use keyway_cipher::{Algorithm, Chain, LayerKey, Mode, SectorCipher, Spec};
use keyway_store::MemStore;
use keyway_testkit::Rng;
use std::sync::Arc;

const AREA: u64 = 8 << 20;

fn keyed(seed: u64) -> Option<Keyed> {
    let key = Rng::new(seed).bytes(64);
    let spec = Spec { chain: Chain::single(Algorithm::Aes256), mode: Mode::Xts, unit_bytes: 512 };
    let layer = LayerKey { key: &key[..32], tweak_key: &key[32..] };
    Some(Keyed { cipher: Arc::new(SectorCipher::new(&spec, &[layer]).expect("a cipher")), first_unit: 7 })
}

/// A move of 6 MiB less a few sectors, the medium before it, and what the first segment of `len` bytes becomes.
fn case(from: u64, to: u64, done: u64, len: u64) -> (Move, Vec<u8>, Record, AlignedBuf, Vec<u8>) {
    let side = |offset, seed| Side { offset, key: keyed(seed) };
    let (from, to) = (side(from, 1), side(to, 2));
    let from_end = to.offset > from.offset;
    let m = Move { logical: 0, from, to, len: (6 << 20) - 1536, from_end };
    let medium = Rng::new(3).bytes(AREA as usize);
    let first = m.segment(done, len);
    let mut segment = medium[(m.from.offset + first) as usize..][..len as usize].to_vec();
    let (redundancy, mut kept) = (Redundancy::of(&m), AlignedBuf::default());
    redundancy.transform(&m, done, &mut segment, &mut kept);
    assert_eq!(kept.len() as u64, redundancy.kept_bytes(len));
    let target = m.to.offset + first;
    let record = Record {
        sequence: 9,
        step: 1,
        done,
        target,
        len,
        sure: 9,
        floor: 8,
        redundancy,
        source: [0; 2],
        result: [0; 2],
    };
    (m, medium, record, kept, segment)
}

fn copy(kept: &AlignedBuf) -> AlignedBuf {
    let mut copy = AlignedBuf::zeroed(kept.len());
    copy.copy_from_slice(kept);
    copy
}

#[test]
fn a_stretch_as_long_as_a_run_is_mended_in_each_group_and_nothing_longer() {
    for (len, run_bytes) in
        [(512, 512), (4096, 4096), (65_536, 4096), (1 << 20, 32 << 10), (5 << 20, 64 << 10)]
    {
        let (m, medium, record, kept, right) = case(1 << 20, 1 << 20, 4096, len);
        assert_eq!((record.redundancy, run(len)), (Redundancy::InPlace, run_bytes));
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let mut torn = medium.clone();
            let target = record.target as usize;
            for at in (0..len as usize).step_by(512).filter(|_| rng.below(2) == 0) {
                torn[target + at..][..512].copy_from_slice(&right[at..at + 512]);
            }
            let rebuilt = |torn: &[u8]| {
                let store = MemStore::from_vec(torn.to_vec()).read_only();
                record.redundancy.rebuild(&store, &m, &record, copy(&kept))
            };
            assert!(rebuilt(&torn).expect("old and new").bytes[..] == right);
            // One stretch of garbage in each group, anywhere.
            let group = RUNS * run_bytes;
            let stretch = |begins: u64| {
                let most = group.min(len - begins);
                begins + rng.below((most - run_bytes.min(most)) / 512 + 1) * 512
            };
            let stretches: Vec<u64> = (0..len).step_by(group as usize).map(stretch).collect();
            for at in &stretches {
                let bytes = run_bytes.min(len - at) as usize;
                torn[target + *at as usize..][..bytes].copy_from_slice(&rng.bytes(bytes));
            }
            let mended = rebuilt(&torn).expect("mended");
            assert!(mended.bytes[..] == right);
            // They come first, each in one write.
            let lost: u64 = stretches.iter().map(|at| run_bytes.min(len - at)).sum();
            let first = &mended.rounds[0];
            assert!(
                first.len() <= stretches.len() && first.iter().map(Range::len).sum::<usize>() as u64 == lost
            );
            // A second one in the same columns.
            if len > 2 * run_bytes {
                let at = (stretches[0] + run_bytes) % (2 * run_bytes);
                torn[target + at as usize..][..512].copy_from_slice(&rng.bytes(512));
                let wrong = rebuilt(&torn).map(drop).expect_err("too much");
                assert!(
                    matches!(wrong, ConvertError::Torn { at } if (at - record.target) < group),
                    "{wrong}"
                );
            }
        }
    }
}

#[test]
fn a_sum_knows_of_every_bit() {
    let right = Rng::new(5).bytes(SECTOR as usize);
    for bit in 0..SECTOR as usize * 8 {
        let mut other = right.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(sum(&other), sum(&right), "bit {bit}");
    }
}

#[test]
fn what_can_not_be_read_is_mended_like_garbage() {
    let (m, medium, record, kept, right) = case(0, 0, 0, 1 << 20);
    // The whole read fails, and then that of the first sectors: a run is mended, 32 KiB here.
    for (failing, mended) in [(1, true), (1 + 64, true), (1 + 65, false)] {
        let store = FailsFirst { store: MemStore::from_vec(medium.clone()), left: failing.into() };
        let rebuilt = record.redundancy.rebuild(&store, &m, &record, copy(&kept));
        match rebuilt {
            Ok(rebuilt) => {
                assert!(mended && rebuilt.bytes[..] == right);
                // All of it is written before anything else, and in one piece.
                let first = rebuilt.rounds[0].first().cloned().unwrap_or_default();
                assert!(failing == 1 || first == (0..32 << 10), "{first:?}");
            }
            Err(e) => assert!(!mended && matches!(e, ConvertError::Store(_)), "{e}"),
        }
    }
}

#[test]
fn a_shifted_segment_comes_back_from_every_round_whatever_lies_where_one_is_written() {
    let (up, down) = ((0, PIECE), (PIECE, 0));
    for ((from, to), done) in [(up, 0), (down, 0), (up, 1024), (down, 1024)] {
        for len in [PIECE, 2 << 20, (3 << 20) + 4096, 512] {
            let (m, mut medium, record, kept, right) = case(from, to, done, len);
            assert_eq!(record.redundancy, Redundancy::Shifted);
            let target = record.target as usize;
            for round in record.redundancy.rounds(&m, done, len) {
                let before = medium.clone();
                for range in &round {
                    // Old, new, or neither.
                    let new = &right[range.clone()];
                    medium[target + range.start..target + range.end].copy_from_slice(new);
                }
                for garbage in [false, true] {
                    let mut torn = before.clone();
                    for (n, range) in round.iter().enumerate() {
                        let to = &mut torn[target + range.start..target + range.end];
                        match (garbage, n % 3) {
                            (true, _) => to.copy_from_slice(&Rng::new(n as u64).bytes(range.len())),
                            (_, 0) => to.copy_from_slice(&right[range.clone()]),
                            (_, 1) => to[..700.min(range.len())].fill(0),
                            _ => {}
                        }
                    }
                    let store = MemStore::from_vec(torn);
                    let rebuilt = record.redundancy.rebuild(&store, &m, &record, copy(&kept)).expect("there");
                    assert!(rebuilt.bytes[..] == right);
                    rebuilt.write(&store, record.target).expect("written");
                    assert!(store.snapshot()[target..][..len as usize] == right);
                }
            }
            // What is neither kept nor anywhere.
            if len > PIECE {
                medium[target..][..len as usize].fill(1);
                let store = MemStore::from_vec(medium);
                let wrong = record.redundancy.rebuild(&store, &m, &record, copy(&kept)).map(drop);
                assert!(matches!(wrong, Err(ConvertError::Torn { .. })));
            }
        }
    }
}

#[test]
fn a_window_has_room_for_what_is_kept_and_is_larger_than_what_is_kept_whole() {
    for redundancy in [Redundancy::InPlace, Redundancy::Shifted] {
        for room in (0..9 << 20).step_by(12 << 10) {
            for most in [redundancy.smallest_window(), 1 << 20, 8 << 20, 1 << 40] {
                let Some(len) = redundancy.window(room, most) else { continue };
                assert!(
                    redundancy.is_possible(len) && redundancy.kept_bytes(len) <= room && len <= most,
                    "{room}"
                );
                assert!(len > room || 2 * len > most, "{redundancy:?}: {len} in {room}");
            }
        }
        assert_eq!(redundancy.window(8 << 20, 1 << 40), Some(LARGEST_WINDOW));
    }
    assert_eq!(Redundancy::Shifted.window(PIECE, 1 << 40), None);
    assert_eq!(Redundancy::Whole.window(8 << 20, 1 << 40), None);
}

/// So many reads fail before the others don't.
struct FailsFirst {
    store: MemStore,
    left: std::sync::atomic::AtomicU64,
}

impl Store for FailsFirst {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), keyway_store::StoreError> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
            let reason = std::io::Error::from_raw_os_error(5);
            return Err(keyway_store::StoreError::new(
                keyway_store::Operation::Read,
                "a drive",
                offset,
                buf.len(),
                reason,
            ));
        }
        self.store.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), keyway_store::StoreError> {
        self.store.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), keyway_store::StoreError> {
        self.store.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), keyway_store::StoreError> {
        self.store.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.store.size()
    }
    fn sector_bytes(&self) -> u32 {
        512
    }
    fn is_read_only(&self) -> bool {
        false
    }
}
