//! GUIDs as Windows stores them: the first three fields little-endian, the last two as they are
//! written.

use keyway_error::explain;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A GUID, in the order of its bytes on the medium.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guid(pub [u8; 16]);

/// Where the bytes on the medium stand in the text.
const TEXT_ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

impl Guid {
    /// A new random one (version 4, as `UuidCreate` makes them).
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        // The version is the high half of the third field, whose high byte is stored second.
        bytes[7] = bytes[7] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Ok(Self(bytes))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, at) in TEXT_ORDER.into_iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{:02x}", self.0.get(at).copied().unwrap_or_default())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What was read is no GUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a GUID")]
pub struct NotAGuid(String);

explain!(NotAGuid => [Usage Request, WriteGuid]);

impl FromStr for Guid {
    type Err = NotAGuid;

    fn from_str(text: &str) -> Result<Self, NotAGuid> {
        let wrong = || NotAGuid(text.to_owned());
        let bare = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
        let dashes = bare.bytes().enumerate().all(|(i, b)| (b == b'-') == matches!(i, 8 | 13 | 18 | 23));
        if bare.len() != 36 || !dashes {
            return Err(wrong());
        }
        let mut digits = bare.chars().filter(|c| *c != '-').map(|c| c.to_digit(16));
        let mut bytes = [0; 16];
        for at in TEXT_ORDER {
            let (Some(Some(high)), Some(Some(low)), Some(slot)) =
                (digits.next(), digits.next(), bytes.get_mut(at))
            else {
                return Err(wrong());
            };
            *slot = (high << 4 | low) as u8;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Guid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_one_windows_prints() {
        // The identifier of the volumes' boot sectors, as its bytes lie there.
        let guid = Guid(*b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01");
        assert_eq!(guid.to_string(), "4967d63b-2e29-4ad8-8399-f6a339e3d001");
        assert_eq!("4967d63b-2e29-4ad8-8399-f6a339e3d001".parse(), Ok(guid));
        assert_eq!("{4967D63B-2E29-4AD8-8399-F6A339E3D001}".parse(), Ok(guid));
    }

    #[test]
    fn what_is_no_guid_is_refused() {
        for text in
            ["", "4967d63b", "4967d63b-2e29-4ad8-8399-f6a339e3d00g", "4967d63b2e29-4ad8-8399-f6a339e3d0011"]
        {
            assert!(text.parse::<Guid>().is_err(), "{text}");
        }
        assert!("ä967d63b-2e29-4ad8-8399-f6a339e3d00".parse::<Guid>().is_err());
    }

    #[test]
    fn a_random_one_says_so() {
        let text = Guid::random().expect("random").to_string();
        assert_eq!(text.as_bytes()[14], b'4');
        assert!(matches!(text.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }
}
