//! Whether a volume is free: said before anyone types a password.

use super::error::SessionError;
use super::others::OtherUser;
use crate::error::Error;
use crate::medium;
use crate::own_process;
use keyway_attach::AttachError;
use keyway_attach::session::{SessionState, clean_stale_and_tell, find, list};
use keyway_engine::Access;
use keyway_fs::files::Spared;
use keyway_store::{InUse, OpenMode, Operation, StoreError, refuse_if_claimed};
use keyway_sys::{Node, layers, partitions, write_locked_by, write_locked_under};
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Refuses a volume that is served already, or whose bytes somebody has by another name.
///
/// # Errors
/// [`AttachError::AlreadyOpen`], [`SessionError::Taken`], or this user's sessions can't be looked at.
pub fn refuse_if_open(path: &Path, access: Access) -> Result<(), Error> {
    // What a killed process left may hold the volume: a mapping of the kernel's does.
    clean_stale_and_tell()?;
    refuse_if_taken(path, access)
}

/// Checks that this user may write to a volume.
///
/// # Errors
/// The system's refusal; where another user has it open that is told instead, since no permission would help.
pub(crate) fn must_be_writable(path: &Path) -> Result<(), Error> {
    let not_permitted = |error: &Error| matches!(error, Error::System { source, .. } if source.kind() == ErrorKind::PermissionDenied);
    medium::must_be_writable(path).map_err(|error| match OtherUser::having(path) {
        Some(other) if not_permitted(&error) => SessionError::Others { path: path.to_owned(), other }.into(),
        _ => error,
    })
}

/// Refuses to read what is in a volume while somebody may write to it: what he sees is newer than what is on the medium.
/// One that is open for reading alone can be read beside it.
///
/// # Errors
/// As [`refuse_if_open`].
pub fn refuse_if_written(path: &Path) -> Result<(), Error> {
    match find(path)? {
        Some(state) if state.read_only => Ok(()),
        _ => refuse_if_open(path, Access::ReadOnly),
    }
}

/// The same as [`refuse_if_open`], with what killed processes left as it is.
///
/// # Errors
/// As [`refuse_if_open`].
pub fn refuse_if_taken(path: &Path, access: Access) -> Result<(), Error> {
    refuse_if_found(path)?;
    let mode = match access {
        Access::ReadOnly => OpenMode::ReadOnly,
        Access::ReadWrite => OpenMode::ReadWrite,
    };
    let Err(error) = refuse_if_claimed(path, mode) else { return Ok(()) };
    // It may have been opened while it was waited for.
    refuse_if_found(path)?;
    let by = error.get_ref().and_then(|inner| inner.downcast_ref::<InUse>()).and_then(InUse::process);
    let volume = list()?.into_iter().find(|state| Some(state.pid) == by).map(|state| state.closes_by());
    let own =
        || by.and_then(|pid| OtherUser::of(pid).or_else(|| OtherUser::lost(pid))).filter(OtherUser::is_own);
    if let (None, Some(other)) = (&volume, own()) {
        return Err(SessionError::Others { path: path.to_owned(), other }.into());
    }
    let error = StoreError::new(Operation::Open, path, 0, 0, error);
    Err(SessionError::Taken { error, volume }.into())
}

fn refuse_if_found(path: &Path) -> Result<(), Error> {
    let Some(state) = find(path)? else { return Ok(()) };
    Err(match at_work(&state) {
        Some(pid) => {
            SessionError::AtWork { volume: state.volume, pid, resizes: own_process::resizes(pid) }.into()
        }
        None => {
            // Where another file has its path now, it goes by the name that it was found by.
            let volume = if state.is_replaced() { path.to_owned() } else { state.volume };
            AttachError::AlreadyOpen { volume, mountpoint: state.mountpoint }.into()
        }
    })
}

/// The process of ours that holds the volume of a session for what it does itself: a `resize` of what is in it.
fn at_work(state: &SessionState) -> Option<u32> {
    // Whoever holds it has the lock, which the serving process was handed; it may have been killed since.
    let holder = write_locked_by(&state.volume).filter(|holder| holder.name == "keyway")?;
    let is_there = Path::new("/proc").join(holder.pid.to_string()).exists();
    (holder.pid != state.pid && is_there).then_some(holder.pid)
}

/// The partition of an image that is open, where that is another one than this: they have one file.
pub(crate) fn other_partition(state: &SessionState, asked: Option<u32>) -> Option<u32> {
    let open = state.details.get("partition").and_then(Value::as_u64);
    let open = open.and_then(|number| u32::try_from(number).ok());
    open.filter(|open| asked.is_some_and(|asked| asked != *open))
}

/// Names the partition that is open, where a volume was refused because another one of the same image is.
pub(crate) fn naming_the_open_one(path: &Path, asked: Option<u32>, refused: Error) -> Error {
    match find(path) {
        Ok(Some(state)) => match other_partition(&state, asked) {
            Some(open) => SessionError::OtherPartition { volume: state.volume, open }.into(),
            None => refused,
        },
        _ => refused,
    }
}

/// What no copy out of the volume replaces: the files that it lies in, and those of volumes that are open.
pub(crate) fn spared(volume: &Path) -> Result<Vec<Spared>, Error> {
    let files = |path: &Path, own| {
        let layers = layers(path).unwrap_or_default().into_iter();
        layers.filter_map(move |layer| match layer.node {
            Node::File { device, inode } => Some(Spared { device, inode, own }),
            Node::Device(_) => None,
        })
    };
    let open = list()?.into_iter().flat_map(|state| files(&state.volume, false).collect::<Vec<_>>());
    // Other users' as well, and what is being converted.
    let locked = write_locked_under("keyway").into_iter();
    let locked = locked.map(|(device, inode)| Spared { device, inode, own: false });
    Ok(files(volume, true).chain(open).chain(locked).collect())
}

/// The name that a volume is open by: a disk stands for the one of its partitions that is open.
pub(super) fn open_name(name: &Path) -> Result<PathBuf, Error> {
    if find(name)?.is_none() {
        let mut open = partitions(name).into_iter().filter(|device| matches!(find(device), Ok(Some(_))));
        if let (Some(one), None) = (open.next(), open.next()) {
            return Ok(one);
        }
    }
    Ok(name.to_owned())
}
