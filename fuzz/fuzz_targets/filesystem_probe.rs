//! Whatever a volume decrypts to is looked through for a file system, and a medium for a partition table.
#![no_main]

use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::MemStore;
use libfuzzer_sys::fuzz_target;

/// Where the probed superblocks lie: boot sector, ext, Btrfs.
const PLACES: [u64; 3] = [0, 1024, 64 << 10];
const DEVICE_BYTES: u64 = 80 << 10;

fuzz_target!(|data: &[u8]| {
    let store = MemStore::new(DEVICE_BYTES as usize);
    let all = Segment { start: 0, len: DEVICE_BYTES, mapping: Mapping::Plain { store_offset: 0 } };
    let layout = Layout::new(512, vec![all]).expect("one segment is a layout");
    let device = Device::new(Box::new(store), layout, Access::ReadWrite).expect("it fits");
    let Some((choice, data)) = data.split_first() else { return };
    let at = PLACES[usize::from(*choice) % PLACES.len()];
    let len = data.len().min((DEVICE_BYTES - at) as usize);
    device.write_at(&data[..len], at).expect("memory takes it");
    if let Some(found) = keyway_fs::Superblock::read(&device).expect("memory gives it") {
        assert!(!found.type_name().is_empty());
        assert!(found.bytes.is_none_or(|bytes| bytes > 0 && bytes <= DEVICE_BYTES));
    }
    if let Some(table) = keyway_fs::partitions::PartitionTable::read(&device).expect("memory gives it") {
        assert!(
            table.partitions.iter().all(|part| part.bytes > 0 && part.start + part.bytes <= DEVICE_BYTES)
        );
    }
});
