//! The clients people use: libnbd's tools, QEMU and fio.

use crate::rig::{Rig, device_on};
use keyway_engine::Access;
use keyway_store::MemStore;
use keyway_testkit::{Rng, require_tool};
use std::path::Path;
use std::process::Command;

const SIZE: usize = 16 << 20;

/// Runs a program; its standard output. It must succeed.
fn run(program: &Path, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{} {arguments:?}: {}\n{out}\n{err}", program.display(), done.status);
    out.into_owned()
}

#[test]
fn nbdinfo_sees_what_we_offer() {
    let Some(nbdinfo) = require_tool("nbdinfo") else { return };
    let rig = Rig::new(device_on(MemStore::new(SIZE).with_sector_bytes(4096), Access::ReadWrite));
    let info = run(&nbdinfo, &["--json", &rig.uri]);
    for line in [
        r#""protocol": "newstyle-fixed""#,
        r#""structured": true"#,
        r#""export-size": 16777216"#,
        r#""is_read_only": false"#,
        r#""can_multi_conn": true"#,
        r#""can_flush": true"#,
        r#""can_fua": true"#,
        r#""can_trim": true"#,
        r#""can_zero": true"#,
        r#""can_fast_zero": true"#,
        r#""can_df": true"#,
        r#""block_size_minimum": 4096"#,
        r#""block_size_maximum": 33554432"#,
    ] {
        assert!(info.contains(line), "{line} is missing from {info}");
    }
    assert!(run(&nbdinfo, &["--list", &rig.uri]).contains("keyway"));
}

#[test]
fn nbdcopy_carries_an_image_there_and_back() {
    let Some(nbdcopy) = require_tool("nbdcopy") else { return };
    let rig = Rig::in_memory(SIZE);
    let folder = tempfile::tempdir().unwrap();
    let (there, back) = (folder.path().join("there"), folder.path().join("back"));
    let mut image = Rng::new(5).bytes(SIZE);
    image[3 << 20..7 << 20].fill(0);
    std::fs::write(&there, &image).unwrap();
    run(&nbdcopy, &["--flush", there.to_str().unwrap(), &rig.uri]);
    run(&nbdcopy, &[&rig.uri, back.to_str().unwrap()]);
    assert!(std::fs::read(&back).unwrap() == image, "the image came back different");
    run(&nbdcopy, &["--synchronous", "--request-size=65536", &rig.uri, back.to_str().unwrap()]);
    assert!(std::fs::read(&back).unwrap() == image, "the image came back different, synchronous");
}

#[test]
fn qemu_img_converts_and_compares() {
    let Some(qemu_img) = require_tool("qemu-img") else { return };
    let rig = Rig::in_memory(SIZE);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("image");
    let mut image = Rng::new(6).bytes(SIZE);
    image[1 << 20..9 << 20].fill(0);
    std::fs::write(&file, &image).unwrap();
    let file = file.to_str().unwrap();
    run(&qemu_img, &["convert", "-n", "-f", "raw", "-O", "raw", file, &rig.uri]);
    let same = run(&qemu_img, &["compare", "-f", "raw", "-F", "raw", file, &rig.uri]);
    assert!(same.contains("Images are identical"), "{same}");
}

#[test]
fn qemu_io_writes_zeroes_flushes_and_discards() {
    let Some(qemu_io) = require_tool("qemu-io") else { return };
    let rig = Rig::in_memory(SIZE);
    let out = run(
        &qemu_io,
        &[
            "-f",
            "raw",
            "-c",
            "write -P 0x11 0 1M",
            "-c",
            "write -f -P 0x22 4095 3",
            "-c",
            "write -z 64k 128k",
            "-c",
            "write -P 0x33 -q 15M 1M",
            "-c",
            "flush",
            "-c",
            "discard 2M 1M",
            "-c",
            "read -P 0x11 0 4095",
            "-c",
            "read -P 0x22 4095 3",
            "-c",
            "read -P 0x11 4098 61438",
            "-c",
            "read -P 0 64k 128k",
            "-c",
            "read -P 0x11 192k 832k",
            "-c",
            "read -P 0x33 15M 1M",
            &rig.uri,
        ],
    );
    assert!(!out.contains("Pattern verification failed") && !out.contains("error"), "{out}");
    assert_eq!(out.matches("read ").count(), 6, "{out}");
}

#[test]
fn fio_verifies_what_it_wrote() {
    let Some(fio) = require_tool("fio") else { return };
    let Ok(engines) = Command::new(&fio).arg("--enghelp").output() else { return };
    if !String::from_utf8_lossy(&engines.stdout).lines().any(|line| line.trim() == "nbd") {
        keyway_testkit::skip("this fio has no nbd engine");
        return;
    }
    let rig = Rig::in_memory(SIZE);
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new(&fio)
        .current_dir(folder.path())
        .args(["--name=verify", "--ioengine=nbd", "--rw=randrw", "--bsrange=512-128k", "--bs_unaligned=0"])
        .args(["--blockalign=512", "--iodepth=32", "--size=16m", "--verify=crc32c", "--verify_fatal=1"])
        .args(["--fsync=20", "--randrepeat=1", "--verify_state_save=0", "--minimal"])
        .arg(format!("--uri={}", rig.uri))
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}\n{}\n{err}", done.status, String::from_utf8_lossy(&done.stdout));
}
