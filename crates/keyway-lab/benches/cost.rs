//! What AES costs in process on modelled drives: the laboratory's own judgement, interleaved A B B A.
//!
//! `cargo bench -p keyway-lab --bench cost [-- trace]`, on a machine that does nothing else; a word picks
//! the loads with it in their names. Each load alternates
//! between a plain volume and the same one encrypted with AES-256-XTS, both through Keyway's engine on
//! the same drive. A figure is the median of the ratios of neighbouring turns, with a bootstrap
//! interval of 95 %. Behind it stands how far the plain side is from what was published, where it was. The drive's bytes go nowhere (as with the kernel's null block device): a drive
//! moves them without the processor, so a copy here would be a cost that no drive has.
//!
//! The targets are those of the project's plan; nothing fails here, because a busy machine must not
//! fail a build.

use keyway_engine::{Access, Device, Layout, LayoutQueue, Mapping, Segment};
use keyway_lab::trace::{self, Replay};
use keyway_model::{Clock, DriveModel, ModelDrive, NullStore};
use keyway_store::{Action, AlignedBuf, Queue, Request};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Length of a turn in ns.
const TURN: u64 = 150_000_000;
/// A B B A, so many times.
const ROUNDS: usize = 24;
/// The same for the trace, which takes seconds.
const TRACE_ROUNDS: usize = 4;
const BLOCK: usize = 4096;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!(
        "{:38} {:>12} {:>12} {:>22} {:>8}  plain against published, waits",
        "load", "plain", "aes", "cost (95 % interval)", "target"
    );
    let load = |name, model, size, most, less_is_better, published| Load {
        name,
        model,
        size,
        most,
        less_is_better,
        published,
    };
    let (pro, small, large) = ("samsung-990-pro", 1 << 30, 8_000_000_000);
    // What was published: studies A (Tom's Hardware) and B (AnandTech).
    let reads = load("990 Pro, 4 KiB random read QD1, µs", pro, small, 3.0, true, Some(40.0));
    compare(&reads, |drive, layout| one_at_a_time(drive, layout, Action::Read))?;
    let writes = load("990 Pro, 4 KiB random write QD1, IOPS", pro, small, 3.0, false, None);
    compare(&writes, |drive, layout| one_at_a_time(drive, layout, Action::Write).map(|us| 1e6 / us))?;
    for (name, model, iops) in [
        ("840 Pro, 4 KiB random write QD32, IOPS", "samsung-840-pro", 88_911.3),
        ("M500, 4 KiB random write QD32, IOPS", "crucial-m500", 63_334.8),
    ] {
        let deep = load(name, model, large, 2.0, false, Some(iops));
        compare(&deep, |drive, layout| queued(drive, layout, 32))?;
    }
    for (trace, name, published) in [
        ("pcmark-like", "990 Pro, PCMark-like trace, MB/s", Some(607.0)),
        ("tree-copy", "990 Pro, recorded tree copy, MB/s", None),
    ] {
        let trace = trace::named(trace).ok_or("the trace is not shipped")?;
        let mut replay = Replay::new(&trace, trace.volume_bytes, 512)?;
        let load = load(name, pro, trace.volume_bytes, 3.0, false, published);
        compare(&load, |drive, layout| replayed(drive, layout, &mut replay))?;
    }
    Ok(())
}

/// What is compared.
struct Load {
    name: &'static str,
    /// The modelled drive.
    model: &'static str,
    /// Bytes that are touched.
    size: u64,
    /// What it may cost in percent.
    most: f64,
    less_is_better: bool,
    /// What was measured on the drive without encryption.
    published: Option<f64>,
}

/// Runs a load plain and encrypted in turns, and prints what it costs.
fn compare(
    &Load { name, model, size, most, less_is_better, published }: &Load,
    mut load: impl FnMut(&ModelDrive, Arc<Layout>) -> Outcome<f64>,
) -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
        return Ok(());
    }
    let model = DriveModel::named(model).ok_or("no such model")?;
    let drive = ModelDrive::over(model, Clock::real(), Box::new(NullStore::new(size, 512)));
    let (plain, aes) = (Arc::new(plain(size)?), Arc::new(trace::layout("aes", size)?));
    load(&drive, plain.clone())?;
    load(&drive, aes.clone())?;
    drive.forget_lateness();
    let (mut a, mut b, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // A tree copy takes a quarter of a second, the trace seconds.
    let rounds = if name.contains("trace") { TRACE_ROUNDS } else { ROUNDS };
    for _ in 0..rounds {
        let first = load(&drive, plain.clone())?;
        let second = load(&drive, aes.clone())?;
        let third = load(&drive, aes.clone())?;
        let fourth = load(&drive, plain.clone())?;
        ratios.extend([second / first, third / fourth]);
        a.extend([first, fourth]);
        b.extend([second, third]);
    }
    let (middle, low, high) = interval(&ratios);
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let worse = |ratio: f64| if less_is_better { percent(ratio) } else { -percent(ratio) };
    let worst = worse(middle);
    let late = drive.lateness();
    let plain = median(&mut a);
    let beside = published.map_or_else(
        || "not published".to_owned(),
        |published| format!("{:+.1} % of {published}", percent(plain / published)),
    );
    println!(
        "{name:38} {:>12.2} {:>12.2} {:>+6.2} % ({:+.2} … {:+.2}) {:>6}{most} %  {beside:20} {} late by {:.2} µs, 99 % by {:.1} µs{}{}",
        plain,
        median(&mut b),
        percent(middle),
        percent(low),
        percent(high),
        if less_is_better { "+" } else { "-" },
        late.waits,
        late.median_us,
        late.p99_us,
        if late.is_kept() { "" } else { ", TOO BUSY" },
        match (worst <= most, worse(low).max(worse(high)) <= most) {
            (true, true) => "  met",
            (true, false) => "  met, its interval is not",
            (false, _) => "  MISSED",
        },
    );
    Ok(())
}

fn plain(size: u64) -> Outcome<Layout> {
    let mapping = Mapping::Plain { store_offset: 0 };
    Ok(Layout::new(512, vec![Segment { start: 0, len: size, mapping }])?)
}

/// Mean time of a request in µs, one after the other through the engine's device.
fn one_at_a_time(drive: &ModelDrive, layout: Arc<Layout>, action: Action) -> Outcome<f64> {
    let device = Device::new(Box::new(drive.clone()), (*layout).clone(), Access::ReadWrite)?;
    let mut buf = AlignedBuf::zeroed(BLOCK);
    let mut places = Places::new(device.size());
    let (start, mut count, mut now) = (drive.clock().now(), 0u64, 0);
    while now < TURN {
        match action {
            Action::Read => device.read_at(&mut buf, places.next())?,
            _ => device.write_and_spoil(&mut buf, places.next())?,
        }
        count += 1;
        now = drive.clock().now() - start;
    }
    Ok(now as f64 / count as f64 / 1e3)
}

/// Writes a second with so many in flight.
fn queued(drive: &ModelDrive, layout: Arc<Layout>, depth: u64) -> Outcome<f64> {
    let mut places = Places::new(layout.size());
    let mut queue = LayoutQueue::new(layout, drive.queue());
    for tag in 0..depth {
        let buf = AlignedBuf::zeroed(BLOCK);
        queue.submit(Request { tag, action: Action::Write, offset: places.next(), buf })?;
    }
    let (start, mut count, mut done) = (queue.now(), 0u64, Vec::new());
    while queue.now() - start < TURN {
        queue.complete(1, &mut done)?;
        for completion in done.drain(..) {
            completion.result?;
            count += 1;
            let (tag, buf) = (completion.tag, completion.buf);
            queue.submit(Request { tag, action: Action::Write, offset: places.next(), buf })?;
        }
    }
    let iops = count as f64 * 1e9 / (queue.now() - start) as f64;
    queue.complete(usize::MAX, &mut done)?;
    Ok(iops)
}

/// Bandwidth of a trace in MB/s.
fn replayed(drive: &ModelDrive, layout: Arc<Layout>, replay: &mut Replay) -> Outcome<f64> {
    let mut queue = LayoutQueue::new(layout, drive.queue());
    Ok(replay.run(&mut queue, &AtomicBool::new(false))?.mb_s())
}

/// Aligned places at random, the same ones in every turn.
struct Places {
    state: u64,
    blocks: u64,
}

impl Places {
    fn new(size: u64) -> Self {
        Self { state: 1, blocks: size / BLOCK as u64 }
    }

    fn next(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 20) % self.blocks * BLOCK as u64
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Median, and the middle 95 % of the medians of 2,000 samples drawn anew.
fn interval(values: &[f64]) -> (f64, f64, f64) {
    let mut places = Places::new(values.len() as u64 * BLOCK as u64);
    let mut drawn = || values.get(places.next() as usize / BLOCK).copied().unwrap_or(f64::NAN);
    let mut medians: Vec<f64> =
        (0..2000).map(|_| median(&mut (0..values.len()).map(|_| drawn()).collect::<Vec<_>>())).collect();
    medians.sort_by(f64::total_cmp);
    let at = |share: f64| medians.get((share * medians.len() as f64) as usize).copied().unwrap_or(f64::NAN);
    (median(&mut values.to_vec()), at(0.025), at(0.975))
}
