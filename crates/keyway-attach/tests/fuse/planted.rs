//! A planted exploit in the process that serves: a medium whose code, asked for one of its sectors, tries what an attacker
//! would who runs his own in there. In the sandbox nothing of it succeeds; without, all of it does.

use crate::child::Confined;
use crate::rig::{Serving, Sessions, can_mount};
use keyway_store::{Store, StoreError, pass_on};
use keyway_sys::sandbox::missing_layers;
use keyway_testkit::leave_out;
use std::fs::File;
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reading here sets it off,
const TRIGGER: u64 = 1 << 20;
/// and here it becomes another program.
const BECOMES: u64 = 2 << 20;
/// Here its code has a mistake in it.
const PANICS: u64 = 3 << 20;
const SIZE: u64 = 4 << 20;

/// A store with an exploit in it.
pub(crate) struct Planted<S> {
    pub(crate) inner: S,
    /// Open from the beginning.
    report: File,
    port: u16,
    folder: PathBuf,
}

impl<S> Planted<S> {
    pub(crate) fn new(inner: S, folder: &Path) -> Self {
        let port = std::fs::read_to_string(folder.join("port")).expect("the test made it");
        let report = File::create(folder.join("report")).expect("room");
        Self { inner, report, port: port.parse().expect("a number"), folder: folder.to_owned() }
    }

    fn explode(&self) {
        let other = self.folder.join("other.hc");
        let parent = rustix::process::getppid().expect("it has one");
        let ring = || keyway_sys::IoRing::new(OwnedFd::from(self.report.try_clone()?), 1, 4096).map(drop);
        let tried: [(&str, io::Result<()>); 11] = [
            ("open /etc/passwd", File::open("/etc/passwd").map(drop)),
            ("open another volume", File::open(&other).map(drop)),
            ("write to another volume", File::options().write(true).open(&other).map(drop)),
            ("make a file", File::create(self.folder.join("made")).map(drop)),
            ("remove a file", std::fs::remove_file(self.folder.join("made"))),
            ("connect", std::net::TcpStream::connect(("127.0.0.1", self.port)).map(drop)),
            ("make sockets", UnixStream::pair().map(drop)),
            ("listen", TcpListener::bind("127.0.0.1:0").map(drop)),
            ("make a ring", ring()),
            ("start a program", Command::new("true").status().map(drop)),
            ("signal a process", rustix::process::test_kill_process(parent).map_err(io::Error::from)),
        ];
        for (what, done) in tried {
            let came = done.map_or_else(|e| format!("failed: {e}"), |()| "SUCCEEDED".to_owned());
            writeln!(&self.report, "{what}: {came}").expect("it is open");
        }
    }
}

impl<S: Store> Store for Planted<S> {
    pass_on! { [inner] write_at flush discard size sector_bytes is_read_only is_claimed }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        match offset {
            TRIGGER => self.explode(),
            BECOMES => {
                use std::os::unix::process::CommandExt;
                let _ = Command::new("true").exec();
            }
            PANICS => panic!("a mistake"),
            _ => {}
        }
        self.inner.read_at(buf, offset)
    }
}

/// Serves such a medium by FUSE, and sets it off.
fn exploded(sessions: &Sessions, confined: Confined) -> (Serving, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::fs::write(sessions.path().join("port"), port.to_string()).expect("room");
    std::fs::write(sessions.path().join("other.hc"), "another volume").expect("room");
    let serving = sessions.serve(&sessions.volume(SIZE), confined.planted(), None);
    let file = File::open(serving.state.file.as_ref().expect("by FUSE")).expect("ours");
    file.read_exact_at(&mut [0; 512], TRIGGER).expect("the medium is well");
    let report = std::fs::read_to_string(sessions.path().join("report")).expect("it was written");
    assert_eq!(report.lines().count(), 11, "{report}");
    (serving, report)
}

#[test]
fn in_the_sandbox_nothing_of_it_succeeds_and_without_all_of_it_does() {
    if !can_mount() {
        return;
    }
    if !missing_layers().is_empty() {
        return leave_out("this kernel lacks a layer of the sandbox");
    }
    let sessions = Sessions::new();
    let (mut free, report) = exploded(&sessions, Confined::No);
    assert!(free.state.sandbox.is_none());
    assert!(report.lines().all(|line| line.ends_with(": SUCCEEDED")), "without a sandbox:\n{report}");
    assert!(sessions.ask(&["close", &free.state.id]).status.success());
    free.process.wait().expect("it ended");

    let (mut confined, report) = exploded(&sessions, Confined::Yes);
    eprintln!("in the sandbox:\n{report}");
    assert_eq!(confined.state.sandbox.as_ref().map(|sandbox| sandbox.role.as_str()), Some("fuse"));
    assert!(report.lines().all(|line| line.contains(": failed: ")), "in the sandbox:\n{report}");
    assert!(sessions.ask(&["close", &confined.state.id]).status.success(), "and it still serves, and closes");
    confined.process.wait().expect("it ended");
    sessions.assert_clean();

    // One that would become another program is no more.
    let (mut ended, _) = exploded(&sessions, Confined::Yes);
    let file = File::open(ended.state.file.as_ref().expect("by FUSE")).expect("ours");
    assert!(file.read_exact_at(&mut [0; 512], BECOMES).is_err());
    // SIGSYS (signal(7)).
    assert_eq!(ended.process.wait().expect("it ended").signal(), Some(31));
}

#[test]
fn who_waits_for_a_server_that_panicked_is_told() {
    if !can_mount() {
        return;
    }
    let sessions = Sessions::new();
    for confined in [Confined::No, Confined::Yes] {
        std::fs::write(sessions.path().join("port"), "1").expect("room");
        let mut serving = sessions.serve(&sessions.volume(SIZE), confined.planted(), None);
        let file = File::open(serving.state.file.as_ref().expect("by FUSE")).expect("ours");
        assert!(file.read_exact_at(&mut [0; 512], PANICS).is_err());
        let ended = serving.process.wait().expect("it ended");
        // SIGABRT (signal(7)).
        assert_eq!(ended.signal(), Some(6), "{ended}");
        drop(file);
        assert!(sessions.ask(&["clean"]).status.success());
    }
    sessions.assert_clean();
}

/// What the kernel says of the threads that answer FUSE requests: how many there are, and how many of them have not
/// given up everything.
fn threads_of(pid: u32) -> (usize, usize) {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it lives").flatten();
    let statuses = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
    let ours: Vec<String> = statuses.filter(|status| status.starts_with("Name:\tkeyway-fuse\n")).collect();
    let is_free =
        |status: &&String| !status.contains("NoNewPrivs:\t1") || !status.contains("CapEff:\t00000000000");
    (ours.len(), ours.iter().filter(is_free).count())
}

#[test]
fn no_thread_that_serves_comes_too_late_for_the_sandbox() {
    if !can_mount() {
        return;
    }
    // A thread that has not begun when its process enters the sandbox is not let in. On a busy machine they begin late.
    let stop = AtomicBool::new(false);
    let seen: Vec<_> = std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let seen = (0..20).map(|_| {
            let sessions = Sessions::new();
            let volume = sessions.volume(SIZE);
            let serving = sessions.serve(&volume, "fuse", None);
            threads_of(serving.state.pid)
        });
        let seen = seen.collect();
        stop.store(true, Ordering::Relaxed);
        seen
    });
    let first = *seen.first().expect("twenty times");
    assert!(first.0 > 0 && seen.iter().all(|seen| *seen == (first.0, 0)), "{seen:?}");
}
