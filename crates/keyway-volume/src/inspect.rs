//! What can be said of a file or device without a secret: its size, and whether it is plainly
//! something else.

use crate::veracrypt::{HEADER_BYTES, HeaderLocation};
use crate::{NotAVolume, VolumeError};
use keyway_fs::{FileSystemKind, Superblock};
use keyway_store::Store;
use serde::Serialize;

/// Fewer different byte values than this among 512 random bytes happen once in 10^40 or so: 221
/// are expected, with a standard deviation of 5.
const LEAST_DIFFERENT: usize = 150;

/// Fewer bytes than this has no volume: TrueCrypt's first release made none below 19 KB, VeraCrypt makes none below 292 KiB.
const LEAST_BYTES: u64 = 16 << 10;

/// What is known without a secret.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// Size of the file or device.
    pub store_bytes: u64,
    /// Its sector size.
    pub sector_bytes: u32,
    /// The places whose bytes look random, as a header does; what they are only a secret tells.
    pub possible_headers: Vec<HeaderLocation>,
    /// Why it is plainly not a volume, if it is.
    #[serde(skip)]
    pub not_a_volume: Option<NotAVolume>,
    /// A BitLocker volume's metadata lies in it. Who knows all formats looks.
    #[serde(skip)]
    pub has_metadata: bool,
}

/// Looks at a file or device without a secret. A VeraCrypt or TrueCrypt volume can't be told from
/// random bytes, so this never says that something *is* one.
pub fn inspect(store: &dyn Store) -> Result<Inspection, VolumeError> {
    let mut possible_headers = Vec::new();
    for place in HeaderLocation::ALL {
        if let Some(offset) = place.offset(store.size()) {
            let mut bytes = [0; HEADER_BYTES];
            store.read_at(&mut bytes, offset)?;
            if looks_random(&bytes) {
                possible_headers.push(place);
            }
        }
    }
    let not_a_volume = if possible_headers.is_empty() || store.size() < LEAST_BYTES {
        Some(plainly_not(store)?)
    } else {
        in_front(store, possible_headers.contains(&HeaderLocation::Primary)).map(NotAVolume::FileSystem)
    };
    Ok(Inspection {
        store_bytes: store.size(),
        sector_bytes: store.sector_bytes(),
        possible_headers,
        not_a_volume,
        has_metadata: false,
    })
}

/// The file system that lies in front of something in which other places look random: what was encrypted once has noise in its
/// free space. A mark of a few bytes may be noise itself, and is believed there only with a size that the medium has.
fn in_front(store: &dyn Store, noise_in_front: bool) -> Option<&'static str> {
    let found = Superblock::read(store).ok().flatten()?;
    (!noise_in_front || found.bytes.is_some()).then(|| file_system(found.kind))
}

/// Whether bytes could be a salt and cipher text.
pub(crate) fn looks_random(bytes: &[u8; HEADER_BYTES]) -> bool {
    let mut seen = [false; 256];
    for byte in bytes {
        if let Some(slot) = seen.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
    seen.iter().filter(|seen| **seen).count() >= LEAST_DIFFERENT
}

/// Says why something in which no place looks like a header is not a volume.
pub(crate) fn plainly_not(store: &dyn Store) -> Result<NotAVolume, VolumeError> {
    let size = store.size();
    if size == 0 {
        return Ok(NotAVolume::Empty);
    }
    if size < HEADER_BYTES as u64 {
        return Ok(NotAVolume::TooSmall(size));
    }
    let mut start = [0; HEADER_BYTES];
    store.read_at(&mut start, 0)?;
    if let Some((_, name)) =
        KNOWN.iter().find(|((at, magic), _)| start.get(*at..).is_some_and(|b| b.starts_with(magic)))
    {
        return Ok(NotAVolume::Known(name));
    }
    // What can't be read further behind is not known by that.
    if let Some(found) = Superblock::read(store).ok().flatten() {
        return Ok(NotAVolume::FileSystem(file_system(found.kind)));
    }
    if size < LEAST_BYTES {
        return Ok(NotAVolume::TooSmall(size));
    }
    let zeros = start.iter().all(|byte| *byte == 0);
    Ok(if zeros { NotAVolume::Zeros } else { NotAVolume::NotRandom })
}

/// A name for the file system that lies there unencrypted.
const fn file_system(kind: FileSystemKind) -> &'static str {
    match kind {
        FileSystemKind::Fat => "a FAT file system",
        FileSystemKind::ExFat => "an exFAT file system",
        FileSystemKind::Ntfs => "an NTFS file system",
        FileSystemKind::Xfs => "an XFS file system",
        FileSystemKind::Btrfs => "a Btrfs file system",
        FileSystemKind::Ext => "an ext file system",
        FileSystemKind::F2fs => "an F2FS file system",
        FileSystemKind::SquashFs => "a SquashFS file system",
        FileSystemKind::HfsPlus => "an HFS+ file system",
        FileSystemKind::Iso9660 => "an ISO 9660 file system",
        _ => "a file system",
    }
}

/// What people try to open by mistake: where its magic lies, the magic, what it is.
const KNOWN: [((usize, &[u8]), &str); 3] = [
    ((3, b"-FVE-FS-"), "a BitLocker header"),
    ((0, b"LUKS\xba\xbe"), "a LUKS header"),
    ((0, b"\x7fELF"), "a program's header"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn reason(bytes: Vec<u8>) -> Option<NotAVolume> {
        inspect(&MemStore::from_vec(bytes)).expect("memory").not_a_volume
    }

    #[test]
    fn what_is_plainly_no_volume_is_named() {
        assert_eq!(reason(vec![]), Some(NotAVolume::Empty));
        assert_eq!(reason(vec![1; 511]), Some(NotAVolume::TooSmall(511)));
        let noise: Vec<u8> = (0..1000u32).map(|at| (at * 7 % 251) as u8).collect();
        assert_eq!(reason(noise), Some(NotAVolume::TooSmall(1000)));
        assert_eq!(reason(vec![0; 1 << 20]), Some(NotAVolume::Zeros));
        assert_eq!(reason(vec![b'x'; 1 << 20]), Some(NotAVolume::NotRandom));
        let mut luks = vec![0; 1 << 20];
        luks[..6].copy_from_slice(b"LUKS\xba\xbe");
        assert_eq!(reason(luks), Some(NotAVolume::Known("a LUKS header")));
    }

    #[test]
    fn a_file_system_in_front_is_one_whatever_its_free_space_looks_like() {
        let mut bytes = vec![0; 1 << 20];
        getrandom::fill(&mut bytes).expect("random");
        bytes[..512].fill(0);
        bytes[3..11].copy_from_slice(b"NTFS    ");
        bytes[11..13].copy_from_slice(&512u16.to_le_bytes());
        bytes[40..48].copy_from_slice(&2047u64.to_le_bytes());
        assert_eq!(reason(bytes.clone()), Some(NotAVolume::FileSystem("an NTFS file system")));
        // What is no larger than its mark says nothing in noise.
        let mut noise = bytes;
        getrandom::fill(&mut noise[..2048]).expect("random");
        noise[0x400..0x404].copy_from_slice(&[0x10, 0x20, 0xf5, 0xf2]);
        assert_eq!(reason(noise), None);
    }

    #[test]
    fn random_bytes_could_be_anything() {
        let mut bytes = vec![0; 1 << 20];
        getrandom::fill(&mut bytes).expect("random");
        assert_eq!(reason(bytes), None);
    }
}
