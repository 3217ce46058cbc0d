//! A BitLocker volume's size is changed and its metadata moves, and the power fails before every write and flush: it
//! opens with its content, and once more the change comes to its end.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::ConvertError;
use keyway_convert::bitlocker::{content_capacity, relocate_below};
use keyway_store::{MemStore, Store};
use keyway_testkit::{Rng, require_tool};
use keyway_volume::bitlocker::{
    BOOT_BYTES, CopyState, Metadata, MetadataLocations, Resizable, ResizeError, look,
};
use std::process::Command;
use std::sync::Arc;
use support::bitlocker::{Case, content, opened};
use support::{Loss, Power};

const SMALL: u64 = 1 << 20;
const LARGE: u64 = 2 << 20;

fn memory(medium: &[u8]) -> Arc<dyn Store> {
    Arc::new(MemStore::from_vec(medium.to_vec()))
}

/// What the command line does, wherever the last one stopped.
fn resized(store: &dyn Store, key: &[u8], to: u64) -> Result<(), ResizeError> {
    let unlocked = opened(store, key);
    if unlocked.opened.metadata.boot.copies != unlocked.opened.metadata.block().copies {
        let refused = Resizable::of(opened(store, key));
        assert!(matches!(refused, Err(ResizeError::Unsupported(_, keyway_error::Advice::RepairHeaders))));
        let repaired = unlocked.opened.repair(store);
        repaired.map_err(|_| ResizeError::Unsupported("no power", keyway_error::Advice::Retry))?;
    }
    let mut volume = Resizable::of(opened(store, key))?;
    let places = MetadataLocations::at_the_end(to, BOOT_BYTES);
    if to > volume.bytes() {
        volume.fill(store, to, &())?;
        volume.set_bytes(store, to)?;
    }
    if volume.taken()[0].start != places.copies[0] {
        volume.relocate(store, &places)?;
    }
    volume.set_bytes(store, to)
}

/// Everything of it is where it should be.
fn is_resized(medium: &[u8], key: &[u8], to: u64, plain: &[u8]) {
    let store = memory(&medium[..to as usize]);
    let metadata = Metadata::read(&store).expect("there");
    assert!(metadata.states().iter().all(|state| *state == CopyState::Good));
    let places = MetadataLocations::at_the_end(to, BOOT_BYTES);
    assert_eq!((metadata.boot.copies, metadata.block().copies), (places.copies, places.copies));
    assert_eq!(metadata.block().boot_backup, places.boot_backup);
    let info = look(&store).expect("a volume").info;
    assert_eq!((info.encrypted_bytes, info.data_bytes), (to, to));
    assert!(content(&store, key)[..plain.len()] == *plain, "the content is another");
}

#[test]
fn a_power_cut_leaves_a_volume_that_opens_with_its_content() {
    let case = Case::decryption("resized", false, false).expect("needs no tool");
    let (key, plain) = (&case.key, &case.plain[..case.file_system_bytes as usize]);
    assert!(case.file_system_bytes <= content_capacity(SMALL));
    let mut small = case.image.clone();
    small.extend(Rng::new(3).bytes((LARGE - SMALL) as usize));
    let large = {
        let store = MemStore::from_vec(small.clone());
        resized(&store, key, LARGE).expect("larger");
        store.snapshot()
    };
    for (medium, from, to) in [(&small, SMALL, LARGE), (&large, LARGE, SMALL)] {
        let whole = Power::new(medium.clone(), None);
        resized(&whole, key, to).expect("resized");
        let steps = whole.steps();
        let after = whole.left(Loss::Nothing);
        is_resized(&after, key, to, plain);
        // Nothing of the old metadata is left.
        let old = MetadataLocations::at_the_end(from, BOOT_BYTES);
        for at in old.copies {
            assert!(!after[at as usize..].starts_with(b"-FVE-FS-"));
        }
        if to > from {
            let new = from as usize..MetadataLocations::at_the_end(to, BOOT_BYTES).start as usize;
            let mut sectors = after[new.clone()].chunks(512).zip(small[new].chunks(512));
            assert!(sectors.all(|(is, was)| is != was), "it is filled");
        }
        let checked = |left: Vec<u8>, when: &str| {
            let store = memory(&left);
            assert!(content(&store, key)[..plain.len()] == *plain, "{when}: another content");
            let bytes = look(&store).expect("a volume").info.encrypted_bytes;
            assert!([from, to].contains(&bytes), "{when}: {bytes}");
            let again = MemStore::from_vec(left);
            resized(&again, key, to).unwrap_or_else(|e| panic!("{when}: {e}"));
            is_resized(&again.snapshot(), key, to, plain);
        };
        for cut in 0..steps {
            for loss in
                [Loss::All, Loss::Nothing, Loss::Some(cut), Loss::Some(cut + 99), Loss::Some(cut + 999)]
            {
                let power = Power::new(medium.clone(), Some(cut));
                assert!(resized(&power, key, to).is_err(), "cut before {cut}");
                checked(power.left(loss), &format!("{from} to {to}, cut before {cut} of {steps}, {loss:?}"));
            }
        }
        // The first sector is torn at every byte where it changes.
        for at in 170..206 {
            for begins in [true, false] {
                let power = Power::failing_behind_the_front(medium.clone(), 1);
                assert!(resized(&power, key, to).is_err());
                let loss = Loss::Front { at, begins, others: true };
                checked(power.left(loss), &format!("{from} to {to}, {loss:?}"));
            }
        }
    }
}

#[test]
fn sizes_and_places_that_can_not_be_are_refused() {
    let case = Case::decryption("refused", false, false).expect("needs no tool");
    let mut medium = case.image.clone();
    medium.resize(LARGE as usize, 0);
    let store = MemStore::from_vec(medium.clone());
    let volume = || Resizable::of(opened(&store, &case.key)).expect("whole");
    for bytes in [0, SMALL - 8192, LARGE + 512, LARGE - 100, u64::MAX] {
        let refused = volume().set_bytes(&store, bytes);
        assert!(matches!(refused, Err(ResizeError::Size { wanted, .. }) if wanted == bytes), "{bytes}");
    }
    for bytes in [SMALL + 4096, SMALL - 4096, SMALL - (200 << 10)] {
        let places = MetadataLocations::at_the_end(bytes, BOOT_BYTES);
        assert!(matches!(volume().may_have(bytes, Some(&places)), Err(ResizeError::Size { .. })), "{bytes}");
        assert!(matches!(volume().relocate(&store, &places), Err(ResizeError::Unsupported(..))), "{bytes}");
    }
    assert!(store.snapshot() == medium);
}

/// Within NTFS, from where it is to be cut off.
#[test]
fn metadata_moves_within_a_file_system() {
    const END: u64 = 6 << 20;
    let Some(case) = Case::of_ntfs(8 << 20, 4096) else { return };
    let run = |store: &Arc<dyn Store>| -> Result<(), ConvertError> {
        let mut volume = Resizable::of(opened(store, &case.key))?;
        relocate_below(store, &mut volume, END)
    };
    let taken = |store: &Arc<dyn Store>| Resizable::of(opened(store, &case.key)).expect("whole").taken();
    let before = memory(&case.image);
    let (old, was) = (taken(&before), content(&before, &case.key));
    let whole = Arc::new(Power::new(case.image.clone(), None));
    run(&(whole.clone() as Arc<dyn Store>)).expect("moved");
    let steps = whole.steps();
    let after = memory(&Arc::into_inner(whole).expect("nobody else has it").left(Loss::All));
    let (new, is) = (taken(&after), content(&after, &case.key));
    assert!(new.iter().all(|range| range.end <= END && !old.iter().any(|o| o.contains(&range.start))));
    let places: Vec<_> = old.iter().chain(&new).collect();
    let page = |at: usize| at..at + 4096;
    let differ = (0..was.len()).step_by(4096).filter(|at| was[page(*at)] != is[page(*at)]);
    assert!(differ.filter(|at| !places.iter().any(|range| range.contains(&(*at as u64)))).count() <= 2);
    for cut in 0..steps {
        for loss in [Loss::All, Loss::Nothing] {
            let power = Arc::new(Power::new(case.image.clone(), Some(cut)));
            assert!(run(&(power.clone() as Arc<dyn Store>)).is_err(), "cut before {cut}");
            let left = memory(&Arc::into_inner(power).expect("nobody else has it").left(loss));
            let found = content(&left, &case.key);
            for at in (0..found.len()).step_by(4096) {
                let found = &found[page(at)];
                let free = places.iter().any(|range| range.contains(&(at as u64)));
                // Its map and the record of bad clusters change in several writes.
                let map = was[page(at)] != is[page(at)];
                assert!(free || map || found == &was[page(at)], "cut before {cut}, {loss:?}: {at}");
            }
        }
    }
    let ntfsresize = require_tool("ntfsresize").expect("with mkfs.ntfs");
    let file = tempfile::NamedTempFile::new().expect("temp");
    std::fs::write(file.path(), &is).expect("written");
    for words in [vec!["--info"], vec!["--size", "6000000"], vec!["--info"]] {
        let mut command = Command::new(&ntfsresize);
        command.args(["--force", "--force", "--bad-sectors"]).args(&words).arg(file.path());
        let done = command.output().expect("runs");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stdout));
    }
}
