//! Making, opening, using and closing a volume, and what `--json` says on the way.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked, has_fuse};
use keyway_testkit::{require_root, require_tool, wait_until};
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Stdio;

const WITH: &str = "--password-file @pw --pim 1";

/// Bytes that differ from each other.
fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// What the kernel can't do here goes another way, with the reason; asked for by name it is refused before
/// anybody types a password.
#[test]
fn auto_says_why() {
    if !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.volume("v");
    let doctor = cli.json(0, "doctor");
    let opened = cli.json(0, &format!("open @v {WITH}"));
    let why = opened["why"].as_str().expect("a reason");
    if doctor["dm_crypt"]["usable"] == true {
        assert_eq!(opened["attachment"], "dm-crypt", "{opened}");
    } else {
        let missing = doctor["dm_crypt"]["reason"].as_str().expect("a reason");
        let outlives = doctor["ublk"]["usable"] == true && doctor["root"] == true;
        let best = if outlives { "ublk" } else { "fuse" };
        assert!(opened["attachment"] == best && why.contains(missing), "{opened}");
        let not_best = doctor["ublk"]["reason"].as_str().unwrap_or_default();
        assert!(why.contains(not_best), "{opened}");
    }
    assert_eq!(cli.json(0, "status @v")["why"], why);
    cli.ends(0, "close @v");
    for (key, way) in [("dm_crypt", "dm-crypt"), ("ublk", "ublk")] {
        let Some(missing) = doctor[key]["reason"].as_str() else { continue };
        let refused = cli.json(5, &format!("open @v --attach {way}"));
        assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains(missing)), "{refused}");
    }
}

#[test]
fn what_is_written_through_the_file_is_read_by_cat() {
    if !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.volume("v");
    let opened = cli.json(0, &format!("open @v --attach fuse {WITH}"));
    for key in ["attachment", "device", "file", "socket", "mountpoint", "pid"] {
        assert!(opened.get(key).is_some(), "{key} in {opened}");
    }
    assert_eq!((opened["attachment"].as_str(), &opened["socket"]), (Some("fuse"), &Value::Null));
    assert_eq!(opened["uri"], Value::Null);
    assert_eq!(opened["why"], Value::Null, "it was asked for");
    let path = opened["file"].as_str().expect("a file");
    let file = std::fs::File::options().read(true).write(true).open(path).expect("the volume's file");
    let data = pattern(300_000);
    file.write_all_at(&data, 1234).expect("a write");
    file.sync_all().expect("a flush");
    drop(file);

    let status = cli.json(0, "status @v");
    assert_eq!(status["size_bytes"], (1 << 20) - 262_144);
    assert_eq!(status["conversion_status"], "Fully Encrypted");
    assert_eq!(status["percentage_encrypted"], 100.0);
    assert_eq!(status["encryption_method"], "XTS-AES 256");
    assert_eq!(status["protection_status"], "Protection On");
    assert_eq!(status["lock_status"], "Unlocked");
    assert_eq!(status["key_protectors"][0]["kind"], "password");
    assert!(status["key_protectors"][0]["id"].is_string());
    assert!(status["bytes_written"].as_u64() >= Some(300_000), "{status}");
    assert_eq!(cli.json(0, &format!("status {path}"))["id"], status["id"]);
    assert_eq!(cli.json(0, "status")["volumes"].as_array().map(Vec::len), Some(1));

    // It is busy for everyone else who would write.
    cli.fails(6, "already-open", "close it first: keyway close", &format!("open @v {WITH}"));
    cli.fails(6, "already-open", "close it first: keyway close", &format!("serve @v --nbd unix:@s {WITH}"));
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("create @v --hidden 256K --yes {WITH}"),
    );
    cli.fails(
        6,
        "already-open",
        "close it first: keyway close",
        &format!("create @v --size 1M --force {WITH}"),
    );
    let closed = cli.json(0, "close @v");
    assert_eq!(closed["closed"][0]["pid"], opened["pid"]);
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked");
    assert_eq!(cli.json(0, "status")["volumes"], Value::Array(vec![]));
    assert_eq!(cli.plain("v")[1234..301_234], data);
    let part = cli.ends(0, &format!("cat @v --offset 1234 --length 5000 {WITH}")).stdout;
    assert_eq!(part, data[..5000]);
    assert_eq!(cli.ends(0, &format!("cat @v --offset 786432 {WITH}")).stdout, Vec::<u8>::new());
}

#[test]
fn a_hidden_volume_that_the_new_secret_opens_is_kept() {
    let cli = Cli::new();
    cli.keyway.secret("inner", "a-hidden-password-of-twenty");
    cli.volume("v");
    let hidden = format!("--quick --hidden-password-file @inner --hidden-pim 1 --yes {WITH}");
    cli.ends(0, &format!("create @v --hidden 256K {hidden}"));
    let before = std::fs::read(cli.path("v")).expect("there");
    let words = format!("create @v --hidden 128K {hidden}");
    cli.fails(1, "would-destroy", "add --force to make the new one in its place", &words);
    let open =
        format!("keyway open {}, with the --pim and --keyfile that it has; add", cli.path("v").display());
    cli.fails(1, "would-destroy", &open, &words);
    assert!(std::fs::read(cli.path("v")).expect("there") == before, "it was written to");
    let inner = "cat @v --length 512 --password-file @inner --pim 1";
    cli.ends(0, inner);
    cli.ends(0, &format!("{words} --force"));
    cli.ends(0, inner);
    assert!(std::fs::read(cli.path("v")).expect("there") != before);
}

#[test]
fn a_file_in_use_is_busy_and_stays_open() {
    if !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.volume("v");
    let opened = cli.json(0, &format!("open @v --attach fuse {WITH}"));
    let file = std::fs::File::open(opened["file"].as_str().expect("a file")).expect("the volume's file");
    let error = cli.json(6, "close @v");
    assert_eq!(error["error"]["code"], 6, "{error}");
    // Who looks before is told the same, and by whom.
    let planned = cli.json(6, "close @v --dry-run");
    let told = planned["error"]["message"].as_str().expect("a message");
    assert!(told.contains(&std::process::id().to_string()), "{planned}");
    assert_eq!(
        (&planned["error"]["kind"], &planned["error"]["hint"]),
        (&error["error"]["kind"], &error["error"]["hint"])
    );
    cli.ends(6, "close --all --dry-run");
    // Nothing was taken down: whoever gets the device's number meanwhile would be taken for its user.
    let after = cli.json(0, "status @v");
    assert_eq!((&after["lock_status"], &after["device"]), (&"Unlocked".into(), &opened["device"]));
    if let Some(device) = opened["device"].as_str() {
        let name = std::path::Path::new(device).file_name().expect("a name").to_string_lossy().into_owned();
        let backing = std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
        let backing = backing.expect("it is on something");
        assert_eq!(backing.trim_end(), opened["file"].as_str().expect("a file"));
    }
    drop(file);
    cli.ends(0, "close @v --dry-run");
    cli.ends(0, "close --all");
}

/// As `docker exec` starts a program: in a container whose session began outside, where its leader has the number 0.
#[test]
fn who_uses_a_volume_is_told_in_a_container_too() {
    if !has_fuse() || !require_root() {
        return;
    }
    let Some(unshare) = require_tool("unshare") else { return };
    let cli = Cli::new();
    cli.volume("v");
    let script = "set -eux; chmod 700 .; $K open v --attach fuse --password-file pw --pim 1 --json > opened
        file=$(sed -n 's/.*\"file\": *\"\\([^\"]*\\)\".*/\\1/p' opened)
        exec 3< \"$file\"; test \"$(cut -d ' ' -f 6 /proc/$$/stat)\" = 0
        ! $K close v --dry-run 2> told; grep \"process $$\" told; exec 3<&-; $K close v --dry-run; $K close v";
    let mut command =
        keyway_testkit::own_mounts(&unshare, &["--pid", "--fork", "--mount-proc"], &cli.path(""));
    command.args(["sh", "-c", script]).current_dir(cli.keyway.folder());
    checked(command.env("K", env!("CARGO_BIN_EXE_keyway")).env("KEYWAY_RUNTIME_DIR", cli.path("")));
}

#[test]
fn no_secret_is_on_the_serving_process_s_command_line() {
    let cli = Cli::new();
    cli.volume("v");
    let opened = cli.json(0, &format!("open @v --attach nbd {WITH}"));
    assert_eq!(opened["attachment"], "nbd");
    let socket = opened["socket"].as_str().expect("a socket");
    assert!(std::fs::metadata(socket).is_ok(), "{socket}");
    // As NBD clients take it, wherever the socket is told.
    let uri = format!("nbd+unix:///?socket={socket}");
    assert_eq!((&opened["uri"], &cli.json(0, "status @v")["uri"]), (&uri.clone().into(), &uri.into()));
    let pid = opened["pid"].as_u64().expect("a pid");
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).expect("it runs");
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    assert_eq!(words.trim(), "keyway serve-volume --progress=line");
    assert_eq!(
        std::fs::read_link(format!("/proc/{pid}/cwd")).ok().as_deref().unwrap_or("/".as_ref()).to_str(),
        Some("/")
    );
    cli.ends(0, "close @v");
    assert!(!std::path::Path::new(socket).exists());
}

#[test]
fn closing_what_was_killed_says_so_once() {
    let cli = Cli::new();
    cli.volume("v");
    let opened = cli.json(0, &format!("open @v --attach nbd {WITH}"));
    let pid =
        opened["pid"].as_i64().and_then(|pid| rustix::process::Pid::from_raw(pid as i32)).expect("a pid");
    let process = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).expect("it lives");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it lives");
    let mut ended = [rustix::event::PollFd::new(&process, rustix::event::PollFlags::IN)];
    rustix::event::poll(&mut ended, None).expect("it ends");
    let done = cli.ends(0, "close @v --json");
    let closed: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(
        (closed["closed"][0]["killed"].as_bool(), &closed["closed"][0]["pid"]),
        (Some(true), &opened["pid"])
    );
    assert!(String::from_utf8_lossy(&done.stderr).contains("had been killed"));
    let again = cli.json(1, "close @v");
    assert_eq!(again["error"]["kind"], "not-open", "{again}");
}

#[test]
fn several_who_close_at_once_are_all_told_that_it_is_closed() {
    let cli = Cli::new();
    cli.volume("v");
    cli.ends(0, &format!("open @v --attach nbd {WITH}"));
    let close = cli.words("close @v --json");
    let all: Vec<_> = (0..4)
        .map(|_| {
            cli.command(&close).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        })
        .collect();
    let mut closed = 0;
    for one in all {
        let done = one.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        // Whoever came when all was over is told that.
        match done.status.code() {
            Some(0) => closed += usize::from(said.contains("\"killed\": false")),
            code => assert!(code == Some(1) && said.contains("not-open"), "{code:?} {said}"),
        }
    }
    assert!(closed >= 1);
}

#[test]
fn a_killed_server_leaves_nothing_in_the_way() {
    let cli = Cli::new();
    cli.volume("v");
    let opened = cli.json(0, &format!("open @v --attach nbd {WITH}"));
    let pid = opened["pid"].as_i64().and_then(|pid| rustix::process::Pid::from_raw(pid as i32));
    rustix::process::kill_process(pid.expect("a pid"), rustix::process::Signal::KILL).expect("it lives");
    cli.ends(0, &format!("open @v --attach nbd {WITH}"));
    cli.ends(0, "close @v");
}

#[test]
fn secrets_come_from_standard_input_descriptors_and_keyfiles() {
    let cli = Cli::new();
    cli.volume("v");
    let mut child = cli
        .command(cli.words("info @v --password-file - --pim 1 --json"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("keyway starts");
    // One newline is dropped.
    child.stdin.take().expect("piped").write_all(format!("{PASSWORD}\n").as_bytes()).expect("a pipe");
    assert!(child.wait_with_output().expect("it ends").status.success());

    let program = env!("CARGO_BIN_EXE_keyway");
    let line = format!(
        "'{program}' info '{}' --password-fd 7 --pim 1 7< '{}'",
        cli.path("v").display(),
        cli.path("pw").display()
    );
    let shell =
        std::process::Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).output().expect("sh");
    assert!(shell.status.success(), "{}", String::from_utf8_lossy(&shell.stderr));

    std::fs::create_dir(cli.path("keys")).expect("a folder");
    std::fs::write(cli.path("keys/a"), pattern(100)).expect("a keyfile");
    std::fs::write(cli.path("keys/b"), pattern(2000)).expect("a keyfile");
    cli.ends(0, "create @k --size 1M --quick --keyfile @keys --pim 1");
    cli.ends(0, "info @k --keyfile @keys/b --keyfile @keys/a --pim 1");
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "info @k --keyfile @keys/a --pim 1 --hash sha512",
    );
}

#[test]
fn every_cipher_and_hash_opens_as_what_it_was_made() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for (cipher, hash) in
        [("serpent", "sha256"), ("kuznyechik-serpent-camellia", "blake2s"), ("aes-twofish", "argon2id")]
    {
        let made = cli
            .json(0, &format!("create @{cipher} --size 400K --quick --cipher {cipher} --hash {hash} {WITH}"));
        assert_eq!((made["format"].as_str(), made["cipher"].as_str()), (Some("veracrypt"), Some(cipher)));
        assert_eq!(made["data_bytes"], 400 * 1024 - 262_144);
        let info = cli.json(0, &format!("info @{cipher} {WITH}"));
        for (key, value) in [("format", "veracrypt"), ("cipher", cipher), ("mode", "xts"), ("hash", hash)] {
            assert_eq!(info[key], value, "{info}");
        }
        assert_eq!((info["sector_bytes"].as_u64(), &info["data_bytes"]), (Some(512), &made["data_bytes"]));
    }
}

/// As `open` has --hash; --hash itself is the hidden volume's.
#[test]
fn the_outer_volumes_hash_need_not_be_looked_for() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("hpw", "another-twenty-characters");
    cli.ends(0, &format!("create @v --size 2M --quick --hash sha256 {WITH}"));
    let hidden = "--hidden 256K --hash sha512 --hidden-password-file @hpw --hidden-pim 1 --quick --yes";
    let outer = |hash: &str| format!("create @v {hidden} --outer-hash {hash} {WITH}");
    cli.fails(3, "wrong-secret", "", &outer("whirlpool"));
    cli.ends(0, &outer("sha256"));
    let hash = |file: &str| cli.json(0, &format!("info @v --password-file @{file} --pim 1"))["hash"].clone();
    assert_eq!((hash("pw"), hash("hpw")), ("sha256".into(), "sha512".into()));
    // A new one has none that could be known.
    cli.refused("usage", "--size", &format!("create @w --size 2M {hidden} --outer-hash sha256 {WITH}"));
    cli.refused("usage", "--hidden", &format!("create @v --outer-hash sha256 {WITH}"));
}

#[test]
fn a_protected_hidden_volume_survives_writes_to_the_outer_one() {
    if !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("hpw", "another-twenty-characters");
    let hidden = "--hidden 512K --hidden-password-file @hpw --hidden-pim 1";
    cli.ends(0, &format!("create @v --size 2M --quick {hidden} {WITH}"));
    let inside = cli.ends(0, "cat @v --password-file @hpw --pim 1").stdout;
    cli.keyway.secret("wrong", "twenty-characters-and-less");
    let protect = "--protect-password-file @hpw --protect-pim 1";
    cli.fails(
        3,
        "wrong-protection-secret",
        "check the hidden volume's secret (--protect-…); without it only reading is safe (--read-only)",
        &format!("open @v --attach fuse {WITH} --protect-password-file @wrong --protect-pim 1 --hash sha512"),
    );
    cli.refused(
        "usage",
        "leave out --read-only, or the --protect-… options",
        &format!("open @v --read-only {WITH} {protect}"),
    );
    let opened = cli.json(0, &format!("open @v --attach fuse {WITH} {protect}"));
    let path = opened["file"].as_str().expect("a file");
    let file = std::fs::File::options().write(true).open(path).expect("the volume's file");
    file.write_all_at(&pattern(4096), 0).expect("the outer volume's own room");
    assert!(file.write_all_at(&pattern(4096), 1_400_000).and_then(|()| file.sync_all()).is_err());
    drop(file);
    assert_eq!(cli.json(0, "status @v")["guard_hit"], true);
    // What could not be written is no reason to stay open.
    let closed = cli.json(1, "close @v");
    assert_eq!(
        (&closed["closed"][0]["guard_hit"], &closed["error"]["kind"]),
        (&true.into(), &"hidden-volume".into())
    );
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked");
    assert_eq!(cli.ends(0, "cat @v --password-file @hpw --pim 1").stdout, inside);
    assert_eq!(cli.ends(0, &format!("cat @v --length 4096 {WITH}")).stdout, pattern(4096));
}

/// What the outer volume's file system uses stays, whatever it is: it is asked where that lies, before anything is written.
#[test]
fn a_hidden_volume_is_made_over_nothing_of_the_outer_file_system() {
    let cli = Cli::new();
    cli.keyway.secret("outer", "the outer one's password");
    cli.keyway.secret("inner", "another one for the hidden volume");
    let outer = "--password-file @outer --pim 1 --quick";
    let hidden = format!("{outer} --hidden-password-file @inner --hidden-pim 1");
    let made = |fs: &str| require_tool(&format!("mkfs.{fs}")).is_some();
    for (fs, check) in [("ntfs", "ntfsfix"), ("exfat", "fsck.exfat"), ("ext4", "fsck.ext4")] {
        let Some(check) = require_tool(check).filter(|_| made(fs)) else { continue };
        cli.ends(0, &format!("create @{fs} --size 64M --filesystem {fs} {outer}"));
        cli.refused(
            "usage",
            "It is refused where files of the outer volume lie there",
            &format!("create @{fs} --hidden 60M {hidden}"),
        );
        let before = std::fs::read(cli.path(fs)).expect("the volume");
        let error = &cli.json(2, &format!("create @{fs} --hidden 63M {hidden} --yes"))["error"];
        assert!(error["message"].as_str().expect("text").contains("would overwrite files"), "{fs}: {error}");
        assert!(std::fs::read(cli.path(fs)).expect("the volume") == before, "{fs}: nothing is written");
        let most = error["advice"][0]["bytes"].as_u64().expect("the largest that fits");
        cli.ends(0, &format!("create @{fs} --hidden {most} {hidden} --yes"));
        std::fs::write(
            cli.path("plain"),
            cli.ends(0, &format!("cat @{fs} --password-file @outer --pim 1")).stdout,
        )
        .expect("written");
        let judged =
            std::process::Command::new(check).arg("-n").arg(cli.path("plain")).output().expect("runs");
        assert!(judged.status.success(), "{fs}: {}", String::from_utf8_lossy(&judged.stdout));
        cli.refused(
            "usage",
            "its file system may be damaged",
            &format!("create @{fs} --hidden 63M --force {hidden}"),
        );
        let over = cli.json(0, &format!("create @{fs} --hidden 63M --force {hidden} --yes"));
        assert!(over["warnings"].to_string().contains("are lost"), "{over}");
    }
    if made("xfs") && made("ext4") {
        // Nobody here knows where it has something.
        cli.fails(
            1,
            "filesystem",
            "--force",
            &format!("create @new --size 400M --hidden 20M --filesystem xfs {hidden}"),
        );
        assert!(!cli.path("new").exists());
        cli.ends(0, &format!("create @x --size 400M --filesystem xfs {outer}"));
        cli.fails(1, "filesystem", "--force", &format!("create @x --hidden 20M {hidden} --yes"));
        cli.ends(0, &format!("create @x --hidden 20M {hidden} --yes --force"));
        // What was half made is removed again.
        cli.refused(
            "usage",
            "at most",
            &format!("create @new --size 64M --hidden 63M --filesystem ext4 {hidden}"),
        );
        assert!(!cli.path("new").exists());
    }
}

/// Nothing is filled, so a file that is larger than the medium below it can hold one.
#[test]
fn a_quick_hidden_volume_leaves_a_sparse_file_sparse() {
    let cli = Cli::new();
    cli.keyway.secret("outer", "the outer one's password");
    cli.keyway.secret("inner", "another one for the hidden volume");
    let secrets = "--password-file @outer --pim 1 --hidden-password-file @inner --hidden-pim 1 --quick";
    for (name, first) in
        [("one", ""), ("two", "create @two --size 5T --quick --password-file @outer --pim 1")]
    {
        let size = if first.is_empty() { "--size 5T" } else { "--yes" };
        if !first.is_empty() {
            cli.ends(0, first);
        }
        let made = cli.json(0, &format!("create @{name} {size} --hidden 1T {secrets}"));
        assert_eq!(made["hidden"], true);
        let warnings = made["warnings"].as_array().expect("a list").iter().filter_map(Value::as_str);
        assert!(warnings.clone().any(|w| w.contains("can be told from free space")), "{made}");
        let taken = cli.path(name).metadata().expect("it is there").blocks() * 512;
        assert!(taken < 4 << 20, "{taken} bytes");
        assert_eq!(
            cli.ends(0, &format!("cat @{name} --length 512 --password-file @inner --pim 1")).stdout.len(),
            512
        );
    }
}

#[test]
fn serve_stays_until_it_is_told_to_end() {
    let cli = Cli::new();
    cli.volume("v");
    let socket = cli.path("s");
    let mut child = cli
        .command(cli.words(&format!("serve @v --nbd unix:@s --json {WITH}")))
        .stdout(Stdio::piped())
        .spawn()
        .expect("keyway starts");
    // The socket is there a moment before the session can be found.
    wait_until("it is served", || cli.json(0, "status @v")["socket"].is_string());
    cli.ends(0, "close @v");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(!socket.exists());
}
