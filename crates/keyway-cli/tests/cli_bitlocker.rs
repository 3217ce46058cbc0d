//! What can be done to a BitLocker volume from the command line, and that others open it afterwards.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, damage, two_lines};
use keyway_testkit::{
    BitLockerSecret, Rng, dislocker_sha256, dissect_sha256, libbde_sha256, require_tool, sha256_of,
};
use serde_json::Value;
use std::os::unix::fs::FileExt;

/// A volume with a password and a recovery password, and its decrypted bytes' hash.
struct Volume {
    cli: Cli,
    recovery: String,
    sha256: String,
}

impl Volume {
    fn new() -> Self {
        let cli = Cli::new();
        cli.keyway.secret("pw", PASSWORD);
        // libbde wants a file system to know the volume's size by.
        let fs = if require_tool("mkfs.ntfs").is_some() { "--filesystem ntfs" } else { "--filesystem none" };
        let made =
            cli.json(0, &format!("create @v --format bitlocker --size 64M --quick {fs} --password-file @pw"));
        let recovery = made["recovery_password"].as_str().expect("a recovery password").to_owned();
        let mut volume = Self { cli, recovery, sha256: String::new() };
        volume.sha256 = volume.hash("--password-file @pw");
        volume
    }

    fn hash(&self, secret: &str) -> String {
        sha256_of(self.cli.ends(0, &format!("cat @v {secret}")).stdout.as_slice())
    }

    fn opens(&self, secret: &str) {
        assert_eq!(self.hash(secret), self.sha256, "{secret}");
    }

    fn ids(&self, kind: &str) -> Vec<String> {
        let list = self.cli.json(0, "protector list @v");
        let protectors = list["key_protectors"].as_array().expect("a list").iter();
        let of_kind = protectors.filter(|p| p["kind"] == kind);
        of_kind.map(|p| p["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// All three other readers give the same bytes: dissect.fve, which is slow, of the first ones.
    fn judges_agree(&self) {
        let (image, secret) = (self.cli.path("v"), BitLockerSecret::Recovery(&self.recovery));
        // None: the program is not here, which was said.
        let agrees = |found: Option<String>, with: &str| assert!(found.is_none_or(|found| found == with));
        agrees(dislocker_sha256(&image, secret), &self.sha256);
        agrees(libbde_sha256(&image, secret), &self.sha256);
        let start = self.cli.ends(0, &format!("cat @v --length 65536 --recovery-password {}", self.recovery));
        agrees(
            dissect_sha256(&image, secret, std::slice::from_ref(&(0..65_536))),
            &sha256_of(start.stdout.as_slice()),
        );
    }
}

#[test]
fn protectors_come_go_and_change() {
    let volume = Volume::new();
    let cli = &volume.cli;
    // A second recovery password, printed; another one, into a file.
    let added = cli.json(0, "protector add @v recovery-password --password-file @pw");
    let second = added["recovery_password"].as_str().expect("printed").to_owned();
    assert_ne!(second, volume.recovery);
    volume.opens(&format!("--recovery-password {second}"));
    cli.ends(0, "protector add @v recovery-password --password-file @pw --to @third.txt");
    volume.opens("--recovery-password @third.txt");
    cli.fails(
        1,
        "exists",
        "choose another name, or move the old one away",
        "protector add @v recovery-password --password-file @pw --to @third.txt",
    );
    assert_eq!(volume.ids("recovery-password").len(), 3);
    // A startup key.
    std::fs::create_dir(cli.path("usb")).expect("a folder");
    cli.refused(
        "usage",
        "name one on another drive: --to FOLDER",
        "protector add @v startup-key --password-file @pw",
    );
    cli.ends(0, "protector add @v startup-key --password-file @pw --to @usb");
    volume.opens("--startup-key @usb");
    // One password is all there can be; it changes.
    cli.keyway.secret("new", "another passwörd €");
    cli.refused(
        "exists",
        "change that one, or remove it first",
        "protector add @v password --password-file @pw --new-password-file @new",
    );
    cli.ends(0, "protector change @v --password-file @pw --new-password-file @new");
    volume.opens("--password-file @new");
    cli.fails(
        3,
        "wrong-secret",
        "check the password, and that this is the right file or device",
        "cat @v --length 512 --password-file @pw",
    );
    // Rotated, the old recovery password opens nothing any more, and keeps its identifier.
    let id = added["id"].as_str().expect("an id");
    let rotated = cli.json(0, &format!("protector change @v --id {id} --password-file @new"));
    assert_eq!(rotated["id"], id);
    cli.fails(
        3,
        "wrong-recovery-password",
        "look for the paper that names it",
        &format!("cat @v --length 512 --recovery-password {second}"),
    );
    let third = rotated["recovery_password"].as_str().expect("printed").to_owned();
    volume.opens(&format!("--recovery-password {third}"));
    // It can be printed and saved again by whoever opens the volume.
    let printed = cli.json(0, "protector recovery @v --startup-key @usb");
    let printed = printed["recovery_passwords"].as_array().expect("a list").clone();
    assert!(printed.iter().any(|p| p["recovery_password"] == Value::String(third.clone())));
    assert!(printed.iter().any(|p| p["recovery_password"] == Value::String(volume.recovery.clone())));
    cli.refused(
        "usage",
        "name the protector with --id; `keyway protector list ",
        "protector recovery @v --startup-key @usb --to @all.txt",
    );
    cli.ends(0, &format!("protector recovery @v --id {id} --startup-key @usb --to @one.txt"));
    volume.opens("--recovery-password @one.txt");
    volume.judges_agree();
    // Away with them. The last one only when it is asked for.
    let kinds = ["password", "startup-key", "recovery-password"];
    let ids: Vec<String> = kinds.iter().flat_map(|kind| volume.ids(kind)).collect();
    let (last, others) = ids.split_last().expect("some");
    for id in others {
        cli.ends(0, &format!("protector remove @v {id} --recovery-password @third.txt"));
    }
    volume.opens("--recovery-password @third.txt");
    let remove_last = format!("protector remove @v {last} --recovery-password @third.txt");
    for (word, kind) in [("", "last-protector"), (" --yes", "last-protector"), (" --last", "usage")] {
        cli.refused(kind, "last protector", &format!("{remove_last}{word}"));
        volume.opens("--recovery-password @third.txt");
    }
    cli.refused(
        "no-such-protector",
        "tells which it has",
        "protector remove @v 00000000-1111-2222-3333-444444444444 --recovery-password @third.txt",
    );
    cli.ends(0, &format!("{remove_last} --yes --last"));
    cli.fails(
        3,
        "no-such-protector",
        "nothing that can be given here opens it",
        "cat @v --length 512 --recovery-password @third.txt",
    );
    assert_eq!(cli.json(0, "protector list @v")["key_protectors"], Value::Array(vec![]));
}

/// What the volume has not is not offered, and no TPM is looked for that could not open it.
#[test]
fn a_protector_is_named_by_its_kind_where_there_is_one_of_it() {
    let volume = Volume::new();
    let cli = &volume.cli;
    let removed = cli.json(0, "protector remove @v password --password-file @pw --dry-run");
    assert_eq!(removed["plan"]["kind"], "password", "{removed}");
    cli.refused("no-such-protector", "protector list", "protector remove @v tpm --password-file @pw");
    cli.refused("usage", "keyway protector list VOLUME", "protector remove @v passwort");
    let changed = cli.json(0, "protector change @v --id recovery-password --password-file @pw --dry-run");
    assert_eq!(changed["plan"]["kind"], "recovery-password", "{changed}");
    cli.ends(0, "protector add @v recovery-password --to @second.txt --password-file @pw");
    let several = "protector remove @v recovery-password --password-file @pw";
    cli.refused("ambiguous", "name one of them", several);
    for id in volume.ids("recovery-password") {
        cli.refused("ambiguous", &id, several);
    }
    // What opens it besides is told with the option that it has here; a file of two lines, too.
    cli.keyway.secret("two", "first line\nsecond line");
    let wrong = cli.json(3, "cat @v --length 512 --password-file @two");
    let hint = wrong["error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains("it has several lines"), "{hint}");
    assert!(hint.contains("--recovery-password") && !hint.contains("--startup-key"), "{hint}");
    cli.ends(0, "protector remove @v password --recovery-password @second.txt");
    cli.refused("usage", "keyway protector add", "protector change @v --new-password-file @pw");
}

#[test]
fn only_what_opens_a_volume_is_offered() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let make = "create @b --format bitlocker --size 64M --quick --filesystem none --password-file @pw";
    cli.ends(0, &format!("{make} --no-recovery-password"));
    cli.fails(3, "no-such-protector", "no protector with a TPM", "info @b --tpm=/nonexistent/tpm");
    for (code, kind, words) in [
        (2, "no-secret", "cat @b"),
        (
            3,
            "no-such-protector",
            "cat @b --recovery-password 471207-278498-422125-177177-561902-537405-468006-693451",
        ),
    ] {
        let hint = cli.json(code, words)["error"].clone();
        assert_eq!(
            (&hint["kind"], &hint["hint"]),
            (&kind.into(), &"use --password-file FILE".into()),
            "{hint}"
        );
    }
    cli.refused("usage", "--recovery-password FILE (", "cat @b --recovery-password");
    for format in ["veracrypt", "truecrypt"] {
        let words = format!("cat @b --format {format} --password-file @pw");
        cli.refused("usage", "leave out --format", &words);
        cli.refused("usage", "is a BitLocker volume", &words);
    }
}

/// A first sector that others don't know any more is called damaged and mended; what can't be opened for it says how.
#[test]
fn a_damaged_first_sector_is_told_and_mended() {
    let volume = Volume::new();
    let cli = &volume.cli;
    let path = cli.path("v");
    let before = std::fs::read(&path).expect("its bytes")[..512].to_vec();
    let file = std::fs::File::options().write(true).open(&path).expect("it opens");
    // A byte of the name, a bit of the GUID, of the size of a sector, of the loader.
    for (at, byte, opens) in
        [(5, b'X', true), (165, before[165] ^ 1, false), (11, 4, false), (120, 0xff, true)]
    {
        file.write_all_at(&[byte], at).expect("room");
        let command = "keyway header repair";
        if opens {
            let info = cli.json(0, "info @v");
            let warnings = info["warnings"].as_array().expect("a list");
            assert!(warnings.iter().any(|w| w.as_str().is_some_and(|w| w.contains(command))), "{at}: {info}");
        } else {
            for verb in ["info @v", "cat @v --length 512 --password-file @pw", "protector list @v"] {
                let told = two_lines(&cli.ends(4, verb)).1;
                let repair = format!("keyway header repair {} --format bitlocker", cli.path("v").display());
                assert!(told.contains(&repair), "{at}: {told}");
            }
            let read = cli.ends(0, "cat @v --length 512 --format bitlocker --password-file @pw");
            let repair = format!("`keyway header repair {} --format bitlocker`", path.display());
            assert!(String::from_utf8_lossy(&read.stderr).contains(&repair), "{at}: {read:?}");
        }
        let damaged = cli.json(4, "header check @v");
        assert_eq!(damaged["first_sector"], false, "{at}");
        assert!(damaged["error"]["hint"].as_str().is_some_and(|hint| hint.contains(command)), "{damaged}");
        // A backup holds it as it should be.
        if opens {
            cli.ends(0, "header backup @v @b");
            assert!(std::fs::read(cli.path("b")).expect("its bytes")[32..544] == before, "{at}");
            std::fs::remove_file(cli.path("b")).expect("it is there");
        }
        let mended = cli.json(0, "header repair @v --format bitlocker --password-file @pw --yes");
        assert_eq!(mended["first_sector"], true, "{at}");
        assert_eq!(std::fs::read(&path).expect("its bytes")[..512], before, "{at}");
        cli.ends(0, "header check @v");
    }
    volume.opens("--password-file @pw");
    volume.judges_agree();
}

/// The medium takes two copies of the metadata and not the third: what the new copies ask for is in
/// force, so whoever asked for it must have it.
#[test]
fn a_secret_that_not_every_copy_got_is_handed_over() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let with = "--password-file @pw";
    cli.ends(0, &format!("create @v --format bitlocker --size 64M --quick --filesystem none {with}"));
    let check = cli.json(0, "header check @v");
    let copies = check["metadata_copies"].as_array().expect("copies").iter();
    let last = copies.map(|copy| copy["offset"].as_u64().expect("an offset")).max().expect("three");
    let file = std::fs::File::options().write(true).open(cli.path("v")).expect("the volume");
    file.set_len(last).expect("cut off");
    drop(file);
    std::fs::create_dir(cli.path("usb")).expect("a folder");
    let warned = |words: &str| {
        let told = cli.json(1, words);
        let error = &told["error"];
        assert_eq!(error["kind"], "partly-written", "{words}: {told}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("not in all of the three copies"), "{words}: {told}");
        told
    };
    let added = warned(&format!("protector add @v recovery-password {with}"));
    let digits = added["recovery_password"].as_str().expect("printed");
    cli.ends(0, &format!("cat @v --length 512 --recovery-password {digits}"));
    let added = warned(&format!("protector add @v startup-key --to @usb {with}"));
    assert!(added["file"].as_str().is_some_and(|file| std::path::Path::new(file).exists()), "{added}");
    cli.ends(0, "cat @v --length 512 --startup-key @usb");
    let id = added["id"].as_str().expect("an id");
    let rotated = warned(&format!("protector change @v --id {id} --to @usb {with}"));
    assert_ne!(rotated["id"], added["id"]);
    let file = rotated["file"].as_str().expect("a file");
    cli.ends(0, &format!("cat @v --length 512 --startup-key {file}"));
    // What takes something away is not done until all copies say so.
    cli.fails(
        1,
        "partly-written",
        "writes them anew, and if that fails too, move",
        &format!("protector suspend @v {with} --yes"),
    );
}

#[test]
fn protection_is_suspended_and_resumed() {
    let volume = Volume::new();
    let cli = &volume.cli;
    let status = cli.json(0, "status @v");
    assert_eq!(status["protection_status"], "Protection On");
    assert_eq!(status["encryption_method"], "XTS-AES 128");
    assert_eq!(status["lock_status"], "Locked");
    assert_eq!(status["percentage_encrypted"], 100.0);
    cli.fails(1, "not-suspended", "the volume's protection is not suspended", "protector resume @v");
    cli.refused(
        "usage",
        "will be able to read it until its protection is resumed",
        "protector suspend @v --password-file @pw",
    );
    cli.ends(0, "protector suspend @v --password-file @pw --yes");
    assert_eq!(cli.json(0, "status @v")["protection_status"], "Protection Off");
    let (what, advice) = two_lines(&cli.ends(1, "protector suspend @v --yes"));
    assert!(
        what.contains("suspended already") && advice.contains("keyway protector resume"),
        "{what}\n{advice}"
    );
    volume.opens("");
    // Who gives a wrong secret hears that none is needed, and is named no clear key to look for.
    cli.keyway.secret("wrong", "another password");
    let wrong = cli.json(3, "info @v --password-file @wrong");
    let hint = wrong["error"]["hint"].as_str().expect("a hint");
    assert!(hint.starts_with("its protection is suspended, so it opens with none"), "{wrong}");
    assert!(!hint.contains("clear key"), "{wrong}");
    let resumed = cli.ends(0, "protector resume @v");
    assert!(resumed.stderr.is_empty(), "{}", String::from_utf8_lossy(&resumed.stderr));
    cli.refused("no-secret", "use --password-file FILE or --recovery-password", "cat @v --length 512");
    volume.opens("--password-file @pw");
    let told = String::from_utf8_lossy(&cli.ends(0, "status @v").stdout).into_owned();
    for words in [
        "Size:",
        "BitLocker Version:     2.0",
        "Conversion Status:",
        "Percentage Encrypted:  100.0%",
        "Encryption Method:     XTS-AES 128",
        "Protection Status:     Protection On",
        "Lock Status:           Locked",
        "Identification Field:",
        "Key Protectors:        Password",
        "Numerical Password",
    ] {
        assert!(told.contains(words), "{words} is missing in\n{told}");
    }
    volume.judges_agree();
}

#[test]
fn metadata_is_checked_repaired_backed_up_and_restored() {
    let volume = Volume::new();
    let (cli, image) = (&volume.cli, volume.cli.path("v"));
    assert_eq!(cli.json(0, "header check @v")["good"], true);
    // What is in order needs no secret.
    let whole = cli.json(0, "header repair @v");
    assert_eq!((&whole["first_sector"], &whole["repaired"]), (&false.into(), &serde_json::json!([])));
    assert_eq!(cli.json(0, "header check @v --password-file @pw")["authentic"], true);
    cli.ends(0, "header backup @v @backup");
    cli.fails(1, "exists", "choose another name, or move the old one away", "header backup @v @backup");
    // Named as the volume it is told as what it is.
    for words in [
        "info @backup",
        "ls @backup --password-file @pw",
        "status @backup",
        "open @backup --password-file @pw",
    ] {
        cli.fails(4, "not-a-volume", "is a backup of a BitLocker volume's metadata", words);
        cli.fails(4, "not-a-volume", "this file: keyway header restore", words);
    }
    let planned = &cli.json(0, "header restore @v @backup --dry-run")["plan"];
    assert_eq!((&planned["restores"][0], &planned["secret_tried"]), (&"first sector".into(), &false.into()));
    let planned = &cli.json(0, "header restore @v @backup --password-file @pw --dry-run")["plan"];
    assert_eq!(
        (planned["restores"].as_array().map(Vec::len), &planned["secret_tried"]),
        (Some(4), &true.into())
    );
    cli.keyway.secret("wrong", "twenty-characters-and-less");
    cli.ends(3, "header restore @v @backup --password-file @wrong --dry-run");
    let copies: Vec<usize> = cli.json(0, "info @v")["metadata_copies"]
        .as_array()
        .expect("three")
        .iter()
        .map(|copy| copy["offset"].as_u64().expect("a number") as usize)
        .collect();
    let region = |i: usize| copies[i]..copies[i] + 1024;
    // One copy, then two.
    damage(&image, region(1));
    volume.opens("--password-file @pw");
    assert_eq!(cli.json(4, "header check @v")["good"], false);
    let before = std::fs::read(&image).expect("the image");
    cli.fails(
        3,
        "wrong-recovery-password",
        "look for the paper that names it",
        &format!("header repair @v --recovery-password {}", "000000-".repeat(7) + "000000"),
    );
    assert!(std::fs::read(&image).expect("the image") == before, "a wrong secret writes nothing");
    damage(&image, region(0));
    let repaired = cli.json(0, "header repair @v --password-file @pw");
    assert_eq!(repaired["repaired"], serde_json::json!([1, 2]));
    cli.ends(0, "header check @v");
    volume.judges_agree();
    // All three and the first sector.
    (0..3).for_each(|i| damage(&image, region(i)));
    cli.fails(
        4,
        "damaged",
        "restore the metadata from a backup of the volume's headers",
        "cat @v --length 512 --password-file @pw",
    );
    damage(&image, 0..512);
    cli.fails(3, "wrong-recovery-password", "look for the paper that names it", "header restore @v @backup --format bitlocker --yes --recovery-password 000000-000000-000000-000000-000000-000000-000000-000000");
    cli.ends(0, "header restore @v @backup --format bitlocker --password-file @pw --yes");
    volume.opens("--password-file @pw");
    volume.judges_agree();
    // Another volume's backup is refused.
    cli.ends(0, "create @w --format bitlocker --size 64M --quick --filesystem none --password-file @pw");
    let refused = cli.json(1, "header restore @w @backup --password-file @pw --yes");
    assert_eq!(refused["error"]["kind"], "other-volume");
    cli.ends(0, "cat @w --length 512 --password-file @pw");
    cli.fails(
        4,
        "not-a-backup",
        "name a file that `keyway header backup` wrote",
        "header restore @w @pw --password-file @pw --yes",
    );
}

#[test]
fn an_erased_volume_opens_by_nothing() {
    let volume = Volume::new();
    let cli = &volume.cli;
    cli.refused("usage", "will be lost for ever, whatever passwords anyone knows", "erase @v");
    volume.opens("--password-file @pw");
    cli.ends(0, "erase @v --yes");
    cli.fails(
        4,
        "damaged",
        "restore the metadata from a backup of the volume's headers",
        "cat @v --length 512 --password-file @pw",
    );
    cli.fails(
        4,
        "damaged",
        "restore the metadata from a backup of the volume's headers",
        &format!("cat @v --length 512 --recovery-password {}", volume.recovery),
    );
    // A VeraCrypt volume must open first.
    cli.volume("vc");
    cli.keyway.secret("wrong", "not this one at all");
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "erase @vc --password-file @wrong --pim 1 --hash sha512 --yes",
    );
    cli.plain("vc");
    cli.ends(0, "erase @vc --password-file @pw --pim 1 --yes");
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "cat @vc --length 512 --password-file @pw --pim 1 --hash sha512",
    );
}

#[test]
fn what_is_not_for_these_volumes_says_so() {
    let volume = Volume::new();
    let cli = &volume.cli;
    cli.refused("usage", "leave out --new-hash", "protector change @v --password-file @pw --new-hash sha256");
    cli.refused(
        "usage",
        "give a new password with --new-password-file",
        "protector change @v --password-file @pw --new-password-file @pw --new-pim 5",
    );
    cli.refused("usage", "leave out --hidden", "header backup @v @backup --hidden");
    // Nor is one of its own advised to whoever has to think of a password.
    let none = cli.json(2, "protector change @v --password-file @pw");
    let hint = none["error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains("--new-password-file") && !hint.contains("keyfile"), "{none}");
    cli.refused("usage", "add --format bitlocker", "create @new --size 64M --cipher aes-xts-128");
    for words in ["open @v --system", "info @v --system", "ls @v --system --password-file @pw"] {
        cli.refused("usage", "leave --system and --system-header out", words);
    }
    // Before anyone types a secret.
    cli.fails(1, "exists", "choose another name", "protector recovery @v --to @pw");
    cli.refused(
        "usage",
        "name the file; from a copy on the volume itself: `keyway",
        "header restore @v --password-file @pw --yes",
    );
    cli.volume("vc");
    cli.refused(
        "usage",
        "to give it another password",
        "protector add @vc recovery-password --password-file @pw",
    );
    cli.refused("usage", "to give it another password", "protector suspend @vc --password-file @pw --yes");
    cli.refused(
        "usage",
        "if it is one whose first sector is lost, add --format",
        "header repair @vc --password-file @pw",
    );
    cli.refused(
        "usage",
        "--id, --to, --recovery-password and --startup-key are for",
        "protector change @vc --password-file @pw --id 00000000-1111-2222-3333-444444444444",
    );
}

#[test]
fn a_lost_first_sector_is_found_out_and_made_anew() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --format bitlocker --size 64M --quick --no-recovery-password --password-file @pw");
    let whole = cli.ends(0, "cat @v --password-file @pw").stdout;
    cli.keyway.secret("wrong", "twenty-characters-and-less");
    let file = std::fs::File::options().write(true).open(cli.path("v")).expect("the volume");
    file.write_all_at(&[0; 8192], 0).expect("written");
    let error = &cli.json(4, "open @v --password-file @pw")["error"];
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("--format bitlocker")), "{error}");
    cli.fails(4, "damaged", "--format bitlocker", "header repair @v --password-file @pw");
    // With the format named, everything that only reads works.
    assert_eq!(cli.json(0, "info @v --format bitlocker")["metadata_copies"][2]["state"], "good");
    assert!(cli.ends(0, "cat @v --format bitlocker --password-file @pw").stdout == whole);
    assert_eq!(cli.json(0, "protector list @v --format bitlocker")["key_protectors"][0]["kind"], "password");
    // What changes it is refused with what mends it, before anybody is asked for a secret.
    let changes = [
        "put @v @pw",
        "protector change @v --new-password-file @wrong",
        "protector add @v recovery-password",
        "protector remove @v password",
        "protector suspend @v",
        "resize @v --size 80M",
        "decrypt @v",
    ];
    for change in changes {
        let mends = format!("keyway header repair {} --format bitlocker", cli.path("v").display());
        cli.fails(4, "damaged", &mends, &format!("{change} --format bitlocker"));
    }
    let check = cli.json(4, "header check @v --format bitlocker");
    assert_eq!((&check["first_sector"], &check["good"]), (&false.into(), &false.into()));
    cli.fails(
        3,
        "wrong-secret",
        "check the password, and that this is the right file or device",
        "header repair @v --format bitlocker --password-file @wrong --yes",
    );
    // A file system in front says that the metadata is only left over.
    let mut ntfs = [0; 512];
    ntfs[..11].copy_from_slice(b"\xeb\x52\x90NTFS    ");
    ntfs[11..14].copy_from_slice(&[0, 2, 8]);
    ntfs[40..48].copy_from_slice(&100_000u64.to_le_bytes());
    ntfs[48..56].copy_from_slice(&4u64.to_le_bytes());
    ntfs[64] = 0xf6;
    ntfs[68] = 1;
    ntfs[510..].copy_from_slice(&[0x55, 0xaa]);
    file.write_all_at(&ntfs, 0).expect("written");
    let refused = cli.json(1, "header repair @v --format bitlocker --password-file @pw --yes");
    assert_eq!(refused["error"]["kind"], "has-a-file-system");
    // Noise in front is another format's volume, or this: it is told, and nobody is stopped.
    file.write_all_at(&Rng::new(7).bytes(8192), 0).expect("written");
    let seen = cli.json(0, "info @v");
    let told = |of: &Value| of["warnings"].to_string().contains("`--format bitlocker` finds it");
    assert!(seen["format"].is_null() && told(&seen), "{seen}");
    let wrong = cli.ends(3, "cat @v --password-file @pw --hash sha512 --pim 1");
    let said = String::from_utf8(wrong.stderr).expect("text");
    assert!(said.contains("stop this, and add --format bitlocker"), "{said}");
    assert!(said.contains("v --format bitlocker` finds it"), "{said}");
    let named = "cat @v --password-file @pw --hash sha512 --pim 1 --format veracrypt";
    let said = String::from_utf8(cli.ends(3, named).stderr).expect("text");
    assert!(!said.contains("metadata"), "who names it knows: {said}");
    assert!(cli.ends(0, "cat @v --format bitlocker --password-file @pw").stdout == whole);
    file.write_all_at(&[0; 512], 0).expect("written");
    let done = cli.json(0, "header repair @v --format bitlocker --password-file @pw --yes");
    assert_eq!((&done["first_sector"], &done["repaired"]), (&true.into(), &serde_json::json!([])));
    // And then it is a volume like any other.
    assert_eq!(cli.json(0, "header check @v")["good"], true);
    assert!(cli.ends(0, "cat @v --password-file @pw").stdout == whole);
    cli.ends(0, "header repair @v --password-file @pw");
}

/// A copy that was broken off is told as one, wherever it ends.
#[test]
fn a_volume_that_is_cut_short_is_told_as_such() {
    let volume = Volume::new();
    let cli = &volume.cli;
    let cut = |mebibytes: u64| {
        std::fs::copy(cli.path("v"), cli.path("cut")).expect("room");
        let file = std::fs::File::options().write(true).open(cli.path("cut")).expect("opens");
        file.set_len(mebibytes << 20).expect("cut");
    };
    cli.ends(0, "header backup @v @headers");
    // Before the last copies of the metadata: nothing opens it.
    let list = cli.json(0, "info @v");
    let copies = list["metadata_copies"].as_array().expect("a list").iter();
    let first = copies.filter_map(|copy| copy["offset"].as_u64()).min().expect("three copies") >> 20;
    cut(first);
    let short = "this is not the whole volume: its metadata reaches to byte";
    for words in ["info @cut", "open @cut --password-file @pw", "header restore @cut @headers --yes"] {
        cli.fails(4, "damaged", short, words);
        cli.fails(4, "damaged", "copy it again in full", words);
    }
    cli.fails(4, "damaged", &format!("({first} of at least"), "info @cut");
    // Behind them: it opens, and what is missing is told by whatever looks at it or fails for that.
    cut(63);
    std::fs::write(cli.path("letter"), "text").expect("room");
    for words in ["header check @cut", "header check @cut --password-file @pw", "info @cut"] {
        let said = cli.ends(0, words).stderr;
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.contains("it was cut off"), "{words}: {said}");
    }
    // Behind the end of what is left lie two of the three copies, which no repair brings back.
    cut(first + 1);
    let done = cli.ends(0, "info @cut --password-file @pw");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("it was cut off") && !said.contains("repair it soon"), "{said}");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(said.matches("the file or device ends before byte").count(), 2, "{said}");
    cut(63);
    let done = cli.run("put @cut @letter --password-file @pw");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("it was cut off"), "{said}");
    let said = String::from_utf8(cli.ends(0, "status @cut").stdout).expect("text");
    assert!(said.contains("it was cut off"), "{said}");
    // As long as it is open, too.
    cli.ends(0, "open @cut --attach nbd --password-file @pw");
    assert_eq!(cli.json(0, "status @cut")["shortened_to"], 63 << 20);
    cli.ends(0, "close @cut");
    if require_tool("mkfs.exfat").is_some() {
        let made =
            "create @x --format bitlocker --size 64M --quick --filesystem exfat --no-recovery-password";
        cli.ends(0, &format!("{made} --password-file @pw"));
        let file = std::fs::File::options().write(true).open(cli.path("x")).expect("opens");
        file.set_len(60 << 20).expect("cut");
        for words in ["ls @x --password-file @pw", "get @x / @out --password-file @pw"] {
            cli.fails(4, "damaged", "62914560 of its 67108864 bytes are left", words);
            cli.fails(4, "damaged", "truncate -s 67108864 COPY", words);
        }
        // And so it is.
        file.set_len(64 << 20).expect("longer");
        cli.ends(0, "ls @x --password-file @pw");
    }
    // Mounted, where somebody may.
    std::fs::create_dir(cli.path("folder")).expect("room");
    let done = cli.run("open @cut @folder --password-file @pw");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() {
        cli.ends(0, "close @cut");
    }
    if done.status.success() || said.contains("ends behind the volume") {
        assert!(said.contains("it was cut off"), "{said}");
    }
}

/// What is in the file of a password, or should be in one of a recovery password, is known for what it is.
#[test]
fn a_recovery_password_is_known_in_files() {
    let volume = Volume::new();
    let cli = &volume.cli;
    cli.ends(0, "protector recovery @v --password-file @pw --to @sheet");
    cli.keyway.secret("digits", format!("{}\r\n", volume.recovery));
    for file in ["digits", "sheet"] {
        volume.opens(&format!("--password-file @{file}"));
        volume.opens(&format!("--recovery-password @{file}"));
    }
    let last = if volume.recovery.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &volume.recovery[..volume.recovery.len() - 1]);
    cli.keyway.secret("mistyped", mistyped);
    let says = "group 8";
    cli.fails(3, "mistyped-recovery-password", says, "cat @v --password-file @mistyped");
    cli.fails(3, "mistyped-recovery-password", says, "cat @v --recovery-password @mistyped");
    // A volume, and a picture: no drive is to blame.
    cli.keyway.secret("picture", Rng::new(9).bytes(30_000));
    for file in ["v", "picture", "pw"] {
        let words = format!("cat @v --recovery-password @{file}");
        cli.fails(3, "mistyped-recovery-password", "there is no recovery password in", &words);
        cli.fails(3, "mistyped-recovery-password", "name a file that holds it", &words);
    }
}
