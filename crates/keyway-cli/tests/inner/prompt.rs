//! A password is typed and edited as on any terminal.

use super::*;

fn typed(keys: &[u8]) -> Option<Vec<u8>> {
    match read_line(&mut &keys[..]).expect("memory reads") {
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
}

#[test]
fn a_line_has_an_end() {
    assert!(typed(&[b'x'; LINE_LIMIT]).is_some());
    assert!(typed(&[b'x'; LINE_LIMIT + 1]).is_none());
}
