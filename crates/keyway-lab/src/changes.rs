//! What a user changes in a workload.

use crate::cell::Cell;
use crate::error::LabError;
use crate::workload::{Procedure, Turns, Workload};

/// What a user changes in a workload.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Changes {
    /// Another span, in bytes.
    pub span_bytes: Option<u64>,
    /// Another length of a run, in seconds.
    pub seconds: Option<f64>,
    /// Another number of runs.
    pub runs: Option<u32>,
    /// Short runs without rests: a first look.
    pub quick: bool,
    /// Leave out everything that writes.
    pub reads_only: bool,
    /// Read back and compare what was written.
    pub verify: bool,
    /// This part of the files and bytes of workloads that copy files.
    pub scale: Option<f64>,
}

/// Length of a run, number of runs and of slices for a first look.
const QUICK: (f64, u32, u32) = (0.2, 5, 4);

impl Changes {
    /// The workload with these changes.
    ///
    /// # Errors
    /// Nothing is left of it, or what is left does not fit the span.
    pub fn apply(&self, workload: &Workload) -> Result<Workload, LabError> {
        let mut workload = workload.clone();
        let once = matches!(workload.kind, Procedure::Condition(_));
        let turns = &mut workload.turns;
        if self.quick && !once {
            let (seconds, runs, slices) = QUICK;
            *turns =
                Turns { runs, seconds: seconds.min(turns.seconds), pause_seconds: 0.0, discarded: 1, slices };
        }
        turns.seconds = self.seconds.unwrap_or(turns.seconds);
        turns.runs = self.runs.filter(|_| !once).unwrap_or(turns.runs);
        if let Some(scale) = self.scale {
            scaled(&mut workload.kind, scale);
        }
        if let Procedure::Requests(requests) = &mut workload.kind {
            if let Some(span) = self.span_bytes {
                requests.span_bytes = span;
            }
            requests.verify |= self.verify;
            let span = requests.span_bytes;
            let kept = |cell: &Cell| cell.block_bytes <= span && !(self.reads_only && cell.mix.writes());
            let (cells, metrics) = std::mem::take(&mut requests.cells)
                .into_iter()
                .zip(std::mem::take(&mut requests.metrics))
                .filter(|(cell, _)| kept(cell))
                .map(|(cell, metric)| (Cell { span_bytes: span, ..cell }, metric))
                .unzip();
            (requests.cells, requests.metrics) = (cells, metrics);
            if requests.cells.is_empty() {
                return Err(LabError::Unsuited(format!(
                    "nothing is left of {} with these options",
                    workload.name
                )));
            }
        } else if self.reads_only && workload.writes() {
            return Err(LabError::Unsuited(format!("{} writes, and --reads-only was given", workload.name)));
        }
        Ok(workload)
    }
}

/// Fewer and smaller files, at least one of each group.
fn scaled(kind: &mut Procedure, scale: f64) {
    let bytes = |n: u64| ((n as f64 * scale) as u64).max(1);
    let count = |n: u32| ((f64::from(n) * scale) as u32).max(1);
    match kind {
        Procedure::Tree(tree) => {
            tree.folders = count(tree.folders);
            tree.read_bytes = if tree.read_bytes == 0 { 0 } else { bytes(tree.read_bytes) };
            for group in &mut tree.files {
                group.count = count(group.count);
                group.bytes = bytes(group.bytes).max(u64::from(group.count));
            }
        }
        Procedure::Copy(copy) => copy.bytes = bytes(copy.bytes),
        Procedure::Timed(timed) => {
            let before = timed.bytes.max(1);
            timed.bytes = bytes(before).max(64 << 20);
            let share = timed.bytes as f64 / before as f64;
            timed.used_bytes = timed.used_bytes.map(|used| (used as f64 * share) as u64);
        }
        Procedure::Requests(_) | Procedure::Positions(_) | Procedure::Condition(_) | Procedure::Traces(_) => {
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Mix;
    use crate::workload;

    #[test]
    fn changes_are_applied_and_nonsense_is_refused() {
        let cdm = workload::find("cdm").expect("shipped");
        let changes =
            Changes { span_bytes: Some(1 << 20), quick: true, reads_only: true, ..Changes::default() };
        let changed = changes.apply(&cdm).expect("reads are left");
        let Procedure::Requests(requests) = &changed.kind else { panic!("requests") };
        assert!(requests.cells.iter().all(|c| c.mix == Mix::Read && c.span_bytes == 1 << 20));
        assert_eq!((requests.cells.len(), requests.metrics.len()), (4, 4));
        assert_eq!((changed.turns.runs, changed.turns.pause_seconds), (5, 0.0));
        let anand = workload::find("anand-4k-qd32").expect("shipped");
        assert!(Changes { reads_only: true, ..Changes::default() }.apply(&anand).is_err());
        assert!(Changes { span_bytes: Some(512), ..Changes::default() }.apply(&cdm).is_err());
    }
}
