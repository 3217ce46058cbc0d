//! Another program while it is measured: started, waited for until it says where it is, and taken down.
//!
//! Its command runs in a process group of its own, so that all that it starts can be ended with it, and so that Ctrl-C,
//! which is for us, does not take it from under a measurement. The group's leader is not reaped before the end: until
//! then nobody else gets its number.

use crate::error::LabError;
use crate::other_program::OtherProgram;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A program that says nothing for so long is given up: some derive keys for minutes on a slow machine.
const ATTACHING: Duration = Duration::from_secs(300);
/// What doesn't end by itself in so long is made to.
const ENDING: Duration = Duration::from_secs(5);
/// Its own command may have to write out what is cached.
const DETACHING: Duration = Duration::from_secs(60);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(10);
/// Of what a program says, so much is told.
const TOLD_LINES: usize = 3;

/// Another program that is attached.
pub(crate) struct AttachedProgram {
    program: OtherProgram,
    drive: PathBuf,
    /// Ours: its output lies here, and the folder that it may mount on.
    own: PathBuf,
    at: PathBuf,
    leader: Child,
    is_down: bool,
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
        let mut started = Self { program, drive, own, at: PathBuf::new(), leader, is_down: false };
        started.at = started.named(stop)?;
        Ok(started)
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
            match (ended, last) {
                (Some(status), _) if !status.success() => {
                    return Err(self.failed(format!("ended with {status}")));
                }
                (Some(_), None) => return Err(self.failed("named no file or device".into())),
                (Some(_), Some(line)) if !Path::new(line.trim()).exists() => {
                    return Err(self.failed(format!("named {:?}, which is not there", line.trim())));
                }
                (Some(_), Some(line)) => return Ok(line.trim().into()),
                // A program that goes on running may print more than this; a whole line with a whole path is the place.
                (None, Some(line)) if line.ends_with('\n') && is_place(line.trim()) => {
                    return Ok(line.trim().into());
                }
                _ if stop.load(Ordering::Relaxed) => return Err(LabError::Stopped),
                _ if Instant::now() > until => {
                    return Err(self.failed(format!("named no file or device in {} s", ATTACHING.as_secs())));
                }
                _ => std::thread::sleep(LOOK),
            }
        }
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
            complaints.extend(self.detach().err());
        }
        self.mounted().iter().rev().for_each(|at| unmount(at));
        self.end();
        match self.mounted().first() {
            // Nothing is removed through a mount.
            Some(at) => {
                complaints.push(format!("{} is still mounted at {}.", self.program.name, at.display()))
            }
            None => drop(std::fs::remove_dir_all(&self.own)),
        }
        complaints
    }

    /// What is mounted in its folder, in the order in which it was.
    fn mounted(&self) -> Vec<PathBuf> {
        let all = keyway_sys::mounts().unwrap_or_default();
        all.into_iter().map(|mount| mount.at).filter(|at| at.starts_with(&self.own)).collect()
    }

    /// Runs its own command to the end.
    fn detach(&self) -> Result<(), String> {
        let name = &self.program.name;
        let Some(words) = &self.program.detach else { return Ok(()) };
        let mut command =
            shell(&self.program, words, &self.drive, &self.own, "detach").map_err(|e| e.to_string())?;
        command.env("DEVICE", &self.at);
        let mut running = command.spawn().map_err(|e| format!("{name} was not detached: {e}."))?;
        let until = Instant::now() + DETACHING;
        let status = loop {
            match ended(&running) {
                Some(status) => break Some(status),
                None if Instant::now() > until => break None,
                None => std::thread::sleep(LOOK),
            }
        };
        signal(&running, Signal::KILL);
        let _ = running.wait();
        let said = said(&self.own.join("detach.err"));
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("{name} was not detached: its command ended with {status}{said}.")),
            None => Err(format!("{name} was not detached: its command took more than a minute{said}.")),
        }
    }

    /// Ends what still runs of its group.
    fn end(&mut self) {
        signal(&self.leader, Signal::TERM);
        let until = Instant::now() + ENDING;
        while Instant::now() < until && is_running(&self.leader) {
            std::thread::sleep(LOOK);
        }
        signal(&self.leader, Signal::KILL);
        let _ = self.leader.wait();
    }
}

impl Drop for AttachedProgram {
    fn drop(&mut self) {
        // Who wants to know what did not work has asked before.
        let _ = self.take_down();
    }
}

/// Where the program may mount something.
fn folder_in(own: &Path) -> PathBuf {
    own.join("folder")
}

fn failed(program: &OtherProgram, what: String) -> LabError {
    LabError::OtherProgram { name: program.name.clone(), what }
}

/// The shell with a command, and what it is told.
fn shell(
    program: &OtherProgram,
    words: &str,
    drive: &Path,
    own: &Path,
    name: &str,
) -> Result<Command, LabError> {
    let file = |kind: &str| -> Result<File, LabError> {
        let path = own.join(format!("{name}.{kind}"));
        File::create(&path).map_err(|e| LabError::system("make", &path, e))
    };
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(words).arg(&program.name);
    command.env("DRIVE", drive).env("FOLDER", folder_in(own));
    command.stdin(Stdio::null()).stdout(file("out")?).stderr(file("err")?);
    command.process_group(0);
    Ok(command)
}

fn is_place(line: &str) -> bool {
    line.starts_with('/') && Path::new(line).exists()
}

/// The last lines that a program said, behind a colon; nothing where it said nothing.
fn said(path: &Path) -> String {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(TOLD_LINES)..).unwrap_or_default();
    if last.is_empty() { String::new() } else { format!(": {}", last.join("; ")) }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// How it ended, if it did; it is not reaped.
fn ended(child: &Child) -> Option<ExitStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(pid(child)?), options).ok()??;
    // wait(2): a code stands in the second byte, a signal in the first.
    let code = status.exit_status().map(|code| code << 8);
    Some(ExitStatus::from_raw(code.or(status.terminating_signal()).unwrap_or_default()))
}

/// To the whole group of a child that isn't reaped.
fn signal(child: &Child, signal: Signal) {
    if let Some(group) = pid(child) {
        // Nobody is left in it: that is what is wanted.
        let _ = kill_process_group(group, signal);
    }
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
