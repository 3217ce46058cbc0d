//! Whatever can be known to be wrong is said before anybody is asked for a secret, or to say yes: by every verb that asks.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, Typed};
use std::fs;

/// What nobody has to be asked to know, and a part of what is said of it.
const WRONG: &[(&str, &str)] = &[
    // Sizes, names, places.
    ("create @new", "needs a size"),
    ("create @new --size 10", "at least 299008"),
    ("create @new --size 1000001", "512"),
    ("create @new --size 900T", "free there"),
    ("create @new --size 1M --cipher rot13", "no cipher called"),
    ("create @new --size 1M --cipher aes-aes", "aes-twofish-serpent"),
    ("create @new --size 1M --label x", "leave out --label"),
    ("create @new --size 1M --hash md5", "no key derivation"),
    ("create @new --size 1M --filesystem nosuch", "no file system called"),
    ("create @new --size 10M --filesystem btrfs", "at least 110 MiB"),
    ("create @new --size 100M --filesystem xfs", "at least 301 MiB"),
    ("create @new --size 1M --filesystem ntfs", "at least 2 MiB"),
    ("create @new --size 2M --filesystem exfat", "at least 3 MiB"),
    ("create @new --size 300K --filesystem fat", "at least 306 KiB"),
    ("create @v --hidden 1M --filesystem exfat --yes", "at least 3 MiB"),
    ("create @nowhere/new --size 1M", "nowhere"),
    ("create @folder --size 1M", "is a folder"),
    ("create @v --size 1M", "exists already"),
    ("create @new --size 12M --hidden 20M", "hidden"),
    ("create @new --size 12M --hidden 100", "at least 40960"),
    ("create @v --hidden 12M --yes", "hidden"),
    ("create @v --hidden 1000001", "take 999936 instead"),
    ("create @new --size 12M --hidden 1000001", "take 999936 instead"),
    ("create @v --hidden 12M", "hidden"),
    ("create @new --size 1M --keyfile @missing", "missing"),
    ("create @new --size 1M --keyfile @empty", "empty"),
    ("create @new --size 1M --keyfile @folder", "folder"),
    ("create @new --size 1M --pim 99999999", "PIM"),
    ("create @new --size 1M --password-file @missing", "missing"),
    ("create @new --size 12M --hidden 5M --hidden-password-file @missing", "missing"),
    ("create @new --size 12M --hidden 5M --hidden-keyfile @missing", "missing"),
    ("create @new --size 12M --hidden 5M --hidden-pim 99999999", "PIM"),
    ("create @new --size 1M --format bitlocker", "67108864"),
    ("create @new --size 64M --format bitlocker --cipher serpent", "no cipher called"),
    ("create @new --size 64M --format bitlocker --hash sha512", "--hash"),
    ("create @new --size 64M --format bitlocker --password-file @small", "has 4 characters"),
    ("create @new --size 64M --format bitlocker --hidden 1M", "hidden"),
    ("create @new --size 64M --format bitlocker --startup-key-out @missing", "missing"),
    ("create @new --size 64M --format bitlocker --recovery-file @v", "File exists"),
    ("create @new --size 64M --format bitlocker --recovery-file @nowhere/r", "nowhere"),
    ("create @new --size 64M --format bitlocker --filesystem ext4", "ext4"),
    ("create @new --size 64M --format bitlocker --no-password --no-recovery-password", "nothing would open"),
    // Opening and serving.
    ("open @missing", "missing"),
    ("open @folder", "is a folder"),
    ("open @small", "5 bytes"),
    ("open @zeros", "zeros"),
    ("open @v @nowhere/folder", "mkdir -p"),
    ("open @v @small", "not a folder"),
    ("open @v /", "nothing is mounted over it"),
    ("open @v --keyfile @missing", "missing"),
    ("open @v --pim 99999999", "PIM"),
    ("open @v --password-file @missing", "missing"),
    ("open @v --protect-hidden --read-only", "--protect-hidden"),
    ("open @v --protect-hidden --protect-keyfile @missing", "missing"),
    ("open @v --protect-hidden --protect-password-file @missing", "missing"),
    ("open @v --protect-hidden --protect-pim 99999999", "PIM"),
    ("open @v --attach nbd @folder", "mount point"),
    ("open @v @folder --mount-options suid", "nosuid and nodev"),
    ("open @v @folder --mount-options noatime,remount", "mounted already"),
    ("open @v @folder --mount-options offset=512", "attached by this program"),
    ("open @v @folder --attach files --mount-options uid=0", "leave out --mount-options"),
    ("open @v --partition 3", "no partition table"),
    ("open @v --startup-key @small", "not a BitLocker volume"),
    ("open @b --keyfile @pw", "no keyfiles"),
    ("open @b --protect-hidden", "hidden"),
    ("open @b --startup-key @missing", "missing"),
    ("open @b --startup-key @small", "no startup key"),
    ("open @b --recovery-password @missing", "missing"),
    ("serve @missing --nbd tcp:127.0.0.1:0", "missing"),
    ("serve @v --nbd tcp:8.8.8.8:10809", "loopback"),
    ("serve @v --nbd unix:@nowhere/socket", "nowhere"),
    ("serve @v --vhost-user @nowhere/socket", "nowhere"),
    ("serve @v --vhost-user @small", "small"),
    ("serve @v --nvme-tcp 127.0.0.1:0 --nvme-secret @missing", "missing"),
    ("serve @v --nbd tcp:127.0.0.1:0 --tls-certificates @missing", "missing"),
    // What is in it.
    ("cat @missing", "missing"),
    ("cat @v --offset 999G", "past the end"),
    ("ls @v /..", ".."),
    ("ls @zeros", "zeros"),
    ("get @v / .", "new folder"),
    ("get @v /../x", ".."),
    ("get @v /x @nowhere/x", "nowhere"),
    ("get @v /x @small", "exists"),
    ("get @v /small @here", "exists"),
    ("put @v @missing", "missing"),
    ("put @v /proc/version", "tells the length 0 and has something in it"),
    ("put @v @small @missing /", "missing"),
    ("put @v @small /..", ".."),
    ("put @v @small --protect-hidden --protect-keyfile @missing", "missing"),
    ("info @v --ask --keyfile @missing", "missing"),
    // Headers and protectors.
    ("header backup @v @small", "exists already"),
    ("header backup @v @nowhere/h", "nowhere"),
    ("header backup @v @new --hidden --hidden-password-file @missing", "missing"),
    ("header backup @b @new --hidden", "hidden"),
    ("header restore @v @missing", "missing"),
    ("header restore @v @small", "5 bytes"),
    ("header restore @b @small", "no backup"),
    ("header restore @b", "backup file"),
    ("header restore @b @other", "the backup is that of the volume"),
    ("header repair @v", "BitLocker"),
    ("header repair @b --keyfile @pw", "no keyfiles"),
    ("header check @v --keyfile @missing", "missing"),
    ("erase @missing", "missing"),
    ("erase @zeros", "zeros"),
    ("erase @v --keyfile @missing", "missing"),
    ("protector add @v password", "one secret"),
    ("protector add @b startup-key", "--to FOLDER"),
    ("protector add @b password", "has a password protector already"),
    ("protector add @b startup-key --to @missing", "missing"),
    ("protector add @b recovery-password --to @small", "File exists"),
    ("protector recovery @b --to @small", "File exists"),
    ("protector recovery @b --to @nowhere/r", "nowhere"),
    ("protector recovery @b", "no such recovery password"),
    ("protector recovery @b --to @new", "no such recovery password"),
    ("protector add @b recovery-password --to @nowhere/r", "nowhere"),
    ("protector add @b password --new-keyfile @pw", "no keyfiles"),
    ("protector add @b password --new-password-file @missing", "missing"),
    ("protector remove @b nosuch", "GUID"),
    ("protector remove @b password", "the last protector"),
    ("protector suspend @s", "already"),
    ("protector remove @b 00000000-0000-0000-0000-000000000000", "00000000"),
    ("protector change @b --id 00000000-0000-0000-0000-000000000000", "00000000"),
    ("protector change @b --new-keyfile @pw", "no keyfiles"),
    ("protector change @b --new-hash sha512", "key derivation"),
    ("protector change @v --new-hash md5", "no key derivation"),
    ("protector change @v --new-keyfile @missing", "missing"),
    ("protector change @v --new-password-file @missing", "missing"),
    ("protector change @v --new-pim 99999999", "PIM"),
    ("protector change @v --to @small", "not a BitLocker volume"),
    ("protector change @zeros", "zeros"),
    ("protector suspend @v", "one secret"),
    ("protector resume @b", "not suspended"),
    // Conversions and sizes.
    ("encrypt @zeros", "no file system"),
    ("encrypt @v", "no file system"),
    ("encrypt @v --reencrypt --new-keyfile @missing", "missing"),
    ("encrypt @v --reencrypt --new-pim 99999999", "PIM"),
    ("encrypt @v --reencrypt --cipher rot13", "no cipher called"),
    ("encrypt @v --reencrypt --cipher aes-aes", "aes-twofish-serpent"),
    ("encrypt @v --reencrypt --keyfile @missing", "check the path given as --keyfile"),
    ("encrypt @v --reencrypt --journal @nowhere/j", "nowhere"),
    ("encrypt @v --reencrypt --skip-unreadable @small", "something else"),
    ("encrypt @v --reencrypt --skip-unreadable @nowhere/l", "nowhere"),
    ("encrypt @v --reencrypt --format bitlocker", "too few"),
    ("encrypt @v --reencrypt --format bitlocker", "--size 67108864"),
    ("encrypt @v --reencrypt --format bitlocker --hash sha512", "leave --hash out"),
    ("encrypt @v --reencrypt --format bitlocker --hash sha512", "the hash is the new volume's"),
    ("encrypt @b --reencrypt --format veracrypt --journal @small", "another file with --journal"),
    ("encrypt @v --reencrypt --format bitlocker --grow", "leave --grow out"),
    ("encrypt @b --reencrypt --hash sha512", "leave --hash out"),
    ("encrypt @zeros --reencrypt", "zeros"),
    ("encrypt @b", "already"),
    ("encrypt @b --reencrypt --cipher serpent", "no cipher called"),
    ("decrypt @zeros", "zeros"),
    ("decrypt @v --keyfile @missing", "missing"),
    ("decrypt @v --pim 99999999", "PIM"),
    ("decrypt @v --journal @nowhere/j", "nowhere"),
    ("decrypt @v --journal @small", "another file with --journal"),
    ("decrypt @w", "w.keyway-journal"),
    ("encrypt @w --reencrypt", "another file with --journal"),
    ("decrypt @b --keyfile @pw", "no keyfiles"),
    ("resize @v", "which size"),
    ("resize @v --size 10", "the least is"),
    ("resize @b --size 1M", "the least is"),
    ("resize @v --size 900T", "free there"),
    ("resize @b2 --size 900T", "free there"),
    ("resize @v --size 12582913", "take 12582912 instead"),
    ("resize @b --size 67108865", "take 67108864 instead"),
    ("resize @v --size 11M --keyfile @missing", "missing"),
    ("resume @v", "no conversion"),
    // Drives.
    ("drive setup @small", "secret"),
    ("drive unlock @small", "no drive"),
    ("drive erase @small", "no drive"),
    ("drive revert @small", "no drive"),
    ("drive user enable @small user1", "no drive"),
    ("drive revert @d --psid 123", "32 characters, this one has 3"),
    ("drive revert @d --psid @small", "this one has 4"),
    ("drive setup @d --admin-password-file @missing", "missing"),
    ("drive setup @d --admin-password-file @pw --password-file @missing", "missing"),
    ("drive revert @o --password-file @missing", "missing"),
    ("drive revert @o --keep-data --password-file @missing", "missing"),
    // Passwords in files, where something is lost.
    ("create @v --size 1M --force --password-file @missing", "missing"),
    ("create @v --hidden 1M --hidden-password-file @missing", "missing"),
    ("erase @v --password-file @missing", "missing"),
    ("encrypt @v --reencrypt --password-file @missing", "missing"),
    ("encrypt @v --reencrypt --new-password-file @missing", "missing"),
    ("encrypt @b --reencrypt --password-file @missing", "missing"),
    ("encrypt @b --reencrypt --recovery-password 123456", "recovery password"),
    ("decrypt @v --password-file @missing", "missing"),
    ("decrypt @b --password-file @missing", "missing"),
    ("decrypt @b --recovery-password 123456", "recovery password"),
    ("decrypt @b --startup-key @missing", "missing"),
    ("resize @v --size 11M --password-file @missing", "missing"),
    ("resize @b --size 65M --recovery-password 123456", "recovery password"),
    ("header restore @v --password-file @missing", "missing"),
    ("protector suspend @b --password-file @missing", "missing"),
    ("protector suspend @b --recovery-password 123456", "recovery password"),
];

#[test]
fn nobody_is_asked_for_what_can_not_be_used() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for folder in ["folder", "here"] {
        fs::create_dir(cli.path(folder)).expect("made");
    }
    for (file, content) in
        [("small", &b"text\n"[..]), ("here/small", b"x"), ("empty", b""), ("zeros", &[0; 1 << 20])]
    {
        fs::write(cli.path(file), content).expect("written");
    }
    let quick = "--quick --filesystem none --password-file @pw";
    cli.ends(0, &format!("create @v --size 12M --pim 1 {quick}"));
    cli.ends(0, &format!("create @b --size 64M --format bitlocker --no-recovery-password {quick}"));
    // What is filled needs room to grow.
    let filled = quick.trim_start_matches("--quick");
    cli.ends(0, &format!("create @b2 --size 64M --format bitlocker --no-recovery-password {filled}"));
    cli.ends(0, "header backup @b2 @other");
    fs::copy(cli.path("b2"), cli.path("s")).expect("a volume whose protection is suspended");
    cli.ends(0, "protector suspend @s --password-file @pw --yes");
    cli.ends(0, "drive emulate @d --size 64M");
    fs::copy(cli.path("d"), cli.path("o")).expect("a drive, and one that has an owner");
    cli.ends(0, "drive setup @o --password-file @pw --admin-password-file @pw");
    fs::copy(cli.path("v"), cli.path("w")).expect("a volume, and somebody's journal beside it");
    fs::write(cli.path("w.keyway-journal"), b"").expect("written");
    let files = ["v", "b"].map(|name| fs::read(cli.path(name)).expect("made"));
    let mut asked = Vec::new();
    for (words, told) in WRONG {
        let Some(screen) = Typed::new(&cli, words) else { return };
        match screen.ends_unasked() {
            // The screen is narrow: what is said may go over two lines.
            Ok((code, shown)) => {
                let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
                if !shown.contains(told) || matches!(code, Some(0) | None) {
                    asked.push(format!("{words}: {code:?} without {told:?}: {shown}"));
                }
            }
            Err(question) => asked.push(format!("{words}: asks {question:?}")),
        }
    }
    assert!(asked.is_empty(), "{} of {}:\n{}", asked.len(), WRONG.len(), asked.join("\n"));
    assert!(
        ["v", "b"].map(|name| fs::read(cli.path(name)).expect("there")) == files,
        "something was written"
    );
    assert!(!cli.path("new").exists());
}
