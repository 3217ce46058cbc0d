//! Writes of whole units and of parts of the same units, from several threads at once.

use crate::cipher;
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::{MemStore, Store, StoreError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Memory that rests after every read and so lets the other threads in: where a unit is completed by reading
/// first, that is the worst moment.
struct Resting(MemStore);

impl Store for Resting {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.0.read_at(buf, offset)?;
        std::thread::sleep(Duration::from_micros(20));
        Ok(())
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.0.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.0.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.0.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.0.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        self.0.is_read_only()
    }
}

fn device() -> Device {
    let mapping = Mapping::Encrypted { store_offset: 0, first_unit: 0, cipher: cipher(5, 512) };
    let layout = Layout::new(512, vec![Segment { start: 0, len: 65536, mapping }]).unwrap();
    Device::new(Box::new(Resting(MemStore::new(65536))), layout, Access::ReadWrite).unwrap()
}

struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

const ROUNDS: u32 = 100;

#[test]
fn parts_of_one_unit_do_not_undo_each_other() {
    let device = device();
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let device = &device;
            scope.spawn(move || {
                // Four shares of unit 1, the last one reaching into unit 2.
                let at = 512 + thread * 130;
                for round in 0..ROUNDS {
                    let mine = [(round + thread as u32) as u8; 130];
                    device.write_at(&mine, at).unwrap();
                    let mut back = [0; 130];
                    device.read_at(&mut back, at).unwrap();
                    assert_eq!(back, mine, "thread {thread}, round {round}");
                }
            });
        }
    });
}

#[test]
fn a_whole_write_is_not_undone_by_a_partial_one_beside_it() {
    let device = device();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                device.write_at(&[1; 10], 1024 + 100).unwrap();
                device.write_zeroes(2048 + 500, 20).unwrap();
            }
        });
        // Also when an assertion below fails.
        let _end = Done(&done);
        // Nobody else writes to these units outside those twenty bytes.
        for round in 0..ROUNDS {
            let mine = [round as u8; 2048];
            device.write_at(&mine, 1024).unwrap();
            // Long enough for whoever has read the bytes of the round before to write them back.
            std::thread::sleep(Duration::from_micros(200));
            let mut back = [0; 2048];
            device.read_at(&mut back, 1024).unwrap();
            for (i, byte) in back.iter().enumerate() {
                let theirs = (100..110).contains(&i) || (1524..1544).contains(&i);
                assert!(theirs || *byte == round as u8, "round {round}: byte {i} went back to {byte}");
            }
        }
    });
}
