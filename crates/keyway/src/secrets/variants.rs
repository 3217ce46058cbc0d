//! Other spellings of a password that opened nothing: what a file had around it, another encoding, Caps Lock, another keyboard
//! layout. There are few of them, each is tried once, and which one it was is told without telling the password.

use super::Sources;
use crate::error::Error;
use crate::progress::{Note, Progress};
use crate::unlock::{Key, UnlockArguments};
use crate::variant::Variant;
use crate::volume::OpenOptions;
use keyway_error::{Explain, Kind};
use keyway_secret::{SecretBytes, wipe_stack};
use keyway_volume::VolumeError;
use keyway_volume::bitlocker::BitLockerError;
use keyway_volume::looks::{MARK, utf16, without_line_end};
use std::path::Path;
use unicode_normalization::UnicodeNormalization;

/// What the keys of the main block give, row by row, without Shift and with it.
type Layout = [&'static str; 2];

/// United States.
const QWERTY: Layout =
    ["`1234567890-=qwertyuiop[]\\asdfghjkl;'zxcvbnm,./", "~!@#$%^&*()_+QWERTYUIOP{}|ASDFGHJKL:\"ZXCVBNM<>?"];
/// Germany.
const QWERTZ: Layout =
    ["^1234567890ß´qwertzuiopü+#asdfghjklöäyxcvbnm,.-", "°!\"§$%&/()=?`QWERTZUIOPÜ*'ASDFGHJKLÖÄYXCVBNM;:_"];
/// France.
const AZERTY: Layout =
    ["²&é\"'(-è_çà)=azertyuiop^$*qsdfghjklmùwxcvbn,;:!", "~1234567890°+AZERTYUIOP¨£µQSDFGHJKLM%WXCVBN?./§"];

/// The layouts: which one it was typed on, and which one was meant.
const LAYOUTS: [(Variant, Layout, Layout); 6] = [
    (Variant::QwertyToQwertz, QWERTY, QWERTZ),
    (Variant::QwertzToQwerty, QWERTZ, QWERTY),
    (Variant::QwertyToAzerty, QWERTY, AZERTY),
    (Variant::AzertyToQwerty, AZERTY, QWERTY),
    (Variant::QwertzToAzerty, QWERTZ, AZERTY),
    (Variant::AzertyToQwertz, AZERTY, QWERTZ),
];

/// The other spellings of a password that differ from it and from each other: those that are likelier first.
fn variants(password: &[u8]) -> Vec<(Variant, SecretBytes)> {
    let mut all: Vec<(Variant, SecretBytes)> = Vec::new();
    let mut add = |variant, other: SecretBytes| {
        let known = password == &*other || all.iter().any(|(_, known)| **known == *other);
        if !known && !other.is_empty() {
            all.push((variant, other));
        }
    };
    // What lies around it goes first, one after the other; everything else is tried on what is left.
    let mut base = SecretBytes::copy_of(password);
    if let Some(units) = utf16(password) {
        base = of(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        let unmarked = std::str::from_utf8(&base).is_ok_and(|text| text.starts_with('\u{feff}'));
        base = SecretBytes::copy_of(base.get(if unmarked { MARK.len() } else { 0 }..).unwrap_or_default());
        add(Variant::Utf16, SecretBytes::copy_of(without_line_end(&base)));
    }
    if let Some(rest) = base.strip_prefix(MARK) {
        base = SecretBytes::copy_of(rest);
        add(Variant::NoMark, SecretBytes::copy_of(&base));
    }
    base = SecretBytes::copy_of(without_line_end(&base));
    add(Variant::NoLineEnd, SecretBytes::copy_of(&base));
    if std::str::from_utf8(&base).is_err() {
        base = of(base.iter().map(|byte| char::from(*byte)));
        add(Variant::Latin1, SecretBytes::copy_of(&base));
    }
    if let Ok(text) = std::str::from_utf8(&base) {
        base = SecretBytes::copy_of(text.trim().as_bytes());
        add(Variant::NoBlanks, SecretBytes::copy_of(&base));
    }
    let Ok(text) = std::str::from_utf8(&base) else { return all };
    add(Variant::Composed, of(text.nfc()));
    add(Variant::Decomposed, of(text.nfd()));
    add(Variant::CapsLock, of(text.chars().map(swapped)));
    let first = text.chars().position(char::is_alphabetic);
    let swap_first = |(at, c)| if Some(at) == first { swapped(c) } else { c };
    add(Variant::FirstLetter, of(text.chars().enumerate().map(swap_first)));
    for (variant, typed, meant) in LAYOUTS {
        add(variant, of(text.chars().map(|c| moved(c, typed, meant))));
    }
    wipe_stack();
    all
}

/// Text in locked memory.
fn of(text: impl Iterator<Item = char> + Clone) -> SecretBytes {
    let mut secret = SecretBytes::zeroed(text.clone().map(char::len_utf8).sum());
    let mut at = 0;
    for c in text {
        let Some(room) = secret.get_mut(at..at + c.len_utf8()) else { break };
        c.encode_utf8(room);
        at += c.len_utf8();
    }
    secret
}

/// A small letter for a capital and the other way round, where one letter stands for it.
fn swapped(c: char) -> char {
    let other = match c {
        _ if c.is_lowercase() => only(c.to_uppercase()),
        _ if c.is_uppercase() => only(c.to_lowercase()),
        _ => None,
    };
    other.unwrap_or(c)
}

fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}

/// What the key gives on another layout.
fn moved(c: char, typed: Layout, meant: Layout) -> char {
    let place = |row: &str| row.chars().position(|key| key == c);
    let found = typed.iter().zip(meant).find_map(|(from, to)| to.chars().nth(place(from)?));
    found.unwrap_or(c)
}

impl Sources {
    /// Another spelling of the password, which opens the volume, where the one that was given is wrong and this was asked for.
    /// Each is tried once, for reading; which one it was is told.
    pub(super) fn spelled(
        &self,
        path: &Path,
        arguments: &UnlockArguments,
        given: &SecretBytes,
        key: &dyn Fn(SecretBytes) -> Key,
        progress: &dyn Progress,
    ) -> Result<Option<SecretBytes>, Error> {
        let options = OpenOptions::new().arguments(arguments.clone()).progress(progress);
        let open = |password: SecretBytes| options.open_with(path, &key(password)).map(drop);
        self.spelled_for(given, &open, progress)
    }

    /// The same of what opens in a way of its own.
    pub(crate) fn spelled_for(
        &self,
        given: &SecretBytes,
        open: &dyn Fn(SecretBytes) -> Result<(), Error>,
        progress: &dyn Progress,
    ) -> Result<Option<SecretBytes>, Error> {
        if !self.tries_variants || given.is_empty() {
            return Ok(None);
        }
        // That a password is wrong; nothing where it opens. What else fails is told by whoever wants the key.
        let refused = |password: &SecretBytes| match open(SecretBytes::copy_of(password)) {
            Err(Error::Stopped) => Err(Error::Stopped),
            Err(e) if is_wrong(&e) => Ok(Some(e)),
            Ok(()) | Err(_) => Ok(None),
        };
        let Some(wrong) = refused(given)? else { return Ok(None) };
        let all = variants(given);
        let count = all.len();
        progress.note(&Note::Variants(count));
        for (variant, password) in all {
            if refused(&password)?.is_none() {
                progress.note(&Note::OpenedAs(variant));
                return Ok(Some(password));
            }
        }
        Err(Error::NoVariant { count, error: Box::new(wrong) })
    }
}

/// Whether another password might do.
fn is_wrong(error: &Error) -> bool {
    match error {
        Error::At { error, .. } => is_wrong(error),
        Error::VeraCrypt(error) => {
            matches!(error, VolumeError::WrongSecret { .. } | VolumeError::PasswordTooLong { .. })
        }
        Error::BitLocker(error) => {
            matches!(error, BitLockerError::WrongPassword(..) | BitLockerError::NotUtf8(_))
        }
        Error::Conversion(error) => error.explain().kind == Kind::WrongSecret,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(password: &[u8], wanted: Variant) -> Option<Vec<u8>> {
        let all = variants(password);
        all.into_iter().find(|(variant, _)| *variant == wanted).map(|(_, password)| password.to_vec())
    }

    #[test]
    fn rows_have_a_key_for_each_key() {
        for layout in [QWERTY, QWERTZ, AZERTY] {
            assert_eq!(layout.map(|row| row.chars().count()), [47, 47]);
        }
    }

    #[test]
    fn each_slip_is_undone() {
        use Variant as V;
        let wide: Vec<u8> = "\u{feff}Grün-7\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (given, variant, meant) in [
            (b"Zoo-7\r".as_slice(), V::NoLineEnd, "Zoo-7"),
            (b"Zoo-7\r\n\r", V::NoLineEnd, "Zoo-7"),
            (b"\xef\xbb\xbfZoo-7\r", V::NoLineEnd, "Zoo-7"),
            (b"\xef\xbb\xbfZoo-7", V::NoMark, "Zoo-7"),
            (b"  Zoo 7\t\r", V::NoBlanks, "Zoo 7"),
            (b"stra\xdfe", V::Latin1, "straße"),
            (&wide, V::Utf16, "Grün-7"),
            ("Gru\u{308}n".as_bytes(), V::Composed, "Gr\u{fc}n"),
            ("Gr\u{fc}n".as_bytes(), V::Decomposed, "Gru\u{308}n"),
            (b"zOO-7", V::CapsLock, "Zoo-7"),
            (b"\xef\xbb\xbfzOO-7\r", V::CapsLock, "Zoo-7"),
            (b"7 Zoo", V::FirstLetter, "7 zoo"),
            (b"Zoo-7", V::QwertyToQwertz, "Yooß7"),
            ("Yooß7".as_bytes(), V::QwertzToQwerty, "Zoo-7"),
            (b"Zoo-7", V::QwertyToAzerty, "Woo)è"),
            ("Woo)è".as_bytes(), V::AzertyToQwerty, "Zoo-7"),
            (b"Zoo-7", V::QwertzToAzerty, "Yoo!è"),
            ("Yoo!è".as_bytes(), V::AzertyToQwertz, "Zoo-7"),
        ] {
            assert_eq!(found(given, variant).as_deref(), Some(meant.as_bytes()), "{variant:?}");
        }
    }

    #[test]
    fn there_are_few_of_them_and_each_once() {
        for given in
            [b"".as_slice(), b"7", b"  \r", b"\xff\xfe", b"\xff\xfea", b"\0a\0", &[0xc3; 4096], b"Zoo-7\r"]
        {
            let all = variants(given);
            assert!(all.len() <= Variant::ALL.len());
            for (at, (_, one)) in all.iter().enumerate() {
                assert!(!one.is_empty() && **one != *given);
                assert!(all.iter().skip(at + 1).all(|(_, other)| **other != **one));
            }
        }
        assert!(variants(b"").is_empty());
    }
}
