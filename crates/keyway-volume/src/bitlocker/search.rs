//! A volume whose first sector is lost: its metadata, found by its signature.
//!
//! The first sector only says where the metadata is; each copy of that names all three places, so one
//! copy that lies where it says is enough. What else the first sector tells is found, too: the size of
//! a sector by how many of them lie elsewhere, and encrypt-on-write information by its signature.

use super::block::{Block, REGION_BYTES, SIGNATURE};
use super::boot::{BOOT_SECTOR_BYTES, BootSector};
use super::create_boot::boot_sector;
use super::eow;
use keyway_store::{AlignedBuf, Store, StoreError};
use std::ops::Range;

/// Bytes that are read at a time.
const PIECE: usize = 4 << 20;

/// What Keyway puts behind a file system lies in this many last bytes: looked at first.
const TAIL: u64 = 1 << 20;

/// Encrypt-on-write information is looked for in this many bytes behind the first copy; in the volumes
/// that Windows made it lies within 256 KiB.
const BEHIND: u64 = 32 << 20;

/// What the sectors that lie elsewhere have in all, but for a To Go drive's.
const MOVED_BYTES: u64 = 8192;

/// Looks through all of the store for a copy of the metadata that lies where it says, and makes the
/// first sector that names it. `None` where there is none.
pub(super) fn find_boot(store: &dyn Store) -> Result<Option<BootSector>, StoreError> {
    let size = store.size();
    let tail = size.saturating_sub(TAIL) / BOOT_SECTOR_BYTES as u64 * BOOT_SECTOR_BYTES as u64;
    let found = match first_copy(store, tail..size)? {
        None => first_copy(store, 0..tail)?,
        found => found,
    };
    let Some((at, block)) = found else { return Ok(None) };
    let Some(sector_bytes) = sector_bytes(&block) else { return Ok(None) };
    let mut places = None;
    each_match(store, at..at.saturating_add(BEHIND).min(size), eow::INFORMATION, |at, bytes| {
        places = eow::places(bytes).filter(|places| places.contains(&at));
        Ok(places.is_some())
    })?;
    Ok(BootSector::parse(&boot_sector(sector_bytes, &block.copies, places)).ok())
}

fn first_copy(store: &dyn Store, range: Range<u64>) -> Result<Option<(u64, Block)>, StoreError> {
    let mut found = None;
    each_match(store, range, &SIGNATURE, |at, _| {
        if at.checked_add(REGION_BYTES as u64).is_none_or(|end| end > store.size()) {
            return Ok(false);
        }
        let mut region = vec![0; REGION_BYTES];
        store.read_at(&mut region, at)?;
        found =
            Block::parse(&region).ok().filter(|block| block.copies.contains(&at)).map(|block| (at, block));
        Ok(found.is_some())
    })?;
    Ok(found)
}

/// Has `look` see each sector that starts with `signature`, until it says that it is enough. What can't
/// be read is passed over: a failing drive may have its metadata elsewhere.
fn each_match(
    store: &dyn Store,
    range: Range<u64>,
    signature: &[u8],
    mut look: impl FnMut(u64, &[u8]) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut piece = AlignedBuf::zeroed(PIECE);
    let mut at = range.start;
    while at < range.end {
        let len = usize::try_from(range.end - at).unwrap_or(PIECE).min(PIECE);
        let Some(bytes) = piece.get_mut(..len) else { break };
        if store.read_at(bytes, at).is_ok() {
            for (i, sector) in bytes.chunks(BOOT_SECTOR_BYTES).enumerate() {
                if sector.starts_with(signature) && look(at + (i * BOOT_SECTOR_BYTES) as u64, sector)? {
                    return Ok(());
                }
            }
        }
        at += len as u64;
    }
    Ok(())
}

/// The entry that says where the first sectors lie has their length in bytes, the block their number.
fn sector_bytes(block: &Block) -> Option<u32> {
    let bytes = block.boot_backup_entry().map_or(MOVED_BYTES, |entry| entry.bytes);
    let of = |bytes: u64| bytes.checked_div(u64::from(block.boot_sectors));
    [bytes, MOVED_BYTES]
        .into_iter()
        .filter_map(of)
        .find(|bytes| matches!(bytes, 512 | 1024 | 2048 | 4096))
        .and_then(|bytes| u32::try_from(bytes).ok())
}
