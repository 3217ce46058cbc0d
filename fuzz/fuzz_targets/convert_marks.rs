//! Any bytes as what a conversion leaves on a medium and in its file: markers, the sheet, lists and journals.
//! Finding one and telling how far it is writes nothing, what is left is cleaned up or refused, and nothing
//! panics or reads past an end.
//!
//! The first byte of the input chooses whose they are, the second where the marker stands. The marker's fields
//! follow; the rest is laid over the medium and the file in pieces. Identifiers and checksums are nobody's secret
//! and made right, or nothing would get past them.
#![no_main]

use keyway_convert::veracrypt;
use keyway_convert::{
    Conversion, Journal, JournalLocation, MARKER_BYTES, Move, RECORD_BYTES, Redundancy, Side, SlotTable,
    Step, VeraCryptMarker, Wipe,
};
use keyway_convert::{bitlocker, cross_format};
use keyway_store::{MemStore, Store};
use libfuzzer_sys::fuzz_target;

/// Room for every area that a marker can name.
const MEDIUM_BYTES: usize = 1 << 20;

const PAGE: usize = MARKER_BYTES;
const ID: [u8; 16] = [7; 16];

/// The fields of a marker that an input has.
const FIELDS: usize = 2048;

/// Bytes of a page's payload, and of its sectors' parts of that: see `marker.rs`.
const PAYLOAD: usize = 3840;
const PART: usize = 480;

fuzz_target!(|data: &[u8]| {
    let Some(([choice, stands], data)) = data.split_first_chunk::<2>() else { return };
    match choice % 4 {
        0 => of_veracrypt(*stands, data),
        1 => of_bitlocker(*stands, data),
        2 => of_both(*stands, data),
        _ => a_journal(*stands, data),
    }
});

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |n| u64::from_le_bytes(*n))
}

fn put(to: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(slot) = at.checked_add(bytes.len()).and_then(|end| to.get_mut(at..end)) {
        slot.copy_from_slice(bytes);
    }
}

/// A marker's page: the magic number, the fields of the input with the medium's size, and what makes it whole.
fn page(magic: &[u8; 16], fields: &[u8]) -> Vec<u8> {
    let mut payload = fields.get(..FIELDS).unwrap_or(fields).to_vec();
    payload.resize(PAYLOAD, 0);
    put(&mut payload, 0, magic);
    put(&mut payload, 24, &(MEDIUM_BYTES as u64).to_le_bytes());
    let crc = crc32fast::hash(&payload[..PAYLOAD - 4]);
    put(&mut payload, PAYLOAD - 4, &crc.to_le_bytes());
    payload.chunks(PART).flat_map(|part| [&ID[..], part, &ID].concat()).collect()
}

/// Lays pieces over bytes: each has its place in sectors, its length, and so many bytes.
fn lay(over: &mut [u8], mut rest: &[u8]) {
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let [low, high, len_low, len_high] = *head;
        let at = usize::from(u16::from_le_bytes([low, high])) * 512 % over.len();
        let len = usize::from(u16::from_le_bytes([len_low, len_high])).min(tail.len()).min(over.len() - at);
        let (piece, next) = tail.split_at(len);
        put(over, at, piece);
        rest = next;
    }
}

/// Makes the records of a journal this conversion's, with checksums that are right: the segment's, too.
fn mend_records(bytes: &mut [u8], place: &SlotTable) {
    for slot in &place.slots {
        let at = usize::try_from(slot.record).unwrap_or(usize::MAX);
        if !bytes
            .get(at..)
            .is_some_and(|record| record.starts_with(b"KEYWAY-JOURNAL") && record.len() >= RECORD_BYTES)
        {
            continue;
        }
        // Any version; of segments of which not all is kept what is kept has its own length.
        let (magic, crc_at) = match bytes[at + 15] % 4 {
            0 => (b"KEYWAY-JOURNAL\x00\x02", 104),
            1 => (b"KEYWAY-JOURNAL\x00\x03", 104),
            _ => (b"KEYWAY-JOURNAL\x00\x04", 168),
        };
        put(bytes, at, magic);
        put(bytes, at + 16, &ID);
        let redundancy =
            [Redundancy::Whole, Redundancy::InPlace, Redundancy::Shifted][usize::from(bytes[at + 44]) % 3];
        put(bytes, at + 44, &u32::from(bytes[at + 44] % 3).to_le_bytes());
        let len = match redundancy.is_possible(number(bytes, at + 64)) {
            true => usize::try_from(redundancy.kept_bytes(number(bytes, at + 64))).unwrap_or(usize::MAX),
            false => 0,
        };
        let start = usize::try_from(slot.segment).unwrap_or(usize::MAX);
        let segment = start.checked_add(len).and_then(|end| bytes.get(start..end)).unwrap_or_default();
        let (mut sum, mut sums) = (!0u64, 0u64);
        let (words, odd) = segment.as_chunks::<8>();
        for word in
            words.iter().map(|word| u64::from_le_bytes(*word)).chain(odd.iter().map(|byte| (*byte).into()))
        {
            sum = sum.wrapping_add(word);
            sums = sums.wrapping_add(sum);
        }
        put(bytes, at + 72, &sum.to_le_bytes());
        put(bytes, at + 80, &sums.to_le_bytes());
        let crc = crc32fast::hash(&bytes[at..at + crc_at]);
        put(bytes, at + crc_at, &crc.to_le_bytes());
    }
}

/// Makes a list whole that begins with that magic number, with its conversion's identifier in bytes 16 to 32.
fn mend_list(bytes: &mut [u8], at: usize, len: usize, magic: &[u8]) {
    if !bytes.get(at..).is_some_and(|list| list.starts_with(magic) && list.len() >= len) {
        return;
    }
    put(bytes, at + 16, &ID);
    let crc = crc32fast::hash(&bytes[at..at + len - 4]);
    put(bytes, at + len - 4, &crc.to_le_bytes());
}

/// Puts the marker in front, in its second place, in both, or in front in part.
fn stand(medium: &mut [u8], page: &[u8], second: usize, stands: u8) {
    let in_front = match stands % 4 {
        0 => PAGE,
        1 => 0,
        2 => usize::from(stands) * 2,
        _ => 512 * usize::from(stands >> 5),
    };
    put(medium, 0, &page[..in_front]);
    if stands % 4 != 0 {
        put(medium, second, page);
    }
}

fn of_veracrypt(stands: u8, data: &[u8]) {
    let (fields, rest) = data.split_at(data.len().min(FIELDS));
    let page = page(b"KEYWAY-CONVERTS\x02", fields);
    let mut medium = vec![0; MEDIUM_BYTES];
    lay(&mut medium, rest);
    stand(&mut medium, &page, MEDIUM_BYTES - PAGE, stands);
    let Some(marker) = VeraCryptMarker::parse(&page) else { return };
    assert_eq!(
        VeraCryptMarker::parse(&marker.to_bytes()).expect("what we write").to_bytes(),
        marker.to_bytes()
    );
    // The list of what is moved lies before the records at the end.
    mend_list(&mut medium, MEDIUM_BYTES - 5 * PAGE - (16 << 10), 16 << 10, b"KEYWAYUS");
    let mut file = vec![0; 256 << 10];
    lay(&mut file, rest);
    mend_records(&mut file, &marker.place);
    mend_records(&mut medium, &marker.place);
    let (store, file) = (MemStore::from_vec(medium).read_only(), MemStore::from_vec(file).read_only());
    let Some(found) = keyway_convert::find(&store).expect("memory") else { return };
    let in_a_file = found.marker.journal != JournalLocation::OnMedium;
    // As whoever opens it does.
    if in_a_file && found.marker.place.file_bytes() > file.size() {
        return;
    }
    let journal = in_a_file.then_some(&file as &dyn Store);
    told(veracrypt::how_far(&found, &store, journal).ok());
}

fn told(far: Option<(u64, u64)>) {
    if let Some((_, total)) = far {
        assert!(total <= 64 * MEDIUM_BYTES as u64, "more than there is: {total}");
    }
}

fn of_bitlocker(stands: u8, data: &[u8]) {
    const HALF: usize = 32 << 10;
    let (fields, rest) = data.split_at(data.len().min(FIELDS));
    let page = page(b"KEYWAY-BITLOCK\x00\x01", fields);
    let mut medium = vec![0; MEDIUM_BYTES];
    lay(&mut medium, rest);
    // In the second half of the third copy of the metadata: the second marker, records, first page, work.
    let third = usize::try_from(number(fields, 48)).ok().filter(|at| *at < MEDIUM_BYTES);
    let second = third.map_or(MEDIUM_BYTES, |at| at + HALF);
    stand(&mut medium, &page, second, stands);
    if stands % 4 != 0 {
        let mut pointer = [&b"KEYWAYPT"[..], &(second as u64).to_le_bytes(), &ID].concat();
        pointer.extend(crc32fast::hash(&pointer).to_le_bytes());
        put(&mut medium, 216, &pointer);
    }
    mend_list(&mut medium, second + PAGE + 4 * RECORD_BYTES + PAGE, 8 << 10, b"KEYWAYWK");
    let mut file = vec![0; 256 << 10];
    lay(&mut file, rest);
    let found = |store: &dyn Store| bitlocker::find(store).expect("memory");
    let Some(place) = found(&MemStore::from_vec(medium.clone())).map(|found| found.mark.place) else {
        return;
    };
    mend_records(&mut medium, &place);
    mend_records(&mut file, &place);
    let (store, file) =
        (MemStore::from_vec(medium.clone()).read_only(), MemStore::from_vec(file).read_only());
    let Some(found) = found(&store) else { return };
    let _ = bitlocker::look(&store);
    let in_a_file = found.mark.journal != JournalLocation::OnMedium;
    if !in_a_file || found.mark.place.file_bytes() <= file.size() {
        let journal = in_a_file.then_some(&file as &dyn Store);
        told(bitlocker::how_far(&found, &store, journal).ok());
    }
    let store = MemStore::from_vec(medium);
    let _ = bitlocker::seen(&store, &found);
    let nothing = bitlocker::Proof::NothingToOpen;
    if !found.in_front {
        let _ = bitlocker::clean(&store, &found.mark, nothing);
    }
}

fn of_both(stands: u8, data: &[u8]) {
    const SHEET: usize = 11 * PAGE;
    let (fields, rest) = data.split_at(data.len().min(FIELDS));
    let page = page(b"KEYWAY-BETWEEN\x00\x01", fields);
    let mut medium = vec![0; MEDIUM_BYTES];
    lay(&mut medium, rest);
    stand(&mut medium, &page, MEDIUM_BYTES - PAGE, stands);
    let store = MemStore::from_vec(medium.clone()).read_only();
    let Some(cross_format::FoundCrossFormat { mark, in_front }) = cross_format::find(&store).expect("memory")
    else {
        return;
    };
    assert_eq!(mark.size, MEDIUM_BYTES as u64);
    let Some(bytes) = usize::try_from(mark.place().file_bytes()).ok().filter(|bytes| *bytes <= MEDIUM_BYTES)
    else {
        return;
    };
    let mut file = vec![0; bytes];
    lay(&mut file, rest);
    put(&mut file, 0, b"KEYWAY-BETWEEN-S");
    put(&mut file, 32, &(MEDIUM_BYTES as u64).to_le_bytes());
    mend_list(&mut file, 0, SHEET, b"KEYWAY-BETWEEN-S");
    mend_records(&mut file, &mark.place());
    let read = MemStore::from_vec(file.clone()).read_only();
    let _ = cross_format::look(&mark, &store, &read);
    told(cross_format::how_far(&mark, &store, &read).ok());
    let (store, file) = (MemStore::from_vec(medium), MemStore::from_vec(file));
    if !in_front
        && cross_format::settle(&store, &file, &mark)
            .is_ok_and(|left| left != cross_format::CrossFormatMedium::HalfConverted)
    {
        assert!(cross_format::find(&store).expect("memory").is_none(), "it is still found");
    }
}

/// A journal's records alone, and a small conversion that goes on from whatever they say.
fn a_journal(stands: u8, data: &[u8]) {
    // Sums and parity of 64 KiB.
    const SEGMENT: u64 = 8192;
    let place = match stands % 2 {
        0 => SlotTable::in_a_file(SEGMENT),
        // Two slots.
        _ => SlotTable {
            slots: SlotTable::in_a_file(SEGMENT).slots[..2].to_vec(),
            ..SlotTable::in_a_file(SEGMENT)
        },
    };
    let place = SlotTable { whole: stands & 4 != 0, ..place };
    let mut file = vec![0; place.file_bytes() as usize];
    lay(&mut file, data);
    mend_records(&mut file, &place);
    let file = MemStore::from_vec(file);
    let store = MemStore::new(128 << 10);
    // With heads, too, in which case older records are nobody's.
    let place = if stands & 8 == 0 { place } else { place.with_heads(32_768) };
    let journal = || Journal::new(&file, &store, place.clone(), ID);
    if let Ok(Some(held)) = journal().read() {
        assert!(held.newest.floor <= held.newest.sure && held.newest.sure <= held.newest.sequence);
        assert!(held.replay.is_sorted_by_key(|(record, _)| record.sequence));
        assert!(held.replay.iter().all(|(record, _)| record.kept_bytes() <= SEGMENT));
        assert!(held.replay.iter().all(|(record, _)| record.sequence <= held.newest.sequence));
        journal().mend(&held).expect("memory");
        let again = journal().read().expect("memory").expect("the newest counts");
        assert!(again.newest == held.newest && again.stale.is_empty());
    }
    let side = |offset| Side { offset, key: None };
    let moving = |from, to| {
        Step::Move(Move { logical: 0, from: side(from), to: side(to), len: 40_960, from_end: to > from })
    };
    let steps = vec![
        Step::Put(vec![(0, page(b"KEYWAY-CONVERTS\x02", &[]))]),
        moving(8192, 65_536),
        moving(65_536, 61_440),
        moving(61_440, 61_440),
        Step::Wipe(Wipe { ranges: vec![4096..8192, 8192..12_288], noise: false }),
        Step::Put(vec![(0, vec![1; PAGE])]),
        Step::Wipe(Wipe { ranges: std::iter::once(0..512).collect(), noise: true }),
    ];
    let (journal, anchors) = (journal(), std::iter::once(12_288..16_384).collect());
    let conversion =
        Conversion { store: &store, journal, steps, marking: 0, front: None, anchors, lost: None };
    let _ = conversion.done();
    let before = threads();
    let _ = conversion.run(stands & 2 != 0, &());
    // A scope ends before its threads have given back what was their own, which would look like a leak.
    while threads() > before {
        std::thread::yield_now();
    }
}

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
