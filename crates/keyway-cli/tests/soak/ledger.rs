//! What must be in a volume: every sector says which write of it this is, and how it came out is checked against
//! what was promised.

use keyway_testkit::Rng;

/// Bytes of a sector: the smallest piece that a write may be torn into.
pub(crate) const SECTOR: usize = 512;

/// A stretch of the volume that one worker writes to.
pub(crate) struct Ledger {
    /// The first sector.
    start: u64,
    sectors: Vec<Sector>,
}

/// Writes of a sector are numbered from 1.
#[derive(Clone, Copy, Default)]
struct Sector {
    /// This write, or a later one, must be there whatever happens: a flush said so.
    sure: u32,
    /// This one was acknowledged: it is what is read while nothing happens.
    acknowledged: u32,
    /// The last that was begun.
    begun: u32,
}

/// A stretch of sectors of a ledger.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    first: usize,
    len: usize,
}

impl Range {
    pub(crate) fn bytes(self) -> usize {
        self.len * SECTOR
    }
}

impl Ledger {
    pub(crate) fn new(start: u64, sectors: usize) -> Self {
        Self { start, sectors: vec![Sector::default(); sectors] }
    }

    /// A stretch of at most so many sectors, anywhere.
    pub(crate) fn any(&self, random: &mut Rng, most: u64) -> Range {
        let len = 1 + random.below(most) as usize;
        let first = random.below((self.sectors.len() - len + 1) as u64) as usize;
        Range { first, len }
    }

    /// Everything, in pieces of at most so many sectors.
    pub(crate) fn pieces(&self, most: usize) -> Vec<Range> {
        let firsts = (0..self.sectors.len()).step_by(most);
        firsts.map(|first| Range { first, len: most.min(self.sectors.len() - first) }).collect()
    }

    /// Its first byte in the volume.
    pub(crate) fn offset(&self, range: Range) -> u64 {
        (self.start + range.first as u64) * SECTOR as u64
    }

    /// Begins a write: the bytes.
    pub(crate) fn begin(&mut self, range: Range) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(range.len * SECTOR);
        for index in range.first..range.first + range.len {
            self.sectors[index].begun += 1;
            bytes.extend(content(self.start + index as u64, self.sectors[index].begun));
        }
        bytes
    }

    /// The write was acknowledged.
    pub(crate) fn acknowledge(&mut self, range: Range) {
        for sector in &mut self.sectors[range.first..range.first + range.len] {
            sector.acknowledged = sector.begun;
        }
    }

    /// A flush was acknowledged that began when all of this had been.
    pub(crate) fn flushed(&mut self) {
        for sector in &mut self.sectors {
            sector.sure = sector.acknowledged;
        }
    }

    /// What is read while nothing happens is what was written last.
    pub(crate) fn check_now(&self, range: Range, bytes: &[u8]) -> Result<(), String> {
        for (index, found) in (range.first..).zip(bytes.chunks(SECTOR)) {
            let sector = self.sectors[index];
            let number = self.number(index, found)?;
            // A write that failed may have arrived in part.
            if !(sector.acknowledged..=sector.begun).contains(&number) {
                return Err(self.complaint(index, number, "read back"));
            }
        }
        Ok(())
    }

    /// After an end of whatever kind: what was flushed is there, and nothing that was never written. From now on
    /// what is there is what must be read.
    pub(crate) fn check_after(&mut self, range: Range, bytes: &[u8]) -> Result<(), String> {
        for (index, found) in (range.first..).zip(bytes.chunks(SECTOR)) {
            let number = self.number(index, found)?;
            let sector = &mut self.sectors[index];
            if !(sector.sure..=sector.begun).contains(&number) {
                return Err(self.complaint(index, number, "found afterwards"));
            }
            sector.acknowledged = number;
        }
        Ok(())
    }

    /// Which write of the sector this is.
    fn number(&self, index: usize, found: &[u8]) -> Result<u32, String> {
        let sector = self.start + index as u64;
        let number = found.get(8..12).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
        let right = found == content(sector, number);
        right.then_some(number).ok_or_else(|| format!("sector {sector} holds what was never written there"))
    }

    fn complaint(&self, index: usize, number: u32, when: &str) -> String {
        let Sector { sure, acknowledged, begun } = self.sectors[index];
        format!(
            "sector {}: write {number} {when}; {sure} was flushed, {acknowledged} acknowledged, {begun} begun",
            self.start + index as u64
        )
    }
}

/// A sector's bytes: its number, which write this is, and what only these two give.
fn content(sector: u64, number: u32) -> Vec<u8> {
    let mut bytes = Rng::new(sector << 32 | u64::from(number)).bytes(SECTOR);
    bytes[..8].copy_from_slice(&sector.to_le_bytes());
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A check that can't fail would find nothing in hours.
    #[test]
    fn lost_and_torn_writes_are_found() {
        let mut ledger = Ledger::new(8, 4);
        let range = Range { first: 1, len: 2 };
        let first = ledger.begin(range);
        ledger.acknowledge(range);
        ledger.flushed();
        let second = ledger.begin(range);
        assert!(ledger.check_now(range, &first).is_ok());
        ledger.acknowledge(range);
        assert!(ledger.check_now(range, &first).is_err(), "stale");
        assert!(ledger.check_now(range, &second).is_ok());
        let mixed = [&first[..SECTOR], &second[SECTOR..]].concat();
        let torn = [&first[..SECTOR / 2], &second[SECTOR / 2..]].concat();
        let swapped = [&second[SECTOR..], &second[..SECTOR]].concat();
        for wrong in [vec![0; 2 * SECTOR], torn, swapped] {
            assert!(ledger.check_after(range, &wrong).is_err());
        }
        assert!(ledger.check_after(range, &mixed).is_ok(), "the second was not flushed");
        assert!(ledger.check_now(range, &mixed).is_ok());
        ledger.flushed();
        assert!(ledger.check_after(range, &first).is_err(), "it was flushed");
    }
}
