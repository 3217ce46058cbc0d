//! A volume in use while it is converted, as a model of a few sectors, explored exhaustively: its user writes
//! and flushes at every moment that the rules allow, the power fails at every moment, of what was not flushed
//! any subset survives. After any number of cuts every sector is what its user was promised.
//!
//! As in `model.rs` a sector that was written and not flushed is torn after a cut. If its user wrote it, that
//! is nobody's fault, and nothing is promised of it until it is written again.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

use std::collections::HashSet;

/// What a sector of the medium holds: which sector of the content, and the how manieth thing written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sector {
    Other,
    Torn,
    Old(u8, u8),
    New(u8, u8),
}

use Sector::{New, Old, Other, Torn};

/// Sectors that are converted.
const MOVED: u8 = 3;
const AREA: usize = MOVED as usize + 1;
/// Writes of the user in all.
const WRITES: u8 = 2;
const SLOTS: usize = 4;

/// A record: its number, sectors done before it, and the version of its one sector, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Record {
    number: u8,
    done: u8,
    segment: Option<u8>,
    /// Nothing before this number is written again.
    floor: u8,
}

/// What is done, and the variants that leave something out, to see that the model finds it.
#[derive(Debug, Clone, Copy)]
struct Protocol {
    from: u8,
    to: u8,
    /// Writes into the segment wait from the time that it is read.
    closes: bool,
    /// They wait until the record behind it is on the medium, not only until its target is written.
    waits_for_the_note: bool,
    /// The target is on the medium before that record is written.
    settles: bool,
    /// Somebody begins to write only when recovery is noted.
    notes_recovery: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Disk {
    data: [Sector; AREA],
    slots: [Option<Record>; SLOTS],
}

/// Where the conversion is with a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Stage {
    Closed,
    Read,
    Journaled,
    Flushed,
    Put,
    Settled,
    Noted,
    /// And nothing is closed.
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Write {
    Data(usize, Sector),
    Slot(Record),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Moment {
    disk: Disk,
    pending: Vec<Write>,
    /// What each sector of the content holds for its user; `None`: nobody knows.
    content: [Option<u8>; MOVED as usize],
    /// Sectors that the user wrote since the last flush.
    unsure: [bool; MOVED as usize],
    writes: u8,
    number: u8,
    done: u8,
    stage: Stage,
    /// The version that was read.
    segment: Option<u8>,
    /// The recovery's note is on the medium.
    noted: bool,
}

/// What is left by a cut.
type MediumState = (Disk, [Option<u8>; MOVED as usize], u8);

impl Protocol {
    fn sector(&self, done: u8) -> u8 {
        if self.to > self.from { MOVED - 1 - done } else { done }
    }

    /// Whether the sector lies at its target.
    fn is_put(&self, now: &Moment, i: u8) -> bool {
        let put = now.done + u8::from(now.stage >= Stage::Put && now.stage < Stage::Open);
        (0..put.min(MOVED)).any(|done| self.sector(done) == i)
    }

    fn seen(now: &Moment, at: usize) -> Sector {
        let last = now.pending.iter().rev().find_map(|write| match write {
            Write::Data(place, sector) if *place == at => Some(*sector),
            _ => None,
        });
        last.unwrap_or(now.disk.data[at])
    }

    /// What the user reads.
    fn read(&self, now: &Moment, i: u8) -> Option<u8> {
        let (at, is_put) = if self.is_put(now, i) { (self.to + i, true) } else { (self.from + i, false) };
        match Self::seen(now, usize::from(at)) {
            Old(found, version) if found == i && !is_put => Some(version),
            New(found, version) if found == i && is_put => Some(version),
            _ => None,
        }
    }

    fn recover(
        &self,
        (disk, content, writes): &MediumState,
        left: &mut HashSet<MediumState>,
    ) -> Result<Moment, String> {
        let newest = disk.slots.iter().flatten().max_by_key(|record| record.number);
        let newest = *newest.ok_or(format!("no record is left on {disk:?}"))?;
        let mut now = Moment {
            disk: disk.clone(),
            pending: vec![],
            content: *content,
            unsure: [false; MOVED as usize],
            writes: *writes,
            number: newest.number + 1,
            done: newest.done + u8::from(newest.segment.is_some()),
            stage: Stage::Open,
            segment: None,
            noted: false,
        };
        for record in disk.slots.iter().flatten().filter(|record| record.number >= newest.floor) {
            if let Some(version) = record.segment {
                let i = self.sector(record.done);
                now.pending.push(Write::Data(usize::from(self.to + i), New(i, version)));
            }
        }
        self.cut(&now, left);
        Self::flush(&mut now);
        if self.notes_recovery {
            Self::note(&mut now);
            self.cut(&now, left);
            Self::flush(&mut now);
            now.noted = true;
        }
        Ok(now)
    }

    /// Says how far it is.
    fn note(now: &mut Moment) {
        let (number, done) = (now.number, now.done);
        now.pending.push(Write::Slot(Record { number, done, segment: None, floor: number }));
        now.number += 1;
    }

    fn flush(now: &mut Moment) {
        for write in now.pending.drain(..) {
            match write {
                Write::Data(at, sector) => now.disk.data[at] = sector,
                Write::Slot(record) => now.disk.slots[usize::from(record.number) % SLOTS] = Some(record),
            }
        }
        now.unsure = [false; MOVED as usize];
    }

    /// Everything that a loss of power can leave.
    fn cut(&self, now: &Moment, left: &mut HashSet<MediumState>) {
        let (mut disk, mut content) = (now.disk.clone(), now.content);
        for (content, unsure) in content.iter_mut().zip(now.unsure) {
            *content = content.filter(|_| !unsure);
        }
        for write in &now.pending {
            if let Write::Data(at, _) = write {
                disk.data[*at] = Torn;
            }
        }
        let mut disks = vec![disk];
        for write in &now.pending {
            let Write::Slot(record) = write else { continue };
            let slot = usize::from(record.number) % SLOTS;
            for disk in disks.clone() {
                for new in [None, Some(*record)] {
                    let mut disk = disk.clone();
                    disk.slots[slot] = new;
                    disks.push(disk);
                }
            }
        }
        left.extend(disks.into_iter().map(|disk| (disk, content, now.writes)));
    }

    fn next(&self, now: &Moment) -> Result<Vec<Moment>, String> {
        let mut all = Vec::new();
        for i in 0..MOVED {
            let (expected, found) = (now.content[usize::from(i)], self.read(now, i));
            // Of a segment that is being put the user waits for the end.
            let waits = now.stage == Stage::Flushed && self.sector(now.done) == i;
            if expected.is_some() && expected != found && !waits {
                return Err(format!("sector {i} is read as {found:?} in {now:?}"));
            }
        }
        // The user.
        for i in (0..MOVED).filter(|_| now.writes < WRITES) {
            let held = now.stage != Stage::Open && self.sector(now.done) == i;
            let open = if !self.closes {
                now.stage >= Stage::Put || now.stage <= Stage::Read
            } else if !self.waits_for_the_note {
                now.stage >= Stage::Put
            } else {
                false
            };
            if held && !open {
                continue;
            }
            let mut after = now.clone();
            after.writes += 1;
            let version = after.writes;
            let write = if self.is_put(now, i) {
                Write::Data(usize::from(self.to + i), New(i, version))
            } else {
                Write::Data(usize::from(self.from + i), Old(i, version))
            };
            after.pending.push(write);
            after.content[usize::from(i)] = Some(version);
            after.unsure[usize::from(i)] = true;
            all.push(after);
        }
        if !now.pending.is_empty() {
            let mut after = now.clone();
            Self::flush(&mut after);
            all.push(after);
        }
        // The conversion.
        if now.done >= MOVED {
            return Ok(all);
        }
        if !now.noted {
            let mut after = Moment { noted: true, ..now.clone() };
            Self::note(&mut after);
            Self::flush(&mut after);
            all.push(after);
            return Ok(all);
        }
        let i = self.sector(now.done);
        let mut after = now.clone();
        match now.stage {
            Stage::Open => after.stage = Stage::Closed,
            Stage::Closed => {
                after.segment = match Self::seen(now, usize::from(self.from + i)) {
                    Old(found, version) if found == i => Some(version),
                    // Torn under its user's hands, who was promised nothing.
                    Torn if now.content[usize::from(i)].is_none() => Some(u8::MAX),
                    found => return Err(format!("sector {i} is read as {found:?} in {now:?}")),
                };
                after.stage = Stage::Read;
            }
            Stage::Read => {
                let (number, done, segment) = (now.number, now.done, now.segment);
                after.pending.push(Write::Slot(Record { number, done, segment, floor: number }));
                after.number += 1;
                after.stage = Stage::Journaled;
            }
            Stage::Journaled => {
                Self::flush(&mut after);
                after.stage = Stage::Flushed;
            }
            Stage::Flushed => {
                let version = now.segment.expect("read");
                after.pending.push(Write::Data(usize::from(self.to + i), New(i, version)));
                after.stage = Stage::Put;
            }
            Stage::Put => {
                if self.settles {
                    Self::flush(&mut after);
                }
                after.stage = Stage::Settled;
            }
            Stage::Settled => {
                after.done += 1;
                Self::note(&mut after);
                (after.done, after.stage) = (now.done, Stage::Noted);
            }
            Stage::Noted => {
                Self::flush(&mut after);
                (after.stage, after.done, after.segment) = (Stage::Open, now.done + 1, None);
            }
        }
        all.push(after);
        Ok(all)
    }

    fn explore(&self) -> Result<usize, String> {
        let mut disk = Disk { data: [Other; AREA], slots: [None; SLOTS] };
        for i in 0..MOVED {
            disk.data[usize::from(self.from + i)] = Old(i, 0);
        }
        disk.slots[0] = Some(Record { number: 0, done: 0, segment: None, floor: 0 });
        let (mut seen, mut moments) = (HashSet::new(), HashSet::new());
        let mut to_do = vec![(disk, [Some(0); MOVED as usize], 0)];
        while let Some(start) = to_do.pop() {
            let mut left = HashSet::new();
            let mut ahead = vec![self.recover(&start, &mut left)?];
            while let Some(now) = ahead.pop() {
                let after = self.next(&now)?;
                self.cut(&now, &mut left);
                ahead.extend(after.into_iter().filter(|moment| moments.insert(moment.clone())));
            }
            let left = left.into_iter().map(normal);
            to_do.extend(left.filter(|left| seen.insert(left.clone())));
        }
        Ok(seen.len())
    }
}

/// The same with small numbers, and without records below the floor.
fn normal((mut disk, content, writes): MediumState) -> MediumState {
    if let Some(newest) = disk.slots.iter().flatten().max_by_key(|record| record.number).copied() {
        let turns = newest.floor / SLOTS as u8 * SLOTS as u8;
        for slot in &mut disk.slots {
            *slot = slot.filter(|record| record.number >= newest.floor);
            if let Some(record) = slot {
                record.number -= turns;
                record.floor -= turns;
            }
        }
    }
    (disk, content, writes)
}

fn protocols() -> impl Iterator<Item = Protocol> {
    [(0, 0), (0, 1), (1, 0)].into_iter().map(|(from, to)| Protocol {
        from,
        to,
        closes: true,
        waits_for_the_note: true,
        settles: true,
        notes_recovery: true,
    })
}

#[test]
fn what_was_promised_to_the_user_is_there_in_every_state() {
    for protocol in protocols() {
        let states = protocol.explore().unwrap_or_else(|wrong| panic!("{protocol:?}: {wrong}"));
        eprintln!("{protocol:?}: {states} states");
        assert!(states > 100);
    }
}

#[test]
fn the_model_sees_what_is_left_out() {
    for whole in protocols() {
        let broken = [
            Protocol { closes: false, ..whole },
            Protocol { waits_for_the_note: false, ..whole },
            Protocol { settles: false, ..whole },
            Protocol { notes_recovery: false, ..whole },
        ];
        for broken in broken {
            assert!(broken.explore().is_err(), "{broken:?} passes");
        }
    }
}
