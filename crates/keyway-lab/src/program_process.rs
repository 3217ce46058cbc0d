//! The processes of another program: its commands, what they said, how they ended, and what was mounted for them.

use crate::error::LabError;
use crate::other_program::OtherProgram;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Its own command may have to write out what is cached.
pub(crate) const DETACHING: Duration = Duration::from_secs(60);
/// How often is looked.
pub(crate) const LOOK: Duration = Duration::from_millis(10);
/// Of what a program says, so much is told.
const TOLD_LINES: usize = 3;

/// What is mounted in a program's folder, in the order in which it was.
pub(crate) fn mounted_in(own: &Path) -> Vec<PathBuf> {
    let all = keyway_sys::mounts().unwrap_or_default();
    all.into_iter().map(|mount| mount.at).filter(|at| at.starts_with(own)).collect()
}

/// Runs a program's own command to the end.
pub(crate) fn detach(program: &OtherProgram, drive: &Path, own: &Path, at: &Path) -> Result<(), String> {
    let name = &program.name;
    let Some(words) = &program.detach else { return Ok(()) };
    let mut command = shell(program, words, drive, own, "detach").map_err(|e| e.to_string())?;
    command.env("DEVICE", at);
    let mut running = command.spawn().map_err(|e| format!("{name} was not detached: {e}."))?;
    let until = Instant::now() + DETACHING;
    let status = loop {
        match ended(&running) {
            Some(status) => break Some(status),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(LOOK),
        }
    };
    signal(pid(&running), Signal::KILL);
    let _ = running.wait();
    let said = said(&own.join("detach.err"));
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("{name} was not detached: its command ended with {status}{said}.")),
        None => Err(format!("{name} was not detached: its command took more than a minute{said}.")),
    }
}

/// Where the program may mount something.
pub(crate) fn folder_in(own: &Path) -> PathBuf {
    own.join("folder")
}

/// The shell with a command, and what it is told.
pub(crate) fn shell(
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

/// The last lines that a program said, behind a colon; nothing where it said nothing.
pub(crate) fn said(path: &Path) -> String {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(TOLD_LINES)..).unwrap_or_default();
    if last.is_empty() { String::new() } else { format!(": {}", last.join("; ")) }
}

pub(crate) fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// How it ended, if it did; it is not reaped.
pub(crate) fn ended(child: &Child) -> Option<ExitStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(pid(child)?), options).ok()??;
    // wait(2): a code stands in the second byte, a signal in the first.
    let code = status.exit_status().map(|code| code << 8);
    Some(ExitStatus::from_raw(code.or(status.terminating_signal()).unwrap_or_default()))
}

/// To the whole group of a child that isn't reaped.
pub(crate) fn signal(leader: Option<Pid>, signal: Signal) {
    if let Some(group) = leader {
        // Nobody is left in it: that is what is wanted.
        let _ = kill_process_group(group, signal);
    }
}
