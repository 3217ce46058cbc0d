//! The protocol as a model of a few sectors, explored exhaustively: journal, targets and flushes go on at the
//! same time in every order that the rules allow, the power fails at every moment, of what was not flushed
//! any subset survives; and so it does during the recovery, and during the recovery from that, until no
//! state is new.
//!
//! A sector of the data area that was written and not flushed is always torn after a cut: that is the worst
//! of what may happen to it, because no decision depends on it. A slot of the journal is the old one, any of
//! the new ones, or torn.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use std::collections::HashSet;

/// What a sector of the data area holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sector {
    /// Nothing that matters.
    Other,
    /// A sector that was torn.
    Torn,
    /// The `i`th sector before the conversion.
    Source(u8),
    /// The `i`th sector as it shall be.
    Target(u8),
}

use Sector::{Other, Source, Target, Torn};

/// A record that is whole, with the segment that it is of: `len` sectors after `done`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Record {
    number: i32,
    done: u8,
    len: u8,
    sure: i32,
    floor: i32,
}

/// Sectors that are converted.
const MOVED: u8 = 5;

const AREA: usize = MOVED as usize + 1;

const SLOTS: usize = 4;

/// A way to do it. The variants that leave something out are there to see that the model finds it.
#[derive(Debug, Clone, Copy)]
struct Protocol {
    /// Where the first source sector and the first target sector are.
    from: u8,
    to: u8,
    /// Sectors of a segment.
    segment: u8,
    slots: usize,
    /// Records that are not flushed.
    ahead: u8,
    /// A target is written when its record was flushed.
    flushes: bool,
    /// A slot is taken again when its target was flushed.
    settles: bool,
    /// Recovery writes all segments from the floor on, not the newest alone.
    replays_all: bool,
    /// A record counts only if those before it are there.
    links: bool,
    /// Recovery wipes the records that do not count.
    wipes: bool,
    /// What moves up begins at the end.
    direction: bool,
    /// The journal has a store of its own: it is flushed without the targets, and they without it.
    apart: bool,
}

/// What is on the medium.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Disk {
    data: [Sector; AREA],
    /// `None`: torn, or nothing was there.
    slots: [Option<Record>; SLOTS],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Write {
    Data(usize, Sector),
    Slot(usize, Option<Record>),
}

/// A moment: the medium, what was written since, and how far everybody is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Moment {
    disk: Disk,
    /// Of the journal, and of the targets.
    pending: [Vec<Write>; 2],
    /// Flushes under way: of so many pending writes, after which so many segments are durable, or settled.
    flush: [Option<(usize, u8)>; 2],
    /// The number of the first record, and sectors that are done before it.
    first: i32,
    from: u8,
    journaled: u8,
    durable: u8,
    written: u8,
    settled: u8,
}

impl Disk {
    fn write(&mut self, write: Write) {
        match write {
            Write::Data(at, sector) => self.data[at] = sector,
            Write::Slot(at, record) => self.slots[at] = record,
        }
    }

    /// Every medium that a loss of power can leave of this one and unflushed writes.
    fn cut<'a>(&self, pending: impl Iterator<Item = &'a Write> + Clone) -> Vec<Self> {
        let mut torn = self.clone();
        for write in pending.clone() {
            if let Write::Data(at, _) = write {
                torn.data[*at] = Torn;
            }
        }
        let mut disks = vec![torn];
        for slot in 0..SLOTS {
            let versions: Vec<Option<Record>> = pending
                .clone()
                .filter_map(|write| match write {
                    Write::Slot(at, record) if *at == slot => Some(*record),
                    _ => None,
                })
                .collect();
            if versions.is_empty() {
                continue;
            }
            let before = disks.clone();
            for version in versions.into_iter().chain([None]) {
                disks.extend(before.iter().cloned().map(|mut disk| {
                    disk.slots[slot] = version;
                    disk
                }));
            }
        }
        disks
    }

    /// The same with small numbers, a record's slot being its number's rest, and without the records that
    /// neither count for anything nor are replayed: the newest one stays until a newer one is there.
    fn normal(mut self, p: &Protocol) -> Self {
        let Some((newest, ..)) = p.held(&self) else { return self };
        let needed = newest.floor.min(newest.sure);
        for slot in &mut self.slots {
            *slot = slot.filter(|record| record.number >= needed);
        }
        let turns = newest.number.div_euclid(p.slots as i32) * p.slots as i32;
        for record in self.slots.iter_mut().flatten() {
            record.number -= turns;
            record.sure -= turns;
            record.floor -= turns;
        }
        self
    }
}

impl Protocol {
    fn slot(&self, number: i32) -> usize {
        number.rem_euclid(self.slots as i32) as usize
    }

    fn new_disk(&self) -> Disk {
        let mut disk = Disk { data: [Other; AREA], slots: [None; SLOTS] };
        for i in 0..MOVED {
            disk.data[usize::from(self.from + i)] = Source(i);
        }
        disk.slots[self.slot(0)] = Some(Record { number: 0, done: 0, len: 0, sure: 0, floor: 0 });
        disk
    }

    /// The `len` sectors after `done`.
    fn sectors(&self, done: u8, len: u8) -> std::ops::Range<u8> {
        if self.to > self.from && self.direction {
            MOVED - done - len..MOVED - done
        } else {
            done..done + len
        }
    }

    fn targets(&self, done: u8, len: u8) -> impl Iterator<Item = Write> {
        let to = self.to;
        self.sectors(done, len).map(move |i| Write::Data(usize::from(to + i), Target(i)))
    }

    /// The newest record that counts, those that are replayed, and those that do not count.
    fn held(&self, disk: &Disk) -> Option<(Record, Vec<Record>, Vec<Record>)> {
        let mut found: Vec<Record> = disk.slots.iter().flatten().copied().collect();
        found.sort_by_key(|record| record.number);
        let is_there = |number: i32| found.iter().any(|record| record.number == number);
        let counts = |record: &&Record| !self.links || (record.sure..record.number).all(is_there);
        let newest = *found.iter().rev().find(counts)?;
        let floor = if self.replays_all { newest.floor } else { newest.number };
        let replayed = found.iter().filter(|r| (floor..=newest.number).contains(&r.number));
        let stale = found.iter().filter(|r| self.wipes && r.number > newest.number);
        Some((newest, replayed.copied().collect(), stale.copied().collect()))
    }

    /// Recovers; every medium that a cut on the way can leave goes to `left`.
    fn recover(&self, disk: &Disk, left: &mut HashSet<Disk>) -> Result<Moment, String> {
        let (newest, replayed, stale) = self.held(disk).ok_or(format!("no record counts on {disk:?}"))?;
        let mut disk = disk.clone();
        let targets = replayed.iter().flat_map(|record| self.targets(record.done, record.len));
        let wiped = stale.iter().map(|record| Write::Slot(self.slot(record.number), None));
        let writes: Vec<Write> = targets.chain(wiped).collect();
        left.extend(disk.cut(writes.iter()));
        writes.into_iter().for_each(|write| disk.write(write));
        let (from, next) = (newest.done + newest.len, newest.number + 1);
        let note = Record { number: next, done: from, len: 0, sure: next, floor: next };
        let note = Write::Slot(self.slot(next), Some(note));
        left.extend(disk.cut([note].iter()));
        disk.write(note);
        Ok(Moment {
            disk,
            pending: [vec![], vec![]],
            flush: [None; 2],
            first: next + 1,
            from,
            journaled: 0,
            durable: 0,
            written: 0,
            settled: 0,
        })
    }

    /// Sectors done before the `n`th segment of this run, and its own.
    fn segment(&self, moment: &Moment, n: u8) -> Option<(u8, u8)> {
        let done = moment.from + n * self.segment;
        (done < MOVED).then(|| (done, self.segment.min(MOVED - done)))
    }

    /// Every moment that may follow.
    fn next(&self, now: &Moment) -> Result<Vec<Moment>, String> {
        let mut all = Vec::new();
        let (n, slots) = (now.journaled, self.slots as u8);
        if let Some((done, len)) = self.segment(now, n)
            && n < now.durable + self.ahead
            && (!self.settles || n < now.settled + slots)
        {
            let mut seen = now.disk.clone();
            now.pending.iter().flatten().for_each(|write| seen.write(*write));
            for i in self.sectors(done, len) {
                let found = seen.data[usize::from(self.from + i)];
                if found != Source(i) {
                    return Err(format!("sector {i} is read as {found:?} in {now:?}"));
                }
            }
            let number = now.first + i32::from(n);
            let (sure, floor) = (now.first + i32::from(now.durable), now.first + i32::from(now.settled));
            let mut after = now.clone();
            let record = Record { number, done, len, sure, floor };
            after.pending[0].push(Write::Slot(self.slot(number), Some(record)));
            after.journaled += 1;
            all.push(after);
        }
        if now.written < if self.flushes { now.durable } else { now.journaled }
            && let Some((done, len)) = self.segment(now, now.written)
        {
            let mut after = now.clone();
            after.pending[1].extend(self.targets(done, len));
            after.written += 1;
            all.push(after);
        }
        let flushes: &[&[usize]] = if self.apart { &[&[0], &[1]] } else { &[&[0, 1]] };
        for which in flushes {
            let mut after = now.clone();
            if which.iter().any(|i| now.flush[*i].is_some()) {
                for i in *which {
                    let Some((writes, reached)) = after.flush[*i].take() else { continue };
                    for write in after.pending[*i].drain(..writes) {
                        after.disk.write(write);
                    }
                    *[&mut after.durable, &mut after.settled][*i] = reached;
                }
            } else if which.iter().any(|i| !now.pending[*i].is_empty()) {
                for i in *which {
                    after.flush[*i] = Some((now.pending[*i].len(), [now.journaled, now.written][*i]));
                }
            } else {
                continue;
            }
            all.push(after);
        }
        Ok(all)
    }

    /// Every medium that any number of cuts can leave; the conversion ends well from each of them.
    fn explore(&self) -> Result<usize, String> {
        let (mut disks, mut moments) = (HashSet::new(), HashSet::new());
        let mut to_do = vec![self.new_disk()];
        while let Some(disk) = to_do.pop() {
            let mut left = HashSet::new();
            let mut ahead = vec![self.recover(&disk, &mut left)?];
            while let Some(now) = ahead.pop() {
                let whole = |i: u8| now.disk.data[usize::from(self.to + i)] == Target(i);
                let after = self.next(&now)?;
                if after.is_empty() && !(0..MOVED).all(whole) {
                    return Err(format!("it ends with {now:?}"));
                }
                left.extend(now.disk.cut(now.pending.iter().flatten()));
                ahead.extend(after.into_iter().filter(|moment| moments.insert(moment.clone())));
            }
            let left = left.into_iter().map(|disk| disk.normal(self));
            to_do.extend(left.filter(|disk| disks.insert(disk.clone())));
        }
        Ok(disks.len())
    }
}

fn protocols() -> impl Iterator<Item = Protocol> {
    let shifts = [(0, 0), (0, 1), (1, 0)];
    let sizes = [(1, 4, 2), (2, 4, 2), (1, 2, 1), (2, 2, 1)];
    let all = shifts.into_iter().flat_map(move |shift| sizes.map(|size| (shift, size)));
    all.flat_map(|((from, to), (segment, slots, ahead))| {
        [false, true].map(|apart| Protocol {
            from,
            to,
            segment,
            slots,
            ahead,
            flushes: true,
            settles: true,
            replays_all: true,
            links: true,
            wipes: true,
            direction: true,
            apart,
        })
    })
}

#[test]
fn the_conversion_ends_well_from_every_state() {
    for protocol in protocols() {
        let states = protocol.explore().unwrap_or_else(|wrong| panic!("{protocol:?}: {wrong}"));
        eprintln!("{protocol:?}: {states} states");
        assert!(states > 30);
    }
}

#[test]
fn the_model_sees_what_is_left_out() {
    for whole in protocols().filter(|p| p.segment == 1) {
        let mut broken = vec![
            // A segment no longer than the shift would lie where nothing is needed any more.
            Protocol { flushes: false, segment: 2, ..whole },
            Protocol { settles: false, ahead: 9, ..whole },
            Protocol { replays_all: false, ..whole },
            Protocol { slots: 1, ..whole },
        ];
        if whole.slots == SLOTS {
            broken.extend([Protocol { links: false, ..whole }, Protocol { wipes: false, ..whole }]);
            broken.extend([Protocol { ahead: 3, ..whole }, Protocol { slots: 3, ..whole }]);
        } else {
            broken.push(Protocol { ahead: 2, ..whole });
        }
        if whole.to > whole.from {
            broken.push(Protocol { direction: false, ..whole });
        }
        for broken in broken {
            assert!(broken.explore().is_err(), "{broken:?} passes");
        }
    }
}
