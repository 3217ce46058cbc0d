//! Durable means durable: what was flushed survives a server killed at any moment and reaches the
//! medium below; and nothing stays behind when it is cleaned up.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Keyway, NbdFuse, Rng, Volume, is_root, require_fuse, require_root, require_tool, skip};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Records lie in slots of this size, each filled by its number.
const SLOT: usize = 20 << 10;
/// Each writer goes round in as many slots.
const SLOTS_PER_WRITER: u64 = 64;
const WRITERS: u64 = 3;

/// A record: its number in every 8 bytes, so that a torn one shows.
fn record(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(SLOT / 8)
}

/// Where a writer's record lies: every writer has slots of its own and goes round in them.
fn slot_at(writer: u64, number: u64) -> u64 {
    (writer * SLOTS_PER_WRITER + number % SLOTS_PER_WRITER) * SLOT as u64
}

/// Writes and flushes numbered records until the server is gone. What `acknowledged` says was
/// flushed before it was said.
fn write_records(path: &Path, writer: u64, first: u64, acknowledged: &AtomicU64) {
    let Ok(file) = File::options().write(true).open(path) else { return };
    for number in first.. {
        if file.write_all_at(&record(number), slot_at(writer, number)).is_err() || file.sync_data().is_err() {
            return;
        }
        acknowledged.store(number, Ordering::SeqCst);
    }
}

/// Every acknowledged record is whole in its slot. Only the slot of the one write that was under
/// way may hold anything.
fn check_records(plain: &[u8], writer: u64, last: u64) {
    for number in last.saturating_sub(SLOTS_PER_WRITER - 1).max(1)..=last {
        let under_way = slot_at(writer, last + 1);
        let at = slot_at(writer, number);
        if at == under_way {
            continue;
        }
        let got = &plain[at as usize..at as usize + SLOT];
        assert!(got == record(number), "writer {writer}: record {number} of {last} is gone or torn");
    }
}

/// How the writers reach the open volume.
enum Way {
    Direct(PathBuf),
    Nbd(NbdFuse),
}

/// Opens, lets writers run, kills the server at a random moment; then everything acknowledged
/// must be there and nothing else left.
fn kill_rounds(attach: &str, rounds: u64, seed: u64) {
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("6M");
    let mut rng = Rng::new(seed);
    let last: Vec<AtomicU64> = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
    let mut sessions = Vec::new();
    for round in 0..rounds {
        let open = match attach {
            // Over io_uring, where there is that, and over /dev/fuse.
            "cache" => volume.open_cached((round % 2 == 1).then_some("dev")),
            _ => volume.open(attach),
        };
        sessions.push(open.session_folder());
        let way = match attach {
            "nbd" => match NbdFuse::mount(&keyway.path("nbdfuse"), &open.path("socket")) {
                Some(client) => Way::Nbd(client),
                None => return,
            },
            "cache" => Way::Direct(open.path("device")),
            // Alternate between the file and the loop device on it.
            _ if is_root() && round % 2 == 0 => Way::Direct(open.path("device")),
            _ => Way::Direct(open.path("file")),
        };
        let target = match &way {
            Way::Direct(path) => path.clone(),
            Way::Nbd(client) => client.file(),
        };
        let before: u64 = last.iter().map(|n| n.load(Ordering::SeqCst)).sum();
        thread::scope(|scope| {
            for (writer, acknowledged) in last.iter().enumerate() {
                let (target, first) = (&target, acknowledged.load(Ordering::SeqCst) + 1);
                scope.spawn(move || write_records(target, writer as u64, first, acknowledged));
            }
            // Not before something was written, then at any moment.
            while last.iter().map(|n| n.load(Ordering::SeqCst)).sum::<u64>() < before + 3 {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_micros(rng.below(300_000)));
            open.kill();
        });
        drop(way);
        // Half of the time nobody tidies up before the volume is opened again.
        std::mem::forget(open);
        if round % 2 == 0 {
            tidy_up(&volume);
            assert_nothing_left(&volume, &sessions);
        }
        let plain = volume.plain();
        for (writer, acknowledged) in last.iter().enumerate() {
            check_records(&plain, writer as u64, acknowledged.load(Ordering::SeqCst));
        }
    }
    tidy_up(&volume);
    assert_nothing_left(&volume, &sessions);
    let written: u64 = last.iter().map(|n| n.load(Ordering::SeqCst)).sum();
    println!("{attach}: {rounds} kills, {written} flushed records, none lost");
}

/// `keyway close` after a kill. Any other keyway that looked for sessions in the meantime has
/// tidied up already, and then there is nothing to close.
fn tidy_up(volume: &Volume<'_>) {
    let done = volume.keyway().run([OsStr::new("close"), volume.path().as_os_str()]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() || said.contains("is not open"), "close: {said}");
}

/// No mount, no loop device, no folder of any of the volume's sessions.
fn assert_nothing_left(volume: &Volume<'_>, sessions: &[PathBuf]) {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("Linux");
    let backing =
        |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("loop/backing_file")).ok();
    let loops: Vec<String> =
        std::fs::read_dir("/sys/block").expect("Linux").flatten().filter_map(backing).collect();
    for session in sessions {
        let name = session.to_string_lossy();
        assert!(!mounts.contains(&*name), "{name} is still mounted");
        assert!(
            !loops.iter().any(|file| file.contains(&*name)),
            "a loop device is still on {name}: {loops:?}"
        );
        assert!(!session.exists(), "{name} was left behind");
    }
    let status = volume.keyway().run([OsStr::new("status"), OsStr::new("--json")]);
    let listed = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(!listed.contains(&*volume.path().to_string_lossy()), "still listed: {listed}");
}

/// More rounds in the long run.
fn rounds() -> u64 {
    if std::env::var_os("KEYWAY_SLOW").is_some() { 25 } else { 8 }
}

#[test]
fn what_was_flushed_through_fuse_survives_a_killed_server() {
    if require_fuse() {
        kill_rounds("fuse", rounds(), 51);
    }
}

/// What was written waits in the page cache above the server, and what was flushed does not.
#[test]
fn what_was_flushed_through_the_page_cache_survives_a_killed_server() {
    if require_root() && require_fuse() {
        kill_rounds("cache", rounds(), 55);
    }
}

#[test]
fn what_was_flushed_through_nbd_survives_a_killed_server() {
    kill_rounds("nbd", rounds(), 52);
}

/// A loop device that the test made on a file.
struct Loop {
    device: PathBuf,
}

impl Loop {
    fn on(image: &Path) -> Option<Self> {
        let losetup = require_tool("losetup")?;
        let done =
            Command::new(losetup).args(["--find", "--show"]).arg(image).output().expect("losetup runs");
        if !done.status.success() {
            skip(&format!("losetup gives no loop device: {}", String::from_utf8_lossy(&done.stderr)));
            return None;
        }
        Some(Self { device: String::from_utf8_lossy(&done.stdout).trim().into() })
    }

    /// Flushes that have reached the device (Linux's Documentation/block/stat, field 16).
    fn flushes(&self) -> u64 {
        let name = self.device.file_name().expect("a device has a name").to_string_lossy();
        let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).expect("sysfs");
        stat.split_whitespace().nth(15).and_then(|n| n.parse().ok()).expect("the kernel counts flushes")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// The volume lies on a device. An fsync inside must have put the bytes below that device's own
/// cache and have flushed the device, while the volume stays open.
#[test]
fn an_fsync_inside_reaches_the_medium() {
    if !require_root() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let image = keyway.volume("5M");
    let Some(medium) = Loop::on(image.path()) else { return };
    let on_device = image.at(&medium.device);
    let mut rng = Rng::new(53);
    for (cached, key) in [(false, "file"), (false, "device"), (true, "device")] {
        let open = if cached { on_device.open_cached(None) } else { on_device.open("fuse") };
        let file = File::options().write(true).open(open.path(key)).expect("the volume opens");
        let before = medium.flushes();
        let written = rng.bytes(1 << 20);
        file.write_all_at(&written, 4096 * 7).expect("a write");
        file.sync_all().expect("a flush");
        assert!(medium.flushes() > before, "{key}: no flush reached the device");
        // Past the device: its backing file as it is now.
        let copy = keyway.path("copy");
        std::fs::copy(image.path(), &copy).expect("a copy of the medium");
        let there = image.at(&copy).plain();
        assert!(
            there[4096 * 7..4096 * 7 + written.len()] == written,
            "{key}: flushed bytes are not on the medium"
        );
        drop(file);
        open.close();
    }
    let open = on_device.open("nbd");
    let Some(client) = NbdFuse::mount(&keyway.path("nbdfuse"), &open.path("socket")) else { return };
    let before = medium.flushes();
    let file = File::options().write(true).open(client.file()).expect("the volume opens");
    file.write_all_at(&rng.bytes(1 << 20), 512).expect("a write");
    file.sync_all().expect("a flush");
    assert!(medium.flushes() > before, "nbd: no flush reached the device");
    drop(file);
    drop(client);
    open.close();
}
