//! What may stand in a conversion's way: another that goes on with the same one, a medium that fails, no space left, a
//! process that was killed. Each is told as what it is.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::interrupted::{BETWEEN, BITLOCKER, VERACRYPT, interrupted, new, start};
use cli_support::{Cli, PASSWORD, checked};
use keyway_testkit::{NbdFuse, Rng, require_root, require_tool, wait_until};
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// Starts it; its answer is one document.
fn starts(cli: &Cli, words: &str) -> Child {
    let mut command = cli.command(cli.words(&format!("{words} --json")));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("keyway starts")
}

fn document(done: &Output) -> Value {
    serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"))
}

/// One goes on with it, and whoever else wants to is told that, however soon the first one is through.
#[test]
fn of_three_that_go_on_with_it_one_does() {
    for case in [VERACRYPT, BITLOCKER, BETWEEN] {
        let cli = new();
        let Some([_, half]) = interrupted(&cli, case, "--journal @d.keyway-journal") else { return };
        let journal = std::fs::read(cli.path("d.keyway-journal")).expect("beside it");
        for limit in ["--limit 8", ""] {
            std::fs::write(cli.path("d"), &half).expect("written");
            std::fs::write(cli.path("d.keyway-journal"), &journal).expect("written");
            let words = format!("resume @d {} {limit}", case.secret);
            let all: Vec<Child> = (0..3).map(|_| starts(&cli, &words)).collect();
            let ids: Vec<u32> = all.iter().map(Child::id).collect();
            let all: Vec<Output> = all.into_iter().map(|one| one.wait_with_output().expect("ends")).collect();
            let won =
                all.iter().position(|one| one.status.success()).unwrap_or_else(|| panic!("{words}: {all:?}"));
            for lost in all.iter().enumerate().filter(|(n, _)| *n != won).map(|(_, one)| one) {
                let error = &document(lost)["error"];
                assert_eq!(
                    (lost.status.code(), error["kind"].as_str()),
                    (Some(6), Some("busy")),
                    "{words}: {error}"
                );
                let said = format!("{} {}", error["message"], error["hint"]);
                let by_whom = said.contains(&ids[won].to_string()) || said.contains("to its end");
                assert!(by_whom || limit.is_empty(), "{words}: {said}");
            }
            cli.ends(0, &format!("cat @d --length 65536 {}", case.opens));
            assert!(!cli.path("d.keyway-journal").exists());
        }
    }
}

/// A disk with a stretch that can't be read, and its server.
struct Failing {
    client: NbdFuse,
    server: Child,
}

impl Failing {
    fn on(image: &Path, bad: Range<u64>, folder: &Path) -> Option<Self> {
        let nbdkit = require_tool("nbdkit")?;
        std::fs::create_dir(folder).expect("made");
        let socket = folder.join("socket");
        let image = image.display();
        let mut server = Command::new(nbdkit)
            .args(["--foreground", "--exit-with-parent", "--unix"])
            .arg(&socket)
            .arg("eval")
            .arg(format!("get_size=stat -c %s {image}"))
            .arg(format!(
                "pread=if [ $(($3 + $4)) -gt {} ] && [ $4 -lt {} ]; then echo EIO a bad sector >&2; exit 1; fi; \
                 dd if={image} skip=$4 count=$3 iflag=skip_bytes,count_bytes status=none",
                bad.start, bad.end
            ))
            .arg(format!("pwrite=dd of={image} seek=$4 oflag=seek_bytes conv=notrunc status=none"))
            .arg("can_write=exit 0")
            .arg("can_flush=exit 0")
            .arg("flush=exit 0")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nbdkit starts");
        let Some(client) = NbdFuse::mount(&folder.join("mnt"), &socket) else {
            server.kill().expect("SIGKILL");
            server.wait().expect("ends");
            return None;
        };
        Some(Self { client, server })
    }

    fn file(&self) -> PathBuf {
        self.client.file()
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        self.client.unmount();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// What can't be read is no damage of the file system's, and nobody is told to have it repaired.
#[test]
fn a_medium_that_fails_before_the_conversion_is_told_as_that() {
    // Where the checkers read, and not what is looked at before them: ext4's journal, and files of NTFS's own.
    let kinds: [(&str, &[&str], u64); 2] = [
        ("mkfs.ext4", &["-q", "-F", "-g", "8192", "-b", "1024"], 32 << 20),
        ("mkfs.ntfs", &["-q", "-F", "-f"], 24 << 20),
    ];
    for (mkfs, arguments, from) in kinds {
        let cli = new();
        let Some(()) = cli.make("d", 72 << 20, mkfs, arguments) else { continue };
        let Some(disk) = Failing::on(&cli.path("d"), from..from + (16 << 20), &cli.path("bad")) else {
            return;
        };
        let before = std::fs::read(cli.path("d")).expect("read");
        let path = disk.file().display().to_string();
        for how in ["", "--used-space-only", "--format bitlocker --no-recovery-password"] {
            let pim = if how.contains("bitlocker") { "" } else { "--pim 1" };
            let refused = cli.run(&format!("encrypt {path} --password-file @pw {pim} --yes --json {how}"));
            let error = &document(&refused)["error"];
            let told = (refused.status.code(), error["kind"].as_str());
            assert_eq!(told, (Some(1), Some("io")), "{mkfs} {how}: {error}");
            let said = format!("{} {}", error["message"], error["hint"]);
            assert!(!said.contains("damaged") && !said.contains("repair"), "{mkfs} {how}: {said}");
            assert!(said.contains("dmesg"), "{mkfs} {how}: {said}");
        }
        drop(disk);
        assert!(std::fs::read(cli.path("d")).expect("read") == before, "{mkfs}: it was changed");
    }
}

/// A file system of so many bytes, in memory.
struct Small(PathBuf);

impl Small {
    fn mount(at: PathBuf, bytes: u64) -> Option<Self> {
        if !require_root() {
            return None;
        }
        std::fs::create_dir(&at).expect("made");
        let options = format!("size={bytes}");
        checked(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(&at));
        Some(Self(at))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A container with holes is filled on the way, and what it is on is full before it is.
#[test]
fn no_space_in_the_middle_asks_for_space_and_goes_on() {
    let cli = new();
    let Some(_small) = Small::mount(cli.path("small"), 112 << 20) else { return };
    cli.ends(
        0,
        "create @small/d --size 72M --format bitlocker --quick --no-recovery-password --password-file @pw",
    );
    // Room for the journal and some of the rest.
    let ballast = Rng::new(9).bytes(72 << 20);
    std::fs::write(cli.path("small/ballast"), &ballast).expect("written");
    let refused = cli.json(1, "decrypt @small/d --password-file @pw --yes");
    let error = &refused["error"];
    assert_eq!(error["kind"], "no-space", "{error}");
    let hint = error["hint"].as_str().expect("a hint");
    assert!(hint.contains("free some space") && hint.contains("keyway resume"), "{error}");
    assert!(!hint.contains("smaller"), "{error}");
    assert_eq!(cli.json(0, "status @small/d")["conversion"], "decryption");
    let again = cli.json(1, "resume @small/d --password-file @pw");
    assert_eq!(again["error"]["kind"], "no-space", "{again}");
    std::fs::remove_file(cli.path("small/ballast")).expect("there");
    cli.ends(0, "resume @small/d --password-file @pw");
    // Nor is there a smaller size for a journal.
    std::fs::write(cli.path("small/ballast"), &ballast[..39 << 20]).expect("written");
    cli.ends(0, "create @v --size 72M --quick --password-file @pw --pim 1");
    let refused = cli.json(1, "decrypt @v --password-file @pw --pim 1 --yes --journal @small/journal");
    let hint = refused["error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains("--journal") && !hint.contains("smaller"), "{refused}");
    assert!(!cli.path("small/journal").exists());
}

/// Room is looked for with the rest of the plan, before anybody types `yes` or a password.
#[test]
fn room_that_is_missing_is_missed_before_anything_is_asked() {
    let cli = new();
    let Some(_small) = Small::mount(cli.path("small"), 24 << 20) else { return };
    // A file system with holes that can't be filled, and a volume with no room for its journal.
    let Some(()) = cli.make("small/e", 40 << 20, "mkfs.ext4", &["-q", "-F"]) else { return };
    cli.ends(0, "create @small/v --size 8M --password-file @pw --pim 1");
    for how in ["--dry-run", ""] {
        cli.fails(1, "no-room", "small/e", &format!("encrypt @small/e {how}"));
    }
    std::fs::remove_file(cli.path("small/e")).expect("there");
    std::fs::write(cli.path("small/ballast"), vec![7; (24 << 20) - (8 << 20) - (128 << 10)])
        .expect("written");
    let before = std::fs::read(cli.path("small/v")).expect("read");
    for words in ["encrypt @small/v --reencrypt", "decrypt @small/v"] {
        for how in ["--dry-run", ""] {
            cli.fails(1, "no-space", "--journal", &format!("{words} {how}"));
        }
    }
    assert!(std::fs::read(cli.path("small/v")).expect("read") == before, "it was changed");
}

/// What a killed one says of itself is taken away by whoever comes next, and nobody else's.
#[test]
fn what_a_killed_conversion_leaves_is_taken_away() {
    let cli = new();
    let Some(_) = interrupted(&cli, VERACRYPT, "--journal @d.keyway-journal") else { return };
    let told = || {
        let names = std::fs::read_dir(cli.keyway.runtime_folder().join("sessions")).expect("there").flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().starts_with("converting-")).count()
    };
    assert_eq!(told(), 1, "it was killed");
    // As long as it is to be gone on with, it is named without being asked for.
    let said = String::from_utf8(cli.ends(0, "status").stdout).expect("text");
    assert!(said.contains("/d is half converted") && said.contains("keyway resume"), "{said}");
    // Nor is it taken for noise, or kept without a word for somebody who would open it.
    let doctor = cli.json(0, "doctor @d");
    assert_eq!(doctor["encrypted"][0]["with"], "half-converted", "{doctor}");
    let goes_on = format!("keyway resume {}", cli.path("d").display());
    let words = doctor["encrypted"][0]["words"].as_str().unwrap_or_default();
    assert!(words.contains("encryption has not come to its end") && words.contains(&goes_on), "{words}");
    let kept = String::from_utf8(cli.ends(0, "favourite add @d").stderr).expect("text");
    let kept = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(kept.contains("is half converted") && kept.contains(&goes_on), "{kept}");
    let all = cli.json(0, "status");
    assert_eq!(all["converting"].as_array().map(Vec::len), Some(1), "{all}");
    assert!(
        all["converting"][0]["pid"].is_null() && all["converting"][0]["percentage_done"].is_number(),
        "{all}"
    );
    let alone = cli.json(0, "status @d");
    assert_eq!(all["converting"][0]["percentage_done"], alone["percentage_done"], "{alone}");
    assert_eq!(told(), 1);
    // One that is at work keeps its own.
    let mut running = start(&cli, &format!("resume @d {} --limit 1", VERACRYPT.secret));
    wait_until("it goes on", || cli.json(0, "status @d")["pid"].is_number());
    std::fs::write(cli.keyway.runtime_folder().join("sessions/converting-00"), "{}").expect("written");
    let said = String::from_utf8(cli.ends(0, "status").stdout).expect("text");
    assert!(said.contains("is converted by process") && said.contains("keyway status"), "{said}");
    assert_eq!(told(), 1);
    assert_eq!(cli.json(0, "status @d")["pid"], running.id());
    running.kill().expect("SIGKILL");
    running.wait().expect("ends");
    cli.ends(0, &format!("resume @d {}", VERACRYPT.secret));
    assert_eq!(told(), 0);
    assert_eq!(cli.json(0, "status")["converting"], serde_json::json!([]));
}

#[test]
fn what_is_half_converted_takes_another_spelling() {
    let cli = new();
    cli.keyway.secret("capitals", PASSWORD.to_uppercase());
    for case in [VERACRYPT, BITLOCKER, BETWEEN] {
        let Some(_) = interrupted(&cli, case, "--journal @away/journal") else { return };
        let with = case.secret.replace("--password-file @pw", "--password-file @capitals");
        let resume = format!("resume @d --journal @away/journal {with}");
        cli.fails(3, "wrong-secret", "--try-variants", &resume);
        cli.ends(0, &format!("{resume} --try-variants"));
        cli.ends(0, &format!("info @d {}", case.opens));
        std::fs::remove_file(cli.path("d")).expect("there");
    }
}

/// What is filled on the way would have its new size, and the rest of it would never be filled.
#[test]
fn a_volume_that_can_not_be_filled_keeps_its_size() {
    let cli = new();
    let Some(_small) = Small::mount(cli.path("small"), 24 << 20) else { return };
    let with = "--password-file @pw --pim 1";
    cli.ends(0, &format!("create @small/v --size 4M --filesystem none --quick {with}"));
    let before = std::fs::read(cli.path("small/v")).expect("read");
    for how in ["", "--dry-run"] {
        cli.fails(1, "no-space", "are free there", &format!("resize @small/v --size 40M {how} {with}"));
    }
    assert!(std::fs::read(cli.path("small/v")).expect("read") == before, "it was changed");
    // With holes in it, it takes no room.
    cli.ends(0, &format!("resize @small/v --size 40M --quick {with}"));
    assert_eq!(cli.path("small/v").metadata().expect("there").len(), 40 << 20);
}

/// The second tool is looked for before the first has made the file system smaller.
#[test]
fn a_tool_that_is_missing_is_missed_before_anything_is_changed() {
    let cli = new();
    if cli.make("n", 32 << 20, "mkfs.ntfs", &["-q", "-F", "-f"]).is_none() {
        return;
    }
    if ["/usr/sbin/ntfsfix", "/sbin/ntfsfix"].iter().any(|path| Path::new(path).exists()) {
        return;
    }
    let before = std::fs::read(cli.path("n")).expect("read");
    let words = "encrypt @n --password-file @pw --pim 1 --yes --json";
    let refused = cli.command(cli.words(words)).env("PATH", "/usr/sbin:/sbin").output().expect("starts");
    let said = document(&refused);
    let message = said["error"]["message"].as_str().expect("words");
    assert!(message.contains("ntfsfix is not on this machine"), "{said}");
    let hint = said["error"]["hint"].as_str().expect("words");
    assert!(hint.contains("ntfs-3g") && !hint.contains("back"), "{said}");
    assert_eq!(refused.status.code(), Some(5), "{said}");
    assert!(std::fs::read(cli.path("n")).expect("read") == before, "it was changed");
}
