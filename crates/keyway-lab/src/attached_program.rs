//! Another program while it is measured: started, waited for until it says where it is, and taken down.
//!
//! Its command runs in a process group of its own, so that all that it starts can be ended with it, and so that Ctrl-C,
//! which is for us, does not take it from under a measurement. The group's leader is not reaped before the end: until
//! then nobody else gets its number.

use crate::error::LabError;
use crate::other_program::OtherProgram;
use crate::program_guard::{PATIENCE, ProgramGuard};
use crate::program_process::{
    DETACHING, LOOK, detach, ended, folder_in, mounted_in, pid, said, shell, signal,
};
use rustix::process::Signal;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A program that says nothing for so long is given up: some derive keys for minutes on a slow machine.
const ATTACHING: Duration = Duration::from_secs(300);
/// What doesn't end by itself in so long is made to.
const ENDING: Duration = Duration::from_secs(5);

/// Another program that is attached.
pub(crate) struct AttachedProgram {
    program: OtherProgram,
    drive: PathBuf,
    /// Ours: its output lies here, and the folder that it may mount on.
    own: PathBuf,
    at: PathBuf,
    leader: Child,
    is_down: bool,
    is_reaped: Arc<AtomicBool>,
}

impl AttachedProgram {
    /// Starts its command and waits until it has said where it is. `own` is an empty folder of ours.
    pub(crate) fn start(
        program: &OtherProgram,
        drive: &Path,
        own: &Path,
        stop: &AtomicBool,
    ) -> Result<Self, LabError> {
        let folder = folder_in(own);
        std::fs::create_dir(&folder).map_err(|e| LabError::system("make", &folder, e))?;
        let mut command = shell(program, &program.attach, drive, own, "attach")?;
        let leader = command.spawn().map_err(|e| failed(program, format!("can't be started: {e}")))?;
        let (program, drive, own) = (program.clone(), drive.to_owned(), own.to_owned());
        let (at, is_down, is_reaped) = (PathBuf::new(), false, Arc::default());
        let mut started = Self { program, drive, own, at, leader, is_down, is_reaped };
        started.at = started.named(stop)?;
        Ok(started)
    }

    /// Ends it where it does not answer.
    pub(crate) fn guard(&self) -> ProgramGuard {
        ProgramGuard {
            program: self.program.clone(),
            drive: self.drive.clone(),
            own: self.own.clone(),
            at: self.at.clone(),
            leader: pid(&self.leader),
            is_reaped: Arc::clone(&self.is_reaped),
        }
    }

    /// Where it is.
    pub(crate) fn at(&self) -> &Path {
        &self.at
    }

    /// Waits until the command names a place: the last line that it prints, once that is there.
    fn named(&self, stop: &AtomicBool) -> Result<PathBuf, LabError> {
        let until = Instant::now() + ATTACHING;
        loop {
            // In this order: what it printed before it ended is there.
            let ended = ended(&self.leader);
            let said = std::fs::read_to_string(self.own.join("attach.out")).unwrap_or_default();
            let last = said.split_inclusive('\n').rfind(|line| !line.trim().is_empty());
            // A program that goes on running may print more than this; a whole line with a whole path is the place.
            let may_be = |line: &str| ended.is_some() || line.ends_with('\n') && line.trim().starts_with('/');
            let is_there = match last {
                Some(line) if may_be(line) => self.is_there(Path::new(line.trim()), stop)?,
                _ => false,
            };
            match (ended, last) {
                (Some(status), _) if !status.success() => {
                    return Err(self.failed(format!("ended with {status}")));
                }
                (Some(_), None) => return Err(self.failed("named no file or device".into())),
                (Some(_), Some(line)) if !is_there => {
                    return Err(self.failed(format!("named {:?}, which is not there", line.trim())));
                }
                (_, Some(line)) if is_there => return Ok(line.trim().into()),
                _ if stop.load(Ordering::Relaxed) => return Err(LabError::Stopped),
                _ if Instant::now() > until => {
                    return Err(self.failed(format!("named no file or device in {} s", ATTACHING.as_secs())));
                }
                _ => std::thread::sleep(LOOK),
            }
        }
    }

    /// Whether a place is there, which in a folder of a program that hangs nobody is told.
    fn is_there(&self, place: &Path, stop: &AtomicBool) -> Result<bool, LabError> {
        self.guard().within(PATIENCE, stop, || Ok(place.exists()))
    }

    /// What went wrong with it, and what it said of it.
    fn failed(&self, what: String) -> LabError {
        failed(&self.program, what + &said(&self.own.join("attach.err")))
    }

    /// Takes it down: by its own command, by unmounting its folder, by ending what still runs. Says what did not work.
    pub(crate) fn take_down(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.is_down, true) {
            return Vec::new();
        }
        let mut complaints = Vec::new();
        if self.program.detach.is_some() {
            complaints.extend(detach(&self.program, &self.drive, &self.own, &self.at).err());
        }
        let unmount_all = || {
            mounted_in(&self.own).iter().rev().for_each(|at| unmount(at));
            Ok(())
        };
        // What is cached is written out, which one that hangs does not take.
        let _ = self.guard().within(DETACHING, &AtomicBool::new(false), unmount_all);
        self.end();
        match mounted_in(&self.own).first() {
            // Nothing is removed through a mount.
            Some(at) => {
                complaints.push(format!("{} is still mounted at {}.", self.program.name, at.display()))
            }
            None => drop(std::fs::remove_dir_all(&self.own)),
        }
        complaints
    }

    /// Ends what still runs of its group.
    fn end(&mut self) {
        signal(pid(&self.leader), Signal::TERM);
        let until = Instant::now() + ENDING;
        while Instant::now() < until && is_running(&self.leader) {
            std::thread::sleep(LOOK);
        }
        signal(pid(&self.leader), Signal::KILL);
        self.is_reaped.store(true, Ordering::Release);
        let _ = self.leader.wait();
    }
}

impl Drop for AttachedProgram {
    fn drop(&mut self) {
        // Who wants to know what did not work has asked before.
        let _ = self.take_down();
    }
}

fn failed(program: &OtherProgram, what: String) -> LabError {
    LabError::OtherProgram { name: program.name.clone(), what }
}

/// Whether somebody of the group is alive (proc(5): behind the name in brackets come state, parent and group).
fn is_running(leader: &Child) -> bool {
    let group = leader.id().to_string();
    let is_alive = |stat: io::Result<String>| {
        let Ok(stat) = stat else { return false };
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let (state, own) = (fields.next(), fields.nth(1));
        own == Some(&*group) && !matches!(state, Some("Z" | "X"))
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(|entry| entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()))
        .any(|entry| is_alive(std::fs::read_to_string(entry.path().join("stat"))))
}

/// Takes away what is mounted on the program's folder: it has been measured, and nothing of it is needed.
fn unmount(folder: &Path) {
    let flags = rustix::mount::UnmountFlags::NOFOLLOW;
    if rustix::mount::unmount(folder, flags).is_ok() {
        return;
    }
    // Without root, FUSE's own helper; with it, what is in use goes when it isn't any more.
    let mut helper = Command::new("fusermount3");
    let helper = helper.args(["-u", "-z", "--"]).arg(folder).stdin(Stdio::null());
    let done = helper.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !done.is_ok_and(|status| status.success()) {
        let _ = rustix::mount::unmount(folder, flags | rustix::mount::UnmountFlags::DETACH);
    }
}
