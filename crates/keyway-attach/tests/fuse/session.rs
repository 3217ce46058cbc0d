//! Serving processes: found, asked, ended, killed.

use crate::rig::{Sessions, can_mount, device};
use keyway_attach::session::{Latency, SessionState, SessionStatus};
use keyway_engine::Access;
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::{Rng, require_root, require_tool, wait_until};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

const SIZE: u64 = 16 << 20;

fn text(path: &Path) -> &str {
    path.to_str().expect("plain")
}

/// The one line of JSON among what the test harness prints.
fn json<T: serde::de::DeserializeOwned>(output: &Output) -> T {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().find_map(|line| serde_json::from_str(line).ok()).expect("a line of JSON")
}

#[test]
fn it_is_found_by_every_name_asked_and_closed() {
    if !can_mount() {
        return;
    }
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let mut serving = sessions.serve(&volume, "fuse", None);
    let state = serving.state.clone();
    let file = state.file.clone().expect("a file");
    assert_eq!((state.volume.as_path(), state.size_bytes), (volume.as_path(), SIZE));

    let list = sessions.ask(&["list"]);
    assert_eq!(json::<SessionState>(&list), state);

    let open = OpenOptions::new().read(true).write(true).open(&file).expect("ours");
    open.write_all_at(&[1; 5000], 0).expect("room");
    for name in [text(&volume), text(&file), &state.id] {
        let asked = sessions.ask(&["status", name]);
        let status: SessionStatus = json(&asked);
        assert_eq!((status.writes, status.bytes_written), (1, 5000));
        let times = status.latency.writes.store.expect("the first request is timed");
        assert_eq!((times.count, times.histogram.len()), (1, 1));
        assert!(times.p50_ns > 0 && times.p50_ns == times.p99_ns);
        assert_eq!(status.latency.reads, Latency::default());
        assert!(!status.guard_hit);
    }

    let again = sessions.ask(&[text(&volume), "fuse"]);
    assert_eq!(again.status.code(), Some(6), "one process per volume");

    let busy = sessions.ask(&["close", text(&volume)]);
    assert_eq!(busy.status.code(), Some(6));
    let said = String::from_utf8_lossy(&busy.stderr).into_owned();
    assert!(said.contains(&std::process::id().to_string()), "it names who uses it: {said}");
    open.write_all_at(&[2; 100], 0).expect("it is still served");
    drop(open);

    assert!(sessions.ask(&["close", text(&volume)]).status.success());
    let ended = serving.process.try_wait().expect("ours").expect("close waits for the process");
    assert!(ended.success());
    sessions.assert_clean();
    assert_eq!(sessions.ask(&["close", text(&volume)]).status.code(), Some(1), "nothing is open now");
}

#[test]
fn a_recording_holds_what_was_done_while_it_was_on() {
    if !can_mount() {
        return;
    }
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let serving = sessions.serve(&volume, "fuse", None);
    let file = serving.state.file.clone().expect("a file");
    let open = OpenOptions::new().read(true).write(true).open(&file).expect("ours");
    assert_eq!(sessions.ask(&["end-recording", text(&volume)]).status.code(), Some(1), "none is under way");

    open.write_all_at(&[1; 512], 0).expect("room");
    assert!(sessions.ask(&["record", text(&volume)]).status.success());
    assert_eq!(sessions.ask(&["record", text(&volume)]).status.code(), Some(1), "one at a time");
    open.write_all_at(&[1; 8192], 4096).expect("room");
    open.sync_data().expect("served");
    open.read_exact_at(&mut [0; 4096], 1 << 20).expect("there");
    let records: Vec<(String, u64, u32)> = json(&sessions.ask(&["end-recording", text(&volume)]));
    open.write_all_at(&[1; 512], 0).expect("room");
    let written: u32 = records.iter().filter(|r| r.0 == "Write").map(|r| r.2).sum();
    assert_eq!(written, 8192, "{records:?}");
    assert!(records.iter().any(|r| r.0 == "Flush"));
    assert!(records.iter().any(|r| r.0 == "Read" && r.1 <= 1 << 20 && r.1 + u64::from(r.2) > 1 << 20));
    assert!(records.iter().all(|r| r.0 != "Write" || r.1 >= 4096), "{records:?}");
    drop(open);
    assert!(sessions.ask(&["close", text(&volume)]).status.success());
    sessions.assert_clean();
}

/// Confined as it is by then, with its own file system in the folder that is emptied.
#[test]
fn a_folder_that_is_emptied_ends_it_in_good_order() {
    if !can_mount() {
        return;
    }
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let mut serving = sessions.serve(&volume, "fuse", None);
    let folder = sessions.path().join("run").join(&serving.state.id);
    let open =
        OpenOptions::new().write(true).open(serving.state.file.as_ref().expect("a file")).expect("ours");
    open.write_all_at(&[7; 4096], 8192).expect("room");
    drop(open);
    for name in ["state.json", "control", "lock"] {
        std::fs::remove_file(folder.join(name)).expect("ours");
    }
    assert!(serving.process.wait().expect("ours").success());
    sessions.assert_clean();
}

#[test]
fn a_signal_and_an_unmount_end_it_in_good_order() {
    if !can_mount() {
        return;
    }
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let mut serving = sessions.serve(&volume, "fuse", None);
    let pid = rustix::process::Pid::from_child(&serving.process);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("ours");
    assert!(serving.process.wait().expect("ours").success());
    sessions.assert_clean();

    let mut serving = sessions.serve(&volume, "fuse", None);
    let file = serving.state.file.clone().expect("a file");
    let at = file.parent().expect("in a folder");
    let (program, option) = if keyway_testkit::is_root() { ("umount", "-v") } else { ("fusermount3", "-u") };
    assert!(Command::new(program).arg(option).arg(at).output().expect("installed").status.success());
    assert!(serving.process.wait().expect("ours").success());
    sessions.assert_clean();
}

#[test]
fn every_signal_that_could_end_it_does_so_in_good_order() {
    if !can_mount() {
        return;
    }
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let send = |serving: &crate::rig::Serving, signal: i32| {
        let pid = rustix::process::Pid::from_child(&serving.process);
        let signal = rustix::process::Signal::from_named_raw(signal).expect("it has a name");
        rustix::process::kill_process(pid, signal).expect("ours");
    };
    let signals = [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGALRM,
        libc::SIGTERM,
        libc::SIGSTKFLT,
        libc::SIGVTALRM,
        libc::SIGPROF,
        libc::SIGIO,
        libc::SIGPWR,
        libc::SIGXCPU,
    ];
    for signal in signals {
        let mut serving = sessions.serve(&volume, "fuse", None);
        send(&serving, signal);
        assert!(serving.process.wait().expect("ours").success(), "{signal}");
        sessions.assert_clean();
    }
    let serving = sessions.serve(&volume, "fuse", None);
    send(&serving, libc::SIGXFSZ);
    assert!(
        sessions.ask(&["close", text(&volume)]).status.success(),
        "a file that is too large ends nothing"
    );
    sessions.assert_clean();

    let Some(mkfs) = keyway_testkit::is_root().then(|| require_tool("mkfs.ext4")).flatten() else { return };
    let serving = sessions.serve(&volume, "loop", None);
    let device = serving.state.device.clone().expect("a loop device");
    assert!(Command::new(mkfs).arg("-q").arg(&device).status().expect("installed").success());
    assert!(sessions.ask(&["close", text(&volume)]).status.success());
    let at = sessions.path().join("inside");
    std::fs::create_dir(&at).expect("room");
    let mut serving = sessions.serve(&volume, "fuse", Some(&at));
    std::fs::write(at.join("cached"), "not flushed by anybody").expect("room");
    send(&serving, libc::SIGQUIT);
    assert!(serving.process.wait().expect("ours").success());
    sessions.assert_clean();
    let _serving = sessions.serve(&volume, "fuse", Some(&at));
    assert_eq!(std::fs::read(at.join("cached")).expect("it is there"), b"not flushed by anybody");
    assert!(sessions.ask(&["close", text(&volume)]).status.success());
    sessions.assert_clean();
}

/// Every record is flushed before the next is written; after SIGKILL at a random moment all but
/// the last are there, and closing leaves nothing behind.
#[test]
fn nothing_flushed_is_lost_when_it_is_killed() {
    if !can_mount() {
        return;
    }
    const RECORD: usize = 3000;
    let mut rng = Rng::new(30);
    for round in 0..4u8 {
        let sessions = Sessions::new();
        let volume = sessions.volume(SIZE);
        let mut serving = sessions.serve(&volume, "fuse", None);
        let path = serving.state.file.clone().expect("a file");
        let file = OpenOptions::new().write(true).open(path).expect("ours");
        let writer = std::thread::spawn(move || {
            let mut flushed = 0u8;
            while flushed < 250 {
                let record = [flushed + 1; RECORD];
                let at = u64::from(flushed) * RECORD as u64;
                if file.write_all_at(&record, at).and_then(|()| file.sync_data()).is_err() {
                    break;
                }
                flushed += 1;
            }
            flushed
        });
        std::thread::sleep(Duration::from_millis(5 + rng.below(60)));
        serving.kill();
        let flushed = writer.join().expect("errors end it, not panics");
        assert!(sessions.ask(&["close", text(&volume)]).status.success(), "round {round}");
        sessions.assert_clean();

        let store = FileStore::open(&volume, OpenMode::ReadOnly, Caching::Buffered).expect("a file");
        let plain = device(store, Access::ReadOnly);
        for number in 0..flushed {
            let mut record = [0; RECORD];
            plain.read_at(&mut record, u64::from(number) * RECORD as u64).expect("readable");
            assert_eq!(record, [number + 1; RECORD], "round {round}, record {number} of {flushed}");
        }
    }
}

#[test]
fn a_mounted_file_system_survives_close_and_kill() {
    if !can_mount() || !require_root() {
        return;
    }
    let Some(mkfs) = require_tool("mkfs.ext4") else { return };
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let serving = sessions.serve(&volume, "loop", None);
    let device = serving.state.device.clone().expect("a loop device");
    assert!(Command::new(mkfs).arg("-q").arg(&device).status().expect("installed").success());
    let hold = |seconds: &str| {
        let device = std::fs::File::open(&device).expect("it is there");
        Command::new("sleep").arg(seconds).stdin(device).spawn().expect("Linux has it")
    };
    let mut user = hold("600");
    let busy = sessions.ask(&["close", text(&device)]);
    assert_eq!(busy.status.code(), Some(6), "somebody has the device open");
    user.kill().and_then(|()| user.wait()).expect("ours");
    // On a busy machine one of them may look for longer than is waited.
    wait_until("who only looks, as udev and losetup do, is waited for", || {
        let mut passing = hold("0.3");
        let closed = sessions.ask(&["close", text(&device)]);
        passing.wait().expect("ours");
        closed.status.success()
    });
    sessions.assert_clean();

    let at = sessions.path().join("inside");
    std::fs::create_dir(&at).expect("room");
    let mut serving = sessions.serve(&volume, "fuse", Some(&at));
    assert_eq!(serving.state.filesystem.as_deref(), Some("ext4"));
    std::fs::write(at.join("kept"), "by close").expect("room");
    let open = std::fs::File::create(at.join("open")).expect("room");
    let busy = sessions.ask(&["close", text(&at)]);
    assert_eq!(busy.status.code(), Some(6), "a file inside is open");
    drop(open);
    assert!(sessions.ask(&["close", text(&at)]).status.success());
    assert!(serving.process.wait().expect("ours").success());
    sessions.assert_clean();

    let mut serving = sessions.serve(&volume, "fuse", Some(&at));
    assert_eq!(std::fs::read(at.join("kept")).expect("it was written"), b"by close");
    std::fs::write(at.join("flushed"), "by sync").expect("room");
    assert!(std::fs::File::open(at.join("flushed")).and_then(|file| file.sync_all()).is_ok());
    serving.kill();
    assert!(sessions.ask(&["close", text(&volume)]).status.success());
    sessions.assert_clean();

    // The journal has what was flushed; opening the volume again replays it.
    let serving = sessions.serve(&volume, "fuse", Some(&at));
    assert_eq!(std::fs::read(at.join("flushed")).expect("it was flushed"), b"by sync");
    drop(serving);
    // Opening it anew cleans up after the last process, too.
    let serving = sessions.serve(&volume, "fuse", None);
    assert!(sessions.ask(&["close", &serving.state.id]).status.success());
    sessions.assert_clean();
}

/// A container, or a service, has a view of the mounts of its own, in which what we unmounted stays mounted.
#[test]
fn what_is_mounted_in_another_view_of_the_mounts_stays_attached() {
    if !can_mount() || !require_root() {
        return;
    }
    let (Some(mkfs), Some(unshare)) = (require_tool("mkfs.ext4"), require_tool("unshare")) else { return };
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let at = sessions.path().join("inside");
    std::fs::create_dir(&at).expect("room");
    let serving = sessions.serve(&volume, "loop", None);
    let device = serving.state.device.clone().expect("a loop device");
    assert!(Command::new(mkfs).arg("-q").arg(&device).status().expect("installed").success());
    assert!(sessions.ask(&["close", text(&device)]).status.success());
    let mut serving = sessions.serve(&volume, "fuse", Some(&at));
    let device = serving.state.device.clone().expect("a loop device");
    let mut other = keyway_testkit::own_mounts(&unshare, &[], sessions.path());
    other.args(["sh", "-c", "echo there; exec sleep 600"]);
    let mut other = other.stdout(std::process::Stdio::piped()).spawn().expect("installed");
    let mut there = [0; 6];
    std::io::Read::read_exact(other.stdout.as_mut().expect("its output"), &mut there).expect("it says so");
    std::fs::write(at.join("kept"), "by close").expect("room");
    let busy = sessions.ask(&["close", text(&volume)]);
    let said = String::from_utf8_lossy(&busy.stderr);
    assert_eq!(busy.status.code(), Some(6), "{said}");
    assert!(said.contains(&format!("sleep (process {})", other.id())), "{said}");
    assert_eq!(backing(&device), serving.state.file, "it is still ours");
    other.kill().and_then(|()| other.wait()).expect("ours");
    let closed = sessions.ask(&["close", text(&volume)]);
    assert!(closed.status.success(), "{}", String::from_utf8_lossy(&closed.stderr));
    assert!(serving.process.wait().expect("ours").success());
    sessions.assert_clean();
    let serving = sessions.serve(&volume, "fuse", Some(&at));
    assert_eq!(std::fs::read(at.join("kept")).expect("it was written"), b"by close");
    drop(serving);
    assert!(sessions.ask(&["close", text(&volume)]).status.success());
}

/// Somebody has taken our loop device off and put it on a file of his own.
#[test]
fn a_loop_device_that_is_somebody_elses_by_now_is_left_alone() {
    if !can_mount() || !require_root() {
        return;
    }
    let Some(losetup) = require_tool("losetup") else { return };
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let serving = sessions.serve(&volume, "loop", None);
    let device = serving.state.device.clone().expect("a loop device");
    let theirs = sessions.path().join("theirs");
    std::fs::write(&theirs, vec![0; 1 << 20]).expect("room");
    let run = |words: &[&Path]| {
        let done = Command::new(&losetup).args(words).output().expect("installed");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    run(&["-d".as_ref(), &device]);
    wait_until("it is off", || backing(&device).is_none());
    run(&[&device, &theirs]);
    let closed = sessions.ask(&["close", text(&volume)]);
    let left = backing(&device);
    run(&["-d".as_ref(), &device]);
    assert!(closed.status.success(), "{}", String::from_utf8_lossy(&closed.stderr));
    assert_eq!(left, Some(theirs), "it is not ours to take off");
    sessions.assert_clean();
}

/// What a loop device is on.
fn backing(device: &Path) -> Option<std::path::PathBuf> {
    let name = device.file_name().expect("a device");
    let path = Path::new("/sys/block").join(name).join("loop/backing_file");
    std::fs::read_to_string(path).ok().map(|text| text.trim_end().into())
}

#[test]
fn an_nbd_session_ends_when_it_is_closed() {
    let sessions = Sessions::new();
    let volume = sessions.volume(SIZE);
    let serving = sessions.serve(&volume, "nbd", None);
    let socket = serving.state.socket.clone().expect("a socket");
    std::os::unix::net::UnixStream::connect(&socket).expect("somebody listens");
    // It does not wait for clients for ever.
    assert!(sessions.ask(&["close", text(&socket)]).status.success());
    sessions.assert_clean();
}

#[test]
fn a_killed_server_of_sockets_leaves_nothing_that_close_does_not_take_away() {
    for way in ["nbd", "vhost-user"] {
        let sessions = Sessions::new();
        let volume = sessions.volume(SIZE);
        let mut serving = sessions.serve(&volume, way, None);
        let socket = serving.state.socket.clone().expect("a socket");
        serving.kill();
        assert!(socket.exists(), "{way}: what it left");
        assert!(sessions.ask(&["close", text(&volume)]).status.success(), "{way}");
        sessions.assert_clean();
    }
}
