//! Changing what opens a volume; headers backed up, damaged, restored.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, damage};

/// What a volume or a backup lies in, to be changed by somebody who knows nothing of it.
fn medium(cli: &Cli, name: &str) -> std::fs::File {
    std::fs::OpenOptions::new().write(true).open(cli.path(name)).expect("it is there")
}

#[test]
fn what_was_restored_is_told() {
    let cli = Cli::new();
    cli.volume("v");
    let with = "--password-file @pw --pim 1 --yes";
    let told = |words: &str| String::from_utf8(cli.ends(0, words).stdout).expect("text");
    cli.ends(0, "header backup @v @h --password-file @pw --pim 1");
    let both = told(&format!("header restore @v @h {with}"));
    assert!(
        both.contains(" and the ") && both.contains("were restored. If a hidden volume's are lost"),
        "{both}"
    );
    // This one was made without the hidden volume's, whose secret restores nothing from it.
    assert!(both.contains("as far as the backup has them"), "{both}");
    let one = told(&format!("header restore @v {with}"));
    assert!(
        one.contains("was restored. If a hidden volume's is lost") && !one.contains("backup has"),
        "{one}"
    );
    // What is in the way is the file, not the volume.
    let there = cli.json(1, "header backup @v @h --password-file @pw --pim 1");
    assert_eq!(there["error"]["path"], cli.path("h").to_str().expect("text"), "{there}");
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --password-file @pw");
    cli.ends(0, "header backup @b @m --password-file @pw");
    let all = told("header restore @b @m --password-file @pw --yes");
    assert!(all.contains("the three copies of the metadata and the first sector were restored."), "{all}");
}

#[test]
fn what_is_not_named_stays() {
    let cli = Cli::new();
    cli.volume("v");
    let before = cli.plain("v");
    cli.keyway.secret("new", "yet-another-twenty-characters");
    let changed = cli.json(0, "protector change @v --password-file @pw --pim 1 --new-password-file @new");
    assert_eq!((changed["hash"].as_str(), changed["pim"].as_u64()), (Some("sha512"), Some(1)), "{changed}");
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "cat @v --password-file @pw --pim 1 --hash sha512",
    );
    cli.ends(0, "protector change @v --password-file @new --pim 1 --new-hash blake2s --new-pim 2");
    cli.keyway.secret("key", "a keyfile");
    cli.ends(0, "protector change @v --password-file @new --pim 2 --new-keyfile @key");
    let now = "--password-file @new --pim 2 --keyfile @key";
    assert_eq!(cli.ends(0, &format!("cat @v {now}")).stdout, before);
    let listed = &cli.json(0, &format!("protector list @v {now}"))["key_protectors"][0];
    assert_eq!((listed["kind"].as_str(), listed["hash"].as_str()), (Some("password"), Some("blake2s")));
    assert_eq!(listed["keyfiles"], 1);
    // A folder stands for its files.
    std::fs::create_dir(cli.path("keys")).expect("a folder");
    for name in ["keys/a", "keys/b", "keys/c"] {
        cli.keyway.secret(name, name);
    }
    let into = format!("protector change @v {now} --new-keyfile @keys");
    assert_eq!(cli.json(0, &format!("{into} --dry-run"))["plan"]["new_keyfiles"], 3);
    let told = String::from_utf8(cli.ends(0, &into).stdout).expect("text");
    assert!(told.lines().any(|row| row.contains("keyfiles") && row.ends_with(" 3")), "{told}");
    let folder = "--password-file @new --pim 2 --keyfile @keys";
    assert_eq!(cli.json(0, &format!("protector list @v {folder}"))["key_protectors"][0]["keyfiles"], 3);
    cli.ends(0, &format!("protector change @v {folder} --new-keyfile @key"));
    // The keyfile alone, as a line in fstab has it, and a password again.
    cli.ends(0, &format!("protector change @v {now} --new-no-password --new-keyfile @key"));
    assert_eq!(cli.ends(0, "cat @v --pim 2 --keyfile @key").stdout, before);
    cli.fails(3, "wrong-secret", "", &format!("cat @v {now} --hash blake2s"));
    cli.refused("usage", "--new-keyfile", "protector change @v --pim 2 --keyfile @key --new-no-password");
    // It has no password that could open it alone.
    let alone = "protector change @v --pim 2 --keyfile @key --new-no-keyfiles";
    cli.refused("usage", "use --new-password-file FILE", alone);
    // The same in other words.
    let nothing = "protector change @v --pim 2 --keyfile @key --new-no-password --new-keyfile=";
    cli.refused("usage", "--new-keyfile PATH", nothing);
    // Whose content changes with the volume's is no keyfile of it.
    for own in ["@v", "@."] {
        let words = format!("protector change @v --pim 2 --keyfile @key --new-keyfile {own}");
        cli.fails(1, "keyfile", "a folder that holds nothing else", &words);
    }
    let neither = "protector change @v --pim 2 --keyfile @key --new-no-password --new-no-keyfiles";
    cli.refused("usage", "--new-no-keyfiles", neither);
    cli.ends(0, "protector change @v --pim 2 --keyfile @key --new-password-file @new");
    cli.ends(0, &format!("protector change @v {now} --new-no-keyfiles"));
    // An empty word is none, as VeraCrypt has it.
    cli.ends(0, "protector change @v --password-file @new --pim 2 --new-keyfile @key");
    cli.ends(0, &format!("protector change @v {now} --new-keyfile="));
    cli.ends(0, "info @v --password-file @new --pim 2");
    assert_eq!(cli.json(0, "protector list @v")["key_protectors"][0]["kind"], "password");
    cli.refused(
        "usage",
        "take sha512, sha256, whirlpool, streebog, blake2s or",
        "protector change @v --password-file @new --pim 2 --new-hash ripemd160",
    );
    cli.refused(
        "usage",
        "take sha512, sha256, whirlpool, streebog, blake2s or",
        "protector change @v --pim 2 --new-hash ripemd160",
    );
    cli.refused(
        "usage",
        "use --new-password-file FILE (`-` is standard input)",
        "protector change @v --password-file @new --pim 2",
    );
}

#[test]
fn a_damaged_header_is_found_and_repaired() {
    let cli = Cli::new();
    cli.volume("v");
    let with = "--password-file @pw --pim 1";
    let before = cli.plain("v");
    let good = cli.json(0, &format!("header check @v {with}"));
    assert_eq!(good["good"], true);
    assert_eq!(good["headers"].as_array().map(Vec::len), Some(2), "{good}");
    damage(&cli.path("v"), 100..200);
    let bad = cli.json(4, &format!("header check @v {with} --hash sha512"));
    assert_eq!((bad["good"].as_bool(), bad["error"]["code"].as_u64()), (Some(false), Some(4)));
    assert_eq!(bad["headers"][0]["state"], "does-not-open", "{bad}");
    cli.ends(0, &format!("header restore @v {with} --hash sha512 --yes"));
    assert_eq!(cli.json(0, &format!("header check @v {with}"))["good"], true);
    assert_eq!(cli.plain("v"), before);
}

/// Nobody is sent to a copy that is damaged itself.
#[test]
fn advice_names_no_damaged_copy() {
    let cli = Cli::new();
    cli.volume("v");
    let with = "--password-file @pw --pim 1 --hash sha512";
    let size = cli.path("v").metadata().expect("it is there").len() as usize;
    // A reserved byte, so that it opens and its checksum is wrong.
    damage(&cli.path("v"), size - 131_072 + 400..size - 131_072 + 401);
    let hint = |words: &str| cli.json(4, words)["error"]["hint"].as_str().expect("a hint").to_owned();
    let told = hint(&format!("header restore @v {with} --yes"));
    assert!(told.contains("header backup") && !told.contains("volume's backup header"), "{told}");
    let told = hint(&format!("header check @v {with}"));
    assert!(!told.contains("copy at the end") && told.contains("FILE --pim 1, then keyway header"), "{told}");
    damage(&cli.path("v"), 400..401);
    let told = hint(&format!("header check @v {with}"));
    assert!(
        told.contains(&format!("header restore {} FILE", cli.path("v").display()))
            && !told.contains("volume's backup header"),
        "{told}"
    );
}

/// What is missing at the end is missed.
#[test]
fn a_volume_that_is_cut_off_is_not_in_order() {
    let cli = Cli::new();
    cli.volume("v");
    let size = cli.path("v").metadata().expect("it is there").len();
    let file = medium(&cli, "v");
    file.set_len(size - 1).expect("a length");
    let told = cli.json(4, "header check @v --password-file @pw --pim 1 --hash sha512");
    assert_eq!(told["headers"][1]["state"], "cut-off", "{told}");
    assert!(told["error"]["hint"].as_str().is_some_and(|hint| hint.contains("copied completely")), "{told}");
    // What is plainly none is said to be none before anybody is asked for a secret.
    let Some(()) = cli.make("plain", 8 << 20, "mkfs.ext4", &["-q", "-F"]) else { return };
    cli.fails(4, "not-a-volume", "it starts with", "header check @plain");
}

#[test]
fn a_backup_file_opens_with_the_old_secret() {
    let cli = Cli::new();
    cli.volume("v");
    let with = "--password-file @pw --pim 1";
    let before = cli.plain("v");
    let made = cli.json(0, &format!("header backup @v @v.header {with}"));
    assert_eq!((made["bytes"].as_u64(), made["hidden"].as_bool()), (Some(131_072), Some(false)));
    cli.fails(
        1,
        "exists",
        "choose another name, or move the old one away",
        &format!("header backup @v @v.header {with}"),
    );
    cli.keyway.secret("new", "yet-another-twenty-characters");
    cli.ends(0, &format!("protector change @v {with} --new-password-file @new"));
    // What the new secret does not open is the backup: the volume it does.
    let names_the_file = |words: &str, file: &str| {
        let told = cli.json(3, words);
        let message = told["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(told["error"]["kind"], "wrong-secret", "{told}");
        assert!(message.starts_with(&format!("{}: ", cli.path(file).display())), "{told}");
    };
    for dry in ["--yes", "--dry-run"] {
        let with = "--password-file @new --pim 1 --hash sha512";
        names_the_file(&format!("header restore @v @v.header {with} {dry}"), "v.header");
    }
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --password-file @pw");
    cli.ends(0, "header backup @b @m --password-file @pw");
    names_the_file("header restore @b @m --password-file @new --yes", "m");
    // There is no file system in it that would show whose the backup is, and no header opens with the old secret.
    cli.fails(1, "other-master-keys", "--force", &format!("header restore @v @v.header {with} --yes"));
    cli.ends(0, &format!("header restore @v @v.header {with} --yes --force"));
    assert_eq!(cli.plain("v"), before);
    cli.keyway.secret("no-backup", [7; 1000]);
    cli.fails(
        4,
        "not-a-backup",
        "name a file that `keyway header backup` or VeraCrypt wrote",
        &format!("header restore @v @no-backup {with} --yes"),
    );
    cli.fails(1, "not-found", "check the path", &format!("header restore @v @nothing {with} --yes"));
}

/// Over two good headers the old size would come back unseen, and the data behind it be lost.
#[test]
fn a_backup_from_before_a_resize_is_not_restored() {
    let cli = Cli::new();
    cli.volume("v");
    let with = "--password-file @pw --pim 1 --hash sha512";
    cli.ends(0, &format!("header backup @v @h {with}"));
    cli.ends(0, &format!("resize @v --size 3M --keep-filesystem {with} --yes"));
    let size = || cli.json(0, &format!("info @v {with}"))["data_bytes"].as_u64().expect("a size");
    let (before, now) = (std::fs::read(cli.path("v")).expect("there"), size());
    let says = format!("had {} bytes of data, and it has {now} now", (1 << 20) - 262_144);
    cli.fails(1, "other-extent", &says, &format!("header restore @v @h {with} --yes"));
    assert!(std::fs::read(cli.path("v")).expect("there") == before, "it was written to");
    // The header in front is damaged, and the one behind says how much there is.
    damage(&cli.path("v"), 0..512);
    cli.fails(
        1,
        "other-extent",
        "--force restores it all the same",
        &format!("header restore @v @h {with} --yes"),
    );
    cli.ends(0, &format!("header restore @v {with} --yes"));
    assert_eq!(size(), now);
    cli.ends(0, &format!("header restore @v @h {with} --yes --force"));
    assert_eq!(size(), (1 << 20) - 262_144);
}

/// A volume that is all there is not told as cut because somebody named a larger one's backup, and one that was cut is.
#[test]
fn a_larger_volumes_backup_is_told_as_that() {
    let cli = Cli::new();
    cli.volume("v");
    let with = "--password-file @pw --pim 1 --hash sha512";
    cli.ends(0, &format!("create @large --size 3M --quick {with}"));
    cli.ends(0, &format!("header backup @large @h {with}"));
    let before = std::fs::read(cli.path("v")).expect("there");
    let says = format!("of a volume of 3145728 bytes, and this one has {}", before.len());
    cli.fails(1, "other-volume", &says, &format!("header restore @v @h {with} --yes"));
    assert!(std::fs::read(cli.path("v")).expect("there") == before, "it was written to");
    let file = medium(&cli, "large");
    file.set_len(2 << 20).expect("a length");
    cli.fails(4, "damaged", "not the whole volume", &format!("header restore @large @h {with} --yes"));
    // Of BitLocker volumes each says which one it is.
    for (name, size) in [("small-b", "64M"), ("large-b", "80M")] {
        cli.ends(0, &format!("create @{name} --size {size} --format bitlocker --quick --no-recovery-password --password-file @pw"));
    }
    cli.ends(0, "header backup @large-b @m");
    cli.fails(
        1,
        "other-volume",
        "is that of the volume",
        "header restore @small-b @m --password-file @pw --yes",
    );
}

/// After a resize that was killed there is no copy at the end: the header in front makes another.
#[test]
fn a_blank_copy_is_no_reason_to_call_it_no_volume() {
    let cli = Cli::new();
    cli.volume("v");
    let with = "--password-file @pw --pim 1 --hash sha512";
    let size = cli.path("v").metadata().expect("there").len();
    let file = medium(&cli, "v");
    std::os::unix::fs::FileExt::write_all_at(&file, &[0; 131_072], size - 131_072).expect("blank");
    let told = cli.json(4, &format!("header restore @v {with} --yes"));
    let (kind, hint) = (&told["error"]["kind"], told["error"]["hint"].as_str().expect("a hint"));
    assert_eq!(kind, "damaged", "{told}");
    assert!(
        told["error"]["message"].as_str().is_some_and(|m| m.contains("at the end opens with nothing")),
        "{told}"
    );
    assert!(hint.contains("keyway header backup") && hint.contains("keyway header restore"), "{hint}");
    cli.ends(0, &format!("header backup @v @h {with}"));
    cli.ends(0, &format!("header restore @v @h {with} --yes"));
    assert_eq!(cli.json(0, &format!("header check @v {with}"))["good"], true);
}

/// A partition that got larger before the backup was made has the size that the backup names.
#[test]
fn a_bitlocker_backup_from_before_a_resize_is_not_restored() {
    let cli = Cli::new();
    cli.keyway.secret("pw", cli_support::PASSWORD);
    let with = "--password-file @pw --yes";
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --filesystem none --no-recovery-password --password-file @pw");
    cli.ends(0, "header backup @b @m");
    cli.ends(0, &format!("resize @b --size 80M --keep-filesystem {with}"));
    cli.fails(1, "other-volume", "--force", &format!("header restore @b @m {with}"));
    // As if the medium had been so large before.
    let file = medium(&cli, "m");
    std::os::unix::fs::FileExt::write_all_at(&file, &(80u64 << 20).to_le_bytes(), 16).expect("another size");
    let before = std::fs::read(cli.path("b")).expect("there");
    cli.fails(1, "other-extent", "encrypted", &format!("header restore @b @m {with}"));
    assert!(std::fs::read(cli.path("b")).expect("there") == before, "it was written to");
}
