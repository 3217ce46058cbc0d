//! The Linux kernel's own NVMe driver, in the guest, on a volume that `keyway serve --nvme-tcp` shows on a TCP
//! port of the host: what it reads is what is in the volume, and what it writes is there afterwards. Where the host asks
//! for a secret, who does not know it gets nothing.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, require_tool, sha256_of};
use std::ffi::{OsStr, OsString};

/// The whole disk's hash before and after 4 MiB of it are written, and some of them discarded.
const SCRIPT: &str = r#"
modprobe nvme-tcp
modprobe -a sha256_generic hmac 2>/dev/null
connect() { echo "transport=tcp,traddr=10.0.2.2,trsvcid=$(cat port),nqn=nqn.2026-11.keyway:volume,nr_io_queues=4$1" >/dev/nvme-fabrics; }
if [ -e secret ]; then
    connect "" && exit 5
    connect ",dhchap_secret=$(cat wrong)" && exit 6
    connect ",dhchap_secret=$(cat secret)" || exit 7
else
    connect "" || exit 8
fi
until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
sha256sum </dev/nvme0n1 | cut -d' ' -f1 >before
dd if=/dev/urandom of=written bs=1M count=4 2>/dev/null
dd if=written of=/dev/nvme0n1 bs=1M seek=3 oflag=direct 2>/dev/null || exit 1
blkdiscard -o 16777216 -l 1048576 /dev/nvme0n1 || exit 2
sync
dd if=/dev/nvme0n1 bs=1M skip=3 count=4 iflag=direct 2>/dev/null | cmp - written || exit 3
nvme security-recv /dev/nvme0 --secp=0 --spsp=0 --size=512 --al=512 2>&1 | grep -qi 'invalid' || exit 4
"#;

#[test]
fn the_kernels_driver_and_keyway_read_each_other() {
    judge(None);
}

#[test]
fn a_volume_is_served_to_whom_knows_the_secret() {
    // Keys of 32 bytes, with their check.
    judge(Some((
        "DHHC-1:00:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:",
        "DHHC-1:00:CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQlGwA0N:",
    )));
}

/// Serves a volume to the guest, to everybody or to whom knows the first secret and not the second.
fn judge(secrets: Option<(&str, &str)>) {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), SCRIPT);
    let volume = keyway.volume("24M");
    let before = volume.plain();

    let words = ["serve", "--json", "--background", "--nvme-tcp", "127.0.0.1:0"];
    let mut serve: Vec<OsString> = words.iter().map(OsString::from).chain([volume.path().into()]).collect();
    if let Some((secret, wrong)) = secrets {
        job.put("secret", secret);
        job.put("wrong", wrong);
        serve.extend(["--nvme-secret".into(), job.path().join("secret").into()]);
    }
    let printed = keyway.ok(serve.into_iter().chain(volume.secret().iter().cloned()));
    let answer: serde_json::Value = serde_json::from_slice(&printed).expect("JSON");
    assert_eq!(answer["attachment"], "nvme-tcp");
    let address = answer["socket"].as_str().expect("an address");
    job.put("port", address.rsplit(':').next().expect("a port"));

    let ran = Guest::new().run(job.path());
    keyway.ok([OsStr::new("close"), volume.path().as_os_str()]);
    let Some(ran) = ran else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = String::from_utf8(job.take("before")).expect("text");
    assert_eq!(said.trim(), sha256_of(before.as_slice()));
    let written = job.take("written");
    let after = volume.plain();
    let at = 3 << 20;
    assert!(after[at..at + written.len()] == written[..], "what was written");
    assert!(after[..at] == before[..at], "what was not");
}
