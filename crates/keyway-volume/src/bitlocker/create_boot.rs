//! The boot sector of a new volume: Windows' template with a few fields filled in.
//!
//! It looks like a FAT32 boot sector without a file system. Source: the boot sectors of the volumes
//! that Windows made, which differ only in the fields named here.

use super::boot::{
    BOOT_SECTOR_BYTES, GUID_AT, GUID_AT_TO_GO, INFORMATION, INFORMATION_EOW, MESSAGES, MESSAGES_AT, OEM,
    OEM_TO_GO, TEMPLATE,
};

/// What Windows leaves where a To Go drive has its offsets, and after it; in the copy of that drive's sector, too.
const PLACEHOLDER_AT: usize = 0x198;
const PLACEHOLDER_END: usize = 0x1e8;
/// All ones up to the offsets of the loader's messages.
const ONES_END: usize = 0x1fb;
/// Those offsets, from 0x100 on, and the boot signature.
const END: [u8; 5] = [0x00, 0x1f, 0x2c, 0x55, 0xaa];

/// A GUID that the To Go drive has before the one of the metadata's offsets, and what it has after
/// these.
const TO_GO_GUID: [u8; 16] = *b"\x0e\x06\x80\xb5\x8a\x77\x57\x40\xb3\x9a\xe3\xdf\x8e\x81\xb1\xa1";
const TO_GO_TAIL_AT: usize = 0x1d0;
const TO_GO_TAIL: [u8; 10] = *b"rSvD\x02\0\0\0\0\0";

/// Bytes of a cluster that the fields tell of; what Windows found in the file system. Nobody reads
/// it.
const CLUSTER_BYTES: u32 = 4096;

/// The first sector of a volume that starts at byte 0 of its file or device; `eow` is where the two
/// copies of its encrypt-on-write information are, if it has any.
pub(super) fn boot_sector(
    sector_bytes: u32,
    copies: &[u64; 3],
    eow: Option<[u64; 2]>,
) -> [u8; BOOT_SECTOR_BYTES] {
    let mut sector = template();
    put(&mut sector, 3, &OEM);
    put(&mut sector, 11, &(sector_bytes as u16).to_le_bytes());
    put(&mut sector, 13, &[(CLUSTER_BYTES / sector_bytes) as u8]);
    let guid = if eow.is_some() { INFORMATION_EOW } else { INFORMATION };
    put(&mut sector, GUID_AT, &guid.0);
    put_offsets(&mut sector, GUID_AT + 16, copies);
    put_offsets(&mut sector, GUID_AT + 40, eow.as_ref().map_or(&[], |places| places));
    sector
}

/// The same of a To Go drive, where `bpb` are the 53 bytes from 11 to 64 that describe the decoy.
pub(super) fn to_go_boot_sector(bpb: &[u8], serial: [u8; 4], copies: &[u64; 3]) -> [u8; BOOT_SECTOR_BYTES] {
    let mut sector = template();
    put(&mut sector, 3, &OEM_TO_GO);
    put(&mut sector, 11, bpb);
    put(&mut sector, 67, &serial);
    put(&mut sector, PLACEHOLDER_AT, &TO_GO_GUID);
    put(&mut sector, GUID_AT_TO_GO, &INFORMATION.0);
    put_offsets(&mut sector, GUID_AT_TO_GO + 16, copies);
    put(&mut sector, TO_GO_TAIL_AT, &TO_GO_TAIL);
    sector
}

/// The copy of a To Go drive's first sector that FAT32 wants: it names no places.
pub(super) fn to_go_backup(mut sector: [u8; BOOT_SECTOR_BYTES]) -> [u8; BOOT_SECTOR_BYTES] {
    put(&mut sector, GUID_AT_TO_GO, &[b'x'; TO_GO_TAIL_AT + TO_GO_TAIL.len() - GUID_AT_TO_GO]);
    sector
}

fn template() -> [u8; BOOT_SECTOR_BYTES] {
    let mut sector = [0; BOOT_SECTOR_BYTES];
    put(&mut sector, 0, &TEMPLATE);
    put(&mut sector, MESSAGES_AT, MESSAGES);
    put(&mut sector, PLACEHOLDER_AT, &[b'x'; PLACEHOLDER_END - PLACEHOLDER_AT]);
    put(&mut sector, PLACEHOLDER_END, &[0xff; ONES_END - PLACEHOLDER_END]);
    put(&mut sector, ONES_END, &END);
    sector
}

fn put_offsets(sector: &mut [u8; BOOT_SECTOR_BYTES], at: usize, copies: &[u64]) {
    for (i, copy) in copies.iter().enumerate() {
        put(sector, at + 8 * i, &copy.to_le_bytes());
    }
}

fn put(sector: &mut [u8; BOOT_SECTOR_BYTES], at: usize, bytes: &[u8]) {
    if let Some(slot) = sector.get_mut(at..at + bytes.len()) {
        slot.copy_from_slice(bytes);
    }
}
