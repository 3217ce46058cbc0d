//! Loopback ports and the other users of the machine: without a certificate or a secret, only the serving user and
//! root are let in, unless the option says otherwise. The other user is a real one.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::{copy_program, require_root, require_tool, wait_until};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

const NOBODY: u32 = 65534;

/// NVMe/TCP's first PDU, ICReq (transport specification 3.6.2.2): 128 bytes, of which these are not zero.
const NVME_HELLO: &str = r"\x00\x00\x80\x00\x80\x00\x00\x00";

/// What a server says to that user: its first bytes, in hexadecimal. For NVMe the client speaks first.
fn says(user: u32, at: &str, nvme: bool) -> String {
    let (host, port) = at.rsplit_once(':').expect("an address");
    let host = host.trim_matches(['[', ']']);
    let hello = format!("printf '{NVME_HELLO}' >&3; head -c 120 /dev/zero >&3;");
    let script = format!(
        "exec 3<>/dev/tcp/{host}/{port}; {} head -c 8 <&3 | od -An -tx1",
        if nvme { &hello } else { "" }
    );
    let done = Command::new("bash").args(["-c", &script]).current_dir("/").uid(user).gid(user).output();
    String::from_utf8_lossy(&done.expect("bash starts").stdout).split_whitespace().collect()
}

fn cli() -> Option<Cli> {
    if !require_root() {
        return None;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --size 4M --quick --filesystem none --password-file @pw --pim 1");
    Some(cli)
}

#[test]
fn only_the_serving_user_and_root_come_in_by_a_loopback_port() {
    let Some(cli) = cli() else { return };
    for (way, nvme, hello) in [
        ("--nbd tcp:127.0.0.1:0", false, "4e42444d41474943"),
        ("--nbd tcp:[::1]:0", false, "4e42444d41474943"),
        ("--nvme-tcp 127.0.0.1:0", true, "0100800080000000"),
    ] {
        let serve = |more| format!("serve @v {way} --background --password-file @pw --pim 1 {more}");
        let served = cli.json(0, &serve(""));
        let at = served["socket"].as_str().expect("an address");
        assert_eq!(says(0, at, nvme), hello, "root itself at {way}");
        assert_eq!(says(NOBODY, at, nvme), "", "another user at {way}");
        let refused = &cli.json(0, "status @v")["refused"];
        assert_eq!(refused[0]["user"], NOBODY, "{refused}");
        assert!(refused[0]["connections"].as_u64().is_some_and(|n| n > 0), "{refused}");
        assert_eq!(says(0, at, nvme), hello, "root itself, again, at {way}");
        cli.ends(0, "close @v");
        let served = cli.json(0, &serve("--any-local-user"));
        let at = served["socket"].as_str().expect("an address");
        assert_eq!(says(NOBODY, at, nvme), hello, "another user who is let in at {way}");
        cli.ends(0, "close @v");
    }
    for way in
        ["--nbd unix:/tmp/never", "--vhost-user /tmp/never", "--nvme-tcp 127.0.0.1:0 --nvme-secret @pw"]
    {
        cli.refused(
            "usage",
            "leave it out: unix sockets are their owner's, and TLS and",
            &format!("serve @v {way} --any-local-user --password-file @pw"),
        );
    }
}

/// The program as another user, who has no folder of his own.
fn theirs(cli: &Cli, words: &str) -> Option<(Option<i32>, String)> {
    let mut other = Command::new(require_tool("setpriv")?);
    let id = NOBODY.to_string();
    other.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(cli.path("keyway"));
    other.args(cli.words(words)).env_clear().env("HOME", "/nonexistent").current_dir("/");
    let done = other.output().expect("it starts");
    Some((done.status.code(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned()))
}

/// A volume that everybody may read, and the program where they may run it.
fn shared() -> Option<Cli> {
    let cli = cli()?;
    for (name, mode) in [("", 0o755), ("v", 0o666), ("pw", 0o644)] {
        std::fs::set_permissions(cli.path(name), PermissionsExt::from_mode(mode)).expect("its mode");
    }
    copy_program(env!("CARGO_BIN_EXE_keyway"), cli.path("keyway"));
    Some(cli)
}

#[test]
fn whoever_only_looks_needs_no_folder() {
    let Some(cli) = shared() else { return };
    for words in [
        "info @v",
        "status",
        "status @v",
        "cat @v --length 1 --password-file @pw --pim 1",
        "protector list @v",
    ] {
        let Some((code, said)) = theirs(&cli, words) else { return };
        assert_eq!(code, Some(0), "{words}: {said}");
    }
    // What would serve has nowhere to say so.
    let Some((code, said)) = theirs(&cli, "open @v --dry-run") else { return };
    assert!(code == Some(5) && said.contains("a folder for what this user has open is missing"), "{said}");
    let Some((code, said)) = theirs(&cli, "create @theirs --size 1M --dry-run") else { return };
    assert!(code == Some(5) && said.contains("Permission denied"), "{said}");
}

#[test]
fn what_root_has_open_is_not_permitted_to_others_and_not_closed() {
    let Some(cli) = shared() else { return };
    cli.ends(0, "open @v --attach nbd --password-file @pw --pim 1");
    for words in ["close @v", "close @v --exit-code", "close @v --if-open", "status @v --exit-code"] {
        let Some((code, said)) = theirs(&cli, words) else { return };
        assert!(code == Some(5) && said.contains("root has it open"), "{words}: {code:?}, {said}");
    }
    cli.ends(0, "close @v");
    let Some((code, said)) = theirs(&cli, "status @v --exit-code") else { return };
    assert_eq!(code, Some(7), "{said}");
}

#[test]
fn nobody_takes_the_owners_place_by_connecting() {
    let Some(cli) = cli() else { return };
    let served = cli.json(0, "serve @v --nbd tcp:127.0.0.1:0 --background --password-file @pw --pim 1");
    let at = served["socket"].as_str().expect("an address");
    let (_, port) = at.rsplit_once(':').expect("an address");
    // As many connections as there are places, and kept.
    let script =
        format!("for n in {{1..40}}; do exec {{fd}}<>/dev/tcp/127.0.0.1/{port}; done; echo; exec sleep 1000");
    let mut child = Command::new("bash")
        .args(["-c", &script])
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("bash starts");
    wait_until("all were refused", || {
        cli.json(0, "status @v")["refused"][0]["connections"].as_u64() >= Some(40)
    });
    assert_eq!(says(0, at, false), "4e42444d41474943");
    child.kill().expect("ours");
    child.wait().expect("ended");
    cli.ends(0, "close @v");
}
