//! What lies on a drive that encrypts by itself: software that uses the drive's own encryption says so in its metadata.

use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_volume::bitlocker;
use rustix::fs::FileType;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::{self, Display};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The first bytes of a LUKS header, and its version 2 (LUKS2 On-Disk Format Specification 1.1, 2.1).
const LUKS2: &[u8] = b"LUKS\xba\xbe\x00\x02";
/// Bytes of LUKS2's binary header, behind which its JSON lies.
const LUKS2_BINARY: u64 = 4096;
/// The largest LUKS2 header (as above, table 1), in bytes.
const LUKS2_LARGEST: u64 = 4 << 20;

/// A value as its own words.
pub(super) fn words<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// What is on a drive that has to do with encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DriveContents {
    /// LUKS2, and drive and software both encrypt.
    Luks2Both,
    /// LUKS2, and the drive alone encrypts.
    Luks2Drive,
    /// LUKS2, and the software alone encrypts.
    Luks2Software,
    /// BitLocker, and the software alone encrypts: by this method.
    BitLocker(String),
    /// BitLocker, by a method that is not known here: it may be the drive's own.
    BitLockerUnknown,
}

impl Display for DriveContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Luks2Both => {
                f.write_str("LUKS2 with OPAL: the drive and dm-crypt both encrypt (cryptsetup --hw-opal)")
            }
            Self::Luks2Drive => {
                f.write_str("LUKS2 with OPAL: the drive alone encrypts (cryptsetup --hw-opal-only)")
            }
            Self::Luks2Software => f.write_str("LUKS2, encrypted by software"),
            Self::BitLocker(method) => write!(f, "BitLocker, encrypted by software ({method})"),
            Self::BitLockerUnknown => f.write_str(
                "BitLocker, by a method that Keyway does not know: it may be the drive's own (eDrive)",
            ),
        }
    }
}

impl Serialize for DriveContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl DriveContents {
    /// What is on a device, where it can be read.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let kind = FileType::from_raw_mode(path.metadata().ok()?.mode());
        if kind != FileType::BlockDevice {
            return None;
        }
        Self::on(&FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered).ok()?)
    }

    /// What is on a medium.
    pub(crate) fn on(store: &dyn Store) -> Option<Self> {
        if let Some(kinds) = luks2_segments(store) {
            let has = |kind: &str| kinds.iter().any(|k| k == kind);
            return Some(match (has("hw-opal-crypt"), has("hw-opal")) {
                (true, _) => Self::Luks2Both,
                (false, true) => Self::Luks2Drive,
                (false, false) => Self::Luks2Software,
            });
        }
        if !bitlocker::is_volume(store).unwrap_or_default() {
            return None;
        }
        let seen = bitlocker::look(store);
        Some(seen.map_or(Self::BitLockerUnknown, |seen| {
            Self::BitLocker(seen.info.cipher.windows_name().to_string())
        }))
    }
}

/// The kinds of a LUKS2 header's segments; `None` where there is none.
fn luks2_segments(store: &dyn Store) -> Option<Vec<String>> {
    let mut head = [0u8; 512];
    store.read_at(&mut head, 0).ok()?;
    if !head.starts_with(LUKS2) {
        return None;
    }
    let size = u64::from_be_bytes(head.get(8..16)?.try_into().ok()?);
    if !(LUKS2_BINARY + 1..=LUKS2_LARGEST).contains(&size) {
        return None;
    }
    let mut json = vec![0u8; usize::try_from(size - LUKS2_BINARY).ok()?];
    store.read_at(&mut json, LUKS2_BINARY).ok()?;
    let text = json.split(|b| *b == 0).next()?;
    let header: Value = serde_json::from_slice(text).ok()?;
    let segments = header.get("segments")?.as_object()?;
    Some(segments.values().filter_map(|s| Some(s.get("type")?.as_str()?.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn luks2(json: &str) -> Option<DriveContents> {
        let mut bytes = vec![0u8; 64 << 10];
        bytes[..8].copy_from_slice(LUKS2);
        bytes[8..16].copy_from_slice(&(16384u64).to_be_bytes());
        bytes[4096..4096 + json.len()].copy_from_slice(json.as_bytes());
        DriveContents::on(&MemStore::from_vec(bytes))
    }

    #[test]
    fn luks2_says_who_encrypts() {
        assert_eq!(luks2(r#"{"segments":{"0":{"type":"hw-opal-crypt"}}}"#), Some(DriveContents::Luks2Both));
        let alone = luks2(r#"{"segments":{"0":{"type":"hw-opal","opal_segment_number":1}}}"#);
        assert_eq!(alone, Some(DriveContents::Luks2Drive));
        assert_eq!(luks2(r#"{"segments":{"0":{"type":"crypt"}}}"#), Some(DriveContents::Luks2Software));
        assert_eq!(luks2("{"), None);
        assert_eq!(DriveContents::on(&MemStore::from_vec(vec![0u8; 1 << 20])), None);
    }
}
