//! scripts/install puts everything where a system looks for it, and takes all of it away again.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use keyway_testkit::copy_program;
use std::path::{Path, PathBuf};
use std::process::Command;

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, all),
            path => all.push(path),
        }
    }
}

#[test]
fn what_is_installed_works_and_is_removed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a folder");
    let (built, system) = (folder.path().join("built"), folder.path().join("system"));
    let install = |words: &[&str]| {
        let mut command = Command::new(root.join("scripts/install"));
        command.args(words).env("DESTDIR", &system).env("CARGO_TARGET_DIR", &built).current_dir("/");
        command.output().expect("bash")
    };
    let early = install(&["/usr"]);
    assert_eq!(early.status.code(), Some(5), "nothing was built");
    assert!(String::from_utf8_lossy(&early.stderr).contains("cargo build --release"));
    std::fs::create_dir_all(built.join("release")).expect("made");
    for name in ["keyway", "mount-keyway", "keyway-mountd"] {
        copy_program(env!("CARGO_BIN_EXE_keyway"), built.join("release").join(name));
    }
    let done = install(&["/usr"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    let help = Command::new(system.join("usr/bin/keyway")).arg("--help").output().expect("it runs");
    assert!(help.status.success());
    let help = String::from_utf8(help.stdout).expect("text");
    let verbs = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let verbs: Vec<_> = verbs
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.contains(&"open") && verbs.contains(&"lab"), "{verbs:?}");
    for verb in verbs {
        let page = system.join(format!("usr/share/man/man1/keyway-{verb}.1"));
        assert!(page.is_file(), "there is no {}", page.display());
    }
    assert!(
        system.join("usr/sbin/mount.keyway").is_file()
            && system.join("usr/share/man/man8/mount.keyway.8").is_file()
    );
    for helper in [
        "libexec/keyway-mountd",
        "share/polkit-1/actions/org.keyway.policy",
        "share/dbus-1/system-services/org.keyway.Mount1.service",
        "share/dbus-1/system.d/org.keyway.Mount1.conf",
        "lib/systemd/system/keyway-mountd.service",
        "lib/systemd/system/keyway@.service",
        "lib/systemd/system-generators/keyway-generator",
        "share/man/man8/keyway-generator.8",
    ] {
        assert!(system.join("usr").join(helper).is_file(), "{helper}");
    }
    for completions in [
        "bash-completion/completions/keyway",
        "zsh/site-functions/_keyway",
        "fish/vendor_completions.d/keyway.fish",
    ] {
        assert!(system.join("usr/share").join(completions).is_file(), "{completions}");
    }
    assert!(install(&["--remove", "/usr"]).status.success());
    let mut left = Vec::new();
    files(&system, &mut left);
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(install(&["--wrong"]).status.code(), Some(2));
}
