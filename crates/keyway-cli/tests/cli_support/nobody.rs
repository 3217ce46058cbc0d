//! The program as somebody without root has it.

use super::Cli;
use keyway_testkit::require_tool;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;

/// The user and the group `nobody`.
const NOBODY: u32 = 65534;

/// What a shell's `!` does not do under `-e`: end the script where a command succeeds.
const FAILS: &str = "fails() { if \"$@\"; then echo \"it was done: $*\"; exit 1; fi; }";

/// A folder of the user's own, in which the script runs; who may look into the tests' folder then is everybody.
pub(crate) fn folder(cli: &Cli) -> PathBuf {
    let folder = cli.path("theirs");
    let _ = fs::create_dir(&folder);
    chown(&folder, Some(NOBODY), Some(NOBODY)).expect("we are root");
    fs::set_permissions(cli.keyway.folder(), fs::Permissions::from_mode(0o755)).expect("ours");
    folder
}

/// Gives the user a copy of a file, in that folder.
pub(crate) fn give(cli: &Cli, name: &str) {
    let copy = folder(cli).join(name);
    fs::copy(cli.path(name), &copy).expect("room");
    chown(&copy, Some(NOBODY), Some(NOBODY)).expect("we are root");
}

/// Runs a script as nobody, who may use FUSE as at a desk: in a mount namespace of its own, where the device is
/// everybody's, and where these programs are not installed. `$K` is the program, `$D` the user's folder.
pub(crate) fn as_nobody(
    cli: &Cli,
    without: &[&str],
    variables: &[(&str, String)],
    script: &str,
) -> Option<String> {
    require_tool("fusermount3")?;
    let (unshare, setpriv) = (require_tool("unshare")?, require_tool("setpriv")?);
    let (folder, at) = (folder(cli), cli.path(""));
    let at = at.display();
    let hide =
        |program: &&str| format!("for at in $(which -a {program}); do mount --bind /dev/null $at; done; ");
    let outer = format!(
        "{}mkdir -p {at}/dev; mount -t tmpfs none {at}/dev; mknod -m 666 {at}/dev/fuse c 10 229; \
         mount --bind {at}/dev/fuse /dev/fuse; exec {} --reuid {NOBODY} --regid {NOBODY} --clear-groups sh -euxc \"$S\"",
        without.iter().map(hide).collect::<String>(),
        setpriv.display()
    );
    let done = keyway_testkit::own_mounts(&unshare, &[], &cli.path(""))
        .args(["sh", "-euc", &outer])
        .env("S", format!("{FAILS}\ncd {}; {script}", folder.display()))
        .env("K", env!("CARGO_BIN_EXE_keyway"))
        .env("D", &folder)
        .env("HOME", &folder)
        .env("KEYWAY_RUNTIME_DIR", folder.join("run"))
        .env_remove("XDG_RUNTIME_DIR")
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .expect("it starts");
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(done.status.success(), "{script}\n{said}");
    Some(said)
}
