//! Open volumes whose names lead nowhere any more: a logout took their session's folder away, another file replaced theirs, or nobody
//! heard that they are open.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, two_lines};
use keyway::session::{Attachment, NbdAddress, ServingProgram, SessionPlan};
use keyway::unlock::UnlockArguments;
use keyway::{Key, VeraCryptSecret};
use keyway_secret::SecretBytes;
use keyway_testkit::wait_until;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

const WITH: &str = "--password-file @pw --pim 1 --attach nbd";

/// Opens a volume; its serving process.
fn open(cli: &Cli, name: &str) -> Pid {
    let opened = cli.json(0, &format!("open @{name} {WITH}"));
    let pid = opened["pid"].as_i64().expect("a process");
    i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process")
}

fn sessions(cli: &Cli) -> PathBuf {
    cli.keyway.runtime_folder().join("sessions")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_logout_that_empties_the_runtime_folder_closes_what_is_open() {
    let cli = Cli::new();
    cli.volume("v");
    let pid = open(&cli, "v");
    std::fs::remove_dir_all(sessions(&cli)).expect("ours");
    wait_until("its process ends", || test_kill_process(pid).is_err());
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked");
    open(&cli, "v");
    cli.ends(0, "close @v");
}

/// One that can't end yet, because it is stopped here, else because somebody uses the volume.
#[test]
fn a_volume_whose_session_nobody_finds_is_open_and_the_way_to_close_it_is_told() {
    let cli = Cli::new();
    cli.volume("v");
    let pid = open(&cli, "v");
    kill_process(pid, Signal::STOP).expect("ours");
    std::fs::remove_dir_all(sessions(&cli)).expect("ours");
    let number = pid.as_raw_nonzero().get();

    let status = cli.json(0, "status @v");
    assert_eq!((&status["lock_status"], &status["other_user"]["pid"]), (&"Unlocked".into(), &number.into()));
    let said = text(&cli.ends(6, "status @v --exit-code").stdout);
    assert!(said.contains("folder of its session was taken away"), "{said}");
    for words in ["close @v", "close @v --if-open", &format!("open @v {WITH}"), "ls @v --password-file @pw"] {
        cli.fails(6, "already-open", &format!("kill {number}"), words);
    }

    kill_process(pid, Signal::TERM).expect("ours");
    kill_process(pid, Signal::CONT).expect("ours");
    wait_until("it is closed", || test_kill_process(pid).is_err());
    assert_eq!(cli.json(7, "close @v --exit-code")["error"]["kind"], "not-open");
}

#[test]
fn a_volume_that_another_file_replaced_is_closed_by_the_name_it_was_opened_by() {
    let cli = Cli::new();
    for name in ["v", "another"] {
        cli.volume(name);
    }
    let pid = open(&cli, "v").as_raw_nonzero().get();
    std::fs::rename(cli.path("another"), cli.path("v")).expect("it moves");

    let status = cli.json(0, "status @v");
    let path = cli.path("v").display().to_string();
    assert_eq!(
        (&status["lock_status"], &status["open_before"]["volume"]),
        (&"Locked".into(), &path.clone().into())
    );
    let said = text(&cli.ends(0, "status @v").stdout);
    assert!(
        said.contains("had this name before is open") && said.contains(&format!("`keyway close {path}`")),
        "{said}"
    );

    // What is in it is nowhere else.
    for words in ["close @v", "close @v --if-open"] {
        let refused = cli.ends(2, words);
        let (what, hint) = two_lines(&refused);
        assert!(
            what.contains("before another file had this name") && hint.contains("--yes"),
            "{what}\n{hint}"
        );
    }
    let plan = cli.json(0, "close @v --dry-run");
    let planned = &plan["plan"]["close"][0];
    assert_eq!((&planned["pid"], &planned["replaced"]), (&number(pid), &true.into()), "{plan}");
    let closed = cli.json(0, "close @v --yes");
    assert_eq!((&closed["closed"][0]["pid"], &closed["closed"][0]["replaced"]), (&number(pid), &true.into()));
    assert_eq!(cli.json(7, "close @v --exit-code")["error"]["kind"], "not-open");
    assert!(cli.json(0, "status @v").get("open_before").is_none());
}

fn number(pid: i32) -> serde_json::Value {
    pid.into()
}

/// Whoever is ended between the server's answer and the word that it has come has told nobody.
#[test]
fn what_nobody_heard_of_does_not_stay_open() {
    let cli = Cli::new();
    cli.volume("v");
    let sessions = sessions(&cli);
    let mut variable = std::ffi::OsString::from("KEYWAY_RUNTIME_DIR=");
    variable.push(&sessions);
    let by = ServingProgram {
        program: "/usr/bin/env".into(),
        name: "env".into(),
        arguments: vec![variable, env!("CARGO_BIN_EXE_keyway").into(), "serve-volume".into()],
        warden: None,
    };
    let over_nbd = Attachment::Nbd(NbdAddress::Session);
    let plan = SessionPlan::new(&cli.path("v"), UnlockArguments::new(), over_nbd).expect("a plan");
    let password = SecretBytes::copy_of(PASSWORD.as_bytes());
    let secret = VeraCryptSecret { pim: Some(1), ..VeraCryptSecret::from(password) };
    let secrets = Key::VeraCrypt(secret).into();
    let open = || {
        let mut entries =
            std::fs::read_dir(&sessions).expect("it was made").map(|entry| entry.expect("readable").path());
        entries.any(|entry| entry.join("state.json").exists())
    };

    let mut was_open = false;
    let started = catch_unwind(AssertUnwindSafe(|| {
        plan.start_to_tell(&secrets, &by, || {
            was_open = open();
            panic!("ended by a signal, as far as a test can be");
        })
    }));
    assert!(started.is_err() && was_open);
    wait_until("it is closed again", || !open());

    plan.start(&secrets, &by).expect("it serves");
    assert!(open());
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Unlocked");
    cli.ends(0, "close @v");
}

/// Here is where it is told: what root has is not all that is open.
#[test]
fn what_is_open_with_sessions_elsewhere_is_not_told_as_nothing() {
    let cli = Cli::new();
    cli.volume("v");
    open(&cli, "v");
    let mut elsewhere = cli.command(["status"]);
    let done = elsewhere.env_remove("KEYWAY_RUNTIME_DIR").output().expect("keyway starts");
    let said = text(&done.stdout);
    let named = format!("{} is open, with your sessions in another folder", cli.path("v").display());
    assert!(said.contains(&named), "{said}");
    assert!(!said.contains("No volume is open") && !said.contains("None of yours is open"), "{said}");
    cli.ends(0, "close @v");
}
