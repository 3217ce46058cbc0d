//! `keyway create --format bitlocker` from the command line, and files that go from one program to
//! the other: what Keyway writes dislocker reads, what dislocker writes Keyway reads.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, two_lines};
use keyway_testkit::{
    BitLockerSecret, DislockerMount, NtfsMount, Rng, require_fuse, require_tool, sha256_of,
};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

const SECRET: BitLockerSecret<'static> = BitLockerSecret::Password(PASSWORD);

impl Cli {
    /// Makes a BitLocker volume; what `create --json` said.
    fn bitlocker(&self, name: &str, more: &str) -> Value {
        self.keyway.secret("pw", PASSWORD);
        let fixed = "--format bitlocker --size 64M --quick --password-file @pw";
        self.json(0, &format!("create @{name} {fixed} {more}"))
    }
}

fn text<'a>(answer: &'a Value, key: &str) -> &'a str {
    answer.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("no {key} in {answer}"))
}

#[test]
fn every_secret_that_was_made_opens_it() {
    let cli = Cli::new();
    std::fs::create_dir(cli.path("keys")).expect("a folder");
    let answer = cli.bitlocker("volume", "--startup-key-out @keys --cipher aes-cbc-256");
    assert_eq!(text(&answer, "format"), "bitlocker");
    assert_eq!(text(&answer, "cipher"), "aes-cbc-256");
    assert_eq!(answer["data_bytes"], 64 << 20);
    let recovery = text(&answer, "recovery_password").to_owned();
    assert_eq!(recovery.len(), 55, "{recovery}");
    let plain = cli.ends(0, "cat @volume --length 8192 --password-file @pw").stdout;
    assert_eq!(plain.len(), 8192);
    let startup_key = text(&answer, "startup_key").to_owned();
    for secret in [format!("--recovery-password {recovery}"), format!("--startup-key {startup_key}")] {
        assert_eq!(cli.ends(0, &format!("cat @volume --length 8192 {secret}")).stdout, plain, "{secret}");
    }
    // As each recovery password, this one is seen to be mistyped.
    let last = if recovery.ends_with('1') { '2' } else { '1' };
    let typo = format!("{}{last}", &recovery[..54]);
    cli.fails(
        3,
        "mistyped-recovery-password",
        "compare it with the paper",
        &format!("cat @volume --length 512 --recovery-password {typo}"),
    );
    let info = cli.json(0, "info @volume");
    assert_eq!(info["conversion_status"], "Fully Encrypted");
    assert_eq!(info["key_protectors"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_recovery_password_goes_to_a_file_when_asked_to() {
    let cli = Cli::new();
    let answer = cli.bitlocker("volume", "--recovery-file @recovery --filesystem none");
    assert!(answer["recovery_password"].is_null());
    let told = std::fs::read_to_string(cli.path("recovery")).expect("the file");
    // Windows writes it in capitals.
    assert!(told.contains(&text(&answer, "recovery_password_id").to_uppercase()), "{told}");
    cli.ends(0, "cat @volume --length 512 --recovery-password @recovery");
    // A file that is there is not overwritten, and no volume is made without it.
    cli.fails(
        1,
        "exists",
        "choose another name, or move the old one away",
        "create @second --format bitlocker --size 64M --quick --password-file @pw --recovery-file @recovery",
    );
    assert!(!cli.path("second").exists());
    assert_eq!(std::fs::read_to_string(cli.path("recovery")).expect("the file"), told);
    // And where no volume comes of it, neither does the file.
    cli.refused(
        "usage",
        "a BitLocker volume needs at least 67108864",
        "create @second --format bitlocker --size 1M --quick --password-file @pw --recovery-file @third",
    );
    assert!(!cli.path("second").exists() && !cli.path("third").exists());
}

#[test]
fn one_protector_is_enough_and_none_is_too_few() {
    let cli = Cli::new();
    let only = cli.json(0, "create @volume --format bitlocker --size 64M --quick --no-password");
    let recovery = text(&only, "recovery_password");
    cli.ends(0, &format!("cat @volume --length 512 --recovery-password {recovery}"));
    cli.bitlocker("second", "--no-recovery-password");
    cli.ends(0, "cat @second --length 512 --password-file @pw");
    cli.refused(
        "usage",
        "give it a password, a recovery password or a startup key",
        "create @third --format bitlocker --size 64M --quick --no-password --no-recovery-password",
    );
    assert!(!cli.path("third").exists());
}

#[test]
fn what_bitlocker_has_not_is_wrong_usage() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("short", "seven77");
    let base = "create @volume --format bitlocker --quick --password-file @pw";
    for (wrong, told) in [
        ("--size 63M", "too few"),
        ("--size 64M --filesystem ext4", "ext4"),
        ("--size 64M --cipher aes", "no cipher called aes"),
        ("--size 64M --cipher aes-cbc-128-elephant", "old volumes"),
        ("--size 64M --hidden 8M", "hidden"),
        ("--size 64M --pim 3", "PIM"),
        ("--size 64M --hash sha512", "hash"),
        ("--size 64M --no-password", "--no-password"),
        ("", "size"),
    ] {
        let (message, hint) = two_lines(&cli.ends(2, &format!("{base} {wrong}")));
        assert!(message.contains(told) && !hint.is_empty(), "{wrong}: {message} / {hint}");
        assert!(!cli.path("volume").exists());
    }
    cli.refused(
        "usage",
        "BitLocker takes 8 to 256",
        "create @volume --format bitlocker --size 64M --quick --password-file @short",
    );
    cli.refused(
        "usage",
        "add --format bitlocker, or leave them out",
        "create @volume --size 64M --quick --password-file @pw --to-go",
    );
    assert!(!cli.path("volume").exists());
    cli.bitlocker("volume", "");
    // What is there is not overwritten.
    let before = std::fs::read(cli.path("volume")).expect("the volume");
    cli.fails(
        1,
        "exists",
        "choose another name, or replace it with --force; for a hidden volume",
        &format!("{base} --size 64M"),
    );
    assert_eq!(std::fs::read(cli.path("volume")).expect("the volume"), before);
    cli.ends(0, &format!("{base} --size 64M --force --yes --cipher aes-xts-256"));
    assert_eq!(cli.json(0, "info @volume")["cipher"], "aes-xts-256");
}

/// A full volume has no byte that looks like nothing, and the metadata is where it should be.
#[test]
fn a_full_volume_is_filled() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @volume --format bitlocker --size 64M --password-file @pw --filesystem none");
    let bytes = std::fs::read(cli.path("volume")).expect("the volume");
    let zeros = bytes.chunks_exact(512).filter(|sector| sector.iter().all(|byte| *byte == 0)).count();
    // The three copies' own padding.
    assert!(zeros < 3 * 128, "{zeros}");
    cli.ends(0, "cat @volume --length 512 --password-file @pw");
}

#[test]
fn files_go_both_ways_until_the_volume_is_full() {
    for cipher in ["aes-xts-128", "aes-cbc-128"] {
        if !require_fuse()
            || ["dislocker-fuse", "ntfs-3g", "mkfs.ntfs"].iter().any(|tool| require_tool(tool).is_none())
        {
            return;
        }
        let cli = Cli::new();
        cli.bitlocker("volume", &format!("--filesystem ntfs --label INSIDE --cipher {cipher}"));
        let volume = cli.path("volume");
        let mut rng = Rng::new(4);
        let (theirs, ours) = (rng.bytes(700_001), rng.bytes(900_001));

        // dislocker writes, Keyway reads.
        let dislocker = DislockerMount::open(&volume, SECRET).expect("its programs are here");
        let ntfs = NtfsMount::open(&dislocker.file()).expect("its programs are here");
        std::fs::write(ntfs.path("from-dislocker"), &theirs).expect("dislocker writes");
        drop((ntfs, dislocker));
        let open = cli.keyway.open(&volume, ["--attach", "fuse", "--password-file", &password_path(&cli)]);
        let ntfs = NtfsMount::open(&open.path("file")).expect("its programs are here");
        assert!(std::fs::read(ntfs.path("from-dislocker")).expect("it is there") == theirs, "{cipher}");

        // Keyway writes, until there is no room: no write reaches the metadata.
        std::fs::write(ntfs.path("from-keyway"), &ours).expect("Keyway writes");
        let filler = fill(&ntfs.path("filler"), &mut rng);
        drop(ntfs);
        open.close();

        // dislocker reads all of it.
        let dislocker = DislockerMount::open(&volume, SECRET).expect("its programs are here");
        let ntfs = NtfsMount::open(&dislocker.file()).expect("its programs are here");
        assert!(std::fs::read(ntfs.path("from-keyway")).expect("it is there") == ours, "{cipher}");
        let found = std::fs::read(ntfs.path("filler")).expect("it is there");
        assert_eq!((found.len(), sha256_of(found.as_slice())), (filler.len(), sha256_of(filler.as_slice())));
        drop((ntfs, dislocker));
        assert_eq!(cli.json(0, "info @volume")["metadata_copies"][2]["state"], "good");
    }
}

fn password_path(cli: &Cli) -> String {
    cli.path("pw").display().to_string()
}

/// Writes until there is no room; what was written.
fn fill(path: &Path, rng: &mut Rng) -> Vec<u8> {
    // Room in the volume's own file is reserved by nobody: 64 MiB of a sparse one.
    const NO_SPACE: i32 = 28;
    let mut file = std::fs::File::create(path).expect("a file");
    let mut all = Vec::new();
    loop {
        let piece = rng.bytes(256 << 10);
        match file.write(&piece) {
            Ok(n) => all.extend_from_slice(&piece[..n]),
            Err(e) => {
                assert_eq!(e.raw_os_error(), Some(NO_SPACE), "{e} after {} bytes", all.len());
                break;
            }
        }
    }
    file.sync_all().expect("it flushes");
    assert!(all.len() > 50 << 20, "only {} bytes", all.len());
    all
}
