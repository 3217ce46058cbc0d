//! `keyway drive`: every verb against a virtual drive in the program's own process. Opening a virtual
//! drive's file switches it on, so each run begins after a power cycle.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, two_lines};
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::wait_until;
use keyway_virtual_drive::Drive;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// A new virtual drive, `@drive`, its label's PSID and the passwords in files, and the program.
fn made() -> Cli {
    let cli = Cli::new();
    let made = cli.json(0, "drive emulate @drive --size 32M");
    for (name, secret) in [
        ("pw", "user's password"),
        ("admin", "owner's password"),
        ("new", "another one"),
        ("psid", made["psid"].as_str().expect("a label")),
        ("serial", made["serial"].as_str().expect("a label")),
    ] {
        cli.keyway.secret(name, secret);
    }
    cli
}

/// The same, set up with passwords of our own.
fn set_up() -> Cli {
    let cli = made();
    cli.ends(0, "drive setup @drive --password-file @pw --admin-password-file @admin");
    cli
}

/// Waits for who has the drive's file locked: a program that another test starts just now inherits what this process has
/// open, and keeps it until it runs.
fn is_let_go(cli: &Cli) {
    let inode = std::fs::metadata(cli.path("drive")).expect("the drive").ino();
    let locked = || std::fs::read_to_string("/proc/locks").expect("Linux").contains(&format!(":{inode} "));
    wait_until("nobody has the drive's file locked", || !locked());
}

const ADMIN: &str = "--password-file @admin";
const USER: &str = "--password-file @pw";

#[test]
fn one_command_from_the_factory_to_a_locked_drive() {
    let cli = made();
    let info = cli.json(0, "drive info @drive");
    assert_eq!((&info["format"], &info["state"]), (&"opal".into(), &"factory".into()));
    assert_eq!(info["encryption_method"], "Hardware Encryption");
    let serial = std::fs::read_to_string(cli.path("serial")).expect("noted");
    assert_eq!(info["serial"], serial);
    assert_eq!(info["standards"][0], "Opal 2.0");
    assert_eq!(
        (&info["security_protocols"], &info["ieee_1667"]),
        (&serde_json::json!(["0x00", "0x01", "0x02"]), &false.into())
    );
    assert!(info["features"].as_array().is_some_and(|f| f.len() >= 4), "{info}");

    let done = cli.json(0, &format!("drive setup @drive {USER} --recovery-sheet @sheet"));
    assert_eq!((&done["state"], &done["user"]), (&"locked".into(), &"user1".into()));
    let info = cli.json(0, "drive info @drive");
    assert_eq!((&info["state"], &info["limits"]["ranges"]), (&"locked".into(), &8.into()));
    let sheet = std::fs::read_to_string(cli.path("sheet")).expect("the sheet");
    assert!(sheet.contains("PSID") && sheet.contains(&serial), "{sheet}");
    let mut lines = sheet.lines().skip_while(|line| !line.starts_with("The owner's secret"));
    cli.keyway.secret("owner", lines.nth(2).expect("the secret").trim());
    use std::os::unix::fs::PermissionsExt;
    let mode = cli.path("sheet").metadata().expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let done = cli.json(0, &format!("drive unlock @drive {USER}"));
    assert_eq!((&done["as"], &done["state"]), (&"user1".into(), &"unlocked".into()));
    let done = cli.json(0, "drive unlock @drive --password-file @owner --read-only");
    assert_eq!((&done["as"], &done["state"]), (&"admin1".into(), &"read-only".into()));
    cli.json(0, &format!("drive lock @drive {USER}"));
    assert!(String::from_utf8_lossy(&cli.ends(0, "drive info @drive").stdout).contains("locked"));

    // A second set-up, and a sheet where something lies already.
    assert_eq!(
        cli.json(1, &format!("drive setup @drive {USER} --recovery-sheet @x"))["error"]["kind"],
        "set-up-already"
    );
    assert!(!cli.path("x").exists());
    let fresh = made();
    fresh.keyway.secret("sheet", "mine");
    fresh.fails(
        1,
        "exists",
        "choose another name, or move the old one away",
        &format!("drive setup @drive {USER} --recovery-sheet @sheet"),
    );
    assert_eq!(fresh.json(0, "drive info @drive")["state"], "factory");
    fresh.refused(
        "usage",
        "use --recovery-sheet FILE to have one made up, or",
        &format!("drive setup @drive {USER}"),
    );
}

#[test]
fn status_and_info_say_hardware_encryption() {
    let cli = set_up();
    let status = cli.json(0, "status @drive");
    assert_eq!(status["encryption_method"], "Hardware Encryption");
    assert_eq!(
        (&status["lock_status"], &status["protection_status"]),
        (&"Locked".into(), &"Protection On".into())
    );
    assert_eq!(status["percentage_encrypted"], 100.0);
    let info = cli.json(0, "info @drive");
    assert_eq!(
        (&info["format"], &info["encryption_method"]),
        (&"opal".into(), &"Hardware Encryption".into())
    );
    let list = cli.json(0, "drive list @drive");
    assert_eq!(list["drives"][0]["state"], "locked");
    assert_eq!(list["drives"][0]["standards"][0], "Opal 2.0");
}

/// A drive of the size of today's, of which the file system has room for little: its file is mostly a hole.
const LARGE: &str = "128G";

#[test]
fn encrypting_by_hardware_takes_seconds_and_keeps_everything() {
    let cli = Cli::new();
    cli.ends(0, &format!("drive emulate @drive --size {LARGE}"));
    cli.keyway.secret("pw", "user's password");
    cli.keyway.secret("wrong", "another one");
    let powered = || {
        is_let_go(&cli);
        let store = FileStore::open(&cli.path("drive"), OpenMode::ReadWrite, Caching::Buffered);
        Drive::open(Arc::new(store.expect("a store"))).expect("a drive")
    };
    let places = [0, 12_345_678, (128 << 21) - 8];
    let drive = powered();
    for lba in places {
        drive.write(lba, &[lba as u8 | 1; 4096]).expect("unlocked");
    }
    drop(drive);

    cli.refused(
        "usage",
        "use --recovery-sheet FILE to have one made up, or",
        &format!("encrypt --hardware @drive {USER}"),
    );
    cli.refused(
        "usage",
        "with --hardware leave out --cipher, --hash, --reencrypt",
        &format!("encrypt --hardware @drive {USER} --recovery-sheet @sheet --cipher aes"),
    );
    cli.refused(
        "usage",
        "add --hardware, or leave out --recovery-sheet",
        &format!("encrypt @drive {USER} --recovery-sheet @sheet"),
    );
    assert_eq!(
        cli.json(1, &format!("decrypt --hardware @drive {USER} --yes"))["error"]["kind"],
        "not-set-up"
    );
    let done = cli.json(0, &format!("encrypt --hardware @drive {USER} --recovery-sheet @sheet"));
    assert_eq!((&done["state"], &done["conversion"]), (&"done".into(), &"encryption".into()));
    assert_eq!(
        (&done["encryption_method"], &done["lock_status"]),
        (&"Hardware Encryption".into(), &"Locked".into())
    );
    let seconds = done["seconds"].as_f64().expect("a time");
    eprintln!("hardware encryption of a drive of {LARGE} was enabled in {seconds:.2} s");
    let held = cli.path("drive").metadata().expect("there").blocks() * 512;
    assert!(held < 64 << 20, "{held} bytes of the drive's file were written");

    let status = cli.json(0, "status @drive");
    // The drive's bytes, not its file's, which holds more.
    assert_eq!(status["size_bytes"], 128_u64 << 30);
    assert_eq!(
        (&status["encryption_method"], &status["percentage_encrypted"]),
        (&"Hardware Encryption".into(), &100.0.into())
    );
    assert_eq!(
        (&status["lock_status"], &status["protection_status"]),
        (&"Locked".into(), &"Protection On".into())
    );
    assert_eq!(cli.json(0, "info @drive")["encryption_method"], "Hardware Encryption");
    assert_eq!(cli.json(0, "drive list @drive")["drives"][0]["encryption_method"], "Hardware Encryption");
    let drive = powered();
    for lba in places {
        assert!(drive.read(lba, &mut [0; 4096]).is_err(), "locked");
    }
    drop(drive);

    let sheet = std::fs::read_to_string(cli.path("sheet")).expect("the sheet");
    let mut lines = sheet.lines().skip_while(|line| !line.starts_with("The owner's secret"));
    cli.keyway.secret("owner", lines.nth(2).expect("the secret").trim());
    cli.refused(
        "usage",
        "Where ranges of their own were set up, what is in them will be lost; everything else stays",
        "decrypt --hardware @drive --password-file @owner",
    );
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        "decrypt --hardware @drive --password-file @wrong --yes",
    );
    let done = cli.json(0, "decrypt --hardware @drive --password-file @owner --yes");
    eprintln!("and disabled in {:.2} s", done["seconds"].as_f64().expect("a time"));
    assert_eq!(cli.json(0, "status @drive")["protection_status"], "Protection Off");
    let drive = powered();
    for lba in places {
        let mut block = [0; 4096];
        drive.read(lba, &mut block).expect("locks no more");
        assert_eq!(block, [lba as u8 | 1; 4096]);
    }
}

#[test]
fn wrong_secrets_and_conventions_are_explained() {
    let cli = set_up();
    let wrong = cli.json(3, "drive unlock @drive --password-file @new");
    assert_eq!(wrong["error"]["kind"], "wrong-secret");
    let causes = wrong["causes"].to_string();
    assert!(causes.contains("hashed it differently"), "{wrong}");
    assert!(wrong["next"].as_str().is_some_and(|next| next.contains("--hash plain")), "{wrong}");
    for hash in ["plain", "sedutil-sha512"] {
        cli.fails(
            3,
            "wrong-secret",
            "administrator 1 is not enabled",
            &format!("drive unlock @drive {USER} --hash {hash}"),
        );
    }
    cli.refused(
        "usage",
        "--hash can't be \"md5\": one of sedutil",
        &format!("drive unlock @drive {USER} --hash md5"),
    );
    let (what, next) = two_lines(&cli.ends(3, "drive unlock @drive --password-file @new --as user1"));
    assert!(what.contains("user 1") && what.contains("NOT_AUTHORIZED"), "{what}");
    assert!(next.contains("Next: "), "{next}");
    // A user may not do what an administrator may.
    let denied = cli.json(5, &format!("drive range enable @drive 1 {USER} --as user1"));
    assert_eq!(denied["error"]["kind"], "not-allowed");
    // Nobody has set this one up.
    let fresh = made();
    assert_eq!(fresh.json(1, &format!("drive unlock @drive {USER}"))["error"]["kind"], "not-set-up");
    assert_eq!(fresh.json(4, "drive info @pw")["error"]["kind"], "not-a-drive");
    fresh.fails(1, "not-found", "check the path", "drive info @nothing");
    fresh.refused(
        "usage",
        "--as can't be \"root\": write owner (or sid), admin1",
        "drive unlock @drive --as root",
    );
}

#[test]
fn a_drive_set_up_without_hashing() {
    let cli = made();
    cli.ends(
        0,
        "drive setup @drive --password-file @pw --admin-password-file @admin --hash plain --leave-unlocked",
    );
    cli.fails(3, "wrong-secret", "the password is mistyped", &format!("drive unlock @drive {USER}"));
    cli.ends(0, &format!("drive unlock @drive {USER} --hash plain"));
    // The sheet names the drive and how its secrets are hashed wherever a command needs it.
    let cli = made();
    cli.ends(0, &format!("drive setup @drive {USER} --recovery-sheet @sheet --hash plain"));
    let sheet = std::fs::read_to_string(cli.path("sheet")).expect("the sheet");
    let drive = cli.path("drive").display().to_string();
    let commands: Vec<&str> = sheet.lines().filter(|line| line.contains("keyway drive")).collect();
    assert!(commands.len() == 4 && commands.iter().all(|line| line.contains(&drive)), "{sheet}");
    assert_eq!(commands.iter().filter(|line| line.ends_with("--hash plain")).count(), 3);
    assert!(!sheet.contains('<') && sheet.contains("plain (not hashed"), "{sheet}");
}

#[test]
fn what_would_be_done_is_told_and_not_done() {
    let cli = made();
    let plan = |words: &str| cli.json(0, &format!("drive {words} --dry-run"))["plan"].clone();
    let setup = plan("setup @drive --recovery-sheet @sheet");
    assert_eq!((&setup["action"], &setup["loses_data"]), (&"set-up".into(), &false.into()));
    let setup = cli.json(0, "encrypt --hardware @drive --recovery-sheet @sheet --dry-run");
    assert_eq!(setup["plan"]["action"], "set-up");
    assert!(!cli.path("sheet").exists());
    assert_eq!(cli.json(0, "drive info @drive")["state"], "factory");
    assert_eq!(plan("block @drive")["action"], "block-owner");
    // What can't be done is refused all the same; nobody is asked for a secret, and nothing for a yes.
    assert_eq!(cli.json(1, "drive erase @drive --dry-run")["error"]["kind"], "not-set-up");
    cli.ends(0, "drive setup @drive --password-file @pw --admin-password-file @admin");
    let unlock = plan("unlock @drive");
    assert_eq!(
        (&unlock["ranges"], &unlock["as"]),
        (&serde_json::json!([0]), &serde_json::json!(["user1", "admin1"]))
    );
    for (words, action) in [
        ("erase @drive --range 1", "erase-range"),
        ("range set @drive 1 --start 1M --length 4M", "place-range"),
        ("range remove @drive 1", "remove-range"),
        ("user alone @drive --range 1", "give-to-users"),
        ("mbr write @drive @pw", "write-table"),
        ("store write @drive @pw", "write-table"),
        ("revert @drive", "revert"),
        ("revert @drive --keep-data", "release"),
    ] {
        let plan = plan(words);
        assert_eq!((&plan["action"], &plan["loses_data"]), (&action.into(), &true.into()), "{words}");
    }
    for (words, action) in [
        ("lock @drive", "lock"),
        ("range enable @drive 1", "enable-range"),
        ("user enable @drive user2", "enable-user"),
        ("user disable @drive user1", "disable-user"),
        ("user forbid @drive user1", "allow-user"),
        ("user password @drive sid", "set-password"),
        ("user move-in @drive", "move-in"),
        ("mbr enable @drive", "enable-shadow"),
        ("mbr done @drive", "finish-shadow"),
        ("reset @drive", "reset"),
    ] {
        let plan = plan(words);
        assert_eq!((&plan["action"], &plan["loses_data"]), (&action.into(), &false.into()), "{words}");
    }
    let told = String::from_utf8(cli.ends(0, "drive erase @drive --dry-run").stdout).expect("text");
    assert!(told.starts_with("Nothing was done.") && told.contains("will be lost for ever."), "{told}");
    let release = cli.json(0, "decrypt --hardware @drive --dry-run");
    assert_eq!(release["plan"]["action"], "release");
    // It is as it was set up.
    cli.ends(0, &format!("drive unlock @drive {USER}"));
    cli.json(0, "drive emulate @other --size 32M --dry-run");
    assert!(!cli.path("other").exists());
}

#[test]
fn ranges() {
    let cli = set_up();
    let set = |words: &str| format!("drive range set @drive {words} {ADMIN}");
    cli.refused("usage", "add --yes if that is what you want", &set("1 --start 1M --length 4M"));
    cli.ends(0, &set("1 --start 1M --length 4M --yes"));
    cli.fails(1, "not-now", "it overlaps another range", &set("2 --start 2M --length 4M --yes"));
    cli.fails(1, "not-now", "tells the block size", &set("2 --start 1000 --length 4M --yes"));
    cli.refused("usage", "name another", &set("0 --start 1M --length 4M --yes"));
    cli.refused("usage", "use `keyway drive range remove`", &set("2 --start 1M --length 0 --yes"));
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(list["ranges"].as_array().map(Vec::len), Some(2));
    let range = &list["ranges"][1];
    assert_eq!((&range["start_bytes"], &range["length_bytes"]), (&(1 << 20).into(), &(4 << 20).into()));
    assert_eq!((&range["state"], &range["locks_on_power_cycle"]), (&"locked".into(), &true.into()));
    let text = cli.ends(0, &format!("drive range list @drive {ADMIN}")).stdout;
    assert!(String::from_utf8_lossy(&text).contains("4 MiB"));
    // A range is named, since the rest of the drive stays as it was.
    let told = |words: &str| {
        String::from_utf8_lossy(&cli.ends(0, &format!("drive {words} {ADMIN}")).stdout).into_owned()
    };
    assert!(
        told("unlock @drive --range 0 --range 1").contains(", range 0, 1: unlocked for reading and writing")
    );
    assert!(told("unlock @drive").contains(" is unlocked for reading and writing, as "));
    cli.ends(0, &format!("drive range disable @drive 1 {ADMIN}"));
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(list["ranges"][1]["state"], "never locks");
    cli.fails(1, "not-now", "range enable", &format!("drive lock @drive --range 1 {ADMIN}"));
    cli.ends(0, &format!("drive range enable @drive 1 {ADMIN}"));
    cli.refused("usage", "Everything in range 1 of", &format!("drive erase @drive --range 1 {ADMIN}"));
    cli.ends(0, &format!("drive erase @drive --range 1 {ADMIN} --yes"));
    cli.ends(0, &format!("drive range remove @drive 1 {ADMIN} --yes"));
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(list["ranges"].as_array().map(Vec::len), Some(1));
    cli.refused("usage", "name another", &format!("drive range remove @drive 0 {ADMIN} --yes"));
    // A drive takes every word for a range that was never placed, and there is nothing that it could lock.
    for words in [
        "lock @drive --range 0 --range 3 --as admin1",
        "unlock @drive --range 3",
        "erase @drive --range 3 --yes",
        "range enable @drive 3",
    ] {
        let words = format!("drive {words} {ADMIN}");
        cli.fails(1, "not-now", "N --start SIZE --length SIZE", &words);
    }
    // Drives call this not allowed.
    for words in
        ["lock @drive --range 99 --as admin1", "erase @drive --range 99 --yes", "range enable @drive 99"]
    {
        let words = format!("drive {words} {ADMIN}");
        cli.refused("usage", "has no range 99: besides range 0 it has 8", &words);
    }
    // A drive leaves what a user may not see out of its answer.
    let others = format!("drive erase @drive --as user1 {USER} --yes");
    cli.fails(5, "not-allowed", "user 1 may not do that", &others);
}

#[test]
fn users() {
    let cli = set_up();
    let list = cli.json(0, &format!("drive user list @drive {ADMIN}"));
    assert_eq!((&list["users"][0]["user"], &list["users"][0]["enabled"]), (&"user1".into(), &true.into()));
    assert_eq!(list["users"][1]["enabled"], false);
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        "drive unlock @drive --as user2 --password-file @new",
    );
    cli.ends(0, &format!("drive user enable @drive user2 {ADMIN} --new-password-file @new"));
    cli.ends(0, "drive unlock @drive --as user2 --password-file @new");
    cli.ends(0, &format!("drive user forbid @drive user2 {ADMIN}"));
    cli.fails(
        5,
        "not-allowed",
        "the right belongs to an administrator",
        "drive unlock @drive --as user2 --password-file @new",
    );
    cli.ends(0, &format!("drive user allow @drive user2 {ADMIN}"));
    cli.ends(0, "drive unlock @drive --as user2 --password-file @new");
    cli.ends(0, &format!("drive user disable @drive user2 {ADMIN}"));
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        "drive unlock @drive --as user2 --password-file @new",
    );
    cli.refused("usage", "name one: user1, user2 …", &format!("drive user allow @drive admin1 {ADMIN}"));
    // Passwords: one's own, another's by the administrator, the owner's.
    cli.ends(0, &format!("drive user password @drive user1 {USER} --new-password-file @new"));
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        &format!("drive unlock @drive --as user1 {USER}"),
    );
    cli.ends(0, "drive unlock @drive --as user1 --password-file @new");
    cli.ends(0, &format!("drive user password @drive user1 --as admin1 {ADMIN} --new-password-file @pw"));
    cli.ends(0, &format!("drive unlock @drive --as user1 {USER}"));
    // The owner's is the first administrator's as well: every later verb takes the new one.
    let change = format!("drive user password @drive owner {ADMIN} --new-password-file @new");
    assert_eq!(cli.json(0, &change)["administrator"], true);
    cli.ends(0, "drive user list @drive --password-file @new");
    // Done once more, as after an answer that was lost, it goes on where it was.
    assert_eq!(cli.json(0, &change)["administrator"], true);
    cli.fails(3, "wrong-secret", "the password is mistyped", &format!("drive revert @drive {ADMIN} --yes"));
    cli.refused(
        "usage",
        "change the owner's password as sid, the others' as admin1",
        &format!("drive user password @drive sid --as admin1 {ADMIN} --new-password-file @new"),
    );
    cli.ends(0, "drive revert @drive --password-file @new --yes");
}

#[test]
fn a_range_of_a_users_own() {
    let cli = made();
    cli.keyway.secret("owner", "owner's password");
    let done = cli.json(0, &format!("drive setup @drive {USER} --admin-password-file @admin --single-user"));
    assert_eq!(done["single_user"], true);
    cli.ends(0, &format!("drive unlock @drive {USER}"));
    cli.fails(
        5,
        "not-allowed",
        "--as user1 for range 0",
        &format!("drive unlock @drive --as admin1 {ADMIN}"),
    );
    // The owner may erase it, and another moves in.
    cli.refused("usage", "Everything outside of other ranges of", &format!("drive erase @drive {ADMIN}"));
    let erased = cli.ends(0, &format!("drive erase @drive {ADMIN} --yes"));
    assert!(String::from_utf8_lossy(&erased.stdout).contains("move-in"));
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        &format!("drive unlock @drive --as user1 {USER}"),
    );
    cli.ends(0, "drive user move-in @drive --new-password-file @new");
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        "drive user move-in @drive --new-password-file @pw",
    );
    cli.ends(0, "drive unlock @drive --as user1 --password-file @new");

    // Ranges are given away later, too.
    let cli = set_up();
    cli.ends(0, &format!("drive range set @drive 1 --start 1M --length 4M --yes {ADMIN}"));
    let alone = format!("drive user alone @drive --range 1 {ADMIN} --new-password-file @new");
    cli.refused("usage", "will be empty and no range will lock, but those that are", &alone);
    assert_eq!(cli.json(0, &format!("{alone} --yes"))["users"][0], "user2");
    cli.fails(
        5,
        "not-allowed",
        "--as user2 for range 1",
        &format!("drive unlock @drive --range 1 --as admin1 {ADMIN}"),
    );
    cli.ends(0, "drive unlock @drive --range 1 --as user2 --password-file @new");
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(
        (&list["ranges"][0]["state"], &list["ranges"][1]["state"]),
        (&"never locks".into(), &"locked".into())
    );
    // Each run is a power cycle, so it is locked, and can't be taken from its user.
    let kept = cli.json(1, &format!("drive user alone @drive {ADMIN} --yes"));
    assert!(kept["next"].as_str().is_some_and(|next| next.contains("unlock it first")), "{kept}");
}

#[test]
fn the_shadow_and_the_store() {
    let cli = set_up();
    let image = cli.keyway.secret("image", (0..100_000u32).map(|n| (n / 7) as u8).collect::<Vec<_>>());
    let status = cli.json(0, &format!("drive mbr status @drive {ADMIN}"));
    assert_eq!((&status["enabled"], &status["bytes"]), (&false.into(), &(128 << 20).into()));
    cli.refused("usage", "What is in the MBR shadow of", &format!("drive mbr write @drive @image {ADMIN}"));
    cli.ends(0, &format!("drive mbr write @drive @image {ADMIN} --yes"));
    cli.ends(0, &format!("drive mbr read @drive @back --length 100000 {ADMIN}"));
    assert!(std::fs::read(cli.path("back")).expect("read") == std::fs::read(&image).expect("read"));
    cli.fails(
        1,
        "exists",
        "choose another name, or move the old one away",
        &format!("drive mbr read @drive @back --length 4K {ADMIN}"),
    );
    assert_eq!(cli.json(0, &format!("drive mbr enable @drive {ADMIN}"))["enabled"], true);
    let unlocked = cli.ends(0, &format!("drive unlock @drive {USER}"));
    let warned = cli.json(0, &format!("drive unlock @drive {USER}"))["warnings"].to_string();
    assert!(warned.contains("it locks again now"), "a program that reads JSON is warned, too: {warned}");
    let told = String::from_utf8_lossy(&unlocked.stderr);
    // A file has power only while a command runs, and whoever unlocks one is told.
    assert!(told.contains("it locks again now") && told.contains("--nvme-tcp 127.0.0.1:0"), "{told}");
    assert!(!told.contains("covers the drive's beginning"), "user 1 may lift the shadow: {told}");
    assert_eq!(cli.json(0, &format!("drive mbr done @drive {ADMIN}"))["done"], true);
    assert_eq!(cli.json(0, &format!("drive mbr undone @drive {ADMIN}"))["done"], false);
    assert_eq!(cli.json(0, &format!("drive mbr disable @drive {ADMIN}"))["enabled"], false);
    let large = std::fs::File::create_new(cli.path("large")).expect("a file");
    large.set_len((128 << 20) + 1).expect("room");
    cli.fails(
        1,
        "not-now",
        "`keyway drive mbr status` tells its size",
        &format!("drive mbr write @drive @large {ADMIN} --yes"),
    );

    cli.keyway.secret("notes", "notes for the host");
    cli.refused(
        "usage",
        "there now will be overwritten",
        &format!("drive store write @drive @notes --offset 1K {ADMIN}"),
    );
    cli.ends(0, &format!("drive store write @drive @notes --offset 1K {ADMIN} --yes"));
    let read = cli.ends(0, &format!("drive store read @drive --offset 1K --length 18 {ADMIN}"));
    assert_eq!(read.stdout, b"notes for the host");
    let read = cli.json(0, &format!("drive store read @drive --offset 1K --length 5 {ADMIN}"));
    assert_eq!(read["hex"], "6e6f746573");
    cli.fails(
        1,
        "not-now",
        "write or read less of it",
        &format!("drive store write @drive @notes --offset 10M {ADMIN} --yes"),
    );
    cli.fails(
        1,
        "not-now",
        "write or read less of it",
        &format!("drive store read @drive --offset 11M {ADMIN}"),
    );
}

#[test]
fn back_to_the_factory() {
    let cli = set_up();
    cli.refused("usage", "will be lost for ever", &format!("drive revert @drive {ADMIN}"));
    cli.fails(3, "wrong-secret", "the password is mistyped", &format!("drive revert @drive {USER} --yes"));
    let kept = cli.json(0, &format!("drive revert @drive --keep-data {ADMIN} --yes"));
    assert_eq!((&kept["reverted"], &kept["data_kept"]), (&true.into(), &true.into()));
    assert_eq!(cli.json(0, "drive info @drive")["state"], "factory");
    // Once more, there is nothing to do, and nobody has a secret for it.
    for words in ["", "--keep-data"] {
        let again = cli.json(0, &format!("drive revert @drive {words} {ADMIN}"));
        assert_eq!(
            (&again["reverted"], &again["nothing_to_do"], &again["data_kept"]),
            (&false.into(), &true.into(), &true.into())
        );
        let told = cli.ends(0, &format!("drive revert @drive {words} {ADMIN}")).stdout;
        assert!(String::from_utf8_lossy(&told).contains("nothing was to be done"), "{told:?}");
    }
    // Nothing of the old owner is left: it can be set up again.
    cli.ends(0, "drive setup @drive --password-file @pw --admin-password-file @admin");
    let wrong = cli.json(3, "drive revert @drive --psid WRONGWRONGWRONGWRONGWRONGWRONG00 --yes");
    assert!(wrong["error"]["hint"].as_str().is_some_and(|hint| hint.contains("label")), "{wrong}");
    cli.refused(
        "usage",
        "read it from the drive's label again; --psid takes it, or a",
        "drive revert @drive --psid ThisIsLongerThanAnyPSIDCouldEverBe --yes",
    );
    cli.ends(0, "drive revert @drive --psid @psid --yes");
    assert_eq!(cli.json(0, "drive info @drive")["state"], "factory");
    cli.ends(0, &format!("drive setup @drive {USER} --recovery-sheet @sheet"));
    // Why nobody else can be kept from it is told, not what might ail the firmware.
    cli.fails(1, "not-now", "there is nothing to block", "drive block @drive");
    let psid = std::fs::read_to_string(cli.path("psid")).expect("noted");
    cli.ends(0, &format!("drive revert @drive --psid {psid} --yes"));
    cli.ends(0, "drive block @drive");
    cli.ends(0, "drive reset @drive");
}

#[test]
fn a_drive_that_has_an_owner_is_not_taken_over() {
    let cli = made();
    cli.ends(0, "drive setup @drive --password-file @pw --admin-password-file @admin");
    // Locking is taken back, the owner stays.
    let path = cli.path("drive");
    let store = FileStore::open(&path, OpenMode::ReadWrite, Caching::Buffered).expect("a store");
    let drive = Arc::new(Drive::open(Arc::new(store)).expect("a drive"));
    let transport = keyway_virtual_drive::VirtualTransport::new(drive);
    let mut host = keyway_sed::host::Host::open(Box::new(transport)).expect("discovery");
    let serial = host.identity().serial_field;
    let pin =
        keyway_sed::password::PasswordHash::Sedutil.derive(b"owner's password", &serial).expect("short");
    let authority = keyway_sed::uid::authority::admin(1);
    host.revert_locking(keyway_sed::host::Credential { authority, pin: &pin }, false).expect("reverted");
    drop(host);
    is_let_go(&cli);
    let owned = cli.json(5, "drive setup @drive --password-file @pw --admin-password-file @admin");
    assert_eq!(owned["error"]["kind"], "not-allowed");
    assert!(owned["error"]["message"].as_str().is_some_and(|m| m.contains("has an owner")), "{owned}");
    assert!(owned["next"].as_str().is_some_and(|n| n.contains("psid")), "{owned}");
}

/// A drive that fails in the middle of its set-up, and can't be asked what it has done: its owner may be a new one.
#[test]
fn a_drive_that_is_set_up_in_part_keeps_its_secrets() {
    let cli = made();
    // The drive can't write its state down any more.
    let limited = cli.path("limited");
    let script = "#!/bin/sh\ntrap '' XFSZ\nulimit -f 64\nexec \"$@\"\n";
    std::fs::write(&limited, script).expect("written");
    let words = "drive setup @drive --password-file @pw --recovery-sheet @sheet --json";
    let program = cli.command(cli.words(words));
    let mut sh = std::process::Command::new("sh");
    sh.arg(&limited).arg(program.get_program()).args(program.get_args());
    sh.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = sh.output().expect("it runs");
    let told: serde_json::Value = serde_json::from_slice(&done.stdout).expect("a document");
    assert_eq!(
        (done.status.code(), told["error"]["kind"].as_str()),
        (Some(1), Some("half-set-up")),
        "{told}"
    );
    assert!(told["error"]["hint"].as_str().is_some_and(|hint| hint.contains("--keep-data")), "{told}");
    assert!(cli.path("sheet").is_file(), "the owner's secret is lost");
}

/// What was named is told, whatever was wanted of it; and of a drive's file that it was cut off.
#[test]
fn what_is_no_drive_and_what_was_cut_off_is_told() {
    let cli = set_up();
    let whole = std::fs::metadata(cli.path("drive")).expect("there").len();
    std::fs::write(cli.path("empty"), "").expect("written");
    std::fs::write(cli.path("bytes"), vec![7; 1 << 20]).expect("written");
    let luks: Vec<u8> = b"LUKS\xba\xbe\0\x02".iter().copied().chain([0; 4088]).collect();
    std::fs::write(cli.path("luks"), luks).expect("written");
    let verbs = [
        "drive info",
        "drive lock --password-file @pw",
        "drive erase --yes --password-file @admin",
        "drive revert --yes --password-file @admin",
        "drive range list --password-file @admin",
        "drive user list --password-file @admin",
        "drive mbr status --password-file @admin",
        "drive reset",
        "drive setup --recovery-sheet @sheet --password-file @pw",
    ];
    for words in verbs {
        for (name, says) in
            [("empty", "it is empty"), ("bytes", "no virtual drive's file"), ("luks", "a LUKS2 volume")]
        {
            let told = cli.json(4, &format!("{words} @{name}"));
            assert_eq!(told["error"]["kind"], "not-a-drive", "{words}: {told}");
            assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains(says)), "{words}: {told}");
        }
        for len in [whole - 4096, whole / 2, 4096] {
            std::fs::copy(cli.path("drive"), cli.path("cut")).expect("copied");
            let file = std::fs::OpenOptions::new().write(true).open(cli.path("cut")).expect("there");
            file.set_len(len).expect("cut");
            let told = cli.json(4, &format!("{words} @cut"));
            assert_eq!(told["error"]["kind"], "too-short", "{words}, {len}: {told}");
            assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains("was cut off")), "{told}");
        }
    }
    cli.fails(4, "not-a-drive", "name an NVMe, SATA or SAS drive", "drive info /dev/null");
}

#[test]
fn what_needs_no_secret_asks_for_none_and_who_may_not_see_is_told() {
    let cli = set_up();
    let open = cli.json(0, "drive mbr status @drive");
    let told = cli.json(0, &format!("drive mbr status @drive {ADMIN}"));
    assert_eq!(open, told);
    cli.fails(5, "not-allowed", "--as admin1", &format!("drive range list @drive --as user1 {USER}"));
    let sid = cli.json(3, &format!("drive range list @drive --as sid {ADMIN}"));
    assert!(sid["error"]["message"].as_str().is_some_and(|said| said.contains("the whole drive's")), "{sid}");
    let release = cli.ends(0, "decrypt --hardware @drive --dry-run");
    let told = String::from_utf8_lossy(&release.stdout).into_owned();
    assert!(told.contains("Where ranges of their own were set up"), "{told}");
    // Its file is no volume.
    for words in [
        "open @drive",
        "erase @drive --yes",
        "ls @drive",
        "encrypt @drive --dry-run",
        "decrypt @drive --dry-run",
    ] {
        cli.fails(4, "not-a-volume", "keyway drive emulate", words);
    }
}
