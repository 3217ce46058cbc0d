//! The first sector of a volume: a decoy for programs that know no BitLocker, and where the
//! metadata is.
//!
//! ```text
//!                      Windows 7 and later   To Go (FAT)        Windows Vista
//! offset size
//!      0    3           eb 58 90              eb 58 90           eb 52 90
//!      3    8           "-FVE-FS-"            "MSWIN4.1"         "-FVE-FS-"
//!     11    2  bytes per sector
//!     13    1  sectors per cluster
//!     56    8                                                    cluster of the metadata
//!    160   16  GUID                           (424)
//!    176   24  offsets of the metadata        (440)
//!    200   16  with the second GUID: offsets of the encrypt-on-write information
//!    510    2  55 aa
//! ```
//!
//! The GUID is 4967d63b-2e29-4ad8-8399-f6a339e3d001, or 92a84d3b-dd80-4d0e-9e4e-b1e3284eaed8 for
//! volumes whose conversion keeps a bitmap (encrypt-on-write).
//!
//! Source: libbde's format description; dissect.fve for the second GUID and for looking for the
//! GUIDs anywhere in the sector, as Windows' driver does; checked with the volumes that Windows
//! made.

use super::guid::Guid;
use super::reader::Reader;

/// Bytes that are looked at.
pub const BOOT_SECTOR_BYTES: usize = 512;

/// What a volume's boot sector has at byte 3; a To Go drive has "MSWIN4.1" there.
pub const OEM: [u8; 8] = *b"-FVE-FS-";

/// What the boot sector of a To Go drive has at byte 3.
pub(crate) const OEM_TO_GO: [u8; 8] = *b"MSWIN4.1";

/// What a backup file starts with.
pub(crate) const BACKUP_SIGNATURE: [u8; 8] = *b"KEYWAYBL";

/// Marks the three offsets of the metadata: 4967d63b-2e29-4ad8-8399-f6a339e3d001.
pub const INFORMATION: Guid = Guid(*b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01");

/// Marks them where two offsets of encrypt-on-write information follow:
/// 92a84d3b-dd80-4d0e-9e4e-b1e3284eaed8.
pub const INFORMATION_EOW: Guid = Guid(*b"\x3b\x4d\xa8\x92\x80\xdd\x0e\x4d\x9e\x4e\xb1\xe3\x28\x4e\xae\xd8");

/// Where Windows 7 and later put the GUID.
pub const GUID_AT: usize = 160;

/// Where a To Go drive has it.
pub(crate) const GUID_AT_TO_GO: usize = 424;

/// What Windows Vista's begins with; those of others jump further.
const VISTA_JUMP: [u8; 3] = [0xeb, 0x52, 0x90];

/// Where Windows Vista puts the metadata's cluster.
const VISTA_CLUSTER_AT: usize = 56;

/// The first sector's template up to its boot loader's end; the OEM name (at 3) and the file system's fields are put
/// over it. The loader prints the messages below and waits for a key; no other sector has it.
pub(super) const TEMPLATE: [u8; 137] = *b"\
    \xeb\x58\x90\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf8\0\0\x3f\0\xff\0\0\0\0\0\
    \0\0\0\0\xe0\x1f\0\0\0\0\0\0\0\0\0\0\x01\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \x80\0\x29\0\0\0\0NO NAME    FAT32   \x33\xc9\x8e\xd1\xbc\xf4\
    \x7b\x8e\xc1\x8e\xd9\xbd\0\x7c\xa0\xfb\x7d\xb4\x7d\x8b\xf0\xac\
    \x98\x40\x74\x0c\x48\x74\x0e\xb4\x0e\xbb\x07\0\xcd\x10\xeb\xef\
    \xa0\xfd\x7d\xeb\xe6\xcd\x16\xcd\x19";

/// What the loader prints.
pub(super) const MESSAGES_AT: usize = 0x100;
pub(super) const MESSAGES: &[u8] =
    b"\r\nRemove disks or other media.\xff\r\nDisk error\xff\r\nPress any key to restart\r\n";

/// Where the loader's code begins, behind the fields.
const LOADER_AT: usize = 90;

/// Bytes of the loader that may differ, and it still is this one.
const LOADER_MAY_DIFFER: usize = 4;

/// Whose boot sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootKind {
    /// Windows Vista and Server 2008.
    Vista,
    /// Windows 7 and later.
    Windows7,
    /// A removable drive with FAT: the decoy is a FAT file system that can be mounted.
    ToGo,
}

/// A volume's first sector.
#[derive(Clone, PartialEq, Eq)]
pub struct BootSector {
    bytes: [u8; BOOT_SECTOR_BYTES],
    /// Whose it is.
    pub kind: BootKind,
    /// Bytes per sector: 512 to 4096.
    pub sector_bytes: u32,
    /// Bytes per cluster of the decoy (Windows Vista: of the file system).
    pub cluster_bytes: u32,
    /// Where the metadata's copies are; Windows Vista names the first only, the others are 0.
    pub copies: [u64; 3],
    /// Where the copies of the encrypt-on-write information are.
    pub eow: Option<[u64; 2]>,
}

/// Why a sector is no BitLocker volume's first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BootFault {
    /// Neither GUID and no signature.
    #[error("there is no BitLocker signature")]
    NotBitLocker,
    /// A sector size that there is not.
    #[error("its boot sector says that a sector has {0} bytes")]
    SectorBytes(u16),
    /// Nor is a copy of the metadata anywhere else.
    #[error("there is no BitLocker signature, and no copy of the metadata anywhere in it")]
    Nowhere,
    /// It has the signature, but not the GUID that the metadata's offsets follow.
    #[error("its boot sector does not say where the metadata is")]
    NoPlaces,
    /// The metadata's offsets are cut off by the end of the sector.
    #[error("its boot sector ends within the metadata's offsets")]
    Short,
}

impl BootSector {
    /// Whether this could be a BitLocker volume's first sector, damaged or not.
    pub(crate) fn is_candidate(bytes: &[u8]) -> bool {
        // A backup has the first sector behind its own table.
        !bytes.starts_with(&BACKUP_SIGNATURE)
            && (bytes.get(3..11) == Some(&OEM)
                || has_windows_loader(bytes)
                || find(bytes, &INFORMATION.0).is_some()
                || find(bytes, &INFORMATION_EOW.0).is_some())
    }

    /// Reads a volume's first sector.
    ///
    /// # Errors
    /// It is none, or it is damaged.
    pub fn parse(bytes: &[u8; BOOT_SECTOR_BYTES]) -> Result<Self, BootFault> {
        if !Self::is_candidate(bytes) {
            return Err(BootFault::NotBitLocker);
        }
        let mut r = Reader(bytes.get(11..).unwrap_or_default());
        let (sector, per_cluster) = r.u16().zip(r.array::<1>().map(|[n]| n)).ok_or(BootFault::Short)?;
        if !matches!(sector, 512 | 1024 | 2048 | 4096) {
            return Err(BootFault::SectorBytes(sector));
        }
        let sector_bytes = u32::from(sector);
        let cluster_bytes = sector_bytes * u32::from(per_cluster.max(1));
        // One name may be damaged; the GUID's place tells the same.
        let to_go_guid = || find(bytes, &INFORMATION.0) == Some(GUID_AT_TO_GO);
        let kind = match bytes.get(3..11) {
            Some(name) if name == OEM => BootKind::Windows7,
            Some(name) if name == OEM_TO_GO || to_go_guid() => BootKind::ToGo,
            _ => BootKind::Windows7,
        };
        let offsets = |at: usize| Reader(bytes.get(at + 16..).unwrap_or_default());
        let sector =
            |kind, copies, eow| Self { bytes: *bytes, kind, sector_bytes, cluster_bytes, copies, eow };
        if let Some(at) = find(bytes, &INFORMATION_EOW.0) {
            let mut r = offsets(at);
            let mut five = || Some(([r.u64()?, r.u64()?, r.u64()?], [r.u64()?, r.u64()?]));
            let (copies, eow) = five().ok_or(BootFault::Short)?;
            return Ok(sector(kind, copies, Some(eow)));
        }
        if let Some(at) = find(bytes, &INFORMATION.0) {
            let mut r = offsets(at);
            let mut three = || Some([r.u64()?, r.u64()?, r.u64()?]);
            return Ok(sector(kind, three().ok_or(BootFault::Short)?, None));
        }
        if !bytes.starts_with(&VISTA_JUMP) {
            return Err(BootFault::NoPlaces);
        }
        let cluster =
            Reader(bytes.get(VISTA_CLUSTER_AT..).unwrap_or_default()).u64().ok_or(BootFault::Short)?;
        let first = cluster.saturating_mul(u64::from(cluster_bytes));
        Ok(sector(BootKind::Vista, [first, 0, 0], None))
    }

    /// Puts other offsets of the metadata into the first sector `sector`, which is this one.
    pub(crate) fn put_copies(&self, copies: [u64; 3], sector: &mut [u8]) {
        let guid = if self.eow.is_some() { INFORMATION_EOW } else { INFORMATION };
        let Some(at) = find(&self.bytes, &guid.0) else { return };
        for (slot, offset) in
            sector.iter_mut().skip(at + 16).zip(copies.into_iter().flat_map(u64::to_le_bytes))
        {
            *slot = offset;
        }
    }

    /// The sector as it was read.
    pub fn bytes(&self) -> &[u8; BOOT_SECTOR_BYTES] {
        &self.bytes
    }
}

/// Whether the sector has the loader that those of BitLocker volumes have, and no other sector.
pub(super) fn has_windows_loader(sector: &[u8]) -> bool {
    let code = TEMPLATE.iter().enumerate().skip(LOADER_AT);
    let messages = (MESSAGES_AT..).zip(MESSAGES);
    code.chain(messages).filter(|(at, byte)| sector.get(*at) != Some(byte)).count() <= LOADER_MAY_DIFFER
}

fn find(bytes: &[u8], guid: &[u8; 16]) -> Option<usize> {
    bytes.windows(16).position(|window| window == guid)
}
