//! The example with a store of its own: a volume that another example made, behind a web server.

use crate::{LETTER, PASSWORD, example, printed, put_a_letter};
use keyway::{Access, OpenOptions, SecretBytes, VeraCryptSecret};
use keyway_testkit::require_tool;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives out ranges of one file; where it listens, and how many bytes it gave.
fn serve(file: &Path) -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    let (bytes, given) = (std::fs::read(file).expect("the volume"), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&given);
    std::thread::spawn(move || {
        for mut client in listener.incoming().map(|client| client.expect("a client")) {
            let asked = BufReader::new(&client).lines().map(|line| line.expect("text"));
            let mut ranges = asked.take_while(|line| !line.is_empty()).filter_map(|line| {
                let (first, last) = line.strip_prefix("Range: bytes=")?.split_once('-')?;
                Some((first.parse::<usize>().expect("a number"), last.parse::<usize>().expect("a number")))
            });
            let (first, last) = ranges.next().expect("a range");
            let part = bytes.get(first..=last).expect("of the file");
            count.fetch_add(part.len() as u64, Ordering::Relaxed);
            let all = bytes.len();
            write!(
                client,
                "HTTP/1.0 206 Partial Content\r\nContent-Range: bytes {first}-{last}/{all}\r\n\r\n"
            )
            .and_then(|()| client.write_all(part))
            .expect("it listens");
        }
    });
    (address, given)
}

#[test]
fn a_volume_on_a_web_server_shows_its_files() {
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    let here = tempfile::tempdir().expect("a folder");
    let [volume, password] = ["secret.hc", "password.txt"].map(|name| here.path().join(name));
    std::fs::write(&password, PASSWORD).expect("written");
    let mut making = example("create_container");
    printed(making.arg(&volume).arg("8").arg(&password).args(["aes", "sha512", "fat"]));
    let secret = VeraCryptSecret::from(SecretBytes::copy_of(PASSWORD));
    let writing = OpenOptions::new().access(Access::ReadWrite);
    let opened = writing.open_with(&volume, &secret).expect("the same password");
    put_a_letter(opened);

    let (address, given) = serve(&volume);
    let told = printed(example("own_store").args([&address, "secret.hc"]).arg(&password));
    assert_eq!(told, format!("{:>12}  letter.txt\n", LETTER.len()));
    let given = given.load(Ordering::Relaxed);
    assert!(given < 1 << 20, "{given} bytes were fetched of 8 MiB");
}
