//! Containers of other kinds, recognised by their marks: what people name where an encrypted volume belongs, and a volume
//! may be inside of.
//!
//! An encrypted volume may begin with any bytes whatever, so a short mark counts together with the fields around it: noise
//! is taken for a container once in billions of volumes, and who knows better can say so.

mod parse;

use keyway_error::enum_table;
use keyway_store::{AlignedBuf, Store, StoreError};

enum_table! {
    /// A kind of container.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Container {
        /// LUKS, version 1.
        Luks1("luks1", "a LUKS1 volume"),
        /// LUKS, version 2.
        Luks2("luks2", "a LUKS2 volume"),
        /// A physical volume of LVM.
        Lvm("lvm", "a physical volume of LVM"),
        /// A member of a Linux software RAID.
        Raid("raid", "a member of a RAID (md)"),
        /// QEMU's images.
        Qcow2("qcow2", "a qcow2 image"),
        /// VMware's images.
        Vmdk("vmdk", "a VMDK image"),
        /// Virtual PC's images that grow.
        Vhd("vhd", "a VHD image"),
        /// Hyper-V's images.
        Vhdx("vhdx", "a VHDX image"),
        /// VirtualBox's images.
        Vdi("vdi", "a VDI image"),
        /// Expert Witness images.
        Ewf("ewf", "an EnCase image (EWF)"),
        /// gzip.
        Gzip("gzip", "a gzip file"),
        /// xz.
        Xz("xz", "an xz file"),
        /// Zstandard.
        Zstd("zstd", "a zstd file"),
        /// bzip2.
        Bzip2("bzip2", "a bzip2 file"),
        /// LZ4.
        Lz4("lz4", "an LZ4 file"),
        /// ZIP.
        Zip("zip", "a zip archive"),
        /// 7-Zip.
        SevenZip("7z", "a 7z archive"),
        /// RAR.
        Rar("rar", "a RAR archive"),
        /// tar.
        Tar("tar", "a tar archive"),
        /// A virtual drive's file, as Keyway writes it.
        VirtualDrive("virtual-drive", "the file of a virtual drive that encrypts itself"),
        /// A backup of a BitLocker volume's metadata, as Keyway writes it.
        BitLockerBackup("bitlocker-backup", "a backup of a BitLocker volume's metadata"),
    }
    /// Its stable word.
    pub word: &'static str,
    /// What it is, in words.
    pub name: &'static str,
}

/// How much is read at a place.
const PAGE: u64 = 4096;
/// RAID's old superblock lies in the last whole piece of this size (md(4)).
const OLD_RAID: u64 = 64 << 10;

impl Container {
    /// Looks for a container's mark: at the beginning, and a RAID's also at the end.
    ///
    /// # Errors
    /// The medium failed.
    pub fn on(store: &dyn Store) -> Result<Option<Self>, StoreError> {
        let size = store.size();
        let page = |at: u64| -> Result<AlignedBuf, StoreError> {
            let mut page = AlignedBuf::zeroed(size.saturating_sub(at).min(PAGE) as usize);
            if !page.is_empty() {
                store.read_at(&mut page, at)?;
            }
            Ok(page)
        };
        let first = page(0)?;
        if let Some(found) = parse::first_page(&first) {
            return Ok(Some(found));
        }
        // 8 KiB before the end, and down to 4 KiB; the oldest at the end of whole 64 KiB (md(4)).
        let late = (size / 512).checked_sub(16).map(|sector| (sector & !7) * 512);
        let oldest = (size & !(OLD_RAID - 1)).checked_sub(OLD_RAID);
        for at in [Some(0), Some(PAGE), late].into_iter().flatten() {
            if parse::raid(&page(at)?, at / 512) {
                return Ok(Some(Self::Raid));
            }
        }
        let old = oldest.map(page).transpose()?.is_some_and(|page| parse::old_raid(&page));
        Ok(old.then_some(Self::Raid))
    }
}
