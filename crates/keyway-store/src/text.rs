//! Files that hold text, as no volume does.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// So much of a file tells.
const LOOK: u64 = 4096;

/// Whether what is at `path` is a file that begins otherwise than text does: noise as a VeraCrypt volume is, or with the zeros
/// that are in every disk's first sectors. What can't be read is not known to be that.
pub fn is_no_text(path: &Path) -> bool {
    let mut begins = Vec::new();
    let opened = path.is_file().then(|| File::open(path).ok()).flatten();
    let read = opened.map(|file| file.take(LOOK).read_to_end(&mut begins));
    let text = match std::str::from_utf8(&begins) {
        Ok(_) => true,
        // A letter that goes on behind what was read.
        Err(e) => e.error_len().is_none() && begins.len() as u64 == LOOK,
    };
    matches!(read, Some(Ok(_))) && (!text || begins.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_and_zeros_are_no_text() {
        let path = std::env::temp_dir().join(format!("keyway-text-{}", std::process::id()));
        let mut cut = vec![b'a'; LOOK as usize - 1];
        cut.extend("ü".as_bytes());
        let cases: [(&[u8], bool); 6] = [
            (b"", false),
            (b"a log\n", false),
            (&cut, false),
            (&[0; 512], true),
            (&[0xc3, 0x28], true),
            (&[0xc3], true),
        ];
        for (bytes, is_none) in cases {
            std::fs::write(&path, bytes).expect("written");
            assert_eq!(is_no_text(&path), is_none, "{bytes:?}");
        }
        std::fs::remove_file(&path).expect("removed");
        assert!(!is_no_text(&path));
    }
}
