//! Gives a file system the clusters back that were kept from it: a decryption's last steps but two.
//!
//! Its records of them are several pages, between which it is in no order: NTFS's mirror of the MFT differs from that, and
//! then nobody mounts it. So they are changed while the marker is in front. What they shall be is worked out first, on the
//! medium as it will be, with its first sectors in their place, and waits in the spare bytes, which lie in clusters that
//! are bad themselves; a sheet says where they go. The next step copies them there, as often as it takes: nobody has
//! used the file system in between.
//!
//! ```text
//! the sheet, behind the marker, where the file system's second page will be; integers little-endian
//! offset size
//!      0    8  "KEYWAYGB"
//!      8    8  pages
//!     16   16  the conversion's identifier
//!     32   16  of each page: where it goes; its CRC-32 and four zeros
//!   4092    4  CRC-32 of the 4092 bytes before
//! ```

use super::marker::{BitLockerMarker, PAGE, page};
use super::metadata_space::{Pages, map};
use crate::ConvertError;
use crate::step::{Small, Step};
use keyway_fs::allocation::AllocationError;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::bitlocker::{REGION_BYTES, SPARE_BYTES};
use keyway_volume::overlay::Overlay;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

const MAGIC: [u8; 8] = *b"KEYWAYGB";
const ENTRIES: usize = 32;
const ENTRY: usize = 16;
const CRC_AT: usize = PAGE as usize - 4;

/// Why clusters were not given back.
pub(super) type Kept = Arc<OnceLock<ConvertError>>;

/// The two steps, of a decryption that has nothing left to decrypt.
pub(super) fn steps(mark: &BitLockerMarker, kept: &Kept) -> Vec<Step> {
    // There is always room for the sheet, but a marker may say anything.
    if mark.boot.end - mark.boot.start < 2 * PAGE {
        return vec![Step::Small(vec![]), Step::Small(vec![])];
    }
    let (worked_out, copied, kept) = (mark.clone(), mark.clone(), kept.clone());
    vec![
        Step::Act(Arc::new(move |store| work_out(store, &worked_out, &kept))),
        Step::Act(Arc::new(move |store| copy(store, &copied))),
    ]
}

/// Where the pages wait: kept off in one piece with the first sectors.
fn spare(mark: &BitLockerMarker) -> Range<u64> {
    mark.boot.end..mark.boot.end.saturating_add(SPARE_BYTES)
}

/// Works the pages out, and writes them and their sheet. What can't be given back is lost to the file system, and
/// nothing else is.
fn work_out(store: &dyn Store, mark: &BitLockerMarker, kept: &Kept) -> Result<(), ConvertError> {
    let pages = pages(store, mark).unwrap_or_else(|e| {
        // Only the first reason is told.
        let _ = kept.set(e);
        vec![]
    });
    let mut sheet = MAGIC.to_vec();
    sheet.extend((pages.len() as u64).to_le_bytes());
    sheet.extend(mark.id);
    for (at, (target, page)) in (spare(mark).start..).step_by(PAGE as usize).zip(&pages) {
        Small::Put { at, bytes: page.clone() }.carry_out(store)?;
        sheet.extend(target.to_le_bytes());
        sheet.extend(u64::from(crc32fast::hash(page)).to_le_bytes());
    }
    store.flush()?;
    sheet.resize(CRC_AT, 0);
    let crc = crc32fast::hash(&sheet);
    sheet.extend(crc.to_le_bytes());
    Small::Put { at: PAGE, bytes: sheet }.carry_out(store)
}

/// The file system's pages that change, as they shall be; none where nothing was kept from it.
fn pages(store: &dyn Store, mark: &BitLockerMarker) -> Result<Pages, ConvertError> {
    let len = mark.boot.end - mark.boot.start;
    let mut first = AlignedBuf::zeroed(usize::try_from(len).unwrap_or_default());
    store.read_at(&mut first, mark.boot.start)?;
    let whole = Overlay::new(store, vec![(0, first.to_vec())]);
    let Some(mut map) = map(&whole)? else { return Ok(vec![]) };
    let spare = spare(mark);
    let mut ranges: Vec<_> = mark.copies.iter().map(|at| *at..*at + REGION_BYTES as u64).collect();
    ranges.extend([mark.boot.clone(), spare.clone()]);
    ranges.sort_by_key(|range| range.start);
    let bad = map.bad(&whole, &ranges)?;
    if bad.is_empty() {
        return Ok(vec![]);
    }
    if !bad.iter().any(|run| run.start <= spare.start && spare.end <= run.end) {
        return Err(AllocationError::Unsupported("bad clusters that no encryption has made").into());
    }
    let changed = Overlay::new(&whole, vec![]);
    map.release(&changed, &ranges)?;
    let pages = changed.pages()?;
    let possible = |(at, page): &(u64, Vec<u8>)| {
        let other = ranges.iter().any(|range| *at < range.end && range.start < at + PAGE);
        page.len() as u64 == PAGE && !other
    };
    if pages.len() as u64 * PAGE > SPARE_BYTES || !pages.iter().all(possible) {
        return Err(AllocationError::Unsupported("too scattered").into());
    }
    let moved = |at: u64| if at < len { mark.boot.start + at } else { at };
    Ok(pages.into_iter().map(|(at, page)| (moved(at), page)).collect())
}

/// Copies the pages to where their sheet says.
fn copy(store: &dyn Store, mark: &BitLockerMarker) -> Result<(), ConvertError> {
    let sheet = page(store, PAGE)?;
    let targets = parse(&sheet, mark).ok_or(ConvertError::ImpossibleRecord)?;
    let mut pages = Vec::with_capacity(targets.len());
    for (at, (target, crc)) in (spare(mark).start..).step_by(PAGE as usize).zip(targets) {
        let page = page(store, at)?;
        if u64::from(crc32fast::hash(&page)) != crc {
            return Err(ConvertError::ImpossibleRecord);
        }
        pages.push((target, page));
    }
    for (target, page) in pages {
        store.write_at(&page, target)?;
        store.flush()?;
    }
    Ok(())
}

/// Where the pages go, and their checksums.
fn parse(sheet: &[u8], mark: &BitLockerMarker) -> Option<Vec<(u64, u64)>> {
    let (body, crc) = sheet.split_at_checked(CRC_AT)?;
    let (head, entries) = body.split_at_checked(ENTRIES)?;
    let number = |bytes: &[u8], at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let is_ours = crc32fast::hash(body).to_le_bytes() == *crc
        && head.starts_with(&MAGIC)
        && head.get(16..ENTRIES) == Some(&mark.id);
    let count =
        usize::try_from(number(head, 8)?).ok().filter(|n| is_ours && *n as u64 <= SPARE_BYTES / PAGE)?;
    let fits = |at: &u64| at.is_multiple_of(PAGE) && at.checked_add(PAGE).is_some_and(|end| end <= mark.size);
    let entry = |entry: &[u8]| Some((number(entry, 0).filter(fits)?, number(entry, 8)?));
    entries.chunks_exact(ENTRY).take(count).map(entry).collect()
}
