//! `resize`: a container gets larger and smaller with an ext4 in it, which its own checker finds whole.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::require_tool;
use std::process::Command;

const SECRET: &str = "--password-file @pw --pim 1";

/// The ext4 in the volume is clean.
fn check(cli: &Cli) -> Vec<u8> {
    let content = cli.ends(0, &format!("cat @v {SECRET}")).stdout;
    let path = cli.path("plain");
    std::fs::write(&path, &content).expect("written");
    let done =
        Command::new(require_tool("e2fsck").expect("e2fsprogs")).args(["-f", "-n"]).arg(&path).output();
    let done = done.expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    content
}

#[test]
fn a_container_gets_larger_and_smaller_with_its_file_system() {
    if require_tool("mkfs.ext4").is_none() {
        return;
    }
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, &format!("create @v --size 16M --format veracrypt --filesystem ext4 --quick {SECRET}"));
    let before = check(&cli);
    let done = cli.json(0, &format!("resize @v --size 24M {SECRET}"));
    assert_eq!(done["data_bytes"], (24 << 20) - 262_144);
    assert_eq!(cli.path("v").metadata().expect("there").len(), 24 << 20);
    let larger = check(&cli);
    assert!(larger.len() == (24 << 20) - 262_144 && larger[..before.len()] == before);
    cli.ends(0, &format!("cat @v {SECRET} --header backup"));

    // The file system has 15.75 MiB: no less will do.
    let refused = cli.json(2, &format!("resize @v --size 12M --yes {SECRET}"));
    assert_eq!(refused["error"]["kind"], "no-room");
    cli.ends(2, &format!("resize @v --size 16M {SECRET}"));
    cli.ends(3, "resize @v --size 16M --pim 2 --yes --password-file @pw --hash sha512");
    assert!(check(&cli) == larger, "refused, and something was changed");
    cli.ends(0, &format!("resize @v --size 16M --yes {SECRET}"));
    assert_eq!(cli.path("v").metadata().expect("there").len(), 16 << 20);
    assert!(check(&cli) == before);
    cli.ends(2, &format!("resize @v {SECRET}"));
}
