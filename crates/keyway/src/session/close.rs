//! Closing several volumes, some of which may lie inside others.

use super::error::SessionError;
use super::in_use::open_name;
use super::others::OtherUser;
use crate::error::Error;
use crate::shown::shown;
use keyway_attach::session::{
    Closed, Closing, SessionElsewhere, SessionState, Spared, clean_stale, close_so, find, find_replaced,
    killed, list, must_be_idle,
};
use keyway_attach::{AttachError, SilentProcess};
use keyway_error::Explain;
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};

/// A volume that is to be closed, or was.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ClosedVolume {
    /// The volume.
    #[serde(with = "keyway_attach::path_text")]
    pub volume: PathBuf,
    /// Its block device.
    #[serde(with = "keyway_attach::path_text")]
    pub device: Option<PathBuf>,
    /// Where it is mounted.
    #[serde(with = "keyway_attach::path_text")]
    pub mountpoint: Option<PathBuf>,
    /// The process that serves it.
    pub pid: u32,
    /// Its process had been killed, and what it left was cleared away.
    pub killed: bool,
    /// A write was refused that would have damaged the hidden volume, and so was all that was written after it.
    pub guard_hit: bool,
    /// It is the file that was at the path by which it was named; another one is there by now.
    pub replaced: bool,
    /// Write requests of which bytes were refused that belong to the volume's own metadata.
    pub writes_refused: u64,
    #[serde(skip)]
    spared: Option<Spared>,
}

impl ClosedVolume {
    /// Of a session that was, or is.
    pub fn new(state: SessionState, killed: bool) -> Self {
        let SessionState { volume, device, mountpoint, pid, .. } = state;
        Self {
            volume,
            device,
            mountpoint,
            pid,
            killed,
            guard_hit: false,
            replaced: false,
            writes_refused: 0,
            spared: None,
        }
    }

    /// Why not all that was written is in it, where that is so.
    pub fn lost(&self) -> Option<SessionError> {
        match self.guard_hit {
            true => Some(SessionError::HiddenHit),
            false => self.spared.map(SessionError::OverMetadata),
        }
    }
}

/// What [`close_each`] would close: the volumes that are open of those names, or all.
///
/// # Errors
/// One is not open, or somebody uses it; or this user's sessions can't be looked at.
pub fn plan_close(name: Option<&Path>) -> Result<Vec<ClosedVolume>, Error> {
    let name = name.map(open_name).transpose()?;
    let open = match &name {
        Some(name) => find_to_close(name)?.into_iter().collect(),
        None => list()?,
    };
    let replaced = name.as_ref().is_some_and(|name| matches!(find(name), Ok(None))) && !open.is_empty();
    // As closing it would: whoever looks before wants to know.
    let serving: Vec<_> = list()?.iter().map(|state| state.pid).collect();
    // One that is mounted on another is closed first.
    let goes_first =
        |other: &PathBuf| open.iter().filter(|state| state.mountpoint.as_ref() == Some(other)).count();
    let idle = |state| match must_be_idle(state, &serving) {
        Err(AttachError::MountedThere { at, other }) if goes_first(&other) > usize::from(at == other) => {
            Ok(())
        }
        idle => idle,
    };
    open.iter().try_for_each(idle)?;
    let killed = if name.is_some() && !open.is_empty() { Vec::new() } else { killed(name.as_deref())? };
    let open = open.into_iter().map(|state| ClosedVolume { replaced, ..ClosedVolume::new(state, false) });
    let all: Vec<_> = open.chain(killed.into_iter().map(|state| ClosedVolume::new(state, true))).collect();
    if name.is_none() {
        let mut others = SessionElsewhere::all().into_iter();
        if let Some(first) = others.next() {
            // Each has a command that closes it.
            let closes = |other: SessionElsewhere| {
                let path = other.volume.clone();
                OtherUser::from(other).close(&path)
            };
            return Err(others.map(closes).fold(elsewhere(first), Error::leaving));
        }
    }
    match name.filter(|_| all.is_empty()) {
        Some(name) => Err(whose(&name, AttachError::NotOpen(name.display().to_string()))),
        None => Ok(all),
    }
}

/// What became of volumes that were to be closed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ClosedEach {
    /// Those that are closed.
    pub closed: Vec<ClosedVolume>,
    /// Why others are not. Of one that [`close_each`]'s `destroy` did not want closed, nothing.
    pub failed: Vec<Error>,
}

/// Closes the volume of that name, or everything that this user has open, side by side: none waits for another one's
/// medium, and one that can't be closed does not keep the others open. One that another is inside of is tried again when
/// that has gone. A process that works in a volume's folder leaves it for `/`: it would be in its own way. `tell` hears whom
/// it waits for; `destroy` is asked of a volume whose file was deleted, and that nobody can open again.
///
/// # Errors
/// This user's sessions can't be looked at.
pub fn close_each(
    name: Option<&Path>,
    tell: &(dyn Fn(&SilentProcess) + Sync),
    destroy: impl FnMut(&str) -> bool,
) -> Result<ClosedEach, Error> {
    let names = match name {
        Some(name) => vec![leave(open_name(name)?)?],
        None => list()?.into_iter().map(|state| leave(state.id.into())).collect::<Result<_, _>>()?,
    };
    let mut all = ClosedEach::default();
    for (path, done) in close_in_turns(names, tell, destroy) {
        match done {
            Ok(done) => all.closed.push(ClosedVolume {
                guard_hit: done.guard_hit,
                replaced: done.replaced,
                writes_refused: done.spared.map_or(0, |spared| spared.writes),
                spared: done.spared,
                ..ClosedVolume::new(done.state, done.killed)
            }),
            Err(AttachError::Deleted { .. }) => {}
            // Somebody else has closed it.
            Err(AttachError::NotOpen(_)) if name.is_none() => {}
            Err(e) => all.failed.push(whose(&path, e)),
        }
    }
    all.closed.iter().for_each(|closed| log::info!("close {}: closed", shown(&closed.volume)));
    all.failed.iter().for_each(|error| log::error!("close: {} ({error})", error.explain().kind.word()));
    if name.is_none() {
        all.failed.extend(SessionElsewhere::all().into_iter().map(elsewhere));
        all.closed.extend(clean_stale()?.into_iter().map(|state| ClosedVolume::new(state, true)));
    }
    Ok(all)
}

/// Leaves the volume of that name, if it is this process's working folder. Returns the name that it has from anywhere.
fn leave(name: PathBuf) -> Result<PathBuf, Error> {
    let mounted = find_to_close(&name)?.and_then(|state| Some((state.id, state.mountpoint?)));
    let is_here = |at: &Path| std::env::current_dir().is_ok_and(|here| here.starts_with(at));
    match mounted {
        // Where it can't be left, the volume is in use, and that is told.
        Some((id, at)) if is_here(&at) && std::env::set_current_dir("/").is_ok() => Ok(id.into()),
        _ => Ok(name),
    }
}

/// What closing that name would close: where another file has it by now, the one that had it before.
fn find_to_close(name: &Path) -> Result<Option<SessionState>, AttachError> {
    find(name)?.map_or_else(|| find_replaced(name), |open| Ok(Some(open)))
}

/// Says of a volume that is not open who else has it open.
fn whose(path: &Path, error: AttachError) -> Error {
    match (&error, OtherUser::having(path)) {
        (AttachError::NotOpen(_), Some(other)) => {
            SessionError::Others { path: path.to_owned(), other }.into()
        }
        _ => error.into(),
    }
}

/// One that this process can't close, and says how it can be.
fn elsewhere(session: SessionElsewhere) -> Error {
    SessionError::Others { path: session.volume.clone(), other: session.into() }.into()
}

type Closings = Vec<(PathBuf, Result<Closed, AttachError>)>;

/// Again and again, as long as any is closed.
fn close_in_turns(
    names: Vec<PathBuf>,
    tell: &(dyn Fn(&SilentProcess) + Sync),
    mut destroy: impl FnMut(&str) -> bool,
) -> Closings {
    let (mut left, mut done) = (names, Vec::new());
    loop {
        let (mut busy, mut any) = (Vec::new(), false);
        for (name, mut closed) in side_by_side(left, tell) {
            if let Err(AttachError::Deleted { volume }) = &closed
                && destroy(volume)
            {
                closed = close_so(&name, &Closing { deleted: true, tell });
                any |= closed.is_ok();
                done.push((name, closed));
            } else if let Err(AttachError::Busy { .. } | AttachError::MountedThere { .. }) = closed {
                busy.push((name, closed));
            } else {
                any |= closed.is_ok();
                done.push((name, closed));
            }
        }
        if busy.is_empty() || !any {
            done.extend(busy);
            return done;
        }
        left = busy.into_iter().map(|(name, _)| name).collect();
    }
}

fn side_by_side(names: Vec<PathBuf>, tell: &(dyn Fn(&SilentProcess) + Sync)) -> Closings {
    let close = &|name: &Path| close_so(name, &Closing { deleted: false, tell });
    std::thread::scope(|scope| {
        let closing: Vec<_> = names.iter().map(|name| scope.spawn(move || close(name))).collect();
        let panicked = |_| Err(AttachError::io("close it", io::Error::other("the thread panicked")));
        let done: Vec<_> = closing.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect();
        names.iter().cloned().zip(done).collect()
    })
}
