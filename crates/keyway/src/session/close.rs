//! Closing several volumes, some of which may lie inside others.

use keyway_attach::session::{Closed, Closing, SessionState, close_so, find, list};
use keyway_attach::{AttachError, SilentProcess};
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// A volume that is to be closed, or was.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ClosedVolume {
    /// The volume.
    pub volume: PathBuf,
    /// Its block device.
    pub device: Option<PathBuf>,
    /// Where it is mounted.
    pub mountpoint: Option<PathBuf>,
    /// The process that serves it.
    pub pid: u32,
    /// Its process had been killed, and what it left was cleared away.
    pub killed: bool,
}

impl ClosedVolume {
    /// Of a session that was, or is.
    pub fn new(state: SessionState, killed: bool) -> Self {
        let SessionState { volume, device, mountpoint, pid, .. } = state;
        Self { volume, device, mountpoint, pid, killed }
    }
}

/// What [`close_each`] would close: the volumes that are open of those names, or all.
///
/// # Errors
/// One is not open, or this user's sessions can't be looked at.
pub fn plan_close(name: Option<&str>) -> Result<Vec<ClosedVolume>, AttachError> {
    let open = match name {
        Some(name) => vec![find(name)?.ok_or_else(|| AttachError::NotOpen(name.to_owned()))?],
        None => list()?,
    };
    Ok(open.into_iter().map(|state| ClosedVolume::new(state, false)).collect())
}

/// What became of each volume that was to be closed, by the name that it was given.
pub type ClosedEach = Vec<(String, Result<Closed, AttachError>)>;

/// Closes volumes side by side: none waits for another one's medium, and one that can't be closed does not keep the
/// others open. One that another is inside of is tried again when that has gone. `tell` hears whom it waits for;
/// `destroy` is asked of a volume whose file was deleted, and that nobody can open again.
pub fn close_each(
    names: Vec<String>,
    tell: &(dyn Fn(&SilentProcess) + Sync),
    mut destroy: impl FnMut(&str) -> bool,
) -> ClosedEach {
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
            } else if let Err(AttachError::Busy { .. }) = closed {
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

fn side_by_side(names: Vec<String>, tell: &(dyn Fn(&SilentProcess) + Sync)) -> ClosedEach {
    let close = &|name: &str| close_so(name, &Closing { deleted: false, tell });
    std::thread::scope(|scope| {
        let closing: Vec<_> = names.iter().map(|name| scope.spawn(move || close(name))).collect();
        let panicked = |_| Err(AttachError::io("close it", io::Error::other("the thread panicked")));
        let done: Vec<_> = closing.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect();
        names.iter().cloned().zip(done).collect()
    })
}
