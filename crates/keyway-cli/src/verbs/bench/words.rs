//! The words of `--buffer` and `--threads`.

use crate::size;
use keyway_lab::bench::{Buffers, Threads};

/// Parses a word of `--buffer`.
pub(super) fn buffers(text: &str) -> Result<Buffers, String> {
    if text == "all" {
        return Ok(Buffers::All);
    }
    let bytes = size::parse(text)?;
    match usize::try_from(bytes) {
        Ok(bytes) if (512..=1 << 30).contains(&bytes) && bytes.is_multiple_of(512) => Ok(Buffers::One(bytes)),
        _ => Err("a buffer is a multiple of 512 bytes, at most 1G; try 1M".to_owned()),
    }
}

/// Parses a word of `--threads`.
pub(super) fn threads(text: &str) -> Result<Threads, String> {
    match text.parse() {
        _ if text == "all" => Ok(Threads::All),
        Ok(number @ 1..=1024) => Ok(Threads::Some(number)),
        _ => Err("write a number from 1 to 1024, or all".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_options() {
        assert_eq!(buffers("4K"), Ok(Buffers::One(4096)));
        assert_eq!(buffers("all"), Ok(Buffers::All));
        for wrong in ["0", "511", "513", "2G", "none", ""] {
            assert!(buffers(wrong).is_err(), "{wrong}");
        }
        assert_eq!(threads("3"), Ok(Threads::Some(3)));
        assert_eq!(threads("all"), Ok(Threads::All));
        for wrong in ["0", "1025", "-1", "many", ""] {
            assert!(threads(wrong).is_err(), "{wrong}");
        }
    }
}
