//! Encrypt-on-write: how Windows 10 and later keep account of a conversion that is under way.
//!
//! A bitmap per region of the volume has one bit per chunk: set, the chunk is encrypted. The
//! information lies twice, at the offsets after the second GUID of the boot sector; where neither
//! place holds it any more, the conversion has come to its end.
//!
//! ```text
//! information                          bitmap                            record
//! offset size                          offset size                       offset size
//!      0    8  "FVE-EOW\0"                  0   10  "FVE-EOWBM\0"             0   10  "FVE-EOWBR\0"
//!      8    2  bytes before the list       10    2  header bytes             10    2  header bytes
//!     10    2  bytes in all                12    4  bytes in all             12    4  bytes in all
//!     12    4  sector size                 20    8  region's offset          16    4  bits
//!     20    4  chunk size                  28    8  region's bytes           20    8  sequence
//!     24    4  conversion log's bytes      36    8  conversion log           28    4  flags
//!     32    4  regions                     44    8  offsets of two records   32    4  CRC-32
//!     36    4  CRC-32                      52    4  bytes of a record        36    …  bits
//!     40   16  where the two copies lie    56    4  CRC-32
//!     56    …  offsets of the bitmaps
//! ```
//!
//! Each CRC-32 is taken with zeros in its own place: over the information, over the bitmap up to
//! its first record, over a record. Of a bitmap's records the whole one with the highest sequence
//! counts. Source: dissect.fve's account, which is the only public one.

use super::error::{BitLockerError, Impossible};
use super::reader::Reader;
use keyway_store::Store;
use std::ops::Range;

/// What the information starts with.
pub(super) const INFORMATION: &[u8; 8] = b"FVE-EOW\0";
const BITMAP: &[u8; 10] = b"FVE-EOWBM\0";
const RECORD: &[u8; 10] = b"FVE-EOWBR\0";

const INFORMATION_HEADER: usize = 56;
const BITMAP_HEADER: usize = 60;
const RECORD_HEADER: usize = 36;

/// More bytes than all bitmaps with their records have: 32 MiB are the bits of a tebibyte in chunks
/// of 4 KiB.
const LARGEST_BITMAPS: u64 = 256 << 20;

/// What the information says of the volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptOnWrite {
    /// Which bytes of the medium are encrypted; the others are not. In order, not touching.
    pub encrypted: Vec<Range<u64>>,
    /// The bytes of the information, its bitmaps and logs, which read as zeros.
    pub reserved: Vec<Range<u64>>,
    /// Whether one of the two copies is damaged.
    pub copy_damaged: bool,
}

struct Information {
    bytes: u64,
    chunk_bytes: u64,
    log_bytes: u64,
    bitmaps: Vec<u64>,
}

struct Bitmap {
    region: Range<u64>,
    log_offset: u64,
    bytes: u64,
    bits: Vec<u8>,
    bit_count: u64,
}

/// Reads the information at its two places; `None` where there is none any more.
///
/// # Errors
/// It is there and damaged, or the medium failed.
pub(crate) fn read(
    store: &dyn Store,
    places: [u64; 2],
    volume_bytes: u64,
    sector_bytes: u32,
) -> Result<Option<EncryptOnWrite>, BitLockerError> {
    let copies = places.map(|at| read_information(store, at));
    let [first, second] = copies;
    let (first, second) = (first?, second?);
    let present = [&first, &second].into_iter().filter(|copy| copy.is_some()).count();
    let valid = [first, second].map(Option::flatten);
    let damaged = valid.iter().flatten().count() < present;
    let mut reserved: Vec<Range<u64>> = Vec::new();
    for (information, at) in valid.iter().zip(places) {
        reserved.extend(information.iter().map(|information| at..at.saturating_add(information.bytes)));
    }
    // Both copies name the same bitmaps.
    let Some(information) = valid.into_iter().flatten().next() else {
        return if present > 0 { Err(impossible(Impossible::EncryptOnWrite)) } else { Ok(None) };
    };
    let chunk = information.chunk_bytes;
    if chunk == 0 || !chunk.is_multiple_of(u64::from(sector_bytes)) {
        return Err(impossible(Impossible::EncryptOnWrite));
    }
    let mut bitmaps = Vec::new();
    let mut budget = LARGEST_BITMAPS;
    for offset in information.bitmaps {
        let bitmap = read_bitmap(store, offset, budget)?.ok_or(impossible(Impossible::Bitmap(offset)))?;
        budget = budget.saturating_sub(bitmap.bytes);
        reserved.push(offset..offset.saturating_add(bitmap.bytes));
        reserved.push(bitmap.log_offset..bitmap.log_offset.saturating_add(information.log_bytes));
        bitmaps.push((offset, bitmap));
    }
    reserved.retain(|range| range.start < range.end);
    let encrypted = runs(bitmaps, chunk, volume_bytes, sector_bytes)?;
    Ok(Some(EncryptOnWrite { encrypted, reserved, copy_damaged: damaged || present < 2 }))
}

fn impossible(what: Impossible) -> BitLockerError {
    BitLockerError::Impossible(what)
}

/// `None`: none there. `Some(None)`: a damaged one.
#[allow(clippy::option_option, reason = "absent and damaged are told apart by the caller alone")]
fn read_information(store: &dyn Store, at: u64) -> Result<Option<Option<Information>>, BitLockerError> {
    let Some(header) = read_bytes(store, at, INFORMATION_HEADER as u64)? else { return Ok(None) };
    if !header.starts_with(INFORMATION) {
        return Ok(None);
    }
    let mut r = Reader(header.get(10..).unwrap_or_default());
    let bytes = u64::from(r.u16().unwrap_or_default());
    let whole = if bytes < INFORMATION_HEADER as u64 { None } else { read_bytes(store, at, bytes)? };
    Ok(Some(whole.and_then(|whole| parse_information(&whole))))
}

fn parse_information(whole: &[u8]) -> Option<Information> {
    checks_out(whole, 36).then_some(())?;
    let mut r = Reader(whole);
    r.take(8)?;
    let header_bytes = usize::from(r.u16()?);
    let bytes = u64::from(r.u16()?);
    r.take(8)?;
    let chunk_bytes = u64::from(r.u32()?);
    let log_bytes = u64::from(r.u32()?);
    (header_bytes == INFORMATION_HEADER).then_some(())?;
    let (list, odd) = whole.get(INFORMATION_HEADER..)?.as_chunks();
    odd.is_empty().then_some(())?;
    let bitmaps = list.iter().map(|offset| u64::from_le_bytes(*offset)).collect();
    Some(Information { bytes, chunk_bytes, log_bytes, bitmaps })
}

/// Where the two copies of the information lie, as it says itself; `sector` is its beginning.
pub(super) fn places(sector: &[u8]) -> Option<[u64; 2]> {
    let mut r = Reader(sector.get(40..)?);
    Some([r.u64()?, r.u64()?])
}

fn read_bitmap(store: &dyn Store, at: u64, budget: u64) -> Result<Option<Bitmap>, BitLockerError> {
    let Some(header) = read_bytes(store, at, BITMAP_HEADER as u64)? else { return Ok(None) };
    let mut r = Reader(header.get(12..).unwrap_or_default());
    let bytes = u64::from(r.u32().unwrap_or_default());
    if !header.starts_with(BITMAP) || bytes < BITMAP_HEADER as u64 || bytes > budget {
        return Ok(None);
    }
    Ok(read_bytes(store, at, bytes)?.and_then(|whole| parse_bitmap(&whole)))
}

fn parse_bitmap(whole: &[u8]) -> Option<Bitmap> {
    let mut r = Reader(whole);
    r.take(10)?;
    let header_bytes = usize::from(r.u16()?);
    let bytes = u64::from(r.u32()?);
    r.take(4)?;
    let (start, len, log_offset) = (r.u64()?, r.u64()?, r.u64()?);
    let records = [r.u32()? as usize, r.u32()? as usize];
    (header_bytes == BITMAP_HEADER && records[0] >= BITMAP_HEADER).then_some(())?;
    checks_out(whole.get(..records[0])?, 56).then_some(())?;
    let record = |at: usize| parse_record(whole.get(at..)?);
    let newest = records.into_iter().filter_map(record).max_by_key(|(sequence, ..)| *sequence);
    let (_, bits, bit_count) = newest?;
    let region = start..start.checked_add(len)?;
    Some(Bitmap { region, log_offset, bytes, bits: bits.to_vec(), bit_count })
}

/// Sequence, bits and their number.
fn parse_record(bytes: &[u8]) -> Option<(u64, &[u8], u64)> {
    let mut r = Reader(bytes);
    (r.array() == Some(*RECORD)).then_some(())?;
    let header_bytes = usize::from(r.u16()?);
    let len = r.u32()? as usize;
    let (bit_count, sequence) = (u64::from(r.u32()?), r.u64()?);
    let whole = bytes.get(..len)?;
    (header_bytes == RECORD_HEADER && checks_out(whole, 32)).then_some(())?;
    let bits = whole.get(RECORD_HEADER..)?;
    (bit_count <= bits.len() as u64 * 8).then_some((sequence, bits, bit_count))
}

/// Whether the CRC-32 at `at` is that of `bytes` with zeros there.
fn checks_out(bytes: &[u8], at: usize) -> bool {
    let Some((before, rest)) = bytes.split_at_checked(at) else { return false };
    let Some((stored, after)) = rest.split_first_chunk() else { return false };
    let mut crc = crc32fast::Hasher::new();
    crc.update(before);
    crc.update(&[0; 4]);
    crc.update(after);
    crc.finalize() == u32::from_le_bytes(*stored)
}

/// Some bytes of the volume; `None` where they can't lie there.
fn read_bytes(store: &dyn Store, at: u64, len: u64) -> Result<Option<Vec<u8>>, BitLockerError> {
    let inside = at.checked_add(len).is_some_and(|end| end <= store.size());
    if at == 0 || !inside {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    store.read_at(&mut bytes, at)?;
    Ok(Some(bytes))
}

/// Which bytes are encrypted.
fn runs(
    mut regions: Vec<(u64, Bitmap)>,
    chunk: u64,
    volume_bytes: u64,
    sector_bytes: u32,
) -> Result<Vec<Range<u64>>, BitLockerError> {
    regions.sort_by_key(|(_, bitmap)| bitmap.region.start);
    let mut encrypted: Vec<Range<u64>> = Vec::new();
    let mut at = 0;
    for (offset, bitmap) in &regions {
        if at >= volume_bytes {
            break;
        }
        if bitmap.region.start != at || !at.is_multiple_of(u64::from(sector_bytes)) {
            return Err(impossible(Impossible::Uncovered(at)));
        }
        let end = bitmap.region.end.min(volume_bytes);
        let chunks = (end - at).div_ceil(chunk);
        if chunks > bitmap.bit_count {
            return Err(impossible(Impossible::Bitmap(*offset)));
        }
        for index in 0..chunks {
            let byte = bitmap.bits.get((index / 8) as usize).copied().unwrap_or_default();
            if byte >> (index % 8) & 1 == 0 {
                continue;
            }
            let from = at + index * chunk;
            let to = (from + chunk).min(end);
            match encrypted.last_mut() {
                Some(last) if last.end == from => last.end = to,
                _ => encrypted.push(from..to),
            }
        }
        at = end;
    }
    if at < volume_bytes {
        return Err(impossible(Impossible::Uncovered(at)));
    }
    Ok(encrypted)
}
