//! The crate's examples, run as a stranger would run them.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod attach_nbd;
mod bitlocker_files;
mod convert;
mod make;
mod web_server;

use keyway::Volume;
use std::process::Command;

/// The password of what the tests make.
const PASSWORD: &[u8] = b"a password of more than twenty characters";

/// What is in the file that the tests put into a volume.
const LETTER: &[u8] = b"Dear Charles,";

/// The program of an example, as it is now: Cargo builds examples beside the tests only where all of them are built.
fn example(name: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    // What Cargo tells a test of its package is none of this build's: packages that look at it would be built again, and
    // all that stand on them, now and by whoever builds next.
    for (key, _) in std::env::vars_os() {
        let told = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_CRATE_"];
        if told.iter().any(|told| key.to_string_lossy().starts_with(told)) {
            cargo.env_remove(key);
        }
    }
    let built = cargo.args(["build", "-q", "--workspace", "--example", name]).status();
    assert!(built.is_ok_and(|status| status.success()), "{name} can't be built");
    let test = std::env::current_exe().expect("this test");
    Command::new(test.ancestors().nth(2).expect("the profile's folder").join("examples").join(name))
}

/// Writes a file into the FAT of a volume that is open for writing.
fn put_a_letter(volume: Volume) {
    let mut files = volume.into_files().expect("a FAT");
    files.put(&["letter.txt".into()], LETTER, LETTER.len() as u64, None, false).expect("it has room");
}

/// Runs it to its good end; what it printed.
fn printed(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}
