//! The marks of a conversion are anybody's who can write to the medium: a file that they name is neither opened, nor
//! changed, nor removed, whatever is asked of the medium. The journal is beside the volume, or where the person says.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::interrupted::{BETWEEN, BITLOCKER, Case, VERACRYPT, interrupted, new};
use keyway_testkit::Rng;
use rustix::fs::inotify;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const PAGE: usize = 4096;

/// CRC-32 as zlib has it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// Changes what a marker says: eight sectors with the identifier at both ends, and a sum at the end of what is between.
fn change(page: &mut [u8], how: impl FnOnce(&mut Vec<u8>)) {
    let mut payload: Vec<u8> = page.chunks(512).flat_map(|sector| sector[16..496].to_vec()).collect();
    let sum = payload.len() - 4;
    assert_eq!(payload[sum..], crc32(&payload[..sum]).to_le_bytes(), "it is no marker");
    how(&mut payload);
    let crc = crc32(&payload[..sum]);
    payload[sum..].copy_from_slice(&crc.to_le_bytes());
    for (sector, part) in page.chunks_mut(512).zip(payload.chunks(480)) {
        sector[16..496].copy_from_slice(part);
    }
}

/// Has a marker name another file.
fn name(page: &mut [u8], path: &[u8]) {
    change(page, |payload| {
        let (len, at) = match &payload[..14] {
            b"KEYWAY-CONVERT" => (18, 1664),
            b"KEYWAY-BITLOCK" => (20, 320),
            b"KEYWAY-BETWEEN" => (18, 40),
            other => panic!("{other:?}"),
        };
        payload[len..len + 2].copy_from_slice(&(path.len() as u16).to_le_bytes());
        payload[at..at + 1024].fill(0);
        payload[at..at + path.len()].copy_from_slice(path);
    });
}

/// Where the second marker is: in the last page, or where the pointer says.
fn second(medium: &[u8]) -> usize {
    match &medium[216..224] {
        b"KEYWAYPT" => u64::from_le_bytes(medium[224..232].try_into().expect("eight")) as usize,
        _ => medium.len() - PAGE,
    }
}

/// What somebody may have made of a medium: its marks name that file, in front or not.
fn hostile(case: Case, [before, half]: &[Vec<u8>; 2], path: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut front = half.clone();
    let at = second(half);
    name(&mut front[..PAGE], path);
    name(&mut front[at..at + PAGE], path);
    // As before the marker was in front.
    let mut behind = before.clone();
    if &half[216..224] != b"KEYWAYPT" {
        behind[at..].copy_from_slice(&front[at..]);
        return vec![("in front", front), ("in the last page", behind)];
    }
    assert!(!case.is_between());
    // All that the conversion had on the medium by then, and the first page of a file system.
    behind = front.clone();
    behind[..PAGE].copy_from_slice(&before[..PAGE]);
    behind[216..252].copy_from_slice(&half[216..252]);
    // One that says that it was a decryption, and is through but for what it has left.
    let mut through = behind.clone();
    change(&mut through[at..at + PAGE], |payload| payload[16] = 2);
    // As before the marker was in front: the heads of the journal, in the four pages behind the second marker, are of no
    // step yet.
    let mut fresh = behind.clone();
    fresh[at + PAGE..at + 5 * PAGE].fill(0);
    // Nothing but the marks, as far as a secret goes: no metadata.
    let mut bare = [fresh.clone(), through.clone()];
    let copies = [32, 40, 48].map(|field| {
        let payload: Vec<u8> = half[at..at + PAGE].chunks(512).flat_map(|s| s[16..496].to_vec()).collect();
        u64::from_le_bytes(payload[field..field + 8].try_into().expect("eight")) as usize
    });
    for medium in &mut bare {
        for copy in copies {
            let end = if copy + (32 << 10) == at { at } else { copy + (64 << 10) };
            medium[copy..end].fill(0);
        }
    }
    let [not_begun, wiped] = bare;
    vec![
        ("in front", front),
        ("an old first page", behind),
        ("behind the pointer", fresh),
        ("behind the pointer, through", through),
        ("behind the pointer, without metadata", not_begun),
        ("behind the pointer, wiped", wiped),
    ]
}

/// A file of somebody else, and whoever touches it is seen.
struct Victim {
    path: PathBuf,
    watch: OwnedFd,
}

const CONTENT: &[u8] = b"root:x:0:0:root:/root:/bin/bash\n";

impl Victim {
    fn new(path: PathBuf) -> Self {
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
        std::fs::write(&path, CONTENT).expect("written");
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("inotify");
        inotify::add_watch(&watch, &path, inotify::WatchFlags::ALL_EVENTS).expect("watched");
        Self { path, watch }
    }

    fn is_untouched(&self, what: &str) {
        let mut events = [0; 4096];
        let seen = rustix::io::read(&self.watch, &mut events);
        assert_eq!(seen, Err(rustix::io::Errno::AGAIN), "{what}: somebody was at {}", self.path.display());
        assert_eq!(
            std::fs::metadata(&self.path).map(|meta| meta.len()).ok(),
            Some(CONTENT.len() as u64),
            "{what}"
        );
    }
}

/// All that may be asked of it, and what is never answered with success.
fn everything(case: Case) -> Vec<String> {
    let secret = case.secret.replace("--new-password-file @pw2", "");
    let mut words = ["status @d", "info @d", "pause @d"].map(str::to_owned).to_vec();
    words.push(format!("open @d {secret}"));
    words.push(format!("decrypt @d {secret} --yes"));
    words.push(case.begin.to_owned());
    words.push(format!("encrypt @d {secret} --yes"));
    words.push(format!("resume @d {}", case.secret));
    words
}

fn names_nothing(case: Case) {
    let cli = new();
    let Some(media) = interrupted(&cli, case, "--journal @away/journal") else { return };
    let victim = Victim::new(cli.path("etc/\u{1b}[31mpasswd"));
    let pipe = cli.path("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
    for path in [&victim.path, &pipe] {
        for (what, medium) in hostile(case, &media, path.as_os_str().as_bytes()) {
            let is_file = path == &victim.path;
            for words in everything(case).iter().filter(|words| is_file || words.starts_with("resume")) {
                let what = format!("{what}: {words}");
                std::fs::write(cli.path("d"), &medium).expect("written");
                let done = cli.run(words);
                victim.is_untouched(&what);
                assert!(pipe.symlink_metadata().is_ok(), "{what}: the pipe is gone");
                let said = [&done.stdout[..], &done.stderr[..]].concat();
                assert!(!said.contains(&0x1b), "{what}: {}", String::from_utf8_lossy(&said));
                let journal = cli.path("d.keyway-journal");
                assert!(journal.symlink_metadata().is_err() || words.starts_with("encrypt"), "{what}");
                let _ = std::fs::remove_file(journal);
                if words.starts_with("open") {
                    cli.run("close --all");
                }
                // Where there is something to clean up, that is done; where the journal is needed, nothing.
                let refused = what.starts_with("in front");
                if refused || what.starts_with("in the last page") {
                    let resumes = words.starts_with("resume");
                    let code = done.status.code();
                    assert!(
                        !(refused || resumes) || code != Some(0),
                        "{what}: {}",
                        String::from_utf8_lossy(&said)
                    );
                    assert!(std::fs::read(cli.path("d")).expect("read") == medium, "{what}: it was changed");
                }
            }
        }
    }
    assert_eq!(std::fs::read(&victim.path).expect("there"), CONTENT);
    assert!(cli.path("away/journal").exists(), "the true one is still needed");
}

#[test]
fn a_file_that_a_veracrypt_conversion_names_is_left_alone() {
    names_nothing(VERACRYPT);
}

#[test]
fn a_file_that_a_bitlocker_conversion_names_is_left_alone() {
    names_nothing(BITLOCKER);
}

#[test]
fn a_file_that_a_conversion_between_the_formats_names_is_left_alone() {
    names_nothing(BETWEEN);
}

/// What is at the journal's place must be the journal itself, and this conversion's.
#[test]
fn what_is_no_journal_of_it_is_refused_untouched() {
    for case in [VERACRYPT, BITLOCKER, BETWEEN] {
        let cli = new();
        let Some([_, half]) = interrupted(&cli, case, "--journal @away/journal") else { return };
        let (journal, beside) = (cli.path("away/journal"), cli.path("d.keyway-journal"));
        let whole = std::fs::read(&journal).expect("read");
        let refused = |what: &str, more: &str| {
            std::fs::write(cli.path("d"), &half).expect("written");
            for words in [format!("resume @d {} {more}", case.secret), format!("status @d {more}")] {
                let done = cli.run(&format!("{words} --json"));
                assert!(matches!(done.status.code(), Some(1 | 4)), "{what}: {words}: {done:?}");
                let document: Value = serde_json::from_slice(&done.stdout).expect("a document");
                let kind = document["error"]["kind"].as_str().unwrap_or_default();
                assert!(["no-journal", "not-suitable"].contains(&kind), "{what}: {words}: {document}");
                let hint = document["error"]["hint"].as_str().unwrap_or_default();
                assert!(hint.contains("--journal"), "{what}: {words}: {document}");
                assert!(
                    std::fs::read(cli.path("d")).expect("read") == half,
                    "{what}: {words}: it was changed"
                );
            }
        };
        let link = |to: &Path, at: &Path| std::os::unix::fs::symlink(to, at).expect("linked");
        let gone = |at: &Path| std::fs::remove_file(at).expect("there");
        refused("nothing", "");
        link(&journal, &beside);
        refused("a link", "");
        refused("a link that is named", "--journal @d.keyway-journal");
        gone(&beside);
        let victim = Victim::new(cli.path("victim"));
        link(&victim.path, &beside);
        refused("a link to another's file", "");
        victim.is_untouched("a link");
        gone(&beside);
        rustix::fs::mknodat(rustix::fs::CWD, &beside, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        refused("a pipe", "");
        gone(&beside);
        link(Path::new("/dev/zero"), &beside);
        refused("a device", "");
        gone(&beside);
        std::fs::create_dir(&beside).expect("made");
        refused("a folder", "");
        std::fs::remove_dir(&beside).expect("there");
        // As long as a journal, with nothing of this conversion in it; another conversion's.
        let mut others = vec![whole.clone(), Rng::new(5).bytes(whole.len())];
        let id: [u8; 16] = half[..16].try_into().expect("sixteen");
        for at in 0..others[0].len() - 16 {
            if others[0][at..at + 16] == id {
                others[0][at] ^= 1;
            }
        }
        others.push(CONTENT.to_vec());
        for other in others {
            std::fs::write(&beside, &other).expect("written");
            refused("another file", "");
            assert!(std::fs::read(&beside).expect("it is still there") == other, "it was changed");
            gone(&beside);
        }
        assert!(std::fs::read(&journal).expect("read") == whole, "the true one was changed");
    }
}

/// The volume's file and its journal go to another folder together, or the journal alone.
#[test]
fn a_journal_goes_with_its_volume_or_is_named() {
    for case in [VERACRYPT, BITLOCKER, BETWEEN] {
        let cli = new();
        let Some([_, half]) = interrupted(&cli, case, "--journal @d.keyway-journal") else { return };
        let journal = std::fs::read(cli.path("d.keyway-journal")).expect("beside it");
        let ends = |folder: &str, at: &str, more: &str| {
            let status = cli.json(0, &format!("status @{folder}/d {more}"));
            assert_eq!(
                status["journal_file"].as_str().map(OsStr::new),
                Some(cli.path(at).as_os_str()),
                "{status}"
            );
            let wrong = case.secret.replace("@pw2", "@wrong").replace("@pw", "@wrong");
            cli.fails(3, "wrong-secret", "check the password", &format!("resume @{folder}/d {wrong} {more}"));
            assert!(cli.path(at).exists(), "nobody has shown that it is theirs");
            cli.ends(0, &format!("resume @{folder}/d {} {more}", case.secret));
            assert!(!cli.path(at).exists(), "it is not needed any more");
            cli.ends(0, &format!("cat @{folder}/d --length 65536 {}", case.opens));
        };
        cli.keyway.secret("wrong", "thirty-characters-that-open-nothing");
        std::fs::remove_file(cli.path("d")).expect("there");
        std::fs::rename(cli.path("d.keyway-journal"), cli.path("away/d.keyway-journal")).expect("moved");
        std::fs::write(cli.path("away/d"), &half).expect("moved");
        ends("away", "away/d.keyway-journal", "");
        std::fs::write(cli.path("away/d"), &half).expect("again");
        std::fs::write(cli.path("elsewhere"), &journal).expect("elsewhere");
        ends("away", "elsewhere", "--journal @elsewhere");
    }
}

/// A run that had not begun, or is through, is cleaned up after by whoever has its secret; and its journal stays where
/// there is no volume that a secret could open.
#[test]
fn nothing_is_cleaned_up_without_the_secret() {
    let cli = new();
    let Some(media) = interrupted(&cli, BITLOCKER, "--journal @away/journal") else { return };
    let journal = cli.path("away/journal");
    let kept = std::fs::read(&journal).expect("read");
    cli.keyway.secret("wrong", "thirty-characters-that-open-nothing");
    let resume = |password: &str| {
        let words = format!("resume @d --password-file @{password} --journal @away/journal --json");
        let done = cli.run(&words);
        let document: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        (done.status.code(), document["error"]["kind"].as_str().unwrap_or_default().to_owned())
    };
    for (what, medium) in hostile(BITLOCKER, &media, journal.as_os_str().as_bytes()) {
        if what == "in front" {
            continue;
        }
        let proven = !what.contains("without metadata") && !what.contains("wiped");
        let code = if what.contains("through") || what.contains("wiped") { 0 } else { 1 };
        std::fs::write(&journal, &kept).expect("written");
        std::fs::write(cli.path("d"), &medium).expect("written");
        if proven {
            assert_eq!(resume("wrong").0, Some(3), "{what}");
            assert!(std::fs::read(cli.path("d")).expect("read") == medium, "{what}: it was changed");
            assert!(std::fs::read(&journal).expect("there") == kept, "{what}: the journal was changed");
        }
        if what == "an old first page" {
            assert_eq!(resume("pw"), (Some(4), "damaged".to_owned()), "{what}");
            assert!(std::fs::read(cli.path("d")).expect("read") == medium, "{what}: it was changed");
            assert!(journal.exists(), "{what}");
            continue;
        }
        // Whoever asks is told of it as whoever begins anew is.
        let next = format!("keyway resume {}", cli.path("d").display());
        let status = cli.json(0, "status @d");
        assert!(
            status["resume_with"].as_str().is_some_and(|told| told.starts_with(&next)),
            "{what}: {status}"
        );
        if !what.contains("wiped") {
            cli.fails(1, "converting", &next, &format!("encrypt @d {} --yes", BITLOCKER.secret));
        }
        let kind = if code == 1 { "not-begun" } else { "" };
        assert_eq!(resume("pw"), (Some(code), kind.to_owned()), "{what}");
        assert_eq!(journal.exists(), !proven, "{what}");
        assert_eq!(resume("pw").0, Some(2), "{what}: nothing is left");
    }
}
