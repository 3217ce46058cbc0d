//! Requests in two steps say and do the same as whole ones.

use crate::cipher;
use keyway_engine::{Access, Device, DeviceError, Layout, Mapping, Segment};
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use std::sync::Arc;

const SIZE: u64 = 65536;
const MOVED: usize = 8192;

/// An encrypted segment that starts at 4096 in the store, one of zeros, and a plain one.
fn device(store: Arc<MemStore>) -> Device {
    let segments = vec![
        Segment {
            start: 0,
            len: MOVED as u64 * 2,
            mapping: Mapping::Encrypted { store_offset: 4096, first_unit: 7, cipher: cipher(5, 512) },
        },
        Segment { start: 16384, len: 4096, mapping: Mapping::Zero },
        Segment { start: 20480, len: 4096, mapping: Mapping::Plain { store_offset: 32768 } },
    ];
    let layout = Layout::new(512, segments).unwrap();
    Device::new(Box::new(store), layout, Access::ReadWrite).unwrap()
}

fn pattern(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

#[test]
fn what_is_written_in_two_steps_is_read_in_one_and_the_other_way_round() {
    let store = Arc::new(MemStore::new(SIZE as usize));
    let device = device(store.clone());
    for (at, len) in [(0u64, MOVED), (512, 512), (20480, 4096)] {
        let plain = pattern(at as u8, len);
        let mut buf = plain.clone();
        let write = device.begin_write(&mut buf, at, 512).unwrap().expect("one run of whole units");
        store.write_at(&buf, write.store_offset()).unwrap();
        write.finish(&mut buf, true).unwrap();
        let mut whole = vec![0; len];
        device.read_at(&mut whole, at).unwrap();
        assert!(whole == plain, "written in two steps at {at}");

        let read = device.begin_read(at, len as u64, 512).unwrap().expect("one run of whole units");
        let mut back = vec![0; len];
        store.read_at(&mut back, read.store_offset()).unwrap();
        read.finish(&mut back, true).unwrap();
        assert!(back == plain, "read in two steps at {at}");
    }
    let counters = device.counters();
    assert_eq!((counters.reads, counters.writes), (6, 3));
    assert_eq!(counters.bytes_written, 8192 + 512 + 4096);
}

#[test]
fn what_was_not_moved_is_done_in_the_end() {
    let store = Arc::new(MemStore::new(SIZE as usize));
    let device = device(store);
    let plain = pattern(3, MOVED);
    let mut buf = plain.clone();
    device.begin_write(&mut buf, 0, 512).unwrap().expect("a run").finish(&mut buf, false).unwrap();
    let mut back = vec![0; MOVED];
    device.begin_read(0, MOVED as u64, 512).unwrap().expect("a run").finish(&mut back, false).unwrap();
    assert!(back == plain);
}

#[test]
fn an_error_of_the_medium_is_told() {
    let plan = FaultPlan { reads_fail_from: Some(0), ..FaultPlan::default() };
    let store = FaultStore::new(MemStore::new(SIZE as usize), plan);
    let mapping = Mapping::Encrypted { store_offset: 4096, first_unit: 0, cipher: cipher(5, 512) };
    let layout = Layout::new(512, vec![Segment { start: 0, len: 8192, mapping }]).unwrap();
    let device = Device::new(Box::new(store), layout, Access::ReadWrite).unwrap();
    let read = device.begin_read(0, 512, 512).unwrap().expect("a run");
    assert!(matches!(read.finish(&mut [0; 512], false), Err(DeviceError::Store(_))));
}

#[test]
fn what_is_more_than_moving_is_left_to_the_whole_way() {
    let store = Arc::new(MemStore::new(SIZE as usize));
    let device = device(store);
    let begins = |at: u64, len: u64, align: usize| device.begin_read(at, len, align).unwrap().is_some();
    assert!(begins(0, 512, 512));
    assert!(!begins(1, 512, 512), "parts of units");
    assert!(!begins(0, 100, 512), "a part of a unit");
    assert!(!begins(16384 - 512, 1024, 512), "two segments");
    assert!(!begins(16384, 512, 512), "zeros");
    assert!(!begins(0, 512, 4096), "not as the medium wants it");
    assert!(begins(4096, 4096, 4096));
    assert!(!begins(0, 0, 512), "nothing");
    assert!(matches!(device.begin_read(20480, 8192, 512), Err(DeviceError::PastEnd { .. })));
    assert!(device.begin_write(&mut [0; 512], 16384, 512).unwrap().is_none(), "the ordinary way refuses it");
}

/// A write of a part of a unit waits for transfers that have begun, and new ones don't wait for it.
#[test]
fn writes_of_parts_keep_away_from_transfers() {
    let store = Arc::new(MemStore::new(SIZE as usize));
    let device = device(store.clone());
    let mut buf = [1; 512];
    let under_way = device.begin_write(&mut buf, 0, 512).unwrap().expect("a run");
    let part = std::thread::scope(|scope| {
        let part = scope.spawn(|| device.write_at(&[9; 100], 0));
        // The part's thread waits by now, or soon; then no transfer begins.
        while device.begin_write(&mut [2; 512], 4096, 512).unwrap().is_some() {
            std::thread::yield_now();
        }
        assert!(!part.is_finished());
        store.write_at(&buf, under_way.store_offset()).unwrap();
        under_way.finish(&mut buf, true).unwrap();
        part.join().unwrap()
    });
    part.unwrap();
    let mut back = [0; 512];
    device.read_at(&mut back, 0).unwrap();
    assert!(back[..100] == [9; 100] && back[100..] == [1; 412]);
}
