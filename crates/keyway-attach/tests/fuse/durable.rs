//! What `fsync` promises, and what becomes of errors.

use crate::rig::{Mounted, TRANSPORTS, can_mount, device};
use keyway_engine::Access;
use keyway_store::{FaultPlan, FaultStore, MemStore};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;

const SIZE: usize = 4 << 20;

/// A store whose cache loses everything that was not flushed, and what lies behind it.
fn faulty(plan: FaultPlan) -> (FaultStore<Arc<MemStore>>, Arc<MemStore>) {
    let medium = Arc::new(MemStore::new(SIZE));
    (FaultStore::new(Arc::clone(&medium), plan), medium)
}

/// The plain bytes on the medium, whatever caches hold.
fn on_medium(medium: &MemStore, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let plain = device(MemStore::from_vec(medium.snapshot()), Access::ReadOnly);
    plain.read_at(&mut bytes, offset).expect("readable");
    bytes
}

fn open(mounted: &Mounted, flags: OFlags) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(flags.bits() as i32);
    options.open(mounted.file()).expect("ours")
}

fn errno(result: io::Result<()>) -> Option<Errno> {
    result.err().and_then(|e| Errno::from_io_error(&e))
}

#[test]
fn after_fsync_the_bytes_are_on_the_medium() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        let (store, medium) = faulty(FaultPlan::default());
        let Some(mounted) = Mounted::new(device(store, Access::ReadWrite), transport) else { continue };
        let file = open(&mounted, OFlags::empty());
        let data: Vec<u8> = (0..1_500_000u32).map(|n| (n % 251) as u8).collect();
        file.write_all_at(&data, 12_345).expect("room");
        assert!(on_medium(&medium, 12_345, data.len()) != data, "the cache of this store is lazy");
        file.sync_all().expect("flushed");
        assert!(on_medium(&medium, 12_345, data.len()) == data);
    }
}

#[test]
fn a_synchronous_write_is_on_the_medium_when_it_returns() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        for flags in [OFlags::DSYNC, OFlags::SYNC] {
            let (store, medium) = faulty(FaultPlan::default());
            let Some(mounted) = Mounted::new(device(store, Access::ReadWrite), transport) else { continue };
            open(&mounted, flags).write_all_at(&[5; 10_000], 700).expect("room");
            assert_eq!(on_medium(&medium, 700, 10_000), [5; 10_000]);
        }
    }
}

#[test]
fn a_flush_that_fails_reaches_the_application() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        let (store, _) = faulty(FaultPlan { flushes_fail_from: Some(0), ..FaultPlan::default() });
        let Some(mounted) = Mounted::new(device(store, Access::ReadWrite), transport) else { continue };
        let file = open(&mounted, OFlags::empty());
        file.write_all_at(&[5; 512], 0).expect("into the cache");
        assert_eq!(errno(file.sync_all()), Some(Errno::IO));
        assert_eq!(errno(file.sync_data()), Some(Errno::IO));
    }
}

#[test]
fn errors_of_the_medium_reach_the_application() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        let plan = FaultPlan {
            reads_fail_from: Some(0),
            writes_fail_from: Some((1, Errno::NOSPC.raw_os_error())),
            ..FaultPlan::default()
        };
        let (store, medium) = faulty(plan);
        let Some(mounted) = Mounted::new(device(store, Access::ReadWrite), transport) else { continue };
        let file = open(&mounted, OFlags::empty());
        file.write_all_at(&[6; 4096], 0).expect("the first write works");
        assert_eq!(errno(file.write_all_at(&[7; 4096], 8192)), Some(Errno::NOSPC));
        assert_eq!(errno(file.read_exact_at(&mut [0; 4096], 0)), Some(Errno::IO));
        file.sync_all().expect("flushing works");
        assert_eq!(on_medium(&medium, 0, 4096), [6; 4096], "what was written before is not lost");
    }
}
