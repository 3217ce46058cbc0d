//! The Linux kernel's own NBD client, in the guest, on a volume that `keyway serve` shows on a TCP
//! port of the host: what it reads is what was written here, and the other way round.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, Rng, require_tool, sha256_of};
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

#[test]
fn the_kernels_client_and_keyway_read_each_other() {
    let (Some(_), Some(debugfs), Some(nbdcopy)) =
        (require_tool("qemu-system-x86_64"), require_tool("debugfs"), require_tool("nbdcopy"))
    else {
        return;
    };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_nbd.sh"));
    let volume = keyway.volume("24M");
    let len = volume.plain().len();
    let content = keyway.secret("content", Rng::new(70).bytes(len));

    let words = ["serve", "--json", "--background", "--allow-discards", "--nbd", "tcp:127.0.0.1:0"];
    let serve = words.iter().map(OsString::from).chain([volume.path().into()]);
    let printed = keyway.ok(serve.chain(volume.secret().iter().cloned()));
    let answer: serde_json::Value = serde_json::from_slice(&printed).expect("JSON");
    let address = answer["socket"].as_str().expect("an address");
    let port = address.rsplit(':').next().expect("a port");
    job.put("port", port);
    // Another client before it, so that all of the volume is known.
    let copied =
        Command::new(nbdcopy).arg(&content).arg(format!("nbd://{address}")).status().expect("nbdcopy runs");
    assert!(copied.success());

    let ran = Guest::new().run(job.path());
    keyway.ok([OsStr::new("close"), volume.path().as_os_str()]);
    let Some(ran) = ran else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = job.said();
    assert_eq!(said["bytes"], len.to_string());
    assert_eq!(said["before"], sha256_of(std::fs::read(&content).expect("it is there").as_slice()));
    assert!(said["trimmed"].contains("bytes) trimmed"), "{}", said["trimmed"]);

    let plain = keyway.secret("plain", volume.plain());
    for name in ["written", "lines"] {
        let found = Command::new(&debugfs)
            .args(["-R", &format!("cat /{name}")])
            .arg(&plain)
            .stderr(Stdio::null())
            .output()
            .expect("debugfs runs");
        assert!(found.stdout == job.take(name), "{name} differs");
    }
}
