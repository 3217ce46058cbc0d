//! The protocol of a journal that does not keep everything, as a model of a few sectors, explored exhaustively: the
//! reader is any number of segments ahead, the power fails at every moment, each sector that was written and not flushed is
//! then old, new or garbage, and each record old, new or torn; and so it is during the recovery, and during
//! the recovery from that, until no state is new.
//!
//! In place a sector stands for as much as a run of parity, and a segment for a group: one of it may be garbage. Shifted
//! it stands for a piece, and all of them may be.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use std::collections::HashSet;
use std::ops::Range;

/// What a sector holds; they are numbered in the order in which they are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sector {
    /// Nothing that matters.
    Other,
    Garbage,
    Source(u8),
    Target(u8),
}

use Sector::{Garbage, Other, Source, Target};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    InPlace,
    /// From the end on, to the next higher place.
    Up,
    /// From the beginning on, to the next lower place.
    Down,
}

/// Sectors that are converted.
const MOVED: u8 = 6;

const AREA: usize = MOVED as usize + 1;

const SLOTS: usize = 4;

/// Segments that are read before they are written.
const AHEAD: u8 = 3;

/// A record that is whole, with what is kept of its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Record {
    number: i32,
    done: u8,
    len: u8,
    floor: i32,
}

/// A way to do it. The variants that leave something out are there to see that the model finds it.
#[derive(Debug, Clone, Copy)]
struct Protocol {
    shape: Shape,
    /// Sectors of a segment.
    segment: u8,
    /// Rounds in which a shifted one is written; one in so many sectors is kept.
    rounds: u8,
    slots: usize,
    /// The journal has a store of its own.
    apart: bool,
    /// Sectors of a segment in place that may become garbage.
    garbage: u8,
    /// Those that are mended.
    parity: u8,
    /// Recovery mends before it writes anything else.
    mends_first: bool,
    /// A record is flushed before its targets are written.
    records_first: bool,
    /// The last round is flushed before the next segment's targets are written.
    settles: bool,
    /// Each round is flushed, in a run and in a recovery.
    rounds_apart: [bool; 2],
    /// What is kept comes last.
    kept_last: bool,
    /// Recovery writes what is at its target already only as long as the source is there.
    spares: bool,
    /// Recovery goes back to the floor.
    replays_all: bool,
    /// What moves up begins at the end.
    direction: bool,
}

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

/// What the one loop does.
#[derive(Debug, Clone, Copy)]
enum Op {
    /// The record of the `n`th segment; so many before it are open.
    Record(u8, i32),
    /// A round of the `n`th segment.
    Round(u8, u8),
    FlushTargets,
    FlushRecords,
}

/// A moment of a run: the medium, what was written since, what comes next, and segments that were read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Moment {
    disk: Disk,
    pending: Vec<Write>,
    next: usize,
    read: u8,
}

impl Disk {
    fn write(&mut self, write: Write) {
        match write {
            Write::Data(at, sector) => self.data[at] = sector,
            Write::Slot(at, record) => self.slots[at] = record,
        }
    }

    /// Every medium that a loss of power can leave of this one and unflushed writes.
    fn cut(&self, p: &Protocol, pending: &[Write]) -> Vec<Self> {
        let mut disks = vec![(self.clone(), [0u8; AREA])];
        for at in 0..AREA {
            let new: Vec<Sector> = (pending.iter())
                .filter_map(|write| match write {
                    Write::Data(place, sector) if *place == at => Some(*sector),
                    _ => None,
                })
                .collect();
            if new.is_empty() {
                continue;
            }
            let group = at / usize::from(p.segment);
            for (mut disk, mut lost) in disks.clone() {
                for sector in &new {
                    disk.data[at] = *sector;
                    disks.push((disk.clone(), lost));
                }
                if p.shape != Shape::InPlace || lost[group] < p.garbage {
                    lost[group] += 1;
                    disk.data[at] = Garbage;
                    disks.push((disk, lost));
                }
            }
        }
        let mut disks: HashSet<Self> = disks.into_iter().map(|(disk, _)| disk).collect();
        for write in pending {
            if let Write::Slot(at, record) = write {
                let torn = disks.clone().into_iter().flat_map(|disk| {
                    [*record, None].map(|version| {
                        let mut disk = disk.clone();
                        disk.slots[*at] = version;
                        disk
                    })
                });
                disks.extend(torn.collect::<Vec<_>>());
            }
        }
        disks.into_iter().collect()
    }

    /// The same with small numbers, and without the records that are replayed no more.
    fn normal(mut self, p: &Protocol) -> Self {
        let Some(newest) = self.newest() else { return self };
        let turns = newest.number.div_euclid(p.slots as i32) * p.slots as i32;
        for slot in &mut self.slots {
            *slot = slot.filter(|record| record.number >= newest.floor).map(|record| Record {
                number: record.number - turns,
                floor: record.floor - turns,
                ..record
            });
        }
        self
    }

    fn newest(&self) -> Option<Record> {
        self.slots.iter().flatten().copied().max_by_key(|record| record.number)
    }
}

impl Protocol {
    fn new(shape: Shape, apart: bool) -> Self {
        let (segment, rounds) = if shape == Shape::InPlace { (2, 1) } else { (4, 2) };
        Self {
            shape,
            segment,
            rounds,
            slots: 2,
            apart,
            garbage: 1,
            parity: 1,
            mends_first: true,
            records_first: true,
            settles: true,
            rounds_apart: [true; 2],
            kept_last: true,
            spares: true,
            replays_all: true,
            direction: true,
        }
    }

    /// Where the `i`th sector comes from, and where it goes.
    fn places(&self, i: u8) -> (usize, usize) {
        let turned = if self.direction { MOVED - 1 - i } else { i };
        let (from, to) = match self.shape {
            Shape::InPlace => (i, i),
            Shape::Up => (turned, turned + 1),
            Shape::Down => (i + 1, i),
        };
        (from.into(), to.into())
    }

    fn slot(&self, number: i32) -> usize {
        number.rem_euclid(self.slots as i32) as usize
    }

    fn new_disk(&self) -> Disk {
        let mut disk = Disk { data: [Other; AREA], slots: [None; SLOTS] };
        for i in 0..MOVED {
            disk.data[self.places(i).0] = Source(i);
        }
        disk.slots[self.slot(0)] = Some(Record { number: 0, done: 0, len: 0, floor: 0 });
        disk
    }

    /// The round in which the `i`th sector of a segment is written.
    fn round(&self, i: u8) -> u8 {
        if self.kept_last { (i + self.rounds - 1) % self.rounds } else { i % self.rounds }
    }

    /// What is written again of a record's segment, in rounds; each sector must be there in some way.
    fn rebuilt(&self, disk: &Disk, record: &Record) -> Result<Vec<Vec<u8>>, String> {
        let sectors: Range<u8> = record.done..record.done + record.len;
        let lost = |why: &str, i: u8| Err(format!("sector {i} {why} on {disk:?}"));
        if self.shape == Shape::InPlace {
            let mut broken = vec![];
            for i in sectors.clone() {
                let found = disk.data[self.places(i).0];
                if found == Garbage {
                    broken.push(i);
                } else if found != Source(i) && found != Target(i) {
                    return lost("is another's", i);
                }
            }
            if broken.len() > self.parity.into() {
                return lost("can't be mended", broken[0]);
            }
            let all = sectors.collect();
            return Ok(if self.mends_first { vec![broken, all] } else { vec![all] });
        }
        let mut rounds = vec![vec![]; self.rounds.into()];
        for (n, i) in sectors.enumerate() {
            let (from, to) = self.places(i);
            let kept = (n as u8).is_multiple_of(self.rounds);
            let is_there = disk.data[to] == Target(i);
            if kept || disk.data[from] == Source(i) || is_there && !self.spares {
                rounds[usize::from(self.round(n as u8))].push(i);
            } else if !is_there {
                return lost("is nowhere", i);
            }
        }
        Ok(rounds)
    }

    fn targets(&self, sectors: impl IntoIterator<Item = u8>) -> Vec<Write> {
        sectors.into_iter().map(|i| Write::Data(self.places(i).1, Target(i))).collect()
    }

    /// Recovers; every medium that a cut on the way can leave goes to `left`. Bytes done, and the number of the next record.
    fn recover(&self, disk: &mut Disk, left: &mut HashSet<Disk>) -> Result<(u8, i32), String> {
        let newest = disk.newest().ok_or(format!("no record counts on {disk:?}"))?;
        let floor = if self.replays_all { newest.floor } else { newest.number };
        let mut replayed: Vec<Record> =
            disk.slots.iter().flatten().filter(|r| r.len > 0 && r.number >= floor).copied().collect();
        replayed.sort_by_key(|record| record.number);
        let rebuilt: Vec<_> =
            replayed.iter().map(|record| self.rebuilt(disk, record)).collect::<Result<_, _>>()?;
        let mut pending = Vec::new();
        let mut flush = |disk: &mut Disk, pending: &mut Vec<Write>| {
            left.extend(disk.cut(self, pending));
            pending.drain(..).for_each(|write| disk.write(write));
        };
        for rounds in rebuilt {
            let many = rounds.len() > 1;
            for round in rounds {
                pending.extend(self.targets(round));
                if many && self.rounds_apart[1] {
                    flush(disk, &mut pending);
                }
            }
        }
        flush(disk, &mut pending);
        let (done, number) = (newest.done + newest.len, newest.number + 1);
        let note = Record { number, done, len: 0, floor: number };
        pending.push(Write::Slot(self.slot(number), Some(note)));
        flush(disk, &mut pending);
        Ok((done, number + 1))
    }

    fn segments(&self, from: u8) -> Vec<(u8, u8)> {
        (from..MOVED).step_by(self.segment.into()).map(|at| (at, self.segment.min(MOVED - at))).collect()
    }

    /// All that a run does from there on, in order.
    fn ops(&self, from: u8) -> Vec<Op> {
        let segments = self.segments(from).len() as u8;
        let mut ops = Vec::new();
        if segments > 0 {
            ops.push(Op::Record(0, 0));
            ops.extend(self.records_first.then_some(Op::FlushRecords));
        }
        for n in 0..segments {
            for round in 0..self.rounds {
                ops.push(Op::Round(n, round));
                if round + 1 < self.rounds && self.rounds_apart[0] {
                    ops.push(Op::FlushTargets);
                }
            }
            if !self.records_first {
                ops.push(Op::FlushTargets);
            }
            let next = n + 1 < segments;
            if next {
                ops.push(Op::Record(n + 1, 1));
            }
            if self.records_first {
                ops.extend((self.settles || !next).then_some(Op::FlushTargets));
                ops.extend(next.then_some(Op::FlushRecords));
            }
        }
        ops.push(Op::FlushTargets);
        ops
    }

    /// One run; every medium that a cut can leave goes to `left`.
    fn run(&self, disk: Disk, from: u8, first: i32, left: &mut HashSet<Disk>) -> Result<(), String> {
        let (segments, ops) = (self.segments(from), self.ops(from));
        let mut seen = HashSet::new();
        let mut ahead = vec![Moment { disk, pending: vec![], next: 0, read: 0 }];
        while let Some(now) = ahead.pop() {
            if !seen.insert(now.clone()) {
                continue;
            }
            left.extend(now.disk.cut(self, &now.pending));
            let begun = ops[..now.next].iter().filter(|op| matches!(op, Op::Record(..))).count() as u8;
            if let Some((done, len)) = segments.get(usize::from(now.read))
                && now.read < begun + AHEAD
            {
                let mut seen = now.disk.clone();
                now.pending.iter().for_each(|write| seen.write(*write));
                for i in *done..done + len {
                    let found = seen.data[self.places(i).0];
                    if found != Source(i) {
                        return Err(format!("sector {i} is read as {found:?} in {now:?}"));
                    }
                }
                ahead.push(Moment { read: now.read + 1, ..now.clone() });
            }
            let Some(op) = ops.get(now.next) else {
                if (0..MOVED).any(|i| now.disk.data[self.places(i).1] != Target(i)) {
                    return Err(format!("it ends with {now:?}"));
                }
                continue;
            };
            let mut after = Moment { next: now.next + 1, ..now.clone() };
            match *op {
                Op::Record(n, open) => {
                    if now.read <= n {
                        continue;
                    }
                    let ((done, len), number) = (segments[usize::from(n)], first + i32::from(n));
                    let record = Record { number, done, len, floor: number - open };
                    after.pending.push(Write::Slot(self.slot(number), Some(record)));
                }
                Op::Round(n, round) => {
                    let (done, len) = segments[usize::from(n)];
                    let sectors = (0..len).filter(|i| self.rounds == 1 || self.round(*i) == round);
                    after.pending.extend(self.targets(sectors.map(|i| done + i)));
                }
                Op::FlushTargets | Op::FlushRecords => {
                    let targets = matches!(op, Op::FlushTargets);
                    let flushed = |write: &Write| !self.apart || targets == matches!(write, Write::Data(..));
                    let (done, kept) = now.pending.iter().partition(|write| flushed(write));
                    let _: &Vec<Write> = &done;
                    after.pending = kept;
                    done.into_iter().for_each(|write| after.disk.write(write));
                }
            }
            ahead.push(after);
        }
        Ok(())
    }

    /// Every medium that any number of cuts can leave; the conversion ends well from each of them.
    fn explore(&self) -> Result<usize, String> {
        let mut disks = HashSet::new();
        let mut to_do = vec![self.new_disk()];
        while let Some(mut disk) = to_do.pop() {
            let mut left = HashSet::new();
            let (from, number) = self.recover(&mut disk, &mut left)?;
            self.run(disk, from, number, &mut left)?;
            let left = left.into_iter().map(|disk| disk.normal(self));
            to_do.extend(left.filter(|disk| disks.insert(disk.clone())));
        }
        Ok(disks.len())
    }
}

fn protocols() -> Vec<Protocol> {
    let mut all = Vec::new();
    for apart in [false, true] {
        let in_place = Protocol::new(Shape::InPlace, apart);
        all.extend([in_place, Protocol { segment: 3, ..in_place }]);
        // Without parity nothing may become garbage: what cryptsetup's checksums ask of a drive.
        all.push(Protocol { garbage: 0, parity: 0, ..in_place });
        for shape in [Shape::Up, Shape::Down] {
            let shifted = Protocol::new(shape, apart);
            all.extend([shifted, Protocol { rounds: 3, segment: 3, ..shifted }]);
            all.extend([Protocol { segment: 2, ..shifted }, Protocol { rounds: 3, ..shifted }]);
        }
    }
    let four_slots: Vec<_> = all.iter().map(|protocol| Protocol { slots: SLOTS, ..*protocol }).collect();
    all.extend(four_slots);
    all
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
    for whole in protocols().into_iter().filter(|p| p.garbage > 0) {
        let mut broken = vec![
            Protocol { records_first: false, ..whole },
            Protocol { replays_all: false, ..whole },
            Protocol { slots: 1, ..whole },
        ];
        if whole.shape == Shape::InPlace {
            // In one store there is no flush that leaves the targets out; it takes one more segment than slots; and where there
            // are rounds the first of the next segment's is flushed in time.
            if whole.apart && usize::from(MOVED.div_ceil(whole.segment)) > whole.slots {
                broken.push(Protocol { settles: false, ..whole });
            }
            broken.extend([
                Protocol { parity: 0, ..whole },
                Protocol { garbage: 2, ..whole },
                Protocol { mends_first: false, ..whole },
            ]);
        } else {
            broken.push(Protocol { spares: false, ..whole });
            // Of two in two rounds each covers what is kept, or was settled with the segment before.
            if whole.segment > 2 {
                broken.extend(
                    [[false, true], [true, false]].map(|rounds_apart| Protocol { rounds_apart, ..whole }),
                );
            }
            // The first one that is kept covers what was settled with the segment before.
            if whole.segment > whole.rounds {
                broken.push(Protocol { kept_last: false, ..whole });
            }
        }
        if whole.shape == Shape::Up {
            broken.push(Protocol { direction: false, ..whole });
        }
        for broken in broken {
            assert!(broken.explore().is_err(), "{broken:?} passes");
        }
    }
}
