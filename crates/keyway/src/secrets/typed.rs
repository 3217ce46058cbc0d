//! A secret that is typed key by key, into locked memory.

use keyway_secret::SecretBytes;
use std::io::{self, Read};

/// What the keys Ctrl and C give.
pub const CONTROL_C: u8 = 0x03;

/// Longest line that is taken, in bytes.
pub const LINE_LIMIT: usize = 1024;

/// What typing led to.
pub enum Typed {
    /// A line, without its end.
    Line(SecretBytes),
    /// Ctrl-C; or Ctrl-D in place of a line.
    Interrupted,
    /// More than [`LINE_LIMIT`] bytes.
    TooLong,
}

impl Typed {
    /// Collects keys up to the end of the line; Backspace, Ctrl-U, Ctrl-C and Ctrl-D do as usual.
    ///
    /// # Errors
    /// The keys can't be read.
    pub fn read(keys: &mut impl Read) -> io::Result<Self> {
        let mut line = SecretBytes::zeroed(LINE_LIMIT);
        let mut key = SecretBytes::zeroed(1);
        let mut len = 0;
        loop {
            match keys.read(&mut key) {
                // As a terminal that is gone.
                Ok(0) if len == 0 => return Ok(Self::Interrupted),
                Ok(0) => break,
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            match key.first().copied().unwrap_or(0) {
                b'\n' | b'\r' => break,
                CONTROL_C => return Ok(Self::Interrupted),
                0x04 if len == 0 => return Ok(Self::Interrupted),
                0x04 => break,
                0x08 | 0x7f => {
                    // One character back: over UTF-8's continuation bytes to its first byte.
                    while len > 0 {
                        len -= 1;
                        if line.get(len).is_none_or(|b| b & 0xc0 != 0x80) {
                            break;
                        }
                    }
                }
                0x15 => len = 0,
                byte => match line.get_mut(len) {
                    Some(place) => {
                        *place = byte;
                        len += 1;
                    }
                    None => return Ok(Self::TooLong),
                },
            }
        }
        line.truncate(len);
        Ok(Self::Line(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[u8]) -> Option<Vec<u8>> {
        match Typed::read(&mut &keys[..]).expect("memory reads") {
            Typed::Line(line) => Some(line.to_vec()),
            Typed::Interrupted | Typed::TooLong => None,
        }
    }

    #[test]
    fn editing_keys_edit() {
        assert_eq!(typed(b"secret\nrest").as_deref(), Some(&b"secret"[..]));
        assert_eq!(typed(b"secrex\x7ft\r").as_deref(), Some(&b"secret"[..]));
        assert_eq!(typed(b"wrong\x15right\n").as_deref(), Some(&b"right"[..]));
        assert_eq!(typed("aé\u{7f}b\n".as_bytes()).as_deref(), Some(&b"ab"[..]));
        assert_eq!(typed(b"\x7f\x7f\n").as_deref(), Some(&b""[..]));
        assert_eq!(typed(b"abc\x03"), None);
        assert_eq!(typed(b"abc\x04").as_deref(), Some(&b"abc"[..]));
        assert_eq!((typed(b"\x04"), typed(b"abc\x15\x04")), (None, None));
    }

    #[test]
    fn a_line_has_an_end() {
        assert!(typed(&[b'x'; LINE_LIMIT]).is_some());
        assert!(typed(&[b'x'; LINE_LIMIT + 1]).is_none());
    }
}
