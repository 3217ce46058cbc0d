//! A file system's map is read from bytes that somebody else has written: nothing panics, and what counts
//! as used or free lies on the medium.
#![no_main]

use keyway_fs::allocation::Allocation;
use keyway_store::MemStore;
use libfuzzer_sys::fuzz_target;

/// Room for a FAT16's table, an exFAT's bitmap, NTFS' first records and ext4's descriptors.
const MEDIUM_BYTES: usize = 4 << 20;

fuzz_target!(|data: &[u8]| {
    // The input is cut into pieces that are laid out over the medium: place in pages, length, bytes.
    let mut medium = vec![0; MEDIUM_BYTES];
    let mut rest = data;
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let [low, high, len_low, len_high] = *head;
        let at = usize::from(u16::from_le_bytes([low, high])) * 512 % MEDIUM_BYTES;
        let len = usize::from(u16::from_le_bytes([len_low, len_high])).min(tail.len()).min(MEDIUM_BYTES - at);
        let (piece, next) = tail.split_at(len);
        medium[at..at + len].copy_from_slice(piece);
        rest = next;
    }
    let store = MemStore::from_vec(medium);
    let Ok(mut map) = Allocation::read(&store) else { return };
    let end = MEDIUM_BYTES as u64;
    let used = map.used(end, 4096);
    assert!(used.iter().all(|range| range.start < range.end && range.end <= end));
    assert!(used.is_sorted_by(|a, b| a.end < b.start));
    assert!(map.free_bytes() <= end);
    if let Ok(at) = map.find(0, 1 << 16, 4096) {
        assert!(at + (1 << 16) <= end);
        map.take(at..at + (1 << 16));
        let _ = map.mark(&store);
        let _ = map.release(&store, &[at..at + (1 << 16)]);
    }
});
