//! Open volumes that are asked for in bad moments: their server does not answer, their file was moved or deleted,
//! or somebody else was first where their folder should be.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, has_fuse, two_lines};
use keyway_testkit::{PATIENCE, is_root, require_tool, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const WITH: &str = "--password-file @pw --pim 1 --attach nbd";

/// Opens a volume; its serving process.
fn open(cli: &Cli, name: &str) -> Pid {
    let opened = cli.json(0, &format!("open @{name} {WITH}"));
    let pid = opened["pid"].as_i64().expect("a process");
    i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process")
}

fn volumes(cli: &Cli) -> Vec<serde_json::Value> {
    cli.json(0, "status")["volumes"].as_array().expect("a list").clone()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn why_a_volume_is_attached_as_it_is_is_told_to_who_asks() {
    let cli = Cli::new();
    cli.volume("v");
    for (word, told) in [("", false), (" -v", true)] {
        let opened = text(&cli.ends(0, &format!("open @v --password-file @pw --pim 1{word}")).stdout);
        assert_eq!(opened.contains("  attached by  "), told, "{opened}");
        cli.ends(0, "close @v");
    }
}

/// What is only open, and what is mounted; neither while somebody uses it.
#[test]
fn a_volume_that_nobody_uses_closes_by_itself() {
    let cli = Cli::new();
    cli.volume("v");
    let (what, advice) = two_lines(&cli.ends(2, &format!("open @v {WITH} --close-when-idle 1s")));
    assert!(what.contains("virtual machine") && advice.contains("--close-when-idle"), "{what}\n{advice}");
    if !has_fuse() {
        return;
    }
    let opened = cli.json(0, "open @v --password-file @pw --pim 1 --attach fuse --close-when-idle 2s");
    assert_eq!(opened["close_when_idle_seconds"], 2.0, "{opened}");
    let told = text(&cli.ends(0, "status @v").stdout);
    assert!(told.contains("closes by itself"), "{told}");
    assert!(told.contains("when nobody has used it for 2 seconds"), "{told}");
    let file = std::fs::File::open(opened["file"].as_str().expect("a file")).expect("it is there");
    // Open, though nothing is asked of it.
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(volumes(&cli).len(), 1, "somebody has its file open");
    drop(file);
    wait_until("it closes by itself", || volumes(&cli).is_empty());
    let pid = i32::try_from(opened["pid"].as_i64().expect("a process")).expect("a process");
    wait_until("its process ends", || {
        kill_process(Pid::from_raw(pid).expect("a process"), Signal::CONT).is_err()
    });
    assert_eq!(cli.json(7, "close @v --exit-code")["error"]["kind"], "not-open");
}

/// A path is bytes: in documents one that is not UTF-8 is the list of them.
#[test]
fn a_volume_whose_name_is_not_utf_8_is_opened_listed_and_closed() {
    let cli = Cli::new();
    cli.volume("named");
    let path = cli.path("named").with_file_name(OsStr::from_bytes(b"b\xff.hc"));
    std::fs::rename(cli.path("named"), &path).expect("renamed");
    let spelled = serde_json::json!(path.as_os_str().as_bytes());
    let document = |words: &str| {
        let words = cli.words(words);
        let (verb, more) = words.split_first().expect("a verb");
        let words = [OsStr::new(verb), path.as_os_str()].into_iter().chain(more.iter().map(OsStr::new));
        let done = cli.command(words.chain([OsStr::new("--json")])).output().expect("keyway starts");
        assert_eq!(done.status.code(), Some(0), "{verb}: {}{}", text(&done.stdout), text(&done.stderr));
        serde_json::from_slice::<serde_json::Value>(&done.stdout).expect("one document")
    };
    assert_eq!(document(&format!("open {WITH}"))["volume"], spelled);
    assert_eq!(volumes(&cli)[0]["volume"], spelled);
    let told = text(&cli.ends(0, "status").stdout);
    assert!(told.contains("b\\xff.hc"), "people see each byte of the name: {told}");
    assert_eq!(document("status")["volume"], spelled);
    let closed = document("close");
    assert_eq!(closed["closed"][0]["volume"], spelled, "{closed}");
    assert_eq!(volumes(&cli).len(), 0);
}

#[test]
fn a_server_that_does_not_answer_stays_in_the_list_and_close_says_whom_it_waits_for() {
    let cli = Cli::new();
    for name in ["hangs", "well"] {
        cli.volume(name);
    }
    let hangs = open(&cli, "hangs");
    open(&cli, "well");
    kill_process(hangs, Signal::STOP).expect("ours");
    let pid = hangs.as_raw_nonzero().to_string();

    let listed = volumes(&cli);
    assert_eq!(listed.len(), 2, "{listed:?}");
    let of = |name: &str| {
        let path = cli.path(name).display().to_string();
        listed.iter().find(|volume| volume["volume"] == *path).expect("it is listed")
    };
    assert_eq!((&of("well")["answers"], &of("well")["reads"]), (&true.into(), &0.into()));
    assert_eq!((&of("hangs")["answers"], &of("hangs")["reads"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!(of("hangs")["pid"].to_string(), pid, "what was written down of it is told");
    assert_eq!(cli.json(0, "status @hangs")["answers"], false);
    for words in ["status", "status @hangs"] {
        let said = text(&cli.ends(0, words).stdout);
        assert!(said.contains("does not answer") && said.contains(&format!("kill -CONT {pid}")), "{said}");
    }

    let began = Instant::now();
    let refused = cli.ends(6, "close @hangs");
    assert!(began.elapsed() < PATIENCE, "it came back");
    let said = text(&refused.stderr);
    assert!(said.contains(&format!("waiting for process {pid}, which serves")), "{said}");
    assert!(said.contains("it is stopped"), "{said}");
    let all = cli.ends(6, "close --all --json");
    let error: serde_json::Value = serde_json::from_slice(&all.stdout).expect("JSON");
    assert_eq!(error["error"]["kind"], "no-answer");
    assert!(error["error"]["hint"].as_str().is_some_and(|hint| hint.contains("kill -CONT")), "{error}");
    assert_eq!(volumes(&cli).len(), 1, "the other one did not wait for it");

    // What it was asked for, it does when it can.
    kill_process(hangs, Signal::CONT).expect("ours");
    wait_until("it is closed", || volumes(&cli).is_empty());
}

#[test]
fn a_volume_is_the_file_that_is_open_whatever_its_name() {
    let cli = Cli::new();
    for name in ["v", "another"] {
        cli.volume(name);
    }
    let first = open(&cli, "v");
    std::fs::rename(cli.path("v"), cli.path("moved")).expect("it moves");
    let moved = cli.path("moved").display().to_string();
    assert_eq!(cli.json(0, "status @v")["moved_to"], *moved, "its old name is nobody else's");
    std::fs::rename(cli.path("another"), cli.path("v")).expect("it moves");

    let status = cli.json(0, "status @moved");
    assert_eq!(
        (status["pid"].as_i64(), &status["moved_to"]),
        (Some(first.as_raw_nonzero().get().into()), &moved.into())
    );
    assert!(text(&cli.ends(0, "status").stdout).contains("moved now"), "the list tells it, too");
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked", "this one is not open");
    let not_open = cli.json(1, "close @v");
    assert_eq!(not_open["error"]["kind"], "not-open");
    cli.fails(6, "already-open", "keyway close", &format!("open @moved {WITH}"));

    let second = open(&cli, "v");
    let closed = cli.json(0, "close @v");
    assert_eq!(closed["closed"][0]["pid"].as_i64(), Some(second.as_raw_nonzero().get().into()));
    let closed = cli.json(0, "close @moved");
    assert_eq!(closed["closed"][0]["pid"].as_i64(), Some(first.as_raw_nonzero().get().into()));
    assert!(volumes(&cli).is_empty());
}

#[test]
fn a_volume_that_was_cut_is_told() {
    let cli = Cli::new();
    cli.volume("v");
    open(&cli, "v");
    assert_eq!(cli.json(0, "status @v")["shortened_to"], serde_json::Value::Null);
    let file = OpenOptions::new().write(true).open(cli.path("v")).expect("ours");
    file.set_len(400 << 10).expect("cut");
    assert_eq!(cli.json(0, "status @v")["shortened_to"], 400 << 10);
    for words in ["status", "status @v"] {
        let said = text(&cli.ends(0, words).stdout);
        assert!(said.contains("was cut, and has 400 KiB now"), "{words}: {said}");
    }
    cli.ends(1, "close @v");
}

#[test]
fn a_device_that_was_cut_is_told() {
    let Some(losetup) = require_tool("losetup").filter(|_| is_root()) else { return };
    let cli = Cli::new();
    cli.volume("v");
    let made = Command::new(&losetup).args(["--find", "--show"]).arg(cli.path("v")).output();
    let device = text(&made.expect("it runs").stdout).trim().to_owned();
    cli.ends(0, &format!("open {device} {WITH}"));
    let before = cli.json(0, &format!("status {device}"));
    let file = OpenOptions::new().write(true).open(cli.path("v")).expect("ours");
    file.set_len(400 << 10).expect("cut");
    let measured = Command::new(&losetup).args(["--set-capacity", &device]).status();
    let after = cli.json(0, &format!("status {device}"));
    cli.run(&format!("close {device}"));
    let detached = Command::new(&losetup).args(["--detach", &device]).status();
    assert!(measured.is_ok_and(|it| it.success()) && detached.is_ok_and(|it| it.success()));
    assert_eq!(
        (&before["shortened_to"], &after["shortened_to"]),
        (&serde_json::Value::Null, &(400 << 10).into())
    );
}

#[test]
fn a_volume_that_was_deleted_is_not_closed_without_a_word() {
    let cli = Cli::new();
    cli.volume("v");
    open(&cli, "v");
    std::fs::remove_file(cli.path("v")).expect("ours");
    assert_eq!(cli.json(0, "status @v")["deleted"], true);
    assert!(text(&cli.ends(0, "status").stdout).contains("deleted"));
    for words in ["close @v", "close --all"] {
        let mut command = cli.command(cli.words(words));
        let refused = command.stdin(Stdio::null()).output().expect("keyway starts");
        assert_eq!(refused.status.code(), Some(2), "there is nobody to ask");
        let (what, hint) = two_lines(&refused);
        assert!(what.contains("was deleted while it was open") && hint.contains("--yes"), "{what}\n{hint}");
        assert_eq!(volumes(&cli).len(), 1, "{words}: what is in it can be saved yet");
    }
    cli.ends(0, "close @v --yes");
    assert!(volumes(&cli).is_empty());
}

/// A script that sees `open` fail takes the volume for closed.
#[test]
fn what_can_not_say_where_it_is_does_not_stay_open() {
    let cli = Cli::new();
    cli.volume("v");
    let full = || OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    for words in ["open @v", "open @v --json", "serve @v --background --nbd tcp:127.0.0.1:0"] {
        let words = match words.starts_with("open") {
            true => format!("{words} {WITH}"),
            false => format!("{words} --password-file @pw --pim 1"),
        };
        let done = cli.command(cli.words(&words)).stdout(full()).output().expect("keyway starts");
        let (what, hint) = two_lines(&done);
        assert_eq!(done.status.code(), Some(1), "{words}");
        assert!(what.contains("standard output") && hint.contains("v was closed again"), "{what}\n{hint}");
        assert!(volumes(&cli).is_empty(), "{words}: it is open");
    }
    let mut command = cli.command(cli.words(&format!("open @v --foreground {WITH}")));
    let here = command.stdout(full()).stderr(Stdio::piped()).spawn().expect("keyway starts");
    wait_until("it is open", || !volumes(&cli).is_empty());
    cli.ends(0, "close @v");
    let done = here.wait_with_output().expect("it ends");
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("v is open all the same") && said.contains("is closed now"), "{said}");
}

/// A process that serves is in its sandbox by then, and sees nothing of what the kernel can mount.
#[test]
fn what_is_next_is_the_same_in_the_foreground() {
    if !has_fuse() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --size 8M --quick --filesystem fat --password-file @pw --pim 1");
    let open = "open @v --attach fuse --password-file @pw --pim 1";
    let behind = cli.json(0, open)["next"].clone();
    assert!(behind.is_string(), "{behind}");
    cli.ends(0, "close @v");
    let mut command = cli.command(cli.words(&format!("{open} --foreground --json")));
    let here = command.stdout(Stdio::piped()).spawn().expect("keyway starts");
    wait_until("it is open", || !volumes(&cli).is_empty());
    cli.ends(0, "close @v");
    let done = here.wait_with_output().expect("it ends");
    let told: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(told["next"], behind);
}

/// What opens an outer volume, and what protects the hidden one in it.
const OUTER: &str = "--password-file @pw --pim 1";
const PROTECTED: &str = "--protect-hidden --protect-password-file @hidden --protect-pim 1";

/// A volume of that size with a hidden one of 1 MiB at its end.
fn with_hidden(size: &str) -> Cli {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("hidden", "another-password-of-many-letters");
    cli.ends(
        0,
        &format!(
            "create @v --size {size} --hidden 1M --quick --filesystem none {OUTER} --hidden-password-file @hidden \
             --hidden-pim 1"
        ),
    );
    cli
}

#[test]
fn a_volume_whose_guard_was_hit_is_read_only_from_then_on() {
    if !has_fuse() {
        return;
    }
    let cli = with_hidden("4M");
    let opened = cli.json(0, &format!("open @v --attach fuse {OUTER} {PROTECTED}"));
    let before = cli.json(0, "status @v");
    assert_eq!((&before["read_only"], &before["guard_hit"]), (&false.into(), &false.into()));
    let file = OpenOptions::new().write(true).open(opened["file"].as_str().expect("a file")).expect("ours");
    file.write_all_at(&[1; 4096], 3 << 20).expect_err("there is the hidden volume");
    file.write_all_at(&[1; 4096], 0).expect_err("nor anything else");
    drop(file);
    let after = cli.json(0, "status @v");
    assert_eq!((&after["read_only"], &after["guard_hit"]), (&true.into(), &true.into()));
    assert_eq!(volumes(&cli)[0]["read_only"], true);
    assert!(text(&cli.ends(0, "status").stdout).contains("would have damaged the hidden volume"));
    // Closed all the same; but a script must not take what it wrote for written.
    let closed = cli.ends(1, "close @v");
    let told = text(&closed.stderr);
    assert!(told.contains("not all that was written is in") && told.contains("hidden volume"), "{told}");
    assert!(text(&closed.stdout).contains("is closed"), "{closed:?}");
    assert!(volumes(&cli).is_empty());
}

/// What the medium did not take is told with its cause: by `status` while there is something to copy, and by `close`.
#[test]
fn why_a_volume_was_not_closed_cleanly_is_told() {
    if !has_fuse() {
        return;
    }
    let cli = with_hidden("16M");
    for protect in ["", PROTECTED] {
        let words = format!("open @v --json --attach fuse {OUTER} {protect}");
        // A host disk that takes no more, as far as a test can have one: whoever serves may write no file beyond 4 MiB.
        let program = cli.command(cli.words(&words));
        let mut sh = Command::new("sh");
        sh.args(["-c", "trap '' XFSZ; ulimit -f 4096; exec \"$@\"", "sh"]);
        sh.arg(program.get_program()).args(program.get_args());
        sh.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let done = sh.output().expect("it runs");
        let opened: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let file =
            OpenOptions::new().write(true).open(opened["file"].as_str().expect("a file")).expect("ours");
        assert!(cli.json(0, "status @v")["first_failed_write"].is_null());
        file.write_all_at(&[1; 4096], 12 << 20).and_then(|()| file.sync_all()).expect_err("too far");
        let status = cli.json(0, "status @v");
        let why = status["first_failed_write"].as_str().unwrap_or_default();
        assert!(why.contains("File too large"), "{status}");
        assert!(text(&cli.ends(0, "status").stdout).contains(why));
        if protect.is_empty() {
            drop(file);
            cli.fails(1, "failed", "File too large", "close @v");
        } else {
            file.write_all_at(&[1; 4096], 15 << 20).expect_err("there is the hidden volume");
            drop(file);
            cli.fails(1, "hidden-volume", "--protect-hidden", "close @v");
        }
        assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked");
    }
}

/// Without XDG_RUNTIME_DIR, somebody else who is first in `/tmp` keeps nobody from anything.
#[test]
fn nobody_else_can_be_first_where_the_sessions_are() {
    const USER: u32 = 61_743;
    let home = tempfile::tempdir().expect("a folder");
    let keyway = env!("CARGO_BIN_EXE_keyway");
    let mut command = if is_root() {
        let Some(setpriv) = require_tool("setpriv") else { return };
        let id = USER.to_string();
        chown(home.path(), Some(USER), Some(USER)).expect("root may");
        let mut command = Command::new(setpriv);
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--", keyway]);
        command
    } else {
        Command::new(keyway)
    };
    let user = home.path().metadata().expect("it is there").uid();
    // As somebody else would: it is not this user's, or open to others.
    let planted = std::path::PathBuf::from(format!("/tmp/keyway-{user}"));
    let ours = DirBuilder::new().mode(0o777).create(&planted).is_ok();
    let volume = home.path().join("v");
    std::fs::write(&volume, [0x5a; 4096]).expect("room");
    chown(&volume, Some(user), None).expect("ours");
    command.env_clear().env("HOME", home.path()).current_dir("/");
    let sessions = home.path().join(".local/state/keyway");
    // Whoever only looks needs none.
    let mut looks = Command::new(command.get_program());
    looks
        .args(command.get_args())
        .args(["status", "--json"])
        .env_clear()
        .env("HOME", home.path())
        .current_dir("/");
    let done = looks.output().expect("it starts");
    assert!(done.status.success() && !sessions.exists(), "{}", text(&done.stderr));
    // How far that comes is not asked here.
    let done = command.args(["open", "--dry-run"]).arg(&volume).output();
    if ours {
        std::fs::remove_dir(&planted).expect("ours");
    }
    done.expect("it starts");

    let mut made = vec![sessions.clone()];
    made.extend(std::fs::read_dir(&sessions).expect("made").map(|entry| entry.expect("readable").path()));
    assert_eq!(made.len(), 2, "one for this machine: {made:?}");
    for folder in made {
        let meta = folder.metadata().expect("it is there");
        assert_eq!((meta.uid(), meta.mode() & 0o7777), (user, 0o700), "{}", folder.display());
    }
}

#[test]
fn what_can_not_be_the_sessions_folder_says_what_helps() {
    let cli = Cli::new();
    let folder = cli.path("rd");
    DirBuilder::new().mode(0o755).create(&folder).expect("a folder");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).expect("ours");
    let named = |name: &Path| {
        let done = cli.command(["status"]).env("KEYWAY_RUNTIME_DIR", name).output().expect("it starts");
        (done.status.code(), two_lines(&done))
    };
    let (code, (what, helps)) = named(&folder);
    assert_eq!(code, Some(1), "{what}");
    assert!(what.contains("not a folder of this user's alone"), "{what}");
    assert!(helps.contains(&format!("chmod 700 {}", folder.display())), "{helps}");
    assert!(helps.contains("KEYWAY_RUNTIME_DIR") && !helps.contains("XDG"), "{helps}");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).expect("ours");
    assert_eq!(named(&folder).0, Some(0));
    let (code, (what, helps)) = named("rd".as_ref());
    assert_eq!(code, Some(1), "{what}");
    assert!(what.contains("KEYWAY_RUNTIME_DIR is not a whole path: rd"), "{what}");
    assert!(helps.contains("begin with /"), "{helps}");
    std::fs::write(cli.path("some"), [7; 1 << 20]).expect("written");
    let words = ["open".into(), cli.path("some").into_os_string()];
    let done = cli.command(words).env("KEYWAY_RUNTIME_DIR", "/nonexistent/a").output();
    let (what, helps) = two_lines(&done.expect("it starts"));
    assert!(what.contains("/nonexistent") && helps.contains("mkdir -p /nonexistent"), "{what} {helps}");
    // A socket's path is short.
    let long = cli.path(&"x".repeat(120));
    DirBuilder::new().mode(0o700).create(&long).expect("a folder");
    let words = ["open".into(), cli.path("some").into_os_string()];
    let done = cli.command(words).env("KEYWAY_RUNTIME_DIR", long).output();
    let (what, helps) = two_lines(&done.expect("it starts"));
    assert!(what.contains("too long for the sockets in it") && helps.contains("shorter"), "{what} {helps}");
    if is_root() {
        chown(&folder, Some(65534), Some(65534)).expect("root may");
        let (code, (what, helps)) = named(&folder);
        assert!(code == Some(1) && what.contains("it is user 65534's"), "{what}");
        assert!(helps.contains("KEYWAY_RUNTIME_DIR") && !helps.contains("remove"), "{helps}");
    }
}

#[test]
fn what_a_killed_server_left_is_listed_and_told_by_whoever_clears_it_away() {
    let cli = Cli::new();
    cli.volume("v");
    let killed = || cli.json(0, "status")["killed"].as_array().expect("a list").clone();
    for clears in ["cat @v --length 1 --password-file @pw --pim 1", "close @v"] {
        assert!(killed().is_empty());
        kill_process(open(&cli, "v"), Signal::KILL).expect("it runs");
        wait_until("its end", || !killed().is_empty());
        assert!(volumes(&cli).is_empty());
        assert!(
            killed()[0]["volume"].as_str().is_some_and(|volume| volume.ends_with("/v")),
            "{:?}",
            killed()
        );
        let said = text(&cli.ends(0, "status").stdout);
        assert!(
            said.contains("by a process that has been killed") && said.contains("keyway close "),
            "{said}"
        );
        assert!(cli.json(0, "status @v")["killed"].is_object());
        let said = text(&cli.ends(0, "status @v").stdout);
        assert!(said.contains("by a process that has been killed"), "{said}");
        assert_eq!(cli.json(0, "close @v --dry-run")["plan"]["close"][0]["killed"], true);
        // Whoever only looks has cleared nothing away.
        assert_eq!(killed().len(), 1);
        let said = text(&cli.ends(0, clears).stderr);
        assert!(said.contains("check what was written last"), "{clears}: {said}");
        assert_eq!(said.matches("had been killed").count(), 1, "{clears}: {said}");
    }
    assert!(killed().is_empty());
}

#[test]
fn what_is_not_open_can_be_closed_where_that_is_no_failure() {
    let cli = Cli::new();
    cli.volume("v");
    cli.fails(1, "not-open", "", "close @v");
    assert_eq!(cli.json(0, "close @v --if-open")["closed"], serde_json::json!([]));
    open(&cli, "v");
    assert_eq!(cli.json(0, "close @v --if-open")["closed"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_log_tells_what_was_done_and_no_secret() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("wrong", "not-this-one-of-twenty");
    let log = cli.path("log");
    let with = format!("{WITH} --hash sha512 --log @log");
    cli.fails(3, "wrong-secret", "", &format!("open @v {}", with.replace("@pw", "@wrong")));
    cli.ends(0, &format!("open @v {with}"));
    // By the variable, and by a path that is another one in another folder.
    let mut close = cli.command(cli.words("close @v"));
    close.env("KEYWAY_LOG", "log").current_dir(cli.keyway.folder());
    assert!(close.status().expect("keyway starts").success());
    let made = cli.json(0, "create @b --format bitlocker --size 64M --quick --password-file @pw --log @log");
    let recovery = made["recovery_password"].as_str().expect("a recovery password").to_owned();
    cli.ends(0, &format!("cat @b --length 512 --recovery-password {recovery} --log @log"));
    let said = std::fs::read_to_string(&log).expect("a log");
    let v = cli.path("v").display().to_string();
    for part in [
        format!(" ERROR unlock {v}: wrong-secret ("),
        format!(" INFO unlock {v}: veracrypt, aes, sha512"),
        format!(" INFO attach {v}: nbd, socket "),
        // The process that serves, after it has given up all paths.
        format!(" INFO serve {v}: ended"),
        format!(" INFO close {v}: closed"),
        format!(" INFO unlock {}: bitlocker", cli.path("b").display()),
    ] {
        assert!(said.contains(&part), "no {part:?}: {said}");
    }
    assert!(said.lines().all(|line| line.starts_with("20") && line.contains("Z ")), "{said}");
    let mut secrets = vec![PASSWORD, "not-this-one-of-twenty", &*recovery];
    secrets.extend(recovery.split('-'));
    for secret in secrets {
        assert!(!said.contains(secret), "{secret} is in the log: {said}");
    }
    assert_eq!(std::fs::metadata(&log).expect("there").mode() & 0o777, 0o600);
    // Told before a password is asked for.
    cli.fails(1, "not-found", "", "open @v --log @none/log");
    assert!(volumes(&cli).is_empty());
}
