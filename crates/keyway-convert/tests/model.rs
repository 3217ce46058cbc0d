//! The protocol as a model of a few sectors, explored exhaustively: journal, targets and flushes go on at the
//! same time in every order that the rules allow, the power fails at every moment, of what was not flushed
//! any subset survives; and so it does during the recovery, and during the recovery from that, until no
//! state is new.
//!
//! A sector of the data area that was written and not flushed is always torn after a cut: that is the worst
//! of what may happen to it, because no decision depends on it. A slot of the journal is the old one, any of
//! the new ones, or torn, and so is a head, whatever became of its slot.
//!
//! Then the medium does what no loss of power does: a slot or a head that counted can't be read any more, or has a bit that
//! flipped, or shows what lay there before; the journal's file is an older one. Whatever the cut did to the data, from there on
//! a recovery may refuse, and must not go wrong, nor what comes after it, cuts included. Without such a fault none may refuse.
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

/// Sectors that are converted, at most, and one more.
const AREA: usize = 6;

const SLOTS: usize = 4;

/// A way to do it. The variants that leave something out are there to see that the model finds it.
#[derive(Debug, Clone, Copy)]
struct Protocol {
    /// Sectors that are converted.
    moved: u8,
    /// What no loss of power does happens, too.
    faults: bool,
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
    /// Records are on the medium a second time.
    heads: bool,
    /// What is behind the newest record is held against the sources, what can't be replayed against the targets.
    verifies: bool,
    /// Records that do not fit each other are refused.
    compares: bool,
    /// Recovery puts the newest record in both of its places.
    mends: bool,
    /// It wipes what does not count before it writes targets.
    wipes_first: bool,
}

/// What is on the medium.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Disk {
    data: [Sector; AREA],
    /// `None`: torn, or nothing was there.
    slots: [Option<Record>; SLOTS],
    /// Records once more, without what is kept of their segments.
    heads: [Option<Record>; SLOTS],
    /// Something happened to it that no loss of power does.
    faulty: bool,
    /// The slot, or the head, that can't be read this time.
    unread: Option<(usize, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Write {
    Data(usize, Sector),
    Slot(usize, Option<Record>),
    Head(usize, Option<Record>),
}

/// What a cut does to the data that was not flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Data {
    Torn,
    Old,
}

/// Why a recovery does not come to its end.
#[derive(Debug)]
enum Wrong {
    /// It says that something is missing, and has written nothing.
    Refused,
    #[allow(dead_code, reason = "is shown")]
    Broken(String),
}

/// What a recovery finds.
struct JournalContents {
    newest: Record,
    replayed: Vec<Record>,
    /// Behind the newest.
    after: Vec<Record>,
    /// Before it, and not whole.
    unsure: Vec<Record>,
    /// Numbers of slots and of heads that are wiped.
    stale: [Vec<usize>; 2],
}

/// A moment: the medium, what was written since, and how far everybody is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Moment {
    disk: Disk,
    /// Of the journal, and of the targets.
    pending: [Vec<Write>; 2],
    /// Flushes under way: of so many pending writes, after which so many records, and targets, are on the medium.
    flush: [Option<(usize, [u8; 2])>; 2],
    /// The number of the first record, and sectors that are done before it.
    first: i32,
    from: u8,
    journaled: u8,
    recorded: u8,
    headed: u8,
    written: u8,
    settled: u8,
}

impl Moment {
    fn durable(&self, p: &Protocol) -> u8 {
        if p.heads { self.recorded.min(self.headed) } else { self.recorded }
    }
}

impl Disk {
    fn write(&mut self, write: Write) {
        match write {
            Write::Data(at, sector) => self.data[at] = sector,
            Write::Slot(at, record) => self.slots[at] = record,
            Write::Head(at, record) => self.heads[at] = record,
        }
    }

    /// Every medium that a loss of power can leave of this one and unflushed writes.
    fn cut<'a>(&self, pending: impl Iterator<Item = &'a Write> + Clone, data: Data) -> Vec<Self> {
        let mut base = self.clone();
        for write in pending.clone() {
            if let Write::Data(at, _) = write {
                match data {
                    Data::Torn => base.data[*at] = Torn,
                    Data::Old => {}
                }
            }
        }
        let mut disks = vec![base];
        for (place, is_head) in (0..SLOTS).flat_map(|place| [(place, false), (place, true)]) {
            let mut versions: Vec<Option<Record>> = pending
                .clone()
                .filter_map(|write| match write {
                    Write::Slot(at, record) if *at == place && !is_head => Some(*record),
                    Write::Head(at, record) if *at == place && is_head => Some(*record),
                    _ => None,
                })
                .collect();
            if versions.is_empty() {
                continue;
            }
            versions.push(None);
            versions.dedup();
            let before = disks.clone();
            for version in versions {
                disks.extend(before.iter().cloned().map(|mut disk| {
                    let records = if is_head { &mut disk.heads } else { &mut disk.slots };
                    records[place] = version;
                    disk
                }));
            }
        }
        disks
    }

    /// The same after one thing that no loss of power does.
    fn faults(&self, p: &Protocol, now: &Moment) -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut Self)| {
            let mut disk = Self { faulty: true, ..self.clone() };
            change(&mut disk);
            all.push(disk);
        };
        let slots = p.slots as i32;
        for at in 0..SLOTS {
            if let Some(record) = self.slots[at] {
                add(&|disk| disk.slots[at] = None);
                add(&|disk| disk.unread = Some((at, false)));
                // What lay there before.
                let done = record.done.saturating_sub(p.slots as u8 * p.segment);
                let (number, sure, floor) =
                    (record.number - slots, record.sure - slots, record.floor - slots);
                add(&|disk| disk.slots[at] = Some(Record { number, done, sure, floor, ..record }));
            }
            if self.heads[at].is_some() {
                add(&|disk| disk.heads[at] = None);
                add(&|disk| disk.unread = Some((at, true)));
            }
        }
        // An older file: what it was some records ago, since the last recovery.
        let last = now.first + i32::from(now.journaled) - 1;
        for newest in (now.first - 1..last).filter(|_| p.apart) {
            let records = (newest - slots + 1..=newest).filter(|number| *number >= now.first - 1);
            let records: Vec<_> = records.map(|number| p.written(now, number)).collect();
            add(&|disk| {
                disk.slots = [None; SLOTS];
                for record in &records {
                    disk.slots[p.slot(record.number)] = Some(*record);
                }
            });
        }
        all
    }

    /// The same with small numbers, a record's slot being its number's rest, and without the records that
    /// neither count for anything nor are replayed: the newest one stays until a newer one is there.
    fn normal(mut self, p: &Protocol) -> Self {
        let Ok(JournalContents { newest, .. }) = p.held(&self) else { return self };
        // What is hidden this time may be the newest: then others count.
        let needed = if self.unread.is_some() { i32::MIN + 1 } else { newest.floor.min(newest.sure) };
        for slot in &mut self.slots {
            *slot = slot.filter(|record| record.number >= needed);
        }
        for head in &mut self.heads {
            *head = head.filter(|record| record.number >= needed - 1);
        }
        let turns = newest.number.div_euclid(p.slots as i32) * p.slots as i32;
        for record in self.slots.iter_mut().chain(&mut self.heads).flatten() {
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
        let mut disk = Disk {
            data: [Other; AREA],
            slots: [None; SLOTS],
            heads: [None; SLOTS],
            faulty: false,
            unread: None,
        };
        for i in 0..self.moved {
            disk.data[usize::from(self.from + i)] = Source(i);
        }
        let first = Some(Record { number: 0, done: 0, len: 0, sure: 0, floor: 0 });
        disk.slots[self.slot(0)] = first;
        if self.heads {
            disk.heads[self.slot(0)] = first;
        }
        disk
    }

    /// The `len` sectors after `done`.
    fn sectors(&self, done: u8, len: u8) -> std::ops::Range<u8> {
        if self.to > self.from && self.direction {
            self.moved - done - len..self.moved - done
        } else {
            done..done + len
        }
    }

    fn targets(&self, done: u8, len: u8) -> impl Iterator<Item = Write> {
        let to = self.to;
        self.sectors(done, len).map(move |i| Write::Data(usize::from(to + i), Target(i)))
    }

    /// The record of that number, of this run or the one before its first: as it is found, or might have been.
    fn written(&self, now: &Moment, number: i32) -> Record {
        let pending = now.pending.iter().flatten().filter_map(|write| match write {
            Write::Slot(_, record) => *record,
            Write::Data(..) | Write::Head(..) => None,
        });
        let found = now.disk.slots.iter().chain(&now.disk.heads).flatten().copied().chain(pending);
        let n = number - now.first;
        let done = if n < 0 { now.from } else { now.from + n as u8 * self.segment };
        let len = if n < 0 { 0 } else { self.segment.min(self.moved - done) };
        let (sure, floor) = match n {
            ..0 => (number, number),
            _ => ((number - 1).max(now.first), (number - self.slots as i32 + 1).max(now.first)),
        };
        let might = Record { number, done, len, sure, floor };
        found.into_iter().find(|record| record.number == number).unwrap_or(might)
    }

    /// What the journal says, and what of it is not whole.
    fn held(&self, disk: &Disk) -> Result<JournalContents, Wrong> {
        let mut whole: Vec<Record> = disk.slots.iter().flatten().copied().collect();
        let mut pages = whole.clone();
        for head in disk.heads.iter().flatten() {
            match pages.iter().find(|page| page.number == head.number) {
                Some(page) if page != head && self.compares => return Err(Wrong::Refused),
                Some(_) => {}
                None => {
                    pages.push(*head);
                    // Of a record without a segment nothing is missing.
                    whole.extend(Some(*head).filter(|head| head.len == 0));
                }
            }
        }
        whole.sort_by_key(|record| record.number);
        pages.sort_by_key(|record| record.number);
        let is_whole = |number: i32| whole.iter().any(|record| record.number == number);
        let counts = |record: &&Record| !self.links || (record.sure..record.number).all(is_whole);
        let Some(newest) = whole.iter().rev().find(counts).copied() else {
            return if disk.faulty {
                Err(Wrong::Refused)
            } else {
                Err(Wrong::Broken(format!("nothing counts on {disk:?}")))
            };
        };
        let after: Vec<Record> = pages.iter().filter(|page| page.number > newest.number).copied().collect();
        let behind = !disk.heads.iter().flatten().any(|head| head.number >= newest.sure - 1);
        if self.compares && (after.iter().any(|page| page.sure > newest.number + 1) || self.heads && behind) {
            return Err(Wrong::Refused);
        }
        let mut unsure = Vec::new();
        for number in (newest.floor..newest.number).filter(|number| !is_whole(*number)) {
            match pages.iter().find(|page| page.number == number) {
                Some(page) => unsure.push(*page),
                None if self.compares
                    && number + self.slots as i32 > newest.number + i32::from(self.ahead) =>
                {
                    return Err(Wrong::Refused);
                }
                None => {}
            }
        }
        let floor = if self.replays_all { newest.floor } else { newest.number };
        let replayed =
            whole.iter().filter(|r| (floor..=newest.number).contains(&r.number)).copied().collect();
        let stale = |records: &[Option<Record>; SLOTS]| {
            let stale = |at: &usize| self.wipes && records[*at].is_some_and(|r| r.number > newest.number);
            (0..SLOTS).filter(stale).collect()
        };
        let stale = [stale(&disk.slots), stale(&disk.heads)];
        Ok(JournalContents { newest, replayed, after, unsure, stale })
    }

    /// Whether nothing is missing that counted.
    fn is_whole(&self, disk: &Disk, held: &JournalContents) -> bool {
        let is = |record: &Record, from: u8, sector: fn(u8) -> Sector| {
            self.sectors(record.done, record.len).all(|i| disk.data[usize::from(from + i)] == sector(i))
        };
        held.after.iter().all(|record| is(record, self.from, Source))
            && held.unsure.iter().all(|record| is(record, self.to, Target))
    }

    /// Recovers; every medium that a cut on the way can leave goes to `left`.
    fn recover(&self, disk: &Disk, left: &mut HashSet<Disk>) -> Result<Moment, Wrong> {
        let (mut disk, unread) = (Disk { unread: None, ..disk.clone() }, disk.unread);
        let mut read = disk.clone();
        match unread {
            Some((at, true)) => read.heads[at] = None,
            Some((at, false)) => read.slots[at] = None,
            None => {}
        }
        let mut held = self.held(&read)?;
        if self.verifies && !self.is_whole(&read, &held) {
            return Err(Wrong::Refused);
        }
        if let Some((at, is_head)) = unread {
            held.stale[usize::from(is_head)].push(at);
        }
        let (newest, [slots, heads]) = (held.newest, held.stale);
        let targets = held.replayed.iter().flat_map(|record| self.targets(record.done, record.len));
        let targets: Vec<Write> = targets.collect();
        let mut writes: Vec<Write> = slots.into_iter().map(|at| Write::Slot(at, None)).collect();
        writes.extend(heads.into_iter().map(|at| Write::Head(at, None)));
        let at = self.slot(newest.number);
        if self.heads && self.mends && read.heads[at] != Some(newest) {
            writes.push(Write::Head(at, Some(newest)));
        }
        // What is kept of a segment can't be found elsewhere; a record without one is found whole.
        if self.mends && read.slots[at] != Some(newest) {
            writes.push(Write::Slot(at, Some(newest)));
        }
        // What does not count goes before anything else is written.
        let rounds = if self.wipes_first { vec![writes, targets] } else { vec![[writes, targets].concat()] };
        for round in rounds {
            left.extend(disk.cut(round.iter(), Data::Torn));
            round.into_iter().for_each(|write| disk.write(write));
        }
        let (from, next) = (newest.done + newest.len, newest.number + 1);
        let note = Record { number: next, done: from, len: 0, sure: next, floor: next };
        let mut notes = vec![Write::Slot(self.slot(next), Some(note))];
        notes.extend(self.heads.then_some(Write::Head(self.slot(next), Some(note))));
        left.extend(disk.cut(notes.iter(), Data::Torn));
        notes.into_iter().for_each(|note| disk.write(note));
        Ok(Moment {
            disk,
            pending: [vec![], vec![]],
            flush: [None; 2],
            first: next + 1,
            from,
            journaled: 0,
            recorded: 0,
            headed: 0,
            written: 0,
            settled: 0,
        })
    }

    /// Sectors done before the `n`th segment of this run, and its own.
    fn segment(&self, moment: &Moment, n: u8) -> Option<(u8, u8)> {
        let done = moment.from + n * self.segment;
        (done < self.moved).then(|| (done, self.segment.min(self.moved - done)))
    }

    /// Every moment that may follow.
    fn next(&self, now: &Moment) -> Result<Vec<Moment>, Wrong> {
        let mut all = Vec::new();
        let (n, slots) = (now.journaled, self.slots as u8);
        if let Some((done, len)) = self.segment(now, n)
            && n < now.durable(self) + self.ahead
            && (!self.settles || n < now.settled + slots)
        {
            let mut seen = now.disk.clone();
            now.pending.iter().flatten().for_each(|write| seen.write(*write));
            for i in self.sectors(done, len) {
                let found = seen.data[usize::from(self.from + i)];
                if found != Source(i) {
                    return Err(Wrong::Broken(format!("sector {i} is read as {found:?} in {now:?}")));
                }
            }
            let number = now.first + i32::from(n);
            let (sure, floor) =
                (now.first + i32::from(now.durable(self)), now.first + i32::from(now.settled));
            let mut after = now.clone();
            let record = Record { number, done, len, sure, floor };
            after.pending[0].push(Write::Slot(self.slot(number), Some(record)));
            if self.heads {
                after.pending[1].push(Write::Head(self.slot(number), Some(record)));
            }
            after.journaled += 1;
            all.push(after);
        }
        if now.written < if self.flushes { now.durable(self) } else { now.journaled }
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
                    let [records, targets] = reached;
                    match i {
                        0 => after.recorded = records,
                        _ => (after.headed, after.settled) = (records, targets),
                    }
                }
            } else if which.iter().any(|i| !now.pending[*i].is_empty()) {
                for i in *which {
                    after.flush[*i] = Some((now.pending[*i].len(), [now.journaled, now.written]));
                }
            } else {
                continue;
            }
            all.push(after);
        }
        Ok(all)
    }

    /// Every medium that any number of cuts, and one fault, can leave; the conversion ends well from each of them, or, after a
    /// fault, is refused. How many there were, and how many of those with a fault were refused.
    fn explore(&self) -> Result<[usize; 3], String> {
        let (mut disks, mut moments) = (HashSet::new(), HashSet::new());
        let (mut faulty, mut refused) = (0, 0);
        let mut to_do = vec![self.new_disk()];
        while let Some(disk) = to_do.pop() {
            faulty += usize::from(disk.faulty);
            let mut left = HashSet::new();
            let mut ahead = match self.recover(&disk, &mut left) {
                Ok(moment) => vec![moment],
                Err(Wrong::Refused) if disk.faulty => {
                    refused += 1;
                    continue;
                }
                Err(wrong) => return Err(format!("{wrong:?}: {disk:?}")),
            };
            while let Some(now) = ahead.pop() {
                let whole = |i: u8| now.disk.data[usize::from(self.to + i)] == Target(i);
                let after = self.next(&now).map_err(|wrong| format!("{wrong:?}"))?;
                if after.is_empty() && !(0..self.moved).all(whole) {
                    return Err(format!("it ends with {now:?}"));
                }
                left.extend(now.disk.cut(now.pending.iter().flatten(), Data::Torn));
                if self.faults && !now.disk.faulty {
                    for data in [Data::Torn, Data::Old] {
                        let cut = now.disk.cut(now.pending.iter().flatten(), data);
                        left.extend(cut.iter().flat_map(|disk| disk.faults(self, &now)));
                    }
                }
                ahead.extend(after.into_iter().filter(|moment| moments.insert(moment.clone())));
            }
            let left = left.into_iter().map(|disk| disk.normal(self));
            to_do.extend(left.filter(|disk| disks.insert(disk.clone())));
        }
        Ok([disks.len(), faulty, refused])
    }
}

fn protocols() -> impl Iterator<Item = Protocol> {
    let shifts = [(0, 0), (0, 1), (1, 0)];
    let sizes = [(1, 4, 2), (2, 4, 2), (1, 2, 1), (2, 2, 1)];
    let all = shifts.into_iter().flat_map(move |shift| sizes.map(|size| (shift, size)));
    all.flat_map(|((from, to), (segment, slots, ahead))| {
        [false, true].map(|apart| Protocol {
            moved: 4,
            faults: false,
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
            heads: true,
            verifies: true,
            compares: true,
            mends: true,
            wipes_first: true,
        })
    })
}

/// Those that are explored with faults: few sectors, or it takes long.
fn with_faults() -> impl Iterator<Item = Protocol> {
    let slow = std::env::var_os("KEYWAY_SLOW").is_some();
    let all = protocols().filter(move |p| slow || p.segment == 1);
    all.map(move |p| Protocol { faults: true, moved: if slow { 4 } else { 3 }, ..p })
}

#[test]
fn the_conversion_ends_well_from_every_state() {
    for protocol in protocols() {
        let [states, ..] = protocol.explore().unwrap_or_else(|wrong| panic!("{protocol:?}: {wrong}"));
        eprintln!("{protocol:?}: {states} states");
        assert!(states > 30);
    }
}

#[test]
fn after_a_fault_it_ends_well_or_is_refused() {
    for protocol in with_faults() {
        let [states, faulty, refused] =
            protocol.explore().unwrap_or_else(|wrong| panic!("{protocol:?}: {wrong}"));
        eprintln!("{protocol:?}: {states} states, {faulty} after a fault, {refused} refused");
        assert!(faulty > 100 && refused > 10 && refused < faulty);
    }
}

/// What records say of each other is a second line behind what the segments say: without it the model finds nothing.
#[test]
fn the_model_sees_what_is_left_out_for_faults() {
    for whole in with_faults().filter(|p| p.segment == 1) {
        let mut broken = vec![Protocol { heads: false, ..whole }, Protocol { verifies: false, ..whole }];
        if whole.apart {
            broken.push(Protocol { wipes_first: false, ..whole });
        }
        for broken in broken {
            let wrong = broken.explore();
            assert!(wrong.is_err(), "{broken:?} passes");
        }
    }
}

#[test]
fn the_model_sees_what_is_left_out() {
    for whole in protocols().filter(|p| p.segment == 1).map(|p| Protocol { moved: 5, heads: false, ..p }) {
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
