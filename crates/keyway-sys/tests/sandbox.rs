//! A planted exploit: a process that enters a role and then tries what an attacker would who runs his own code in it.
//! Each attempt must fail in each role; the same process without a role must succeed at it, or the attempt shows nothing.
#![allow(clippy::panic, clippy::expect_used, clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use keyway_sys::sandbox::{Role, enter_role, give_up_paths, missing_layers};
use keyway_testkit::leave_out;
use rustix::fs::{AtFlags, CWD, FallocateFlags, FlockOperation, Mode};
use rustix::net::{AddressFamily, RecvAncillaryBuffer, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What the child is told: its role, what it tries, and where things are.
const ROLE: &str = "PLANTED_ROLE";
const ATTEMPT: &str = "PLANTED_ATTEMPT";
const FOLDER: &str = "PLANTED_FOLDER";
const VICTIM: &str = "PLANTED_VICTIM";
const PORT: &str = "PLANTED_PORT";

/// What is no role: a thread that has no paths and capabilities any more, in a process that has all its calls.
const THREAD: &str = "thread";

/// How the child says how it went.
const SUCCEEDED: i32 = 10;
const FAILED: i32 = 11;
/// SIGSYS (signal(7)).
const KILLED: i32 = 31;

/// What the child has before it enters a role.
struct Place {
    /// The folder that `CopyIn` and `CopyOut` are left with; beside it, what belongs to others.
    folder: PathBuf,
    /// A process of the same user.
    victim: i32,
    /// A port at which somebody listens.
    port: u16,
    /// A socket that is not connected yet.
    socket: OwnedFd,
    /// One that takes any address.
    datagrams: UdpSocket,
    /// What is converted: open to be written.
    medium: File,
    /// What tells how much memory is free, opened before.
    free_memory: File,
    /// Both ends of a connection to somebody who is asked.
    asked: [OwnedFd; 2],
}

type Attempt = fn(&Place) -> io::Result<()>;

/// What is tried, and what without a role takes root.
const ATTEMPTS: &[(&str, bool, Attempt)] = &[
    ("open /etc/passwd", false, |_| read("/etc/passwd".as_ref())),
    ("open another volume", false, |at| read(&beside(at, "volume.hc"))),
    ("write to another volume", false, |at| {
        OpenOptions::new().write(true).open(beside(at, "volume.hc"))?.write_all(b"x")
    }),
    ("make a file elsewhere", false, |at| File::create(beside(at, "new")).map(drop)),
    ("leave the folder by ..", false, |at| read(&at.folder.join("../volume.hc"))),
    ("read another process's memory by /proc", false, |at| {
        File::open(format!("/proc/{}/mem", at.victim)).map(drop)
    }),
    ("remove a file", false, |at| std::fs::remove_file(beside(at, "volume.hc"))),
    ("rename a file", false, |at| std::fs::rename(beside(at, "volume.hc"), at.folder.join("mine"))),
    ("link a file", false, |at| std::fs::hard_link(beside(at, "volume.hc"), at.folder.join("mine"))),
    ("make a symbolic link", false, |at| std::os::unix::fs::symlink("/etc/passwd", at.folder.join("mine"))),
    ("change a mode", false, |at| {
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(beside(at, "volume.hc"), all)
    }),
    ("change the working folder", false, |_| std::env::set_current_dir("/")),
    ("make a TCP socket and connect", false, |at| TcpStream::connect(("127.0.0.1", at.port)).map(drop)),
    ("connect a socket that is there", false, |at| {
        let to = std::net::SocketAddr::from(([127, 0, 0, 1], at.port));
        rustix::net::connect(&at.socket, &to).map_err(io::Error::from)
    }),
    ("listen at a port", false, |_| TcpListener::bind("127.0.0.1:0").map(drop)),
    ("make a UDP socket", false, |_| UdpSocket::bind("127.0.0.1:0").map(drop)),
    ("make a pair of unix sockets", false, |_| UnixStream::pair().map(drop)),
    // SAFETY: the child of it ends at once, by a call that runs nothing of this process.
    ("fork", false, |_| match done(i64::from(unsafe { libc::fork() }))? {
        // SAFETY: as said.
        0 => unsafe { libc::_exit(0) },
        _ => Ok(()),
    }),
    ("start a program", false, |_| Command::new("/bin/true").status().map(drop)),
    ("become another program", false, |_| {
        use std::os::unix::process::CommandExt;
        // One that says what this child would say.
        Err(Command::new("/bin/sh").args(["-c", &format!("exit {SUCCEEDED}")]).exec())
    }),
    ("trace a process (ptrace)", false, |at| {
        let none = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: the operation takes no memory of this process.
        done(unsafe { libc::ptrace(libc::PTRACE_SEIZE, at.victim, none, none) }).map(drop)
    }),
    ("read another process's memory (process_vm_readv)", false, |at| {
        let mut bytes = [0u8; 16];
        let own = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let theirs =
            libc::iovec { iov_base: std::ptr::without_provenance_mut(mapped(at)), iov_len: bytes.len() };
        // SAFETY: the call writes so many bytes to the buffer at most, and reads nothing else of this process.
        done(unsafe { libc::process_vm_readv(at.victim, &raw const own, 1, &raw const theirs, 1, 0) } as i64)
            .map(drop)
    }),
    ("signal a process", false, |at| {
        let victim = rustix::process::Pid::from_raw(at.victim).expect("a process");
        rustix::process::kill_process(victim, rustix::process::Signal::CONT).map_err(io::Error::from)
    }),
    ("hold a process (pidfd_open)", false, |at| {
        call(libc::SYS_pidfd_open, &[at.victim as usize, 0]).map(drop)
    }),
    ("mount", true, |at| {
        rustix::mount::mount("none", &at.folder, "tmpfs", rustix::mount::MountFlags::empty(), None)
            .map_err(io::Error::from)
    }),
    ("leave for a namespace of its own (unshare)", true, |_| {
        call(libc::SYS_unshare, &[libc::CLONE_NEWNS as usize]).map(drop)
    }),
    ("change its root", true, |at| rustix::process::chroot(&at.folder).map_err(io::Error::from)),
    ("become another user", true, |_| call(libc::SYS_setresuid, &[1, 1, 1]).map(drop)),
    ("set the machine's name", true, |_| {
        let name = rustix::system::uname().nodename().to_owned();
        rustix::system::sethostname(name.to_bytes()).map_err(io::Error::from)
    }),
    ("make a ring (io_uring_setup)", false, |_| io_uring::IoUring::new(2).map(drop)),
    ("make executable memory", false, |_| executable()),
    ("make a file in memory (memfd_create)", false, |_| {
        let name = CString::new("planted")?;
        call(libc::SYS_memfd_create, &[name.as_ptr().addr(), 0]).map(drop)
    }),
    ("make a kernel key", false, |_| {
        let (kind, name) = (CString::new("user")?, CString::new("planted")?);
        // The process's own keyring (keyrings(7)): -2.
        let arguments = [kind.as_ptr().addr(), name.as_ptr().addr(), name.as_ptr().addr(), 1, usize::MAX - 1];
        call(libc::SYS_add_key, &arguments).map(drop)
    }),
    ("load a program into the kernel (bpf)", true, |_| {
        // BPF_MAP_CREATE of an array: type 2, key 4, value 4, one entry (`linux/bpf.h`).
        let attributes: [u32; 4] = [2, 4, 4, 1];
        call(libc::SYS_bpf, &[0, attributes.as_ptr().addr(), size_of_val(&attributes)]).map(drop)
    }),
    ("catch page faults (userfaultfd)", true, |_| call(libc::SYS_userfaultfd, &[0]).map(drop)),
];

fn read(path: &Path) -> io::Result<()> {
    File::open(path)?.read_exact(&mut [0; 1])
}

fn beside(at: &Place, name: &str) -> PathBuf {
    at.folder.parent().expect("it is in a folder").join(name)
}

fn done(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn call(number: libc::c_long, arguments: &[usize]) -> io::Result<i64> {
    let mut all = [0usize; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    let [a, b, c, d, e, f] = all;
    // SAFETY: each caller's arguments are numbers, or point to what lives as long as the call.
    done(unsafe { libc::syscall(number, a, b, c, d, e, f) })
}

/// Where the victim has something mapped that can be read; found before a role is entered.
fn mapped(at: &Place) -> usize {
    static FOUND: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        // While it becomes `sleep` it has nothing.
        let since = std::time::Instant::now();
        loop {
            let maps = std::fs::read_to_string(format!("/proc/{}/maps", at.victim)).expect("it runs");
            if let Some(line) = maps.lines().find(|line| line.contains("r-")) {
                let start = line.split('-').next().expect("a range");
                return usize::from_str_radix(start, 16).expect("a number");
            }
            assert!(since.elapsed() < Duration::from_secs(60), "it has nothing mapped");
            std::thread::sleep(Duration::from_millis(1));
        }
    })
}

fn executable() -> io::Result<()> {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at a place of the kernel's choice, which nothing else uses.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) };
    if memory == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What every role must still do: else it would be easy to let nothing succeed.
fn still_works(role: Role, open: &File, at: &Place) -> io::Result<()> {
    let mut byte = [0];
    rustix::io::pread(open, &mut byte, 0)?;
    assert_eq!(&byte, b"v");
    let thread = std::thread::spawn(|| vec![7u8; 64 << 20].into_iter().map(u64::from).sum::<u64>());
    assert_eq!(thread.join().expect("it counts"), 7 * (64 << 20));
    assert!(std::thread::spawn(|| std::panic::resume_unwind(Box::new(1))).join().is_err());
    searches(&at.free_memory)?;
    std::thread::sleep(Duration::from_millis(1));
    let mut random = [MaybeUninit::uninit(); 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    match role {
        Role::CopyOut => {
            let made = at.folder.join("made");
            rustix::fs::mkdirat(CWD, &made, Mode::RWXU)?;
            std::fs::write(made.join("new"), "made")?;
            rustix::fs::renameat(CWD, made.join("new"), CWD, made.join("file"))?;
            rustix::fs::unlinkat(CWD, made.join("file"), AtFlags::empty()).map_err(io::Error::from)
        }
        Role::CopyIn => {
            read(&at.folder.join("given"))?;
            let may_not = [File::create(at.folder.join("made")), File::create(at.folder.join("given"))];
            assert!(may_not.iter().all(Result::is_err), "it only reads");
            Ok(())
        }
        Role::Convert => converts(at).and_then(|()| opens_nothing(role, at)),
        _ => opens_nothing(role, at),
    }
}

/// What the search for a key needs: secrets between guards, large memory, threads with names, and what the kernel says of free
/// memory now.
fn searches(mut free_memory: &File) -> io::Result<()> {
    let search = || {
        for len in [4096usize, 64 << 20] {
            let (flags, access) =
                (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
            // SAFETY: a new mapping at a place of the kernel's choice, which nothing else uses.
            let memory = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
            assert_ne!(memory, libc::MAP_FAILED);
            // SAFETY: all of the mapping made above, and nothing else.
            done(unsafe { libc::mprotect(memory, len, access) }.into())?;
            if len == 4096 {
                // SAFETY: as above.
                done(unsafe { libc::mlock(memory, len) }.into())?;
            }
            for advice in [libc::MADV_HUGEPAGE, libc::MADV_DONTDUMP, libc::MADV_WIPEONFORK] {
                // SAFETY: as above; it holds nothing.
                let advised = done(unsafe { libc::madvise(memory, len, advice) }.into());
                // A kernel may have no huge pages.
                assert!(advised.is_ok() || advice == libc::MADV_HUGEPAGE, "{advice}: {advised:?}");
            }
            // SAFETY: as above; nobody uses it any more.
            done(unsafe { libc::munmap(memory, len) }.into())?;
        }
        Ok::<_, io::Error>(())
    };
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|_| {
            let named = std::thread::Builder::new().name("keyway-unlock".into());
            named.spawn_scoped(scope, search).expect("a thread")
        });
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    for _ in 0..2 {
        let mut text = String::new();
        free_memory.rewind()?;
        free_memory.read_to_string(&mut text)?;
        assert!(text.contains("MemAvailable:"), "{text}");
    }
    Ok(())
}

fn opens_nothing(role: Role, at: &Place) -> io::Result<()> {
    assert!(read(&at.folder.join("given")).is_err(), "{role:?} reads");
    File::create(at.folder.join("made")).map_or(Ok(()), |_| Err(io::ErrorKind::AlreadyExists.into()))
}

/// What a conversion does to what is open, until it is through, is paused or fails.
fn converts(at: &Place) -> io::Result<()> {
    let (medium, [one, other]) = (&at.medium, &at.asked);
    rustix::fs::fallocate(medium, FallocateFlags::empty(), 0, 8192)?;
    std::thread::scope(|scope| {
        let written = [0, 4096].map(|at| scope.spawn(move || medium.write_all_at(&[7; 4096], at)));
        written.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    medium.sync_data()?;
    medium.sync_all()?;
    medium.set_len(4096)?;
    let mut back = [0; 4096];
    medium.read_exact_at(&mut back, 0)?;
    assert!(medium.metadata()?.len() == 4096 && back == [7; 4096]);
    rustix::fs::flock(medium, FlockOperation::NonBlockingLockExclusive)?;
    assert!(at.folder.canonicalize()?.is_dir() && std::path::absolute("relative")?.is_absolute());
    assert_eq!(rustix::net::send(one, &[1], SendFlags::NOSIGNAL)?, 1);
    let mut byte = [0];
    let into = &mut [io::IoSliceMut::new(&mut byte)];
    let mut none = RecvAncillaryBuffer::default();
    assert_eq!(rustix::net::recvmsg(other, into, &mut none, RecvFlags::CMSG_CLOEXEC)?.bytes, 1);
    let to = std::net::SocketAddr::from(([127, 0, 0, 1], at.port));
    let sent = at.datagrams.send_to(&[1], to);
    assert!(sent.is_err(), "it sends to whom it likes");
    Ok(())
}

/// The process in which the exploit is planted: this test program, started anew by the test below.
#[test]
fn planted() {
    let Ok(attempt) = std::env::var(ATTEMPT) else { return };
    let given = |name| std::env::var(name).expect("the parent said so");
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None);
    let asked =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
    let medium = Path::new(&given(FOLDER)).with_file_name("medium");
    let at = Place {
        folder: given(FOLDER).into(),
        victim: given(VICTIM).parse().expect("a number"),
        port: given(PORT).parse().expect("a number"),
        socket: socket.expect("sockets"),
        datagrams: UdpSocket::bind("127.0.0.1:0").expect("a port"),
        medium: OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(medium)
            .expect("room"),
        free_memory: File::open("/proc/meminfo").expect("it tells everybody"),
        asked: asked.expect("sockets").into(),
    };
    mapped(&at);
    let open = File::open(beside(&at, "volume.hc")).expect("it is there");
    if given(ROLE) == THREAD {
        give_up_paths().expect("it is offered");
    }
    let role = Role::ALL.into_iter().find(|role| role.name() == given(ROLE));
    if let Some(role) = role {
        let folder = File::open(&at.folder).expect("it is there");
        let file = File::open(at.folder.join("given")).expect("it is there");
        let left: &[_] = match role {
            Role::CopyIn => &[folder.as_fd(), file.as_fd()],
            Role::CopyOut => &[folder.as_fd()],
            _ => &[],
        };
        enter_role(role, left).expect("it is offered");
        if attempt == "what it must" {
            still_works(role, &open, &at).expect("it needs that");
            std::process::exit(SUCCEEDED);
        }
    }
    let attempt = ATTEMPTS.iter().find(|(name, ..)| *name == attempt).expect("one of these").2;
    match attempt(&at) {
        Ok(()) => std::process::exit(SUCCEEDED),
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(FAILED)
        }
    }
}

/// What an attempt came to in a process of its own.
fn tried(role: &str, attempt: &str) -> (i32, String) {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("folder");
    std::fs::create_dir(&folder).expect("room");
    std::fs::write(folder.join("given"), "given").expect("room");
    std::fs::write(place.path().join("volume.hc"), "volume").expect("room");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let victim = Victim(Command::new("sleep").arg("60").spawn().expect("sleep"));
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "planted", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(ATTEMPT, attempt)
        .env(FOLDER, &folder)
        .env(VICTIM, victim.0.id().to_string())
        .env(PORT, listener.local_addr().expect("bound").port().to_string())
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&child.stderr).trim().to_owned();
    match child.status.signal() {
        Some(KILLED) => (FAILED, "the process was ended".to_owned()),
        Some(signal) => panic!("{attempt}: signal {signal}: {said}"),
        None => (child.status.code().expect("no signal"), said),
    }
}

struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_planted_exploit_fails_in_every_role() {
    let missing = missing_layers();
    if !missing.is_empty() {
        return leave_out(&format!(
            "this kernel lacks {}",
            missing.iter().map(|l| l.name()).collect::<Vec<_>>().join(", ")
        ));
    }
    let root = rustix::process::geteuid().is_root();
    let mut wrong = Vec::new();
    for (attempt, takes_root, _) in ATTEMPTS {
        let (alone, why) = tried("none", attempt);
        if alone != SUCCEEDED {
            if *takes_root && !root {
                leave_out(&format!("to {attempt} takes root"));
                continue;
            }
            wrong.push(format!("{attempt}: fails without a role, too ({why})"));
        }
        for role in Role::ALL {
            let (result, why) = tried(role.name(), attempt);
            eprintln!(
                "{:>10}: {attempt}: {}",
                role.name(),
                if result == FAILED { why.as_str() } else { "SUCCEEDED" }
            );
            if result != FAILED {
                wrong.push(format!("{}: {attempt}: exit {result} {why}", role.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_role_needs_works_in_it() {
    if !missing_layers().is_empty() {
        return leave_out("this kernel lacks a layer");
    }
    for role in Role::ALL {
        assert_eq!(tried(role.name(), "what it must"), (SUCCEEDED, String::new()), "{}", role.name());
    }
}

/// Landlock holds without seccomp, too. What it does not know of is left out here: modes, working folders, sockets that
/// lead nowhere yet, and the process's own memory and children.
#[test]
fn without_its_paths_a_thread_opens_nothing_and_reaches_nobody() {
    if !missing_layers().is_empty() {
        return leave_out("this kernel lacks a layer");
    }
    let paths = [
        "open ",
        "write to",
        "make a file elsewhere",
        "leave the folder",
        "read another",
        "remove",
        "rename",
        "link",
    ];
    let others =
        ["make a symbolic", "make a TCP", "connect", "listen", "start a program", "become another program"];
    let processes = ["trace", "signal a process", "mount", "change its root"];
    let stops = |attempt: &str| {
        [&paths[..], &others, &processes].concat().iter().any(|start| attempt.starts_with(start))
    };
    let tried: Vec<_> = ATTEMPTS
        .iter()
        .filter(|(name, ..)| stops(name))
        .map(|(name, ..)| (name, tried(THREAD, name)))
        .collect();
    assert!(tried.len() >= paths.len() + others.len() + processes.len());
    for (attempt, (result, why)) in tried {
        eprintln!("{THREAD:>10}: {attempt}: {why}");
        assert_eq!(result, FAILED, "{attempt}");
    }
}
