//! What other programs pack and make is known as theirs; noise is not, nor is what has a mark alone.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use keyway_fs::Container;
use keyway_store::{Caching, FileStore, MemStore, OpenMode};
use keyway_testkit::{Rng, require_tool};
use std::fs;
use std::process::Command;

fn in_memory(image: &[u8]) -> Option<Container> {
    Container::on(&MemStore::from_vec(image.to_vec())).expect("memory can be read")
}

fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
    image[at..at + bytes.len()].copy_from_slice(bytes);
}

#[test]
fn noise_is_no_container_whatever_short_mark_it_begins_with() {
    assert_eq!((in_memory(&[]), in_memory(&[0x1f]), in_memory(&[0; 5000])), (None, None, None));
    let marks: [&[u8]; 7] = [
        b"\x1f\x8b\x08\xff",
        b"\x28\xb5\x2f\xfd\x08",
        b"BZh9",
        b"PK\x03\x04\xff\xff",
        b"QFI\xfb",
        b"KDMV",
        b"LUKS",
    ];
    for seed in 0..20 {
        let mut noise = Rng::new(seed).bytes(300_000);
        assert_eq!(in_memory(&noise), None);
        // 1 of 65,536 volumes begins so.
        put(&mut noise, 0, &[0x1f, 0x8b]);
        noise[2] |= 1;
        assert_eq!(in_memory(&noise), None);
        for mark in marks {
            put(&mut noise, 0, mark);
            assert_eq!(in_memory(&noise), None, "{mark:?}");
        }
    }
}

#[test]
fn a_raid_says_where_it_lies_and_lvm_too() {
    const RAID: [u8; 8] = [0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0];
    let noise = Rng::new(7).bytes(1 << 20);
    for at in [0, 4096, (1 << 20) - 8192] {
        let mut image = noise.clone();
        put(&mut image, at, &RAID);
        assert_eq!(in_memory(&image), None, "a mark alone");
        put(&mut image, at + 144, &(at as u64 / 512).to_le_bytes());
        assert_eq!(in_memory(&image), Some(Container::Raid), "{at}");
    }
    let mut image = noise.clone();
    put(&mut image, (1 << 20) - (64 << 10), &[0xfc, 0x4e, 0x2b, 0xa9, 0, 0, 0, 0, 90, 0, 0, 0]);
    assert_eq!(in_memory(&image), Some(Container::Raid));
    let mut image = noise;
    put(&mut image, 512, b"LABELONE\x01\0\0\0\0\0\0\0");
    put(&mut image, 512 + 24, b"LVM2 001");
    assert_eq!(in_memory(&image), Some(Container::Lvm));
    assert_eq!(in_memory(&image[..512 + 31]), None);
    image.rotate_right(512);
    assert_eq!(in_memory(&image), None, "it lies in another sector than it says");
}

#[test]
fn what_other_programs_make_is_known() {
    let folder = tempfile::tempdir().expect("temp");
    fs::write(folder.path().join("plain"), Rng::new(3).bytes(200_000)).expect("written");
    let image = |format| format!("qemu-img create -q -f {format} out 1M");
    let made = [
        ("gzip -c plain > out".to_owned(), Container::Gzip),
        ("gzip -9 < plain > out".to_owned(), Container::Gzip),
        ("xz -c plain > out".to_owned(), Container::Xz),
        ("zstd -q -c plain > out".to_owned(), Container::Zstd),
        ("zstd -q < plain > out".to_owned(), Container::Zstd),
        ("bzip2 -c plain > out".to_owned(), Container::Bzip2),
        ("lz4 -q -c plain > out".to_owned(), Container::Lz4),
        ("zip -q - plain > out".to_owned(), Container::Zip),
        ("7z a -bd x.7z plain && mv x.7z out".to_owned(), Container::SevenZip),
        ("tar cf out plain".to_owned(), Container::Tar),
        ("tar --format=posix -cf out plain".to_owned(), Container::Tar),
        (image("qcow2"), Container::Qcow2),
        (image("vmdk"), Container::Vmdk),
        (image("vhdx"), Container::Vhdx),
        (image("vdi"), Container::Vdi),
        (image("vpc"), Container::Vhd),
        // QEMU before 9.2.1 gives up where its derivation by SHA-256 is done within the kernel's tick.
        (
            image("luks --object secret,id=s,data=secret -o key-secret=s,iter-time=10,hash-alg=sha512"),
            Container::Luks1,
        ),
    ];
    for (command, container) in made {
        let program = command.split_whitespace().next().unwrap_or_default();
        if require_tool(program).is_none() {
            continue;
        }
        let _ = fs::remove_file(folder.path().join("out"));
        let done =
            Command::new("sh").arg("-c").arg(&command).current_dir(folder.path()).output().expect("runs");
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
        let path = folder.path().join("out");
        let store = FileStore::open(&path, OpenMode::ReadOnly, Caching::Buffered).expect("opens");
        assert_eq!(Container::on(&store).expect("read"), Some(container), "{command}");
        let bytes = fs::read(&path).expect("read");
        for len in 0..64.min(bytes.len()) {
            let _ = in_memory(&bytes[..len]);
        }
    }
}
