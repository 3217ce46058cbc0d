//! `encrypt --reencrypt --format …`: volumes go from VeraCrypt to BitLocker and back, are paused and ended by SIGKILL on
//! the way, and other programs read what comes out.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked, ext4_bytes, has_fuse};
use keyway_testkit::{
    BitLockerSecret, NtfsMount, Rng, Table, dislocker_sha256, dissect_sha256, libbde_sha256, require_root,
    require_tool, sha256_of, sha256_of_file, unpack_xz, volumes,
};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const OTHER: &str = "another-twenty-characters-and-more";
const SIZE: u64 = 72 << 20;
const VERACRYPT: &str = "--password-file @pw --pim 1";
const BITLOCKER: &str = "--password-file @pw2";
const TO_BITLOCKER: &str =
    "encrypt @d --reencrypt --format bitlocker --password-file @pw --pim 1 --new-password-file @pw2 --yes";
const TO_VERACRYPT: &str = "encrypt @d --reencrypt --format veracrypt --password-file @pw2 --new-password-file @pw --new-pim 1 --yes";

fn new() -> Cli {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("pw2", OTHER);
    cli
}

/// A VeraCrypt volume with an ext4 with a file in it; the plain content of the ext4.
fn veracrypt(cli: &Cli) -> Option<Vec<u8>> {
    let folder = cli.path("content");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("big"), Rng::new(7).bytes(9 << 20)).expect("written");
    cli.make("d", SIZE, "mkfs.ext4", &["-q", "-F", "-d", folder.to_str().expect("text")])?;
    cli.ends(0, &format!("encrypt @d {VERACRYPT} --yes"));
    let mut plain = plain(cli, VERACRYPT);
    std::fs::write(cli.path("plain"), &plain).expect("written");
    plain.truncate(ext4_bytes(&cli.path("plain")) as usize);
    Some(plain)
}

fn plain(cli: &Cli, secret: &str) -> Vec<u8> {
    cli.ends(0, &format!("cat @d {secret}")).stdout
}

fn start(cli: &Cli, words: &str) -> Child {
    let mut command = cli.command(cli.words(words));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("keyway starts")
}

/// All judges read the same as we do. libbde gives as much as NTFS says that it has.
fn judged(path: &Path, secret: BitLockerSecret<'_>, plain: &[u8]) {
    if let Some(theirs) = dislocker_sha256(path, secret) {
        assert_eq!(theirs, sha256_of(plain), "dislocker");
    }
    let sectors = u64::from_le_bytes(plain[40..48].try_into().expect("eight bytes")) as usize;
    if let Some(theirs) = libbde_sha256(path, secret) {
        assert_eq!(theirs, sha256_of(&plain[..sectors * 512]), "libbde");
    }
    let end = plain.len() as u64;
    let stretches = [0..131_072, end / 2..end / 2 + 131_072, end - 262_144..end];
    let parts: Vec<u8> =
        stretches.iter().flat_map(|r| &plain[r.start as usize..r.end as usize]).copied().collect();
    if let Some(theirs) = dissect_sha256(path, secret, &stretches) {
        assert_eq!(theirs, sha256_of(parts.as_slice()), "dissect.fve");
    }
}

#[test]
fn a_volume_goes_to_bitlocker_and_back_and_others_read_it() {
    let cli = new();
    let Some(()) = cli.make("d", SIZE, "mkfs.ntfs", &["-q", "-F", "-f"]) else { return };
    let Some(mounted) = NtfsMount::open(&cli.path("d")) else { return };
    std::fs::write(mounted.path("big"), Rng::new(5).bytes(9 << 20)).expect("written");
    drop(mounted);
    cli.ends(0, &format!("encrypt @d {VERACRYPT} --yes"));
    let whole = plain(&cli, VERACRYPT);
    let done = cli.json(0, &format!("{TO_BITLOCKER} --cipher aes-xts-128"));
    assert_eq!(
        (done["state"].as_str(), done["format"].as_str()),
        (Some("done"), Some("bitlocker")),
        "{done}"
    );
    assert!(!cli.path("d.keyway-journal").exists());
    cli.fails(
        4,
        "not-a-volume",
        "it starts with a BitLocker header",
        &format!("cat @d --format veracrypt --header backup {VERACRYPT} --hash sha512 --length 512"),
    );
    let now = plain(&cli, BITLOCKER);
    assert!(now[..whole.len()] == whole, "the content is another");
    let info = cli.json(0, "info @d");
    assert_eq!(info["conversion_status"], "Fully Encrypted", "{info}");
    let recovery = done["recovery_password"].as_str().expect("made");
    judged(&cli.path("d"), BitLockerSecret::Password(OTHER), &now);
    judged(&cli.path("d"), BitLockerSecret::Recovery(recovery), &now);
    cli.ends(0, "header check @d");

    // What opens it may be any of its protectors.
    let words = TO_VERACRYPT.replace("--password-file @pw2", &format!("--recovery-password {recovery}"));
    let done = cli.json(0, &format!("{words} --cipher serpent-aes"));
    assert_eq!(
        (done["state"].as_str(), done["format"].as_str()),
        (Some("done"), Some("veracrypt")),
        "{done}"
    );
    assert_eq!(cli.json(0, &format!("info @d {VERACRYPT}"))["cipher"], "serpent-aes");
    // What is behind the file system is nobody's.
    let upto = u64::from_le_bytes(whole[40..48].try_into().expect("eight bytes")) as usize * 512 + 512;
    assert!(plain(&cli, VERACRYPT)[..upto] == whole[..upto], "the content is another");
    cli.ends(0, &format!("header check @d {VERACRYPT}"));
    cli.ends(0, &format!("info @d {VERACRYPT} --header backup"));
}

#[test]
fn what_windows_encrypted_becomes_a_veracrypt_volume_with_the_same_content() {
    let Some(folder) = volumes() else { return };
    let folder = folder.join("bitlocker");
    let table = Table::read(&folder.join("INDEX.tsv"));
    let cli = new();
    for name in ["bitlk-aes-xts-128.img.xz", "bitlk-aes-cbc-elephant-128.img.xz"] {
        let Some(file) = unpack_xz(&folder.join(name)) else { return };
        std::fs::copy(file.path(), cli.path("d")).expect("copied");
        drop(file);
        let row = table.rows().iter().find(|row| row.get("file") == name).expect("in the index");
        cli.keyway.secret("theirs", row.get("password"));
        let size = cli.path("d").metadata().expect("there").len() as usize;
        let words = TO_VERACRYPT.replace("@pw2", "@theirs");
        cli.ends(0, &format!("{words} --grow"));
        let content = plain(&cli, VERACRYPT);
        assert_eq!(sha256_of(&content[..size]), row.get("sha256_of_decrypted_volume"), "{name}");
    }
}

/// NTFS reaches to the end of a BitLocker volume: it is made smaller while it is attached.
#[test]
fn a_file_system_that_leaves_no_room_is_made_smaller() {
    let cli = new();
    if !has_fuse() {
        return;
    }
    let Some(()) = cli.make("d", SIZE, "mkfs.ntfs", &["-q", "-F", "-f"]) else { return };
    let big = Rng::new(3).bytes(7 << 20);
    let Some(mounted) = NtfsMount::open(&cli.path("d")) else { return };
    std::fs::write(mounted.path("big"), &big).expect("written");
    drop(mounted);
    cli.ends(0, &format!("encrypt @d --format bitlocker {BITLOCKER} --yes"));
    // A name that is taken is refused before anything is done.
    cli.keyway.secret("d.keyway-journal", "somebody's");
    cli.fails(1, "exists", "name another file with --journal", TO_VERACRYPT);
    // One that no file can have is refused late: what has become of the sizes.
    let late = format!("{TO_VERACRYPT} --journal @{}", "j".repeat(300));
    for (words, size) in [(late.clone(), "its NTFS file system"), (format!("{late} --grow"), "the file")] {
        let refused = cli.json(1, &words);
        let hint = refused["error"]["hint"].as_str().expect("advice");
        assert!(hint.ends_with(&format!("{size} has the size again that it had")), "{hint}");
        assert_eq!(cli.path("d").metadata().expect("there").len(), SIZE);
    }
    std::fs::remove_file(cli.path("d.keyway-journal")).expect("removed");
    cli.ends(0, TO_VERACRYPT);
    assert_eq!(cli.path("d").metadata().expect("there").len(), SIZE);
    std::fs::write(cli.path("plain"), plain(&cli, VERACRYPT)).expect("written");
    let program = require_tool("ntfsresize").expect("with mkfs.ntfs");
    checked(
        Command::new(program)
            .args(["--info", "--force", "--no-progress-bar", "--bad-sectors"])
            .arg(cli.path("plain")),
    );
    let mounted = NtfsMount::open(&cli.path("plain")).expect("as before");
    assert!(std::fs::read(mounted.path("big")).expect("there") == big);
}

/// The document of a conversion that is under way, as soon as some of it is done.
fn under_way(cli: &Cli, child: &mut Child) -> Value {
    let began = Instant::now();
    loop {
        let status = cli.run("status @d --json");
        let document: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if document["pid"].is_number() && document["done_bytes"].as_u64() > Some(3 << 20) {
            return document;
        }
        assert!(child.try_wait().expect("known").is_none(), "it has ended: {document}");
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going: {document}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_pause_is_told_of_and_needs_both_secrets_to_go_on() {
    let cli = new();
    let Some(content) = veracrypt(&cli) else { return };
    let mut child = start(&cli, &format!("{TO_BITLOCKER} --no-recovery-password --limit 2"));
    let document = under_way(&cli, &mut child);
    assert_eq!(document["conversion_status"], "Encryption in Progress", "{document}");
    let paused = cli.json(0, "pause @d");
    assert_eq!(child.wait().expect("ends").code(), Some(1));
    for document in [paused, cli.json(0, "status @d"), cli.json(0, "info @d")] {
        assert_eq!(document["conversion"], "reencryption", "{document}");
        assert_eq!(document["conversion_status"], "Encryption Paused", "{document}");
        assert_eq!(
            (document["format"].as_str(), document["new_format"].as_str()),
            (Some("veracrypt"), Some("bitlocker"))
        );
        assert_eq!(document["key_protectors"][0]["kind"], "password", "{document}");
        let percent = document["percentage_done"].as_f64().expect("told");
        assert!(percent > 0.0 && percent < 100.0, "{document}");
    }
    for words in [
        format!("cat @d {VERACRYPT}"),
        format!("cat @d {BITLOCKER}"),
        format!("open @d {BITLOCKER}"),
        format!("decrypt @d {BITLOCKER} --yes"),
        format!("{TO_BITLOCKER} --no-recovery-password"),
        format!("header backup @d @backup {BITLOCKER}"),
    ] {
        let refused = cli.run(&words);
        assert!(!refused.status.success(), "{words}");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("keyway resume"), "{words}: {said}");
    }
    cli.fails(
        3,
        "wrong-secret",
        "check the password, and that this is the right file or device",
        "resume @d --password-file @pw --pim 1 --new-password-file @pw",
    );
    cli.fails(
        3,
        "wrong-secret",
        "give the new volume's own with --new-password-file",
        "resume @d --password-file @pw --pim 1 --new-password-file @pw",
    );
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "resume @d --password-file @pw2 --pim 1 --new-password-file @pw2",
    );
    cli.fails(
        5,
        "unsupported",
        "leave --online out; a new cipher of the same format can be had with",
        "resume @d --password-file @pw --pim 1 --new-password-file @pw2 --online",
    );
    cli.ends(0, "resume @d --password-file @pw --pim 1 --new-password-file @pw2");
    assert!(plain(&cli, BITLOCKER)[..content.len()] == content, "the content is another");
}

/// The journal is on another drive, and that is not mounted when somebody goes on.
#[test]
fn a_journal_that_is_out_of_reach_is_asked_for() {
    let cli = new();
    let Some(content) = veracrypt(&cli) else { return };
    let before = std::fs::read(cli.path("d")).expect("read");
    std::fs::create_dir(cli.path("away")).expect("made");
    let mut child =
        start(&cli, &format!("{TO_BITLOCKER} --no-recovery-password --limit 2 --journal @away/journal"));
    under_way(&cli, &mut child);
    cli.ends(0, "pause @d");
    child.wait().expect("ends");
    let half = std::fs::read(cli.path("d")).expect("read");
    // As it was found if the power had failed before the marker was in front: the last page alone tells of it.
    let (mut not_begun, page) = (before, half.len() - 4096);
    not_begun[page..].copy_from_slice(&half[page..]);
    let resume =
        "resume @d --password-file @pw --pim 1 --new-password-file @pw2 --journal @away/journal".to_owned();
    cli.asks_for_its_journal("d", [&half, &not_begun], std::slice::from_ref(&resume));
    std::fs::write(cli.path("d"), &half).expect("written");
    cli.ends(0, &resume);
    assert!(!cli.path("away/journal").exists());
    assert!(plain(&cli, BITLOCKER)[..content.len()] == content, "the content is another");
}

#[test]
fn ended_by_force_at_any_moment_nothing_is_lost() {
    let wanted = if std::env::var_os("KEYWAY_SLOW").is_some() { 300 } else { 8 };
    let cli = new();
    let Some(content) = veracrypt(&cli) else { return };
    let (mut rng, mut kills, mut rounds, mut is_bitlocker) = (Rng::new(99), 0, 0, false);
    // The longest time until a kill, in ms: longer where nothing gets anywhere by then, shorter where all of it does.
    // Not shorter than at first: before it is at work, a conversion derives keys.
    let (mut longest, mut tries) = (1500, 0);
    // Kills that found more done than those before them.
    let (mut at_work, mut reached) = (0, None);
    let began = Instant::now();
    while kills < wanted || rounds < 2 {
        let (begin, secrets) = match is_bitlocker {
            false => (TO_BITLOCKER, "--password-file @pw --pim 1 --new-password-file @pw2"),
            true => (TO_VERACRYPT, "--password-file @pw2 --new-password-file @pw --new-pim 1"),
        };
        let mut words = format!("{begin} --limit 60");
        loop {
            let mut child = start(&cli, &words);
            std::thread::sleep(Duration::from_millis(rng.below(longest)));
            tries += 1;
            // Ended by then or not: both are right.
            kills += u64::from(child.kill().is_ok() && child.wait().expect("ends").code().is_none());
            let resumed = format!("resume @d {secrets}");
            let half = cli.run("info @d --json");
            let document: Value = serde_json::from_slice(&half.stdout).unwrap_or_default();
            if document["conversion"] == "reencryption" {
                let now = document["percentage_done"].as_f64();
                at_work += u64::from(now != reached);
                reached = now;
                if is_bitlocker {
                    let wrong = "resume @d --password-file @pw2 --new-password-file @pw2 --new-pim 1";
                    cli.fails(3, "wrong-secret", "the secret of the new volume", wrong);
                    cli.fails(3, "wrong-secret", "--new-pim", wrong);
                    cli.refused("usage", "--new-pim", "resume @d --password-file @pw2 --pim 1");
                }
                words = format!("{resumed} --limit 60");
                if rng.below(3) != 0 {
                    continue;
                }
                cli.ends(0, &resumed);
                break;
            }
            // It had not begun, or was through; what is left of it says which.
            let done = cli.run(&resumed);
            assert!(matches!(done.status.code(), Some(0..=2)), "{done:?}");
            let _ = std::fs::remove_file(cli.path("d.keyway-journal"));
            let is_now = cli.json(0, "info @d")["format"] == "bitlocker";
            if is_now != is_bitlocker {
                longest = (longest * 3 / 4).max(1500);
                break;
            }
            words = format!("{begin} --limit 60");
            longest += 250;
        }
        is_bitlocker = !is_bitlocker;
        let secret = if is_bitlocker { BITLOCKER } else { VERACRYPT };
        assert!(plain(&cli, secret)[..content.len()] == content, "the content is another");
        (rounds, reached) = (rounds + 1, None);
    }
    let took = began.elapsed().as_secs();
    eprintln!(
        "{kills} kills in {tries} tries, {at_work} of them with more done than before; {rounds} rounds, {took} s, at most {longest} ms until a kill"
    );
}

#[test]
fn what_can_not_be_is_refused_before_anything_changes() {
    let cli = new();
    cli.keyway.secret("short", "tiny");
    cli.ends(0, &format!("create @d --size 64M --quick {VERACRYPT}"));
    cli.ends(0, &format!("create @small --size 8M --quick {VERACRYPT}"));
    cli.ends(0, &format!("create @b --size 64M --format bitlocker --quick --filesystem none {BITLOCKER}"));
    let before = ["d", "small", "b"].map(|name| sha256_of_file(&cli.path(name)));
    let small = TO_BITLOCKER.replace("@d", "@small");
    let back = TO_VERACRYPT.replace("@d", "@b");
    for (code, kind, says, words) in [
        (5, "unsupported", "leave --online out", format!("{TO_BITLOCKER} --online")),
        (2, "usage", "add --yes if that is what you want", TO_BITLOCKER.replace("--yes", "")),
        (
            2,
            "usage",
            "give its password with --new-password-file",
            TO_BITLOCKER.replace("--new-password-file @pw2", ""),
        ),
        (2, "usage", "use --new-pim and --new-keyfile", format!("{back} --pim 2")),
        (2, "usage", "leave --keyfile and --pim out", format!("{TO_BITLOCKER} --new-pim 3")),
        (2, "usage", "leave --hash out", format!("{TO_BITLOCKER} --hash sha512")),
        (2, "usage", "leave --to-go out", format!("{TO_BITLOCKER} --to-go")),
        (2, "usage", "leave --grow out", format!("{TO_BITLOCKER} --grow")),
        (2, "usage", "take aes-xts-128, aes-xts-256", format!("{TO_BITLOCKER} --cipher serpent")),
        (
            2,
            "usage",
            "give the volume's password or keyfiles",
            format!("{TO_BITLOCKER} --recovery-password {}", ["000011"; 8].join("-")),
        ),
        (3, "wrong-secret", "check the password, --keyfile and --pim", TO_BITLOCKER.replace("@pw ", "@pw2 ")),
        (2, "usage", "a BitLocker volume needs at least 67108864", small),
        (5, "unsupported", "leave --online out", format!("{back} --online")),
        (
            2,
            "usage",
            "leave --to-go, --no-password, --startup-key-out",
            format!("{back} --no-recovery-password"),
        ),
        (2, "usage", "in a VeraCrypt volume AES is --cipher aes", format!("{back} --cipher aes-xts-128")),
        (
            3,
            "wrong-secret",
            "check the password, and that this is the right file",
            back.replace("@pw2", "@short"),
        ),
    ] {
        cli.fails(code, kind, says, &words);
    }
    // Nothing known is in it, so all of it counts, and headers have no room.
    let refused = cli.json(2, &back);
    assert_eq!(refused["missing_bytes"], 256 << 10, "{refused}");
    assert_eq!(
        ["d", "small", "b"].map(|name| sha256_of_file(&cli.path(name))),
        before,
        "something was changed"
    );
    for name in ["d", "small", "b"] {
        assert!(!cli.path(&format!("{name}.keyway-journal")).exists(), "{name}");
    }
}

#[test]
fn what_opens_the_new_volume_is_told_as_it_is_typed() {
    let cli = new();
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    std::fs::write(cli.path("kf"), "a keyfile").expect("written");
    std::fs::create_dir(cli.path("keys")).expect("made");
    cli.ends(0, &format!("create @d --size 80M --quick --filesystem fat --keyfile @kf {VERACRYPT}"));
    let next = |words: &str| {
        let said = String::from_utf8_lossy(&cli.ends(0, words).stdout).into_owned();
        let next =
            said.lines().find_map(|line| line.split_once(" keyway open ")).expect("it says").1.to_owned();
        next.strip_prefix(&cli.path("d").display().to_string()).expect("the volume").trim().to_owned()
    };
    let to = "--format bitlocker --no-password --startup-key-out @keys";
    let key = next(&format!("encrypt @d --reencrypt {to} --keyfile @kf {VERACRYPT} --yes"));
    assert!(key.starts_with("--startup-key ") && key.ends_with(".BEK"), "{key}");
    cli.ends(0, &format!("cat @d --length 1 {key}"));
    let to = "--format veracrypt --new-password-file @pw --new-pim 1 --new-keyfile @kf";
    let secret = next(&format!("encrypt @d --reencrypt --grow {to} {key} --yes"));
    assert_eq!(secret, format!("--pim 1 --keyfile {}", cli.path("kf").display()));
    cli.ends(0, &format!("cat @d --length 1 --password-file @pw {secret}"));
    // A password is asked for: nothing stands for it.
    let to = "--format bitlocker --new-password-file @pw2";
    assert_eq!(next(&format!("encrypt @d --reencrypt {to} --keyfile @kf {VERACRYPT} --yes")), "");
}

/// A loop device; detached when dropped.
struct Loop {
    losetup: std::path::PathBuf,
    device: String,
}

impl Loop {
    fn of(path: &Path) -> Option<Self> {
        let losetup = require_tool("losetup").filter(|_| require_root())?;
        let made = Command::new(&losetup).args(["--find", "--show"]).arg(path).output().expect("runs");
        if !made.status.success() {
            keyway_testkit::skip("there are no loop devices here");
            return None;
        }
        let device = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        Some(Self { losetup, device })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new(&self.losetup).arg("--detach").arg(&self.device).status();
    }
}

/// A device's headers can't stay on it meanwhile, and there is no place beside it.
#[test]
fn a_device_needs_a_file_that_is_named() {
    let cli = new();
    let Some(content) = veracrypt(&cli) else { return };
    let Some(device) = Loop::of(&cli.path("d")) else { return };
    let on_device = |words: &str| words.replace("@d ", &format!("{} ", device.device));
    cli.refused("usage", "--journal", &on_device(TO_BITLOCKER));
    cli.ends(0, &format!("{} --journal @file", on_device(TO_BITLOCKER)));
    cli.refused(
        "usage",
        "name a new file on another drive: --journal FILE; it must not get",
        &on_device(TO_VERACRYPT),
    );
    cli.ends(0, &format!("{} --journal @file", on_device(TO_VERACRYPT)));
    assert!(!cli.path("file").exists());
    drop(device);
    assert!(plain(&cli, VERACRYPT)[..content.len()] == content, "the content is another");
}
