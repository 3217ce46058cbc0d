//! A drive with sectors that can't be read, as a guest's kernel sees it: the first ends an encryption and is named, and
//! `--skip-unreadable` gives up these sectors and nothing else. cryptsetup reads the result.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::{Guest, Job, Keyway, Rng, require_tool, sha256_of};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const SECTOR: usize = 512;

/// Ends with whoever started it.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_drive_with_bad_sectors_is_encrypted_without_them() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let cli = Cli::new();
    let mut big = Rng::new(7).bytes(6 << 20);
    let folder = cli.path("content");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("big"), &big).expect("written");
    let Some(()) = cli.make("d", 24 << 20, "mkfs.ext4", &["-q", "-F", "-d", folder.to_str().expect("text")])
    else {
        return;
    };
    let image = std::fs::read(cli.path("d")).expect("read");
    // In the file, so that the file system's own things are whole: two side by side, and one elsewhere.
    let place = |at: usize| {
        let wanted = &big[at..at + SECTOR];
        image.chunks(SECTOR).position(|sector| sector == wanted).expect("the file is in the image")
    };
    let lost = [1 << 20, (1 << 20) + SECTOR, 5 << 20];
    let mut sectors = lost.map(place);
    sectors.sort_unstable();
    // What is moved begins with its end: the last one is met first.
    let met_first: Vec<String> = sectors.iter().rev().map(ToString::to_string).collect();

    let Some(nbdkit) = require_tool("nbdkit") else { return };
    let bad: Vec<String> = sectors.iter().map(|n| (n * SECTOR).to_string()).collect();
    std::fs::rename(cli.path("d"), cli.path("image")).expect("renamed");
    std::fs::write(cli.path("bad"), bad.join("\n") + "\n").expect("written");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guest_unreadable_drive.sh");
    let socket = cli.path("socket");
    let drive = cli.path("image").parent().expect("a folder").to_owned();
    let mut server = Command::new(nbdkit);
    server.args(["-f", "-U"]).arg(&socket).args(["sh", script]).env("DRIVE", drive);
    let server = Server(server.spawn().expect("nbdkit starts"));
    let since = Instant::now();
    while UnixStream::connect(&socket).is_err() {
        assert!(since.elapsed() < Duration::from_secs(30), "nbdkit does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }

    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_unreadable.sh"));
    job.program(env!("CARGO_BIN_EXE_keyway"));
    job.put("password", PASSWORD);
    job.put("sectors", met_first.join("\n") + "\n");
    let address = format!("nbd+unix:///?socket={}", socket.display());
    let Some(ran) = Guest::new().disk(&address).qemu("-cpu").qemu("Nehalem,+aes").run(job.path()) else {
        return;
    };
    drop(server);
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let bad = std::fs::read_to_string(cli.path("bad")).expect("read");
    assert_eq!(bad, "", "each was written; the guest said:\n{}", ran.output);
    for at in lost {
        big[at..at + SECTOR].fill(0);
    }
    let list: String = sectors.iter().map(|n| format!("{0} 512 {0};", n * SECTOR)).collect();
    let expected = [
        ("refused.code", "1".to_owned()),
        ("refused.place", "1".to_owned()),
        ("refused.step", "1".to_owned()),
        ("resumed.code", "0".to_owned()),
        ("resumed.bytes", "1536".to_owned()),
        ("resumed.list", list),
        ("resumed.told", "1".to_owned()),
        ("judge.opened", "0".to_owned()),
        ("judge.content", sha256_of(&big[..])),
        ("judge.clean", "0".to_owned()),
    ];
    let said = job.said();
    for (key, value) in expected {
        let found = said.get(key).map_or("", String::as_str);
        assert_eq!(found, value, "{key}; the guest said:\n{}", ran.output);
    }
}
