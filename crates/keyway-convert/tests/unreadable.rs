//! Media with sectors that can't be read: the first one ends a conversion and is named, or they become zeros and are listed;
//! nothing else is ever lost, whatever the drive does besides.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use keyway_convert::{ConversionKind, ConvertError, LostSectors, Stopped};
use keyway_store::{MemStore, Operation, Store, StoreError, pass_on};
use keyway_testkit::Rng;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use support::bitlocker::Case as BitLocker;
use support::case::Case;
use support::cross_format::Case as CrossFormat;
use support::{Loss, Medium, Power};

const SECTOR: u64 = 512;
/// Bytes of the first page.
const PAGE: u64 = 4096;
/// Bytes in front of a VeraCrypt volume's content.
const HEADERS: u64 = 128 << 10;

/// What becomes of a sector that can't be read when it is overwritten.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overwritten {
    /// The drive takes a spare one.
    Mended,
    /// It fails.
    Fails,
    /// It fails but where the whole page is written: the drive's sectors are larger than it says.
    InPages,
    /// It says that it was written, and what can be read then is something else.
    Lies,
}

/// A drive with sectors that can't be read.
struct Worn {
    below: Power,
    bad: Mutex<BTreeSet<u64>>,
    lying: Mutex<BTreeSet<u64>>,
    then: Overwritten,
    reads: AtomicU64,
    errno: i32,
}

fn sectors(offset: u64, len: usize) -> Range<u64> {
    offset / SECTOR..(offset + len as u64).div_ceil(SECTOR)
}

impl Worn {
    fn new(below: Power, bad: &[u64], then: Overwritten) -> Self {
        let bad = bad.iter().map(|at| at / SECTOR).collect();
        let (reads, lying) = (AtomicU64::new(0), Mutex::default());
        Self { below, bad: Mutex::new(bad), lying, then, reads, errno: 5 }
    }

    fn fails(&self, what: Operation, offset: u64, len: usize) -> StoreError {
        StoreError::new(what, "the worn drive", offset, len, io::Error::from_raw_os_error(self.errno))
    }

    fn still_bad(&self) -> Vec<u64> {
        self.bad.lock().expect("no panic").iter().map(|sector| sector * SECTOR).collect()
    }
}

impl Store for Worn {
    pass_on! { [below] flush discard size sector_bytes is_read_only }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.bad.lock().expect("no panic").range(sectors(offset, buf.len())).next().is_some() {
            return Err(self.fails(Operation::Read, offset, buf.len()));
        }
        self.below.read_at(buf, offset)?;
        for sector in self.lying.lock().expect("no panic").range(sectors(offset, buf.len())) {
            buf[(sector * SECTOR - offset) as usize] ^= 1;
        }
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let mut bad = self.bad.lock().expect("no panic");
        let met: Vec<u64> = bad.range(sectors(offset, buf.len())).copied().collect();
        let whole = offset.is_multiple_of(PAGE) && buf.len() as u64 >= PAGE;
        let takes = match self.then {
            Overwritten::Fails => false,
            Overwritten::InPages => whole,
            Overwritten::Mended | Overwritten::Lies => true,
        };
        if !met.is_empty() && !takes {
            return Err(self.fails(Operation::Write, offset, buf.len()));
        }
        self.below.write_at(buf, offset)?;
        for sector in met {
            bad.remove(&sector);
            if self.then == Overwritten::Lies {
                self.lying.lock().expect("no panic").insert(sector);
            }
        }
        Ok(())
    }
}

impl Medium for Worn {
    fn flush_part(&self, part: &Range<u64>) -> Result<(), StoreError> {
        self.below.flush_part(part)
    }
}

/// A list of what was lost: bytes of the content, and where they lay.
#[derive(Default)]
struct List {
    lines: Mutex<Vec<(Range<u64>, u64)>>,
    fails: bool,
}

impl List {
    fn sorted(&self) -> Vec<(Range<u64>, u64)> {
        let mut lines = self.lines.lock().expect("no panic").clone();
        lines.sort_by_key(|(content, _)| content.start);
        lines
    }
}

impl LostSectors for List {
    fn lost(&self, content: Range<u64>, at: u64) -> io::Result<()> {
        if self.fails {
            return Err(io::Error::from_raw_os_error(28));
        }
        self.lines.lock().expect("no panic").push((content, at));
        Ok(())
    }
}

/// Where a sector of a case's content lies before it is converted.
fn lies(case: &Case, content: u64) -> u64 {
    match case.plan.marker.kind {
        ConversionKind::Encryption => content,
        _ => HEADERS + content,
    }
}

/// All conversions that read everything of the content that counts: with used space only in use, what is free counts too.
fn all() -> impl Iterator<Item = Case> {
    Case::all().into_iter().filter(|case| !case.name.starts_with("used space only in use"))
}

/// Sectors of the content in use: at its edges, side by side, and anywhere. But for the first page, where file systems say what
/// they are: without it nothing is converted.
fn chosen(case: &Case, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    let (first, last) = (&case.used[0], &case.used[case.used.len() - 1]);
    let mut all: BTreeSet<u64> = BTreeSet::from([first.start as u64 + PAGE, last.end as u64 - SECTOR]);
    for _ in 0..6 {
        let range = &case.used[rng.below(case.used.len() as u64) as usize];
        let sector = (range.start as u64 + rng.below(range.len() as u64 / SECTOR) * SECTOR).max(PAGE);
        all.extend([sector, sector + SECTOR].into_iter().filter(|at| *at < range.end as u64));
    }
    all.into_iter().collect()
}

/// Everything is converted and right, but for zeros there.
fn is_done_but_for(case: &Case, lost: &[u64], medium: &[u8]) -> Result<(), String> {
    let (content, mut expected) = (case.content(medium), case.plain.clone());
    for at in lost {
        expected[*at as usize..][..SECTOR as usize].fill(0);
    }
    match case.used.iter().any(|range| content[range.clone()] != expected[range.clone()]) {
        true => Err("the content is wrong".to_owned()),
        false => case.is_clean(medium),
    }
}

#[test]
fn sectors_that_cannot_be_read_become_zeros_and_are_listed() {
    let twice =
        all().map(|case| (Overwritten::Mended, case)).chain(all().map(|case| (Overwritten::InPages, case)));
    for (seed, (then, case)) in (0..).zip(twice) {
        let contents = chosen(&case, seed);
        let bad: Vec<u64> = contents.iter().map(|at| lies(&case, *at)).collect();
        let worn = Worn::new(Power::new(case.image.clone(), None), &bad, then);
        let list = List::default();
        let name = case.name.clone();
        assert_eq!(case.begin_giving_up(&worn, Some(&list)).expect("goes on"), Stopped::Done, "{name}");
        let expected: Vec<_> = contents.iter().zip(&bad).map(|(at, bad)| (*at..at + SECTOR, *bad)).collect();
        assert_eq!(list.sorted(), expected, "{name}");
        let medium = worn.below.left(Loss::All);
        is_done_but_for(&case, &contents, &medium).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    }
}

#[test]
fn the_first_one_ends_it_with_its_place_and_it_goes_on_when_that_is_allowed() {
    for (seed, case) in (50..).zip(all()) {
        let content = chosen(&case, seed)[2];
        let bad = lies(&case, content);
        // A medium error of a SCSI or NVMe drive is ENODATA on Linux.
        let mut worn = Worn::new(Power::new(case.image.clone(), None), &[bad], Overwritten::Mended);
        worn.errno = 61;
        let name = case.name.clone();
        match case.begin(&worn) {
            Err(ConvertError::Unreadable { at, content: told, .. }) => {
                assert_eq!((at, told), (bad, content..content + SECTOR), "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(worn.still_bad(), [bad], "{name}: nothing was given up");
        let list = List::default();
        let resumed = case.resume_giving_up(&worn, Some(&list)).expect("it is found");
        assert_eq!(resumed.expect("goes on"), Stopped::Done, "{name}");
        assert_eq!(list.sorted(), [(content..content + SECTOR, bad)], "{name}");
        let medium = worn.below.left(Loss::All);
        is_done_but_for(&case, &[content], &medium).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    }
}

#[test]
fn nothing_is_given_up_where_the_list_or_the_drive_fails() {
    for (seed, case) in (100..).zip(all()) {
        let content = chosen(&case, seed)[1];
        let bad = lies(&case, content);
        let name = case.name.clone();
        for (then, fails) in
            [(Overwritten::Mended, true), (Overwritten::Fails, false), (Overwritten::Lies, false)]
        {
            let worn = Worn::new(Power::new(case.image.clone(), None), &[bad], then);
            let list = List { fails, ..List::default() };
            match case.begin_giving_up(&worn, Some(&list)) {
                Err(ConvertError::List(_)) if fails => {}
                Err(ConvertError::Unwritable { at, content: told, .. }) if !fails => {
                    assert_eq!((at, told), (bad, content..content + SECTOR), "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
            assert_eq!(worn.still_bad().is_empty(), then == Overwritten::Lies, "{name}");
            // On a drive that works, with what could be saved of this one, it goes on, and nothing else is lost.
            let mut saved = worn.below.left(Loss::All);
            let zeros = list.sorted().len() == 1;
            if then == Overwritten::Fails {
                // What was copied of the bad sector is nothing.
                saved[bad as usize..][..SECTOR as usize].fill(0);
            }
            let store = MemStore::from_vec(saved);
            let resumed = case.resume(&store).expect("it is found");
            assert_eq!(resumed.expect("goes on"), Stopped::Done, "{name}");
            let (medium, plain) = (store.snapshot(), &case.plain);
            let done = case.content(&medium);
            let differ = |range: &Range<usize>| {
                (range.start..range.end)
                    .step_by(512)
                    .find(|at| *at as u64 != content && done[*at..*at + 512] != plain[*at..*at + 512])
            };
            assert_eq!(case.used.iter().find_map(differ), None, "{name}");
            assert_eq!(zeros, !fails, "{name}");
            case.is_clean(&medium).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        }
    }
}

/// A sector that is read at last, after up to three failures, is not given up.
#[test]
fn a_sector_that_is_read_at_another_try_is_kept() {
    let case = Case::new(ConversionKind::Encryption);
    let range = 400 * SECTOR..401 * SECTOR;
    let times = |n| Some(support::Bad { range: range.clone(), times: n });
    // Each half that holds it fails once; then it is read alone, up to four times.
    for n in [1, 3, 5] {
        let power = Power::new(case.image.clone(), None).failing(times(n));
        let list = List::default();
        assert_eq!(case.begin_giving_up(&power, Some(&list)).expect("goes on"), Stopped::Done);
        assert_eq!(list.sorted(), [], "{n}");
        case.is_done(&power.left(Loss::All)).expect("whole");
    }
}

/// The power fails while sectors are given up, over and over: what is not in the list is whole.
#[test]
fn a_loss_of_power_meanwhile_loses_nothing_else() {
    let step = if std::env::var_os("KEYWAY_SLOW").is_some() { 1 } else { 13 };
    for (seed, case) in (200..).zip(Case::all()) {
        let bad: Vec<u64> = chosen(&case, seed).iter().map(|at| lies(&case, *at)).collect();
        let whole = Worn::new(Power::new(case.image.clone(), None), &bad, Overwritten::Mended);
        case.begin_giving_up(&whole, Some(&List::default())).expect("nothing else fails");
        for cut in (seed % step..whole.below.steps()).step_by(step as usize) {
            let when = format!("{}, cut before {cut}", case.name);
            let power = Power::new(case.image.clone(), Some(cut)).with(case.damage());
            let worn = Worn::new(power, &bad, Overwritten::Mended);
            let list = List::default();
            let medium = match case.begin_giving_up(&worn, Some(&list)) {
                Ok(_) => worn.below.left(Loss::All),
                Err(_) => {
                    let left = worn.still_bad();
                    let medium = worn.below.left(Loss::Some(cut));
                    let again = Worn::new(Power::new(medium, None), &left, Overwritten::Mended);
                    match case.resume_giving_up(&again, Some(&list)) {
                        Some(resumed) => {
                            assert_eq!(resumed.expect(&when), Stopped::Done, "{when}");
                            again.below.left(Loss::All)
                        }
                        // It had not begun, and what is not in the list is as it was; or it is through.
                        None => {
                            let medium = again.below.left(Loss::All);
                            let mut mended = medium.clone();
                            for (_, at) in list.sorted() {
                                let range = at as usize..(at + SECTOR) as usize;
                                mended[range.clone()].copy_from_slice(&case.image[range]);
                            }
                            if case.is_untouched(&mended) {
                                continue;
                            }
                            medium
                        }
                    }
                }
            };
            let done = case.content(&medium);
            let listed: BTreeSet<u64> = list.sorted().into_iter().map(|(content, _)| content.start).collect();
            for at in case.used.iter().flat_map(|range| (range.start..range.end).step_by(512)) {
                let same = done[at..at + 512] == case.plain[at..at + 512];
                assert!(same || listed.contains(&(at as u64)), "{when}: byte {at}");
            }
            case.is_clean(&medium).unwrap_or_else(|wrong| panic!("{when}: {wrong}"));
        }
    }
}

#[test]
fn bitlocker_volumes_lose_no_more() {
    let cases = [
        BitLocker::encryption("encrypted", false, false, false),
        BitLocker::decryption("decrypted", false, false),
        BitLocker::reencryption("another method", false, false, false),
    ];
    for case in cases.into_iter().flatten() {
        let clean: Arc<dyn Store> = Arc::new(MemStore::from_vec(case.image.clone()));
        let plan = case.plan(&clean).expect("planned");
        let range = case.in_place().into_iter().max_by_key(|range| range.end - range.start).expect("some");
        let bad = [range.start.next_multiple_of(512) + 70 * 512, range.end - 900 * 512];
        let worn = Worn::new(Power::new(case.image.clone(), None), &bad, Overwritten::Mended);
        let list = List::default();
        let mut conversion = plan.conversion(&worn, None).expect("planned");
        conversion.lost = Some(&list);
        assert_eq!(plan.run(&conversion, &()).expect(case.name), Stopped::Done, "{}", case.name);
        let listed = list.sorted();
        assert_eq!(listed.iter().map(|(_, at)| *at).collect::<Vec<_>>(), bad, "{}", case.name);
        drop(conversion);
        let medium = worn.below.left(Loss::All);
        let content = match case.kind {
            ConversionKind::Decryption => medium,
            _ => {
                let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(medium));
                support::bitlocker::content(&store, &case.key)
            }
        };
        let mut expected = case.plain.clone();
        for (content, _) in &listed {
            expected[content.start as usize..content.end as usize].fill(0);
        }
        let end = case.file_system_bytes as usize;
        let differ = (0..end).step_by(512).find(|at| content[*at..*at + 512] != expected[*at..*at + 512]);
        assert_eq!(differ, None, "{}", case.name);
    }
}

#[test]
fn from_one_format_to_the_other_no_more_is_lost() {
    for case in CrossFormat::all() {
        // In the middle of the content; what lies there is told by the list.
        let bad = [(case.plain.len() as u64 / 2).next_multiple_of(4096) + HEADERS];
        let worn = Worn::new(Power::new(case.image.clone(), None), &bad, Overwritten::Mended);
        let list = List::default();
        {
            let (store, file) = case.parts(&worn);
            let mut conversion = case.plan.conversion(&store, &file).expect("planned");
            conversion.lost = Some(&list);
            assert_eq!(case.plan.run(&conversion, &()).expect(case.name), Stopped::Done, "{}", case.name);
        }
        let listed = list.sorted();
        assert_eq!(listed.iter().map(|(_, at)| *at).collect::<Vec<_>>(), bad, "{}", case.name);
        let mut case = case;
        for (content, _) in &listed {
            case.plain[content.start as usize..content.end as usize].fill(0);
        }
        let medium = worn.below.left(Loss::All);
        case.is_done(&medium).unwrap_or_else(|wrong| panic!("{}: {wrong}", case.name));
    }
}
