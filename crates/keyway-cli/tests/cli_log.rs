//! `--log FILE`: every verb's steps are in it, and no secret of any kind, however it may be written.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, checked, has_fuse};
use keyway_testkit::{require_root, require_tool, to_hex};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

const SECRETS: [(&str, &str); 6] = [
    ("pw", "the-first-password-of-all-1"),
    ("pw2", "the-second-password-there-2"),
    ("wrong", "a-password-that-opens-no-3"),
    ("hidden", "what-opens-the-hidden-one-4"),
    ("owner", "the-owner-of-the-drive-5555"),
    ("key", "bytes of a keyfile, which is a secret as well: 6666666666666666"),
];

/// What a secret may look like in a file: as it is, in hexadecimal digits, in Base64, in UTF-16.
fn spellings(secret: &[u8]) -> Vec<Vec<u8>> {
    let hex = to_hex(secret);
    let wide: Vec<u8> = secret.iter().flat_map(|byte| [*byte, 0]).collect();
    // A secret may begin anywhere in what is encoded; whole groups of four stay the same.
    let encoded = (0..3.min(secret.len())).map(|skip| {
        let text = base64(&secret[skip..]);
        text.as_bytes()[..text.len() - 4].to_vec()
    });
    let mut all = vec![secret.to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes(), wide];
    all.extend(encoded);
    all
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let group =
            (0..3).fold(0u32, |group, at| group << 8 | u32::from(chunk.get(at).copied().unwrap_or_default()));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(group >> shift) as usize & 63]))
    });
    digits.collect()
}

fn has(log: &[u8], part: &[u8]) -> bool {
    log.windows(part.len()).any(|window| window == part)
}

#[test]
fn what_could_not_be_read_is_logged_by_its_place_and_length() {
    if !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", SECRETS[0].1);
    let with = "--password-file @pw --pim 1 --hash sha512";
    cli.ends(0, &format!("create @v --size 4M --quick --filesystem none {with}"));
    let open = cli.json(0, &format!("open @v --attach fuse --log @log {with}"));
    // What is behind is no longer there.
    let container = File::options().write(true).open(cli.path("v")).expect("ours");
    container.set_len(1 << 20).expect("shorter");
    let file = File::open(open["file"].as_str().expect("a file")).expect("ours");
    assert!(file.read_exact_at(&mut [0; 4096], 2 << 20).is_err());
    drop(file);
    container.set_len(4 << 20).expect("as long as before");
    cli.ends(0, "close @v");
    let log = std::fs::read_to_string(cli.path("log")).expect("text");
    let failed: Vec<&str> =
        log.lines().filter_map(|line| line.split_once(": offset ")).map(|two| two.1).collect();
    let number =
        |text: &str| text.split([',', ':']).next().and_then(|n| n.parse::<u64>().ok()).expect("a number");
    // The volume's bytes begin behind its headers.
    let wanted = (2 << 20) + (128 << 10);
    let names = |failed: &&str| {
        let (offset, rest) = failed.split_once(", length ").expect("both");
        (number(offset)..number(offset) + number(rest)).contains(&wanted)
    };
    assert!(failed.iter().any(names), "{log}");
    assert!(log.contains(&format!("ERROR read {}: offset ", cli.path("v").display())), "{log}");
}

#[test]
fn what_failed_is_logged_with_its_volume_and_why_and_nothing_that_may_be_a_secret() {
    let cli = Cli::new();
    let digits = ["123456"; 8].join("-");
    cli.ends(1, "cat @nosuch.hc --log @log");
    std::fs::write(cli.path("plain"), "a text\n".repeat(9000)).expect("written");
    cli.ends(4, "cat @plain --log @log");
    cli.run(&format!("cat @plain --format bitlocker --recovery-password {digits} --log @log"));
    let log = std::fs::read_to_string(cli.path("log")).expect("text");
    for (name, why) in [("nosuch.hc", "not-found (could not open"), ("plain", "not-a-volume (")] {
        let said = format!("ERROR keyway cat: {}: {why}", cli.path(name).display());
        assert!(log.contains(&said), "{said}\n{log}");
    }
    assert!(log.contains("No such file") && !log.contains(&digits), "{log}");
}

#[test]
fn every_verb_is_in_the_log_and_no_secret_is() {
    let tools = ["mkfs.ext4", "mkfs.fat", "resize2fs"].map(require_tool);
    if tools.iter().any(Option::is_none) {
        return;
    }
    let cli = Cli::new();
    for (name, secret) in SECRETS {
        cli.keyway.secret(name, secret);
    }
    std::fs::write(cli.path("letter"), "a letter").expect("written");
    cli.make("e4", 8 << 20, "mkfs.ext4", &["-q"]).expect("made");
    let with = "--password-file @pw --pim 1 --hash sha512";
    let run = |code: i32, words: &str| cli.ends(code, &format!("{} --log @log", words.replace("WITH", with)));
    // A VeraCrypt volume's whole life.
    run(0, "create @v --size 4M --quick --filesystem fat --password-file @pw --pim 1 --keyfile @key");
    run(3, "info @v --password-file @wrong --pim 1 --hash sha512");
    run(0, "put @v @letter /letter WITH --keyfile @key");
    run(0, "get @v /letter @copy WITH --keyfile @key");
    run(0, "ls @v WITH --keyfile @key");
    run(0, "header backup @v @backup WITH --keyfile @key");
    run(0, "header restore @v @backup WITH --keyfile @key --yes");
    run(0, "header check @v WITH --keyfile @key");
    run(0, "protector change @v WITH --keyfile @key --new-password-file @pw2 --new-pim 1");
    run(0, "create @h --size 4M --quick --filesystem none --password-file @pw --pim 1");
    run(
        0,
        "create @h --hidden 1M --filesystem none WITH --hidden-password-file @hidden --hidden-pim 1 --yes",
    );
    run(0, "resize @h --size 8M WITH --yes --keep-filesystem");
    run(0, "encrypt @h --reencrypt --cipher serpent WITH --yes");
    run(0, "open @h --attach nbd WITH");
    run(0, "close @h");
    run(0, "encrypt @e4 --grow --password-file @pw --pim 1 --yes");
    run(0, "decrypt @e4 WITH --yes");
    run(2, "resume @e4");
    run(0, "erase @h WITH --yes");
    // A BitLocker volume's, with every kind of protector that takes no TPM.
    let made = run(
        0,
        "create @b --size 64M --quick --format bitlocker --filesystem none --password-file @pw --json",
    );
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).expect("JSON");
    let recovery = made["recovery_password"].as_str().expect("a recovery password").to_owned();
    run(0, &format!("cat @b --length 512 --recovery-password {recovery}"));
    let other = if recovery.starts_with('7') { "6" } else { "7" };
    run(3, &format!("cat @b --length 512 --recovery-password {other}{}", &recovery[1..]));
    std::fs::create_dir(cli.path("stick")).expect("made");
    run(0, "protector add @b startup-key --to @stick --password-file @pw");
    run(0, "protector suspend @b --password-file @pw --yes");
    run(0, "protector resume @b");
    run(0, "protector recovery @b --password-file @pw");
    // A drive's.
    run(0, "drive emulate @d --size 16M");
    run(0, "drive setup @d --password-file @pw --recovery-sheet @sheet");
    run(0, "drive unlock @d --password-file @pw");
    run(3, "drive unlock @d --password-file @owner");
    run(0, "lab models samsung-840-pro");
    let log = std::fs::read(cli.path("log")).expect("a log");
    let text = String::from_utf8(log.clone()).expect("text");

    for step in [
        "create v: VeraCrypt, ",
        "unlock v: wrong-secret",
        "put v: ",
        "get v: 1 files, ",
        "header backup v: ",
        "header restore v: ",
        "header check v: in order",
        "protector v: another secret opens it",
        "resize h: ",
        "convert h: ",
        "attach h: nbd",
        "close h: closed",
        "convert e4: ",
        "erase h: every key is destroyed",
        "create b: BitLocker, ",
        "protector b: one was added",
        "drive set-up d: done",
        "drive unlock d: wrong-secret",
        "keyway lab models: ended",
        "keyway resume: e4: usage",
    ] {
        let folder = format!("{}/", cli.keyway.folder().display());
        assert!(text.replace(&folder, "").contains(step), "no {step:?} in\n{text}");
    }

    let sheet = std::fs::read_to_string(cli.path("sheet")).expect("a sheet");
    let owners = sheet.lines().map(str::trim).find(|line| line.len() == 29 && line.split('-').count() == 5);
    let key =
        std::fs::read_dir(cli.path("stick")).expect("a folder").next().expect("a key").expect("an entry");
    let key = std::fs::read(key.path()).expect("the startup key");
    let mut secrets: Vec<Vec<u8>> = SECRETS.iter().map(|(_, secret)| secret.as_bytes().to_vec()).collect();
    secrets.push(recovery.clone().into_bytes());
    // Six digits may be anything; twelve in a row are of nothing else.
    let groups: Vec<&str> = recovery.split('-').collect();
    secrets.extend(groups.windows(2).map(|two| two.concat().into_bytes()));
    secrets.extend(groups.windows(2).map(|two| two.join("-").into_bytes()));
    secrets.push(owners.expect("the owner's secret").as_bytes().to_vec());
    // The key itself is the end of its file.
    secrets.push(key[key.len() - 32..].to_vec());
    for secret in &secrets {
        for spelled in spellings(secret) {
            assert!(!has(&log, &spelled), "{:?} is in the log:\n{text}", String::from_utf8_lossy(&spelled));
        }
    }
}

/// A log that is short of what was done says so to whoever is there, and stops nothing.
#[test]
fn a_log_without_room_is_told() {
    if !require_root() {
        return;
    }
    let cli = Cli::new();
    cli.volume("v");
    let full = cli.path("full");
    std::fs::create_dir(&full).expect("made");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4k", "full"]).arg(&full).status();
    assert!(mounted.is_ok_and(|status| status.success()), "a tmpfs");
    std::fs::write(full.join("log"), vec![b'\n'; 4096]).expect("it is full");
    let done = cli.run("info @v --log @full/log");
    let told = String::from_utf8_lossy(&done.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    checked(Command::new("umount").arg(&full));
    assert!(done.status.success(), "{done:?}");
    assert!(told.contains("is not complete: No space left on device"), "{told}");
}

#[test]
fn a_secret_in_a_log_would_be_found() {
    let secret = SECRETS[0].1.as_bytes();
    let hex = to_hex(secret);
    let shifted = [b"x", secret].concat();
    let wide: Vec<u8> = secret.iter().flat_map(|byte| [*byte, 0]).collect();
    for log in [
        secret.to_vec(),
        hex.clone().into_bytes(),
        hex.to_uppercase().into_bytes(),
        wide,
        base64(secret).into_bytes(),
        base64(&shifted).into_bytes(),
    ] {
        let log = [b"INFO unlock v: ".to_vec(), log, b"\n".to_vec()].concat();
        assert!(
            spellings(secret).iter().any(|spelled| has(&log, spelled)),
            "{}",
            String::from_utf8_lossy(&log)
        );
    }
}

/// A log is appended to what is there, and no volume is a place for one.
#[test]
fn no_log_is_appended_to_a_volume() {
    let cli = Cli::new();
    cli.volume("v");
    let before = std::fs::read(cli.path("v")).expect("a volume");
    for words in ["info @v --log @v", "header check @v --password-file @pw --pim 1 --log @v"] {
        cli.fails(1, "exists", "choose another name", words);
        assert!(std::fs::read(cli.path("v")).expect("a volume") == before, "{words}: it was written to");
    }
    // Neither is a folder nor a device.
    for (no_log, what) in [("@", "it is a folder"), ("/dev/full", "it is no file")] {
        let error = cli.json(1, &format!("status --log {no_log}"))["error"].clone();
        assert!(error["message"].to_string().contains(what), "{error}");
        let hint = error["hint"].to_string();
        assert!(hint.contains("a log that is there") && !hint.contains("block device"), "{error}");
    }
}
