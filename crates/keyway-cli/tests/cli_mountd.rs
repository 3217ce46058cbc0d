//! `open` as an ordinary user with the helper on the system bus: the real dbus-daemon, polkitd and `keyway-mountd`. The kernel
//! mounts what is in the volume for that user; whatever ends the process that serves ends that, too.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_testkit::{SystemBus, leave_out, require_fuse, require_tool, wait_until};
use std::path::{Path, PathBuf};

/// Two users that every Debian has. Polkit lets the first mount, and the second do nothing.
const NOBODY: u32 = 65534;
const BIN: u32 = 2;

const KEYWAY: &str = env!("CARGO_BIN_EXE_keyway");
/// What every script begins with.
const START: &str = "
    fails() { if \"$@\"; then echo \"it was done: $*\"; exit 1; fi; }
    value() { sed -n \"s/.*\\\"$1\\\": *\\\"\\([^\\\"]*\\)\\\".*/\\1/p\" opened; }
    cd \"$D\"; printf a-disk-is-a-disk-is-a-disk >pw; W='--password-file pw --pim 1'
    ";

fn bus() -> Option<SystemBus> {
    let helper = Path::new(KEYWAY).with_file_name("keyway-mountd");
    if !helper.is_file() {
        leave_out("the helper was not built: cargo build --workspace");
        return None;
    }
    if !require_fuse() {
        return None;
    }
    require_tool("fusermount3")?;
    SystemBus::start(&helper, &[("nobody", "org.keyway.mount")])
}

/// Runs a script as that user, in a folder of his own; what it said.
fn script(bus: &SystemBus, user: u32, script: &str) -> String {
    let folder = bus.folder_of(user);
    let done = bus
        .as_user(user, "sh")
        .args(["-euxc", &format!("{START}{script}")])
        .env("K", KEYWAY)
        .env("D", &folder)
        .env("HOME", &folder)
        .env("KEYWAY_RUNTIME_DIR", folder.join("run"))
        .env_remove("XDG_RUNTIME_DIR")
        .output()
        .expect("it starts");
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(done.status.success(), "{script}\n{said}");
    said
}

/// The loop devices on a file below that folder.
fn loops(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir("/sys/block").expect("sysfs").flatten().map(|entry| entry.path());
    let folder = folder.to_str().expect("plain").to_owned();
    let backing = |at: &PathBuf| std::fs::read_to_string(at.join("loop/backing_file")).unwrap_or_default();
    all.filter(|at| backing(at).contains(&folder)).collect()
}

fn nothing_is_left(bus: &SystemBus, user: u32) {
    let folder = bus.folder_of(user);
    // What others had mounted when the bus began is in its view of the mounts as well.
    let (mounts, ours) = (bus.mounts(), folder.to_str().expect("plain").to_owned());
    assert!(!mounts.contains("/run/media") && !mounts.contains(&ours), "{mounts}");
    assert!(loops(&folder).is_empty());
    let left = std::fs::read_dir(bus.at("/run/media/nobody")).into_iter().flatten();
    assert_eq!(left.count(), 0, "a folder is left");
}

/// What this kernel mounts.
fn kernel_mounts(filesystem: &str) -> bool {
    let known = keyway_attach::mount::known_drivers();
    known.iter().any(|driver| driver == filesystem)
}

#[test]
fn a_user_opens_writes_and_closes() {
    let Some(bus) = bus() else { return };
    let mut tried = 0;
    for (filesystem, driver, label) in
        [("ext4", "ext4", "My Stick"), ("fat", "vfat", "STICK"), ("ntfs", "ntfs3", "My Stick")]
    {
        if !kernel_mounts(driver) {
            leave_out(&format!("this kernel does not mount {driver}"));
            continue;
        }
        script(
            &bus,
            NOBODY,
            &format!(
                "rm -f v.hc; $K create v.hc --size 20M --quick --filesystem {filesystem} --label '{label}' $W >/dev/null 2>&1
                 $K open v.hc $W --json >opened 2>said; cat said; fails grep warning said
                 test \"$(value attachment)\" = mountd; at=$(value mountpoint)
                 test \"$at\" = '/run/media/nobody/{label}'
                 grep '/run/media/nobody/' /proc/mounts | grep nosuid | grep nodev
                 echo a letter >\"$at/letter\"; test $(stat -c %u \"$at/letter\") = {NOBODY}
                 $K status v.hc | grep 'mounted at'
                 sleep 1000 <\"$at/letter\" & sleeps=$!
                 fails $K close v.hc >said 2>&1; grep 'in use by sleep' said
                 test \"$(cat \"$at/letter\")\" = 'a letter'; kill $sleeps; wait $sleeps || true
                 $K close v.hc; fails test -e \"$at\"; fails grep -e /run/media -e \"$D\" /proc/mounts
                 fails sh -c 'ls run | grep -v lock'
                 $K open v.hc $W --read-only --json >opened; grep '\"read_only\": true' opened
                 test \"$(cat \"$at/letter\")\" = 'a letter'; fails touch \"$at/other\"
                 $K close \"$at\"; fails test -e \"$at\""
            ),
        );
        nothing_is_left(&bus, NOBODY);
        tried += 1;
    }
    assert!(tried > 0, "every kernel has ext4");
}

#[test]
fn a_killed_process_leaves_no_mount_no_device_and_no_folder() {
    let Some(bus) = bus() else { return };
    script(
        &bus,
        NOBODY,
        "$K create v.hc --size 20M --quick --filesystem ext4 $W >/dev/null 2>&1
         $K open v.hc $W --json >opened; at=$(value mountpoint); echo a letter >\"$at/letter\"; sync -f \"$at/letter\"
         kill -KILL $(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' opened)",
    );
    let opened = std::fs::read(bus.folder_of(NOBODY).join("opened")).expect("it is there");
    let opened: serde_json::Value = serde_json::from_slice(&opened).expect("JSON");
    let at = opened["mountpoint"].as_str().expect("where it was").to_owned();
    wait_until("it is taken down", || !bus.mounts().contains("/run/media") && !bus.at(&at).exists());
    wait_until("its loop device is gone", || loops(&bus.folder_of(NOBODY)).is_empty());
    // The next command clears up the rest, and what was flushed is there.
    script(
        &bus,
        NOBODY,
        "$K open v.hc $W --json >opened; test \"$(cat \"$(value mountpoint)/letter\")\" = 'a letter'; $K close v.hc",
    );
    nothing_is_left(&bus, NOBODY);
}

#[test]
fn where_polkit_says_no_the_file_is_there_and_the_reason_is_told() {
    let Some(bus) = bus() else { return };
    let said = script(
        &bus,
        BIN,
        "$K create v.hc --size 20M --quick --filesystem ext4 $W >/dev/null 2>&1
         $K open v.hc $W --json >opened 2>said; cat said; test \"$(value attachment)\" = fuse
         test -f \"$(value file)\"; grep '\"mountpoint\": null' opened; $K close v.hc",
    );
    assert!(
        said.contains("keyway-mountd did not mount it: polkit does not allow org.keyway.mount"),
        "{said}"
    );
    // Whose it is, and what helps: nobody reads it beside who has it open.
    assert!(
        said.contains("v.hc was to be mounted") && said.contains("once it is closed, `keyway ls`"),
        "{said}"
    );
    nothing_is_left(&bus, BIN);
}

#[test]
fn what_has_no_file_system_yet_is_a_file_and_no_trouble() {
    let Some(bus) = bus() else { return };
    script(
        &bus,
        NOBODY,
        "$K create v.hc --size 20M --quick --filesystem none $W >/dev/null 2>&1
         $K open v.hc $W --json >opened 2>said; cat said; fails grep warning said
         test \"$(value attachment)\" = fuse; test -f \"$(value file)\"; $K close v.hc
         $K open v.hc $W --attach fuse --json >opened; test \"$(value attachment)\" = fuse; $K close v.hc
         $K doctor | grep 'attach by mountd'",
    );
    nothing_is_left(&bus, NOBODY);
}
