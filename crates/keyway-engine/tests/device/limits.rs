//! The ends of the number range, layouts that lie, failing media, and what is passed on when.

use crate::cipher;
use keyway_engine::{Access, Device, DeviceError, Layout, LayoutError, Mapping, Segment};
use keyway_store::{FaultPlan, FaultStore, MemStore, Store, StoreError};
use std::sync::{Arc, Mutex};

fn plain(start: u64, len: u64, store_offset: u64) -> Segment {
    Segment { start, len, mapping: Mapping::Plain { store_offset } }
}

fn zero(start: u64, len: u64) -> Segment {
    Segment { start, len, mapping: Mapping::Zero }
}

#[test]
fn layouts_that_lie_are_refused() {
    let error = |sector, segments| Layout::new(sector, segments).err().unwrap();
    assert_eq!(error(0, vec![plain(0, 512, 0)]), LayoutError::SectorSize(0));
    assert_eq!(error(1 << 31, vec![plain(0, 512, 0)]), LayoutError::SectorSize(1 << 31));
    assert_eq!(error(512, vec![]), LayoutError::Empty);
    for (sector, segments) in [
        (512, vec![plain(512, 512, 0)]),
        (512, vec![plain(0, 0, 0)]),
        (4096, vec![plain(0, 512, 0)]),
        (512, vec![plain(0, 1024, 0), plain(512, 512, 0)]),
        (512, vec![plain(0, 512, 0), plain(1024, 512, 0)]),
        (512, vec![plain(0, 1024, u64::MAX - 511)]),
        (512, vec![zero(0, u64::MAX - 511), zero(u64::MAX - 511, 512)]),
    ] {
        assert!(matches!(error(sector, segments), LayoutError::Misplaced(_)));
    }
    let encrypted = |start, len, first_unit| Segment {
        start,
        len,
        mapping: Mapping::Encrypted { store_offset: 0, first_unit, cipher: cipher(1, 4096) },
    };
    assert!(matches!(error(512, vec![encrypted(0, 512, 0)]), LayoutError::Misplaced(0)));
    assert!(matches!(
        error(512, vec![plain(0, 512, 0), encrypted(512, 4096, 0)]),
        LayoutError::Misplaced(512)
    ));
    assert!(matches!(error(512, vec![encrypted(0, 8192, u64::MAX)]), LayoutError::Misplaced(0)));
    let layout = Layout::new(512, vec![plain(0, 4096, 512)]).unwrap();
    let refused = Device::new(Box::new(MemStore::new(4096)), layout, Access::ReadWrite).err().unwrap();
    assert_eq!(refused, LayoutError::BeyondStore { needed: 4608, present: 4096 });
}

#[test]
fn requests_at_the_end_of_the_number_range_do_not_wrap() {
    // Not a whole number of the cipher's units, so that rounding up would pass 2^64.
    let unit = Segment {
        start: 0,
        len: 4096,
        mapping: Mapping::Encrypted { store_offset: 0, first_unit: 0, cipher: cipher(1, 4096) },
    };
    let size = u64::MAX - 511;
    let layout = Layout::new(512, vec![unit, zero(4096, size - 4096)]).unwrap();
    let device =
        Device::new(Box::new(MemStore::new(4096)), layout, Access::ReadWrite).unwrap().allowing_discards();
    assert_eq!(device.size(), size);
    let mut buf = [1; 700];
    device.read_at(&mut buf, size - 700).unwrap();
    assert_eq!(buf, [0; 700]);
    for (offset, len) in [(size - 699, 700u64), (size, 1), (u64::MAX, 1), (u64::MAX, u64::MAX), (1, u64::MAX)]
    {
        let past = |e| matches!(e, Err(DeviceError::PastEnd { .. }));
        assert!(past(device.write_zeroes(offset, len)));
        assert!(past(device.discard(offset, len)));
        if len == 700 {
            assert!(past(device.read_at(&mut buf, offset)));
            assert!(past(device.write_at(&buf, offset)));
        }
    }
    device.read_at(&mut [], size).unwrap();
    assert!(matches!(device.write_at(&[1], size - 1), Err(DeviceError::Metadata(_))));
    device.write_at(&[0], size - 1).unwrap();
    device.discard(size - 700, 700).unwrap();
}

/// A write through all of a volume whose middle is nobody's to write, by each way that there is: what may be written is,
/// zeros are what is there already, and anything else is refused alone and counted.
#[test]
fn what_may_not_be_written_takes_nothing_else_with_it() {
    const LEN: usize = 20 << 10;
    let zeros = 6 << 10..13 << 10;
    // Whole requests and such as begin and end within a unit.
    for (from, to) in
        [(0, LEN), (100, LEN - 100), (6 << 10, LEN), (0, 7 << 10), ((6 << 10) + 3, (6 << 10) + 5)]
    {
        for spoils in [false, true] {
            for stain in [None, Some(zeros.start + 10), Some(zeros.end - 1)] {
                let plan = [plain(0, 6 << 10, 9 << 10), zero(6 << 10, 7 << 10), plain(13 << 10, 7 << 10, 0)];
                let layout = Layout::new(512, plan.to_vec()).unwrap();
                let device =
                    Device::new(Box::new(MemStore::new(16 << 10)), layout, Access::ReadWrite).unwrap();
                let stain = stain.filter(|stain| (from..to).contains(stain));
                let mut new: Vec<u8> = vec![0xa5; to - from];
                for at in zeros.clone().filter(|at| (from..to).contains(at)) {
                    new[at - from] = 0;
                }
                if let Some(stain) = stain {
                    new[stain - from] = 1;
                }
                let mut buf = new.clone();
                let done = match spoils {
                    true => device.write_and_spoil(&mut buf, from as u64),
                    false => device.write_at(&new, from as u64),
                };
                match stain {
                    None => done.unwrap(),
                    Some(stain) => {
                        let refused = done.unwrap_err();
                        assert!(
                            matches!(refused, DeviceError::Metadata(at) if at == stain as u64),
                            "{refused}"
                        );
                        assert_eq!(refused.errno(), 1);
                    }
                }
                assert_eq!(device.counters().writes_refused, u64::from(stain.is_some()));
                let mut all = vec![7; LEN];
                device.read_at(&mut all, 0).unwrap();
                let wanted = |at| if (from..to).contains(&at) && !zeros.contains(&at) { 0xa5 } else { 0 };
                assert!(
                    all.iter().enumerate().all(|(at, byte)| *byte == wanted(at)),
                    "{from}..{to}, {stain:?}"
                );
            }
        }
    }
    let layout = Layout::new(512, vec![plain(0, 4096, 0), zero(4096, 4096)]).unwrap();
    let device = Device::new(Box::new(MemStore::from_vec(vec![9; 4096])), layout, Access::ReadWrite).unwrap();
    device.write_zeroes(0, 8192).unwrap();
    let mut all = [7; 8192];
    device.read_at(&mut all, 0).unwrap();
    assert!(all == [0; 8192]);
    assert_eq!(device.counters().writes_refused, 0);
}

/// A store of its own kind may refuse bytes for the same reason.
#[test]
fn what_the_store_may_not_write_is_refused_as_the_devices_own() {
    struct Picky(MemStore);
    impl Store for Picky {
        fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
            self.0.read_at(buf, offset)
        }
        fn write_at(&self, _: &[u8], offset: u64) -> Result<(), StoreError> {
            Err(StoreError::reserved("a store", offset + 100, 1))
        }
        fn flush(&self) -> Result<(), StoreError> {
            Ok(())
        }
        fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
            Ok(())
        }
        fn size(&self) -> u64 {
            self.0.size()
        }
        fn sector_bytes(&self) -> u32 {
            512
        }
        fn is_read_only(&self) -> bool {
            false
        }
    }
    assert_eq!(StoreError::reserved("a store", 100, 1).errno(), 1);
    let layout = Layout::new(512, vec![plain(0, 512, 4096), plain(512, 1024, 0)]).unwrap();
    let device = Device::new(Box::new(Picky(MemStore::new(8192))), layout, Access::ReadWrite).unwrap();
    let refused = device.write_at(&[1; 512], 1024).unwrap_err();
    assert!(matches!(refused, DeviceError::Metadata(1124)), "{refused}");
    assert_eq!(device.counters().writes_refused, 1);
}

/// Memory that notes what is discarded and what is written.
#[derive(Default)]
struct Notes {
    discards: Mutex<Vec<(u64, u64)>>,
    writes: Mutex<Vec<(u64, usize)>>,
}

struct Noting {
    inner: MemStore,
    notes: Arc<Notes>,
}

impl Store for Noting {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.inner.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        assert!((buf.as_ptr() as usize).is_multiple_of(4096), "the medium gets aligned memory");
        self.notes.writes.lock().unwrap().push((offset, buf.len()));
        self.inner.write_at(buf, offset)
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.inner.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.notes.discards.lock().unwrap().push((offset, len));
        Ok(())
    }
    fn size(&self) -> u64 {
        self.inner.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.inner.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        false
    }
}

fn noting() -> (Device, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    let store = Noting { inner: MemStore::new(4 << 20), notes: notes.clone() };
    let encrypted = Segment {
        start: 16384,
        len: 1 << 20,
        mapping: Mapping::Encrypted { store_offset: 131_072, first_unit: 0, cipher: cipher(1, 512) },
    };
    let layout = Layout::new(4096, vec![plain(0, 8192, 8192), zero(8192, 8192), encrypted]).unwrap();
    (Device::new(Box::new(store), layout, Access::ReadWrite).unwrap(), notes)
}

#[test]
fn discards_reach_the_medium_only_when_allowed_and_only_as_whole_units() {
    let (device, notes) = noting();
    device.discard(0, 1 << 20).unwrap();
    assert!(notes.discards.lock().unwrap().is_empty());
    let device = device.allowing_discards();
    device.discard(100, 16384 + 20_000).unwrap();
    // From 4096 to the end of the plain segment; nothing of the zeros; up to a unit's end.
    assert_eq!(*notes.discards.lock().unwrap(), [(12288, 4096), (131_072, 16384)]);
    device.discard(5000, 3000).unwrap();
    assert_eq!(notes.discards.lock().unwrap().len(), 2, "less than a unit is nothing");
}

#[test]
fn a_partial_write_moves_only_the_units_at_its_ends_twice() {
    let (device, notes) = noting();
    device.write_at(&vec![9; 100_000], 16384 + 100).unwrap();
    let writes = notes.writes.lock().unwrap().clone();
    assert_eq!(writes, [(131_072, 4096), (135_168, 94_208), (229_376, 4096)]);
    let counters = device.counters();
    assert_eq!((counters.writes, counters.bytes_written), (1, 100_000));
    device.write_zeroes(16384 + 10, 5).unwrap();
    device.flush().unwrap();
    device.read_at(&mut [0; 10], 0).unwrap();
    let counters = device.counters();
    assert_eq!((counters.writes, counters.bytes_written, counters.flushes), (2, 100_005, 1));
    assert_eq!((counters.reads, counters.bytes_read), (1, 10));
}

#[test]
fn the_mediums_errors_reach_the_caller_with_their_number() {
    let on = |plan| {
        let store = FaultStore::new(MemStore::new(65536), plan);
        let layout = Layout::new(512, vec![plain(0, 65536, 0)]).unwrap();
        Device::new(Box::new(store), layout, Access::ReadWrite).unwrap()
    };
    let device = on(FaultPlan { reads_fail_from: Some(0), ..FaultPlan::default() });
    assert_eq!(device.read_at(&mut [0; 512], 0).unwrap_err().errno(), 5);
    assert_eq!(device.write_at(&[0; 10], 0).unwrap_err().errno(), 5, "a part must be read first");
    device.write_at(&[0; 512], 0).unwrap();
    let device = on(FaultPlan { writes_fail_from: Some((0, 28)), ..FaultPlan::default() });
    assert_eq!(device.write_at(&[0; 512], 0).unwrap_err().errno(), 28);
    assert_eq!(device.write_zeroes(3, 5).unwrap_err().errno(), 28);
    // Whoever wrote may not have looked: who closes it is told.
    assert!(matches!(device.must_be_written(), Err(DeviceError::Unwritten(512))));
    let device = on(FaultPlan { flushes_fail_from: Some(0), ..FaultPlan::default() });
    assert_eq!(device.flush().unwrap_err().errno(), 5);
    let read_only = MemStore::new(4096).read_only();
    let layout = Layout::new(512, vec![plain(0, 4096, 0)]).unwrap();
    let device = Device::new(Box::new(read_only), layout, Access::ReadWrite).unwrap();
    assert!(device.is_read_only());
    assert_eq!(device.write_at(&[0; 512], 0).unwrap_err().errno(), 30);
}
