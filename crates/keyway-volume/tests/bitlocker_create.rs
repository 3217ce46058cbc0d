//! New BitLocker volumes, judged by the other programs that read them, and field by field by the
//! volumes that Windows made.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_testkit::{
    BitLockerSecret, DislockerMount, NtfsMount, Rng, dislocker_sha256, dissect_sha256, libbde_sha256,
    require_tool, sha256_of, sha256_of_file,
};
use keyway_volume::bitlocker::{
    self, Created, Fill, Method, NewProtectors, NewVolume, RecoveryPassword, Secret, StartupKey,
    UnlockRequest,
};
use keyway_volume::mkfs::FileSystem;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
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
}

impl Wish {
    fn new(method: Method, filesystem: Option<FileSystem>) -> Self {
        Self { method, filesystem, fill: Fill::UsedSpaceOnly, to_go: false, size: 64 << 20 }
    }

    /// Makes it with all three protectors; `None` after a visible skip.
    fn make(self) -> Option<Made> {
        if let Some(fs) = self.filesystem {
            require_tool(fs.program())?;
        }
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("volume");
        File::create(&path).and_then(|file| file.set_len(self.size)).expect("its file");
        let startup_key = StartupKey::random().expect("random");
        std::fs::write(folder.path().join("key.BEK"), &startup_key.to_bytes()[..]).expect("its startup key");
        let recovery = RecoveryPassword::random().expect("random");
        let text = String::from_utf8(recovery.to_text().to_vec()).expect("digits");
        let protectors = NewProtectors {
            password: Some(SecretBytes::copy_of(PASSWORD.as_bytes())),
            recovery: Some(recovery),
            startup_key: Some(startup_key),
        };
        let store: Arc<dyn Store> = Arc::new(open(&path, OpenMode::ReadWrite));
        let new = NewVolume {
            protectors: &protectors,
            method: self.method,
            fill: self.fill,
            filesystem: self.filesystem.map(|fs| (fs, Some("INSIDE"))),
            to_go: self.to_go,
            description: "HOST INSIDE 2026-11-22",
        };
        let created = bitlocker::create(&store, &new, &()).expect("made");
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

    /// The decrypted volume as a file of its own.
    fn plain_file(&self) -> PathBuf {
        let path = self.folder.path().join("plain");
        std::fs::write(&path, self.plain()).expect("written");
        path
    }

    /// The start, the end, and around everything that lies where other bytes should be.
    fn stretches(&self) -> Vec<Range<u64>> {
        let (block, size) = (&self.created.block, self.created.layout.size());
        let places = block.copies.into_iter().chain([block.boot_backup, 0, size]);
        places.map(|at| at.saturating_sub(0x2000)..(at + 0x12000).min(size)).collect()
    }

    /// Every judge opens it by every secret, and finds what we find.
    fn judge(&self, name: &str, wish: Wish) {
        let plain = self.plain();
        let whole = sha256_of(plain.as_slice());
        let path = self.path();
        let key = self.folder.path().join("key.BEK");
        let password = BitLockerSecret::Password(PASSWORD);
        let recovery = BitLockerSecret::Recovery(&self.recovery);
        let startup = BitLockerSecret::StartupKey(&key);
        for secret in [password, recovery, startup] {
            if let Some(found) = dislocker_sha256(&path, secret) {
                assert_eq!(found, whole, "{name}: dislocker by {secret:?}");
            }
            // libbde asks the file system for its size, and takes it for FAT in To Go volumes, for
            // NTFS in all others.
            let known = wish.filesystem == Some(if wish.to_go { FileSystem::Fat } else { FileSystem::Ntfs });
            if known
                && wish.method != Method::Xts256
                && let Some(found) = libbde_sha256(&path, secret)
            {
                assert_eq!(found, whole, "{name}: libbde by {secret:?}");
            }
        }
        let all = matches!(wish.method, Method::Cbc128 | Method::Cbc256) || is_slow();
        let stretches = if all { vec![0..plain.len() as u64] } else { self.stretches() };
        let ours: Vec<u8> =
            stretches.iter().flat_map(|s| plain[s.start as usize..s.end as usize].iter().copied()).collect();
        for secret in [password, recovery, startup] {
            if let Some(found) = dissect_sha256(&path, secret, &stretches) {
                assert_eq!(found, sha256_of(ours.as_slice()), "{name}: dissect.fve by {secret:?}");
            }
        }
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
                made.judge(&name, wish);
            }
        }
    }
}

#[test]
fn every_judge_reads_to_go_volumes() {
    let wish = Wish { to_go: true, ..Wish::new(Method::Xts128, Some(FileSystem::Fat)) };
    let Some(made) = wish.make() else { return };
    made.judge("to go", wish);
}
