//! A volume through a queue shows the same bytes as through a device.

use crate::cipher;
use keyway_engine::{Access, Device, Layout, LayoutQueue, Mapping, Segment};
use keyway_model::{Clock, DriveModel, ModelDrive};
use keyway_store::{Action, AlignedBuf, Queue, Request};
use std::sync::Arc;

const ENCRYPTED: u64 = 1 << 20;
const PLAIN: u64 = 64 << 10;

fn layout() -> Layout {
    let encrypted = Mapping::Encrypted { store_offset: 131_072, first_unit: 256, cipher: cipher(5, 512) };
    let segments = vec![
        Segment { start: 0, len: ENCRYPTED, mapping: encrypted },
        Segment { start: ENCRYPTED, len: PLAIN, mapping: Mapping::Plain { store_offset: 4096 } },
        Segment { start: ENCRYPTED + PLAIN, len: 4096, mapping: Mapping::Zero },
    ];
    Layout::new(512, segments).unwrap()
}

fn request(tag: u64, action: Action, offset: u64, byte: u8) -> Request {
    let mut buf = AlignedBuf::zeroed(4096);
    buf.fill(byte);
    Request { tag, action, offset, buf }
}

#[test]
fn the_queue_and_the_device_agree() {
    let drive = ModelDrive::new(DriveModel::named("samsung-990-pro").unwrap(), Clock::simulated());
    let device = Device::new(Box::new(drive.clone()), layout(), Access::ReadWrite).unwrap();
    let mut queue = LayoutQueue::new(Arc::new(layout()), drive.queue());
    let places: Vec<u64> = (0..(ENCRYPTED + PLAIN) / 4096).map(|n| n * 4096).collect();
    let byte = |offset: u64| (offset >> 12) as u8 ^ 0x5a;
    for (tag, offset) in places.iter().enumerate() {
        queue.submit(request(tag as u64, Action::Write, *offset, byte(*offset))).unwrap();
    }
    let mut done = Vec::new();
    queue.complete(places.len(), &mut done).unwrap();
    assert!(done.iter().all(|c| c.result.is_ok()));
    done.clear();
    for offset in &places {
        let mut back = [0; 4096];
        device.read_at(&mut back, *offset).unwrap();
        assert_eq!(back, [byte(*offset); 4096], "{offset}");
        device.write_at(&[!byte(*offset); 4096], *offset).unwrap();
        queue.submit(request(*offset + 7, Action::Read, *offset, 0)).unwrap();
    }
    while queue.in_flight() > 0 {
        queue.complete(3, &mut done).unwrap();
    }
    assert_eq!(done.len(), places.len());
    for c in &done {
        assert_eq!(c.tag, c.offset + 7);
        assert!(c.buf.iter().all(|b| *b == !byte(c.offset)), "{}", c.offset);
    }
}

/// Bytes that differ from place to place.
fn pattern(offset: u64, len: usize, salt: u8) -> Vec<u8> {
    (offset..).take(len).map(|at| (at >> 9) as u8 ^ (at % 251) as u8 ^ salt).collect()
}

/// Requests of more than a piece, of odd sizes, and small ones between them.
const LARGE: [(u64, usize); 5] =
    [(512, 262_144), (300 << 10, 65_536), (400 << 10, 65_536 + 512), (512 << 10, 4096), (600 << 10, 200_704)];

#[test]
fn large_requests_in_pieces_show_the_same_bytes_as_the_device() {
    let drive = ModelDrive::new(DriveModel::named("samsung-990-pro").unwrap(), Clock::simulated());
    let device = Device::new(Box::new(drive.clone()), layout(), Access::ReadWrite).unwrap();
    let mut queue = LayoutQueue::new(Arc::new(layout()), drive.queue());
    let mut done = Vec::new();
    for action in [Action::Write, Action::Read] {
        for (tag, (offset, len)) in (0..).zip(LARGE) {
            let mut buf = AlignedBuf::zeroed(len);
            if action == Action::Write {
                buf.copy_from_slice(&pattern(offset, len, 1));
            } else {
                device.write_at(&pattern(offset, len, 2), offset).unwrap();
            }
            queue.submit(Request { tag, action, offset, buf }).unwrap();
        }
        assert_eq!(queue.in_flight(), LARGE.len(), "a request counts once, whatever its pieces");
        // One at a time, by either way of waiting.
        while queue.in_flight() > 0 {
            let before = done.len();
            match before % 2 {
                0 => queue.complete(1, &mut done).unwrap(),
                _ => queue.complete_before(u64::MAX, &mut done).unwrap(),
            }
            assert!(done.len() > before);
        }
        for c in done.drain(..) {
            let (offset, len) = LARGE[c.tag as usize];
            c.result.unwrap();
            assert_eq!((c.action, c.offset, c.buf.len()), (action, offset, len));
            if action == Action::Read {
                assert!(*c.buf == *pattern(offset, len, 2), "{offset}");
                continue;
            }
            let mut back = vec![0; len];
            device.read_at(&mut back, offset).unwrap();
            assert!(back == pattern(offset, len, 1), "{offset}");
        }
    }
}

/// With real time: what a worker does takes some. Whether one is there, and how much it gets, the machine says.
#[test]
fn whoever_ciphers_the_bytes_are_the_same() {
    let drive = ModelDrive::new(DriveModel::named("samsung-990-pro").unwrap(), Clock::real());
    let device = Device::new(Box::new(drive.clone()), layout(), Access::ReadWrite).unwrap();
    let mut done = Vec::new();
    for (round, len) in (0u8..).zip([65_536, 262_144, 4096, 131_072, 1 << 20, 69_632, 512]) {
        let mut queue = LayoutQueue::with_workers(Arc::new(layout()), drive.queue());
        let places = || (0..ENCRYPTED / len as u64).map(|n| n * len as u64);
        for action in [Action::Write, Action::Read] {
            for offset in places() {
                let mut buf = AlignedBuf::zeroed(len);
                if action == Action::Write {
                    buf.copy_from_slice(&pattern(offset, len, round));
                }
                queue.submit(Request { tag: offset + 1, action, offset, buf }).unwrap();
            }
            let mut left = places().count();
            while queue.in_flight() > 0 {
                match left % 3 {
                    0 => queue.complete(1, &mut done).unwrap(),
                    1 => queue.complete_before(u64::MAX, &mut done).unwrap(),
                    _ => queue.complete(0, &mut done).unwrap(),
                }
                for c in done.drain(..) {
                    left -= 1;
                    c.result.unwrap();
                    assert_eq!((c.tag, c.action, c.buf.len()), (c.offset + 1, action, len));
                    if action == Action::Read {
                        assert!(*c.buf == *pattern(c.offset, len, round), "{len} at {}", c.offset);
                        continue;
                    }
                    let mut back = vec![0; len];
                    device.read_at(&mut back, c.offset).unwrap();
                    assert!(back == pattern(c.offset, len, round), "{len} at {}", c.offset);
                }
            }
            assert_eq!(left, 0);
        }
    }
}

#[test]
fn a_piece_that_fails_fails_its_request_and_no_other() {
    let model = DriveModel::named("samsung-990-pro").unwrap();
    // Too small for the last piece of one of two.
    let store = keyway_store::MemStore::new(131_072 + (200 << 10));
    let drive = ModelDrive::over(model, Clock::simulated(), Box::new(store));
    let mut queue = LayoutQueue::new(Arc::new(layout()), drive.queue());
    for action in [Action::Read, Action::Write] {
        for (tag, offset) in [(1, 0), (2, 56 << 10)] {
            queue.submit(Request { tag, action, offset, buf: AlignedBuf::zeroed(150 << 10) }).unwrap();
        }
        let mut done = Vec::new();
        queue.complete(2, &mut done).unwrap();
        done.sort_by_key(|c| c.tag);
        assert_eq!(
            done.iter().map(|c| (c.tag, c.result.is_ok())).collect::<Vec<_>>(),
            [(1, true), (2, false)]
        );
        assert!(done.iter().all(|c| c.buf.len() == 150 << 10), "the buffers come back");
        assert_eq!(queue.in_flight(), 0);
    }
}

#[test]
fn what_the_layout_does_not_store_is_refused_in_the_completion() {
    let drive = ModelDrive::new(DriveModel::named("samsung-990-pro").unwrap(), Clock::simulated());
    let mut queue = LayoutQueue::new(Arc::new(layout()), drive.queue());
    let wrong = [
        (Action::Read, ENCRYPTED - 2048),      // two segments
        (Action::Read, 100),                   // no whole units
        (Action::Write, ENCRYPTED + PLAIN),    // metadata
        (Action::Read, ENCRYPTED + PLAIN + 1), // past the end
        (Action::Write, u64::MAX),
    ];
    for (tag, (action, offset)) in wrong.iter().enumerate() {
        queue.submit(request(tag as u64, *action, *offset, 0)).unwrap();
    }
    queue.submit(request(99, Action::Flush, 0, 0)).unwrap();
    assert_eq!(queue.in_flight(), wrong.len() + 1);
    let mut done = Vec::new();
    queue.complete(usize::MAX, &mut done).unwrap();
    assert_eq!(done.len(), wrong.len() + 1);
    for c in &done {
        assert_eq!(c.result.is_ok(), c.tag == 99, "request {}", c.tag);
    }
    assert_eq!(queue.in_flight(), 0);
}
