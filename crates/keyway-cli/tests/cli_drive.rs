//! `keyway drive`: every verb against a virtual drive in the program's own process. Opening a virtual
//! drive's file switches it on, so each run begins after a power cycle.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::virtual_drive::{ADMIN, USER, is_let_go, made, set_up};
use cli_support::{Cli, two_lines};
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_virtual_drive::Drive;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

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
    // No owner has allowed the reset of everything.
    cli.fails(5, "not-allowed", "leave out --tper", "drive reset @drive --tper");
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
