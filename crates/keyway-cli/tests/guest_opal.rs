//! Judges of the virtual drive other than ourselves, in the guest: a Linux kernel's NVMe driver and its
//! sed-opal, sedutil, and cryptsetup with `--hw-opal`; and cryptsetup's own test suite for drives with Opal
//! (`tests/compat-test-opal` of its source), where `KEYWAY_CRYPTSETUP_OPAL_TEST` names that file.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod drive_support;

use drive_support::Served;
use keyway_testkit::{leave_out, require_tool};

#[test]
fn a_kernel_sedutil_and_cryptsetup_take_it_for_a_drive() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let served = Served::new("guest_opal.sh", "256M", &[]);
    let suite = std::env::var_os("KEYWAY_CRYPTSETUP_OPAL_TEST");
    if let Some(suite) = &suite {
        std::fs::copy(suite, served.job.path().join("suite")).expect("cryptsetup's test suite");
    } else {
        leave_out("cryptsetup's own suite, without KEYWAY_CRYPTSETUP_OPAL_TEST");
    }
    if served.judge() {
        assert_eq!(served.told("said.tsv").contains("cryptsetup-suite\tok"), suite.is_some());
        eprint!("{}", served.told("suite.log"));
    }
}

#[test]
fn a_kernel_uses_single_user_mode() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let served = Served::new("guest_single_user.sh", "256M", &[]);
    served.note("opal.py", include_str!("guest_single_user.py"));
    served.judge();
}

#[test]
fn sedutil_and_keyway_read_an_enterprise_drive() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    Served::new("guest_enterprise.sh", "64M", &["--profile", "enterprise"]).judge();
}
