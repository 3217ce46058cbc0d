//! What `fsync` promises, and what becomes of errors.

use crate::rig::{Mounted, TRANSPORTS, can_mount, device};
use keyway_engine::Access;
use keyway_store::{
    Caching, DirectFile, FaultPlan, FaultStore, FileStore, MemStore, OpenMode, Store, StoreError,
};
use keyway_testkit::require_tool;
use rustix::io::{Errno, ReadWriteFlags, pwritev2};
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// `flags` are the C library's, which are the kernel's.
fn open(mounted: &Mounted, flags: i32) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(flags);
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
        let file = open(&mounted, 0);
        let data: Vec<u8> = (0..1_500_000u32).map(|n| (n % 251) as u8).collect();
        file.write_all_at(&data, 12_345).expect("room");
        assert!(on_medium(&medium, 12_345, data.len()) != data, "the cache of this store is lazy");
        file.sync_all().expect("flushed");
        assert!(on_medium(&medium, 12_345, data.len()) == data);
    }
}

/// A file that counts how often it is flushed.
struct Counted {
    file: FileStore,
    flushes: Arc<AtomicU64>,
}

impl Store for Counted {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.file.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.file.write_at(buf, offset)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.flushes.fetch_add(1, Ordering::SeqCst);
        self.file.flush()
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.file.discard(offset, len)
    }

    fn size(&self) -> u64 {
        self.file.size()
    }

    fn sector_bytes(&self) -> u32 {
        self.file.sector_bytes()
    }

    fn is_read_only(&self) -> bool {
        self.file.is_read_only()
    }

    fn queueable(&self) -> Option<DirectFile<'_>> {
        self.file.queueable()
    }
}

#[test]
fn a_synchronous_write_is_on_the_medium_when_it_returns() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        for flags in [libc::O_DSYNC, libc::O_SYNC, libc::O_DSYNC | libc::O_DIRECT] {
            let (store, medium) = faulty(FaultPlan::default());
            let Some(mounted) = Mounted::new(device(store, Access::ReadWrite), transport) else { continue };
            let file = open(&mounted, flags);
            file.write_all_at(&[5; 12_288], 512).expect("room");
            assert!(on_medium(&medium, 512, 12_288) == [5; 12_288], "{flags:#o} over {transport}");
            // More than one request of the kernel's.
            file.write_all_at(&[6; 3 << 20], 4096).expect("room");
            assert!(on_medium(&medium, 4096, 3 << 20) == [6; 3 << 20], "{flags:#o} over {transport}");
        }
    }
}

#[test]
fn one_write_alone_can_be_synchronous() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        for flags in [libc::RWF_DSYNC, libc::RWF_SYNC] {
            let (store, medium) = faulty(FaultPlan::default());
            let Some(mounted) = Mounted::new(device(store, Access::ReadWrite), transport) else { continue };
            let file = open(&mounted, 0);
            file.write_all_at(&[4; 10_000], 700).expect("room");
            assert!(on_medium(&medium, 700, 10_000) != [4; 10_000], "the others are not");
            let flags = ReadWriteFlags::from_bits_retain(flags as u32);
            let written = pwritev2(&file, &[IoSlice::new(&[5; 10_000])], 20_000, flags);
            assert_eq!(written, Ok(10_000));
            assert!(on_medium(&medium, 20_000, 10_000) == [5; 10_000], "{flags:?} over {transport}");
        }
    }
}

#[test]
fn dd_with_dsync_flushes_the_medium_once_a_block() {
    if !can_mount() || require_tool("dd").is_none() {
        return;
    }
    for transport in TRANSPORTS {
        for caching in [Caching::Direct, Caching::Buffered] {
            for (flag, expected) in [("dsync", 10), ("sync", 10), ("noatime", 0)] {
                let medium = tempfile::NamedTempFile::new().expect("a file");
                medium.as_file().set_len(SIZE as u64).expect("room");
                let file = FileStore::open(medium.path(), OpenMode::ReadWrite, caching).expect("it is ours");
                let flushes = Arc::new(AtomicU64::new(0));
                let store = Counted { file, flushes: Arc::clone(&flushes) };
                let Some(mounted) = Mounted::new(device(store, Access::ReadWrite), transport) else {
                    continue;
                };
                let done = Command::new("dd")
                    .args(["if=/dev/zero", "bs=4k", "count=10", "conv=notrunc"])
                    .args([format!("oflag={flag}"), format!("of={}", mounted.file().display())])
                    .output();
                let done = done.expect("it starts");
                assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                let flushes = flushes.load(Ordering::SeqCst);
                assert_eq!(flushes, expected, "oflag={flag}, {caching:?}, over {transport}");
            }
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
        let file = open(&mounted, 0);
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
        let file = open(&mounted, 0);
        file.write_all_at(&[6; 4096], 0).expect("the first write works");
        assert_eq!(errno(file.write_all_at(&[7; 4096], 8192)), Some(Errno::NOSPC));
        assert_eq!(errno(file.read_exact_at(&mut [0; 4096], 0)), Some(Errno::IO));
        file.sync_all().expect("flushing works");
        assert_eq!(on_medium(&medium, 0, 4096), [6; 4096], "what was written before is not lost");
    }
}
