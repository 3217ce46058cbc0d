//! A soak: a volume is written to by every attachment that this machine has, while its server is killed, its clients
//! are cut off and its medium fails, at random. What a flush said is safe must be there afterwards; nobody hangs,
//! and nothing is left behind.
//!
//! `KEYWAY_SOAK=SECONDS` is how long, hours if one likes; without it a minute, with `KEYWAY_SLOW=1` ten. What needs
//! another kernel (ublk, dm-crypt, the kernel's own clients) is soaked in the guest, by `guest_soak.rs`.
//! `KEYWAY_SEED=N` repeats the choices of a run.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod ledger;
mod nbd;
mod nvme;
mod vhost;
mod way;

use keyway_testkit::{FailingDisk, Fault, Keyway, Open, Rng, Volume, is_root, require_fuse, skip};
use ledger::{Ledger, SECTOR};
use nbd::Pki;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use way::{Client, Way};

/// Workers at once, and how much of the volume each has.
const WORKERS: usize = 3;
const EACH: usize = (2 << 20) / SECTOR;
/// The largest write, in sectors.
const LARGEST: u64 = 400;
/// Nothing takes longer than this, in seconds; else something hangs.
const PATIENCE: u64 = 300;

/// What happens to a volume in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blow {
    /// Nothing; it is closed.
    None,
    /// Its server is killed.
    Killed,
    /// Its clients are cut off.
    CutOff,
    /// Its medium fails at writing, and works again later.
    WritesFail,
    /// Its medium fails at reading.
    ReadsFail,
}

const BLOWS: [Blow; 7] =
    [Blow::None, Blow::Killed, Blow::Killed, Blow::Killed, Blow::CutOff, Blow::WritesFail, Blow::ReadsFail];

#[test]
fn what_was_flushed_is_there_whatever_happens() {
    if !require_fuse() {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let slow = std::env::var_os("KEYWAY_SLOW").is_some();
    let seconds = number("KEYWAY_SOAK").unwrap_or(if slow { 600 } else { 60 });
    let seed = number("KEYWAY_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64)
    });
    eprintln!("KEYWAY_SEED={seed}");
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let watchdog = Watchdog::start(keyway.folder().to_string_lossy().into_owned());
    let volume = keyway.volume("9M");
    let disk = FailingDisk::on(volume.path(), &keyway.path("disk"));
    let mut random = Rng::new(seed);
    let mut ledgers: Vec<Ledger> = (0..WORKERS).map(|n| Ledger::new((n * EACH + 3) as u64, EACH)).collect();
    fill(&volume, &mut ledgers);
    let mut ways = Way::ALL.to_vec();
    if !is_root() || !Path::new("/dev/loop-control").exists() {
        skip("loop devices need root, and /dev/loop-control");
        ways.retain(|way| !matches!(way, Way::Device | Way::Cached | Way::Through));
    }
    let pki = Pki::new(&keyway.path("pki"));
    ways.retain(|way| pki.is_some() || *way != Way::Tls);
    let mut tally = Tally::default();
    let started = Instant::now();
    // On a slow machine there may be few rounds.
    while started.elapsed() < Duration::from_secs(seconds) || !tally.is_a_soak(&ways) {
        let way = ways[random.below(ways.len() as u64) as usize];
        let blow = BLOWS[random.below(BLOWS.len() as u64) as usize];
        let round = Round {
            way,
            blow,
            disk: disk.as_ref().filter(|_| random.below(2) == 0 || blow.needs_disk()),
            pki: pki.as_ref(),
        };
        watchdog.pat(format!("round {}: {way:?}, {blow:?}", tally.rounds));
        round.play(&volume, &mut ledgers, &mut random, &mut tally);
    }
    // Once more, in peace.
    let round = Round { way: Way::File, blow: Blow::None, disk: None, pki: None };
    round.play(&volume, &mut ledgers, &mut random, &mut tally);
    drop(disk);
    nothing_is_left(&keyway);
    let took = started.elapsed().as_secs();
    println!("{took} s, KEYWAY_SEED={seed}: {tally:?}");
}

/// Writes every sector once, so that each can be told from what was there before.
fn fill(volume: &Volume<'_>, ledgers: &mut [Ledger]) {
    let open = volume.open("fuse");
    let mut client = Way::File.connect(&open, None, 1).expect("it is open").remove(0);
    for ledger in ledgers.iter_mut() {
        for piece in ledger.pieces(256) {
            client.write(ledger.offset(piece), &ledger.begin(piece)).expect("there is room");
            ledger.acknowledge(piece);
        }
    }
    drop(client);
    open.close();
    ledgers.iter_mut().for_each(Ledger::flushed);
}

/// What was done.
#[derive(Debug, Default)]
struct Tally {
    rounds: u64,
    killed: u64,
    cut_off: u64,
    failed: u64,
    writes: u64,
    written: u64,
    reads: u64,
    read: u64,
    flushes: u64,
    errors: u64,
    ways: BTreeMap<Way, u64>,
}

impl Blow {
    fn needs_disk(self) -> bool {
        matches!(self, Self::WritesFail | Self::ReadsFail)
    }
}

impl Tally {
    /// What a worker did.
    fn add(&mut self, done: &Self) {
        self.writes += done.writes;
        self.written += done.written;
        self.reads += done.reads;
        self.read += done.read;
        self.flushes += done.flushes;
        self.errors += done.errors;
    }

    /// Whether what this test is for has happened at all.
    fn is_a_soak(&self, ways: &[Way]) -> bool {
        let counts = [self.writes, self.reads, self.flushes, self.killed, self.cut_off];
        counts.iter().all(|count| *count > 0) && ways.iter().all(|way| self.ways.contains_key(way))
    }
}

/// From opening to closing.
struct Round<'a> {
    way: Way,
    blow: Blow,
    /// Where the volume lies on a medium that can fail.
    disk: Option<&'a FailingDisk>,
    /// What TLS needs.
    pki: Option<&'a Pki>,
}

/// What the workers share.
struct Shared {
    stop: AtomicBool,
    /// Errors are what is expected from now on.
    struck: AtomicBool,
    wrong: Mutex<Option<String>>,
    done: Mutex<Tally>,
}

impl Round<'_> {
    fn play(&self, volume: &Volume<'_>, ledgers: &mut [Ledger], random: &mut Rng, tally: &mut Tally) {
        let at = self.disk.map(|disk| volume.at(&disk.file()));
        let volume = at.as_ref().unwrap_or(volume);
        let open = self.way.open(volume, self.pki);
        self.check(&open, ledgers);
        let shared = Shared {
            stop: AtomicBool::new(false),
            struck: AtomicBool::new(false),
            wrong: Mutex::new(None),
            done: Mutex::default(),
        };
        let wait = Duration::from_millis(20 + random.below(400));
        let blow = self.blow_here();
        std::thread::scope(|scope| {
            let clients = self.way.connect(&open, self.pki, ledgers.len()).expect("it is open");
            for (ledger, client) in ledgers.iter_mut().zip(clients) {
                let (shared, random) = (&shared, Rng::new(random.next_u64()));
                scope.spawn(move || work(client, ledger, random, shared, blow));
            }
            std::thread::sleep(wait);
            shared.struck.store(blow != Blow::None, Ordering::SeqCst);
            match (blow, self.disk) {
                (Blow::Killed, _) => open.kill(),
                (Blow::CutOff, _) => self.way.cut_off(&open),
                (Blow::WritesFail, Some(disk)) => disk.fail(Fault::Writes),
                (Blow::ReadsFail, Some(disk)) => disk.fail(Fault::Reads),
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(100));
            shared.stop.store(true, Ordering::SeqCst);
        });
        if let Some(wrong) = shared.wrong.lock().expect("nobody panicked").take() {
            panic!("{:?}, {blow:?}: {wrong}", self.way);
        }
        tally.rounds += 1;
        tally.killed += u64::from(blow == Blow::Killed);
        tally.cut_off += u64::from(blow == Blow::CutOff);
        tally.failed += u64::from(blow.needs_disk());
        *tally.ways.entry(self.way).or_default() += 1;
        tally.add(&shared.done.lock().expect("nobody panicked"));
        if self.end(open, volume, blow) {
            ledgers.iter_mut().for_each(Ledger::flushed);
        }
    }

    /// The blow, where it can be dealt.
    fn blow_here(&self) -> Blow {
        match (self.blow, self.way) {
            (blow, _) if blow.needs_disk() && self.disk.is_none() => Blow::None,
            // A loop device whose file is gone is a medium that failed, which has its own blow.
            (Blow::CutOff, Way::Device | Way::Cached | Way::Through) => Blow::Killed,
            (Blow::CutOff, Way::File | Way::ClassicFile) if !is_root() => Blow::Killed,
            (blow, _) => blow,
        }
    }

    /// What the last rounds left is what it must be.
    fn check(&self, open: &Open<'_>, ledgers: &mut [Ledger]) {
        let mut client = self.way.connect(open, self.pki, 1).expect("it is open").remove(0);
        for ledger in ledgers {
            for piece in ledger.pieces(256) {
                let bytes = client.read(ledger.offset(piece), piece.bytes()).expect("it can be read");
                if let Err(wrong) = ledger.check_after(piece, &bytes) {
                    panic!("{:?}: {wrong}", self.way);
                }
            }
        }
    }

    /// Closes it, which may find a dead server or a medium that failed; nothing may be left. Says whether it closed
    /// in good order, which promises as much as a flush.
    fn end(&self, open: Open<'_>, volume: &Volume<'_>, blow: Blow) -> bool {
        if let Some(disk) = self.disk {
            disk.mend();
        }
        let closed = volume.keyway().run([OsStr::new("close"), volume.path().as_os_str()]);
        let said = String::from_utf8_lossy(&closed.stderr).into_owned();
        let clean = closed.status.success();
        assert!(clean || blow != Blow::None, "it did not close cleanly: {said}");
        // Whatever it said, it is closed, or was about to close by itself.
        drop(open);
        let until = Instant::now() + Duration::from_secs(60);
        while let Some(session) = session_of(volume.keyway()) {
            assert!(Instant::now() < until, "{blow:?}: {} is left: {said}", session.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        blow == Blow::None
    }
}

/// Writes, reads back and flushes until it is told to stop or something is not as it should be.
fn work(mut client: Client, ledger: &mut Ledger, mut random: Rng, shared: &Shared, blow: Blow) {
    let mut done = Tally::default();
    let wrong = loop {
        if shared.stop.load(Ordering::SeqCst) {
            break None;
        }
        if blow == Blow::CutOff && shared.struck.load(Ordering::SeqCst) {
            let range = ledger.any(&mut random, LARGEST);
            let offset = ledger.offset(range);
            client.hang_up(offset, &ledger.begin(range));
            break None;
        }
        match step(&mut client, ledger, &mut random, &mut done) {
            Ok(()) => {}
            Err(Trouble::Wrong(what)) => break Some(what),
            // As a socket that nothing comes from for too long has it.
            Err(Trouble::Error(e))
                if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                break Some(format!("it hangs: {e}"));
            }
            Err(Trouble::Error(e)) if !shared.struck.load(Ordering::SeqCst) => {
                break Some(format!("an error before anything had happened: {e}"));
            }
            // After an error of the page cache's own nothing that is read says much.
            Err(Trouble::Error(_)) => {
                done.errors += 1;
                break None;
            }
        }
    };
    shared.done.lock().expect("nobody panicked").add(&done);
    if let Some(what) = wrong {
        shared.wrong.lock().expect("nobody panicked").get_or_insert(what);
        shared.stop.store(true, Ordering::SeqCst);
    }
}

/// What a worker meets.
enum Trouble {
    Error(io::Error),
    /// What must not be, whatever happens.
    Wrong(String),
}

impl From<io::Error> for Trouble {
    fn from(e: io::Error) -> Self {
        Self::Error(e)
    }
}

/// One write, read or flush.
fn step(client: &mut Client, ledger: &mut Ledger, random: &mut Rng, done: &mut Tally) -> Result<(), Trouble> {
    let most = if random.below(4) == 0 { LARGEST } else { 16 };
    let range = ledger.any(random, most);
    let offset = ledger.offset(range);
    match random.below(16) {
        0 => {
            client.flush()?;
            ledger.flushed();
            done.flushes += 1;
        }
        1..=5 => {
            let bytes = client.read(offset, range.bytes())?;
            ledger.check_now(range, &bytes).map_err(Trouble::Wrong)?;
            done.reads += 1;
            done.read += bytes.len() as u64;
        }
        _ => {
            let bytes = ledger.begin(range);
            client.write(offset, &bytes)?;
            ledger.acknowledge(range);
            done.writes += 1;
            done.written += bytes.len() as u64;
        }
    }
    Ok(())
}

/// A session's folder, alive or dead.
fn session_of(keyway: &Keyway) -> Option<PathBuf> {
    let sessions =
        std::fs::read_dir(keyway.runtime_folder().join("sessions")).into_iter().flatten().flatten();
    sessions.map(|entry| entry.path()).find(|path| path.is_dir())
}

/// No mount, loop device, process or key of ours is left.
fn nothing_is_left(keyway: &Keyway) {
    let ours = keyway.folder().to_string_lossy().into_owned();
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("Linux");
    assert!(!mounts.contains(&ours), "mounts are left:\n{mounts}");
    for device in std::fs::read_dir("/sys/block").expect("Linux").flatten() {
        let file = std::fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default();
        assert!(!file.contains(&ours), "{} is left, on {file}", device.path().display());
    }
    assert_eq!(session_of(keyway), None, "a session is left");
    let until = Instant::now() + Duration::from_secs(60);
    while let Some(process) = process_of(&ours) {
        assert!(Instant::now() < until, "{process} is left");
        std::thread::sleep(Duration::from_millis(50));
    }
    let keys = std::fs::read_to_string("/proc/keys").unwrap_or_default();
    assert!(!keys.contains("keyway:"), "keys are left:\n{keys}");
}

/// A process that was started with our folder in its environment.
fn process_of(folder: &str) -> Option<String> {
    processes_of(folder).next().map(|process| describe(&process))
}

/// The folders in /proc of the processes that were started with our folder in their environment.
fn processes_of(folder: &str) -> impl Iterator<Item = PathBuf> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").expect("Linux").flatten();
    processes.filter(move |process| process.file_name() != own.as_str()).map(|process| process.path()).filter(
        |process| {
            let environment = std::fs::read(process.join("environ")).unwrap_or_default();
            environment.windows(folder.len()).any(|part| part == folder.as_bytes())
        },
    )
}

fn describe(process: &Path) -> String {
    let words = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
    format!("{}: {}", process.display(), words.replace('\0', " "))
}

/// Ends everything when nothing happens for too long: a test that hangs tells nobody what it found. What it waits for in
/// the kernel only comes, or fails, when the server is gone: until then this process can't end either.
struct Watchdog {
    state: Arc<Mutex<(Instant, String)>>,
}

impl Watchdog {
    fn start(folder: String) -> Self {
        let state = Arc::new(Mutex::new((Instant::now(), "making a volume".to_owned())));
        let watched = Arc::clone(&state);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                // Only the test's end takes the other one away.
                if Arc::strong_count(&watched) == 1 {
                    return;
                }
                let (since, doing) = watched.lock().expect("nobody panicked").clone();
                if since.elapsed().as_secs() > PATIENCE {
                    // Not by `eprintln!`, which the harness keeps to itself until a test has ended.
                    let _ = writeln!(io::stderr(), "it hangs since {PATIENCE} s: {doing}");
                    for process in processes_of(&folder) {
                        let _ = writeln!(io::stderr(), "killed: {}", describe(&process));
                        let pid = process.file_name().and_then(|name| name.to_str()?.parse().ok());
                        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                        }
                    }
                    std::process::abort();
                }
            }
        });
        Self { state }
    }

    fn pat(&self, doing: String) {
        *self.state.lock().expect("nobody panicked") = (Instant::now(), doing);
    }
}
