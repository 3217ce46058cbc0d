use super::*;
use keyway_cipher::{Algorithm, Chain, LayerKey, Mode, SectorCipher, Spec};
use keyway_store::MemStore;
use keyway_testkit::Rng;
use std::ops::Range;

const SEGMENT: u64 = 8192;
const PAGE: usize = 4096;

/// The journal in a file, without heads.
fn place() -> SlotTable {
    SlotTable::in_a_file(SEGMENT)
}

/// The same with heads, behind it.
fn with_heads() -> SlotTable {
    place().with_heads(place().file_bytes())
}

fn store() -> MemStore {
    MemStore::new(place().file_bytes() as usize + SLOTS * PAGE)
}

fn journal(store: &MemStore, place: SlotTable) -> Journal<'_> {
    Journal::new(store, store, place, [9; 16])
}

fn write(journal: &Journal<'_>, sequence: u64, sure: u64, floor: u64) {
    let (redundancy, source, result) = (Redundancy::Whole, [sequence, 1], [sequence, 2]);
    let record = Record {
        sequence,
        step: 3,
        done: 5,
        target: 7,
        len: SEGMENT,
        sure,
        floor,
        redundancy,
        source,
        result,
    };
    journal.write(&record, &Rng::new(sequence).bytes(SEGMENT as usize)).expect("written");
}

/// As the real thing does where one segment after the other is flushed.
fn write_all(journal: &Journal<'_>, numbers: Range<u64>) {
    for sequence in numbers {
        write(journal, sequence, sequence.max(1) - 1, sequence.max(2) - 2);
    }
}

/// The newest number, those that are replayed, and whether there are some that do not count.
fn held_at(store: &MemStore, place: SlotTable) -> Option<(u64, Vec<u64>, bool)> {
    let held = journal(store, place).read().expect("read")?;
    let replay = held.replay.iter().map(|(record, _)| record.sequence).collect();
    Some((held.newest.sequence, replay, !held.stale.is_empty()))
}

fn held(store: &MemStore) -> Option<(u64, Vec<u64>, bool)> {
    held_at(store, place())
}

#[test]
fn the_records_above_the_floor_come_back_in_order() {
    for place in [place(), with_heads()] {
        let store = store();
        let held = |store: &MemStore| held_at(store, place.clone());
        let journal = journal(&store, place.clone());
        assert_eq!(held(&store), None);
        journal.note(0, 0, 0).expect("written");
        assert_eq!(held(&store), Some((0, vec![], false)));
        for sequence in 1..8 {
            write(&journal, sequence, sequence.max(2) - 1, sequence.max(3) - 2);
        }
        assert_eq!(held(&store), Some((7, vec![5, 6, 7], false)));
        let found = journal.read().expect("read").expect("held");
        let (record, sums) = found.replay[2];
        assert_eq!(journal.kept(&record, sums).expect("kept")[..], Rng::new(7).bytes(8192));
        journal.note(8, 3, 11).expect("written");
        assert_eq!(held(&store), Some((8, vec![], false)), "everything before a note is on the medium");
        let other = Journal::new(&store, &store, place.clone(), [8; 16]);
        assert!(other.read().expect("read").is_none(), "another conversion's");
    }
}

#[test]
fn behind_a_record_that_is_missing_none_counts_and_it_is_wiped() {
    for place in [place(), with_heads()] {
        let store = store();
        let held = |store: &MemStore| held_at(store, place.clone());
        let journal = journal(&store, place.clone());
        write_all(&journal, 0..4);
        // 4 was lost, 5 arrived: 3 counts.
        write(&journal, 5, 4, 2);
        assert_eq!(held(&store), Some((3, vec![2, 3], true)));
        let found = journal.read().expect("read").expect("held");
        assert_eq!(found.suspects.len(), 1);
        journal.mend(&found).expect("wiped");
        assert_eq!(held(&store), Some((3, vec![2, 3], false)));
        assert!(journal.read().expect("read").expect("held").suspects.is_empty(), "its head is gone, too");
        journal.note(4, 3, 7).expect("written");
        assert_eq!(held(&store), Some((4, vec![], false)));
    }
}

/// The page of a record as it was before there were heads: of the fields' bytes, nothing of ours.
fn before_heads(version: u8, sequence: u64, kept: &[u8]) -> Vec<u8> {
    let mut page = [b"KEYWAY-JOURNAL\0", &[version][..], &[9; 16]].concat();
    page.extend(sequence.to_le_bytes());
    page.extend([3, 0, 0, 0, 0, 0, 0, 0]);
    for field in [5, 7, kept.len() as u64] {
        page.extend(field.to_le_bytes());
    }
    let (mut sum, mut sums) = (u64::MAX, 0u64);
    for word in kept.chunks(8) {
        sum = sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("eight")));
        sums = sums.wrapping_add(sum);
    }
    for field in [sum, sums, sequence.max(1) - 1, sequence.max(2) - 2] {
        page.extend(field.to_le_bytes());
    }
    assert_eq!(page.len(), 104);
    page.extend(crc32fast::hash(&page).to_le_bytes());
    page.resize(PAGE, 0);
    page
}

#[test]
fn a_journal_that_was_written_before_there_were_heads_is_read_and_gone_on_with() {
    for version in [2, 3] {
        let store = store();
        for sequence in 0..2 {
            let kept = Rng::new(sequence).bytes(SEGMENT as usize);
            store.write_at(&before_heads(version, sequence, &kept), sequence * PAGE as u64).expect("written");
            store.write_at(&kept, SLOTS as u64 * PAGE as u64 + sequence * SEGMENT).expect("written");
        }
        assert_eq!(held(&store), Some((1, vec![0, 1], false)));
        assert_eq!(held_at(&store, with_heads()), None, "where there are heads it is somebody else's");
        journal(&store, place()).note(2, 3, 7).expect("written");
        assert_eq!(held(&store), Some((2, vec![], false)));
    }
}

#[test]
fn every_changed_byte_makes_a_record_worthless() {
    let store = store();
    write(&journal(&store, place()), 0, 0, 0);
    let good = store.snapshot();
    let segment = SLOTS * PAGE;
    let held = |bytes: Vec<u8>| {
        let store = MemStore::from_vec(bytes);
        let held = journal(&store, place()).read();
        // With the page whole it is known to be lost.
        held.is_ok_and(|held| held.is_some())
    };
    assert!(held(good.clone()));
    for at in (0..172).chain(segment..segment + 1024) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(!held(bad), "byte {at}");
    }
    // Sectors that changed places.
    let mut bad = good.clone();
    let (first, second) = bad[segment..segment + 1024].split_at_mut(512);
    first.swap_with_slice(second);
    assert!(!held(bad));
}

/// A medium with records of which number 6 was the last, and where its slot's page, its head and its segment lie.
fn six() -> (MemStore, [usize; 3]) {
    let store = store();
    let journal = journal(&store, with_heads());
    journal.note(0, 0, 0).expect("written");
    write_all(&journal, 1..7);
    let heads = place().file_bytes() as usize;
    (store, [2 * PAGE, heads + 2 * PAGE, SLOTS * PAGE + 2 * SEGMENT as usize])
}

#[test]
fn a_record_whose_page_or_head_is_damaged_still_counts() {
    let (store, [page, head, _]) = six();
    for at in [page, head] {
        let mut bytes = store.snapshot();
        bytes[at + 40] ^= 1;
        assert_eq!(
            held_at(&MemStore::from_vec(bytes), with_heads()),
            Some((6, vec![4, 5, 6], false)),
            "{at}"
        );
    }
}

#[test]
fn a_newest_record_that_lost_its_segment_is_a_suspect() {
    let (store, [_, _, segment]) = six();
    let mut bytes = store.snapshot();
    bytes[segment + 100] ^= 1;
    let store = MemStore::from_vec(bytes);
    let held = journal(&store, with_heads()).read().expect("read").expect("held");
    assert_eq!(held.newest.sequence, 5);
    assert_eq!(held.suspects.iter().map(|record| record.sequence).collect::<Vec<_>>(), [6]);
    assert_eq!(held.suspects[0].source, [6, 1]);
    assert_eq!((held.stale.len(), held.stale_heads.len()), (1, 1));
}

/// In an older file the slot of a newer record, whose head is on the medium, has one that is replayed.
#[test]
fn nothing_is_wiped_that_an_older_file_needs() {
    let heads = place().file_bytes() as usize;
    let at = |last: u64| {
        let store = store();
        let journal = journal(&store, with_heads());
        journal.note(0, 0, 0).expect("written");
        for sequence in 1..last + 1 {
            write(&journal, sequence, sequence.max(2) - 1, sequence.max(4) - 3);
        }
        store.snapshot()
    };
    let store = MemStore::from_vec([&at(6)[..heads], &at(7)[heads..]].concat());
    let journal = journal(&store, with_heads());
    let held = journal.read().expect("read").expect("held");
    assert_eq!(held.suspects.len(), 1);
    journal.mend(&held).expect("written");
    assert_eq!(held_at(&store, with_heads()), Some((6, vec![3, 4, 5, 6], false)));
}

#[test]
fn an_older_record_that_lost_its_segment_is_told() {
    let (store, [_, _, segment]) = six();
    let damaged = |number: usize| {
        let mut bytes = store.snapshot();
        bytes[segment + number * SEGMENT as usize - 2 * SEGMENT as usize] ^= 1;
        let store = MemStore::from_vec(bytes);
        let held = journal(&store, with_heads()).read().expect("read").expect("held");
        let numbers = |records: &[Record]| records.iter().map(|record| record.sequence).collect::<Vec<_>>();
        (held.newest.sequence, numbers(&held.unsure), numbers(&held.suspects))
    };
    // The fourth is in slot 0, the fifth in slot 1; the third, in slot 3, is below the floor.
    assert_eq!(damaged(0), (6, vec![4], vec![]));
    assert_eq!(damaged(3), (6, vec![], vec![]));
    // Number 6 asks for the fifth: without it neither counts.
    assert_eq!(damaged(1), (4, vec![], vec![5, 6]));
}

#[test]
fn an_older_journal_is_refused_and_so_is_an_older_medium() {
    let heads = place().file_bytes() as usize;
    let at = |last: u64| {
        let store = store();
        let journal = journal(&store, with_heads());
        journal.note(0, 0, 0).expect("written");
        write_all(&journal, 1..last + 1);
        store.snapshot()
    };
    for (journal_of, medium_of) in [(2, 9), (5, 9), (7, 9), (6, 12)] {
        let bytes = [&at(journal_of)[..heads], &at(medium_of)[heads..]].concat();
        let read = journal(&MemStore::from_vec(bytes), with_heads()).read();
        // Either it is told at once, or the segments decide.
        let told = match read {
            Err(ConvertError::JournalOlder | ConvertError::RecordLost { .. }) => true,
            Err(e) => panic!("{e}"),
            Ok(held) => held.is_some_and(|held| !held.suspects.is_empty()),
        };
        assert!(told, "{journal_of}, {medium_of}");
        let bytes = [&at(medium_of)[..heads], &at(journal_of)[heads..]].concat();
        let store = MemStore::from_vec(bytes);
        let held = journal(&store, with_heads()).read().expect("read").expect("held");
        let behind = held.heads_behind;
        assert_eq!(behind, (medium_of > journal_of + 2).then_some(Some(3)), "{medium_of}, {journal_of}");
    }
}

#[test]
fn only_records_of_the_volumes_own_key_count() {
    let cipher = |byte: u8| {
        let spec = Spec { chain: Chain::single(Algorithm::Aes256), mode: Mode::Xts, unit_bytes: 512 };
        let layer = LayerKey { key: &[byte; 32], tweak_key: &[byte + 9; 32] };
        SectorCipher::new(&spec, &[layer]).expect("a cipher")
    };
    let (own, other) = (cipher(1), cipher(2));
    let store = store();
    let of = |cipher| journal(&store, with_heads()).of_volume(cipher);
    write_all(&of(Some(&own)), 0..1);
    assert!(of(Some(&own)).read().expect("read").is_some());
    assert!(of(Some(&other)).read().expect("read").is_none(), "of another volume");
    assert!(of(None).read().expect("read").is_some(), "how far it is anybody may know");
    write_all(&of(None), 0..1);
    assert!(of(Some(&own)).read().expect("read").is_none(), "nobody has signed it");
}
