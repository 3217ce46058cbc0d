//! A client on the bus, as a process of an ordinary user: this test program, started anew. It does what it is told line by line,
//! on one connection, which goes when it is killed.
#![allow(dead_code, reason = "each test file uses its own part")]

use keyway_mountd::{NAME, PATH};
use keyway_testkit::SystemBus;
use std::collections::BTreeMap;
use std::fs::File;
use std::future::poll_fn;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::task::Poll;

/// Users that every Debian has: two that polkit lets mount in these tests, and one that it does not.
pub(crate) const NOBODY: u32 = 65534;
pub(crate) const DAEMON: u32 = 1;
pub(crate) const BIN: u32 = 2;
pub(crate) const ALLOWED: [(&str, &str); 2] =
    [("nobody", "org.keyway.mount"), ("daemon", "org.keyway.mount")];

/// Says that this process is the client.
const CLIENT: &str = "KEYWAY_TEST_CLIENT";
const ANSWER: &str = "answer: ";

/// The bus with the helper that was built.
pub(crate) fn bus() -> Option<SystemBus> {
    SystemBus::start(Path::new(env!("CARGO_BIN_EXE_keyway-mountd")), &ALLOWED)
}

/// A client, seen by the test.
pub(crate) struct Client {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    pub(crate) fn start(bus: &SystemBus, user: u32) -> Self {
        let own = std::env::current_exe().expect("it runs");
        let mut process = bus
            .as_user(user, own)
            .args(["--exact", "client", "--nocapture", "--test-threads=1"])
            .env(CLIENT, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let (to, from) = (process.stdin.take().expect("piped"), process.stdout.take().expect("piped"));
        Self { process, to, from: BufReader::new(from) }
    }

    /// Has it do something; its answer.
    pub(crate) fn asks(&mut self, words: &str) -> String {
        self.says(words);
        self.answer()
    }

    pub(crate) fn says(&mut self, words: &str) {
        writeln!(self.to, "{words}").expect("it hears");
    }

    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.from.read_line(&mut line).expect("it speaks") > 0, "the client ended");
            // The test harness speaks on the same stream.
            if let Some((_, answer)) = line.split_once(ANSWER) {
                return answer.trim_end().to_owned();
            }
        }
    }

    /// Mounts a file; the folder.
    pub(crate) fn mounts(&mut self, file: &Path) -> String {
        let answer = self.asks(&format!("mount rw 512 {}", file.display()));
        let folder = answer.strip_prefix("ok ").and_then(|rest| rest.split(" on ").next());
        folder.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("it is there");
        self.process.wait().expect("it was there");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the client does; nothing where this is a test like any other.
pub(crate) fn client() {
    if std::env::var_os(CLIENT).is_none() {
        return;
    }
    zbus::block_on(async {
        let bus = zbus::Connection::system().await.expect("a bus");
        for line in std::io::stdin().lines() {
            let line = line.expect("text");
            let mut words = line.splitn(2, ' ');
            let (what, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let answer = match what {
                "unmount" => call(&bus, "Unmount", &(rest,)).await.map(|_| "ok".to_owned()),
                "flood" => flood(&bus, rest).await,
                _ => mount(&bus, what, rest).await,
            };
            println!("{ANSWER}{}", answer.unwrap_or_else(|why| format!("error {why}")));
        }
    });
}

async fn call<B: serde::Serialize + zbus::wire::DynamicType>(
    bus: &zbus::Connection,
    member: &str,
    body: &B,
) -> Result<zbus::Message, String> {
    bus.call_method(Some(NAME), PATH, Some(NAME), member, body).await.map_err(|e| match e {
        zbus::Error::MethodError(name, text, _) => {
            let name = name.as_str();
            format!(
                "{}: {}",
                name.strip_prefix("org.keyway.Mount1.Error.").unwrap_or(name),
                text.unwrap_or_default()
            )
        }
        other => other.to_string(),
    })
}

async fn mount(bus: &zbus::Connection, what: &str, rest: &str) -> Result<String, String> {
    let (mode, rest) =
        if what == "mount" { rest.split_once(' ').unwrap_or((rest, "")) } else { (what, rest) };
    let (sector_bytes, path) = rest.split_once(' ').unwrap_or((rest, ""));
    let descriptor = descriptor(mode, path)?;
    let body =
        (zbus::Fd::from(descriptor.as_fd()), sector_bytes.parse::<u32>().unwrap_or(512), mode == "asked-ro");
    let answer = call(bus, "Mount", &body).await?;
    let body = answer.body();
    let (folder, device, kind, read_only, unclean): (&str, &str, &str, bool, bool) =
        body.deserialize().map_err(|e| e.to_string())?;
    let (mode, order) = (if read_only { "ro" } else { "rw" }, if unclean { "unclean" } else { "clean" });
    Ok(format!("ok {folder} on {device} {kind} {mode} {order}"))
}

fn descriptor(mode: &str, path: &str) -> Result<OwnedFd, String> {
    use rustix::fs::{MemfdFlags, OFlags, SealFlags, fcntl_add_seals, memfd_create};
    let opened = |options: &File| options.try_clone().map(OwnedFd::from).map_err(|e| e.to_string());
    let open = |read: bool, write: bool, flags: OFlags| {
        let mut options = File::options();
        options.read(read).write(write).custom_flags(flags.bits().cast_signed());
        options.open(path).map_err(|e| e.to_string()).and_then(|file| opened(&file))
    };
    match mode {
        "ro" => open(true, false, OFlags::empty()),
        "wo" => open(false, true, OFlags::empty()),
        "path" => open(true, false, OFlags::PATH),
        "pipe" => rustix::pipe::pipe().map(|(reads, _)| reads).map_err(|e| e.to_string()),
        "socket" => {
            std::os::unix::net::UnixStream::pair().map(|(ours, _)| ours.into()).map_err(|e| e.to_string())
        }
        "memory" => {
            let memory = memfd_create("memory", MemfdFlags::ALLOW_SEALING).map_err(|e| e.to_string())?;
            fcntl_add_seals(&memory, SealFlags::GROW | SealFlags::SHRINK).map_err(|e| e.to_string())?;
            Ok(memory)
        }
        _ => open(true, true, OFlags::empty()),
    }
}

/// As many requests as it says, a hundred at once: the bus lets nobody wait for more. How many of each answer came.
async fn flood(bus: &zbus::Connection, rest: &str) -> Result<String, String> {
    let (count, path) = rest.split_once(' ').ok_or("a number and a path")?;
    let mut left: usize = count.parse().map_err(|_| "a number")?;
    let mut answers = BTreeMap::<String, usize>::new();
    while left > 0 {
        let batch = left.min(100);
        left -= batch;
        let mut asked: Vec<_> = (0..batch).map(|_| Some(Box::pin(mount_soon(bus, path)))).collect();
        poll_fn(|context| {
            for one in &mut asked {
                if let Some(Poll::Ready(answer)) = one.as_mut().map(|asked| asked.as_mut().poll(context)) {
                    let word = answer.split([' ', ':']).next().unwrap_or_default().to_owned();
                    *answers.entry(word).or_default() += 1;
                    *one = None;
                }
            }
            if asked.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
    Ok(format!("{answers:?}"))
}

async fn mount_soon(bus: &zbus::Connection, path: &str) -> String {
    mount(bus, "mount", &format!("rw 512 {path}")).await.unwrap_or_else(|why| why)
}

/// A new file of that user's with a file system that the tool makes; `None` after a visible skip.
pub(crate) fn image(
    bus: &SystemBus,
    user: u32,
    name: &str,
    mebibytes: u64,
    words: &[&str],
) -> Option<std::path::PathBuf> {
    let (tool, words) = words.split_first().expect("a tool");
    let tool = keyway_testkit::require_tool(tool)?;
    let path = bus.folder_of(user).join(name);
    File::create(&path).expect("made").set_len(mebibytes << 20).expect("sized");
    let done = Command::new(tool).args(words).arg(&path).output().expect("it starts");
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    std::os::unix::fs::chown(&path, Some(user), Some(user)).expect("we are root");
    Some(path)
}
