//! A mount namespace of a test's own, in which nothing is mounted that another test has.

use std::path::Path;
use std::process::Command;

/// A copy of a mount keeps its device busy, wherever it is: what other tests have mounted meanwhile is theirs.
const WITHOUT_OTHERS: &str = r#"while read -r _ at _; do
    case $at in "$KEEP"|"$KEEP"/*) ;; "$BELOW"/*) umount -l "$at" 2>/dev/null || : ;; esac
done </proc/self/mounts
unset KEEP BELOW
exec "$@""#;

/// `unshare` with those further options: what is run by the arguments that are added has mounts of its own, those of a test's
/// folder `keep` and the machine's, without those of other tests.
pub fn own_mounts(unshare: &Path, options: &[&str], keep: &Path) -> Command {
    let mut command = Command::new(unshare);
    command.args(options).args(["--mount", "--propagation", "private", "sh", "-c", WITHOUT_OTHERS, "sh"]);
    command.env("KEEP", keep.components().as_path()).env("BELOW", std::env::temp_dir());
    command
}
