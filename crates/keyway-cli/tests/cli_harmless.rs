//! What looks like a repair, an end or a new beginning, and would take a volume that is there: refused, and nothing is
//! written.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::interrupted::{BETWEEN, BITLOCKER, VERACRYPT, interrupted, new};
use cli_support::{Cli, PASSWORD, damage};
use std::fs::{self, File, OpenOptions};

const SECRET: &str = "--password-file @pw --pim 1 --hash sha512";

fn bitlocker() -> Cli {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("bad", "not-the-password-of-anything");
    cli.ends(0, "create @v --format bitlocker --size 64M --quick --no-recovery-password --password-file @pw");
    cli
}

fn set_len(cli: &Cli, name: &str, bytes: u64) {
    let file = OpenOptions::new().write(true).open(cli.path(name)).expect("it is there");
    file.set_len(bytes).expect("a length");
}

/// What is missing would keep its old key, and nobody would know when it comes back.
#[test]
fn a_bitlocker_volume_that_is_cut_is_read_and_not_changed() {
    let cli = bitlocker();
    let whole = fs::read(cli.path("v")).expect("a volume");
    // The third copy of the metadata lies at the end here.
    let cut = (64 << 20) - 4096;
    set_len(&cli, "v", cut);
    for verb in ["encrypt @v --reencrypt --yes", "decrypt @v --yes"] {
        cli.fails(
            4,
            "damaged",
            "check that the file was copied completely",
            &format!("{verb} --password-file @pw"),
        );
    }
    cli.fails(5, "unsupported", "copied completely", "resize @v --size 64M --password-file @pw --yes");
    assert_eq!(cli.path("v").metadata().expect("there").len(), cut);
    cli.ends(0, "cat @v --length 65536 --password-file @pw");
    let left = fs::read(cli.path("v")).expect("a volume");
    assert!(whole.starts_with(&left), "it was written to");
}

/// A secret that was given says which volume is meant.
#[test]
fn a_wrong_secret_erases_nothing() {
    let cli = bitlocker();
    let before = fs::read(cli.path("v")).expect("a volume");
    cli.fails(3, "wrong-secret", "check the password", "erase @v --password-file @bad --yes");
    cli.fails(1, "not-found", "check the path", "erase @v --password-file @none --yes");
    cli.refused(
        "usage",
        "give its password, recovery password",
        "erase @v --password-file @pw --pim 4 --dry-run",
    );
    assert!(fs::read(cli.path("v")).expect("a volume") == before, "it was written to");
    cli.ends(0, "erase @v --password-file @pw --yes");
}

/// The headers that are there open with another secret, and nothing in the backup says whose it is: the volume's content
/// does.
#[test]
fn a_header_backup_of_another_volume_is_not_restored() {
    let cli = Cli::new();
    for name in ["v", "w"] {
        cli.volume(name);
    }
    cli.keyway.secret("other", "yet-another-twenty-characters");
    cli.ends(0, &format!("header backup @w @bak {SECRET}"));
    cli.ends(0, &format!("protector change @v {SECRET} --new-password-file @other"));
    let before = fs::read(cli.path("v")).expect("a volume");
    let restore = format!("header restore @v @bak {SECRET} --yes");
    cli.fails(1, "other-master-keys", "--force", &restore);
    assert!(fs::read(cli.path("v")).expect("a volume") == before, "it was written to");
    // Its own is, whatever password there is now, where a file system shows that it is the right one.
    if cli.make("fs", 8 << 20, "mkfs.ext4", &["-q", "-F"]).is_none() {
        return;
    }
    cli.ends(0, "encrypt @fs --grow --password-file @pw --pim 1 --yes");
    cli.ends(0, &format!("header backup @fs @own {SECRET}"));
    cli.ends(0, &format!("protector change @fs {SECRET} --new-password-file @other"));
    cli.ends(0, &format!("header restore @fs @own {SECRET} --yes"));
    cli.ends(0, &format!("ls @fs {SECRET}"));
}

/// Copied to a larger drive, or cut: it is no noise, and not "no conversion".
#[test]
fn a_half_converted_medium_of_another_size_is_told() {
    for case in [VERACRYPT, BITLOCKER, BETWEEN] {
        let cli = new();
        let Some([_, half]) = interrupted(&cli, case, "--journal @away/journal") else { return };
        for bytes in [half.len() - (4 << 20), half.len() + (4 << 20)] {
            fs::write(cli.path("d"), &half).expect("written");
            set_len(&cli, "d", bytes as u64);
            let resume = format!("resume @d {} --journal @away/journal", case.secret);
            for words in [&*resume, "info @d", "status @d", "encrypt @d --password-file @pw --yes"] {
                cli.fails(4, "damaged", "bring back its size", words);
            }
        }
        // Another file there is told as that.
        fs::rename(cli.path("d"), cli.path("before")).expect("moved");
        fs::write(cli.path("d"), &half[..half.len() - (4 << 20)]).expect("written");
        let resume = format!("resume @d {} --journal @away/journal", case.secret);
        for words in [&*resume, "info @d", "status @d"] {
            cli.fails(4, "damaged", "is another file than the one whose conversion was begun", words);
        }
    }
}

#[test]
fn nothing_new_is_made_over_what_is_half_converted() {
    for case in [VERACRYPT, BITLOCKER] {
        let cli = new();
        let Some([_, half]) = interrupted(&cli, case, "--journal @away/journal") else { return };
        fs::write(cli.path("d"), &half).expect("written");
        let words = "create @d --force --yes --size 8M --password-file @pw --pim 1";
        cli.fails(1, "converting", "keyway resume", words);
        cli.fails(1, "converting", "keyway resume", &format!("{words} --dry-run"));
        assert!(fs::read(cli.path("d")).expect("there") == half, "it was written to");
    }
}

/// What opens it is in the backup, where nothing is left of the volume's own metadata: it is asked for.
#[test]
fn a_bitlocker_backup_is_restored_where_no_metadata_is_left() {
    let cli = bitlocker();
    cli.ends(0, "header backup @v @bak");
    let before = cli.ends(0, "cat @v --password-file @pw").stdout;
    for copy in cli.json(0, "header check @v")["metadata_copies"].as_array().expect("copies") {
        let at = copy["offset"].as_u64().expect("a place") as usize;
        damage(&cli.path("v"), at..at + 512);
    }
    // Nobody is there to be asked: that is what is said, not that the metadata is damaged.
    cli.refused("no-secret", "--password-file", "header restore @v @bak --yes");
    cli.ends(0, "header restore @v @bak --password-file @pw --yes");
    assert!(cli.ends(0, "cat @v --password-file @pw").stdout == before);
}

/// A volume that was named as the journal is no old journal.
#[test]
fn a_volume_is_no_old_journal() {
    let cli = new();
    if cli.make("d", 24 << 20, "mkfs.ext4", &["-q", "-F"]).is_none() {
        return;
    }
    File::create(cli.path("j")).expect("made").set_len(1 << 20).expect("a length");
    let words = "encrypt @d --grow --journal @j --password-file @pw --pim 1 --yes";
    cli.fails(1, "exists", "if it is an old journal, remove it, else name another", words);
}

/// A device's name that is mistyped is no name for a file: it would be in memory.
#[test]
fn nothing_is_made_among_the_devices() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("pw", PASSWORD);
    let name = format!("/dev/keyway-no-such-device-{}", std::process::id());
    for words in [
        format!("create {name} --size 1M --quick --password-file @pw"),
        format!("create {name} --size 1M --quick --password-file @pw --dry-run"),
        // No size is asked for of what can only be a device.
        format!("create {name} --format bitlocker --password-file @pw"),
        format!("create @b --format bitlocker --size 64M --recovery-file {name} --password-file @pw"),
        format!("open {name}"),
        format!("encrypt {name}"),
        format!("drive info {name}"),
        format!("header backup @v {name} {SECRET}"),
    ] {
        cli.fails(1, "not-found", &name, &words);
        cli.fails(1, "not-found", "`lsblk` lists", &words);
        assert!(!std::path::Path::new(&name).exists() && !cli.path("b").exists(), "{words}");
    }
}

/// A journal is there for the day when the power fails.
#[test]
fn no_journal_is_kept_in_memory() {
    let cli = new();
    let in_memory = |path: &std::path::Path| {
        rustix::fs::statfs(path).is_ok_and(|of| [0x0102_1994, 0x8584_58f6].contains(&(of.f_type as u64)))
    };
    let memory = std::path::Path::new("/dev/shm");
    if !in_memory(memory) || in_memory(&cli.path("")) {
        return keyway_testkit::skip("/dev/shm is no memory, or everything is");
    }
    let Some(()) = cli.make("d", 72 << 20, "mkfs.ext4", &["-q", "-F"]) else { return };
    let before = fs::read(cli.path("d")).expect("a file system");
    let journal = memory.join(format!("keyway-journal-{}", std::process::id()));
    let words = format!("{} --journal {}", VERACRYPT.begin, journal.display());
    cli.fails(1, "not-suitable", "a new file on another drive: --journal FILE", &words);
    assert!(!journal.exists() && fs::read(cli.path("d")).expect("there") == before, "nothing was changed");
}

/// A hidden volume goes into a VeraCrypt volume, and into nothing that is known to be something else.
#[test]
fn a_hidden_volume_is_made_in_no_other_thing() {
    let cli = bitlocker();
    cli.keyway.secret("pwh", "the-hidden-one-has-another-password");
    let mut luks = vec![0x5a; 2 << 20];
    luks[..8].copy_from_slice(b"LUKS\xba\xbe\0\x01");
    fs::write(cli.path("luks"), luks).expect("written");
    let Some(()) = cli.make("ext4", 8 << 20, "mkfs.ext4", &["-q", "-F"]) else { return };
    let mut disk = vec![0; 1 << 20];
    disk[446 + 4] = 7;
    disk[446 + 8..446 + 16].copy_from_slice(&[0, 8, 0, 0, 0, 0, 2, 0]);
    disk[510..512].copy_from_slice(&[0x55, 0xaa]);
    disk.extend(fs::read(cli.path("v")).expect("a volume"));
    fs::write(cli.path("disk"), disk).expect("written");
    for (name, code, kind) in
        [("v", 2, "usage"), ("luks", 4, "not-a-volume"), ("ext4", 4, "not-a-volume"), ("disk", 2, "usage")]
    {
        let before = fs::read(cli.path(name)).expect("there");
        for more in ["", "--password-file @pw", "--dry-run", "--force"] {
            let words = format!("create @{name} --hidden 1M --hidden-password-file @pwh --yes {more}");
            cli.fails(code, kind, "", &words);
            assert!(fs::read(cli.path(name)).expect("there") == before, "{words}: it was written to");
        }
    }
}
