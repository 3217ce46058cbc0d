//! How far a conversion is: shown, told to whoever asks, and stopped when they wish.
//!
//! A process that converts keeps a small file in the runtime folder, locked, with its number and how
//! far it is: `status` reads it, `pause` asks that process to stop.

use super::error::ConversionError;
use crate::error::Error;
use keyway_attach::session::{self, Fate, Medium, OwnFile, Removal};
use keyway_convert::{ConvertError, Progress};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata, OpenOptions};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How much a conversion may be ahead of its limit's even pace.
const MOST_AHEAD: Duration = Duration::from_secs(1);

/// How often one that waits for that looks whether it shall stop.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How often the state file is written.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// What the names of state files begin with.
const STATE: &str = "converting-";

/// What a converting process says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Running {
    /// Its number.
    pub pid: i32,
    /// When that process started: with the pid it names one process.
    #[serde(default)]
    pid_started: u64,
    /// What it converts.
    #[serde(with = "keyway_attach::path_text")]
    pub volume: PathBuf,
    /// The file that its journal is in.
    #[serde(default, with = "keyway_attach::path_text")]
    pub journal: Option<PathBuf>,
    /// The file system's number and the file's own, whatever is at the path later.
    #[serde(default)]
    node: Option<(u64, u64)>,
    /// Bytes of work that are done.
    pub done_bytes: u64,
    /// Bytes of work in all.
    pub total_bytes: u64,
    /// How fast it is.
    pub bytes_per_second: u64,
    /// How long it needs for the rest.
    pub seconds_left: u64,
}

impl Running {
    fn is_alive(&self) -> bool {
        u32::try_from(self.pid).is_ok_and(|pid| session::started(pid) == Some(self.pid_started))
    }
}

/// A conversion that is carried out, and all who want to know about it.
pub(crate) struct Watch<'a> {
    /// Who is told, and may stop it; `None` while the volume is in use: then the session answers to signals.
    observer: Option<&'a dyn Progress>,
    state: Mutex<State>,
    path: &'a Path,
    node: Option<(u64, u64)>,
    /// What is converted, whatever becomes of its name, and the path that it had.
    medium: Option<(Medium, PathBuf)>,
    journal: Option<&'a Path>,
    /// Bytes a second.
    limit: Option<u64>,
    stopped: AtomicBool,
    /// When this process started: later it may have no paths to ask by.
    started: u64,
    /// Who removes the state file then.
    removal: OnceLock<Removal>,
}

struct State {
    file: Option<(File, PathBuf)>,
    began: Instant,
    /// Bytes that were done before.
    from: Option<u64>,
    reached: u64,
    total: u64,
    told: Option<Instant>,
    /// Bytes that were done when it was last held up to its limit, and from when on it may go on.
    paced: u64,
    free: Instant,
}

impl<'a> Watch<'a> {
    /// Begins to tell of the conversion of that file or device, which this process has claimed, with its journal where
    /// that is in a file.
    pub(crate) fn new(
        (path, journal): (&'a Path, Option<&'a Path>),
        observer: Option<&'a dyn Progress>,
        limit: Option<u64>,
    ) -> Result<Self, Error> {
        let state_path = state_path(path)?;
        let file = loop {
            let file =
                OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&state_path);
            let file = file.map_err(|e| Error::system("make", &state_path, e))?;
            // Only somebody who looks at it at this instant can have it, and lets go of it at once.
            flock(&file, FlockOperation::LockExclusive)
                .map_err(|e| Error::system("lock", &state_path, e.into()))?;
            // Who took it for a killed one's has removed it meanwhile.
            if is_at(&file, &state_path) {
                break file;
            }
        };
        let state = State {
            file: Some((file, state_path)),
            began: Instant::now(),
            from: None,
            reached: 0,
            total: 0,
            told: None,
            paced: 0,
            free: Instant::now(),
        };
        let (state, node, stopped) = (Mutex::new(state), node_of(path), AtomicBool::new(false));
        let started = session::started(std::process::id()).unwrap_or_default();
        let (medium, removal) = (Medium::watch(path).zip(path.canonicalize().ok()), OnceLock::new());
        Ok(Self { observer, state, path, node, medium, journal, limit, stopped, started, removal })
    }

    /// Its file, as what it is removed by another process.
    pub(crate) fn own_file(&self) -> Result<Option<OwnFile>, Error> {
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some((file, path)) = &state.file else { return Ok(None) };
        OwnFile::of(path, file.as_fd()).map(Some).map_err(|e| Error::system("look at", path, e))
    }

    /// That one removes it when the conversion is through.
    pub(crate) fn be_removed_by(&self, removal: Removal) {
        let _ = self.removal.set(removal);
    }

    /// Has the conversion pause.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Bytes that were done when this run began, and when it told of it last.
    pub(crate) fn reached(&self) -> (u64, u64) {
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (state.from.unwrap_or_default(), state.reached)
    }

    /// What has become of the file that is converted. It takes no path to ask.
    pub(crate) fn fate(&self) -> Fate {
        self.medium.as_ref().map_or(Fate::Kept, |(medium, path)| medium.fate(path))
    }

    fn tell(&self, state: &mut State, done: u64, total: u64) {
        let speed = speed(done.saturating_sub(state.from.unwrap_or(done)), state.began.elapsed());
        let running = Running {
            pid: rustix::process::getpid().as_raw_nonzero().get(),
            pid_started: self.started,
            volume: self.path.to_owned(),
            journal: self.journal.map(Path::to_owned),
            node: self.node,
            done_bytes: done,
            total_bytes: total,
            bytes_per_second: speed,
            seconds_left: if speed == 0 { 0 } else { total.saturating_sub(done).div_ceil(speed) },
        };
        if let Some((file, _)) = &mut state.file
            && let Ok(text) = serde_json::to_vec(&running)
        {
            use std::os::unix::fs::FileExt;
            // Whoever reads it at this instant reads again; how far it is matters to nobody else.
            let _ = file.set_len(text.len() as u64).and_then(|()| file.write_all_at(&text, 0));
        }
        state.told = Some(Instant::now());
    }
}

/// Bytes a second.
pub(crate) fn speed(bytes: u64, time: Duration) -> u64 {
    (bytes as f64 / time.as_secs_f64().max(0.001)) as u64
}

impl Progress for Watch<'_> {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let from = *state.from.get_or_insert(done);
        (state.reached, state.total) = (done, total);
        if state.told.is_none_or(|told| told.elapsed() > TELL_EVERY) {
            self.tell(&mut state, done, total);
        }
        let asked = || match self.observer {
            Some(observer) => observer.at(done, total),
            None if self.stopped.load(Ordering::Acquire) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        };
        let mut wish = asked();
        if let (Some(limit), ControlFlow::Continue(())) = (self.limit, wish) {
            let bytes = done.saturating_sub(std::mem::replace(&mut state.paced, done).max(from));
            let now = Instant::now();
            // What a machine that slept or was busy has not done is not made up for at once.
            let since = state.free.max(now.checked_sub(MOST_AHEAD).unwrap_or(now));
            state.free = since + Duration::from_secs_f64(bytes as f64 / limit as f64);
            while wish.is_continue() && state.free > Instant::now() {
                std::thread::sleep(state.free.saturating_duration_since(Instant::now()).min(LOOK_EVERY));
                wish = asked();
            }
        }
        wish
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // What is left to do is found by it.
        if state.reached < state.total {
            let (reached, total) = (state.reached, state.total);
            self.tell(&mut state, reached, total);
        } else if let Some((_, path)) = state.file.take() {
            // What stays the next command clears away.
            match self.removal.get() {
                Some(removal) => drop(removal.carry_out()),
                None => drop(std::fs::remove_file(path)),
            }
        }
    }
}

/// The state file of conversions of that file or device, to be written.
fn state_path(path: &Path) -> Result<PathBuf, Error> {
    Ok(session::runtime_folder()?.join(state_name(path)?))
}

fn state_name(path: &Path) -> Result<String, Error> {
    let full = path.canonicalize().map_err(|e| Error::system("find", path, e))?;
    use std::os::unix::ffi::OsStrExt;
    let name: String = full.as_os_str().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    // A name has 255 bytes; of longer paths the end tells more.
    let name = name.get(name.len().saturating_sub(200)..).unwrap_or(&name);
    Ok(format!("{STATE}{name}"))
}

/// Which file is at that path; none where a device is.
fn node_of(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().filter(Metadata::is_file).map(|file| (file.dev(), file.ino()))
}

/// Whether another file is at that path than the one whose conversion was begun there.
fn is_another(path: &Path) -> bool {
    let said = || {
        let state = session::existing_runtime_folder().ok()??.join(state_name(path).ok()?);
        serde_json::from_slice::<Running>(&std::fs::read(state).ok()?).ok()?.node
    };
    said().is_some_and(|begun| node_of(path).is_some_and(|now| now != begun))
}

/// What is wrong with a medium of another size than it had: that it is another one, where that is known.
pub(crate) fn not_the_same(path: &Path, error: Error) -> Error {
    match error {
        Error::Conversion(ConvertError::Size { expected, present }) if is_another(path) => {
            ConversionError::AnotherFile { path: path.to_owned(), expected, present }.into()
        }
        error => error,
    }
}

/// Whether a file is still the one at its path.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: Metadata, other: Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|file| path.symlink_metadata().is_ok_and(|there| same(file, there)))
}

/// The state files of this user's conversions.
pub(super) fn state_files() -> Vec<PathBuf> {
    let Ok(Some(folder)) = session::existing_runtime_folder() else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(STATE));
    ours.map(|entry| entry.path()).collect()
}

/// Whether the process that converted this file or device has ended without coming to the conversion's end, as it said itself.
pub(crate) fn has_left_work(path: &Path, pid: i32) -> bool {
    let said = || {
        let state = session::existing_runtime_folder().ok()??.join(state_name(path).ok()?);
        serde_json::from_slice::<Running>(&std::fs::read(state).ok()?).ok()
    };
    said().is_some_and(|said| said.pid == pid && said.done_bytes < said.total_bytes)
}

/// What the process says that is converting this file or device; `None` where none is.
pub fn running(path: &Path) -> Result<Option<Running>, Error> {
    let Some(folder) = session::existing_runtime_folder()? else { return Ok(None) };
    let state = folder.join(state_name(path)?);
    let Ok(file) = File::open(&state) else { return Ok(None) };
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        return Ok(None);
    }
    for _ in 0..50 {
        if let Ok(running) = std::fs::read(&state).map(|text| serde_json::from_slice(&text))
            && let Ok(running) = running
        {
            // Who removes a killed one's state file has the lock for a moment, too.
            return Ok(Some(running).filter(Running::is_alive));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(None)
}
