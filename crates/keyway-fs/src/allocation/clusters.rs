//! Which clusters of a medium are used: a bit for each.

use super::error::AllocationError;
use super::medium::length;
use keyway_store::Store;
use std::ops::Range;

/// Which clusters are used, and which have been taken here.
pub(super) struct Clusters {
    /// Byte at which cluster 0 of this map starts; file systems number theirs from 0 or 2.
    pub(super) start: u64,
    /// Bytes per cluster: a power of two, at least 512.
    pub(super) bytes: u64,
    /// How many there are: `start + bytes * count` is at most the medium's size.
    pub(super) count: u64,
    /// How many of them, from the first on, are offered where free ones are looked for.
    pub(super) offered: u64,
    /// A bit per cluster, the lowest bit of each byte first.
    pub(super) used: Vec<u8>,
    /// Runs of clusters taken, in order.
    pub(super) taken: Vec<Range<u64>>,
}

impl Clusters {
    /// Checks that they lie on the medium.
    pub(super) fn new(
        store: &dyn Store,
        start: u64,
        bytes: u64,
        count: u64,
    ) -> Result<Self, AllocationError> {
        let end = count.checked_mul(bytes).and_then(|len| len.checked_add(start));
        if bytes < 512 || !bytes.is_power_of_two() || end.is_none_or(|end| end > store.size()) {
            return Err(AllocationError::Damaged("more clusters than the medium has room for"));
        }
        let used = vec![0; length(count.div_ceil(8))?];
        Ok(Self { start, bytes, count, offered: count, used, taken: vec![] })
    }

    pub(super) fn bit(&self, cluster: u64) -> bool {
        let byte = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get(at));
        byte.is_none_or(|byte| byte >> (cluster % 8) & 1 == 1)
    }

    pub(super) fn set(&mut self, cluster: u64, used: bool) {
        if let Some(byte) = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get_mut(at)) {
            let bit = 1 << (cluster % 8);
            *byte = if used { *byte | bit } else { *byte & !bit };
        }
    }

    /// The clusters that hold any of these bytes; `None` where some lie outside of all clusters.
    pub(super) fn of(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let first = range.start.checked_sub(self.start)? / self.bytes;
        let end = range.end.checked_sub(self.start)?.div_ceil(self.bytes);
        (end <= self.count).then_some(first..end)
    }

    pub(super) fn find(&self, from: u64, len: u64, align: u64) -> Option<u64> {
        let mut at = from.max(self.start).checked_next_multiple_of(align)?;
        loop {
            let clusters = self.of(&(at..at.checked_add(len)?)).filter(|run| run.end <= self.offered)?;
            // Past the last one in the way, so that nothing is looked at twice.
            let Some(blocked) = clusters.rev().find(|cluster| self.bit(*cluster)) else {
                return Some(at);
            };
            at = (self.start + (blocked + 1) * self.bytes).checked_next_multiple_of(align)?;
        }
    }

    pub(super) fn take(&mut self, range: Range<u64>) {
        let Some(clusters) = self.of(&range) else { return };
        clusters.clone().for_each(|cluster| self.set(cluster, true));
        // Neighbours may share a cluster.
        match self.taken.iter_mut().find(|run| run.end >= clusters.start && run.start <= clusters.end) {
            Some(run) => *run = run.start.min(clusters.start)..run.end.max(clusters.end),
            None => self.taken.push(clusters),
        }
        self.taken.sort_by_key(|run| run.start);
    }

    /// Every cluster taken.
    pub(super) fn all_taken(&self) -> impl Iterator<Item = u64> {
        self.taken.iter().flat_map(Clone::clone)
    }

    /// The end of the last used cluster that begins below `end`; what lies before the first one is used.
    pub(super) fn used_end(&self, end: u64) -> u64 {
        let below = end.saturating_sub(self.start).div_ceil(self.bytes).min(self.count);
        let last = (0..below).rev().find(|cluster| self.bit(*cluster));
        last.map_or(self.start, |cluster| self.start + (cluster + 1) * self.bytes).min(end)
    }

    pub(super) fn used_ranges(&self, end: u64, gap: u64) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut push = |range: Range<u64>| match ranges.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if range.start - last.end < gap.max(1) => last.end = range.end,
            _ => ranges.push(range),
        };
        push(0..self.start.min(end));
        let mut cluster = 0;
        while cluster < self.count {
            // Eight free ones at a time: most of an empty medium.
            let byte = usize::try_from(cluster / 8).ok().and_then(|at| self.used.get(at));
            if cluster.is_multiple_of(8) && byte == Some(&0) {
                cluster += 8;
                continue;
            }
            if self.bit(cluster) {
                let at = self.start + cluster * self.bytes;
                push(at.min(end)..(at + self.bytes).min(end));
            }
            cluster += 1;
        }
        let after = self.start + self.count * self.bytes;
        push(after.min(end)..end);
        ranges
    }
}
