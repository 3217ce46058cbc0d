//! New BitLocker volumes, judged by the other programs that read them, and field by field by the
//! volumes that Windows made.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_engine::{Access, Device};
use keyway_fs::mkfs::FileSystem;
use keyway_secret::SecretBytes;
use keyway_store::{Caching, FaultPlan, FaultStore, FileStore, MemStore, OpenMode, Store};
use keyway_testkit::{
    BitLockerSecret, Rng, dislocker_sha256, dissect_sha256, libbde_sha256, require_tool, sha256_of,
};
use keyway_volume::bitlocker::{
    self, Created, Fill, Method, NewProtectors, NewVolume, RecoveryPassword, Secret, StartupKey,
    UnlockRequest,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// In ASCII: dislocker 0.7 knows no other.
const PASSWORD: &str = "correct horse battery";
const METHODS: [Method; 4] = [Method::Xts128, Method::Xts256, Method::Cbc128, Method::Cbc256];
const FILE_SYSTEMS: [Option<FileSystem>; 4] =
    [Some(FileSystem::Ntfs), Some(FileSystem::ExFat), Some(FileSystem::Fat), None];

/// A volume in a temporary folder.
struct Made {
    folder: TempDir,
    recovery: String,
    created: Created,
}

/// What a volume is made with.
#[derive(Clone, Copy)]
struct Wish {
    method: Method,
    filesystem: Option<FileSystem>,
    fill: Fill,
    to_go: bool,
    size: u64,
    sector_bytes: u32,
}

impl Wish {
    fn new(method: Method, filesystem: Option<FileSystem>) -> Self {
        Self {
            method,
            filesystem,
            fill: Fill::UsedSpaceOnly,
            to_go: false,
            size: 64 << 20,
            sector_bytes: 512,
        }
    }

    /// Makes it with all three protectors; `None` after a visible skip.
    fn make(self) -> Option<Made> {
        if let Some(fs) = self.filesystem {
            require_tool(fs.program())?;
        }
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("volume");
        let startup_key = StartupKey::random().expect("random");
        std::fs::write(folder.path().join("key.BEK"), &startup_key.to_bytes()[..]).expect("its startup key");
        let recovery = RecoveryPassword::random().expect("random");
        let text = String::from_utf8(recovery.to_text().to_vec()).expect("digits");
        let protectors = NewProtectors {
            password: Some(SecretBytes::copy_of(PASSWORD.as_bytes())),
            recovery: Some(recovery),
            startup_key: Some(startup_key),
        };
        let medium = Arc::new(MemStore::new(self.size as usize).with_sector_bytes(self.sector_bytes));
        let store: Arc<dyn Store> = medium.clone();
        let new = NewVolume {
            protectors: &protectors,
            method: self.method,
            fill: self.fill,
            filesystem: self.filesystem.map(|fs| (fs, Some("INSIDE"))),
            to_go: self.to_go,
            description: "HOST INSIDE 2026-11-22",
        };
        let created = bitlocker::create(&store, &new, &()).expect("made");
        std::fs::write(&path, medium.snapshot()).expect("its file");
        Some(Made { folder, recovery: text, created })
    }
}

fn open(path: &Path, mode: OpenMode) -> FileStore {
    FileStore::open(path, mode, Caching::Buffered).expect("it opens")
}

impl Made {
    fn path(&self) -> PathBuf {
        self.folder.path().join("volume")
    }

    fn device(&self, access: Access) -> Device {
        let mode = if access == Access::ReadOnly { OpenMode::ReadOnly } else { OpenMode::ReadWrite };
        let store = open(&self.path(), mode);
        let secrets = [Secret::Password(SecretBytes::copy_of(PASSWORD.as_bytes()))];
        let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(&secrets)).expect("it unlocks");
        assert!(unlocked.warnings.is_empty(), "{:?}", unlocked.warnings);
        Device::new(Box::new(store), unlocked.layout, access).expect("a device")
    }

    fn plain(&self) -> Vec<u8> {
        let device = self.device(Access::ReadOnly);
        let mut plain = vec![0; device.size() as usize];
        device.read_at(&mut plain, 0).expect("it reads");
        plain
    }

    /// The start, the end, and around everything that lies where other bytes should be.
    fn stretches(&self) -> Vec<Range<u64>> {
        let (block, size) = (&self.created.block, self.created.layout.size());
        let places = block.copies.into_iter().chain([block.boot_backup, 0, size]);
        places.map(|at| at.saturating_sub(0x2000)..(at + 0x12000).min(size)).collect()
    }

    /// Every judge opens it, by these of its secrets, and finds what we find.
    fn judge(&self, name: &str, wish: Wish, secrets: &[BitLockerSecret<'_>]) {
        let plain = self.plain();
        let whole = sha256_of(plain.as_slice());
        let path = self.path();
        // libbde asks the file system for its size, and takes it for FAT in To Go volumes, for NTFS
        // in all others.
        let libbdes = wish.filesystem == Some(if wish.to_go { FileSystem::Fat } else { FileSystem::Ntfs })
            && wish.method != Method::Xts256;
        let all = matches!(wish.method, Method::Cbc128 | Method::Cbc256) || is_slow();
        for (i, secret) in secrets.iter().copied().enumerate() {
            if let Some(found) = dislocker_sha256(&path, secret) {
                assert_eq!(found, whole, "{name}: dislocker by {secret:?}");
            }
            if libbdes && let Some(found) = libbde_sha256(&path, secret) {
                assert_eq!(found, whole, "{name}: libbde by {secret:?}");
            }
            // Once is enough for all of it: what follows is the same data key.
            let stretches: Vec<_> = match (i, all) {
                (0, true) => std::iter::once(0..plain.len() as u64).collect(),
                (0, false) => self.stretches(),
                _ => std::iter::once(0..8192).collect(),
            };
            let ours: Vec<&[u8]> =
                stretches.iter().map(|s| &plain[s.start as usize..s.end as usize]).collect();
            if let Some(found) = dissect_sha256(&path, secret, &stretches) {
                assert_eq!(found, sha256_of(ours.concat().as_slice()), "{name}: dissect.fve by {secret:?}");
            }
        }
    }

    /// By each of the three kinds of secrets.
    fn judge_by_all(&self, name: &str, wish: Wish) {
        let key = self.folder.path().join("key.BEK");
        let others = [BitLockerSecret::Recovery(&self.recovery), BitLockerSecret::StartupKey(&key)];
        self.judge(name, wish, &[&[BitLockerSecret::Password(PASSWORD)], &others[..]].concat());
    }
}

fn is_slow() -> bool {
    std::env::var_os("KEYWAY_SLOW").is_some_and(|value| value == "1")
}

/// Every method and every file system at least once; all pairs in the long run.
#[test]
fn every_judge_reads_every_volume() {
    for (i, method) in METHODS.into_iter().enumerate() {
        for (j, filesystem) in FILE_SYSTEMS.into_iter().enumerate() {
            if i == j || is_slow() {
                let name = format!("{} with {filesystem:?}", method.name());
                let wish = Wish::new(method, filesystem);
                let Some(made) = wish.make() else { continue };
                if i == 0 || is_slow() {
                    made.judge_by_all(&name, wish);
                } else {
                    made.judge(&name, wish, &[BitLockerSecret::Password(PASSWORD)]);
                }
            }
        }
    }
}

#[test]
fn every_judge_reads_to_go_volumes() {
    let wish = Wish { to_go: true, ..Wish::new(Method::Xts128, Some(FileSystem::Fat)) };
    let Some(made) = wish.make() else { return };
    made.judge_by_all("to go", wish);
}

#[test]
fn every_judge_reads_large_sectors() {
    let wish = Wish { sector_bytes: 4096, ..Wish::new(Method::Xts128, Some(FileSystem::Ntfs)) };
    let Some(made) = wish.make() else { return };
    made.judge("sectors of 4096 bytes", wish, &[BitLockerSecret::Password(PASSWORD)]);
}

/// What Keyway writes, all over the volume and over the edges of what lies elsewhere, dislocker and
/// dissect.fve read; the metadata's own bytes read as zeros and take no writes.
#[test]
fn writes_are_read_by_the_judges() {
    for method in METHODS {
        let wish = Wish { fill: Fill::Full, ..Wish::new(method, None) };
        let Some(made) = wish.make() else { return };
        let device = made.device(Access::ReadWrite);
        let mut rng = Rng::new(7);
        for (at, len) in
            [(0, 20_000), (8191, 2), (33 << 20, 300_001), (made.created.usable_bytes - 4096, 4096)]
        {
            device.write_at(&rng.bytes(len), at).expect("it is data");
        }
        let block = &made.created.block;
        for at in block.copies.into_iter().chain([block.boot_backup]) {
            assert!(device.write_at(&[1; 512], at).is_err(), "{at}");
            let mut zeros = [1; 4096];
            device.read_at(&mut zeros, at).expect("it reads");
            assert_eq!(zeros, [0; 4096]);
        }
        device.flush().expect("flushed");
        drop(device);
        made.judge(method.name(), wish, &[BitLockerSecret::Password(PASSWORD)]);
    }
}

/// The power fails before every write and flush: what is left is the old volume, no volume, or the
/// new one, whole. A cache loses all that was not flushed, or keeps some of it.
#[test]
fn a_volume_half_made_is_none() {
    let old = StartupKey::random().expect("random");
    let protectors = |key: &StartupKey| NewProtectors {
        startup_key: StartupKey::parse(&key.to_bytes()).ok(),
        ..NewProtectors::default()
    };
    for to_go in [false, true] {
        let make = |store: &Arc<dyn Store>, key: &StartupKey| {
            let new = NewVolume {
                protectors: &protectors(key),
                method: Method::Xts128,
                fill: Fill::UsedSpaceOnly,
                filesystem: None,
                to_go,
                description: "",
            };
            bitlocker::create(store, &new, &())
        };
        let before = Arc::new(MemStore::new(64 << 20));
        let store: Arc<dyn Store> = before.clone();
        make(&store, &old).expect("made");
        let image = before.snapshot();
        let key = StartupKey::random().expect("random");
        for survivors in [None, Some(3)] {
            let medium = || MemStore::from_vec(image.clone());
            let whole = Arc::new(FaultStore::new(medium(), FaultPlan::default()));
            let store: Arc<dyn Store> = whole.clone();
            make(&store, &key).expect("it works when nothing fails");
            let steps = whole.steps();
            assert!(steps > 8, "{steps}");
            let mut seen = [0; 3];
            for cut in 0..steps {
                let plan = FaultPlan { power_cut_before: Some(cut), survivors, ..FaultPlan::default() };
                let faulty = Arc::new(FaultStore::new(medium(), plan));
                let store: Arc<dyn Store> = faulty.clone();
                assert!(make(&store, &key).is_err(), "a cut is an error");
                drop(store);
                let left =
                    Arc::into_inner(faulty).expect("nobody else has it").into_medium().expect("a medium");
                let when = format!("cut before step {cut} of {steps}, survivors {survivors:?}");
                if !bitlocker::is_volume(&left).expect("memory") {
                    seen[1] += 1;
                } else if opens(&left, &old) {
                    seen[0] += 1;
                } else {
                    assert!(opens(&left, &key), "{when}");
                    seen[2] += 1;
                }
            }
            assert!(seen[0] > 0 && seen[1] > 4, "{seen:?}");
        }
    }
}

/// Whether that startup key opens it and all three copies are good.
fn opens(store: &dyn Store, key: &StartupKey) -> bool {
    let secrets = [Secret::StartupKey(StartupKey::parse(&key.to_bytes()).expect("its own"))];
    bitlocker::unlock(store, &UnlockRequest::new(&secrets)).is_ok_and(|unlocked| {
        assert!(unlocked.warnings.is_empty(), "{:?}", unlocked.warnings);
        true
    })
}
