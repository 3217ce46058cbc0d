//! Files that a test makes to run them.
//!
//! Another process writes them: what this one has open for writing, a child that another thread of the tests forks at
//! that moment holds open as well, and until that child has become its program the kernel runs no such file
//! (`ETXTBSY`, "text file busy").

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Copies a program with its mode.
///
/// # Panics
/// When it can't be copied.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let done = Command::new("cp").arg("--").args([from.as_ref(), to.as_ref()]).output().expect("cp starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Makes a script of the shell's that everybody may run; `text` is what follows its first line.
///
/// # Panics
/// When it can't be written.
pub fn shell_script(path: impl AsRef<Path>, text: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(path.as_ref()).stdin(Stdio::piped());
    let mut shell = shell.spawn().expect("sh starts");
    let written = shell.stdin.take().expect("piped").write_all(format!("#!/bin/sh\n{text}\n").as_bytes());
    assert!(shell.wait().expect("sh ends").success() && written.is_ok(), "{}", path.as_ref().display());
}
