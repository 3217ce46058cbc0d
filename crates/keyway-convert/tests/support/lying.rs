//! A medium that lies at one write of what a conversion depends on, or at the flush behind it, and a harness that has it lie at
//! every one.

use super::Medium;
use keyway_convert::{ConvertError, Stopped};
use keyway_error::{Explain, Fault, Kind};
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

/// What a medium does instead of what it was told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// A write fails with EIO, this once.
    Once,
    /// It fails with EIO, and so does everything after it.
    Always,
    /// The medium is full, this once.
    Full,
    /// It is full, and stays so for writes.
    FullFromThere,
    /// The first half of a write arrives, and it says that all of it did.
    Short,
    /// A write goes to this place, and it says nothing of that.
    Elsewhere(u64),
    /// It does not arrive; it says that it did.
    Lost,
    /// It says that it did, and what was there before the last write is there again.
    Old,
    /// One bit of what is written is another: counted from the first, around the end.
    Flipped(u64),
    /// Of each page, the first or the last four sectors of 512 bytes arrive; it says that all did, or that it failed.
    Torn { first: bool, fails: bool },
    /// The next flush fails once, and what was written since the last one is gone; or that is gone, and it says nothing.
    FlushLoses { fails: bool },
    /// The next flush fails once, and nothing is gone.
    FlushFails,
}

/// A lie at the write of that number among those that count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) at: usize,
    pub(crate) lie: Lie,
    /// And then nothing is heard of the medium any more: the run can't put anything right.
    pub(crate) vanishes: bool,
}

struct State {
    medium: Vec<u8>,
    /// What was in sectors before those of them that count were written since the last flush.
    before: BTreeMap<usize, [u8; SECTOR]>,
    /// What was in them before the last write.
    older: BTreeMap<usize, [u8; SECTOR]>,
    /// Writes that counted: where, and how many bytes.
    counted: Vec<(u64, u64)>,
    told: Option<Told>,
    /// The next flush of that place lies.
    armed: Option<(u64, Lie)>,
    lied: bool,
    gone: bool,
}

/// A medium, and behind it the file that the journal is in, if it is in one.
pub(crate) struct Lying {
    /// What counts: neither content nor what the journal keeps of it.
    counts: Vec<Range<u64>>,
    size: u64,
    state: Mutex<State>,
}

fn failure(op: Operation, errno: i32) -> StoreError {
    StoreError::new(op, "the lying store", 0, 0, std::io::Error::from_raw_os_error(errno))
}

impl State {
    fn put(&mut self, bytes: &[u8], at: u64, counts: bool) {
        for (n, sector) in bytes.chunks(SECTOR).enumerate() {
            let at = at as usize + n * SECTOR;
            let there: [u8; SECTOR] = self.medium[at..at + SECTOR].try_into().expect("a sector");
            if counts {
                self.before.entry(at).or_insert(there);
                self.older.insert(at, there);
            }
            self.medium[at..at + sector.len()].copy_from_slice(sector);
        }
    }

    fn undo(&mut self, part: &Range<u64>) {
        for (at, sector) in &self.before {
            if part.contains(&(*at as u64)) {
                self.medium[*at..at + SECTOR].copy_from_slice(sector);
            }
        }
    }
}

impl Lying {
    pub(crate) fn new(medium: Vec<u8>, counts: Vec<Range<u64>>, told: Option<Told>) -> Self {
        let size = medium.len() as u64;
        let (before, older, counted) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let state = State { medium, before, older, counted, told, armed: None, lied: false, gone: false };
        Self { counts, size, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it tells the truth.
    fn heal(&self) {
        let mut state = self.lock();
        (state.told, state.armed, state.gone) = (None, None, false);
    }

    fn snapshot(&self) -> Vec<u8> {
        self.lock().medium.clone()
    }

    fn lie(state: &mut State, lie: Lie, buf: &[u8], at: u64) -> Result<(), StoreError> {
        match lie {
            Lie::Once | Lie::Always => return Err(failure(Operation::Write, EIO)),
            Lie::Full | Lie::FullFromThere => return Err(failure(Operation::Write, ENOSPC)),
            Lie::Short => state.put(&buf[..(buf.len() / 2).next_multiple_of(SECTOR)], at, true),
            Lie::Elsewhere(place) => state.put(buf, place, true),
            Lie::Lost => {}
            Lie::Old => {
                for n in (0..buf.len()).step_by(SECTOR) {
                    let at = at as usize + n;
                    if let Some(older) = state.older.get(&at) {
                        state.medium[at..at + SECTOR].copy_from_slice(older);
                    }
                }
            }
            Lie::Flipped(bit) => {
                let mut flipped = buf.to_vec();
                let bit = (bit % (buf.len() as u64 * 8)) as usize;
                flipped[bit / 8] ^= 1 << (bit % 8);
                state.put(&flipped, at, true);
            }
            Lie::Torn { first, fails } => {
                for (n, sector) in buf.chunks(SECTOR).enumerate() {
                    let at = at + (n * SECTOR) as u64;
                    if (at / SECTOR as u64 % 8 < 4) == first {
                        state.put(sector, at, true);
                    }
                }
                if fails {
                    return Err(failure(Operation::Write, EIO));
                }
            }
            Lie::FlushLoses { .. } | Lie::FlushFails => {
                state.put(buf, at, true);
                state.armed = Some((at, lie));
                state.lied = false;
            }
        }
        Ok(())
    }
}

impl Medium for Lying {
    fn flush_part(&self, part: &Range<u64>) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.gone {
            return Err(failure(Operation::Flush, EIO));
        }
        let armed = state.armed.take_if(|(at, _)| part.contains(at));
        if let Some((_, lie)) = armed {
            state.lied = true;
            state.gone = state.told.is_some_and(|told| told.vanishes);
            if matches!(lie, Lie::FlushLoses { .. }) {
                state.undo(part);
            }
        }
        state.before.retain(|at, _| !part.contains(&(*at as u64)));
        match armed {
            None | Some((_, Lie::FlushLoses { fails: false })) => Ok(()),
            Some(_) => Err(failure(Operation::Flush, EIO)),
        }
    }
}

impl Store for Lying {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let state = self.lock();
        if state.gone {
            return Err(failure(Operation::Read, EIO));
        }
        buf.copy_from_slice(&state.medium[offset as usize..offset as usize + buf.len()]);
        Ok(())
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.gone {
            return Err(failure(Operation::Write, EIO));
        }
        let ends = offset + buf.len() as u64;
        let counts = self.counts.iter().any(|range| range.start <= offset && ends <= range.end);
        let number = state.counted.len();
        if counts {
            state.counted.push((offset, buf.len() as u64));
        }
        let is_full = |told: &Told| state.lied && told.lie == Lie::FullFromThere;
        if state.told.as_ref().is_some_and(is_full) {
            return Err(failure(Operation::Write, ENOSPC));
        }
        match state.told.filter(|told| counts && told.at == number) {
            None => {
                state.put(buf, offset, counts);
                Ok(())
            }
            Some(told) => {
                let waits = matches!(told.lie, Lie::FlushLoses { .. } | Lie::FlushFails);
                (state.lied, state.gone) = (!waits, !waits && told.vanishes || told.lie == Lie::Always);
                Self::lie(&mut state, told.lie, buf, offset)
            }
        }
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.flush_part(&(0..self.size))
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.write_at(&vec![0; len as usize], offset)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

/// A conversion, what it begins with, and how its end is judged.
pub(crate) trait LiedTo {
    fn name(&self) -> &str;

    fn image(&self) -> &[u8];

    /// What counts: all but content, and what the journal keeps of it.
    fn counts(&self) -> Vec<Range<u64>>;

    /// Where writes go that go elsewhere: first the medium's, then those in the journal's file.
    fn elsewhere(&self) -> Vec<u64>;

    /// Where the medium ends, and the journal's file begins.
    fn medium_bytes(&self) -> u64;

    /// Whether the first page can be put right where the medium was gone after it had lied there: something else tells what it was
    /// to be.
    fn has_another_first_page(&self) -> bool {
        true
    }

    fn begin(&self, medium: &Arc<Lying>) -> Result<Stopped, ConvertError>;

    /// Goes on with what is found; `None` where nothing is.
    fn resume(&self, medium: &Arc<Lying>) -> Option<Result<Stopped, ConvertError>>;

    fn is_untouched(&self, medium: &[u8]) -> bool;

    fn is_done(&self, medium: &[u8]) -> Result<(), String>;
}

/// How often a conversion was lied to, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Lies {
    pub(crate) writes: usize,
    pub(crate) told: u64,
    /// It said that it is done, and it was.
    pub(crate) done: u64,
    /// It failed, and `resume` went on to the end.
    pub(crate) resumed: u64,
    /// It failed, and everything is as it was.
    pub(crate) as_before: u64,
    /// It failed, and `resume` said why it can't go on.
    pub(crate) refused: u64,
}

fn lies(case: &dyn LiedTo, number: usize, (at, len): (u64, u64), bits: usize) -> Vec<Told> {
    let counts = case.counts();
    let fits = |place: u64| {
        let ends = place + len;
        let same = (ends <= case.medium_bytes()) == (at < case.medium_bytes());
        // Behind the first page may be content, which nobody can bring back.
        let is_alone = place >= 4096 || place == 0 && len <= 4096;
        is_alone
            && place != at
            && same
            && counts.iter().any(|range| range.start <= place && ends <= range.end)
    };
    let mut all = vec![
        Lie::Once,
        Lie::Always,
        Lie::Full,
        Lie::FullFromThere,
        Lie::Short,
        Lie::Lost,
        Lie::Old,
        Lie::FlushFails,
        Lie::FlushLoses { fails: true },
        Lie::FlushLoses { fails: false },
    ];
    let torn = [(true, true), (true, false), (false, true), (false, false)];
    all.extend(torn.map(|(first, fails)| Lie::Torn { first, fails }));
    let places = case.elsewhere().into_iter().chain([at + SECTOR as u64]);
    all.extend(places.filter(|place| fits(*place)).map(Lie::Elsewhere));
    let mut rng = Rng::new(number as u64);
    all.extend([0, len * 8 - 1].map(Lie::Flipped));
    all.extend((0..bits).map(|_| Lie::Flipped(rng.next_u64())));
    let told = |vanishes| move |lie| Told { at: number, lie, vanishes };
    // What a write hits that was to go elsewhere is lost where nobody can put it back.
    let silent = all.clone().into_iter().filter(|lie| {
        let fails = matches!(lie, Lie::Once | Lie::Always | Lie::Full | Lie::FullFromThere | Lie::FlushFails);
        !fails && !matches!(lie, Lie::Elsewhere(_)) && (at > 0 || case.has_another_first_page())
    });
    all.into_iter().map(told(false)).chain(silent.map(told(true))).collect()
}

/// Lies at every write that counts: all lies, or about so many of them.
pub(crate) fn lie_everywhere(case: &dyn LiedTo, few: Option<usize>) -> Lies {
    let name = case.name();
    let truthful = Arc::new(Lying::new(case.image().to_vec(), case.counts(), None));
    assert_eq!(case.begin(&truthful).expect("nothing fails"), Stopped::Done, "{name}");
    case.is_done(&truthful.snapshot()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let writes = truthful.lock().counted.clone();
    let mut ends = Lies { writes: writes.len(), ..Lies::default() };
    let bits = if few.is_none() { 8 } else { 1 };
    let all: Vec<_> = (0..).zip(writes).flat_map(|(number, write)| lies(case, number, write, bits)).collect();
    let (mut rng, mut wrong) = (Rng::new(all.len() as u64), Vec::new());
    for told in &all {
        if few.is_none_or(|few| rng.below(all.len() as u64) < few as u64)
            && let Err(what) = lie_once(case, *told, &mut ends)
        {
            wrong.push(format!("{told:?}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{name}: {} of {} ended wrongly\n{}", wrong.len(), ends.told, wrong.join("\n"));
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} |",
        ends.writes, ends.told, ends.done, ends.resumed, ends.as_before, ends.refused
    );
    ends
}

/// Lies once; what is wrong in the end.
fn lie_once(case: &dyn LiedTo, told: Told, ends: &mut Lies) -> Result<(), String> {
    let medium = Arc::new(Lying::new(case.image().to_vec(), case.counts(), Some(told)));
    let begun = catch_unwind(AssertUnwindSafe(|| case.begin(&medium))).map_err(|_| "it panicked")?;
    if !medium.lock().lied {
        // What goes on side by side may have come in another order, or nothing was flushed behind it.
        return Ok(());
    }
    medium.heal();
    ends.told += 1;
    let error = match begun {
        Ok(_) => {
            ends.done += 1;
            return case.is_done(&medium.snapshot()).map_err(|wrong| format!("said to be done: {wrong}"));
        }
        Err(error) => error,
    };
    // It tells whose fault it is, and how to go on.
    let fits = error.fault() == Fault::Medium || error.kind() == Kind::NoSpace;
    if !fits || matches!(error, ConvertError::NotKept(_)) && error.advice().is_empty() {
        return Err(format!("it failed with {error}"));
    }
    let before = medium.snapshot();
    let resumed = catch_unwind(AssertUnwindSafe(|| case.resume(&medium)));
    let resumed = resumed.map_err(|_| format!("{error}, then it panicked"))?;
    let after = medium.snapshot();
    let ended = case.is_done(&after);
    match resumed {
        None | Some(Ok(Stopped::Done)) if ended.is_ok() => ends.resumed += 1,
        None | Some(Ok(Stopped::Done)) if case.is_untouched(&after) => ends.as_before += 1,
        None | Some(Ok(_)) => return Err(format!("{error}, then called done: {ended:?}")),
        // Only where two things came together: a lie, and nothing was heard of the medium after it.
        Some(Err(refused)) if told.vanishes && refused.fault() == Fault::Contents && before == after => {
            ends.refused += 1;
        }
        Some(Err(refused)) => return Err(format!("{error}, then refused: {refused}")),
    }
    Ok(())
}
