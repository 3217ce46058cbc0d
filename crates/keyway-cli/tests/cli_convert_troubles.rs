//! What may stand in a conversion's way: another that goes on with the same one, a medium that fails, no space left, a
//! process that was killed. Each is told as what it is.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::interrupted::{BETWEEN, BITLOCKER, VERACRYPT, interrupted, new, start};
use cli_support::{Cli, PASSWORD, checked, nobody};
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

/// What is too small for a conversion is refused before its secret is asked for, with a command that helps.
#[test]
fn a_volume_that_is_too_small_is_told_to_be_made_larger() {
    let cli = new();
    cli.ends(0, "create @v --size 300K --quick --pim 1 --password-file @pw");
    for words in ["encrypt @v --reencrypt", "decrypt @v"] {
        cli.refused("usage", "keyway resize ", &format!("{words} --dry-run"));
    }
    let words =
        "encrypt @v --reencrypt --format bitlocker --pim 1 --password-file @pw --new-password-file @pw2";
    let refused = cli.json(2, &format!("{words} --dry-run"));
    let hint = refused["error"]["hint"].as_str().expect("a next step");
    assert!(hint.contains("keyway resize ") && !hint.contains("--format"), "{hint}");
    // What it says works.
    let command = hint.split('`').nth(1).and_then(|told| told.strip_prefix("keyway ")).expect("a command");
    cli.ends(0, &format!("{command} --yes"));
    cli.ends(0, &format!("{words} --dry-run"));
}

/// A file whose name begins with a dash is no option of its file system's own tool.
#[test]
fn a_name_with_a_dash_is_no_option() {
    let cli = new();
    for (mkfs, how) in [("mkfs.ext4", &["-q", "-F"][..]), ("mkfs.fat", &["-F", "32"])] {
        let Some(()) = cli.make("d", 72 << 20, mkfs, how) else { continue };
        std::fs::rename(cli.path("d"), cli.path("-d")).expect("ours");
        let words = cli.words("encrypt --password-file @pw --pim 1 --grow --dry-run -- -d");
        let done = cli.command(words).current_dir(cli.path("")).output().expect("runs");
        assert!(done.status.success(), "{done:?}");
    }
}

/// What the journal can't be is said by the plan, before a secret is asked for; and where its name would be too long it is on
/// the volume.
#[test]
fn a_journal_that_can_not_be_made_is_refused_in_the_plan() {
    let cli = new();
    cli.ends(0, "create @v --size 2M --quick --pim 1 --password-file @pw");
    let plan = "encrypt @v --reencrypt --dry-run";
    cli.refused("usage", "one that is not there yet", &format!("{plan} --journal @v"));
    cli.refused("usage", "one that is not there yet", &format!("{plan} --skip-unreadable @v"));
    cli.fails(1, "not-found", "path", &format!("{plan} --journal @nowhere/j"));
    let long = "v".repeat(245);
    std::fs::rename(cli.path("v"), cli.path(&long)).expect("ours");
    let words = format!("encrypt @{long} --reencrypt --pim 1 --password-file @pw");
    assert_eq!(cli.json(0, &format!("{words} --dry-run"))["plan"]["journal"]["place"], "on-volume");
    cli.ends(0, &format!("{words} --yes"));
    if !require_root() {
        return;
    }
    std::fs::rename(cli.path(&long), cli.path("v")).expect("ours");
    nobody::give(&cli, "v");
    let script = "mkdir -m 700 run; chmod 555 .; fails $K encrypt v --reencrypt --dry-run; chmod 755 .";
    let Some(said) = nobody::as_nobody(&cli, &[], &[], script) else { return };
    assert!(said.contains("could not make") && said.contains("--journal FILE"), "{said}");
}

/// Whatever has its name meanwhile, a file that is removed or replaced is gone, and one that is moved is told by its new name.
#[test]
fn what_is_removed_replaced_or_moved_meanwhile_is_told_as_that() {
    let begun = |cli: &Cli| {
        let child = starts(cli, "encrypt @d --password-file @pw --pim 1 --grow --yes --limit 8");
        wait_until("it converts", || {
            let status: Value =
                serde_json::from_slice(&cli.run("status @d --json").stdout).unwrap_or_default();
            status["pid"].is_number()
        });
        child
    };
    for what in ["removed", "replaced", "moved"] {
        let cli = new();
        let Some(()) = cli.make("d", 24 << 20, "mkfs.fat", &[]) else { return };
        let child = begun(&cli);
        match what {
            "removed" => std::fs::remove_file(cli.path("d")).expect("there"),
            "moved" => std::fs::rename(cli.path("d"), cli.path("e")).expect("moved"),
            _ => {
                std::fs::write(cli.path("other"), vec![0; 1 << 20]).expect("written");
                std::fs::rename(cli.path("other"), cli.path("d")).expect("replaced");
                cli.fails(1, "not-found", "attach it again", "pause @d");
            }
        }
        let done = child.wait_with_output().expect("ends");
        let told = document(&done);
        if what == "moved" {
            assert_eq!(told["volume"].as_str(), cli.path("e").to_str(), "{told}");
            cli.ends(0, "cat @e --length 512 --password-file @pw --pim 1");
        } else {
            assert_eq!(
                (done.status.code(), &told["error"]["kind"]),
                (Some(1), &"not-found".into()),
                "{told}"
            );
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
