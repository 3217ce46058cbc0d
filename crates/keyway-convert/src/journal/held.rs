//! What a journal holds, judged by all that its pages say: the slots' records, and the heads.
//!
//! A loss of power tears what was not flushed, and a record that was torn never *counted*: its target was not written. Media do
//! other things besides: a page that counted can't be read any more, a bit of it flips, an older sector comes back, a
//! person puts an old copy of the journal's file back. Then a record is missing that counted, and whoever goes on from the one
//! before it moves what was moved already. So each record is on the medium twice, as a slot's page and as a head, and both
//! are there before its target is written. A record that never counted may show anything; of one that counted, one of the
//! two is found. What is found decides:
//!
//! - a record is *whole* if one of its pages is, and what is kept of its segment;
//! - pages behind the newest record that counts are *suspects*: their records did not count, if the segments' sources are still
//!   as the pages say;
//! - records that would be replayed, and of which what is kept is gone, are *unsure*: their slots were being written anew, if
//!   their targets are as the pages say;
//! - everything else that does not fit is no journal of this moment, and nothing is written.

use super::record::{EMPTY, Page, Sums, checksum, checksum_on};
use super::{Journal, RECORD_BYTES, Record};
use crate::ConvertError;
use keyway_store::{AlignedBuf, Store, StoreError};

/// How often what can't be read is tried: a cable, a drive that was just waking up.
const TRIES: usize = 4;

/// Bytes that are summed up at a time.
const PIECE: u64 = 1 << 20;

/// What a journal holds.
pub struct JournalContents {
    /// The newest record that counts.
    pub newest: Record,
    /// The records whose targets may not be on the medium, the oldest first, each with the checksum of what is kept of its
    /// segment.
    pub replay: Vec<(Record, Sums)>,
    /// Where records are that do not count, though their numbers are higher. They must be wiped, and that
    /// be on the medium, before the next one is written: behind it they would count again.
    pub stale: Vec<u64>,
    /// The same of heads.
    pub(crate) stale_heads: Vec<u64>,
    /// Where the newest record is not on the medium, though it is elsewhere: its slot's page, its head.
    lacking: [Option<u64>; 2],
    kept: Sums,
    /// Newer records that did not count, if their sources are as they say.
    pub(crate) suspects: Vec<Record>,
    /// Records that need not be replayed, if their targets are as they say.
    pub(crate) unsure: Vec<Record>,
    /// The heads do not reach as far as the newest record says that they do; the step that the highest of them is of, if there
    /// is one. Only in the last step, which wipes them, they need not.
    pub(crate) heads_behind: Option<Option<u32>>,
}

/// Reads, and tries again where that fails.
fn read_again(store: &dyn Store, buf: &mut [u8], at: u64) -> Result<(), StoreError> {
    let mut read = store.read_at(buf, at);
    for _ in 1..TRIES {
        if read.is_ok() {
            break;
        }
        read = store.read_at(buf, at);
    }
    read
}

/// The checksum of so many bytes that lie there.
pub(crate) fn checksum_at(store: &dyn Store, at: u64, len: u64) -> Result<Sums, StoreError> {
    let mut sums = EMPTY;
    let mut piece = AlignedBuf::default();
    for done in (0..len).step_by(PIECE as usize) {
        piece.resize((len - done).min(PIECE) as usize);
        read_again(store, &mut piece, at + done)?;
        sums = checksum_on(sums, &piece);
    }
    Ok(sums)
}

/// All that can be read of the pages of a journal.
#[derive(Default)]
struct JournalPages {
    /// Of slots and of heads, in order of their numbers, no two alike.
    all: Vec<Page>,
    /// Which number is where, and whether that is a head's place.
    places: Vec<(u64, u64, bool)>,
    /// The highest numbers of a slot's page and of a head.
    slot: Option<u64>,
    head: Option<u64>,
    /// JournalPages that can't be read: of slots, of heads.
    unread: [Vec<u64>; 2],
    failed: Option<StoreError>,
}

impl Journal<'_> {
    /// What it holds; `None` where it holds nothing. Nothing is written.
    ///
    /// # Errors
    /// Something is missing or does not fit, or can't be read and is needed.
    pub fn read(&self) -> Result<Option<JournalContents>, ConvertError> {
        let mut pages = self.pages()?;
        if pages.slot.is_none() && pages.failed.is_none() && !std::ptr::addr_eq(self.store, self.medium) {
            // Somebody else's file: what the heads say may be true, but this is no journal.
            return Ok(None);
        }
        let mut whole: Vec<(Record, Sums)> = Vec::new();
        for page in &pages.all {
            let slot = self.place.slot(page.record.sequence);
            match checksum_at(self.store, slot.segment, page.record.kept_bytes()) {
                Ok(sums) if sums == page.kept => whole.push((page.record, sums)),
                Ok(_) => {}
                Err(e) => {
                    pages.failed.get_or_insert(e);
                }
            }
        }
        let is_whole = |number: u64| whole.iter().any(|(record, _)| record.sequence == number);
        let counts = |record: &Record| (record.sure..record.sequence).all(is_whole);
        let newest = whole.iter().rev().map(|(record, _)| *record).find(counts);
        let Some(newest) = newest else {
            // Before anything else a record without a segment was there, and in the end it is again.
            return match (pages.failed, pages.all.last()) {
                (Some(e), _) => Err(e.into()),
                (None, Some(page)) => Err(ConvertError::RecordLost { at: page.record.target }),
                (None, None) => Ok(None),
            };
        };
        let suspects: Vec<Record> =
            pages.all.iter().map(|page| page.record).filter(|r| r.sequence > newest.sequence).collect();
        if suspects.iter().any(|suspect| suspect.sure > newest.sequence + 1) {
            return Err(ConvertError::JournalOlder);
        }
        let mut unsure = Vec::new();
        let (slots, ahead) = (self.place.slots.len() as u64, self.place.ahead());
        for number in (newest.floor..newest.sequence).filter(|number| !is_whole(*number)) {
            let page = pages.all.iter().find(|page| page.record.sequence == number);
            match page.filter(|_| !self.place.heads.is_empty()) {
                Some(page) => unsure.push(page.record),
                // Its slot is not the turn of one that is being written.
                None if number + slots > newest.sequence + ahead => {
                    let lost = ConvertError::RecordLost { at: newest.target };
                    return Err(pages.failed.take().map_or(lost, ConvertError::from));
                }
                None => {}
            }
        }
        let behind = |head: Option<u64>| head.is_none_or(|head| head.saturating_add(1) < newest.sure);
        let heads_behind = (!self.place.heads.is_empty() && behind(pages.head)).then(|| {
            let head = pages.all.iter().find(|page| pages.head == Some(page.record.sequence));
            head.map(|page| page.record.step)
        });
        let [unread_slots, unread_heads] = &pages.unread;
        let is_unread = |number: u64| {
            let head = self.place.head(number).is_none_or(|head| unread_heads.contains(&head));
            head && unread_slots.contains(&self.place.slot(number).record)
        };
        let next_is_unread = (1..=ahead).any(|n| is_unread(newest.sequence + n));
        let head_is_unread = heads_behind.is_some() && !unread_heads.is_empty();
        if let Some(e) = pages.failed.take_if(|_| next_is_unread || head_is_unread) {
            // Nothing tells whether a newer one counted.
            return Err(e.into());
        }
        // Only where they are: what is in the other place may be needed.
        let stale = |of_heads: bool| {
            let after = pages
                .places
                .iter()
                .filter(move |(sequence, _, is_head)| *sequence > newest.sequence && *is_head == of_heads);
            after.map(|(_, at, _)| *at)
        };
        let (stale_slots, stale_heads) = (stale(false), stale(true));
        let [unread_slots, unread_heads] = pages.unread.clone();
        let lacks = |at: Option<u64>, is_head| {
            at.filter(|at| !pages.places.contains(&(newest.sequence, *at, is_head)))
        };
        let lacking = [
            lacks(Some(self.place.slot(newest.sequence).record), false),
            lacks(self.place.head(newest.sequence), true),
        ];
        let kept = pages.all.iter().find(|page| page.record == newest).map_or([0; 2], |page| page.kept);
        Ok(Some(JournalContents {
            newest,
            lacking,
            kept,
            stale: stale_slots.chain(unread_slots).collect(),
            stale_heads: stale_heads.chain(unread_heads).collect(),
            suspects,
            unsure,
            heads_behind,
            replay: whole
                .into_iter()
                .filter(|(r, _)| r.len > 0 && (newest.floor..=newest.sequence).contains(&r.sequence))
                .collect(),
        }))
    }

    /// The furthest step that any page is of, whether its record counts or not; `None` where there is none. Without the
    /// journal's own file, the heads say it. Nothing is written.
    ///
    /// # Errors
    /// Two pages contradict each other; one can't be read.
    pub(crate) fn furthest_step(&self) -> Result<Option<u32>, ConvertError> {
        let pages = self.pages()?;
        match pages.failed {
            Some(e) => Err(e.into()),
            None => Ok(pages.all.iter().map(|page| page.record.step).max()),
        }
    }

    /// What is kept of a segment that is replayed.
    ///
    /// # Errors
    /// It is not what it was.
    pub(crate) fn kept(&self, record: &Record, sums: Sums) -> Result<AlignedBuf, ConvertError> {
        let mut kept = AlignedBuf::zeroed(usize::try_from(record.kept_bytes()).unwrap_or_default());
        read_again(self.store, &mut kept, self.place.slot(record.sequence).segment)?;
        if checksum(&kept) == sums { Ok(kept) } else { Err(ConvertError::RecordLost { at: record.target }) }
    }

    fn pages(&self) -> Result<JournalPages, ConvertError> {
        let mut pages = JournalPages::default();
        let slots = self.place.slots.iter().map(|slot| (slot.record, false));
        let heads = self.place.heads.iter().map(|head| (*head, true));
        for (at, is_head) in slots.chain(heads) {
            let mut bytes = AlignedBuf::zeroed(RECORD_BYTES);
            let store = if is_head { self.medium } else { self.store };
            if let Err(e) = read_again(store, &mut bytes, at) {
                pages.failed.get_or_insert(e);
                let [slots, heads] = &mut pages.unread;
                if is_head { heads } else { slots }.push(at);
                continue;
            }
            let Some(page) = Page::parse(&bytes, &self.id, &self.place, self.key.as_ref()) else { continue };
            let sequence = page.record.sequence;
            let own =
                if is_head { self.place.head(sequence) } else { Some(self.place.slot(sequence).record) };
            if own != Some(at) {
                continue;
            }
            let highest = if is_head { &mut pages.head } else { &mut pages.slot };
            *highest = (*highest).max(Some(sequence));
            pages.places.push((sequence, at, is_head));
            match pages.all.iter().find(|other| other.record.sequence == sequence) {
                Some(other) if *other != page => return Err(ConvertError::JournalOlder),
                Some(_) => {}
                None => pages.all.push(page),
            }
        }
        pages.all.sort_by_key(|page| page.record.sequence);
        Ok(pages)
    }

    /// Wipes the records that do not count, and their heads, and puts the newest record in both of its places. Does not flush.
    ///
    /// # Errors
    /// The medium failed.
    pub fn mend(&self, held: &JournalContents) -> Result<(), ConvertError> {
        let nothing = || AlignedBuf::zeroed(RECORD_BYTES);
        for at in &held.stale {
            self.put(nothing(), false, *at, 0)?;
        }
        for at in &held.stale_heads {
            self.put(nothing(), true, *at, 0)?;
        }
        // Before the next record is written, whose head may be lost with its page's.
        for (at, is_head) in held.lacking.into_iter().zip([false, true]) {
            if let Some(at) = at {
                self.put(held.newest.to_page(&self.id, held.kept, self.key.as_ref()), is_head, at, 0)?;
            }
        }
        Ok(())
    }
}
