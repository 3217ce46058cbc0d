//! An open volume behaves as a disk: random I/O against a model and fio's own verification,
//! through FUSE, through the loop device and through NBD with other people's clients.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{
    Keyway, Model, NbdFuse, is_root, require_fuse, require_root, require_tool, sha256_of, sha256_of_file,
};
use std::fs::File;
use std::io::{Seek, SeekFrom};
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
    let source = keyway.secret("source", keyway_testkit::Rng::new(44).bytes(3 << 20));
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
