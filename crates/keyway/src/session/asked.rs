//! The serving process's side of the pipe: hears what it shall serve, says that it does, and falls silent.

use super::error::SessionError;
use super::plan::{SessionPlan, SessionSecrets};
use super::refusal::SessionRefusal;
use super::start::Answer;
use super::{pipe, serve};
use crate::error::Error;
use crate::progress::Progress;
use keyway_attach::AttachError;
use keyway_sys::sandbox::give_up_paths;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

/// Serves what whoever started this process asks for, until it is closed. Standard input holds the plan and its
/// secrets; standard output takes one line: the [`Session`](super::Session), or the [`SessionRefusal`]. From then on all three
/// streams lead nowhere.
///
/// A process calls this before it has other threads. `abandoned` is called, on a thread of its own, if whoever asked
/// goes away while the keys are still being derived: it ends the process. Whoever goes away later, without a word that the line
/// has come, has told nobody that the volume is open: it is closed again.
///
/// # Errors
/// What [`SessionPlan::serve`] says; it has been told already where anybody still listened.
pub fn serve_as_asked(
    progress: impl Progress,
    abandoned: impl FnOnce() + Send + 'static,
) -> Result<(), Error> {
    if !is_systemds_own() {
        // Only a process group's leader can't; then it has its own session already.
        let _ = rustix::process::setsid();
    }
    let to = duplicate(io::stdout())?;
    // What serves opens nothing any more.
    let null = OpenOptions::new().read(true).write(true).open("/dev/null").ok();
    let (unlocked, mut answered) = (Arc::new(AtomicBool::new(false)), false);
    let served = hear(&unlocked, abandoned).and_then(|((plan, secrets), heard)| {
        serve::serve(&plan, secrets, progress, &unlocked, |session| {
            answered = true;
            answer(&to, &Answer::Ready(Box::new(session.clone())), null.as_ref());
            heard.recv() == Ok(true)
        })
    });
    if let (Err(e), false) = (&served, answered) {
        answer(&to, &Answer::Error(SessionRefusal::from(e)), null.as_ref());
    }
    served
}

/// Whether systemd has started this in its own process group, as it does with what mounts: the kernel lets nobody else to a folder
/// that is to be mounted because somebody looked into it (`x-systemd.automount`), but keeps them waiting for that. Where there is a
/// terminal, its signals are not for this process.
fn is_systemds_own() -> bool {
    let has_terminal = File::open("/dev/tty").is_ok();
    // proc(5): behind the name in brackets come state, parent and group, which is 0 where a container does not show it.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let group = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(2));
    group == Some("1") && !has_terminal
}

/// What shall be served, and whether whoever asked hears the answer; from now on the process ends with that one, until it is
/// `unlocked`.
fn hear(
    unlocked: &Arc<AtomicBool>,
    abandoned: impl FnOnce() + Send + 'static,
) -> Result<((SessionPlan, SessionSecrets), Receiver<bool>), Error> {
    let mut input = duplicate(io::stdin())?;
    let asked = pipe::receive(&mut input).map_err(SessionError::NoRequest)?;
    let unlocked = Arc::clone(unlocked);
    let confined = asked.0.sandbox()?.is_some();
    let (begins, begun) = sync_channel(1);
    let (tells, heard) = sync_channel(1);
    std::thread::spawn(move || {
        // It outlives the moment at which this process can still give anything up.
        let _ = begins.send(if confined { give_up_paths() } else { Ok(()) });
        let hears = input.read_exact(&mut [0]).is_ok();
        if !hears && !unlocked.load(Ordering::Acquire) {
            abandoned();
        }
        let _ = tells.send(hears);
    });
    if let Ok(Err(e)) = begun.recv() {
        return Err(AttachError::io("enter the sandbox", e).into());
    }
    Ok((asked, heard))
}

/// One line to whoever asked, who may have gone. Then lets go of the pipes and the terminal.
fn answer(mut to: &File, answer: &Answer, null: Option<&File>) {
    if let Ok(mut line) = serde_json::to_vec(answer) {
        line.push(b'\n');
        let _ = to.write_all(&line);
    }
    if let Some(null) = null {
        let _ = rustix::stdio::dup2_stdin(null);
        let _ = rustix::stdio::dup2_stdout(null);
        let _ = rustix::stdio::dup2_stderr(null);
    }
}

/// Without the standard library's buffer, which would keep a copy of the secrets.
fn duplicate(stream: impl AsFd) -> Result<File, Error> {
    let file = stream.as_fd().try_clone_to_owned().map(File::from);
    Ok(file.map_err(SessionError::CallerGone)?)
}
