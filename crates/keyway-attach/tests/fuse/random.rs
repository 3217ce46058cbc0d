//! Random I/O against a model: no difference, whatever the way and however many do it at once.

use crate::rig::{Mounted, Sessions, TRANSPORTS, can_mount, device};
use keyway_engine::Access;
use keyway_store::{AlignedBuf, MemStore};
use keyway_testkit::{Medium, Model, require_root};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const SIZE: usize = 8 << 20;

#[test]
fn through_the_file() {
    if !can_mount() {
        return;
    }
    for (seed, transport) in (1..).zip(TRANSPORTS) {
        let Some(mounted) = Mounted::new(device(MemStore::new(SIZE), Access::ReadWrite), transport) else {
            continue;
        };
        let file = OpenOptions::new().read(true).write(true).open(mounted.file()).expect("ours");
        let mut model = Model::of(&file, SIZE, 1, 3 << 20, seed);
        model.run(&file, 400);
        model.compare_all(&file);
    }
}

/// Part of a file.
struct Region<'a> {
    file: &'a File,
    start: u64,
}

impl Medium for Region<'_> {
    fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, self.start + offset)
    }
    fn write(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(buf, self.start + offset)
    }
    fn flush(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Neighbouring regions share a sector, so writers meet in reading, changing and writing it.
#[test]
fn many_writers_with_sectors_in_common() {
    if !can_mount() {
        return;
    }
    const REGION: usize = 300_007;
    for (seed, transport) in (10..).zip(TRANSPORTS) {
        let Some(mounted) = Mounted::new(device(MemStore::new(SIZE), Access::ReadWrite), transport) else {
            continue;
        };
        let file = OpenOptions::new().read(true).write(true).open(mounted.file()).expect("ours");
        std::thread::scope(|scope| {
            for number in 0..8u64 {
                let region = Region { file: &file, start: number * REGION as u64 };
                scope.spawn(move || {
                    let mut model = Model::of(&region, REGION, 1, 20_000, seed * 100 + number);
                    model.run(&region, 250);
                    model.compare_all(&region);
                });
            }
        });
    }
}

/// A block device opened past the page cache; the buffers have to be aligned.
struct Direct(File);

impl Direct {
    fn open(path: &Path) -> Self {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(OFlags::DIRECT.bits() as i32);
        Self(options.open(path).expect("root may open it"))
    }
}

impl Medium for Direct {
    fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut aligned = AlignedBuf::zeroed(buf.len());
        self.0.read_exact_at(&mut aligned, offset)?;
        buf.copy_from_slice(&aligned);
        Ok(())
    }
    fn write(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut aligned = AlignedBuf::zeroed(buf.len());
        aligned.copy_from_slice(buf);
        self.0.write_all_at(&aligned, offset)
    }
    fn flush(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[test]
fn through_a_loop_device_with_direct_io() {
    if !can_mount() || !require_root() {
        return;
    }
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE as u64);
    let serving = sessions.serve(&volume, "loop", None);
    let device = serving.state.device.clone().expect("a loop device");
    let medium = Direct::open(&device);
    let mut model = Model::of(&medium, SIZE, 512, 3 << 20, 20);
    model.run(&medium, 400);
    model.compare_all(&medium);
    drop(medium);
    assert!(sessions.ask(&["close", device.to_str().expect("plain")]).status.success());

    // The same bytes, without kernel and attachment.
    let store = MemStore::from_vec(std::fs::read(&volume).expect("readable"));
    let plain = crate::rig::device(store, Access::ReadOnly);
    let mut got = vec![0; SIZE];
    plain.read_at(&mut got, 0).expect("readable");
    assert!(got == model.expected());
    sessions.assert_clean();
}
