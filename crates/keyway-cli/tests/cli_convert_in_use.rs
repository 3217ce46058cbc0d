//! `encrypt`, `decrypt` and `resume` with `--online`: a volume that is used while it is converted.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::checked;
use cli_support::image::{Image, SECRET, allocated, path};
use cli_support::in_use::{start, written_while_converted};
use keyway_testkit::{Rng, require_root, require_tool, wait_until};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_volume_is_written_while_it_is_converted_and_keeps_what_was_written() {
    const ENCRYPTED: [&str; 3] = ["Fully Encrypted", "XTS-AES 256", "Protection On"];
    const DECRYPTED: [&str; 3] = ["Fully Decrypted", "None", "Protection Off"];
    let image = Image::new();
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    let resize = require_tool("resize2fs").expect("with mkfs.ext4");
    checked(Command::new(resize).arg(cli.path("d")).arg("28M"));
    let mut content = std::fs::read(cli.path("d")).expect("read");
    std::fs::File::options()
        .write(true)
        .open(cli.path("d"))
        .expect("opens")
        .set_len(32 << 20)
        .expect("sized");
    let mut rng = Rng::new(5);
    let mut is_encrypted = true;
    // On, closed in the middle, on again to the end; and off.
    let slow = "--limit 2 --online --json";
    let runs = [
        (format!("encrypt @d {SECRET} --yes {slow}"), false),
        (format!("resume @d {SECRET} --online --json"), true),
        (format!("decrypt @d {SECRET} --yes {slow}"), false),
        (format!("resume @d {SECRET} --online --json"), true),
    ];
    for (words, to_the_end) in runs {
        let Some(status) = written_while_converted(cli, &words, to_the_end, &mut content, &mut rng) else {
            return;
        };
        if !to_the_end {
            assert!(status["resume_with"].is_string(), "{words} was through too early: {status}");
            assert_eq!(cli.json(0, "status @d")["lock_status"], "Locked");
            continue;
        }
        let told =
            ["conversion_status", "encryption_method", "protection_status"].map(|name| status[name].clone());
        let kind = &status["key_protectors"][0]["kind"];
        match is_encrypted {
            true => assert_eq!((told, kind), (ENCRYPTED.map(Value::from), &"password".into()), "{status}"),
            false => assert_eq!((told, kind), (DECRYPTED.map(Value::from), &Value::Null), "{status}"),
        }
        is_encrypted = false;
    }
    let medium = std::fs::read(cli.path("d")).expect("read");
    assert!(medium[..content.len()] == content, "something else is on it than what was written");
    assert!(!cli.path("d.keyway-journal").exists());
}

/// What somebody unmounts is mounted nowhere: that is told, it goes on being converted, and it can be mounted again.
#[test]
fn a_volume_that_is_converted_can_be_unmounted_and_mounted_again() {
    let image = Image::new();
    if !require_root() || !Path::new("/dev/loop-control").exists() {
        return;
    }
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    std::fs::create_dir(cli.path("at")).expect("made");
    let words = format!("encrypt @d {SECRET} --yes --limit 1 --online --mount @at --json");
    let Some((mut child, _)) = start(cli, &words) else { return };
    let mounted = || cli.json(0, "status @d")["mountpoint"].clone();
    let at = Value::from(path(cli, "at"));
    assert_eq!(mounted(), at);
    checked(Command::new("umount").arg(cli.path("at")));
    let began = Instant::now();
    while !mounted().is_null() {
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it is mounted nowhere");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::create_dir(cli.path("other")).expect("made");
    cli.ends(0, "open @d @other");
    assert_eq!(mounted(), Value::from(path(cli, "other")));
    cli.ends(0, "close @d");
    assert_eq!(child.wait().expect("ends").code(), Some(1), "not all was converted");
    for at in ["at", "other"] {
        assert_eq!(std::fs::read_dir(cli.path(at)).expect("a folder").count(), 0, "{at} is mounted still");
    }
}

/// What is plain, and no file system that is known, shows no more than noise does.
#[test]
fn what_was_decrypted_in_use_is_told_as_that_whatever_lies_there() {
    let image = Image::new();
    let cli = &image.cli;
    cli.volume("v");
    let Some((mut child, _)) = start(cli, &format!("decrypt @v {SECRET} --online --yes --json")) else {
        return;
    };
    let began = Instant::now();
    while cli.json(0, "status @v")["conversion_status"] == "Decryption in Progress" {
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it is not through");
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = cli.json(0, "status @v");
    let told = ["conversion_status", "encryption_method", "protection_status", "lock_status"];
    let told = told.map(|name| status[name].as_str().unwrap_or_default());
    assert_eq!(told, ["Fully Decrypted", "None", "Protection Off", "Unlocked"], "{status}");
    assert_eq!(status["key_protectors"], serde_json::json!([]), "{status}");
    cli.ends(0, "close @v");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
}

/// Whoever closes a BitLocker volume is told how much of it is encrypted, as the volume says it itself: the run that ends may have
/// begun in its middle.
#[test]
fn a_bitlocker_volume_that_is_closed_tells_how_much_of_it_is_encrypted() {
    let image = Image::new();
    let cli = &image.cli;
    let Some(()) = cli.make("d", 80 << 20, "mkfs.fat", &["-F", "32"]) else { return };
    let secret = SECRET.replace("--pim 1", "");
    let begin =
        format!("encrypt @d --format bitlocker --no-recovery-password --grow --yes --limit 8 {secret}");
    let mut child = cli.command(cli.words(&begin)).stdout(Stdio::null()).spawn().expect("keyway starts");
    wait_until("some of it is encrypted", || {
        let status: Value = serde_json::from_slice(&cli.run("status @d --json").stdout).unwrap_or_default();
        status["done_bytes"].as_u64() > Some(4 << 20)
    });
    cli.ends(0, "pause @d");
    child.wait().expect("ends");
    let resume = format!("resume @d --online --limit 1 --json {secret}");
    let mut command = cli.command(cli.words(&resume));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("keyway starts");
    // It says where the volume is, and stays.
    let said = child.stdout.take().expect("piped");
    let said = serde_json::Deserializer::from_reader(said).into_iter::<Value>().next();
    assert!(said.is_some_and(|document| document.is_ok()));
    cli.ends(0, "close @d");
    let done = child.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&done.stderr);
    let percent = cli.json(0, "info @d")["percentage_encrypted"].as_f64().expect("a number");
    assert!(percent > 1.0 && said.contains(&format!("{percent:.1} % converted")), "{percent}: {said}");
}

/// A file system gets files while the used space of it is converted: they lie where it was free. The process is killed
/// after each, and what was flushed is there.
#[test]
fn files_put_into_free_space_while_used_space_is_converted_stay() {
    let image = Image::new();
    let cli = &image.cli;
    let Some(debugfs) = require_tool("debugfs") else { return };
    let e2fsck = require_tool("e2fsck").expect("with it");
    let folder = cli.path("content");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("big"), &image.big).expect("written");
    // At 1 MB/s it takes longer than the three lives do on a busy machine.
    std::fs::write(folder.join("ballast"), Rng::new(70).bytes(90 << 20)).expect("written");
    let arguments = ["-q", "-F", "-N", "512", "-J", "size=4", "-d", folder.to_str().expect("text")];
    let slow = "--online --limit 1 --json";
    for online in [true, false] {
        let Some(()) = cli.make("d", 400 << 20, "mkfs.ext4", &arguments) else { return };
        let mut files: Vec<Vec<u8>> = Vec::new();
        let mut words = format!("encrypt @d {SECRET} --used-space-only --yes {slow}");
        for life in 0..3 {
            let Some((mut child, plain)) = start(cli, &words) else { return };
            for _ in 0..3 {
                let n = files.len();
                files.push(Rng::new(n as u64).bytes(2 << 20));
                std::fs::write(cli.path("file"), &files[n]).expect("written");
                let write = format!("write {} file{n}", cli.path("file").display());
                checked(Command::new(&debugfs).args(["-w", "-R", &write]).arg(&plain));
            }
            let file = std::fs::File::options().write(true).open(&plain).expect("opens");
            file.sync_all().expect("flushed");
            drop(file);
            let status = cli.json(0, "status @d");
            let (total, percent) = (&status["total_bytes"], &status["percentage_done"]);
            assert!(total.as_u64().is_some_and(|bytes| bytes < 150 << 20), "{status}");
            assert!(percent.as_f64().is_some_and(|n| n < 100.0), "it was through too early: {status}");
            if life < 2 {
                child.kill().expect("SIGKILL");
            } else {
                cli.ends(0, "close @d");
            }
            child.wait().expect("ends");
            assert_eq!(cli.json(1, &format!("cat @d {SECRET}"))["error"]["kind"], "converting");
            words = format!("resume @d {SECRET} {slow}");
        }
        if online {
            let (mut child, _) =
                start(cli, &format!("resume @d {SECRET} --online --json")).expect("as before");
            let began = Instant::now();
            while cli.json(0, "status @d")["percentage_done"].as_f64().is_some_and(|n| n < 100.0) {
                assert!(began.elapsed() < Duration::from_secs(300));
                std::thread::sleep(Duration::from_millis(50));
            }
            cli.ends(0, "close @d");
            assert!(child.wait().expect("ends").success());
        } else {
            cli.ends(0, &format!("resume @d {SECRET}"));
        }
        cli.refused("usage", "begin one with `keyway encrypt ", &format!("resume @d {SECRET}"));
        assert!(allocated(&cli.path("d")) < 210 << 20, "{} bytes on the disk", allocated(&cli.path("d")));
        image.decrypted("d", SECRET, "plain");
        image.ext4_is_whole("plain");
        checked(Command::new(&e2fsck).args(["-f", "-n"]).arg(cli.path("plain")));
        for (n, file) in files.iter().enumerate() {
            let dump = format!("dump /file{n} {}", cli.path("file").display());
            checked(Command::new(&debugfs).args(["-R", &dump]).arg(cli.path("plain")));
            assert!(std::fs::read(cli.path("file")).expect("dumped") == *file, "file {n} is another");
        }
    }
}

/// With bytes at random places, of used and of free space alike, which the file system does not survive.
#[test]
fn used_space_is_converted_while_the_volume_is_written_everywhere() {
    let image = Image::new();
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    let (mut content, mut rng) = (vec![0; 24 << 20], Rng::new(9));
    let runs = [
        (format!("encrypt @d {SECRET} --used-space-only --yes --limit 2 --online --json"), false),
        (format!("resume @d {SECRET} --online --json"), true),
    ];
    for (words, to_the_end) in runs {
        let Some(_) = written_while_converted(cli, &words, to_the_end, &mut content, &mut rng) else {
            return;
        };
    }
    image.decrypted("d", SECRET, "plain");
    let plain = std::fs::read(cli.path("plain")).expect("read");
    assert!(plain[..content.len()] == content, "something else is in it than what was written");
    // What was begun without somebody who uses it goes on like that.
    let Some(()) = image.ext4("d") else { return };
    let mut child = image.start(&format!("encrypt @d {SECRET} --used-space-only --yes --limit 2"));
    let began = Instant::now();
    // Until it has begun, what is there is no volume.
    let status = || serde_json::from_slice::<Value>(&cli.run("status @d --json").stdout).unwrap_or_default();
    while status()["percentage_done"].as_f64().is_none_or(|n| n < 5.0) {
        assert!(began.elapsed() < Duration::from_secs(100));
        std::thread::sleep(Duration::from_millis(20));
    }
    cli.ends(0, "pause @d");
    child.wait().expect("ends");
    cli.fails(5, "unsupported", "go on without --online", &format!("resume @d {SECRET} --online"));
    cli.ends(0, &format!("resume @d {SECRET}"));
    image.decrypted("d", SECRET, "plain");
    image.ext4_is_whole("plain");
}
