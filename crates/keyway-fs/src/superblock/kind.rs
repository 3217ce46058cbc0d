//! Which file systems are known.

use keyway_error::enum_table;
use std::fmt;

enum_table! {
    /// A family of file systems.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum FileSystemKind {
        /// ext2, ext3 and ext4.
        Ext("ext4", "ext4"),
        /// NTFS.
        Ntfs("NTFS", "ntfs"),
        /// exFAT.
        ExFat("exFAT", "exfat"),
        /// FAT12, FAT16 and FAT32.
        Fat("FAT", "vfat"),
        /// XFS.
        Xfs("XFS", "xfs"),
        /// Btrfs.
        Btrfs("Btrfs", "btrfs"),
        /// F2FS.
        F2fs("F2FS", "f2fs"),
        /// SquashFS.
        SquashFs("SquashFS", "squashfs"),
        /// HFS+ and HFSX.
        HfsPlus("HFS+", "hfsplus"),
        /// ISO 9660.
        Iso9660("ISO 9660", "iso9660"),
    }
    /// The name.
    pub name: &'static str,
    /// The type as `mount -t` takes it. One driver mounts ext2, ext3 and ext4.
    pub mount_type: &'static str,
}

impl FileSystemKind {
    /// What puts an NTFS in order: Windows' own program.
    pub(crate) const CHKDSK: &'static str = "chkdsk";

    /// The command that puts one in order, the file or device left out that it is on. An NTFS is Windows' own to repair.
    pub const fn repaired_by(self) -> &'static str {
        match self {
            Self::Ext => "e2fsck -f",
            // Without an option it only looks.
            Self::ExFat => "fsck.exfat -y",
            Self::Fat => "fsck.fat -a",
            Self::Xfs => "xfs_repair",
            Self::Btrfs => "btrfs check",
            Self::Ntfs => Self::CHKDSK,
            Self::F2fs => "fsck.f2fs -a",
            Self::HfsPlus => "fsck.hfsplus",
            Self::SquashFs | Self::Iso9660 => "fsck",
        }
    }
}

impl fmt::Display for FileSystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
