//! `encrypt`, `open`, `resize`, `decrypt` of file systems with every size of sectors and clusters that their own tools
//! make; and those tools find nothing wrong, at any step. A few sizes; all of them with `KEYWAY_SLOW=1`.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked};
use keyway_testkit::{NtfsMount, Rng, Shape, require_fuse, require_tool, sha256_of_file};
use std::path::Path;
use std::process::Command;

const PW: &str = "--password-file @pw";

fn new() -> Cli {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli
}

fn is_slow() -> bool {
    std::env::var_os("KEYWAY_SLOW").is_some_and(|value| value == "1")
}

/// All, but for media of more than 512 MiB; or those few.
fn tried(shape: &Shape) -> bool {
    let few = match shape.kind {
        "ntfs" => matches!((shape.sector, shape.cluster), (512, 16_384 | 1_048_576) | (4096, 65_536)),
        "exfat" => shape.cluster == 131_072,
        "ext4" => matches!(shape.cluster, 1024 | 65_536),
        _ => shape.sector == 4096 && shape.cluster == 16_384,
    };
    if is_slow() { shape.bytes() <= 512 << 20 } else { few }
}

/// What is in the volume, as a file, is whole by its own tools.
fn inside_is_whole(cli: &Cli, shape: &Shape, name: &str, options: &str) {
    let plain = cli.path("plain");
    std::fs::write(&plain, cli.ends(0, &format!("cat @{name} {options}")).stdout).expect("written");
    shape.check(&plain, true);
    if shape.kind == "ntfs" {
        drop(NtfsMount::open(&plain));
    }
}

/// Puts something into it by its own tools; whether there were any that can.
fn fill(shape: &Shape, path: &Path, content: &Path) -> bool {
    let (from, to) = (content.display().to_string(), path.display().to_string());
    let (tool, words) = match shape.kind {
        "ntfs" => ("ntfscp", vec!["-f".to_owned(), to, from, "content".to_owned()]),
        "ext4" => ("debugfs", vec!["-w".to_owned(), "-R".to_owned(), format!("write {from} content"), to]),
        "exfat" => return false,
        // mtools go by the number of clusters, and take one of few for something else.
        "fat32" if shape.bytes() / shape.cluster < 65_600 => return false,
        _ => ("mcopy", vec!["-i".to_owned(), to, from, "::content".to_owned()]),
    };
    let Some(program) = require_tool(tool) else { return false };
    checked(Command::new(program).args(words));
    true
}

/// Whether what was put into it is there, by its own tools.
fn holds(shape: &Shape, path: &Path, content: &[u8]) -> bool {
    let (tool, before, after): (_, &[&str], &[&str]) = match shape.kind {
        "ntfs" => ("ntfscat", &[], &["content"]),
        "ext4" => ("debugfs", &["-R", "cat content"], &[]),
        _ => ("mcopy", &["-i"], &["::content", "-"]),
    };
    let Some(program) = require_tool(tool) else { return true };
    let done = Command::new(program).args(before).arg(path).args(after).output().expect("it runs");
    done.stdout == content
}

fn shapes() -> impl Iterator<Item = Shape> {
    Shape::ntfs().chain(Shape::exfat()).chain(Shape::fat()).chain(Shape::ext4()).filter(tried)
}

#[test]
fn every_shape_becomes_a_bitlocker_volume_of_another_size_and_itself_again() {
    if !require_fuse() {
        return;
    }
    let cli = new();
    let content = Rng::new(7).bytes(1 << 20);
    std::fs::write(cli.path("content"), &content).expect("written");
    let mut done = 0;
    for shape in shapes() {
        let (d, size) = (cli.path("d"), shape.bytes());
        if shape.make(&d, size) != Some(true) {
            continue;
        }
        let filled = fill(&shape, &d, &cli.path("content"));
        shape.check(&d, true);
        // FAT12's map is not known, so its metadata goes behind it.
        let grow = if shape.kind == "fat12" { "--grow" } else { "" };
        cli.ends(0, &format!("encrypt @d --format bitlocker --no-recovery-password --yes {grow} {PW}"));
        inside_is_whole(&cli, &shape, "d", PW);
        let (now, larger) = (d.metadata().expect("there").len(), size + (24 << 20));
        for bytes in [larger, now] {
            cli.ends(0, &format!("resize @d --size {bytes} --quick --yes {PW}"));
            assert_eq!(d.metadata().expect("there").len(), bytes, "{shape}");
            inside_is_whole(&cli, &shape, "d", PW);
        }
        cli.ends(0, &format!("decrypt @d --yes {PW}"));
        shape.check(&d, true);
        assert!(!filled || holds(&shape, &d, &content), "{shape}: its content");
        done += 1;
        eprintln!("{done}: {shape}");
    }
}

/// Where it is made smaller for that by its own tool.
#[test]
fn every_shape_becomes_a_veracrypt_volume_and_itself_again() {
    let cli = new();
    for shape in shapes().filter(|shape| matches!(shape.kind, "ntfs" | "ext4")) {
        let d = cli.path("d");
        if shape.make(&d, shape.bytes()) != Some(true) {
            continue;
        }
        shape.check(&d, true);
        cli.ends(0, &format!("encrypt @d --yes --pim 1 {PW}"));
        let plain = cli.path("plain");
        std::fs::write(&plain, cli.ends(0, &format!("cat @d --pim 1 {PW}")).stdout).expect("written");
        shape.check(&plain, false);
        cli.ends(0, &format!("decrypt @d --yes --pim 1 {PW}"));
        shape.check(&d, false);
    }
}

/// What is advised works.
#[test]
fn a_full_file_system_is_encrypted_as_the_refusal_advises() {
    let cli = new();
    let folder = cli.path("in");
    std::fs::create_dir(&folder).expect("created");
    std::fs::write(folder.join("big"), Rng::new(9).bytes(74 << 20)).expect("written");
    let full: [(&str, &[&str], &str); 2] = [
        ("mkfs.ext4", &["-q", "-F", "-m", "0", "-b", "4096", "-N", "64", "-J", "size=4", "-d"], "--pim 1"),
        ("mkfs.fat", &["-F", "32", "-s", "1"], "--format bitlocker --no-recovery-password"),
    ];
    for (mkfs, arguments, options) in full {
        let Some(program) = require_tool(mkfs) else { continue };
        let (d, is_fat) = (cli.path("d"), mkfs == "mkfs.fat");
        std::fs::File::create(&d).and_then(|file| file.set_len(80 << 20)).expect("created");
        let mut command = Command::new(program);
        command.args(arguments);
        if !is_fat {
            command.arg(&folder);
        }
        checked(command.arg(&d));
        if is_fat {
            let Some(mcopy) = require_tool("mcopy") else { continue };
            checked(Command::new(&mcopy).arg("-i").arg(&d).arg(folder.join("big")).arg("::big"));
            // To the last cluster.
            let left = cli.path("left");
            for shift in (9..23).rev() {
                std::fs::write(&left, vec![1; 1 << shift]).expect("written");
                let name = format!("::left{shift}");
                let _ = Command::new(&mcopy).arg("-i").arg(&d).arg(&left).arg(name).output();
            }
        }
        let before = sha256_of_file(&d);
        let words = format!("encrypt @d --yes {options} {PW}");
        let refused = cli.run(&format!("{words} --json"));
        let said: serde_json::Value = serde_json::from_slice(&refused.stdout).expect("a document");
        assert!(!refused.status.success(), "{mkfs} {options}: it was not full");
        assert_eq!(said["error"]["kind"], "no-room", "{said}");
        assert!(said["error"]["hint"].as_str().is_some_and(|hint| hint.contains("add --grow")), "{said}");
        if is_fat {
            assert_eq!(sha256_of_file(&d), before, "refused, and something was changed");
        }
        cli.ends(0, &format!("{words} --grow"));
        let plain = cli.path("plain");
        let options = if options.starts_with("--pim") { options } else { "" };
        std::fs::write(&plain, cli.ends(0, &format!("cat @d {options} {PW}")).stdout).expect("written");
        let (checker, flags): (_, &[&str]) =
            if is_fat { ("fsck.fat", &["-n"]) } else { ("e2fsck", &["-f", "-n"]) };
        checked(Command::new(require_tool(checker).expect("with its mkfs")).args(flags).arg(&plain));
        cli.ends(0, &format!("decrypt @d --yes {options} {PW}"));
        checked(Command::new(require_tool(checker).expect("with its mkfs")).args(flags).arg(&d));
    }
}

/// `timeout` and a terminal send a signal to the process and to its group: that is one request, which ends it in good order.
#[test]
fn a_new_volume_that_is_interrupted_while_its_file_system_is_made_is_gone() {
    let cli = new();
    let Some(path) = cli_support::interrupting(&cli, "mkfs.ext4", "TERM TERM INT") else { return };
    for place in ["v", "there"] {
        if place == "there" {
            std::fs::write(cli.path(place), b"precious").expect("written");
        }
        let words =
            format!("create @{place} --size 16M --quick --filesystem ext4 {PW} --pim 1 --force --yes --json");
        let done = cli.command(cli.words(&words)).env("PATH", &path).output().expect("it starts");
        let said: serde_json::Value = serde_json::from_slice(&done.stdout).expect("a document");
        assert_eq!(
            (done.status.code(), said["error"]["kind"].as_str()),
            (Some(1), Some("interrupted")),
            "{said}"
        );
        assert_eq!(said["error"]["advice"][0]["kind"], "no-volume-made", "{said}");
    }
    assert!(!cli.path("v").exists());
    assert_eq!(std::fs::read(cli.path("there")).expect("it is there"), b"precious");
    let names = std::fs::read_dir(cli.path("")).expect("read").flatten().map(|entry| entry.file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().contains("keyway-")), "something was left");
}
