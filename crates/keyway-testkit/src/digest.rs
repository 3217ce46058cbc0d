//! SHA-256 in the form the index files and `sha256sum` print it.

use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// The lower-case hexadecimal SHA-256 of everything `reader` gives.
///
/// # Panics
/// When reading fails.
pub fn sha256_of(mut reader: impl Read) -> String {
    let mut hash = Sha256::new();
    let mut buf = vec![0; 1 << 20];
    loop {
        match reader.read(&mut buf) {
            Ok(0) => break,
            Ok(n) => hash.update(&buf[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => panic!("reading failed: {e}"),
        }
    }
    crate::to_hex(&hash.finalize())
}

/// The same for a file or a block device.
///
/// # Panics
/// When it can't be read.
pub fn sha256_of_file(path: &Path) -> String {
    sha256_of(std::fs::File::open(path).unwrap_or_else(|e| panic!("{} can't be opened: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_published_example_holds() {
        // FIPS 180-4's example "abc".
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::sha256_of(&b"abc"[..]), expected);
    }
}
