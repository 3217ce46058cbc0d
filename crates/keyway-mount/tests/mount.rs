//! mount(8) and umount(8) open and close volumes by `mount.keyway`: a line of a table of file systems, wrong options, a password
//! that systemd asks for.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_testkit::{copy_program, leave_out, require_fuse, require_root, require_tool, shell_script};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const MOUNT: &str = env!("CARGO_BIN_EXE_mount-keyway");

/// A system's folders with `mount.keyway` and a program that writes down how it was called.
struct System(tempfile::TempDir);

impl System {
    fn new(keyway: &str) -> Self {
        let system = Self(tempfile::tempdir().expect("a folder"));
        for folder in ["bin", "sbin"] {
            std::fs::create_dir(system.0.path().join(folder)).expect("made");
        }
        copy_program(MOUNT, system.0.path().join("sbin/mount.keyway"));
        system.script("bin/keyway", keyway);
        system
    }

    fn script(&self, name: &str, text: &str) {
        shell_script(self.0.path().join(name), text);
    }

    fn mount(&self, words: &[&str]) -> Output {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let ours = [self.0.path().join("bin")];
        let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&path))).expect("plain");
        let mut mount = Command::new(self.0.path().join("sbin/mount.keyway"));
        mount.args(words).env("PATH", path).stdin(Stdio::null()).output().expect("it starts")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_program_beside_it_is_told_what_to_open() {
    let system = System::new(r#"printf '%s\n' "$@""#);
    let words = ["/dev/sdb1", "/data", "-v", "-o", "ro,nofail,keyfile=/etc/key,uid=7,x-systemd.automount"];
    let done = system.mount(&words);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let said = "open\n--read-only\n--keyfile=/etc/key\n--mount-options=uid=7\n--\n/dev/sdb1\n/data\n";
    assert_eq!(text(&done.stdout), said);
    let quiet = system.mount(&["/dev/sdb1", "/data", "-o", "keyfile=/etc/key"]);
    assert!(quiet.status.success() && quiet.stdout.is_empty(), "{quiet:?}");
}

#[test]
fn what_goes_wrong_is_said_and_ends_as_mount_has_it() {
    let system = System::new("echo 'no key opened it' >&2; exit 3");
    let wrong = system.mount(&["/dev/sdb1", "/data", "-o", "keyfle=/etc/key"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("no option keyfle"), "{}", text(&wrong.stderr));
    let refused = system.mount(&["/dev/sdb1", "/data", "-o", "keyfile=/etc/key"]);
    assert_eq!(refused.status.code(), Some(32));
    assert!(text(&refused.stderr).contains("no key opened it"), "{}", text(&refused.stderr));
}

/// Where systemd's agents look for questions.
fn has_agents() -> bool {
    let there = Path::new("/run/systemd/ask-password").is_dir();
    if !there {
        leave_out("systemd asks nobody here");
    }
    there
}

#[test]
fn whoever_does_not_answer_has_given_no_password() {
    if !has_agents() {
        return;
    }
    let system = System::new("cat >/dev/null; echo 'keyway: standard input is empty' >&2; exit 2");
    system.script("bin/systemd-ask-password", r#"printf '%s\n' "$*" >&2; exit 1"#);
    let refused = system.mount(&["/dev/sdb1", "/data"]);
    assert_eq!(refused.status.code(), Some(32));
    let said = text(&refused.stderr);
    assert!(said.contains("--timeout=90") && said.contains("nobody has answered"), "{said}");
    assert!(!said.contains("standard input"), "{said}");
}

#[test]
fn options_are_called_as_they_are_in_the_table() {
    let system = System::new(
        "echo 'keyway: warning: slow' >&2; printf 'keyway: none\\n  use --password-file FILE\\n' >&2; exit 2",
    );
    let refused = system.mount(&["/dev/sdb1", "/data", "-o", "keyfile=/etc/key"]);
    assert_eq!(text(&refused.stderr), "keyway: warning: slow\nkeyway: none\n  use password-file=FILE\n");
}

#[test]
fn without_a_terminal_systemd_asks_for_the_password() {
    if !has_agents() {
        return;
    }
    let system = System::new(r#"printf '%s\n' "$@"; cat"#);
    system.script("bin/systemd-ask-password", r#"printf '%s\n' "$*" >&2; echo from the boot screen"#);
    let done = system.mount(&["/dev/sdb1", "/data", "-v", "-o", "pim=7"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let said = "open\n--pim=7\n--password-file\n-\n--\n/dev/sdb1\n/data\nfrom the boot screen\n";
    assert_eq!(text(&done.stdout), said);
    assert!(text(&done.stderr).contains("Password of sdb1:"), "{}", text(&done.stderr));
}

/// The program as it was built together with this one.
fn keyway() -> Option<PathBuf> {
    let path = Path::new(MOUNT).with_file_name("keyway");
    if !path.is_file() {
        leave_out("the program itself was not built: cargo build");
        return None;
    }
    Some(path)
}

/// Run where /sbin is this test's own: mount(8) looks for its helpers nowhere else.
const SCRIPT: &str = r#"
set -eu
trap 'keyway close --all >/dev/null 2>&1 || true' EXIT
say() { echo "mount.rs: $*" >&2; exit 1; }
cd "$FOLDER"
mkdir old at other run
mount --bind /usr/sbin old
mount -t tmpfs none /usr/sbin
ln -s "$FOLDER"/old/* /usr/sbin/
ln -s "$KEYWAY" /usr/sbin/keyway
cp "$MOUNT" /usr/sbin/mount.keyway
printf 'a password of twenty letters' >password
printf 'another one' >wrong
with="password-file=$FOLDER/password,pim=1"
make() { keyway create "$1" --size 20M --filesystem "$2" --quick --pim 1 --password-file password >/dev/null 2>&1; }
make stick ntfs
make volume ext4
echo "$FOLDER/stick $FOLDER/at keyway $with,uid=1234,umask=077,noatime,nofail,x-systemd.automount 0 0" >table

server() { keyway status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -1; }
closed() {
    # Not one process of it is left, nor a loop device, nor a mount.
    tail --pid="$1" -f /dev/null
    [ -z "$(server)" ] || say "it is still open: $(keyway status)"
    ! grep -q "$FOLDER/run" /proc/self/mountinfo || say "mounts are left: $(cat /proc/self/mountinfo)"
}

mount --fstab table "$FOLDER/at"
grep " $FOLDER/at " /proc/mounts | grep nosuid | grep -q nodev || say "$(cat /proc/mounts)"
[ "$(stat -c '%u %a' at)" = '1234 700' ] || say "$(stat at)"
pid=$(server)
umount at
closed "$pid"

mount -t keyway -o "$with,noatime" volume at
grep " $FOLDER/at " /proc/mounts | grep nosuid | grep nodev | grep -q noatime || say "$(cat /proc/mounts)"
echo a letter >at/letter
pid=$(server)
umount at
closed "$pid"

mount -t keyway -o "$with,ro" volume at
[ "$(cat at/letter)" = 'a letter' ] || say 'what was written is not there'
! touch at/more 2>/dev/null || say 'it was opened for reading only'
pid=$(server)
# Seen at a second place, it is still in use.
mount --bind at other
umount at
[ "$(cat other/letter)" = 'a letter' ] || say 'it was closed too early'
[ "$(server)" = "$pid" ] || say 'it was closed too early'
umount other
closed "$pid"

for wrong in "$with,pasword=x:no option pasword" "password-file=$FOLDER/wrong,pim=1:no header opened" "$with,uid=1234:uid=1234"; do
    if mount -t keyway -o "${wrong%:*}" volume at 2>said; then say "mounted with ${wrong%:*}"; fi
    grep -q "${wrong##*:}" said || say "${wrong##*:} is not in: $(cat said)"
    [ -z "$(server)" ] || say "open after ${wrong%:*}"
done
mount -t keyway -o "$with" -f volume at
[ -z "$(server)" ] || say 'open, though it was not meant'
"#;

#[test]
fn a_line_of_fstab_mounts_a_volume_and_umount_closes_it() {
    if !(require_root() && require_fuse()) {
        return;
    }
    let tools = ["mkfs.ntfs", "mkfs.ext4", "unshare"].map(require_tool);
    let [Some(_), Some(_), Some(unshare)] = tools else { return };
    let Some(keyway) = keyway() else { return };
    let folder = tempfile::Builder::new().prefix("keyway-mount-").tempdir().expect("a folder");
    let mut script = keyway_testkit::own_mounts(&unshare, &[], folder.path());
    script.args(["bash", "-c", SCRIPT]);
    script.env("FOLDER", folder.path()).env("KEYWAY", keyway).env("MOUNT", MOUNT);
    script.env("KEYWAY_RUNTIME_DIR", folder.path().join("run/sessions")).stdin(Stdio::null());
    let done = script.output().expect("it starts");
    assert!(done.status.success(), "{}\n{}", text(&done.stdout), text(&done.stderr));
}
