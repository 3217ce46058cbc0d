//! The TPM of a stock kernel: `keyway` in the guest opens a volume of Windows by `/dev/tpmrm0`.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod tpm_support;

use keyway_testkit::{Guest, Job, Keyway, Swtpm, require_tool};
use keyway_tpm::Pcrs;
use std::ffi::OsStr;
use tpm_support::{Asks, add_protector, windows};

/// Register 11 is the one that neither the guest's firmware nor its kernel measures into.
const UNTOUCHED: &str = "11";

/// Runs in the guest. The wrong PIN must be counted by the TPM, and other tools must see that.
const SCRIPT: &str = r#"
export LC_ALL=C
failures() {
    tpm2_getcap properties-variable | sed -n 's/TPM2_PT_LOCKOUT_COUNTER: //p'
}
[ -c /dev/tpmrm0 ] || { echo "no TPM in the guest"; exit 20; }
chmod +x keyway
./keyway cat --tpm --pin-file pin --length 1048576 /dev/vda >plain || exit 21
before=$(failures)
./keyway info --tpm --pin-file wrong --json /dev/vda >wrong.json
[ $? = 3 ] || exit 22
echo $(($(failures) - before)) >counted
# The device without the kernel's resource manager: what is left behind stays there.
./keyway info --tpm=/dev/tpm0 --pin-file pin /dev/vda >/dev/null || exit 23
tpm2_getcap handles-transient -T device:/dev/tpm0 >left
tpm2_getcap handles-loaded-session -T device:/dev/tpm0 >>left
tpm2_pcrextend 11:sha256=0101010101010101010101010101010101010101010101010101010101010101
./keyway info --tpm --pin-file pin --json /dev/vda >measured.json
[ $? = 5 ] || exit 24
"#;

#[test]
fn a_stock_kernels_tpm_opens_a_volume() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let (Some(volume), Some(mut swtpm)) = (windows(), Swtpm::start()) else { return };
    let pcrs: Pcrs = UNTOUCHED.parse().expect("a register");
    add_protector(&volume, &swtpm, Asks { pcrs, pin: Some("87654321"), startup_key: None });

    let folder = tempfile::tempdir().expect("a folder");
    let job = Job::new(folder.path().join("job"), SCRIPT);
    let read = |name: &str| std::fs::read_to_string(job.path().join(name)).unwrap_or_default();
    job.program(env!("CARGO_BIN_EXE_keyway"));
    job.put("pin", b"87654321\n");
    job.put("wrong", b"87654320");

    let mut guest = Guest::new().disk(&volume.file.path().to_string_lossy());
    for argument in swtpm.give_to_guest() {
        guest = guest.qemu(&argument);
    }
    let Some(run) = guest.run(job.path()) else { return };
    assert_eq!(run.code, Some(0), "the guest said:\n{}", run.output);
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let password = keyway.secret("password", "anaconda");
    let by_password = [
        OsStr::new("cat"),
        "--length=1048576".as_ref(),
        "--password-file".as_ref(),
        password.as_os_str(),
        volume.file.path().as_os_str(),
    ];
    let plain = std::fs::read(job.path().join("plain")).expect("what the guest read");
    assert!(plain == keyway.ok(by_password), "the guest read something else");
    assert_eq!(read("counted").trim(), "1");
    assert_eq!(read("left").trim(), "", "nothing is left in the chip");
    assert!(read("wrong.json").contains("wrong-pin"), "{}", read("wrong.json"));
    assert!(read("measured.json").contains("measurements-changed"), "{}", read("measured.json"));
}
