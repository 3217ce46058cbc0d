//! The drive's blocks as a store, and in a model's time.

use crate::rig::*;
use keyway_model::{Clock, DriveModel, SparseStore};
use keyway_sed::uid::authority;
use keyway_store::{MemStore, Store};
use keyway_virtual_drive::DriveStore;
use keyway_virtual_drive::modelled::{self, Engine};
use std::io::ErrorKind;
use std::sync::Arc;

#[test]
fn requests_of_any_offset_and_length_are_served_and_locked_ones_refused() {
    let drive = Arc::new(activated(store(), b"owner"));
    let blocks = DriveStore::new(drive.clone());
    let model = MemStore::new(blocks.size() as usize);
    // Knuth's MMIX generator: any sequence does.
    let mut state = 7u64;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let zeros = vec![0; 64 * 1024];
    for at in (0..blocks.size()).step_by(zeros.len()) {
        blocks.write_at(&zeros, at).unwrap();
    }
    for _ in 0..300 {
        let len = 1 + below(9000) as usize;
        let offset = below(blocks.size() - len as u64);
        let mut bytes = vec![0; len];
        if below(2) == 0 {
            bytes.fill(1 + below(255) as u8);
            blocks.write_at(&bytes, offset).unwrap();
            model.write_at(&bytes, offset).unwrap();
        } else {
            let mut expected = vec![0; len];
            blocks.read_at(&mut bytes, offset).unwrap();
            model.read_at(&mut expected, offset).unwrap();
            assert_eq!(bytes, expected, "{len} bytes at {offset}");
        }
    }
    let past = blocks.read_at(&mut [0; 2], blocks.size() - 1).unwrap_err();
    assert_eq!(past.source.kind(), ErrorKind::UnexpectedEof);
    set_up_range(&drive, b"owner", 1, 1024, 64);
    lock(&drive, authority::admin(1), b"owner", 1, true, true).unwrap();
    let mut byte = [0xee];
    let locked = blocks.read_at(&mut byte, 1030 * 512 + 3).unwrap_err();
    assert_eq!((locked.source.kind(), byte), (ErrorKind::PermissionDenied, [0xee]));
    assert!(blocks.write_at(&[1], 1030 * 512 + 3).is_err());
    assert!(blocks.discard(1000 * 512, 100 * 512).is_err());
}

#[test]
fn a_modelled_drive_is_set_up_encrypts_and_takes_the_models_time() {
    let model = DriveModel::named("samsung-990-pro").expect("a shipped model");
    let size = 64 << 20;
    let blocks = Arc::new(SparseStore::new(size, model.sector_bytes));
    let plain = keyway_model::ModelDrive::over(
        model.clone(),
        Clock::simulated(),
        Box::new(SparseStore::new(size, model.sector_bytes)),
    );
    let made =
        modelled::set_up(model, Clock::simulated(), Engine::Computed, blocks.clone()).expect("it is set up");
    assert_eq!(made.drive.size(), size);
    let text = [0x5a; 4096];
    for store in [&made.drive, &plain] {
        store.write_at(&text, 4096 * 5).unwrap();
    }
    let mut raw = [0; 4096];
    blocks.read_at(&mut raw, 4096 * 5).unwrap();
    assert_ne!(raw, text, "the medium holds cipher text");
    for store in [&made.drive, &plain] {
        let mut back = [0; 4096];
        store.read_at(&mut back, 4096 * 5).unwrap();
        assert_eq!(back, text);
    }
    // The same requests take the same time: the cipher's lies inside the model's.
    assert_eq!(made.drive.clock().now(), plain.clock().now());
    made.security.power_cycle().unwrap();
    assert!(made.drive.read_at(&mut raw, 4096 * 5).is_err(), "it locks as any drive does");
    lock(&made.security, authority::admin(1), &made.pin, 0, false, false).unwrap();
    made.drive.read_at(&mut raw, 4096 * 5).unwrap();
    assert_eq!(raw, text);
}

#[test]
fn an_engine_in_the_model_leaves_the_blocks_alone_and_locks_all_the_same() {
    let model = DriveModel::named("samsung-990-pro").expect("a shipped model");
    let blocks = Arc::new(SparseStore::new(64 << 20, model.sector_bytes));
    let made = modelled::set_up(model, Clock::simulated(), Engine::InTheModel, blocks.clone())
        .expect("it is set up");
    let (text, mut raw) = ([0x5a; 4096], [0; 4096]);
    made.drive.write_at(&text, 4096 * 5).unwrap();
    blocks.read_at(&mut raw, 4096 * 5).unwrap();
    assert_eq!(raw, text);
    made.security.power_cycle().unwrap();
    assert!(made.drive.read_at(&mut raw, 4096 * 5).is_err(), "it locks as any drive does");
    assert!(made.drive.write_at(&text, 4096 * 5).is_err());
    lock(&made.security, authority::admin(1), &made.pin, 0, false, false).unwrap();
    made.drive.read_at(&mut raw, 4096 * 5).unwrap();
    assert_eq!(raw, text, "a power cycle has not brought the cipher back");
}

/// A drive that encrypts by itself is ready at once because nothing of what is on it is moved.
#[test]
fn setting_a_drive_up_that_encrypts_by_itself_touches_no_data() {
    let before: Vec<u8> = (0..4 << 20).map(|n: u32| (n.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    let blocks = Arc::new(MemStore::from_vec(before.clone()));
    let model = DriveModel::named("crucial-m500").expect("shipped");
    modelled::set_up(model, Clock::simulated(), Engine::InTheModel, blocks.clone()).expect("it is set up");
    let mut after = vec![0; before.len()];
    blocks.read_at(&mut after, 0).expect("memory");
    assert!(before == after);
}
