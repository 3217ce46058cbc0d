//! A medium that lies at one operation, and a harness that has it lie at every one of a verb's.
#![allow(dead_code, reason = "each test uses some of it")]

use keyway_store::{Operation, Store, StoreError};
use keyway_testkit::Rng;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SECTOR: usize = 512;
/// Linux's numbers (`asm-generic/errno-base.h`).
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Of so many lies one is told at an operation, unless all are.
const FEW: usize = 8;

/// What a medium does instead of what it was told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// It fails with EIO, this once.
    Once,
    /// It fails with EIO, and so does everything after it.
    Always,
    /// It is full, this once.
    Full,
    /// It is full, and stays so for writes.
    FullFromThere,
    /// The first half of a write arrives, and it says that all of it did.
    Short,
    /// A write goes to this place, and it says nothing of that.
    Elsewhere(u64),
    /// A write, or all of them since the last flush, does not arrive; it says that it did.
    Lost,
    /// One bit of what is written is another: counted from the first, around the end.
    Flipped(u64),
    /// Of each page, the first or the last four sectors of 512 bytes arrive; it says that all did, or that it failed.
    Torn { first: bool, fails: bool },
    /// A flush fails once, and what was written since the last one is gone; the next one succeeds.
    FlushLoses,
}

/// An operation that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Read,
    Write { at: u64, len: u64 },
    Flush,
}

/// What is to happen, and what was asked for so far.
struct State {
    /// Sectors that were written, over the image.
    changed: BTreeMap<u64, [u8; SECTOR]>,
    /// What was in them before, for those written since the last flush.
    before: BTreeMap<u64, [u8; SECTOR]>,
    asked: Vec<Asked>,
    lie: Option<(usize, Lie)>,
    lied: bool,
    /// Where a write went that went elsewhere.
    strayed: Range<u64>,
}

/// An image as a medium.
pub(crate) struct LyingStore {
    image: Arc<Vec<u8>>,
    sector_bytes: u32,
    state: Mutex<State>,
}

fn failure(op: Operation, errno: i32) -> StoreError {
    StoreError::new(op, "the lying store", 0, 0, std::io::Error::from_raw_os_error(errno))
}

impl LyingStore {
    /// It lies at the operation of that number.
    pub(crate) fn new(image: Arc<Vec<u8>>, sector_bytes: u32, lie: Option<(usize, Lie)>) -> Self {
        let (changed, before, asked) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self {
            image,
            sector_bytes,
            state: Mutex::new(State { changed, before, asked, lie, lied: false, strayed: 0..0 }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it tells the truth.
    pub(crate) fn heal(&self) {
        self.lock().lie = None;
    }

    pub(crate) fn has_lied(&self) -> bool {
        self.lock().lied
    }

    /// Bytes that a write went to that nobody asked for: what was in them, no program can bring back.
    pub(crate) fn strayed(&self) -> Range<usize> {
        let Range { start, end } = self.lock().strayed.clone();
        start as usize..end as usize
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.lock().asked.clone()
    }

    /// What is on it now.
    pub(crate) fn bytes(&self, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.lock().look(&self.image, &mut bytes, at);
        bytes
    }
}

impl State {
    /// Counts an operation; the lie whose turn it is.
    fn ask(&mut self, asked: Asked) -> Option<Lie> {
        let number = self.asked.len();
        self.asked.push(asked);
        let (at, lie) = self.lie?;
        let lasts = match lie {
            Lie::Always => number >= at,
            Lie::FullFromThere => number >= at && matches!(asked, Asked::Write { .. }),
            _ => number == at,
        };
        self.lied |= lasts;
        lasts.then_some(lie)
    }

    fn look(&self, image: &[u8], buf: &mut [u8], at: u64) {
        buf.copy_from_slice(&image[at as usize..at as usize + buf.len()]);
        let end = at + buf.len() as u64;
        for (number, sector) in self.changed.range(at / SECTOR as u64..end.div_ceil(SECTOR as u64)) {
            let start = number * SECTOR as u64;
            let (from, to) = (start.max(at), (start + SECTOR as u64).min(end));
            buf[(from - at) as usize..(to - at) as usize]
                .copy_from_slice(&sector[(from - start) as usize..(to - start) as usize]);
        }
    }

    fn put(&mut self, image: &[u8], bytes: &[u8], at: u64) {
        let mut done = 0;
        while done < bytes.len() {
            let number = (at as usize + done) / SECTOR;
            let within = (at as usize + done) % SECTOR;
            let len = (SECTOR - within).min(bytes.len() - done);
            let mut sector = [0; SECTOR];
            self.look(image, &mut sector, (number * SECTOR) as u64);
            self.before.entry(number as u64).or_insert(sector);
            sector[within..within + len].copy_from_slice(&bytes[done..done + len]);
            self.changed.insert(number as u64, sector);
            done += len;
        }
    }

    fn undo(&mut self) {
        let before = std::mem::take(&mut self.before);
        self.changed.extend(before);
    }
}

impl Store for LyingStore {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        if matches!(state.ask(Asked::Read), Some(Lie::Once | Lie::Always)) {
            return Err(failure(Operation::Read, EIO));
        }
        StoreError::within(Operation::Read, "the lying store", offset, buf.len() as u64, self.size())?;
        state.look(&self.image, buf, offset);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        let (len, image) = (buf.len() as u64, &self.image);
        StoreError::within(Operation::Write, "the lying store", offset, len, self.size())?;
        match state.ask(Asked::Write { at: offset, len }) {
            None => state.put(image, buf, offset),
            Some(Lie::Once | Lie::Always) => return Err(failure(Operation::Write, EIO)),
            Some(Lie::Full | Lie::FullFromThere) => return Err(failure(Operation::Write, ENOSPC)),
            Some(Lie::Short) => state.put(image, &buf[..buf.len() / 2], offset),
            Some(Lie::Elsewhere(place)) => {
                // As much of it as there is room for.
                let room = (self.size() - place).min(len) as usize;
                state.put(image, &buf[..room], place);
                state.strayed = place..place + room as u64;
            }
            Some(Lie::Lost) => {}
            Some(Lie::Flipped(bit)) => {
                let mut flipped = buf.to_vec();
                let bit = (bit % (len * 8)) as usize;
                flipped[bit / 8] ^= 1 << (bit % 8);
                state.put(image, &flipped, offset);
            }
            Some(Lie::Torn { first, fails }) => {
                for (n, sector) in buf.chunks(SECTOR).enumerate() {
                    let at = offset + (n * SECTOR) as u64;
                    if (at / SECTOR as u64 % 8 < 4) == first {
                        state.put(image, sector, at);
                    }
                }
                if fails {
                    return Err(failure(Operation::Write, EIO));
                }
            }
            Some(Lie::FlushLoses) => unreachable!("of flushes alone"),
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        let lie = state.ask(Asked::Flush);
        if matches!(lie, Some(Lie::FlushLoses | Lie::Lost)) {
            state.undo();
        }
        state.before.clear();
        match lie {
            None | Some(Lie::Lost) => Ok(()),
            Some(_) => Err(failure(Operation::Flush, EIO)),
        }
    }

    fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
        Ok(())
    }

    fn size(&self) -> u64 {
        self.image.len() as u64
    }

    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

/// What a verb has said, by what its error claims of the volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// It is done.
    Done,
    /// It failed, and everything is as it was.
    AsBefore(String),
    /// It failed in part, and what was new counts.
    Changed(String),
    /// It failed, and leaves open what counts.
    Failed(String),
}

/// What says what is wrong of a medium on which something was done.
pub(crate) type Judge<'a> = dyn Fn(&Arc<LyingStore>, &Said) -> Result<(), String> + 'a;

/// Something that writes.
pub(crate) struct Verb<'a> {
    pub(crate) name: &'a str,
    pub(crate) image: Arc<Vec<u8>>,
    /// Where writes go that go elsewhere, besides the sector behind their own.
    pub(crate) elsewhere: &'a [u64],
    pub(crate) run: &'a dyn Fn(&Arc<LyingStore>) -> Said,
    /// What is on the medium afterwards, which tells the truth from then on, is right for what was said.
    pub(crate) judge: &'a Judge<'a>,
}

/// Whether all shapes are tried.
pub(crate) fn slow() -> bool {
    std::env::var_os("KEYWAY_SLOW").is_some()
}

impl Verb<'_> {
    /// The lies that an operation can be answered with.
    fn lies(&self, number: usize, asked: Asked, size: u64) -> Vec<Lie> {
        let Asked::Write { at, len } = asked else {
            let flush = [Lie::FlushLoses, Lie::Lost];
            let both = [Lie::Once, Lie::Always];
            return match asked {
                Asked::Flush => both.into_iter().chain(flush).collect(),
                _ => both.to_vec(),
            };
        };
        let mut lies = vec![Lie::Once, Lie::Always, Lie::Full, Lie::FullFromThere, Lie::Short, Lie::Lost];
        let places = self.elsewhere.iter().copied().chain([at + SECTOR as u64]);
        lies.extend(places.filter(|place| *place != at && *place < size).map(Lie::Elsewhere));
        let torn = [(true, true), (true, false), (false, true), (false, false)];
        lies.extend(torn.map(|(first, fails)| Lie::Torn { first, fails }));
        // The first and the last bit, and some between.
        let mut rng = Rng::new(number as u64);
        let some = if slow() { 12 } else { 1 };
        lies.extend([0, len * 8 - 1].map(Lie::Flipped));
        lies.extend((0..some).map(|_| Lie::Flipped(rng.next_u64())));
        lies
    }

    /// Lies at every operation, in every way; prints how often.
    pub(crate) fn lie_everywhere(&self) {
        let (mut cuts, mut operations) = (0u64, 0);
        let (mut done, mut as_before, mut changed, mut failed) = (0u64, 0u64, 0u64, 0u64);
        let sectors: &[u32] = if slow() { &[512, 4096] } else { &[512] };
        for sector_bytes in sectors {
            let truthful = Arc::new(LyingStore::new(self.image.clone(), *sector_bytes, None));
            assert_eq!((self.run)(&truthful), Said::Done, "{}: nothing fails", self.name);
            let asked = truthful.asked();
            (self.judge)(&truthful, &Said::Done).expect("nothing failed");
            operations += asked.len();
            let size = truthful.size();
            for (number, one) in asked.iter().enumerate() {
                // At each operation some, in turn, where nobody asked for all of them.
                let lies = self.lies(number, *one, size);
                let every = if slow() { 1 } else { FEW.min(lies.len()) };
                for lie in lies.into_iter().skip(number % every).step_by(every) {
                    let when = format!(
                        "{}, {lie:?} at operation {number} of {}, {one:?}, sectors of {sector_bytes}",
                        self.name,
                        asked.len()
                    );
                    let store =
                        Arc::new(LyingStore::new(self.image.clone(), *sector_bytes, Some((number, lie))));
                    let said = catch_unwind(AssertUnwindSafe(|| (self.run)(&store)));
                    let said = said.unwrap_or_else(|_| panic!("{when}: it panicked"));
                    assert!(store.has_lied(), "{when}: it did not come so far");
                    store.heal();
                    (self.judge)(&store, &said)
                        .unwrap_or_else(|wrong| panic!("{when}: said {said:?}, but {wrong}"));
                    cuts += 1;
                    match said {
                        Said::Done => done += 1,
                        Said::AsBefore(_) => as_before += 1,
                        Said::Changed(_) => changed += 1,
                        Said::Failed(_) => failed += 1,
                    }
                }
            }
        }
        // Something was refused: a harness that never gets through to the verb would pass everything.
        assert!(as_before + changed + failed > 0, "{}: nothing was ever refused", self.name);
        println!("| {} | {operations} | {cuts} | {done} | {as_before} | {changed} | {failed} |", self.name);
    }
}
