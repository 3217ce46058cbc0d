//! What lies on a drive that encrypts by itself: software that uses the drive's own encryption says so in
//! its metadata.

use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_volume::bitlocker;
use rustix::fs::FileType;
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The first bytes of a LUKS header, and its version 2 (LUKS2 On-Disk Format Specification 1.1, 2.1).
const LUKS2: &[u8] = b"LUKS\xba\xbe\x00\x02";
/// Bytes of LUKS2's binary header, behind which its JSON lies.
const LUKS2_BINARY: u64 = 4096;
/// The largest LUKS2 header (as above, table 1), in bytes.
const LUKS2_LARGEST: u64 = 4 << 20;

/// What `status` and the others call a drive's own encryption, as Windows does.
pub(crate) const METHOD: &str = "Hardware Encryption";

/// What is on the drive, where it can be read and has to do with hardware encryption.
pub(super) fn contents(path: &Path) -> Option<String> {
    let kind = FileType::from_raw_mode(path.metadata().ok()?.mode());
    if kind != FileType::BlockDevice {
        return None;
    }
    let store = FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered).ok()?;
    on_store(&store)
}

fn on_store(store: &dyn Store) -> Option<String> {
    if let Some(kinds) = luks2_segments(store) {
        let name = |kind: &str| kinds.iter().any(|k| k == kind);
        return if name("hw-opal-crypt") {
            Some("LUKS2 with OPAL: the drive and dm-crypt both encrypt (cryptsetup --hw-opal)".to_owned())
        } else if name("hw-opal") {
            Some("LUKS2 with OPAL: the drive alone encrypts (cryptsetup --hw-opal-only)".to_owned())
        } else {
            Some("LUKS2, encrypted by software".to_owned())
        };
    }
    if bitlocker::is_volume(store).unwrap_or_default() {
        return Some(match bitlocker::look(store) {
            Ok(seen) => format!("BitLocker, encrypted by software ({})", seen.info.cipher.windows_name()),
            Err(_) => "BitLocker, by a method that Keyway does not know: it may be the drive's own (eDrive)"
                .to_owned(),
        });
    }
    None
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

/// How a virtual drive's file begins.
const VIRTUAL: &[u8; 8] = b"KEYWYSED";

/// Whether the path is a drive that locks by itself: a device that the kernel takes for one, or a
/// virtual one's file.
pub(crate) fn is_drive(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    if file.metadata().is_ok_and(|meta| meta.is_file()) {
        let mut head = [0; 8];
        return file.read_exact(&mut head).is_ok() && head == *VIRTUAL;
    }
    keyway_sys::opal_status(&file).is_ok_and(|status| status.supported() && status.locking_enabled())
}

/// Bytes of a drive, 0 where that can't be known.
pub(super) fn size(path: &Path) -> u64 {
    FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered).map_or(0, |store| store.size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn luks2(json: &str) -> Option<String> {
        let mut bytes = vec![0u8; 64 << 10];
        bytes[..8].copy_from_slice(LUKS2);
        bytes[8..16].copy_from_slice(&(16384u64).to_be_bytes());
        bytes[4096..4096 + json.len()].copy_from_slice(json.as_bytes());
        on_store(&MemStore::from_vec(bytes))
    }

    #[test]
    fn luks2_says_who_encrypts() {
        let told = luks2(r#"{"segments":{"0":{"type":"hw-opal-crypt"}}}"#).expect("LUKS2");
        assert!(told.contains("both"), "{told}");
        let told = luks2(r#"{"segments":{"0":{"type":"hw-opal","opal_segment_number":1}}}"#).expect("LUKS2");
        assert!(told.contains("drive alone"), "{told}");
        let told = luks2(r#"{"segments":{"0":{"type":"crypt"}}}"#).expect("LUKS2");
        assert!(told.contains("software"), "{told}");
        assert_eq!(luks2("{"), None);
        assert_eq!(on_store(&MemStore::from_vec(vec![0u8; 1 << 20])), None);
    }
}
