//! Where a volume's headers lie.

use keyway_error::enum_table;
use std::fmt;

/// Bytes of a header that mean anything: 64 of salt and 448 encrypted.
pub const HEADER_BYTES: usize = 512;

/// Bytes set aside for each header since TrueCrypt 6: 512 used, the rest random.
pub(crate) const HEADER_SPACE_BYTES: u64 = 65_536;

/// Bytes before the data area since TrueCrypt 6: a header and a hidden volume's header.
pub const HEADERS_BYTES: u64 = 2 * HEADER_SPACE_BYTES;

/// Bytes after the data area since TrueCrypt 6: backups of the two.
pub const BACKUP_GROUP_BYTES: u64 = HEADERS_BYTES;

/// Where TrueCrypt before 6.0 put a hidden volume's header, counted from the end.
pub(crate) const OLD_HIDDEN_FROM_END: u64 = 1536;

enum_table! {
    /// One of the places where a header can be, the usual ones first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum HeaderLocation {
        /// Byte 0.
        Primary("primary header"),
        /// Byte 65536: the hidden volume's.
        Hidden("hidden volume's header"),
        /// 131072 bytes before the end: the backup of the primary one.
        BackupPrimary("backup header"),
        /// 65536 bytes before the end: the backup of the hidden volume's.
        BackupHidden("hidden volume's backup header"),
        /// 1536 bytes before the end: a hidden volume's before TrueCrypt 6.
        OldHidden("hidden volume's header at the end"),
        /// Byte 31744 of a drive whose system or system partition is encrypted.
        System("system encryption's header"),
    }
    /// As sentences name it.
    words: &'static str,
}

impl HeaderLocation {
    /// Sector 62 of a drive with an encrypted system.
    pub(crate) const SYSTEM_OFFSET: u64 = 62 * 512;

    /// Offset in a file or device of `store_bytes`, if a header fits there.
    pub fn offset(self, store_bytes: u64) -> Option<u64> {
        let offset = match self {
            Self::Primary => 0,
            Self::Hidden => HEADER_SPACE_BYTES,
            Self::BackupPrimary => store_bytes.checked_sub(BACKUP_GROUP_BYTES)?,
            Self::BackupHidden => store_bytes.checked_sub(HEADER_SPACE_BYTES)?,
            Self::OldHidden => store_bytes.checked_sub(OLD_HIDDEN_FROM_END)?,
            Self::System => Self::SYSTEM_OFFSET,
        };
        (offset.checked_add(HEADER_BYTES as u64)? <= store_bytes).then_some(offset)
    }

    /// Whether this is a copy at the end of the volume.
    pub(crate) fn is_backup(self) -> bool {
        matches!(self, Self::BackupPrimary | Self::BackupHidden)
    }

    /// Whether a hidden volume's header lies here.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Hidden | Self::BackupHidden | Self::OldHidden)
    }

    /// The place of this header's copy, or of the original of this copy.
    pub fn backup(self) -> Option<Self> {
        match self {
            Self::Primary => Some(Self::BackupPrimary),
            Self::Hidden => Some(Self::BackupHidden),
            Self::BackupPrimary => Some(Self::Primary),
            Self::BackupHidden => Some(Self::Hidden),
            Self::OldHidden | Self::System => None,
        }
    }
}

impl fmt::Display for HeaderLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_lies_inside_or_nowhere() {
        for size in (0..2048).chain(30_000..34_000).chain(65_000..67_000).chain(131_000..133_000) {
            for place in HeaderLocation::ALL {
                if let Some(offset) = place.offset(size) {
                    assert!(offset + 512 <= size, "{place:?} in {size}");
                }
            }
        }
        assert_eq!(HeaderLocation::BackupPrimary.offset(1 << 20), Some((1 << 20) - 131_072));
        assert_eq!(HeaderLocation::OldHidden.offset(1 << 20), Some((1 << 20) - 1536));
        assert_eq!(HeaderLocation::Primary.offset(511), None);
        assert_eq!(HeaderLocation::BackupPrimary.offset(u64::MAX), Some(u64::MAX - 131_072));
    }
}
