//! `resize`: a container gets larger and smaller with ext4 or NTFS in it, which its own checker finds whole.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::{
    BitLockerSecret, Rng, dislocker_sha256, dissect_sha256, libbde_sha256, require_fuse, require_tool,
    sha256_of, sha256_of_file, unpack_xz, volumes,
};
use serde_json::{Value, json};
use std::os::unix::fs::FileExt;
use std::process::Command;

const SECRET: &str = "--password-file @pw --pim 1";

/// A volume of 16 MiB with a file system in it that holds `big`.
fn volume(mkfs: &str, arguments: &[&str]) -> Option<(Cli, Vec<u8>)> {
    let program = require_tool(mkfs).filter(|_| require_fuse())?;
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, &format!("create @v --size 16M --format veracrypt --filesystem none --quick {SECRET}"));
    let big = Rng::new(5).bytes(3 << 20);
    std::fs::create_dir(cli.path("in")).expect("created");
    std::fs::write(cli.path("in/big"), &big).expect("written");
    std::fs::File::create(cli.path("plain")).and_then(|f| f.set_len(INSIDE)).expect("created");
    let done =
        Command::new(program).args(arguments).arg(cli.path("plain")).current_dir(cli.path(".")).output();
    assert!(done.expect("runs").status.success());
    let open = cli.json(0, &format!("open @v {SECRET} --attach fuse"));
    let place = open["device"].as_str().or(open["file"].as_str()).expect("somewhere");
    let mut to = std::fs::OpenOptions::new().write(true).open(place).expect("opens");
    std::io::copy(&mut std::fs::File::open(cli.path("plain")).expect("opens"), &mut to).expect("copied");
    to.sync_all().expect("synced");
    drop(to);
    cli.ends(0, "close @v");
    Some((cli, big))
}

/// What its own checker says of the file system in the volume: nothing. How large it is.
fn check(cli: &Cli, checker: &str, arguments: &[&str]) -> Vec<u8> {
    let content = cli.ends(0, &format!("cat @v {SECRET}")).stdout;
    let path = cli.path("plain");
    std::fs::write(&path, &content).expect("written");
    let done =
        Command::new(require_tool(checker).expect("with its mkfs")).args(arguments).arg(&path).output();
    let done = done.expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    content
}

/// Bytes of a volume of 16 MiB that are not its headers.
const INSIDE: u64 = (16 << 20) - HEADERS;
const HEADERS: u64 = 262_144;

#[test]
fn a_container_gets_larger_and_smaller_with_its_file_system() {
    let Some((cli, big)) = volume("mkfs.ext4", &["-q", "-F", "-d", "in"]) else { return };
    let check = || check(&cli, "e2fsck", &["-f", "-n"]);
    let content = |at: &str| {
        cli.ends(0, &format!("get @v /big @{at} {SECRET}"));
        assert!(std::fs::read(cli.path(at)).expect("copied") == big);
    };
    let before = check();
    // A hidden volume might suffer from a larger file system: it asks.
    cli.refused(
        "usage",
        "gets larger too, with its own tools. Make a backup first. A",
        &format!("resize @v --size 24M {SECRET}"),
    );
    let done = cli.json(0, &format!("resize @v --size 24M {SECRET} --keep-filesystem"));
    assert_eq!(
        (&done["data_bytes"], &done["filesystem_bytes"]),
        (&json!((24 << 20) - HEADERS), &json!(INSIDE))
    );
    assert_eq!(cli.path("v").metadata().expect("there").len(), 24 << 20);
    let larger = check();
    assert!(larger.len() == (24 << 20) - 262_144 && larger[..before.len()] == before);
    cli.ends(0, &format!("cat @v {SECRET} --header backup"));

    let done = cli.json(0, &format!("resize @v --size 40M {SECRET} --yes"));
    assert_eq!(
        (&done["filesystem"], &done["filesystem_bytes"]),
        (&json!("ext4"), &json!((40 << 20) - HEADERS))
    );
    check();
    content("larger");

    // Less than its content.
    for dry in ["--yes", "--dry-run"] {
        let words = format!("resize @v --size 2M {dry} {SECRET}");
        cli.fails(2, "no-room", "what is in the ext4 file system in", &words);
        let refused = cli.json(2, &words);
        let most = (2 << 20) - HEADERS;
        assert_eq!(
            (&refused["filesystem_bytes"], &refused["most_bytes"]),
            (&json!((40 << 20) - HEADERS), &json!(most))
        );
        assert!(refused["error"]["path"].as_str().is_some_and(|path| path.ends_with("/v")), "{refused}");
    }
    let refused = cli.json(2, &format!("resize @v --size 16M --yes --keep-filesystem {SECRET}"));
    assert_eq!(refused["most_bytes"], INSIDE);
    let least = "has 39.8 MiB, and would not fit in less than 40 MiB";
    cli.refused("no-room", least, &format!("resize @v --size 16M --yes --keep-filesystem {SECRET}"));
    cli.refused("usage", "the least is 292 KiB, the most 1 PiB", "resize @v --size 100K --yes");
    cli.refused(
        "usage",
        "gets 24 MiB smaller. Its ext4 file system is made 24 MiB",
        &format!("resize @v --size 16M {SECRET}"),
    );
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "resize @v --size 16M --pim 2 --yes --password-file @pw --hash sha512",
    );
    assert_eq!(
        cli.path("v").metadata().expect("there").len(),
        40 << 20,
        "refused, and something was changed"
    );
    let done = cli.json(0, &format!("resize @v --size 16M --yes {SECRET}"));
    assert_eq!(done["filesystem_bytes"], INSIDE);
    assert_eq!(cli.path("v").metadata().expect("there").len(), 16 << 20);
    check();
    content("smaller");
    cli.refused("usage", "name it with --size, for instance --size 20G", &format!("resize @v {SECRET}"));
}

/// With the volume's secret changed since, no header there says how large it is now: its file system does. And where the old
/// header was restored all the same, what lies behind it is no room to be filled.
#[test]
fn a_header_from_before_is_not_restored_unseen_and_the_size_can_be_had_back() {
    let Some((cli, _)) = volume("mkfs.ext4", &["-q", "-F", "-d", "in"]) else { return };
    cli.keyway.secret("new", "yet-another-twenty-characters");
    let new = "--password-file @new --pim 1";
    cli.ends(0, &format!("header backup @v @h {SECRET}"));
    cli.ends(0, &format!("protector change @v {SECRET} --new-password-file @new"));
    cli.ends(0, &format!("resize @v --size 40M --yes {new}"));
    let open = cli.json(0, &format!("open @v {new} --attach fuse"));
    let place = open["device"].as_str().or(open["file"].as_str()).expect("somewhere");
    let to = std::fs::OpenOptions::new().write(true).open(place).expect("opens");
    // Free blocks behind the end that it had: the file system does not care.
    to.write_all_at(&Rng::new(6).bytes(1 << 20), 36 << 20).expect("written");
    to.sync_all().expect("synced");
    drop(to);
    cli.ends(0, "close @v");
    let before = cli.ends(0, &format!("cat @v {new}")).stdout;
    let file = std::fs::read(cli.path("v")).expect("there");
    let restore = format!("header restore @v @h {SECRET}");
    for how in ["--dry-run", "--yes"] {
        cli.fails(1, "other-extent", "--size 41943040", &format!("{restore} {how}"));
    }
    assert!(std::fs::read(cli.path("v")).expect("there") == file, "it was written to");
    let planned = cli.json(0, &format!("{restore} --dry-run --force"));
    assert_eq!(planned["plan"]["ends_before"], 40 << 20, "{planned}");
    let restored = cli.ends(0, &format!("{restore} --yes --force")).stdout;
    let restored = String::from_utf8_lossy(&restored);
    assert!(restored.contains("ends before its file") && restored.contains("--size 41943040"), "{restored}");
    assert!(cli.ends(0, &format!("cat @v {SECRET}")).stdout.len() < before.len(), "it has its old size");
    cli.ends(0, &format!("resize @v --size 41943040 --yes {SECRET}"));
    assert!(
        cli.ends(0, &format!("cat @v {SECRET}")).stdout == before,
        "what lay behind the header's end is gone"
    );
}

#[test]
fn ntfs_follows_too() {
    let Some((cli, _)) = volume("mkfs.ntfs", &["-q", "-F", "-Q"]) else { return };
    let check = || check(&cli, "ntfsresize", &["--info", "--force", "--no-progress-bar"]);
    for (size, option) in [(24u64, ""), (16, ""), (20, "--quick")] {
        let done = cli.json(0, &format!("resize @v --size {size}M --yes {option} {SECRET}"));
        let bytes = done["filesystem_bytes"].as_u64().expect("a number");
        assert!(((size << 20) - HEADERS).abs_diff(bytes) < 64 << 10, "{done}");
        check();
    }
}

/// A BitLocker volume of so many mebibytes that was a file system; what it says, and `big`, which is in it.
fn bitlocker(mebibytes: u64, mkfs: &str, arguments: &[&str], options: &str) -> Option<(Cli, Vec<u8>)> {
    let program = require_tool(mkfs).filter(|_| require_fuse())?;
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let big = Rng::new(5).bytes(3 << 20);
    std::fs::create_dir(cli.path("in")).expect("created");
    std::fs::write(cli.path("in/big"), &big).expect("written");
    std::fs::File::create(cli.path("v")).and_then(|f| f.set_len(mebibytes << 20)).expect("created");
    let done = Command::new(program).args(arguments).arg(cli.path("v")).current_dir(cli.path(".")).output();
    assert!(done.expect("runs").status.success());
    cli.ends(0, &format!("encrypt @v --format bitlocker --no-recovery-password {options} {PW} --yes"));
    Some((cli, big))
}

const PW: &str = "--password-file @pw";

/// What the file system's own checker says of what is in the volume: nothing. Others read the same.
fn whole_for_others(cli: &Cli, checker: &str, arguments: &[&str], bytes: u64) {
    let content = cli.ends(0, &format!("cat @v {PW}")).stdout;
    let path = cli.path("plain");
    std::fs::write(&path, &content).expect("written");
    assert_eq!((content.len() as u64, cli.path("v").metadata().expect("there").len()), (bytes, bytes));
    let done =
        Command::new(require_tool(checker).expect("with its mkfs")).args(arguments).arg(&path).output();
    let done = done.expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let secret = || BitLockerSecret::Password(PASSWORD);
    if let Some(theirs) = dislocker_sha256(&cli.path("v"), secret()) {
        assert_eq!(theirs, sha256_of(&content[..]));
    }
    // It takes the size that NTFS names, which is a sector less than NTFS has; and no ext4.
    let sectors = content.get(40..48).and_then(|at| at.first_chunk()).map_or(0, |at| u64::from_le_bytes(*at));
    if content.get(3..7) == Some(b"NTFS")
        && let Some(theirs) = libbde_sha256(&cli.path("v"), secret())
    {
        assert_eq!(theirs, sha256_of(&content[..sectors as usize * 512]));
    }
    let info = cli.json(0, "info @v");
    let good = |copy: &Value| copy["state"] == "good";
    assert!(info["metadata_copies"].as_array().expect("three").iter().all(good), "{info}");
    assert_eq!(
        (&info["conversion_status"], &info["encrypted_bytes"]),
        (&json!("Fully Encrypted"), &json!(bytes))
    );
}

/// The metadata lies behind ext4, and goes with the end of the volume.
#[test]
fn a_bitlocker_volume_gets_larger_and_smaller_with_ext4() {
    let Some((cli, big)) = bitlocker(80, "mkfs.ext4", &["-q", "-F", "-d", "in"], "") else { return };
    for (mebibytes, options) in [(100u64, ""), (72, ""), (81, "--quick")] {
        let done = cli.json(0, &format!("resize @v --size {mebibytes}M --yes {options} {PW}"));
        let bytes = mebibytes << 20;
        assert_eq!((&done["data_bytes"], &done["metadata_moved"]), (&json!(bytes), &json!(true)), "{done}");
        assert_eq!(done["filled"], mebibytes == 100, "{done}");
        let inside = done["filesystem_bytes"].as_u64().expect("ext4");
        assert!((256 << 10..512 << 10).contains(&(bytes - inside)), "{done}");
        whole_for_others(&cli, "e2fsck", &["-f", "-n"], bytes);
        let got = format!("big{mebibytes}");
        cli.ends(0, &format!("get @v /big @{got} {PW}"));
        assert!(std::fs::read(cli.path(&got)).expect("copied") == big);
    }
    // What can't be, and what is not wanted.
    let before = sha256_of_file(&cli.path("v"));
    cli.refused("usage", "name it with --size, for instance --size 20G", &format!("resize @v {PW}"));
    // Before a password is asked for.
    cli.refused("usage", "the least is 64 MiB", "resize @v --size 40M --yes");
    cli.refused("usage", "take 84934656 instead", &format!("resize @v --size 84934657 --yes {PW}"));
    cli.refused(
        "usage",
        "name another with --size",
        &format!("resize @v --size {} --yes {PW}", (81 << 20) + 65_536),
    );
    cli.refused(
        "usage",
        "gets larger too, with its own tools. Make a backup first",
        &format!("resize @v --size 100M {PW}"),
    );
    let refused = cli.json(2, &format!("resize @v --size 70M --yes --keep-filesystem {PW}"));
    assert_eq!(refused["error"]["kind"], "no-room", "{refused}");
    assert_eq!(sha256_of_file(&cli.path("v")), before, "refused, and something was changed");
    // Copied to something larger it is no encryption that is paused, and takes what there is.
    let file = std::fs::File::options().write(true).open(cli.path("v")).expect("opens");
    file.set_len(90 << 20).expect("sized");
    let status = cli.json(0, "status @v");
    assert_eq!(status["conversion_status"], "Fully Encrypted", "{status}");
    assert!(status["resume_with"].is_null(), "{status}");
    cli.refused("usage", "begin one with `keyway encrypt ", &format!("resume @v {PW}"));
    let done = cli.json(0, &format!("resize @v --size 90M --yes {PW}"));
    assert_eq!(done["data_bytes"], 90 << 20, "{done}");
    whole_for_others(&cli, "e2fsck", &["-f", "-n"], 90 << 20);
}

/// The metadata lies within NTFS, and moves where that is to end before it.
#[test]
fn a_bitlocker_volume_gets_larger_and_smaller_with_ntfs() {
    let Some((cli, _)) = bitlocker(200, "mkfs.ntfs", &["-q", "-F", "-Q"], "--used-space-only") else {
        return;
    };
    let arguments = ["--info", "--force", "--bad-sectors", "--no-progress-bar"];
    for (mebibytes, moved) in [(220u64, false), (70, true), (96, false)] {
        let done = cli.json(0, &format!("resize @v --size {mebibytes}M --yes {PW}"));
        let bytes = mebibytes << 20;
        assert_eq!((&done["data_bytes"], &done["metadata_moved"]), (&json!(bytes), &json!(moved)), "{done}");
        assert!(done["filesystem_bytes"].as_u64().is_some_and(|inside| bytes - inside < 64 << 10), "{done}");
        whole_for_others(&cli, "ntfsresize", &arguments, bytes);
    }
    // And back: the clusters that were the metadata's are given back.
    cli.ends(0, &format!("decrypt @v {PW} --yes"));
    let program = require_tool("ntfsresize").expect("with mkfs.ntfs");
    let done = Command::new(program).args(["--info", "--force"]).arg(cli.path("v")).output().expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

/// Windows' own volumes get larger; what is in them stays byte for byte, for dissect.fve too.
#[test]
fn volumes_of_windows_get_larger() {
    let Some(folder) = volumes() else { return };
    for name in ["aes-cbc-elephant-128", "aes-xts-128-4k", "aes-xts-256"] {
        let cli = Cli::new();
        cli.keyway.secret("pw", "anaconda");
        let Some(image) = unpack_xz(&folder.join(format!("bitlocker/bitlk-{name}.img.xz"))) else { return };
        std::fs::copy(image.path(), cli.path("v")).expect("copied");
        let before = cli.path("v").metadata().expect("there").len();
        let was = sha256_of(&cli.ends(0, &format!("cat @v {PW}")).stdout[..]);
        let after = before + (16 << 20);
        let done = cli.json(0, &format!("resize @v --size {after} --keep-filesystem {PW}"));
        assert_eq!(done["data_bytes"], after, "{name}: {done}");
        let content = cli.ends(0, &format!("cat @v {PW}")).stdout;
        assert_eq!(sha256_of(&content[..before as usize]), was, "{name}");
        let secret = || BitLockerSecret::Password("anaconda");
        // The first and last of what was there, and the middle: all of it takes dissect.fve minutes.
        let middle = before / 2;
        let stretches = [0..1 << 20, middle..middle + (1 << 19), before - (1 << 20)..before];
        if let Some(theirs) = dissect_sha256(&cli.path("v"), secret(), &stretches) {
            let ours =
                stretches.map(|stretch| &content[stretch.start as usize..stretch.end as usize]).concat();
            assert_eq!(theirs, sha256_of(&ours[..]), "{name}");
        }
        if let Some(theirs) = dislocker_sha256(&cli.path("v"), secret()) {
            assert_eq!(theirs, sha256_of(&content[..]), "{name}");
        }
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", "anaconda");
    for name in ["togo-aes-xts-128", "aes-xts-128-eow", "partially-encrypted-aes-cbc-128"] {
        let Some(image) = unpack_xz(&folder.join(format!("bitlocker/bitlk-{name}.img.xz"))) else { return };
        std::fs::copy(image.path(), cli.path("v")).expect("copied");
        let before = sha256_of_file(&cli.path("v"));
        let refused = cli.json(5, &format!("resize @v --size 200M --yes {PW}"));
        assert_eq!(refused["error"]["kind"], "unsupported", "{name}: {refused}");
        assert_eq!(sha256_of_file(&cli.path("v")), before, "{name}: refused, and something was changed");
    }
}

/// FAT and exFAT stay as they are, and no other tool is promised.
#[test]
fn what_nothing_makes_larger_is_told_before_and_after() {
    for (filesystem, name, mkfs) in [("fat", "FAT", "mkfs.fat"), ("exfat", "exFAT", "mkfs.exfat")] {
        if require_tool(mkfs).is_none() {
            continue;
        }
        let cli = Cli::new();
        cli.keyway.secret("pw", PASSWORD);
        cli.ends(0, &format!("create @v --size 16M --quick --filesystem {filesystem} {SECRET}"));
        let planned = cli.json(0, &format!("resize @v --size 24M --dry-run {SECRET}"));
        let warned = planned["warnings"][0].as_str().unwrap_or_default();
        assert!(warned.contains(&format!("nothing makes the {name} file system inside larger")), "{planned}");
        let done = cli.ends(0, &format!("resize @v --size 24M {SECRET}"));
        let told = String::from_utf8(done.stdout).expect("text");
        assert!(told.contains("nothing here makes it larger") && !told.contains("its own tool"), "{told}");
    }
}

/// Whoever ends the command while `resize2fs` works would leave the file system half moved, and the volume open.
#[test]
fn signals_wait_for_the_file_systems_tool() {
    let Some((cli, big)) = volume("mkfs.ext4", &["-q", "-F", "-d", "in"]) else { return };
    let Some(path) = cli_support::interrupting(&cli, "resize2fs", "TERM INT HUP TERM") else { return };
    let run = |words: &str| {
        let done = cli.command(cli.words(words)).env("PATH", &path).output().expect("it starts");
        (done.status.code(), serde_json::from_slice::<Value>(&done.stdout).expect("a document"))
    };
    let (code, said) = run(&format!("resize @v --size 12M --yes --json {SECRET}"));
    assert_eq!((code, &said["error"]["kind"]), (Some(1), &json!("interrupted")), "{said}");
    assert_eq!(said["error"]["advice"][0]["kind"], "file-system-restored", "{said}");
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked");
    assert_eq!(check(&cli, "e2fsck", &["-f", "-n"]).len() as u64, INSIDE);
    cli.ends(0, &format!("get @v /big @got {SECRET}"));
    assert!(std::fs::read(cli.path("got")).expect("it was copied") == big);
    // Room for headers is made of it: the same of one that lies open.
    let before = std::fs::read(cli.path("plain")).expect("read");
    let (code, said) = run(&format!("encrypt @plain --yes --json {SECRET}"));
    assert_eq!((code, &said["error"]["kind"]), (Some(1), &json!("interrupted")), "{said}");
    assert_eq!(said["error"]["advice"][0]["kind"], "sizes-restored", "{said}");
    assert_eq!(cli.path("plain").metadata().expect("there").len(), before.len() as u64);
    let tool = require_tool("e2fsck").expect("with its mkfs");
    cli_support::checked(Command::new(tool).args(["-f", "-n"]).arg(cli.path("plain")));
}

/// Without FUSE nothing could make the file system larger: that is said before anything is changed.
#[test]
fn what_can_not_follow_is_told_before() {
    let Some((cli, _)) = volume("mkfs.ext4", &["-q", "-F", "-d", "in"]) else { return };
    let Some(unshare) = require_tool("unshare").filter(|_| keyway_testkit::is_root()) else { return };
    // A device that no driver has, and one that opens where nobody may mount.
    let gone = |at: &str| format!("mknod {at}/fuse c 10 253; mount --bind {at}/fuse /dev/fuse; exec");
    let barred = |_: &str| "exec setpriv --bounding-set -sys_admin".to_owned();
    let without = |how: &dyn Fn(&str) -> String, words: &str| {
        let words = cli.words(&format!("{words} --json")).join(" ");
        let (at, keyway) = (cli.path("dev").display().to_string(), env!("CARGO_BIN_EXE_keyway"));
        let script = format!("mkdir -p {at}; mount -t tmpfs none {at}; {} {keyway} {words}", how(&at));
        let done = keyway_testkit::own_mounts(&unshare, &[], &cli.path(""))
            .args(["sh", "-euc", &script])
            .output()
            .expect("it starts");
        let answer = serde_json::from_slice::<Value>(&done.stdout).expect("JSON");
        (done.status.code(), answer)
    };
    for dry in ["--yes", "--dry-run"] {
        for how in [&gone as &dyn Fn(&str) -> String, &barred] {
            let (code, answer) = without(how, &format!("resize @v --size 24M {dry} {SECRET}"));
            assert_eq!(code, Some(5), "{answer}");
            let hint = answer["error"]["hint"].as_str().unwrap_or_default();
            assert!(hint.contains("--keep-filesystem") && !hint.contains("nbd"), "{answer}");
        }
    }
    assert_eq!(cli.path("v").metadata().expect("there").len(), 16 << 20, "it was changed");
    let (code, answer) = without(&gone, &format!("resize @v --size 24M --yes --keep-filesystem {SECRET}"));
    assert_eq!(code, Some(0), "{answer}");
    assert_eq!(cli.path("v").metadata().expect("there").len(), 24 << 20);
}
