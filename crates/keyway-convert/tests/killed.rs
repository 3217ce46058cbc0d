//! A process that converts a volume while it writes to it is ended by SIGKILL again and again; the next one
//! goes on, and everything that was written and flushed is there. The test runs itself as that process.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::veracrypt::{ResumeSecrets, VeraCryptPlan};
use keyway_convert::{Live, Stopped, find};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_testkit::Rng;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::case::{Case, KINDS, NEW, OLD, secrets};

/// The volume's file, in the environment of the process that is killed.
const VOLUME: &str = "KEYWAY_TEST_VOLUME";
/// And where its generator begins.
const SEED: &str = "KEYWAY_TEST_SEED";

const SECTOR: usize = 512;
/// Sectors of each write.
const RUN: usize = 8;

/// What a write puts there: its number can be told from it.
fn pattern(number: u64) -> Vec<u8> {
    Rng::new(number).bytes(RUN * SECTOR)
}

/// Converts, and writes meanwhile: "w PLACE NUMBER" before each write, "f" after each flush.
fn convert(path: &Path, seed: u64) {
    let store = Arc::new(FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered).expect("opens"));
    let Some(found) = find(&*store).expect("read") else { return };
    let (old, new) = (secrets(OLD), secrets(NEW));
    let (old, new) = match found.marker.kind {
        keyway_convert::ConversionKind::Encryption => (&new, None),
        keyway_convert::ConversionKind::Decryption => (&old, None),
        keyway_convert::ConversionKind::Reencryption => (&old, Some(&new)),
    };
    let marked = found.in_front;
    let plan = VeraCryptPlan::resume(found, &*store, None, &ResumeSecrets { old, new }).expect("opens");
    let conversion = plan.conversion(&*store, None).expect("planned");
    let stop = |_: u64, _: u64| ControlFlow::Break(());
    if conversion.run(marked, &stop).expect("runs") == Stopped::Done {
        return;
    }
    let (live, reached) = plan.live(&conversion, store.clone()).expect("in use");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| write(&live, seed, &over));
        let slowly = |_: u64, _: u64| {
            std::thread::sleep(Duration::from_millis(2));
            ControlFlow::Continue(())
        };
        assert_eq!(conversion.run_in_use(reached, &live, &slowly).expect("converts"), Stopped::Done);
        over.store(true, Ordering::Release);
    });
}

fn write(live: &Live, seed: u64, over: &AtomicBool) {
    let mut rng = Rng::new(seed);
    let mut say = std::io::stdout().lock();
    // What the test runner said stands before.
    writeln!(say).expect("said");
    while !over.load(Ordering::Acquire) {
        for _ in 0..1 + rng.below(4) {
            let (place, number) = (rng.below(live.size() / SECTOR as u64 - RUN as u64), rng.next_u64() >> 1);
            writeln!(say, "w {place} {number}").and_then(|()| say.flush()).expect("said");
            live.write_at(&pattern(number), place * SECTOR as u64).expect("written");
        }
        live.flush().expect("flushed");
        writeln!(say, "f").and_then(|()| say.flush()).expect("said");
    }
}

/// Runs as the process that is killed; by itself it does nothing.
#[test]
fn converting() {
    if let (Some(path), Some(seed)) = (std::env::var_os(VOLUME), std::env::var(SEED).ok()) {
        convert(&PathBuf::from(path), seed.parse().expect("a number"));
        println!("\nthrough");
    }
}

fn start(path: &Path, seed: u64) -> Child {
    let this = std::env::current_exe().expect("found");
    let mut command = Command::new(this);
    command.args(["--exact", "converting", "--nocapture", "--test-threads", "1"]);
    command.env(VOLUME, path).env(SEED, seed.to_string()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.spawn().expect("starts")
}

/// What was said: whether it was through.
fn listen(
    child: &mut Child,
    content: &mut [u8],
    unsure: &mut [bool],
    began: &mut dyn FnMut(),
) -> (bool, u64) {
    let (mut through, mut writes) = (false, 0);
    // Written by this process. What an earlier one did not flush no flush makes sure.
    let mut fresh = vec![false; unsure.len()];
    for line in BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["w", place, number] => {
                began();
                // The last line may be cut off in the middle: then it was not written yet.
                let (Ok(place), Ok(number)) = (place.parse::<usize>(), number.parse()) else { continue };
                if let Some(there) = content.get_mut(place * SECTOR..(place + RUN) * SECTOR) {
                    there.copy_from_slice(&pattern(number));
                    unsure[place..place + RUN].fill(true);
                    fresh[place..place + RUN].fill(true);
                    writes += 1;
                }
            }
            ["f"] => {
                for (unsure, fresh) in unsure.iter_mut().zip(&mut fresh) {
                    *unsure &= !std::mem::take(fresh);
                }
            }
            ["through"] => through = true,
            _ => {}
        }
    }
    (through, writes)
}

#[test]
fn a_thousand_kills_under_writes_lose_nothing_that_was_flushed() {
    let slow = std::env::var_os("KEYWAY_SLOW").is_some();
    // Bytes are carried over at the same speed: who lives longer is killed less often.
    let (wanted, slowest) = if slow { (1000, 60) } else { (6, 900) };
    let folder = tempfile::tempdir().expect("temp");
    let path = folder.path().join("volume");
    let mut rng = Rng::new(std::process::id().into());
    let (mut kills, mut writes, mut rounds) = (0, 0, 0);
    while kills < wanted {
        for case in KINDS.map(Case::new).into_iter().chain(Case::used_in_use().into_iter().take(1)) {
            let kind = &case.name;
            std::fs::write(&path, &case.image).expect("written");
            {
                let store = FileStore::open(&path, OpenMode::ReadWrite, Caching::Buffered).expect("opens");
                let conversion = case.plan.conversion(&store, None).expect("planned");
                case.plan.begin(&conversion).expect("begun");
                if case.plan.marker.used.is_some() {
                    // Before the marker is in front the file system's map counts, and here is none.
                    let stop = |_: u64, _: u64| ControlFlow::Break(());
                    assert_eq!(conversion.run(false, &stop).expect("marked"), Stopped::Paused);
                }
            }
            let mut content = case.plain.clone();
            let mut unsure = vec![false; content.len() / SECTOR];
            for life in 0.. {
                let mut child = start(&path, rng.next_u64());
                let pid = rustix::process::Pid::from_child(&child);
                // Longer each time: however slow the machine is, one gets further than the last.
                let wait = Duration::from_millis(rng.below(slowest + 20 * life));
                let kill = move || {
                    std::thread::sleep(wait);
                    // Its parent has not waited for it yet, so the number is still its own.
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                };
                // Some while they recover, most while they write.
                let mut killer = (rng.below(4) == 0).then(|| std::thread::spawn(kill));
                let (through, more) = listen(&mut child, &mut content, &mut unsure, &mut || {
                    if killer.is_none() {
                        killer = Some(std::thread::spawn(kill));
                    }
                });
                if let Some(killer) = killer {
                    killer.join().expect("does not panic");
                }
                let status = child.wait().expect("ends");
                writes += more;
                if through {
                    break;
                }
                assert!(!status.success() && status.code().is_none(), "{kind}: it ended with {status}");
                kills += 1;
            }
            let medium = std::fs::read(&path).expect("read");
            case.is_clean(&medium).expect("clean");
            let found = case.content(&medium);
            for (n, unsure) in unsure.iter().enumerate() {
                let range = n * SECTOR..(n + 1) * SECTOR;
                assert!(*unsure || found[range.clone()] == content[range], "{kind}: sector {n} is another");
            }
            rounds += 1;
        }
    }
    eprintln!("{kills} kills in {rounds} conversions, {writes} writes meanwhile");
}
