//! The example that makes a container and attaches it: what a client writes through its socket is in the volume.
use crate::{PASSWORD, example};
use keyway::{SecretBytes, Volume};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

/// A client's connection (the NBD protocol, "Fixed newstyle negotiation"), and the export's size.
fn connect(socket: &Path) -> (UnixStream, u64) {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).expect("a greeting");
    assert_eq!(greeting.get(..16), Some(&b"NBDMAGICIHAVEOPT"[..]));
    // Flags: fixed newstyle, no zeroes; option 1: the export without a name.
    let hello = [&3_u32.to_be_bytes()[..], b"IHAVEOPT", &1_u32.to_be_bytes(), &0_u32.to_be_bytes()].concat();
    stream.write_all(&hello).expect("it hears");
    let (mut size, mut flags) = ([0; 8], [0; 2]);
    stream.read_exact(&mut size).and_then(|()| stream.read_exact(&mut flags)).expect("an export");
    (stream, u64::from_be_bytes(size))
}

/// A request (0: read, 1: write, 2: disconnect) at the beginning of the export.
fn request(stream: &mut UnixStream, kind: u16, length: usize, data: &[u8]) {
    let header = [
        &0x2560_9513_u32.to_be_bytes()[..],
        &0_u16.to_be_bytes(),
        &kind.to_be_bytes(),
        &7_u64.to_be_bytes(),
        &0_u64.to_be_bytes(),
        &(length as u32).to_be_bytes(),
        data,
    ];
    stream.write_all(&header.concat()).expect("it hears");
    if kind < 2 {
        let mut reply = [0; 16];
        stream.read_exact(&mut reply).expect("a reply");
        let good = [&0x6744_6698_u32.to_be_bytes()[..], &0_u32.to_be_bytes(), &7_u64.to_be_bytes()].concat();
        assert_eq!(reply[..], good);
    }
}

#[test]
fn a_client_of_the_example_reads_and_writes_the_volume() {
    let folder = tempfile::tempdir().expect("a folder");
    let [volume, password, socket] = ["secret.hc", "password.txt", "s"].map(|name| folder.path().join(name));
    std::fs::write(&password, PASSWORD).expect("room");
    let mut serving = example("attach_nbd")
        .arg(&volume)
        .arg("1")
        .args([&password, &socket])
        .env("KEYWAY_RUNTIME_DIR", folder.path().join("run"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let output = serving.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("it says where");
    let (mut client, size) = connect(&socket);
    assert_eq!(line, format!("{size} bytes at {}\n", socket.display()));

    let written = [0x5a; 512];
    request(&mut client, 1, 512, &written);
    request(&mut client, 0, 512, &[]);
    let mut read = [0; 512];
    client.read_exact(&mut read).expect("data");
    assert_eq!(read, written);
    request(&mut client, 2, 0, &[]);

    let pid = i32::try_from(serving.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::TERM).expect("ours");
    assert!(serving.wait().expect("it ends").success());
    let opened = Volume::open(&volume, &SecretBytes::copy_of(PASSWORD)).expect("the same password");
    let mut sector = [0; 512];
    opened.device.read_at(&mut sector, 0).expect("there");
    assert_eq!(sector, written);
}
