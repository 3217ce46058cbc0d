//! Lists the files in a VeraCrypt volume that lies on a web server, of which only what is needed is fetched.
//!
//! `cargo run --example own_store -- localhost:8000 secret.hc password.txt`
use keyway::secrets::SecretFrom;
use keyway::{Key, OpenOptions, ReadOnlyStore};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

struct Web {
    host: String,
    path: String,
}

impl Web {
    /// Fills `buf` from an offset in the file on, and tells how long all of it is.
    fn get(&self, buf: &mut [u8], offset: u64) -> io::Result<u64> {
        let Self { host, path } = self;
        let mut server = TcpStream::connect(host)?;
        let last = offset + buf.len() as u64 - 1;
        write!(server, "GET /{path} HTTP/1.0\r\nHost: {host}\r\nRange: bytes={offset}-{last}\r\n\r\n")?;
        let (mut answer, mut line, mut size) = (BufReader::new(server), String::new(), None);
        while answer.read_line(&mut line)? > 2 {
            if let Some(range) = line.to_lowercase().strip_prefix("content-range: bytes ") {
                size = range.trim().split('/').nth(1).and_then(|all| all.parse().ok());
            }
            line.clear();
        }
        answer.read_exact(buf)?;
        size.ok_or_else(|| io::Error::other("the server gives no ranges"))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, path, password_file] = arguments.as_slice() else {
        return Err("name a web server, a volume on it, and a file with its password".into());
    };
    let web = Web { host: host.clone(), path: path.clone() };
    let size = web.get(&mut [0], 0)?;
    let store = ReadOnlyStore::new(path, size, move |buf: &mut [u8], offset| web.get(buf, offset).map(drop));
    let key = Key::VeraCrypt(SecretFrom::File(password_file.into()).read()?.into());
    let mut files = OpenOptions::new().open_store(Box::new(store), &key)?.into_files()?;
    for entry in files.entries(&files.root())?.entries {
        println!("{:>12}  {}", entry.size, entry.name.display());
    }
    Ok(())
}
