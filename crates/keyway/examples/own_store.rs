//! A volume in a store of one's own: here a file that is read in ranges, as a web server would give it.
//!
//! `cargo run --example own_store -- secret.hc password.txt`
use keyway::secrets::SecretFrom;
use keyway::{Key, OpenOptions, Operation, Store, StoreError, VeraCryptSecret};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What answers "give me these bytes". A web server's answer to `Range: bytes=…` would stand in `fetch`.
struct Ranges {
    file: File,
    size: u64,
    asked: AtomicU64,
}

impl Ranges {
    fn fetch(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.file.read_exact_at(buf, offset)
    }

    fn refused(operation: Operation, offset: u64, len: usize) -> StoreError {
        StoreError::new(operation, "the ranges", offset, len, io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

impl Store for Ranges {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.fetch(buf, offset)
            .map_err(|e| StoreError::new(Operation::Read, "the ranges", offset, buf.len(), e))
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        Err(Ranges::refused(Operation::Write, offset, buf.len()))
    }
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
    fn discard(&self, _offset: u64, _len: u64) -> Result<(), StoreError> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn sector_bytes(&self) -> u32 {
        512
    }
    fn is_read_only(&self) -> bool {
        true
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, password_file] = arguments.as_slice() else {
        return Err("name a VeraCrypt volume, and a file with its password".into());
    };
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let ranges = Arc::new(Ranges { file, size, asked: AtomicU64::new(0) });
    let password = SecretFrom::File(password_file.into()).read()?;
    let key = Key::VeraCrypt(VeraCryptSecret { password, keyfiles: Vec::new(), pim: None });
    let volume = OpenOptions::new().open_store(Box::new(Arc::clone(&ranges)), &key)?;
    let mut first = vec![0; 4096];
    volume.device.read_at(&mut first, 0)?;
    println!(
        "{} bytes; {} ranges were asked for",
        volume.device.size(),
        ranges.asked.load(Ordering::Relaxed)
    );
    Ok(())
}
