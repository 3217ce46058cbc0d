//! The file and its folder, as programs see them.

use crate::rig::{Mounted, TRANSPORTS, can_mount, device};
use keyway_attach::AttachError;
use keyway_attach::fuse::Transport;
use keyway_engine::Access;
use keyway_error::{Explain, Fault};
use keyway_store::{Caching, FileStore, MemStore, OpenMode};
use keyway_testkit::wait_until;
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

const SIZE: usize = 1 << 20;

fn writable(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(path).expect("its owner may open it")
}

fn errno<T>(result: io::Result<T>) -> Option<Errno> {
    result.err().and_then(|e| Errno::from_io_error(&e))
}

#[test]
fn a_folder_with_one_private_file_of_the_volumes_size() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        let Some(mounted) = Mounted::new(device(MemStore::new(SIZE), Access::ReadWrite), transport) else {
            continue;
        };
        let path = mounted.file();
        let folder = path.parent().expect("in a folder");
        let names: Vec<_> =
            std::fs::read_dir(folder).expect("readable").map(|e| e.expect("readable").file_name()).collect();
        assert_eq!(names, ["volume"]);
        let meta = path.metadata().expect("it is there");
        assert_eq!((meta.len(), meta.mode(), meta.blocks()), (SIZE as u64, 0o100_600, SIZE as u64 / 512));
        assert_eq!(meta.uid(), rustix::process::getuid().as_raw());
        assert_eq!(statvfs(folder).expect("df works").f_blocks, SIZE as u64 / 512);

        assert_eq!(errno(File::open(folder.join("other"))), Some(Errno::NOENT));
        assert!(File::create(folder.join("other")).is_err(), "nothing can be made there");
        let file = writable(&path);
        assert_eq!(errno(file.set_len(SIZE as u64 / 2)), Some(Errno::PERM));
        assert_eq!(errno(File::create(&path)), Some(Errno::PERM), "no program can cut it off");
        assert_eq!(path.metadata().expect("it is there").len(), SIZE as u64);
    }
}

#[test]
fn requests_end_where_the_volume_ends() {
    if !can_mount() {
        return;
    }
    let medium = tempfile::NamedTempFile::new().expect("a file");
    medium.as_file().set_len(SIZE as u64).expect("room");
    for (transport, on_disk) in TRANSPORTS.into_iter().flat_map(|t| [(t, false), (t, true)]) {
        let volume = if on_disk {
            let store = FileStore::open(medium.path(), OpenMode::ReadWrite, Caching::Direct);
            device(store.expect("it is ours"), Access::ReadWrite)
        } else {
            device(MemStore::new(SIZE), Access::ReadWrite)
        };
        let Some(mounted) = Mounted::new(volume, transport) else { continue };
        let file = writable(&mounted.file());
        let end = SIZE as u64;
        assert_eq!(file.write_at(&[7; 100], end - 40).expect("the part that fits"), 40);
        for beyond in [end, end + 4096] {
            assert_eq!(errno(file.write_at(&[7; 100], beyond)), Some(Errno::NOSPC));
        }
        let mut buf = [0; 100];
        assert_eq!(file.read_at(&mut buf, end - 40).expect("the part that is there"), 40);
        assert_eq!(buf[..40], [7; 40]);
        assert_eq!(file.read_at(&mut buf, end).expect("the end"), 0);
        assert_eq!(file.read_at(&mut buf, end + 4096).expect("the end"), 0);
    }
}

#[test]
fn zeroed_ranges_read_as_zeros_and_holes_are_refused() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        let Some(mounted) = Mounted::new(device(MemStore::new(SIZE), Access::ReadWrite), transport) else {
            continue;
        };
        let file = writable(&mounted.file());
        file.write_all_at(&[9; SIZE], 0).expect("room");
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        assert_eq!(fallocate(&file, hole, 1000, 5000), Err(Errno::OPNOTSUPP), "it would not read as zeros");
        fallocate(&file, FallocateFlags::ZERO_RANGE, 20_000, 300_000).expect("ranges can be zeroed");
        assert_eq!(
            fallocate(&file, FallocateFlags::COLLAPSE_RANGE, 0, 4096),
            Err(Errno::OPNOTSUPP),
            "a volume can't shrink"
        );
        let mut expected = vec![9; SIZE];
        expected[20_000..320_000].fill(0);
        let mut got = vec![1; SIZE];
        file.read_exact_at(&mut got, 0).expect("readable");
        assert!(got == expected);
    }
}

#[test]
fn a_read_only_volume_refuses_writers() {
    if !can_mount() {
        return;
    }
    let mounted = Mounted::new(device(MemStore::new(SIZE), Access::ReadOnly), Transport::Device);
    let mounted = mounted.expect("every kernel has this transport");
    assert_eq!(mounted.file().metadata().expect("it is there").mode(), 0o100_400);
    // Without the rights of root the mode already keeps writers out.
    let refused = errno(OpenOptions::new().write(true).open(mounted.file()));
    assert!(matches!(refused, Some(Errno::ROFS | Errno::ACCESS)), "{refused:?}");
    assert!(File::open(mounted.file()).is_ok());
}

#[test]
fn a_file_in_use_stays_until_it_is_closed() {
    if !can_mount() {
        return;
    }
    for transport in TRANSPORTS {
        let Some(mut mounted) = Mounted::new(device(MemStore::new(SIZE), Access::ReadWrite), transport)
        else {
            continue;
        };
        let file = writable(&mounted.file());
        let busy = mounted.fuse.unmount().expect_err("the file is open");
        assert!(matches!(busy, AttachError::Busy { .. }) && busy.fault() == Fault::InUse, "{busy}");
        file.write_all_at(&[3; 777], 5).expect("it still works");
        assert!(!mounted.gone.is_requested());
        drop(file);
        // What another test has just started has all files of this process until it is a program of its own.
        wait_until("nobody uses it", || mounted.fuse.unmount().is_ok());
        assert!(mounted.gone.is_requested());
        assert!(!mounted.file().exists());
    }
}
