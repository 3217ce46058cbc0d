//! A volume through a queue shows the same bytes as through a device.

use crate::cipher;
use keyway_engine::{Access, Device, Layout, LayoutQueue, Mapping, Segment};
use keyway_store::model::{Clock, DriveModel, ModelDrive};
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
