//! exFAT's names: compared through the volume's own table of capitals (7.2), and found by a hash of these (7.6.4).

use super::damaged;
use crate::exfat::{sum16, sum32};
use crate::files::error::FilesError;
use crate::files::window::Window;
use std::ffi::OsStr;

/// Letters that the table is about.
const LETTERS: usize = 1 << 16;
/// Bytes of a table at most: no part of it is shortened.
pub(super) const LARGEST: u64 = 2 * LETTERS as u64;
/// What stands before the number of letters that are their own capitals (7.2.5.1).
const THEMSELVES: u16 = 0xffff;

/// The capital of each letter.
pub(super) struct Capitals(Vec<u16>);

impl Capitals {
    /// Reads the table, which lies in these places, in order.
    pub(super) fn read(window: &Window, places: &[(u64, usize)], sum: u32) -> Result<Self, FilesError> {
        let mut table = Vec::new();
        for (at, len) in places {
            let mut piece = vec![0; *len];
            window.read_exact_at(&mut piece, *at).map_err(FilesError::from_io)?;
            table.extend(piece);
        }
        if sum32(table.iter().copied()) != sum {
            return Err(damaged("its table of capital letters"));
        }
        Ok(Self(expanded(&table)))
    }

    /// A name as it is compared.
    pub(super) fn of(&self, name: &[u16]) -> Vec<u16> {
        name.iter().map(|unit| self.0.get(usize::from(*unit)).copied().unwrap_or(*unit)).collect()
    }
}

fn expanded(table: &[u8]) -> Vec<u16> {
    let mut all: Vec<u16> = Vec::with_capacity(LETTERS);
    let mut units = table.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
    while let Some(unit) = units.next() {
        match unit {
            THEMSELVES if all.len() + 1 < LETTERS => {
                let count = usize::from(units.next().unwrap_or_default());
                let end = all.len().saturating_add(count).min(LETTERS);
                all.extend((all.len()..end).map(|letter| letter as u16));
            }
            unit => all.push(unit),
        }
    }
    all.truncate(LETTERS);
    all
}

/// The hash of a name in capitals.
pub(super) fn hash(capitals: &[u16]) -> u16 {
    sum16(capitals.iter().flat_map(|unit| unit.to_le_bytes()))
}

/// A name's units, where it is one that exFAT can hold (7.7.3): as in FAT.
pub(super) fn units(name: &OsStr) -> Result<Vec<u16>, FilesError> {
    Ok(crate::files::fat::must_be_name(name)?.encode_utf16().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_table_is_expanded() {
        let table: Vec<u8> =
            [0xffff, 0x61, 0x41, 0x42, 0xffff, 3].into_iter().flat_map(u16::to_le_bytes).collect();
        let capitals = Capitals(expanded(&table));
        let of = |text: &str| String::from_utf16(&capitals.of(&text.encode_utf16().collect::<Vec<_>>())).ok();
        assert_eq!(of("abcd!").as_deref(), Some("ABcd!"));
        assert_eq!(capitals.0.len(), 0x61 + 2 + 3);
        assert_eq!(expanded(&[0xff; 7]).len(), LETTERS);
    }

    #[test]
    fn the_hash_is_the_specifications() {
        // Bytes are added after the sum was turned to the right by one.
        assert_eq!(hash(&[]), 0);
        assert_eq!(hash(&[0x41]), 0x8020);
    }
}
