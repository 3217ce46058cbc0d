//! Volumes as disks of a virtual machine over vhost-user: the guest's kernel reads what was written
//! here, and the other way round.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, Volume, require_tool, sha256_of};
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// Serves a volume on a socket; its path.
fn serve(keyway: &Keyway, volume: &Volume<'_>, option: &str) -> String {
    let words = ["serve", "--json", "--background", option, "--vhost-user"].into_iter().map(OsString::from);
    let words = words.chain([keyway.path("socket").into()]);
    let words = words.chain([volume.path().into()]).chain(volume.secret().iter().cloned());
    let printed = keyway.ok(words);
    let answer: serde_json::Value = serde_json::from_slice(&printed).expect("JSON");
    assert_eq!(answer["attachment"], "vhost-user");
    answer["socket"].as_str().expect("a socket").to_owned()
}

/// What makes a guest whose memory can be shared, with two such disks.
fn disks(mut guest: Guest, sockets: [&str; 2]) -> Guest {
    let memory = "memory-backend-memfd,id=shared,size=1024M,share=on";
    for argument in ["-object", memory, "-machine", "memory-backend=shared"] {
        guest = guest.qemu(argument);
    }
    for (n, socket) in sockets.into_iter().enumerate() {
        let socket = format!("socket,id=disk{n},path={socket}");
        let device = format!("vhost-user-blk-pci,chardev=disk{n},num-queues=2");
        for argument in ["-chardev", &socket, "-device", &device] {
            guest = guest.qemu(argument);
        }
    }
    guest
}

#[test]
fn a_guest_and_keyway_read_each_other() {
    let (Some(_), Some(debugfs)) = (require_tool("qemu-system-x86_64"), require_tool("debugfs")) else {
        return;
    };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_vhost.sh"));
    let another = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let (volume, other) = (keyway.volume("24M"), another.volume("2M"));
    let before = [&volume, &other].map(|volume| sha256_of(volume.plain().as_slice()));
    let sockets = [serve(&keyway, &volume, "--allow-discards"), serve(&another, &other, "--read-only")];
    let guest = disks(Guest::new(), sockets.each_ref().map(String::as_str));
    let ran = guest.run(job.path());
    keyway.ok([OsStr::new("close"), volume.path().as_os_str()]);
    another.ok([OsStr::new("close"), other.path().as_os_str()]);
    let Some(ran) = ran else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = job.said();
    assert_eq!(said["bytes"], volume.plain().len().to_string());
    assert_eq!((said["sector"].as_str(), said["serial"].as_str()), ("512", "keyway"));
    assert_eq!((&said["before"], &said["second"]), (&before[0], &before[1]));
    assert_eq!(said["read_only"], "1");
    assert!(!said.contains_key("refused"), "a read-only volume was written to");
    assert_eq!(said["zeroed"], "0");
    assert!(said["trimmed"].contains("bytes) trimmed"), "{}", said["trimmed"]);
    assert_eq!(sha256_of(other.plain().as_slice()), before[1]);

    let plain = keyway.secret("plain", volume.plain());
    for name in ["written", "lines", "parts"] {
        let found = Command::new(&debugfs)
            .args(["-R", &format!("cat /{name}")])
            .arg(&plain)
            .stderr(Stdio::null())
            .output()
            .expect("debugfs runs");
        assert!(found.stdout == job.take(name), "{name} differs");
    }
}
