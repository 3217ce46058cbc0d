//! The same bytes by two names: a volume's file, another name of it and loop devices on it are never open together,
//! whichever comes first, and the refusal says who has them.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, two_lines};
use keyway_testkit::{require_root, require_tool};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const WITH: &str = "--attach nbd --password-file @pw --pim 1 --hash sha512";
const NOBODY: u32 = 65534;

/// A loop device, taken off when dropped.
struct Loop(String);

impl Loop {
    fn on(what: &Path) -> Self {
        let done = Command::new("losetup").args(["-f", "--show"]).arg(what).output().expect("losetup");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Self(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

fn volume() -> Option<Cli> {
    if !require_root() || require_tool("losetup").is_none() {
        return None;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --size 4M --quick --filesystem none --password-file @pw --pim 1");
    Some(cli)
}

#[test]
fn what_is_open_by_one_name_is_busy_by_every_other() {
    let Some(cli) = volume() else { return };
    let file = cli.path("v").display().to_string();
    std::fs::hard_link(&file, cli.path("link")).expect("linked");
    cli.ends(0, &format!("open @v {WITH}"));
    // Made only now.
    let device = Loop::on(Path::new(&file));
    let chain = Loop::on(Path::new(&device.0));
    for other in [&device.0, &chain.0, "@link"] {
        let refused = cli.ends(6, &format!("open {other} {WITH}"));
        let (what, hint) = two_lines(&refused);
        // A hard link is the same file, and known to be open as that.
        let told = if other == "@link" { "already open" } else { "process" };
        assert!(what.contains(told) && what.contains(&file), "{what}");
        assert!(hint.contains(&format!("keyway close {file}")), "{hint}");
        // Neither does anybody read what changes below him.
        cli.fails(
            6,
            "already-open",
            "close it first: keyway close",
            &format!("open {other} --read-only {WITH}"),
        );
    }
    let d = &device.0;
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("serve {d} --nbd unix:/tmp/never --password-file @pw --pim 1"),
    );
    cli.fails(
        6,
        "busy",
        "close it first: keyway close",
        &format!("create {d} --quick --filesystem none --yes --password-file @pw"),
    );
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("erase {d} --yes --password-file @pw --pim 1"),
    );
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("resize {d} --size 3M --password-file @pw --pim 1"),
    );
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("decrypt {d} --yes --password-file @pw --pim 1"),
    );
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("protector change {d} --password-file @pw --pim 1 --new-password-file @pw --new-pim 2"),
    );
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("cat {d} --length 512 --password-file @pw --pim 1"),
    );
    // To look at the header is free.
    cli.ends(0, &format!("info {d} --password-file @pw --pim 1"));
    cli.ends(0, &format!("close {file}"));

    cli.ends(0, &format!("open {d} {WITH}"));
    for other in ["@v", "@link", &chain.0] {
        let (what, hint) = two_lines(&cli.ends(6, &format!("open {other} {WITH}")));
        assert!(what.contains(d.as_str()), "{what}");
        assert!(hint.contains(&format!("keyway close {d}")), "{hint}");
    }
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        "create @v --force --size 4M --quick --filesystem none --password-file @pw",
    );
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        "erase @v --yes --password-file @pw --pim 1",
    );
    cli.ends(0, &format!("close {d}"));
    // And with loop devices that nobody uses, it opens.
    cli.ends(0, &format!("open {file} {WITH}"));
    cli.ends(0, &format!("close {file}"));
}

#[test]
fn who_reads_and_who_writes_are_kept_apart() {
    let Some(cli) = volume() else { return };
    let device = Loop::on(&cli.path("v"));
    for (first, second) in [("@v", &*device.0), (&*device.0, "@v")] {
        cli.ends(0, &format!("open {first} --read-only {WITH}"));
        cli.fails(6, "already-open", "close it first: keyway close", &format!("open {second} {WITH}"));
        cli.ends(0, &format!("close {first}"));
    }
}

/// A volume that another user may open, and that user's own folder.
fn shared() -> Option<(Cli, TempDir)> {
    let cli = volume()?;
    let theirs = tempfile::tempdir().expect("temp");
    std::os::unix::fs::chown(theirs.path(), Some(NOBODY), Some(NOBODY)).expect("root may");
    for (path, mode) in [("", 0o755), ("v", 0o666), ("pw", 0o644)] {
        std::fs::set_permissions(cli.path(path), PermissionsExt::from_mode(mode)).expect("ours");
    }
    Some((cli, theirs))
}

/// The program as that user runs it.
fn by_them(cli: &Cli, theirs: &TempDir, words: &str) -> Command {
    let mut command = cli.command(cli.words(words));
    command.env("KEYWAY_RUNTIME_DIR", theirs.path().join("run")).uid(NOBODY).gid(NOBODY);
    command
}

#[test]
fn who_has_none_open_hears_that_root_has() {
    let Some((cli, theirs)) = shared() else { return };
    let pid = cli.json(0, &format!("open @v {WITH}"))["pid"].clone();
    let said = |words: &str| {
        let done = by_them(&cli, &theirs, words).output().ok()?;
        let text = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Some((done.status.code(), text.concat()))
    };
    let Some((Some(0), list)) = said("status") else {
        return keyway_testkit::leave_out("another user can't run the program here");
    };
    // Others of root's may be open, too: tests beside this one have some.
    let begins = "None of yours is open; root has ";
    assert!(list.contains(begins) && list.contains(" open (process"), "{list}");
    assert!(list.contains(&pid.to_string()), "{list}");
    let (code, one) = said("status @v").expect("it runs");
    let whose = format!("one of yours; root has it open (process {pid})");
    assert!(code == Some(0) && one.contains(&whose), "{one}");
    let (code, close) = said("close @v").expect("it runs");
    assert!(code == Some(5) && close.contains(&whose) && close.contains("`sudo keyway close "), "{close}");
    cli.ends(0, "close @v");
    let (_, close) = said("close @v").expect("it runs");
    assert!(close.contains("v is not open"), "{close}");
}

#[test]
fn who_may_only_read_what_root_has_open_hears_of_root_first() {
    let Some((cli, theirs)) = shared() else { return };
    std::fs::set_permissions(cli.path("v"), PermissionsExt::from_mode(0o644)).expect("ours");
    cli.ends(0, &format!("open @v {WITH}"));
    for words in [
        format!("open @v {WITH}"),
        format!("open @v --read-only {WITH}"),
        "encrypt @v --password-file @pw".to_owned(),
    ] {
        let Ok(done) = by_them(&cli, &theirs, &words).output() else {
            return keyway_testkit::leave_out("another user can't run the program here");
        };
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(told.contains("root") || told.contains("user 0"), "{words}: {told}");
        assert!(told.contains("`sudo keyway close "), "{words}: {told}");
    }
    cli.ends(0, "close @v");
}

#[test]
fn who_has_it_open_from_elsewhere_hears_the_command_that_closes_it() {
    let Some(cli) = volume() else { return };
    let elsewhere = tempfile::tempdir().expect("temp");
    let there = |words: &str| {
        let mut command = cli.command(cli.words(words));
        command.env("KEYWAY_RUNTIME_DIR", elsewhere.path().join("run"));
        cli_support::checked(&mut command);
    };
    there(&format!("open @v {WITH}"));
    let closes = format!("`env KEYWAY_RUNTIME_DIR={} keyway close ", elsewhere.path().join("run").display());
    for words in ["close @v", "close @v --if-open", "close @v --exit-code", &format!("open @v {WITH}")] {
        cli.fails(6, "already-open", &closes, words);
    }
    let told = String::from_utf8_lossy(&cli.ends(6, "status @v --exit-code").stdout).into_owned();
    assert!(told.contains("open, with your sessions in another folder than here (process "), "{told}");
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Unlocked");
    // By its variables it is closed; then nobody has it.
    there("close @v");
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked");
    cli.fails(1, "not-open", "", "close @v");
    cli.ends(7, "status @v --exit-code");
}

/// Where it is mounted and its block device are names of it, too.
#[test]
fn what_is_open_elsewhere_goes_by_every_name_it_has_there() {
    if !require_root() || !cli_support::has_fuse() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --size 12M --quick --filesystem ext4 --password-file @pw --pim 1");
    let elsewhere = tempfile::tempdir().expect("temp");
    let there = |words: &str| {
        let mut command = cli.command(cli.words(words));
        let done = command.env("KEYWAY_RUNTIME_DIR", elsewhere.path().join("run")).output().expect("it runs");
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    };
    std::fs::create_dir(cli.path("mnt")).expect("a folder");
    let opened = there("open @v @mnt --password-file @pw --pim 1 --hash sha512 --json");
    let opened: serde_json::Value = serde_json::from_slice(&opened).expect("JSON");
    let device = opened["device"].as_str().expect("a device").to_owned();
    let closes = format!("`env KEYWAY_RUNTIME_DIR={} keyway close ", elsewhere.path().join("run").display());
    for name in ["@mnt", &device, "@v"] {
        let closes = format!("{closes}{}`", cli.words(name).concat());
        cli.fails(6, "already-open", &closes, &format!("close {name}"));
        let told =
            String::from_utf8_lossy(&cli.ends(6, &format!("status {name} --exit-code")).stdout).into_owned();
        assert!(
            told.contains("open, with your sessions in another folder than here (process "),
            "{name}: {told}"
        );
    }
    there("close @mnt");
    cli.fails(1, "not-open", "", "close @v");
}

/// Of an ordinary user's processes nothing but their names can be read.
#[test]
fn an_ordinary_user_hears_the_command_as_well() {
    let Some((cli, theirs)) = shared() else { return };
    let at = |folder: &str, words: &str| {
        let mut command = by_them(&cli, &theirs, words);
        let _ = std::fs::create_dir(theirs.path().join(folder));
        let _ = std::os::unix::fs::chown(theirs.path().join(folder), Some(NOBODY), Some(NOBODY));
        command.env_remove("KEYWAY_RUNTIME_DIR").env("XDG_RUNTIME_DIR", theirs.path().join(folder));
        command.output().map(|done| (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned()))
    };
    if !at("desktop", &format!("open @v {WITH}")).is_ok_and(|(code, _)| code == Some(0)) {
        return keyway_testkit::leave_out("another user can't run the program here");
    }
    let closes =
        format!("`env KEYWAY_RUNTIME_DIR={} keyway close ", theirs.path().join("desktop/keyway").display());
    for words in ["close @v", "close --all", "close --all --dry-run"] {
        let (code, told) = at("cron", words).expect("it runs");
        // Tests beside this one have others open: each is named.
        assert!(code == Some(6) && told.contains(&closes), "{words}: {told}");
    }
    assert_eq!(at("desktop", "close @v").expect("it runs").0, Some(0));
}

/// By the folder and the block device, of which another user knows no more than that they are there.
#[test]
fn where_root_has_it_mounted_says_that_root_has_it() {
    if !cli_support::has_fuse() || require_tool("mkfs.ext4").is_none() {
        return;
    }
    let Some((cli, theirs)) = shared() else { return };
    cli.ends(0, "create @v --force --yes --size 12M --quick --filesystem ext4 --password-file @pw --pim 1");
    std::fs::create_dir(cli.path("mnt")).expect("a folder");
    let opened = cli.json(0, "open @v @mnt --password-file @pw --pim 1");
    for name in ["@mnt", opened["device"].as_str().expect("a device")] {
        let Ok(done) = by_them(&cli, &theirs, &format!("close {name}")).output() else {
            return keyway_testkit::leave_out("another user can't run the program here");
        };
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        if name == "@mnt" {
            let status = by_them(&cli, &theirs, "status @mnt").output().expect("it runs");
            assert!(String::from_utf8_lossy(&status.stderr).contains("root has it open"), "{status:?}");
        }
        let name = name.replace('@', &format!("{}/", cli.keyway.folder().display()));
        assert_eq!(done.status.code(), Some(5), "{told}");
        let closes = format!("`sudo keyway close {name}`");
        assert!(told.contains("root has it open") && told.contains(&closes), "{told}");
    }
    cli.ends(0, "close @mnt");
}

#[test]
fn another_user_is_kept_out_too() {
    let Some((cli, theirs)) = shared() else { return };
    let device = Loop::on(&cli.path("v"));
    let mut open = by_them(&cli, &theirs, &format!("open @v {WITH}"));
    if !open.output().is_ok_and(|done| [Some(0), Some(6)].contains(&done.status.code())) {
        return keyway_testkit::leave_out("another user can't run the program here");
    }
    cli.fails(6, "busy", "user 65534", &format!("open {} {WITH}", device.0));
    // By that command it can be closed: sudo alone gives it none of the user's variables.
    let run = theirs.path().join("run");
    let as_them = format!(" KEYWAY_RUNTIME_DIR={} ", run.display());
    for (code, kind, words) in
        [(6, "busy", format!("open @v {WITH}")), (5, "not-permitted", "close @v".to_owned())]
    {
        cli.fails(code, kind, &as_them, &words);
        cli.fails(code, kind, "`sudo -u ", &words);
        cli.fails(code, kind, &format!(" keyway close {}`", cli.path("v").display()), &words);
    }
    assert!(by_them(&cli, &theirs, "close @v").status().expect("it runs").success());
    cli.ends(0, &format!("open {} {WITH}", device.0));
    let (_, advice) = two_lines(&open.output().expect("it runs"));
    assert!(advice.contains("close"), "{advice}");
    cli.ends(0, &format!("close {}", device.0));
}
