//! What a conversion leaves of a volume's speed to those who use it meanwhile.
//!
//! `in_use FILE MEBIBYTES [LIMIT MB/S]` makes the file, which is removed afterwards, encrypts it in place
//! while two threads read and write 4 KiB at random places (seven of ten read), and prints their requests a
//! second: before, during and after pauses of the conversion, in turns.
#![allow(clippy::expect_used, clippy::panic, reason = "a measurement that fails has nothing to say")]

use keyway_convert::{Progress, Stopped, veracrypt};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_secret::SecretBytes;
use keyway_store::{AlignedBuf, Caching, FileStore, OpenMode, Store};
use keyway_volume::veracrypt::{Fill, NewVolume};
use keyway_volume::{HashName, Secrets};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long each turn takes.
const TURN: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Shared {
    paused: AtomicBool,
    over: AtomicBool,
    requests: AtomicU64,
    converted: AtomicU64,
}

struct Watch<'a>(&'a Shared, Option<u64>);

impl Progress for Watch<'_> {
    fn at(&self, done: u64, _total: u64) -> ControlFlow<()> {
        let before = self.0.converted.swap(done, Ordering::Relaxed);
        if let Some(limit) = self.1 {
            let due = done.saturating_sub(before) as f64 / (limit as f64 * 1e6);
            std::thread::sleep(Duration::from_secs_f64(due));
        }
        while self.0.paused.load(Ordering::Relaxed) && !self.0.over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.0.over.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn load(device: &Device, shared: &Shared, mut seed: u64) {
    let mut buf = AlignedBuf::zeroed(4096);
    while !shared.over.load(Ordering::Relaxed) {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (seed >> 20) % (device.size() / 4096) * 4096;
        if (seed >> 33) % 10 < 7 {
            device.read_at(&mut buf, at).expect("read");
        } else {
            device.write_at(&buf, at).expect("written");
        }
        shared.requests.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let path = PathBuf::from(words.next().expect("a file"));
    let size = words.next().expect("mebibytes").parse::<u64>().expect("a number") << 20;
    let limit = words.next().map(|n| n.parse().expect("a number"));
    std::fs::File::create(&path).expect("created").set_len(size).expect("sized");
    let store = Arc::new(FileStore::open(&path, OpenMode::ReadWrite, Caching::Direct).expect("opens"));
    let mut noise = AlignedBuf::zeroed(4 << 20);
    for (n, byte) in noise.iter_mut().enumerate() {
        *byte = ((n * n) >> 7) as u8;
    }
    for at in (0..size).step_by(noise.len()) {
        store.write_at(&noise[..noise.len().min((size - at) as usize)], at).expect("filled");
    }
    store.flush().expect("flushed");
    let password = SecretBytes::copy_of(b"a password that is long");
    let secrets = Secrets { password, keyfiles: vec![], pim: Some(1) };
    let cipher = "aes".parse().expect("a cipher");
    let new = NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
    let plan =
        veracrypt::encryption(&*store, veracrypt::content_capacity(size, true), &new, None).expect("planned");
    let conversion = plan.conversion(&*store, None).expect("planned");
    plan.begin(&conversion).expect("begun");
    let stop = |_: u64, _: u64| ControlFlow::Break(());
    assert_eq!(conversion.run(false, &stop).expect("marked"), Stopped::Paused);
    let (live, reached) = plan.live(&conversion, store.clone()).expect("in use");
    let live = Arc::new(live);
    let whole = Segment { start: 0, len: live.size(), mapping: Mapping::Plain { store_offset: 0 } };
    let layout = Layout::new(512, vec![whole]).expect("a layout");
    let device = Device::new(Box::new(live.clone()), layout, Access::ReadWrite).expect("fits");
    let shared = Shared { paused: AtomicBool::new(true), ..Shared::default() };
    std::thread::scope(|scope| {
        let converting = scope.spawn(|| conversion.run_in_use(reached, &live, &Watch(&shared, limit)));
        for seed in 1..3 {
            let (device, shared) = (&device, &shared);
            scope.spawn(move || load(device, shared, seed));
        }
        std::thread::sleep(TURN / 3);
        let (mut idle, mut busy) = (Vec::new(), Vec::new());
        for turn in 0..8 {
            // A B B A: what the machine does besides meets both alike.
            let paused = matches!(turn % 4, 0 | 3);
            shared.paused.store(paused, Ordering::Relaxed);
            let before = [&shared.requests, &shared.converted].map(|n| n.load(Ordering::Relaxed));
            let began = Instant::now();
            std::thread::sleep(TURN);
            let after = [&shared.requests, &shared.converted].map(|n| n.load(Ordering::Relaxed));
            let seconds = began.elapsed().as_secs_f64();
            let iops = (after[0] - before[0]) as f64 / seconds;
            let rate = (after[1] - before[1]) as f64 / 1e6 / seconds;
            println!(
                "{} {iops:.0} requests/s, converting {rate:.0} MB/s",
                if paused { "paused    " } else { "converting" }
            );
            if !paused && rate == 0.0 {
                println!("(it had come to its end: take a larger file)");
                break;
            }
            if paused { &mut idle } else { &mut busy }.push(iops);
        }
        shared.over.store(true, Ordering::Relaxed);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len().max(1) as f64;
        println!("of its idle requests a volume keeps {:.2}", mean(&busy) / mean(&idle));
        converting.join().expect("runs").expect("converts");
    });
    drop(device);
    std::fs::remove_file(&path).expect("removed");
}
