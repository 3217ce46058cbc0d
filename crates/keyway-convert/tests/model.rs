//! The protocol as a model of a few sectors, explored exhaustively: the power fails before every write
//! and every flush, of what was not flushed any subset survives, in any order, each sector old, new or
//! torn; and so it does during the recovery, and during the recovery from that, until no state is new.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use std::collections::HashSet;

/// What a sector holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Sector {
    /// Nothing that matters.
    Other,
    /// A sector that was torn.
    Torn,
    /// The `i`th sector before the conversion.
    Source(u8),
    /// The `i`th sector as it shall be.
    Target(u8),
    /// A record: its number, sectors done before, and the segment that its checksum is of.
    Record(u8, u8, Vec<Sector>),
}

use Sector::{Other, Record, Source, Target, Torn};

/// Sectors that are converted.
const MOVED: u8 = 4;

/// A way to do it. The variants that leave something out are there to see that the model finds it.
#[derive(Debug, Clone, Copy)]
struct Protocol {
    /// Where the first source sector and the first target sector are.
    from: u8,
    to: u8,
    /// Sectors of a segment.
    segment: u8,
    /// The flush between journal and target.
    flushes: bool,
    /// Recovery writes the segments of both records, not of the newest alone.
    replays_both: bool,
    /// Records are written in turn to two slots, not always to one.
    two_slots: bool,
    /// What moves up begins at the end.
    direction: bool,
}

type Disk = Vec<Sector>;

const AREA: usize = MOVED as usize + 1;

impl Protocol {
    /// The sectors are followed by two slots: a record and a segment each.
    fn slot(&self, number: u8) -> usize {
        let turn = if self.two_slots { usize::from(number % 2) } else { 0 };
        AREA + turn * (1 + usize::from(self.segment))
    }

    fn new_disk(&self) -> Disk {
        let mut disk = vec![Other; AREA + 2 * (1 + usize::from(self.segment))];
        for i in 0..MOVED {
            disk[usize::from(self.from + i)] = Source(i);
        }
        disk[self.slot(0)] = Record(0, 0, vec![]);
        disk
    }

    /// The sectors of the segment after `done`.
    fn sectors(&self, done: u8) -> std::ops::Range<u8> {
        let n = self.segment.min(MOVED - done);
        if self.to > self.from && self.direction { MOVED - done - n..MOVED - done } else { done..done + n }
    }

    /// The whole records on a disk, with number and sectors done before; the older one first.
    fn records(&self, disk: &Disk) -> Vec<(u8, u8, Vec<Sector>)> {
        let mut found = Vec::new();
        for slot in [self.slot(0), self.slot(1)].into_iter().take(if self.two_slots { 2 } else { 1 }) {
            if let Record(number, done, segment) = &disk[slot]
                && disk[slot + 1..].starts_with(segment)
            {
                found.push((*number, *done, segment.clone()));
            }
        }
        found.sort_by_key(|(number, ..)| *number);
        found
    }
}

/// A medium with a cache that forgets.
struct Medium {
    disk: Disk,
    /// Written since the last flush, in order.
    pending: Vec<(usize, Sector)>,
    /// Every disk that a loss of power can leave.
    left: HashSet<Disk>,
}

impl Medium {
    fn read(&self, at: usize) -> Sector {
        let cached = self.pending.iter().rev().find(|(place, _)| *place == at);
        cached.map_or_else(|| self.disk[at].clone(), |(_, sector)| sector.clone())
    }

    fn write(&mut self, at: usize, sector: Sector) {
        self.cut();
        self.pending.push((at, sector));
    }

    fn flush(&mut self) {
        self.cut();
        for (at, sector) in self.pending.drain(..) {
            self.disk[at] = sector;
        }
    }

    /// The power fails here: each sector that was written may have any of the contents it was given, or
    /// the old one, or be torn.
    fn cut(&mut self) {
        let mut disks = vec![self.disk.clone()];
        let mut places: Vec<usize> = self.pending.iter().map(|(at, _)| *at).collect();
        places.sort_unstable();
        places.dedup();
        for at in places {
            let versions = self.pending.iter().filter(|(place, _)| *place == at).map(|(_, sector)| sector);
            let choices: Vec<Sector> = versions.cloned().chain([Torn]).collect();
            let mut more = Vec::new();
            for disk in &disks {
                more.extend(choices.iter().map(|choice| {
                    let mut disk = disk.clone();
                    disk[at] = choice.clone();
                    disk
                }));
            }
            disks.extend(more);
        }
        self.left.extend(disks);
    }
}

/// Runs to the end on a disk; every disk that a cut on the way can leave, or what went wrong.
fn run(p: &Protocol, disk: &Disk) -> Result<HashSet<Disk>, String> {
    let mut medium = Medium { disk: disk.clone(), pending: vec![], left: HashSet::new() };
    let records = p.records(disk);
    let Some((newest, before, segment)) = records.last().cloned() else {
        return Err(format!("no record is left on {disk:?}"));
    };
    let replayed = if p.replays_both { &records[..] } else { &records[records.len() - 1..] };
    for (_, done, segment) in replayed {
        let sectors = p.sectors(*done);
        for (i, sector) in sectors.zip(segment) {
            medium.write(usize::from(p.to + i), sector.clone());
        }
    }
    medium.flush();
    let mut done = before + segment.len() as u8;
    let mut number = newest + 1;
    while done < MOVED {
        let sectors = p.sectors(done);
        let mut segment = Vec::new();
        for i in sectors.clone() {
            match medium.read(usize::from(p.from + i)) {
                Source(found) if found == i => segment.push(Target(i)),
                found => return Err(format!("sector {i} is read as {found:?} after {done} on {disk:?}")),
            }
        }
        for (i, sector) in segment.iter().enumerate() {
            medium.write(p.slot(number) + 1 + i, sector.clone());
        }
        medium.write(p.slot(number), Record(number, done, segment.clone()));
        if p.flushes {
            medium.flush();
        }
        for (i, sector) in sectors.zip(&segment) {
            medium.write(usize::from(p.to + i), sector.clone());
        }
        done += segment.len() as u8;
        number += 1;
    }
    medium.flush();
    for i in 0..MOVED {
        if medium.disk[usize::from(p.to + i)] != Target(i) {
            return Err(format!("sector {i} is wrong in the end on {:?}", medium.disk));
        }
    }
    Ok(medium.left)
}

/// Every disk that any number of cuts can leave; the conversion ends well from each of them.
fn explore(p: &Protocol) -> Result<usize, String> {
    let mut seen = HashSet::new();
    let mut next = vec![p.new_disk()];
    while let Some(disk) = next.pop() {
        for left in run(p, &disk)? {
            if seen.insert(left.clone()) {
                next.push(left);
            }
        }
    }
    Ok(seen.len())
}

fn protocols() -> impl Iterator<Item = Protocol> {
    let shifts = [(0, 0), (0, 1), (1, 0)];
    shifts.into_iter().flat_map(|(from, to)| {
        [1, 2].map(|segment| Protocol {
            from,
            to,
            segment,
            flushes: true,
            replays_both: true,
            two_slots: true,
            direction: true,
        })
    })
}

#[test]
fn the_conversion_ends_well_from_every_state() {
    for protocol in protocols() {
        let states = explore(&protocol).unwrap_or_else(|wrong| panic!("{protocol:?}: {wrong}"));
        eprintln!("{protocol:?}: {states} states");
        assert!(states > 100);
    }
}

#[test]
fn the_model_sees_what_is_left_out() {
    for whole in protocols() {
        let without_flush = Protocol { flushes: false, ..whole };
        let without_the_older = Protocol { replays_both: false, ..whole };
        let with_one_slot = Protocol { two_slots: false, ..whole };
        for broken in [without_flush, without_the_older, with_one_slot] {
            assert!(explore(&broken).is_err(), "{broken:?} passes");
        }
        if whole.to > whole.from {
            let backwards = Protocol { direction: false, ..whole };
            assert!(explore(&backwards).is_err(), "{backwards:?} passes");
        }
    }
}
