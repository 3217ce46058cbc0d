//! `encrypt --format bitlocker`, `decrypt`, `pause`, `resume`: whole conversions of real file systems, ended
//! by SIGKILL again and again; afterwards the file systems' own checkers find nothing wrong.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::in_use::written_while_converted;
use cli_support::{Cli, PASSWORD, checked, ext4_bytes};
use keyway_testkit::{
    BitLockerSecret, NtfsMount, Rng, dislocker_sha256, require_tool, sha256_of, sha256_of_file,
};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SIZE: u64 = 80 << 20;
const SECRET: &str = "--password-file @pw";

fn new() -> Cli {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli
}

/// With NTFS and a file in it; the file's content.
fn ntfs(cli: &Cli, name: &str) -> Option<Vec<u8>> {
    cli.make(name, SIZE, "mkfs.ntfs", &["-q", "-F", "-f"])?;
    let big = Rng::new(3).bytes(7 << 20);
    let mounted = NtfsMount::open(&cli.path(name))?;
    std::fs::write(mounted.path("big"), &big).expect("written");
    Some(big)
}

fn holds(path: &Path, big: &[u8]) {
    check("ntfsresize", path);
    let mounted = NtfsMount::open(path).expect("as before");
    assert!(std::fs::read(mounted.path("big")).expect("there") == big);
}

fn check(program: &str, path: &Path) {
    let arguments: &[&str] = match program {
        "ntfsresize" => &["--info", "--force", "--no-progress-bar", "--bad-sectors"],
        "btrfs" => &["check", "--readonly"],
        "e2fsck" => &["-f", "-n"],
        _ => &["-n"],
    };
    checked(Command::new(require_tool(program).expect("with its mkfs")).args(arguments).arg(path));
}

fn decrypted(cli: &Cli, name: &str, to: &str) {
    let done = cli.ends(0, &format!("cat @{name} {SECRET}"));
    std::fs::write(cli.path(to), done.stdout).expect("written");
}

fn start(cli: &Cli, words: &str) -> Child {
    let mut command = cli.command(cli.words(words));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("keyway starts")
}

/// XFS becomes no BitLocker volume in place: what can become of it is named, and can.
#[test]
fn an_xfs_is_told_what_can_become_of_it() {
    let cli = new();
    let Some(()) = cli.make("x", 320 << 20, "mkfs.xfs", &["-q"]) else { return };
    let hint = || {
        let refused = cli.json(5, &format!("encrypt @x --format bitlocker {SECRET} --yes"));
        assert_eq!(refused["error"]["kind"], "unsupported", "{refused}");
        refused["error"]["hint"].as_str().expect("a next step").to_owned()
    };
    let told = hint();
    for says in ["keyway encrypt ", " --grow", "keyway create NEW --size SIZE --format bitlocker", "copy"] {
        assert!(told.contains(says), "{told}");
    }
    let veracrypt = format!("encrypt @x {SECRET} --pim 1 --dry-run");
    cli.fails(2, "no-room", "add --grow", &veracrypt);
    cli.ends(0, &format!("{veracrypt} --grow"));
    // Where there is room behind it, it needs no more.
    let file = std::fs::File::options().write(true).open(cli.path("x")).expect("it is there");
    file.set_len(400 << 20).expect("room");
    let told = hint();
    assert!(told.contains("keyway encrypt ") && !told.contains("--grow"), "{told}");
    cli.ends(0, &veracrypt);
}

#[test]
fn every_file_system_becomes_a_volume_and_itself_again() {
    let cli = new();
    let kinds: [(&str, &[&str], &str, &str); 5] = [
        ("mkfs.ntfs", &["-q", "-F", "-f"], "ntfsresize", ""),
        ("mkfs.exfat", &[], "fsck.exfat", ""),
        ("mkfs.fat", &["-F", "32", "-s", "1"], "fsck.fat", "--cipher aes-xts-256"),
        ("mkfs.ext4", &["-q", "-F"], "e2fsck", "--cipher aes-cbc-128"),
        ("mkfs.btrfs", &["-q", "--mixed"], "btrfs", "--grow"),
    ];
    for (mkfs, arguments, checker, option) in kinds {
        if cli.make("d", SIZE, mkfs, arguments).is_none() || require_tool(checker).is_none() {
            continue;
        }
        if mkfs == "mkfs.btrfs" {
            let refused = cli.json(2, &format!("encrypt @d --format bitlocker {SECRET} --yes"));
            assert!(refused["missing_bytes"].as_u64().is_some_and(|n| n > 264 << 10), "{refused}");
        }
        let done = cli.json(0, &format!("encrypt @d --format bitlocker {SECRET} --yes {option}"));
        assert_eq!((done["state"].as_str(), done["format"].as_str()), (Some("done"), Some("bitlocker")));
        assert!(!cli.path("d.keyway-journal").exists());
        let info = cli.json(0, "info @d");
        assert_eq!(info["conversion_status"], "Fully Encrypted", "{info}");
        assert_eq!(info["used_space_only"], false);
        decrypted(&cli, "d", "plain");
        check(checker, &cli.path("plain"));
        let secret = BitLockerSecret::Password(PASSWORD);
        // dislocker rounds up to 8 KiB, and a file that grew is no multiple of that.
        let whole = cli.path("d").metadata().expect("there").len().is_multiple_of(8192);
        if whole && let Some(theirs) = dislocker_sha256(&cli.path("d"), secret) {
            assert_eq!(theirs, sha256_of_file(&cli.path("plain")), "{mkfs}");
        }
        let recovery = done["recovery_password"].as_str().expect("made");
        cli.ends(0, &format!("cat @d --length 512 --recovery-password {recovery}"));
        cli.ends(0, &format!("decrypt @d {SECRET} --yes"));
        check(checker, &cli.path("d"));
        cli.refused("usage", "begin one with `keyway encrypt ", &format!("resume @d {SECRET}"));
    }
}

#[test]
fn what_is_refused_late_leaves_no_smaller_file_system_and_no_key() {
    let cli = new();
    if cli.make("d", SIZE, "mkfs.ext4", &["-q", "-F"]).is_none() {
        return;
    }
    assert_eq!(ext4_bytes(&cli.path("d")), SIZE);
    std::fs::write(cli.path("journal"), "somebody's").expect("written");
    // A name that is taken is refused before anything is done, one that no file can have when it is made.
    let early = "encrypt @d --format bitlocker --recovery-file @key --journal @journal --yes";
    cli.fails(1, "exists", "name another file with --journal", &format!("{early} {SECRET}"));
    let words = early.replace("@journal", &format!("@{}", "j".repeat(300)));
    // What has become of the sizes.
    let told = |words: &str| {
        let refused = cli.json(1, words);
        let hint = refused["error"]["hint"].as_str().expect("advice");
        assert!(hint.ends_with("everything has the size again that it had"), "{hint}");
    };
    told(&format!("{words} {SECRET}"));
    assert_eq!(ext4_bytes(&cli.path("d")), SIZE, "the file system stayed smaller");
    assert!(!cli.path("key").exists(), "a key for nothing");
    assert_eq!(std::fs::read(cli.path("journal")).expect("there"), b"somebody's");
    check("e2fsck", &cli.path("d"));
    // Larger only while it lasts.
    told(&format!("{words} --grow {SECRET}"));
    assert_eq!(cli.path("d").metadata().expect("there").len(), SIZE, "the file stayed larger");
}

#[test]
fn used_space_only_takes_as_long_as_there_is_in_it() {
    let cli = new();
    let Some(big) = ntfs(&cli, "d") else { return };
    let words = format!("encrypt @d --format bitlocker --used-space-only {SECRET} --yes");
    let done = cli.json(0, &words);
    let bytes = done["total_bytes"].as_u64().expect("a number");
    assert!((7 << 20..16 << 20).contains(&bytes), "{bytes} bytes of {SIZE}");
    assert_eq!(cli.json(0, "info @d")["used_space_only"], true);
    decrypted(&cli, "d", "plain");
    let secret = BitLockerSecret::Password(PASSWORD);
    if let Some(theirs) = dislocker_sha256(&cli.path("d"), secret) {
        assert_eq!(theirs, sha256_of_file(&cli.path("plain")));
    }
    // Mounting it changes it.
    holds(&cli.path("plain"), &big);
    cli.ends(0, &format!("decrypt @d {SECRET} --yes"));
    holds(&cli.path("d"), &big);
}

/// What was deleted lies in free space until that is filled or trimmed.
#[test]
fn free_space_is_left_filled_or_trimmed() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let cli = new();
    let deleted = Rng::new(11).bytes(1 << 20);
    let at = 60 << 20;
    for how in ["leave", "fill", "trim"] {
        let Some(big) = ntfs(&cli, "d") else { return };
        let file = std::fs::File::options().read(true).write(true).open(cli.path("d")).expect("opens");
        file.write_all_at(&deleted, at).expect("written");
        let words =
            format!("encrypt @d --format bitlocker --used-space-only --free-space {how} {SECRET} --yes");
        let done = cli.json(0, &words);
        assert_eq!(done["free_space"], how, "{done}");
        let mut found = vec![0; deleted.len()];
        file.read_exact_at(&mut found, at).expect("read");
        assert_eq!(found == deleted, how == "leave", "{how}");
        let filled = found.chunks(512).all(|sector| sector.iter().any(|byte| *byte != 0));
        assert_eq!(filled, how != "trim", "{how}");
        let allocated = file.metadata().expect("there").blocks() * 512;
        match how {
            "fill" => assert!(allocated >= SIZE, "{allocated}"),
            "trim" => assert!(allocated < SIZE / 2, "{allocated}"),
            _ => {}
        }
        decrypted(&cli, "d", "plain");
        let secret = BitLockerSecret::Password(PASSWORD);
        if let Some(theirs) = dislocker_sha256(&cli.path("d"), secret) {
            assert_eq!(theirs, sha256_of_file(&cli.path("plain")), "{how}");
        }
        holds(&cli.path("plain"), &big);
    }
}

/// A pause leaves a volume that opens; here and elsewhere.
#[test]
fn a_paused_volume_is_used_and_goes_on() {
    let cli = new();
    let Some(big) = ntfs(&cli, "d") else { return };
    for (begin, word) in [
        (format!("encrypt @d --format bitlocker {SECRET} --yes --limit 2"), "Encryption"),
        (format!("decrypt @d {SECRET} --yes --limit 2"), "Decryption"),
    ] {
        let mut child = start(&cli, &begin);
        let began = Instant::now();
        loop {
            let status = cli.run("status @d --json");
            let document: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
            if document["conversion_status"] == format!("{word} in Progress")
                && document["done_bytes"].as_u64() > Some(3 << 20)
            {
                break;
            }
            assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going: {document}");
            std::thread::sleep(Duration::from_millis(20));
        }
        let refused = cli.json(1, &format!("cat @d {SECRET}"));
        assert_eq!(refused["error"]["kind"], "converting", "{refused}");
        let paused = cli.json(0, "pause @d");
        assert_eq!(child.wait().expect("ends").code(), Some(1));
        let percent = paused["percentage_encrypted"].as_f64().expect("a number");
        assert!((1.0..100.0).contains(&percent), "{paused}");
        // The metadata says the same as while it is converted, and nobody works on it.
        let (status, next) = (cli.json(0, "status @d"), format!("keyway resume {}", cli.path("d").display()));
        for document in [&paused, &status] {
            assert_eq!(document["conversion_status"], format!("{word} Paused"), "{document}");
            let seen = cli.json(0, "info @d");
            assert_eq!(
                seen["conversion_status"], document["conversion_status"],
                "info says the same: {seen}"
            );
            assert_eq!(document["resume_with"], next, "{document}");
        }
        let told = cli.ends(0, "status @d").stdout;
        let told = String::from_utf8_lossy(&told).into_owned();
        assert!(told.contains("what to do") && told.contains(&format!("{next}; nothing is lost")), "{told}");
        decrypted(&cli, "d", "plain");
        holds(&cli.path("plain"), &big);
        cli.fails(
            3,
            "wrong-recovery-password",
            "look for the paper that names it",
            "resume @d --recovery-password 471207-278498-422125-177177-561902-537405-468006-693451",
        );
        cli.ends(0, &format!("resume @d {SECRET}"));
        cli.refused("usage", "begin one with `keyway encrypt ", &format!("resume @d {SECRET}"));
    }
    holds(&cli.path("d"), &big);
}

/// Another method in place: paused it is nobody's, and what opened it before opens it after.
#[test]
fn a_volume_gets_another_method_and_keeps_what_opens_it() {
    let cli = new();
    let Some(big) = ntfs(&cli, "d") else { return };
    let words = format!("encrypt @d --format bitlocker --cipher aes-cbc-128 {SECRET} --yes");
    let made = cli.json(0, &words);
    let recovery = made["recovery_password"].as_str().expect("made").to_owned();
    cli.ends(0, "header backup @d @old");
    for (says, words) in [
        ("take aes-xts-128, aes-xts-256", format!("--cipher aes-cbc-128-elephant {SECRET} --yes")),
        ("leave --hash out", format!("--hash sha256 {SECRET} --yes")),
        ("`keyway protector` changes them", format!("--no-recovery-password {SECRET} --yes")),
        ("`keyway protector` changes them", format!("--new-password-file @pw {SECRET} --yes")),
        ("add --yes if that is what you want", SECRET.to_owned()),
    ] {
        cli.refused("usage", says, &format!("encrypt @d --reencrypt {words}"));
    }
    let refused = cli.json(5, &format!("encrypt @d --reencrypt --format veracrypt {SECRET} --yes --online"));
    assert_eq!(refused["error"]["kind"], "unsupported", "{refused}");

    let words = format!("encrypt @d --reencrypt --cipher aes-xts-128 {SECRET} --yes --limit 2");
    let mut child = start(&cli, &words);
    let began = Instant::now();
    loop {
        let status = cli.run("status @d --json");
        let document: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if document["conversion_status"] == "Encryption in Progress"
            && document["done_bytes"].as_u64() > Some(3 << 20)
        {
            break;
        }
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going: {document}");
        std::thread::sleep(Duration::from_millis(20));
    }
    let paused = cli.json(0, "pause @d");
    assert_eq!(child.wait().expect("ends").code(), Some(1));
    let status = cli.json(0, "status @d");
    for document in [paused, status] {
        assert_eq!(document["conversion"], "reencryption", "{document}");
        assert_eq!(document["conversion_status"], "Encryption Paused", "{document}");
        assert_eq!(document["encryption_method"], "AES 128", "{document}");
        assert_eq!(document["new_encryption_method"], "XTS-AES 128", "{document}");
    }
    // All of it is encrypted, though not all is done.
    let told = String::from_utf8(cli.ends(0, "status @d").stdout).expect("text");
    assert!(told.contains("100.0%") && told.contains(" % done; the rest is encrypted as before"), "{told}");
    for words in [format!("cat @d {SECRET}"), format!("decrypt @d {SECRET} --yes")] {
        let refused = cli.run(&words);
        assert!(!refused.status.success(), "{words}");
    }
    assert!(cli.path("d.keyway-journal").exists());
    cli.fails(
        3,
        "wrong-recovery-password",
        "look for the paper that names it",
        "resume @d --recovery-password 471207-278498-422125-177177-561902-537405-468006-693451",
    );
    cli.ends(0, &format!("resume @d --recovery-password {recovery}"));
    assert!(!cli.path("d.keyway-journal").exists());
    cli.refused("usage", "begin one with `keyway encrypt ", &format!("resume @d {SECRET}"));
    let info = cli.json(0, "info @d");
    assert_eq!(
        (info["cipher"].as_str(), info["conversion_status"].as_str()),
        (Some("aes-xts-128"), Some("Fully Encrypted"))
    );
    let secret = BitLockerSecret::Password(PASSWORD);
    decrypted(&cli, "d", "plain");
    if let Some(theirs) = dislocker_sha256(&cli.path("d"), secret) {
        assert_eq!(theirs, sha256_of_file(&cli.path("plain")));
    }
    cli.ends(0, &format!("cat @d --length 512 --recovery-password {recovery}"));
    holds(&cli.path("plain"), &big);
    // The old metadata would open it, to garbage.
    let refused = cli.json(1, &format!("header restore @d @old {SECRET} --yes"));
    assert_eq!(refused["error"]["kind"], "other-key", "{refused}");

    // Once more, and free space keeps its old noise.
    let words = format!("encrypt @d --reencrypt --cipher aes-xts-256 --used-space-only {SECRET} --yes");
    let done = cli.json(0, &words);
    assert!(done["total_bytes"].as_u64() < Some(SIZE / 2), "{done}");
    decrypted(&cli, "d", "plain");
    holds(&cli.path("plain"), &big);
}

/// On, to another method, and off; each is closed in the middle, and goes on.
#[test]
fn a_volume_is_written_while_it_is_converted_and_keeps_what_was_written() {
    let cli = new();
    let Some(()) = cli.make("d", SIZE, "mkfs.ext4", &["-q", "-F"]) else { return };
    let file_system = (SIZE - (1 << 20)) as usize;
    let resize = require_tool("resize2fs").expect("with mkfs.ext4");
    checked(Command::new(resize).arg(cli.path("d")).arg(format!("{}K", file_system >> 10)));
    let file = std::fs::File::options().write(true).open(cli.path("d")).expect("opens");
    file.set_len(SIZE).expect("sized");
    let mut content = std::fs::read(cli.path("d")).expect("read");
    content.truncate(file_system);
    let mut rng = Rng::new(5);
    let slow = "--yes --limit 4 --online --json";
    let kept = "--format bitlocker --cipher aes-cbc-128 --no-recovery-password";
    for begin in [
        format!("encrypt @d {kept} {SECRET} {slow}"),
        format!("encrypt @d --reencrypt --cipher aes-xts-128 {SECRET} {slow}"),
        format!("decrypt @d {SECRET} {slow}"),
    ] {
        for (words, to_the_end) in [(&begin, false), (&format!("resume @d {SECRET} --online --json"), true)] {
            let Some(status) = written_while_converted(&cli, words, to_the_end, &mut content, &mut rng)
            else {
                return;
            };
            if !to_the_end {
                assert!(status["resume_with"].is_string(), "{words} was through too early: {status}");
                let stays = begin.contains("reencrypt");
                assert_eq!(cli.run(&format!("cat @d {SECRET}")).status.success(), !stays, "{words}");
            }
            if !to_the_end && begin.contains("reencrypt") {
                continue;
            }
            let plain = match begin.starts_with("decrypt") && to_the_end {
                true => std::fs::read(cli.path("d")).expect("read"),
                false => cli.ends(0, &format!("cat @d {SECRET}")).stdout,
            };
            assert!(
                plain[..content.len()] == content,
                "{begin}, {words}: something else is in it than what was written, {status}"
            );
        }
        if begin.contains("reencrypt")
            && let Some(theirs) = dislocker_sha256(&cli.path("d"), BitLockerSecret::Password(PASSWORD))
        {
            decrypted(&cli, "d", "plain");
            assert_eq!(theirs, sha256_of_file(&cli.path("plain")));
        }
    }
    assert!(!cli.path("d.keyway-journal").exists());
}

/// Used space alone: what is free is noise at once, and what is written there stays. Closed in the middle it waits.
#[test]
fn used_space_is_encrypted_while_the_volume_is_written_everywhere() {
    let cli = new();
    let Some(_) = ntfs(&cli, "d") else { return };
    let mounted = NtfsMount::open(&cli.path("d")).expect("as before");
    std::fs::write(mounted.path("more"), Rng::new(4).bytes(20 << 20)).expect("written");
    drop(mounted);
    // In front of the metadata, which can't be written.
    let (mut content, mut rng) = (vec![0; 32 << 20], Rng::new(6));
    let begin = format!(
        "encrypt @d --format bitlocker --used-space-only --no-recovery-password {SECRET} --yes --online --limit 1 --json"
    );
    let Some(status) = written_while_converted(&cli, &begin, false, &mut content, &mut rng) else { return };
    assert!(status["resume_with"].is_string(), "it was through too early: {status}");
    assert_eq!(cli.json(1, &format!("cat @d {SECRET}"))["error"]["kind"], "converting");
    let resume = format!("resume @d {SECRET} --online --json");
    written_while_converted(&cli, &resume, true, &mut content, &mut rng).expect("as before");
    decrypted(&cli, "d", "plain");
    let plain = std::fs::read(cli.path("plain")).expect("read");
    assert!(plain[..content.len()] == content, "something else is in it than what was written");
    let info = cli.json(0, "info @d");
    assert_eq!(
        (&info["used_space_only"], info["conversion_status"].as_str()),
        (&true.into(), Some("Fully Encrypted"))
    );
    if let Some(theirs) = dislocker_sha256(&cli.path("d"), BitLockerSecret::Password(PASSWORD)) {
        assert_eq!(theirs, sha256_of_file(&cli.path("plain")));
    }
}

/// Kills it at random moments until it is through; how often it was killed.
fn killed(cli: &Cli, begin: &str, rng: &mut Rng, is_done: &dyn Fn(&Value) -> bool) -> u64 {
    let (mut kills, mut words) = (0, begin.to_owned());
    loop {
        let mut child = start(cli, &words);
        // Stretching the password takes a while before anything happens.
        // Later each time: however slow the machine is, it gets further than the last one.
        let until = Instant::now() + Duration::from_millis(300 + rng.below(1500) + 100 * kills);
        let status = loop {
            if let Some(status) = child.try_wait().expect("waits") {
                break Some(status);
            }
            if Instant::now() > until {
                child.kill().expect("SIGKILL");
                child.wait().expect("waits");
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        match status {
            Some(status) if status.success() => return kills,
            // It had not begun when it was killed, or was through.
            Some(status) => {
                let resumed = words.starts_with("resume");
                assert!(resumed && matches!(status.code(), Some(1 | 2)), "{words}: {status}");
                let info = cli.run("info @d --json");
                let document = serde_json::from_slice(&info.stdout).unwrap_or_default();
                if is_done(if info.status.success() { &document } else { &Value::Null }) {
                    return kills;
                }
                words = begin.to_owned();
            }
            None => {
                kills += 1;
                words = format!("resume @d {SECRET} --limit 60");
            }
        }
        let journal = cli.path("d.keyway-journal");
        let under_way = cli.run("status @d --json");
        let document: Value = serde_json::from_slice(&under_way.stdout).unwrap_or_default();
        if document["conversion"].is_null() && journal.exists() {
            // A journal whose run had not begun.
            std::fs::remove_file(journal).expect("removed");
        }
    }
}

#[test]
fn killing_it_at_any_moment_loses_nothing() {
    let wanted = if std::env::var_os("KEYWAY_SLOW").is_some() { 500 } else { 5 };
    let (mut kills, mut rounds, mut rng) = (0, 0, Rng::new(std::process::id().into()));
    let cli = new();
    while kills < wanted {
        let Some(big) = ntfs(&cli, "d") else { return };
        kills += killed(
            &cli,
            &format!("encrypt @d --format bitlocker {SECRET} --yes --limit 60 --no-recovery-password"),
            &mut rng,
            &|info| !info.is_null(),
        );
        kills += killed(
            &cli,
            &format!("encrypt @d --reencrypt --cipher aes-cbc-256 {SECRET} --yes --limit 60"),
            &mut rng,
            &|info| info["cipher"] == "aes-cbc-256",
        );
        assert_eq!(cli.json(0, "info @d")["cipher"], "aes-cbc-256");
        decrypted(&cli, "d", "plain");
        holds(&cli.path("plain"), &big);
        let words = format!("decrypt @d {SECRET} --yes --limit 60");
        kills += killed(&cli, &words, &mut rng, &|info| info.is_null());
        holds(&cli.path("d"), &big);
        rounds += 1;
    }
    eprintln!("{kills} kills in {rounds} rounds");
}

#[test]
fn what_can_not_be_is_refused_before_anything_changes() {
    let cli = new();
    let Some(()) = cli.make("d", SIZE, "mkfs.ntfs", &["-q", "-F", "-f"]) else { return };
    let before = sha256_of_file(&cli.path("d"));
    for (code, kind, says, words) in [
        (2, "usage", "add --yes if that is what you want", format!("encrypt @d --format bitlocker {SECRET}")),
        (
            2,
            "usage",
            "take aes-xts-128, aes-xts-256",
            format!("encrypt @d --format bitlocker {SECRET} --yes --cipher aes"),
        ),
        (
            2,
            "usage",
            "leave --hash out",
            format!("encrypt @d --format bitlocker {SECRET} --yes --hash sha512"),
        ),
        (2, "usage", "leave --to-go out", format!("encrypt @d --format bitlocker {SECRET} --yes --to-go")),
        (
            2,
            "usage",
            "leave --keyfile and --pim out",
            format!("encrypt @d --format bitlocker {SECRET} --yes --pim 3"),
        ),
        (
            2,
            "usage",
            "leave --free-space out, or --online",
            format!(
                "encrypt @d --format bitlocker --used-space-only --free-space fill --online {SECRET} --yes"
            ),
        ),
        (
            4,
            "not-a-volume",
            "an NTFS file system, unencrypted",
            format!("encrypt @d --format bitlocker {SECRET} --yes --reencrypt"),
        ),
        (
            2,
            "usage",
            "there is no volume yet that anything could open",
            format!("encrypt @d --format bitlocker --recovery-password 0 {SECRET} --yes"),
        ),
        (
            2,
            "usage",
            "add --recovery-file FILE, or --no-recovery-password",
            format!("encrypt @d --format bitlocker {SECRET} --yes --online"),
        ),
        (
            2,
            "usage",
            "add --recovery-file FILE, or --no-recovery-password",
            format!("encrypt @d --format bitlocker {SECRET} --yes --online --used-space-only"),
        ),
        (2, "usage", "begin one with `keyway encrypt ", format!("resume @d {SECRET}")),
    ] {
        cli.fails(code, kind, says, &words);
    }
    assert_eq!(sha256_of_file(&cli.path("d")), before, "something was changed");
    // As Windows leaves it when it hibernates, or wants it checked.
    let mut bytes = std::fs::read(cli.path("d")).expect("read");
    let mft = u64::from_le_bytes(bytes[48..56].try_into().expect("eight")) as usize * 4096;
    let volume = mft + 3 * 1024;
    let at = (volume..volume + 1024 - 4)
        .step_by(8)
        .find(|at| bytes[*at..*at + 4] == [0x70, 0, 0, 0])
        .expect("the volume's flags");
    let flags = at + usize::from(bytes[at + 20]) + 10;
    bytes[flags] |= 1;
    std::fs::write(cli.path("d"), &bytes).expect("written");
    let before = sha256_of(bytes.as_slice());
    let refused = cli.json(1, &format!("encrypt @d --format bitlocker {SECRET} --yes"));
    assert!(
        refused["error"]["message"].as_str().is_some_and(|m| m.contains("not left in order")),
        "{refused}"
    );
    assert_eq!(sha256_of_file(&cli.path("d")), before, "something was changed");
}
