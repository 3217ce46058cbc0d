//! Procedures beside what their originals do: Iometer's conditioning, GNOME Disks' samples.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::workload::{self, Procedure};
use keyway_lab::{
    Cell, Entrant, Findings, Judging, Metric, Mix, Sectors, Subject, Workload, measure_procedure,
};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A drive without bytes that takes down where it was written and read.
#[derive(Default)]
struct Told {
    size: u64,
    /// How long a read takes at a place.
    takes: Option<fn(u64) -> Duration>,
    writes: Mutex<Vec<(u64, Vec<u8>)>>,
    reads: Mutex<Vec<u64>>,
}

impl Sectors for Told {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if let Some(takes) = self.takes.filter(|_| buf.len() > 4096) {
            std::thread::sleep(takes(offset));
        }
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(offset);
        Ok(())
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        std::thread::sleep(Duration::from_micros(200));
        let start = buf.get(..32).unwrap_or_default().to_vec();
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).push((offset, start));
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
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

fn run(workload: &Workload, told: &Arc<Told>) -> Findings {
    let entrant = Entrant::new("plain", Subject::InProcess(told.clone()));
    let found = measure_procedure(workload, &[entrant], Judging::default(), &AtomicBool::new(false), &());
    assert!(found.error.is_none(), "{:?}", found.error);
    found
}

#[test]
fn a_drive_has_settled_once_it_was_written_twice() {
    const BLOCKS: u64 = 300;
    let mut workload = workload::find("iometer-condition").expect("shipped");
    let Procedure::Condition(condition) = &mut workload.kind else { panic!("conditioning") };
    // It is steady from the first rounds on, which are over long before all of it was written.
    (condition.at_most_seconds, condition.round_seconds) = (60.0, 0.005);
    let told = Arc::new(Told { size: BLOCKS << 20, ..Told::default() });
    let found = run(&workload, &told);
    let writes = told.writes.lock().expect("whole");
    assert!(
        found.notes.iter().all(|n| n.contains("settled") && !n.contains("not settled")),
        "{:?}",
        found.notes
    );
    assert_eq!(found.notes.len(), 1, "a drive is conditioned once: {:?}", found.notes);
    for (n, (at, _)) in writes.iter().enumerate() {
        assert_eq!(*at, (n as u64 % BLOCKS) << 20, "write {n}");
    }
    assert!(writes.len() as u64 >= 2 * BLOCKS, "{} writes of {BLOCKS} blocks", writes.len());
    let distinct = writes.iter().map(|(_, start)| start).collect::<std::collections::HashSet<_>>();
    assert_eq!(distinct.len(), writes.len(), "random data comes once");
}

#[test]
fn gnome_disks_tells_the_mean_of_the_samples() {
    let mut workload = workload::find("gnome-disks").expect("shipped");
    let Procedure::Positions(p) = &mut workload.kind else { panic!("positions") };
    (p.samples, p.sample_bytes, p.access_samples, p.write) = (8, 1 << 20, 40, false);
    (workload.turns.runs, workload.turns.discarded) = (2, 0);
    // The inner half of this drive is a quarter as fast.
    let takes = |offset: u64| Duration::from_millis(if offset < 8 << 20 { 5 } else { 20 });
    let told = Arc::new(Told { size: 17 << 20, takes: Some(takes), ..Told::default() });
    let found = run(&workload, &told);
    let row = found.comparisons.iter().find(|r| r.cell == "read rate" && r.metric == Metric::MbS);
    let value = row.expect("a row").value;
    let (fast, slow) = ((1 << 20) as f64 / 5e3, (1 << 20) as f64 / 20e3);
    // All bytes by all the time would be 84 MB/s; sleeps end late, never early.
    assert!((105.0..(fast + slow) / 2.0).contains(&value), "{value} of {fast} and {slow}");
    // Access times are taken at other places in each turn.
    let reads = told.reads.lock().expect("whole");
    let mut times = HashMap::new();
    reads.iter().rev().take(2 * 40).for_each(|at| *times.entry(*at).or_insert(0) += 1);
    assert!(times.len() > 70, "{} places of 80", times.len());
}

#[test]
fn crystaldiskmark_reads_then_writes_then_mixes() {
    for name in ["cdm", "cdm-nvme", "cdm-qd256", "quick"] {
        let workload = workload::find(name).expect("shipped");
        let Procedure::Requests(requests) = workload.kind else { panic!("requests") };
        let order = |cell: &Cell| [Mix::Read, Mix::Write, Mix::Mix70].iter().position(|m| *m == cell.mix);
        assert!(requests.cells.is_sorted_by_key(order), "{name}");
        // Each third has the same tests in the same order.
        let reads = requests.cells.iter().filter(|c| c.mix == Mix::Read);
        let writes = requests.cells.iter().filter(|c| c.mix == Mix::Write);
        assert!(reads.map(|c| c.name.replace("read", "write")).eq(writes.map(|c| c.name.clone())), "{name}");
    }
}
