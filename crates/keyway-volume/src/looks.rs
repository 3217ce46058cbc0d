//! What a password that opened nothing looks like: slips that can be seen in its bytes alone.

use keyway_error::Advice;
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// A byte-order mark in UTF-8.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// From so many capitals on it is remarkable that there is nothing else.
const CAPITALS_FROM: usize = 4;

/// What a password looks like: nothing of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Looks {
    /// There is one at all.
    pub given: bool,
    /// It ends as a line does.
    pub line_end: bool,
    /// It has several lines.
    pub lines: bool,
    /// It begins or ends with a blank.
    pub blanks: bool,
    /// It begins with a byte-order mark.
    pub mark: bool,
    /// It is in UTF-16.
    pub utf16: bool,
    /// It is no UTF-8.
    pub not_text: bool,
    /// Its accents are apart from their letters.
    pub decomposed: bool,
    /// It is what Caps Lock makes of small letters.
    pub capitals: bool,
}

impl Looks {
    /// Looks at a password.
    pub fn of(password: &[u8]) -> Self {
        let mut looks = Self { given: !password.is_empty(), ..Self::default() };
        if utf16(password).is_some() {
            looks.utf16 = true;
            return looks;
        }
        let rest = password.strip_prefix(MARK).unwrap_or(password);
        looks.mark = rest.len() < password.len();
        let line = without_line_end(rest);
        looks.line_end = line.len() < rest.len();
        let Ok(text) = std::str::from_utf8(line) else {
            looks.not_text = true;
            return looks;
        };
        looks.lines = text.contains('\n');
        looks.blanks = text.trim().len() < text.len();
        looks.decomposed = is_nfc_quick(text.chars()) != IsNormalized::Yes;
        looks.capitals = in_capitals(text);
        looks
    }

    /// What to do about it; nothing where there was no password.
    pub(crate) fn advice(self) -> Vec<Advice> {
        let seen = [
            (self.utf16, Advice::PasswordInUtf16),
            (self.mark, Advice::PasswordHasMark),
            (self.line_end, Advice::PasswordHasLineEnd),
            (self.lines, Advice::PasswordHasLines),
            (self.blanks, Advice::PasswordHasBlanks),
            (self.not_text, Advice::PasswordNotText),
            (self.decomposed, Advice::PasswordDecomposed),
            (self.capitals, Advice::PasswordInCapitals),
            (self.given, Advice::TryKeyboardLayout),
        ];
        seen.into_iter().filter_map(|(seen, advice)| seen.then_some(advice)).collect()
    }
}

/// Whether a text is as Caps Lock makes it of small letters, with a capital in front of words or without.
fn in_capitals(text: &str) -> bool {
    let (mut capitals, mut begins) = (0, true);
    for c in text.chars() {
        if c.is_lowercase() && !begins {
            return false;
        }
        capitals += usize::from(c.is_uppercase());
        begins = !c.is_alphabetic();
    }
    capitals >= CAPITALS_FROM
}

/// What stands in front of the line ends that it ends with.
pub fn without_line_end(password: &[u8]) -> &[u8] {
    let end = password.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'));
    password.get(..end.map_or(0, |at| at + 1)).unwrap_or_default()
}

/// The units of UTF-16 that it consists of, where it does: by its mark, or because every other byte is zero. A newline that
/// was dropped from its end leaves a byte too many or too few.
pub fn utf16(password: &[u8]) -> Option<impl Iterator<Item = u16> + Clone + '_> {
    let (bytes, big) = match password {
        [0xff, 0xfe, rest @ ..] => (rest, false),
        [0xfe, 0xff, rest @ ..] => (rest, true),
        [0, second, ..] if *second != 0 => (password, true),
        [first, 0, ..] if *first != 0 => (password, false),
        _ => return None,
    };
    let marked = bytes.len() < password.len();
    let zero = usize::from(!big);
    let every_other = || bytes.iter().skip(zero).step_by(2).all(|byte| *byte == 0) && bytes.len() > 2;
    if !marked && !every_other() {
        return None;
    }
    Some(bytes.as_chunks::<2>().0.iter().map(move |unit| match big {
        true => u16::from_be_bytes(*unit),
        false => u16::from_le_bytes(*unit),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(password: &[u8]) -> Vec<Advice> {
        let mut advice = Looks::of(password).advice();
        assert_eq!(advice.pop(), Some(Advice::TryKeyboardLayout));
        advice
    }

    fn wide(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn each_slip_is_seen() {
        use Advice as A;
        for (password, slips) in [
            (b"correct horse".as_slice(), vec![]),
            (b"secret\r", vec![A::PasswordHasLineEnd]),
            (b"secret\n", vec![A::PasswordHasLineEnd]),
            (b"secret\nanother", vec![A::PasswordHasLines]),
            (b"secret\r\n\r\nanother\r", vec![A::PasswordHasLineEnd, A::PasswordHasLines]),
            (b" secret", vec![A::PasswordHasBlanks]),
            (b"secret \r\n", vec![A::PasswordHasLineEnd, A::PasswordHasBlanks]),
            ("\u{a0}secret".as_bytes(), vec![A::PasswordHasBlanks]),
            ("\u{feff}secret".as_bytes(), vec![A::PasswordHasMark]),
            (b"stra\xdfe", vec![A::PasswordNotText]),
            ("Gru\u{308}n".as_bytes(), vec![A::PasswordDecomposed]),
            ("Gr\u{fc}n".as_bytes(), vec![]),
            (b"SECRET-7", vec![A::PasswordInCapitals]),
            (b"sECRET-7", vec![A::PasswordInCapitals]),
            ("zO\u{c9}-zAHLT".as_bytes(), vec![A::PasswordInCapitals]),
            (b"Secret-7", vec![]),
            (b"ABC-7", vec![]),
        ] {
            assert_eq!(seen(password), slips, "{password:?}");
        }
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(seen(&wide("\u{feff}secret\r\n", unit)), [A::PasswordInUtf16]);
            assert_eq!(seen(&wide("secret", unit)), [A::PasswordInUtf16]);
        }
        assert!(Looks::of(b"").advice().is_empty());
    }

    #[test]
    fn nothing_makes_it_panic() {
        let mut bytes = Vec::new();
        for byte in [0, 0xff, 0xfe, 0xef, 0xbb, 0xbf, b'\r', b'a', 0, 0, 0xd8] {
            bytes.push(byte);
            Looks::of(&bytes);
            for from in 0..bytes.len() {
                Looks::of(&bytes[from..]);
            }
        }
    }
}
