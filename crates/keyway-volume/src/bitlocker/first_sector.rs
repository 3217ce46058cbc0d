//! Tells whether a volume's first sector is damaged, and makes it anew.
//!
//! The places of the metadata and the size of a sector are known from the metadata; the rest is the same in all volumes
//! that Windows made, but for the geometry of the drive, the hidden sectors and the size of a cluster, which no reader
//! of such volumes asks for: these are taken over from what lies there. The fields of a To Go drive's decoy follow from
//! its size, or from the copy of its boot sector that a FAT32 has. Another maker's loader and messages stay as they are:
//! what differs in many places from the known ones was not damaged by a fault of the medium.

use super::block::Block;
use super::boot::{BOOT_SECTOR_BYTES, BootKind, GUID_AT, GUID_AT_TO_GO, OEM, OEM_TO_GO, has_windows_loader};
use super::create_boot::{boot_sector, to_go_boot_sector};
use super::create_decoy::{BACKUP_SECTOR, Decoy};
use super::eow;
use super::metadata_locations::BOOT_BYTES;
use keyway_store::{AlignedBuf, Store};
use std::ops::Range;

/// A sector.
type Sector = [u8; BOOT_SECTOR_BYTES];

/// Bytes that may differ in what nobody looks at, and still are damage.
const FEW: usize = 16;

/// Bytes that may differ in all of a sector that still is the volume's own.
const SOME: usize = 64;

/// The fields of the file system's, the decoy's serial number.
const BPB: Range<usize> = 11..64;
const SERIAL: Range<usize> = 67..71;
/// Sectors per cluster.
const CLUSTER_AT: usize = 13;
/// Sectors per track, heads, hidden sectors: what Windows found on the drive.
const GEOMETRY: Range<usize> = 24..32;
/// The number of sectors, in a FAT32.
const SECTORS: Range<usize> = 32..36;

/// Bytes of a GUID, and of the offsets behind it.
const GUID_BYTES: usize = 16;
const PLACES_BYTES: usize = 24;
const EOW_BYTES: usize = 16;

/// What the first sector must be where `there` is now. `kind` is whose it seems to be, where it can be read.
pub(super) fn wanted(
    store: &dyn Store,
    there: &Sector,
    block: &Block,
    sector_bytes: u32,
    eow: Option<[u64; 2]>,
    kind: Option<BootKind>,
) -> Sector {
    let fixed = fixed(store, there, block, sector_bytes, eow);
    let moved = u64::from(block.boot_sectors) * u64::from(sector_bytes);
    let Some(to_go) = (moved > BOOT_BYTES).then(|| to_go(store, there, block, sector_bytes)).flatten() else {
        return fixed;
    };
    match (differing(there, &fixed), differing(there, &to_go)) {
        (one, other) if one.min(other) <= SOME => {
            if one <= other {
                fixed
            } else {
                to_go
            }
        }
        _ if kind == Some(BootKind::Windows7) => fixed,
        // Only a decoy takes so much more room than the first sectors of others.
        _ => to_go,
    }
}

/// Whether what lies there is that sector, damaged.
pub(super) fn resembles(there: &Sector, wanted: &Sector) -> bool {
    differing(there, wanted) <= SOME
}

/// A volume's that is not To Go.
fn fixed(
    store: &dyn Store,
    there: &Sector,
    block: &Block,
    sector_bytes: u32,
    eow: Option<[u64; 2]>,
) -> Sector {
    let eow = eow.map(|places| eow_places(store, places));
    let mut sector = boot_sector(sector_bytes, &block.copies, eow);
    let own = there.get(3..11) == Some(&OEM) || resembles(there, &sector);
    if own {
        // A power of two, or minus its exponent, as NTFS has it: no flipped bit makes another of these of a power.
        let cluster = there.get(CLUSTER_AT).copied().unwrap_or_default();
        if cluster.is_power_of_two() || (0xf4..=0xf8).contains(&cluster) {
            take(&mut sector, there, CLUSTER_AT..CLUSTER_AT + 1);
        }
        take(&mut sector, there, GEOMETRY);
        let places = GUID_BYTES + PLACES_BYTES + if eow.is_some() { EOW_BYTES } else { 0 };
        let known = [0..13, GUID_AT..GUID_AT + places, 510..512];
        leave_to_its_maker(&mut sector, there, &known);
    }
    sector
}

/// A To Go drive's. `None` where no such decoy would fit.
fn to_go(store: &dyn Store, there: &Sector, block: &Block, sector_bytes: u32) -> Option<Sector> {
    let copy = backup(store, sector_bytes);
    let serial: [u8; 4] = *copy.as_ref().unwrap_or(there).get(SERIAL)?.first_chunk()?;
    let bpb: [u8; 53] = match copy {
        Some(copy) => *copy.get(BPB)?.first_chunk()?,
        None => bpb_by_size(store.size(), there, sector_bytes)?,
    };
    let mut sector = to_go_boot_sector(&bpb, serial, &block.copies);
    if there.get(3..11) == Some(&OEM_TO_GO) || resembles(there, &sector) {
        take(&mut sector, there, GEOMETRY);
        let known = [0..BPB.end, GUID_AT_TO_GO..GUID_AT_TO_GO + GUID_BYTES + PLACES_BYTES, 510..512];
        leave_to_its_maker(&mut sector, there, &known);
    }
    Some(sector)
}

/// The decoy's fields by the size of the volume. It may have been copied to a larger drive since: then they are those of
/// the size that they tell themselves, unless one flipped bit tells that.
fn bpb_by_size(size: u64, there: &Sector, sector_bytes: u32) -> Option<[u8; 53]> {
    let of = |size| Decoy::new(size, sector_bytes).ok().map(|decoy| decoy.bpb());
    let has: [u8; 53] = *there.get(BPB)?.first_chunk()?;
    let sectors = u32::from_le_bytes(*there.get(SECTORS)?.first_chunk()?);
    let told = u64::from(sectors) * u64::from(sector_bytes);
    let by_size = of(size)?;
    let bits: u32 = has.iter().zip(&by_size).map(|(a, b)| (a ^ b).count_ones()).sum();
    if bits > 1 && told < size && of(told) == Some(has) { Some(has) } else { Some(by_size) }
}

/// The copy of a To Go drive's boot sector that its decoy has.
fn backup(store: &dyn Store, sector_bytes: u32) -> Option<Sector> {
    let mut sector = [0; BOOT_SECTOR_BYTES];
    // A store may want whole sectors of its own.
    let whole = read(store, BACKUP_SECTOR * u64::from(sector_bytes), sector_bytes as usize)?;
    sector.copy_from_slice(whole.get(..BOOT_SECTOR_BYTES)?);
    let is_one = sector.starts_with(b"\xeb\x58\x90MSWIN4.1") && sector.ends_with(b"\x55\xaa");
    (is_one && has_windows_loader(&sector)).then_some(sector)
}

/// The places of the encrypt-on-write information, by what lies at either of them.
fn eow_places(store: &dyn Store, places: [u64; 2]) -> [u64; 2] {
    let says = |at: u64| {
        let sector = read(store, at, 4096)?;
        let says = sector.starts_with(eow::INFORMATION).then(|| eow::places(&sector)).flatten()?;
        says.contains(&at).then_some(says)
    };
    places.into_iter().find_map(says).unwrap_or(places)
}

/// `None` as well where a damaged medium names a place past its own end.
fn read(store: &dyn Store, at: u64, bytes: usize) -> Option<AlignedBuf> {
    at.checked_add(bytes as u64).filter(|end| *end <= store.size())?;
    let mut whole = AlignedBuf::zeroed(bytes);
    store.read_at(&mut whole, at).ok()?;
    Some(whole)
}

/// Where much differs of what nobody looks at, it is another maker's, and stays.
fn leave_to_its_maker(sector: &mut Sector, there: &Sector, known: &[Range<usize>]) {
    let others = |at: &usize| !known.iter().any(|range| range.contains(at));
    let differs = |at: &usize| sector.get(*at) != there.get(*at);
    if (0..BOOT_SECTOR_BYTES).filter(others).filter(differs).count() > FEW {
        for at in (0..BOOT_SECTOR_BYTES).filter(others) {
            take(sector, there, at..at + 1);
        }
    }
}

fn take(sector: &mut Sector, there: &Sector, range: Range<usize>) {
    if let (Some(to), Some(from)) = (sector.get_mut(range.clone()), there.get(range)) {
        to.copy_from_slice(from);
    }
}

fn differing(one: &Sector, other: &Sector) -> usize {
    one.iter().zip(other).filter(|(a, b)| a != b).count()
}

/// The places that a damaged first sector may still name.
pub(super) fn named_places(there: &Sector) -> Vec<u64> {
    let places = |guid: usize| {
        let offsets = there.get(guid + GUID_BYTES..guid + GUID_BYTES + PLACES_BYTES).unwrap_or_default();
        offsets.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    };
    places(GUID_AT).chain(places(GUID_AT_TO_GO)).collect()
}
