//! Which file systems are known.

use std::fmt;

/// A family of file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileSystemKind {
    /// ext2, ext3 and ext4.
    Ext,
    /// NTFS.
    Ntfs,
    /// exFAT.
    ExFat,
    /// FAT12, FAT16 and FAT32.
    Fat,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// F2FS.
    F2fs,
    /// SquashFS.
    SquashFs,
    /// HFS+ and HFSX.
    HfsPlus,
    /// ISO 9660.
    Iso9660,
}

impl FileSystemKind {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext => "ext4",
            Self::Ntfs => "NTFS",
            Self::ExFat => "exFAT",
            Self::Fat => "FAT",
            Self::Xfs => "XFS",
            Self::Btrfs => "Btrfs",
            Self::F2fs => "F2FS",
            Self::SquashFs => "SquashFS",
            Self::HfsPlus => "HFS+",
            Self::Iso9660 => "ISO 9660",
        }
    }

    /// The type as `mount -t` takes it. One driver mounts ext2, ext3 and ext4.
    pub const fn mount_type(self) -> &'static str {
        match self {
            Self::Ext => "ext4",
            Self::Ntfs => "ntfs",
            Self::ExFat => "exfat",
            Self::Fat => "vfat",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::F2fs => "f2fs",
            Self::SquashFs => "squashfs",
            Self::HfsPlus => "hfsplus",
            Self::Iso9660 => "iso9660",
        }
    }
}

impl fmt::Display for FileSystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
