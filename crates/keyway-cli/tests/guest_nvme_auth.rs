//! A judge of the controller's in-band authentication other than ourselves: the Linux kernel's own NVMe driver, in the
//! guest. Who knows the secret gets the disk, on every queue; who does not gets nothing.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod drive_support;

use drive_support::Served;
use keyway_testkit::require_tool;

#[test]
fn the_kernels_driver_proves_the_secret_or_is_not_let_in() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    // Two keys of 32 bytes, with their check; the second is transformed by SHA-256.
    let host = "DHHC-1:00:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:";
    let controller = "DHHC-1:01:CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQlGwA0N:";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("secret");
    std::fs::write(&file, format!("{host}\n{controller}\n")).expect("the secrets");
    let served =
        Served::new("guest_nvme_auth.sh", "64M", &["--nvme-secret", file.to_str().expect("a path of ours")]);
    served.note("host", host);
    served.note("controller", controller);
    served.judge();
}
