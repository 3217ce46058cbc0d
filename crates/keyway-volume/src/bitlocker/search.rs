//! A volume whose first sector is lost: its metadata, found by its signature.
//!
//! The first sector only says where the metadata is; each copy of that names all three places, so one
//! copy that lies where it says is enough. What else the first sector tells is found, too: the size of
//! a sector by how many of them lie elsewhere, and encrypt-on-write information by its signature.

use super::block::{Block, HEAD_BYTES, REGION_BYTES, SIGNATURE};
use super::boot::{BOOT_SECTOR_BYTES, BootSector};
use super::eow;
use super::first_sector::{named_places, wanted};
use super::guid::Guid;
use crate::inspect::looks_random;
use keyway_fs::Superblock;
use keyway_store::{AlignedBuf, Store};
use std::ops::Range;

/// What the marker of a conversion that is under way has behind its first 16 bytes; it lies in the third copy's
/// second half (`keyway-convert/src/bitlocker/mark.rs`).
pub const CONVERSION_MARK: [u8; 14] = *b"KEYWAY-BITLOCK";

/// Bytes that are read at a time.
const PIECE: usize = 4 << 20;

/// Bytes that are read at a time where the medium fails.
const SMALL: usize = 4096;

/// What Keyway puts behind a file system lies in this many last bytes: looked at first.
const TAIL: u64 = 1 << 20;

/// Windows has the first copy within so many first bytes.
const NEAR: u64 = 64 << 20;

/// The first copy begins at 33 MiB where that is free, or soon after.
const FIRST: Range<u64> = 33 << 20..35 << 20;

/// Encrypt-on-write information is looked for in this many bytes behind the first copy; in the volumes
/// that Windows made it lies within 256 KiB.
const BEHIND: u64 = 32 << 20;

/// What the sectors that lie elsewhere have in all, but for a To Go drive's.
const MOVED_BYTES: u64 = 8192;

/// Looks through all of the store for a copy of the metadata that lies where it says, and makes the
/// first sector that names it. `None` where there is none.
/// The first that is found counts, whosever it is: what it leads to can only be read.
/// Where the damaged sector `there` still names one, that is the one.
pub(super) fn find_boot(store: &dyn Store, there: &[u8; BOOT_SECTOR_BYTES]) -> Option<BootSector> {
    let size = store.size();
    let tail = tail(size);
    let named = named_places(there).into_iter().find_map(|at| Some((at, copy_at(store, at)?)));
    let found = named.or_else(|| first_copy(store, tail..size)).or_else(|| first_copy(store, 0..tail));
    let (at, block) = found?;
    let sector_bytes = sector_bytes(&block)?;
    let mut places = None;
    each_match(store, at..at.saturating_add(BEHIND).min(size), eow::INFORMATION, |at, bytes| {
        places = eow::places(bytes).filter(|places| places.contains(&at));
        places.is_some()
    });
    BootSector::parse(&wanted(store, there, &block, sector_bytes, places, None)).ok()
}

/// Looks through all of the store for metadata of another volume than that one: remains of what it once was.
pub(super) fn another_volume(store: &dyn Store, volume: Guid) -> Option<Guid> {
    let mut other = None;
    each_match(store, 0..store.size(), &SIGNATURE, |at, _| {
        other = copy_at(store, at).map(|block| block.dataset.volume).filter(|found| *found != volume);
        other.is_some()
    });
    other
}

/// Whether a volume is there whose first sector is lost: that is no noise, no file system lies in front, and a copy of the
/// metadata is at one of the usual places. Not all of the store is looked through.
pub fn first_sector_is_lost(store: &dyn Store) -> bool {
    let mut first = [0; BOOT_SECTOR_BYTES];
    let plain = store.size() > REGION_BYTES as u64
        && store.read_at(&mut first, 0).is_ok()
        && !looks_random(&first)
        && Superblock::read(store).is_ok_and(|found| found.is_none());
    plain && has_metadata(store)
}

/// Whether a copy of the metadata is at one of the usual places, whatever the first sector looks like: of a volume whose
/// first sector is noise, or left by one that was there before.
pub fn has_metadata(store: &dyn Store) -> bool {
    let (size, tail) = (store.size(), tail(store.size()));
    first_copy(store, tail..size).is_some() || first_copy(store, 0..tail.min(NEAR)).is_some()
}

/// The same of the places where Windows and Keyway put one if nothing is in the way: little is read.
pub fn has_metadata_as_made(store: &dyn Store) -> bool {
    let (size, tail) = (store.size(), tail(store.size()));
    let first = FIRST.start.min(tail)..FIRST.end.min(tail);
    first_copy(store, tail..size).is_some() || first_copy(store, first).is_some()
}

/// Where the last bytes begin that are looked at first.
fn tail(size: u64) -> u64 {
    size.saturating_sub(TAIL) / BOOT_SECTOR_BYTES as u64 * BOOT_SECTOR_BYTES as u64
}

fn first_copy(store: &dyn Store, range: Range<u64>) -> Option<(u64, Block)> {
    let mut found = None;
    each_match(store, range, &SIGNATURE, |at, _| {
        found = copy_at(store, at).map(|block| (at, block));
        found.is_some()
    });
    found
}

/// The copy of the metadata at that place, if it says that it lies there.
fn copy_at(store: &dyn Store, at: u64) -> Option<Block> {
    at.checked_add(REGION_BYTES as u64).filter(|end| *end <= store.size())?;
    let mut region = vec![0; REGION_BYTES];
    store.read_at(&mut region, at).ok()?;
    Block::parse(&region).ok().filter(|block| block.copies.contains(&at))
}

/// Whether a conversion of it was under way when the first sector was lost.
pub(super) fn is_half_converted(store: &dyn Store, block: &Block) -> bool {
    let [_, _, third] = block.copies;
    let mut mark = AlignedBuf::zeroed(BOOT_SECTOR_BYTES);
    let at = third.saturating_add(HEAD_BYTES as u64);
    let inside = at.checked_add(BOOT_SECTOR_BYTES as u64).is_some_and(|end| end <= store.size());
    inside
        && store.read_at(&mut mark, at).is_ok()
        && mark.get(16..).is_some_and(|payload| payload.starts_with(&CONVERSION_MARK))
}

/// Has `look` see each sector that starts with `signature`, until it says that it is enough. What can't
/// be read is passed over: a failing drive may have its metadata elsewhere.
fn each_match(
    store: &dyn Store,
    range: Range<u64>,
    signature: &[u8],
    mut look: impl FnMut(u64, &[u8]) -> bool,
) {
    let mut piece = AlignedBuf::zeroed(PIECE);
    let mut at = range.start;
    // Behind what can't be read it goes on in small pieces for as long as a large one.
    let mut careful = at;
    while at < range.end {
        let most = if at < careful { SMALL } else { PIECE };
        let len = usize::try_from(range.end - at).unwrap_or(most).min(most);
        let Some(bytes) = piece.get_mut(..len) else { break };
        match store.read_at(bytes, at) {
            Ok(()) => {
                for (i, sector) in bytes.chunks(BOOT_SECTOR_BYTES).enumerate() {
                    if sector.starts_with(signature) && look(at + (i * BOOT_SECTOR_BYTES) as u64, sector) {
                        return;
                    }
                }
            }
            Err(_) if len > SMALL => {
                careful = at + len as u64;
                continue;
            }
            Err(_) => {}
        }
        at += len as u64;
    }
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
