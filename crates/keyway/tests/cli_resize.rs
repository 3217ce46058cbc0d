//! `resize`: a container gets larger and smaller with ext4 or NTFS in it, which its own checker finds whole.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::{Rng, require_fuse, require_tool};
use serde_json::json;
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
    cli.ends(2, &format!("resize @v --size 24M {SECRET}"));
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
    let refused = cli.json(1, &format!("resize @v --size 2M --yes {SECRET}"));
    assert_eq!(refused["error"]["kind"], "no-room", "{refused}");
    let refused = cli.json(2, &format!("resize @v --size 16M --yes --keep-filesystem {SECRET}"));
    assert_eq!(refused["most_bytes"], INSIDE);
    cli.ends(2, &format!("resize @v --size 16M {SECRET}"));
    cli.ends(3, "resize @v --size 16M --pim 2 --yes --password-file @pw --hash sha512");
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
    cli.ends(2, &format!("resize @v {SECRET}"));
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
