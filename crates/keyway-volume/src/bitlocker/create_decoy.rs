//! What programs without BitLocker see of a To Go drive: a small FAT32 file system that is full, with
//! a note in it that says what the drive is.
//!
//! It covers the whole volume, so that nobody takes the rest for free space, and all of its clusters
//! but those of the note are marked as bad, so that nothing is ever written there. Windows does the
//! same with files that fill it, and puts its reader program there.
//!
//! Sources: Microsoft's *FAT32 File System Specification*, version 1.03; the choices (33 reserved
//! sectors, one table, the largest clusters of which there are enough for FAT32) are those of the To
//! Go volume that Windows made.

use super::boot::BOOT_SECTOR_BYTES;
use super::create_boot::{to_go_backup, to_go_boot_sector};
use super::create_error::CreateError;

/// Sectors before the table.
const RESERVED: u64 = 33;
/// Fewer clusters would make it a FAT16.
const FEWEST_CLUSTERS: u64 = 65_525;
/// Where the sector with the count of free clusters is, and the copy of the boot sector.
const INFORMATION_SECTOR: u64 = 1;
pub(super) const BACKUP_SECTOR: u64 = 6;

/// Bytes of the fields that describe a FAT32.
const BPB_BYTES: usize = 53;

/// Entries of the table: the media's, a file's end, a bad cluster.
const MEDIA: u32 = 0x0fff_fff8;
const LAST: u32 = 0x0fff_ffff;
const BAD: u32 = 0x0fff_fff7;

/// Number of the first cluster, which holds the root folder.
const ROOT: u32 = 2;

/// The note.
const NAME: &[u8; 11] = b"BITLOCKRTXT";
const NOTE: &[u8] = b"This drive is encrypted with BitLocker.\r\n\r\n\
    Windows 7 and later ask for its password when the drive is opened in Explorer.\r\n\
    On Linux: keyway open DEVICE\r\n\r\n\
    Formatting this drive destroys what is on it.\r\n";

/// Attribute of a read-only file.
const READ_ONLY: u8 = 1;
/// 1980-01-01, the first date that FAT knows.
const FIRST_DAY: u16 = 0x21;

/// The decoy of one volume.
pub(super) struct Decoy {
    sector: u64,
    sectors: u64,
    cluster_sectors: u64,
    clusters: u64,
    table_sectors: u64,
    note_clusters: u64,
    serial: [u8; 4],
}

impl Decoy {
    /// For a volume of that size.
    pub(super) fn new(size: u64, sector_bytes: u32) -> Result<Self, CreateError> {
        let sector = u64::from(sector_bytes);
        let sectors = (size / sector).min(u64::from(u32::MAX));
        let mut serial = [0; 4];
        getrandom::fill(&mut serial)?;
        // 64 KiB is the largest cluster that everybody reads.
        let sizes = (0..8).map(|shift| 1 << shift).take_while(|n| n * sector <= 64 << 10);
        let decoys = sizes.filter_map(|cluster_sectors| {
            let data = sectors.checked_sub(RESERVED)?;
            // Each cluster takes its own room and four bytes of the table.
            let clusters = data * sector / (cluster_sectors * sector + 4);
            let table_sectors = ((clusters + 2) * 4).div_ceil(sector);
            let clusters = (data - table_sectors) / cluster_sectors;
            (clusters >= FEWEST_CLUSTERS).then_some(Self {
                sector,
                sectors,
                cluster_sectors,
                clusters,
                table_sectors: ((clusters + 2) * 4).div_ceil(sector),
                note_clusters: (NOTE.len() as u64).div_ceil(cluster_sectors * sector),
                serial,
            })
        });
        // The fewest clusters make the smallest table.
        decoys.last().ok_or(CreateError::TooSmall { size, least: (FEWEST_CLUSTERS + 1024) * sector })
    }

    /// Bytes of the volume that are the decoy's own, and must lie elsewhere: whole pages.
    pub(super) fn bytes(&self) -> u64 {
        let used = (1 + self.note_clusters) * self.cluster_sectors;
        ((RESERVED + self.table_sectors + used) * self.sector).next_multiple_of(4096)
    }

    /// The first 512 bytes.
    pub(super) fn boot_sector(&self, copies: &[u64; 3]) -> [u8; BOOT_SECTOR_BYTES] {
        to_go_boot_sector(&self.bpb(), self.serial, copies)
    }

    /// The fields that describe it, from byte 11 on.
    pub(super) fn bpb(&self) -> [u8; BPB_BYTES] {
        let mut bpb = Vec::with_capacity(BPB_BYTES);
        bpb.extend((self.sector as u16).to_le_bytes());
        bpb.push(self.cluster_sectors as u8);
        bpb.extend((RESERVED as u16).to_le_bytes());
        // One table; the fields of smaller FATs; the media; a geometry that nobody asks for.
        bpb.extend([1, 0, 0, 0, 0, 0xf8, 0, 0, 0x3f, 0, 0xff, 0, 0, 0, 0, 0]);
        bpb.extend((self.sectors as u32).to_le_bytes());
        bpb.extend((self.table_sectors as u32).to_le_bytes());
        bpb.extend([0; 4]);
        bpb.extend(ROOT.to_le_bytes());
        bpb.extend((INFORMATION_SECTOR as u16).to_le_bytes());
        bpb.extend((BACKUP_SECTOR as u16).to_le_bytes());
        bpb.extend([0; 12]);
        bpb.first_chunk().copied().unwrap_or([0; BPB_BYTES])
    }

    /// Everything behind the first sector.
    pub(super) fn after_boot_sector(&self) -> Vec<u8> {
        let mut out = vec![0; self.bytes() as usize];
        let sector = self.sector as usize;
        let information = INFORMATION_SECTOR as usize * sector;
        put(&mut out, information, b"RRaA");
        put(&mut out, information + 484, b"rrAa");
        // Nothing is free, and none is the next to be tried.
        put(&mut out, information + 488, &0u32.to_le_bytes());
        put(&mut out, information + 492, &u32::MAX.to_le_bytes());
        put(&mut out, information + 510, &[0x55, 0xaa]);
        // Their copies, of which the first sector's tells what the decoy is like if that is damaged.
        let backup = BACKUP_SECTOR as usize * sector;
        put(&mut out, backup, &to_go_backup(self.boot_sector(&[0; 3])));
        out.copy_within(information..information + sector, backup + sector);
        let table = RESERVED as usize * sector;
        let note_end = ROOT + 1 + self.note_clusters as u32;
        for cluster in 0..self.clusters as u32 + 2 {
            let entry = match cluster {
                0 => MEDIA,
                1 | ROOT => LAST,
                n if n + 1 < note_end => n + 1,
                n if n < note_end => LAST,
                _ => BAD,
            };
            put(&mut out, table + cluster as usize * 4, &entry.to_le_bytes());
        }
        let root = table + self.table_sectors as usize * sector;
        put(&mut out, root, NAME);
        put(&mut out, root + 11, &[READ_ONLY]);
        for date in [16, 18, 24] {
            put(&mut out, root + date, &FIRST_DAY.to_le_bytes());
        }
        put(&mut out, root + 26, &(ROOT as u16 + 1).to_le_bytes());
        put(&mut out, root + 28, &(NOTE.len() as u32).to_le_bytes());
        put(&mut out, root + self.cluster_sectors as usize * sector, NOTE);
        out.split_off(sector)
    }
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(slot) = out.get_mut(at..at + bytes.len()) {
        slot.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_that_windows_chose() {
        // bitlk-togo-aes-xts-128.img: 100 MiB.
        let decoy = Decoy::new(100 << 20, 512).expect("large enough");
        assert_eq!((decoy.cluster_sectors, decoy.table_sectors, decoy.clusters), (2, 797, 101_985));
        assert!(Decoy::new(64 << 20, 4096).is_err());
    }
}
