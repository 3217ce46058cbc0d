//! An open volume behaves as a disk: random I/O against a model and fio's own verification,
//! through FUSE, through the loop device and through NBD with other people's clients.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{
    Keyway, Model, NbdFuse, Rng, is_root, require_fuse, require_root, require_tool, sha256_of, sha256_of_file,
};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

fn writable(path: &Path) -> File {
    File::options()
        .read(true)
        .write(true)
        .open(path)
        .unwrap_or_else(|e| panic!("{} does not open: {e}", path.display()))
}

/// Random I/O over the file in multiples of `unit` bytes; what the volume must hold afterwards.
fn random_io(file: &Path, unit: u64, steps: usize, seed: u64) -> Model {
    let mut file = writable(file);
    let len = file.seek(SeekFrom::End(0)).expect("the file has an end");
    let mut model = Model::of(&file, len as usize, unit, 300 << 10, seed);
    model.run(&file, steps);
    model.compare_all(&file);
    file.sync_all().expect("the volume flushes");
    model
}

#[test]
fn random_io_through_the_fuse_file_matches_a_model() {
    if !require_fuse() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("9M");
    let open = volume.open("fuse");
    let model = random_io(&open.path("file"), 1, 2500, 41);
    open.close();
    assert_eq!(sha256_of(volume.plain().as_slice()), sha256_of(model.expected()));
}

#[test]
fn random_io_through_the_loop_device_matches_a_model() {
    if !require_root() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("9M");
    let open = volume.open("fuse");
    let model = random_io(&open.path("device"), 1, 2500, 42);
    open.close();
    assert_eq!(sha256_of(volume.plain().as_slice()), sha256_of(model.expected()));
}

/// Bytes of a copy of BitLocker's metadata (libbde's format description).
const COPY: usize = 64 << 10;

/// A BitLocker volume that is open with a loop device, and where the second copy of its metadata is.
fn bitlocker(keyway: &Keyway) -> (serde_json::Value, u64) {
    let password = keyway.secret("pw", "a password of some length");
    let (volume, password) = (keyway.path("bitlocker"), password.to_str().expect("plain").to_owned());
    let volume = volume.to_str().expect("plain");
    let json = |words: &[&str]| {
        let done = keyway.command(words).output().expect("it starts");
        assert!(done.status.success(), "{words:?}: {done:?}");
        serde_json::from_slice::<serde_json::Value>(&done.stdout).expect("JSON")
    };
    let made =
        ["create", volume, "--format", "bitlocker", "--size", "128M", "--quick", "--filesystem", "fat"];
    json(&[&made[..], &["--password-file", &password, "--json"]].concat());
    let copy = json(&["header", "check", volume, "--json"])["metadata_copies"][1]["offset"].as_u64();
    let open = json(&["open", volume, "--attach", "fuse", "--password-file", &password, "--json"]);
    (open, copy.expect("a place"))
}

/// What the volume's `status` said, and its `close`, which ends with this code.
fn close(keyway: &Keyway, code: i32) -> [serde_json::Value; 2] {
    let volume = keyway.path("bitlocker");
    let words = |verb| [Path::new(verb), &*volume, Path::new("--json")];
    let status = keyway.command(words("status")).output().expect("it starts");
    let closed = keyway.command(words("close")).output().expect("it starts");
    assert_eq!(closed.status.code(), Some(code), "{closed:?}");
    [status.stdout, closed.stdout].map(|said| serde_json::from_slice(&said).expect("JSON"))
}

/// Requests of 256 KiB that have the second copy of the metadata in their middle: what was read there may be written,
/// and of anything else all arrives that is not the metadata's place.
#[test]
fn a_write_across_bitlockers_metadata_loses_nothing_else() {
    if !require_root() || !require_fuse() || require_tool("mkfs.fat").is_none() {
        return;
    }
    const LEN: usize = 256 << 10;
    for buffered in [false, true] {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let (open, copy) = bitlocker(&keyway);
        let place = open[if buffered { "device" } else { "file" }].as_str().expect("a place");
        let file = writable(Path::new(place));
        let (from, metadata) = (copy - COPY as u64, COPY..2 * COPY);
        // FUSE takes this in one request where it is whole pages.
        let mut memory = vec![0; LEN + 4096];
        let skew = memory.as_ptr().align_offset(4096);
        let buf = &mut memory[skew..][..LEN];
        let read = |offset: u64| {
            let mut found = vec![7; LEN];
            // Not what the kernel remembers of its own writes.
            if buffered {
                rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("advice");
            }
            file.read_exact_at(&mut found, offset).expect("readable");
            found
        };
        let write = |bytes: &[u8]| file.write_all_at(bytes, from).and_then(|()| file.sync_all());
        // The very bytes just read.
        buf.copy_from_slice(&read(from));
        assert!(buf[metadata.clone()].iter().all(|byte| *byte == 0));
        write(buf).expect("nothing is changed");
        // Others, but for the metadata.
        let mut rng = Rng::new(7);
        for n in 1..=2 {
            buf.copy_from_slice(&rng.bytes(LEN));
            if n == 1 {
                buf[metadata.clone()].fill(0);
                write(buf).expect("all of it may be written");
            } else {
                let number = write(buf).expect_err("some of it may not").raw_os_error();
                // EPERM of the request, EIO of the flush.
                assert_eq!(number, Some(if buffered { 5 } else { 1 }));
                buf[metadata.clone()].fill(0);
            }
            assert!(read(from) == *buf, "{n}, buffered: {buffered}");
        }
        drop(file);
        // A script must not take what it wrote for written.
        let [status, closed] = close(&keyway, 1);
        let refused = status["writes_refused"].as_u64().expect("a number");
        assert!(if buffered { refused >= 1 } else { refused == 1 }, "{refused}");
        assert_eq!(closed["closed"][0]["writes_refused"], refused);
        let error = &closed["error"];
        assert_eq!(
            (&error["kind"], &error["advice"][0]["kind"]),
            (&"metadata".into(), &"make-file-system-around".into())
        );
        let room = error["advice"][0]["bytes"].as_u64().expect("a number");
        assert!(room > 0 && room <= copy, "{room}: before the second copy is the first one");
    }
}

/// Somebody else's tools fill a FAT whose clusters that are BitLocker's are marked as bad: mtools writes runs across
/// them.
#[test]
fn a_fat_that_was_encrypted_is_filled_across_the_metadata() {
    if !require_root()
        || !require_fuse()
        || require_tool("mkfs.fat").is_none()
        || require_tool("mcopy").is_none()
    {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.path("fat");
    File::create(&volume).and_then(|file| file.set_len(300 << 20)).expect("room");
    let run = |command: &mut Command| {
        let done = command.output().expect("it starts");
        assert!(done.status.success(), "{command:?}: {done:?}");
        done.stdout
    };
    run(Command::new("mkfs.fat").args(["-F", "32", "-S", "4096"]).arg(&volume));
    let password = keyway.secret("pw", "a password of some length");
    let words = |words: &str| -> Vec<std::ffi::OsString> {
        let word = |word: &str| match word {
            "@v" => volume.clone().into(),
            "@pw" => password.clone().into(),
            word => word.into(),
        };
        words.split(' ').map(word).collect()
    };
    run(&mut keyway.command(words("encrypt @v --format bitlocker --password-file @pw --yes")));
    let open = run(&mut keyway.command(words("open @v --attach fuse --password-file @pw --json")));
    let open: serde_json::Value = serde_json::from_slice(&open).expect("JSON");
    let device = open["device"].as_str().expect("a loop device");
    let source = keyway.path("source");
    std::fs::create_dir(&source).expect("a folder");
    let mut rng = Rng::new(11);
    let (mut left, mut names) = (260i64 << 20, Vec::new());
    while left > 0 {
        let len = [1000, 70_000, 1_500_000, 4_000_000][rng.below(4) as usize];
        let bytes = rng.bytes(len);
        left -= bytes.len() as i64;
        names.push(format!("f{}", names.len()));
        std::fs::write(source.join(names.last().expect("one")), bytes).expect("room");
    }
    run(Command::new("mcopy")
        .args(["-i", device])
        .args(names.iter().map(|name| source.join(name)))
        .arg("::/"));
    // Through the medium: what the kernel has of it goes when it is closed.
    run(&mut keyway.command(words("close @v")));
    let open = run(&mut keyway.command(words("open @v --attach fuse --password-file @pw --json")));
    let open: serde_json::Value = serde_json::from_slice(&open).expect("JSON");
    let back = keyway.path("back");
    std::fs::create_dir(&back).expect("a folder");
    let file = open["file"].as_str().expect("a file");
    run(Command::new("mcopy").args(["-n", "-i", file, "::/*"]).arg(&back));
    let wrong = |name: &&String| std::fs::read(source.join(name)).ok() != std::fs::read(back.join(name)).ok();
    assert_eq!(names.iter().filter(wrong).count(), 0, "of {}", names.len());
    run(&mut keyway.command(words("close @v")));
}

#[test]
fn random_io_through_nbd_matches_a_model() {
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("9M");
    let open = volume.open("nbd");
    let Some(client) = NbdFuse::mount(&keyway.path("nbdfuse"), &open.path("socket")) else { return };
    // The server asks for whole sectors, and libnbd keeps its callers to that.
    let model = random_io(&client.file(), 512, 1500, 43);
    drop(client);
    open.close();
    assert_eq!(sha256_of(volume.plain().as_slice()), sha256_of(model.expected()));
}

#[test]
fn dd_through_fuse_is_what_cat_shows() {
    if !require_fuse() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("5M");
    let source = keyway.secret("source", Rng::new(44).bytes(3 << 20));
    let open = volume.open("fuse");
    let to = open.path(if is_root() { "device" } else { "file" });
    let dd = Command::new("dd")
        .arg(format!("if={}", source.display()))
        .arg(format!("of={}", to.display()))
        .args(["bs=128K", "conv=notrunc,fsync", "status=none"])
        .status()
        .expect("dd runs");
    assert!(dd.success());
    let seen = sha256_of_file(&to);
    open.close();
    let plain = volume.plain();
    assert_eq!(sha256_of(plain.as_slice()), seen);
    assert_eq!(sha256_of(&plain[..3 << 20]), sha256_of_file(&source));
}

/// fio writes random blocks and reads each back with a checksum; fails on any difference.
fn fio(arguments: &[String], seconds: u32) {
    let Some(fio) = require_tool("fio") else { return };
    let done = Command::new(fio)
        .args(["--name=verify", "--rw=randrw", "--bsrange=512-256k", "--blockalign=512", "--iodepth=8"])
        .args(["--verify=crc32c", "--verify_fatal=1", "--verify_backlog=64", "--fsync=32", "--size=8M"])
        .args(["--do_verify=1", "--loops=3", "--randseed=45", "--verify_state_save=0"])
        .arg(format!("--runtime={seconds}"))
        .args(arguments)
        .output()
        .expect("fio runs");
    assert!(
        done.status.success(),
        "fio: {}\n{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn fio_verifies_the_fuse_file_the_loop_device_and_nbd() {
    if !require_root() || require_tool("fio").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("10M");
    let open = volume.open("fuse");
    let (file, device) = (open.path("file"), open.path("device"));
    fio(&[format!("--filename={}", file.display()), "--ioengine=psync".into()], 20);
    fio(&[format!("--filename={}", device.display()), "--ioengine=libaio".into(), "--direct=1".into()], 20);
    open.close();
    let open = volume.open("nbd");
    let uri = format!("--uri=nbd+unix:///?socket={}", open.path("socket").display());
    fio(&["--ioengine=nbd".into(), uri], 20);
    open.close();
}

#[test]
fn qemu_reads_over_nbd_what_cat_shows() {
    let Some(qemu_img) = require_tool("qemu-img") else { return };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("5M");
    let open = volume.open("nbd");
    let copy = keyway.path("copy");
    let done = Command::new(qemu_img)
        .args(["convert", "-f", "raw", "-O", "raw"])
        .arg(format!("nbd+unix:///?socket={}", open.path("socket").display()))
        .arg(&copy)
        .output()
        .expect("qemu-img runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    open.close();
    assert_eq!(sha256_of_file(&copy), sha256_of(volume.plain().as_slice()));
}
