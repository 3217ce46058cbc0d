//! A virtual drive with its label and its secrets.

use super::Cli;
use keyway_testkit::wait_until;
use std::os::unix::fs::MetadataExt;

/// A new virtual drive, `@drive`, its label's PSID and the passwords in files, and the program.
pub(crate) fn made() -> Cli {
    let cli = Cli::new();
    let made = cli.json(0, "drive emulate @drive --size 32M");
    for (name, secret) in [
        ("pw", "user's password"),
        ("admin", "owner's password"),
        ("new", "another one"),
        ("psid", made["psid"].as_str().expect("a label")),
        ("serial", made["serial"].as_str().expect("a label")),
    ] {
        cli.keyway.secret(name, secret);
    }
    cli
}

/// The same, set up with passwords of our own.
pub(crate) fn set_up() -> Cli {
    let cli = made();
    cli.ends(0, "drive setup @drive --password-file @pw --admin-password-file @admin");
    cli
}

/// Waits for who has the drive's file locked: a program that another test starts just now inherits what this process has
/// open, and keeps it until it runs.
pub(crate) fn is_let_go(cli: &Cli) {
    let inode = std::fs::metadata(cli.path("drive")).expect("the drive").ino();
    let locked = || std::fs::read_to_string("/proc/locks").expect("Linux").contains(&format!(":{inode} "));
    wait_until("nobody has the drive's file locked", || !locked());
}

/// The owner.
pub(crate) const ADMIN: &str = "--password-file @admin";
/// The user who unlocks.
pub(crate) const USER: &str = "--password-file @pw";
