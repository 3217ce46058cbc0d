//! Our load generator against fio on the same file: the eight cells of CrystalDiskMark's default
//! profile. Takes some minutes; `KEYWAY_SLOW=1` runs it where fio is installed.
//!
//! The file is one that always takes equally long, served through FUSE: every difference is then one of
//! the generators. A disk's own unrest (a virtual one took 9 µs for a read in one turn and 30 in the next)
//! is larger than what is looked for, so that on a disk some cells may say nothing. As root both generators
//! go before all other programs on the machine.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_attach::Stop;
use keyway_attach::fuse::{FuseMount, Options};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_lab::load::{self, Turn};
use keyway_lab::workload::{self, Data, Procedure};
use keyway_lab::{Cell, Metric, Mix, Pattern, Subject, stats};
use keyway_store::{MemStore, Store, StoreError};
use std::cell::Cell as Once;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const SPAN: u64 = 256 << 20;
/// How far apart the medians of the two may be.
const APART: f64 = 0.05;
/// The interval of the ratio is at most this long to either side before anything is said: a real
/// difference of a tenth then lies two and a half of the estimate's deviations outside.
const SURE: f64 = 0.04;
/// Pairs of turns: so many at least, and so many at most until the interval is short enough.
const PAIRS: (usize, usize) = (16, 80);

/// What the pairs of turns say about two generators.
#[derive(Debug, PartialEq)]
enum Told {
    Agree,
    Differ,
    /// The machine is too restless.
    Nothing,
}

/// The median of the pairs' ratios with its interval, and what it says.
fn told(ours: &[f64], theirs: &[f64]) -> (f64, f64, f64, Told) {
    let ratio = stats::compare(theirs, ours, 1, 1);
    let (low, high) = (ratio.interval.low, ratio.interval.high);
    let told = match () {
        () if !ratio.enough || high - low > 2.0 * SURE => Told::Nothing,
        () if (ratio.ratio - 1.0).abs() <= APART => Told::Agree,
        () if low > 1.0 + APART || high < 1.0 - APART => Told::Differ,
        () => Told::Nothing,
    };
    (ratio.ratio, low, high, told)
}

/// MB/s of a turn with fio, after the same ramp.
fn fio(path: &Path, cell: &Cell, seed: u64) -> f64 {
    let kind = match (cell.pattern, cell.mix) {
        (Pattern::Sequential, Mix::Read) => "read",
        (Pattern::Sequential, _) => "write",
        (Pattern::Random, Mix::Read) => "randread",
        (Pattern::Random, _) => "randwrite",
    };
    let mut fio = Command::new("fio");
    // io_uring with registered buffers, direct, no map of blocks that were touched, the same random
    // bytes written again and again: what our generator does.
    fio.args(["--name=cell", "--ioengine=io_uring", "--fixedbufs=1", "--direct=1"]);
    fio.args(["--time_based", "--ramp_time=50ms", "--output-format=json"]);
    fio.args(["--norandommap", "--refill_buffers=0", "--scramble_buffers=0"]);
    // Buffers in huge pages like ours (tunable of glibc 2.35 and later): in ordinary ones it is chance
    // into how many pieces a request of 1 MiB is cut, and fio's own runs differ by a factor of two.
    // A buffer has to be of 2 MiB for that: the block size of the direction that is not used sees to it.
    fio.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1").arg("--iomem_align=2m");
    let other = if cell.block_bytes < 1 << 20 { cell.block_bytes } else { 4 << 20 };
    let blocks = match cell.mix {
        Mix::Read => format!("{},{other}", cell.block_bytes),
        _ => format!("{other},{}", cell.block_bytes),
    };
    fio.arg(format!("--runtime={}ms", TURN.as_millis()))
        .arg(format!("--filename={}", path.display()))
        .arg(format!("--rw={kind}"))
        .arg(format!("--size={SPAN}"))
        .arg(format!("--bs={blocks}"))
        .arg(format!("--iodepth={}", cell.queue_depth))
        .arg(format!("--randseed={seed}"));
    let out = fio.output().expect("fio runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let json = text.find('{').and_then(|at| serde_json::from_str::<serde_json::Value>(&text[at..]).ok());
    let json = json.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)));
    let way = if cell.mix == Mix::Read { "read" } else { "write" };
    json["jobs"][0][way]["bw_bytes"].as_f64().expect("a bandwidth") / 1e6
}

const TURN: Duration = Duration::from_millis(300);
const RAMP: Duration = Duration::from_millis(50);

fn ours(path: &Path, cell: &Cell, seed: u64) -> f64 {
    let stop = AtomicBool::new(false);
    let subject = Subject::File { path: path.to_owned(), start: 0, len: SPAN, direct: true };
    let place = Default::default();
    let (time, ramp, data) = (TURN, RAMP, Data::Random);
    let turn = Turn { time, bytes: None, ramp, data, seed, place: &place, verify: false, stop: &stop };
    load::run(&subject, cell, turn).expect("it runs").value(Metric::MbS).expect("a speed")
}

/// Memory that answers as late as a SATA drive does: after a time that depends on the length alone.
struct Steady(MemStore);

impl Steady {
    const LATENCY: Duration = Duration::from_micros(150);
    /// So slow that many at once do not fill the processor with copying.
    const BYTES_PER_MICRO: u64 = 250;

    /// Does it, and returns when the time is over. Sleeps, so that the processor is the generators'.
    fn take<T>(len: usize, work: impl FnOnce() -> T) -> T {
        thread_local!(static PRECISE: Once<bool> = const { Once::new(false) });
        if !PRECISE.replace(true) {
            // Timers are otherwise put together by up to 50 µs.
            let _ = rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN));
        }
        let due = Instant::now() + Self::LATENCY + Duration::from_micros(len as u64 / Self::BYTES_PER_MICRO);
        let done = work();
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        done
    }
}

impl Store for Steady {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        Self::take(buf.len(), || self.0.read_at(buf, offset))
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        Self::take(buf.len(), || self.0.write_at(buf, offset))
    }
    fn flush(&self) -> Result<(), StoreError> {
        self.0.flush()
    }
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.0.discard(offset, len)
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn sector_bytes(&self) -> u32 {
        self.0.sector_bytes()
    }
    fn is_read_only(&self) -> bool {
        false
    }
}

/// Whether to go on; says why not.
fn wanted() -> bool {
    if std::env::var_os("KEYWAY_SLOW").is_none() {
        keyway_testkit::leave_out("takes some minutes; KEYWAY_SLOW=1 runs it");
        return false;
    }
    // Real-time priority for all threads, also those to come, and for fio. Without it (no root, no chrt) the
    // machine has to be left alone.
    let pid = std::process::id().to_string();
    if !Command::new("chrt").args(["-a", "-r", "-p", "10", &pid]).status().is_ok_and(|done| done.success()) {
        eprintln!("no real-time priority: whatever else this machine does counts");
    }
    keyway_testkit::require_tool("fio").is_some()
}

#[test]
fn fio_and_we_agree_within_5_percent() {
    if !wanted() || !keyway_testkit::require_fuse() {
        return;
    }
    let mapping = Mapping::Plain { store_offset: 0 };
    let layout = Layout::new(512, vec![Segment { start: 0, len: SPAN, mapping }]).expect("a layout");
    let store = Steady(MemStore::new(SPAN as usize));
    let device = Arc::new(Device::new(Box::new(store), layout, Access::ReadWrite).expect("a device"));
    let folder = tempfile::tempdir().expect("a folder");
    let gone = Arc::new(Stop::new().expect("a stop"));
    let mut mount = FuseMount::serve(device, folder.path(), Options::default(), gone).expect("mounted");
    let found = compare(&mount.file());
    mount.unmount().expect("nobody uses it any more");
    let wrong: Vec<_> = found.iter().filter(|(verdict, _)| *verdict != Told::Agree).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `KEYWAY_FIO_FOLDER` says on which; `KEYWAY_FIO_CELL` leaves out the cells without it in their names.
#[test]
fn fio_and_we_do_not_differ_on_a_disk() {
    let Some(folder) = std::env::var_os("KEYWAY_FIO_FOLDER").filter(|_| wanted()) else {
        keyway_testkit::leave_out("takes some minutes; KEYWAY_SLOW=1 KEYWAY_FIO_FOLDER=/on/a/disk runs it");
        return;
    };
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let path = folder.path().join("file");
    let mut file = File::create(&path).expect("made");
    file.write_all(&vec![7; SPAN as usize]).expect("written");
    // What is still on its way to the disk would hinder the first cell.
    file.sync_all().expect("on the disk");
    let found = compare(&path);
    let wrong: Vec<_> = found.iter().filter(|(verdict, _)| *verdict == Told::Differ).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every cell on both, in neighbouring turns: what each says, and the line that tells it.
fn compare(path: &Path) -> Vec<(Told, String)> {
    let Procedure::Requests(requests) = workload::find("cdm").expect("shipped").kind else {
        panic!("requests")
    };
    let only = std::env::var("KEYWAY_FIO_CELL").unwrap_or_default();
    let cells = requests.cells.iter().filter(|c| c.mix != Mix::Mix70 && c.name.contains(&only));
    let mut found = Vec::new();
    for cell in cells {
        let cell = Cell { span_bytes: SPAN, ..cell.clone() };
        let (mut us, mut them) = (Vec::new(), Vec::new());
        let verdict = loop {
            // A B B A, two pairs at a time, after which it is looked again.
            for seed in 0..2 {
                let seed = us.len() as u64 + seed;
                if seed.is_multiple_of(2) {
                    us.push(ours(path, &cell, seed));
                    them.push(fio(path, &cell, seed));
                } else {
                    them.push(fio(path, &cell, seed));
                    us.push(ours(path, &cell, seed));
                }
            }
            let verdict = told(&us, &them);
            if us.len() >= PAIRS.0 && (verdict.3 != Told::Nothing || us.len() >= PAIRS.1) {
                break verdict;
            }
        };
        let (ratio, low, high, verdict) = verdict;
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let line = format!(
            "{:<20} {:>9.1} MB/s, fio {:>9.1}: {:+.1} % ({:+.1} … {:+.1}), {} pairs: {verdict:?}",
            cell.name,
            stats::median(&us),
            stats::median(&them),
            percent(ratio),
            percent(low),
            percent(high),
            us.len(),
        );
        eprintln!("{line}");
        found.push((verdict, line));
    }
    found
}

/// The verdict itself, on noise of a tenth: the same generator agrees, one that is a tenth slower is
/// found out, and too few turns say nothing.
#[test]
fn the_verdict_tells_a_tenth_from_nothing() {
    let mut rng = keyway_testkit::Rng::new(3);
    let mut turns = |level: f64, n: usize| -> Vec<f64> {
        (0..n).map(|_| level * (0.95 + rng.below(1000) as f64 / 10_000.0)).collect()
    };
    for _ in 0..50 {
        assert_eq!(told(&turns(1000.0, 80), &turns(1000.0, 80)).3, Told::Agree);
        assert_eq!(told(&turns(900.0, 80), &turns(1000.0, 80)).3, Told::Differ);
        assert_eq!(told(&turns(1000.0, 4), &turns(1000.0, 4)).3, Told::Nothing);
    }
}
