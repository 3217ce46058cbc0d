//! A volume's size is changed, and the power fails before every write and flush: it opens by one of its
//! headers, with its content; and once more the change comes to its end.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_engine::{Access, Device};
use keyway_store::{MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    BACKUP_GROUP_BYTES, HEADERS_BYTES, HashName, HeaderChoice, ResizeError, Resized, UnlockRequest, create,
    resize, unlock,
};
use keyway_volume::{Format, Secrets};
use std::sync::Arc;
use support::case::{OLD, secrets, wish};
use support::{Loss, Power};

const SMALL: u64 = 1 << 20;
const LARGE: u64 = 3 << 19;
const AROUND: u64 = HEADERS_BYTES + BACKUP_GROUP_BYTES;

fn request(secrets: &Secrets) -> UnlockRequest<'_> {
    let (format, hash) = (Some(Format::VeraCrypt), Some(HashName::Sha512));
    UnlockRequest { format, hash, ..UnlockRequest::new(secrets) }
}

/// A volume that fills so many bytes of a medium of `LARGE` ones, and its first bytes.
fn volume(bytes: u64) -> (Vec<u8>, Vec<u8>) {
    let store = Arc::new(MemStore::from_vec(Rng::new(1).bytes(bytes as usize)));
    create(&store, &wish(&secrets(OLD), "aes"), &()).expect("created");
    let content = Rng::new(2).bytes((SMALL - AROUND) as usize);
    let opened = unlock(&store, &request(&secrets(OLD))).expect("opens");
    let device = Device::new(Box::new(store.clone()), opened.layout, Access::ReadWrite).expect("fits");
    device.write_at(&content, 0).expect("written");
    let mut medium = store.snapshot();
    medium.resize(LARGE as usize, 0);
    (medium, content)
}

/// Its content and size, by whichever header opens it.
fn found(medium: &[u8], choice: HeaderChoice) -> Option<(Vec<u8>, u64)> {
    let store = MemStore::from_vec(medium.to_vec());
    let secrets = secrets(OLD);
    let opened = unlock(&store, &UnlockRequest { header: choice, ..request(&secrets) }).ok()?;
    let device = Device::new(Box::new(store), opened.layout, Access::ReadOnly).expect("fits");
    let mut content = vec![0; (SMALL - AROUND) as usize];
    device.read_at(&mut content, 0).expect("read");
    Some((content, device.size()))
}

#[test]
fn a_power_cut_leaves_a_volume_that_opens_with_its_content() {
    for (from, to) in [(SMALL, LARGE), (LARGE, SMALL)] {
        let (medium, content) = volume(from);
        let secrets = secrets(OLD);
        let run = |store: &dyn Store| resize(store, &request(&secrets), to, true, &());
        let whole = Power::new(medium.clone(), None);
        let done = run(&whole).expect("resized");
        let expected = Resized { data_bytes_before: from - AROUND, data_bytes: to - AROUND, filled: true };
        assert_eq!(done, expected);
        let steps = whole.steps();
        let after = whole.left(Loss::Nothing);
        for choice in [HeaderChoice::Primary, HeaderChoice::Backup] {
            // A smaller one is cut off where it ends.
            let (found, size) = found(&after[..to as usize], choice).expect("opens");
            assert!(found == content && size == to - AROUND, "{from} to {to}, {choice:?}");
        }
        if to > from {
            assert!(after[from as usize..].chunks(512).all(|sector| sector != [0; 512]), "it is filled");
            let old_backup = (from - BACKUP_GROUP_BYTES) as usize;
            assert!(after[old_backup..][..512] != medium[old_backup..][..512], "the old header is gone");
        }
        for cut in 0..steps {
            for loss in [Loss::All, Loss::Nothing, Loss::Some(cut), Loss::Some(cut + 99)] {
                let power = Power::new(medium.clone(), Some(cut));
                let done = run(&power);
                assert!(matches!(done, Err(ResizeError::Store(_))), "cut before {cut}: {done:?}");
                let left = power.left(loss);
                // The smaller one's file has not been cut off yet, the larger one's is large already.
                let (content_found, size) = found(&left, HeaderChoice::Auto).unwrap_or_else(|| {
                    panic!("{from} to {to}, cut before {cut}, {loss:?}: it does not open")
                });
                assert!(content_found == content, "cut before {cut}, {loss:?}: another content");
                assert!([from - AROUND, to - AROUND].contains(&size));
            }
        }
    }
}

#[test]
fn sizes_that_can_not_be_are_refused_and_nothing_is_written() {
    let (medium, _) = volume(SMALL);
    let store = MemStore::from_vec(medium.clone());
    let secrets = secrets(OLD);
    for bytes in [0, 4096, SMALL + 4096, SMALL - 4096, LARGE - 100, LARGE + 512, u64::MAX] {
        let refused = resize(&store, &request(&secrets), bytes, true, &());
        assert!(matches!(refused, Err(ResizeError::Size { wanted, .. }) if wanted == bytes), "{bytes}");
    }
    assert!(store.snapshot() == medium);
}
