//! Mounting the file system in a file for who is not root: by a program that is that file system, for as long as it runs.

use crate::mount::{OPTIONS, UTF8, refused};
use crate::retry::retry;
use crate::session::find_program;
use crate::{AttachError, User};
use keyway_error::Advice;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// A program that shows a file system.
struct Program {
    filesystem: &'static str,
    /// Its name, and its package's.
    name: &'static str,
    /// It stays in front, where its end is seen.
    arguments: &'static [&'static str],
    options: &'static str,
    /// It mounts by itself, in a namespace where this user may: `fusermount3` does not do it for one that is set-user-id
    /// root, and that one gets into no FUSE file system of a user's, which the volume's file lies in.
    namespace: bool,
}

const PROGRAMS: [Program; 2] = [
    Program {
        filesystem: "ntfs",
        name: "ntfs-3g",
        arguments: &[],
        // For this user alone: others, among them root, are not let in by the kernel.
        options: "no_detach,no_def_opts",
        namespace: true,
    },
    Program {
        filesystem: "ext4",
        name: "fuse2fs",
        arguments: &["-f"],
        // Whoever has the volume may write everywhere in it: its files say whose they are, not who may have them.
        options: "fakeroot",
        namespace: false,
    },
];

/// Has the program that is started so end with this one, by a signal after which it unmounts.
const ENDS_WITH_US: [&str; 4] = ["setpriv", "--pdeathsig", "TERM", "--"];
const NAMESPACE: [&str; 6] = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "--"];

/// How long a program may take to replay a journal, or to write the last of it.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(5);
/// Of what a program says, this much is kept.
const MOST_WORDS: u64 = 4096;

/// The package whose program mounts such a file system for who is not root.
pub fn package(filesystem: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|program| program.filesystem == filesystem).map(|program| program.name)
}

/// Whether a program is here that mounts such a file system for who is not root.
pub fn can_mount(filesystem: &str) -> bool {
    package(filesystem).is_some_and(|name| find_program(name).is_some())
}

/// A file system that a program shows; it ends when this is dropped.
pub(crate) struct UserMount {
    at: PathBuf,
    program: Child,
    said: Option<JoinHandle<String>>,
}

impl UserMount {
    /// Has a program show what is in the file on an empty folder, and waits until it does.
    pub(crate) fn start(
        file: &Path,
        at: &Path,
        filesystem: &str,
        read_only: bool,
    ) -> Result<Self, AttachError> {
        let fail = |source| AttachError::Mount { found: filesystem.to_owned(), at: at.to_owned(), source };
        let none = || AttachError::NoFileSystem { filesystem: filesystem.to_owned(), at: at.to_owned() };
        let by = PROGRAMS.iter().find(|program| program.filesystem == filesystem).ok_or_else(none)?;
        let path = find_program(by.name).ok_or_else(none)?;
        let mode = if read_only { "ro" } else { "rw" };
        let namespace: &[&str] = if by.namespace { &NAMESPACE } else { &[] };
        let words = ENDS_WITH_US.iter().chain(namespace).map(OsStr::new).chain([path.as_os_str()]);
        let words: Vec<_> = words.chain(by.arguments.iter().map(OsStr::new)).collect();
        let Some((first, rest)) = words.split_first() else { return Err(none()) };
        let before = at.metadata().map_err(fail)?.dev();
        // Ctrl-C is for us.
        let mut program = Command::new(first)
            .args(rest)
            .args(["-o", &[by.options, mode, "noexec", OPTIONS].join(",")])
            .args([file, at])
            .env("LC_ALL", UTF8)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(fail)?;
        let said = program.stderr.take().map(|said| std::thread::spawn(move || words_of(said)));
        let mut mount = Self { at: at.to_owned(), program, said };
        let place = mount.place();
        let shows = || match mount.program.try_wait() {
            Ok(None) if place.metadata().is_ok_and(|now| now.dev() != before) => Ok(true),
            Ok(None) => Err(()),
            Ok(Some(_)) | Err(_) => Ok(false),
        };
        match retry(PATIENCE, LOOK, |()| true, shows) {
            Ok(true) => Ok(mount),
            _ => {
                let _ = mount.stop();
                let source = io::Error::other(mount.words());
                let what = format!("mount it at {}", at.display());
                match by.namespace && source.to_string().starts_with("unshare:") {
                    // Some systems let users have no namespace.
                    true => Err(AttachError::NotPermitted { what, advice: Advice::BecomeRoot, source }),
                    false => Err(refused(file, filesystem, at, source)),
                }
            }
        }
    }

    /// Where this process reaches it: seen from the program, which may have mounted it in a namespace of its own.
    pub(crate) fn place(&self) -> PathBuf {
        let root = Path::new("/proc").join(self.program.id().to_string()).join("root");
        root.join(self.at.strip_prefix("/").unwrap_or(&self.at))
    }

    /// Unmounts it: asks the program to end, and waits until everything is written.
    pub(crate) fn end(mut self) -> Result<(), AttachError> {
        if self.stop()? {
            return Ok(());
        }
        let why = io::Error::other(self.words());
        Err(AttachError::io(format!("unmount {}", self.at.display()), why))
    }

    /// Whether it ended well.
    fn stop(&mut self) -> Result<bool, AttachError> {
        let fail = |e| AttachError::io(format!("unmount {}", self.at.display()), e);
        let _ = kill_process(Pid::from_child(&self.program), Signal::TERM);
        let mut ended = None;
        let look = || match self.program.try_wait() {
            Ok(None) => Err(None),
            Ok(Some(how)) => Ok(how),
            Err(e) => Err(Some(e)),
        };
        match retry(PATIENCE, LOOK, Option::is_none, look) {
            Ok(how) => ended = Some(how.success()),
            Err(Some(e)) => return Err(fail(e)),
            Err(None) => {}
        }
        let users = || vec![User::named(self.program.id())];
        ended.ok_or_else(|| AttachError::busy(&self.at, users()))
    }

    /// Why it ended, in its own words.
    fn words(&mut self) -> String {
        let said = self.said.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let lines = said.lines().map(str::trim);
        let why = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with("Version "));
        why.unwrap_or("its program ended without a word").to_owned()
    }
}

impl Drop for UserMount {
    fn drop(&mut self) {
        if matches!(self.program.try_wait(), Ok(None)) {
            // Nobody is left to be told.
            let _ = self.stop();
        }
    }
}

/// What is said, from its beginning; the rest is heard as well, so that nobody waits for room.
fn words_of(mut said: impl Read) -> String {
    let mut words = Vec::new();
    let _ = said.by_ref().take(MOST_WORDS).read_to_end(&mut words);
    let _ = io::copy(&mut said, &mut io::sink());
    String::from_utf8_lossy(&words).into_owned()
}
