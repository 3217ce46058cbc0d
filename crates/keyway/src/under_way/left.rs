//! What there is of conversions: the one on a medium, and all of this user's that go on or go on with `resume`.

use super::found::{Description, Found, is_paused_volume, percentage};
use super::watch::{Running, is_at, not_the_same, running, state_files};
use crate::error::Error;
use crate::medium;
use keyway_error::{Explain, Kind};
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Removes what converting processes have left of conversions that are through: whoever converts holds a lock on its state
/// file, and the kernel gives that back whatever ends it.
pub fn clean_stale() {
    for path in state_files() {
        if let Ok(file) = File::open(&path)
            && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && is_at(&file, &path)
            && !said_in(&path).is_some_and(|said| is_left(&said.volume))
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn said_in(state: &Path) -> Option<Running> {
    std::fs::read(state).ok().and_then(|text| serde_json::from_slice(&text).ok())
}

/// Whether there is something that goes on with `resume`.
fn is_left(volume: &Path) -> bool {
    let look = || -> Result<bool, Error> {
        let store = medium::look(volume)?;
        Ok(Found::half_converted(&store)?.is_some() || is_paused_volume(&store)?)
    };
    // One that can't be looked at, or has another size than it had, is not through.
    volume.exists() && look().unwrap_or(true)
}

/// A conversion of this user's that goes on in some process, or goes on with `resume`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UnderWay {
    /// What is converted.
    #[serde(with = "keyway_attach::path_text")]
    pub volume: PathBuf,
    /// The file that its journal is in.
    #[serde(with = "keyway_attach::path_text", skip_serializing_if = "Option::is_none")]
    pub journal: Option<PathBuf>,
    /// How much of the work is done.
    pub percentage_done: f64,
    /// The process that carries it out; none where it was paused or interrupted.
    pub pid: Option<i32>,
}

/// Every conversion of this user's that was begun since the machine started and is not through.
pub fn all_under_way() -> Vec<UnderWay> {
    clean_stale();
    let seen = |state: PathBuf| {
        let said = said_in(&state)?;
        let pid = running(&said.volume).ok()?.map(|running| running.pid);
        // Who was killed has done more than it has told last.
        let seen =
            || describe(&said.volume, said.journal.as_deref()).ok()?.map(|found| found.percentage_done);
        let told = percentage(said.done_bytes, said.total_bytes);
        // One that is in use is still served when it is through.
        if !is_left(&said.volume) {
            return None;
        }
        let percentage_done = if pid.is_some() { told } else { seen().unwrap_or(told) };
        Some(UnderWay { volume: said.volume, journal: said.journal, percentage_done, pid })
    };
    state_files().into_iter().filter_map(seen).collect()
}

/// A file or device that is half converted: how far it is, and all that is said of it without a secret. Its journal is
/// where `named` says; else where the process that converts it says; else beside it.
///
/// Whoever converts it goes on meanwhile: what its marker says of the journal may be so no more when that is read, or not yet,
/// and where the journal was lies something else once the conversion is through. Then all of it is looked at again.
///
/// # Errors
/// As [`Found::describe`].
pub fn describe(path: &Path, named: Option<&Path>) -> Result<Option<Description>, Error> {
    const MORE_LOOKS: usize = 20;
    clean_stale();
    let look = || {
        let told = running(path)?.and_then(|running| running.journal);
        let found = Found::half_converted(&medium::look(path)?).map_err(|e| not_the_same(path, e))?;
        found.map(|found| found.describe(path, named.or(told.as_deref()))).transpose()
    };
    again_while_moving(MORE_LOOKS, look)
}

/// Looks once, and so often again as no journal is where one was told of.
fn again_while_moving<T>(more: usize, mut look: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 0..more {
        match look() {
            Err(error) if error.explain().kind == Kind::NoJournal => {
                std::thread::sleep(Duration::from_millis(10));
            }
            seen => return seen,
        }
    }
    look()
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_convert::ConvertError;

    #[test]
    fn a_conversion_that_ends_while_it_is_looked_at_is_none() {
        // The marker told of a journal, and what it told was so no more when that was read; then the marker was gone, too.
        let mut seen =
            [Err(ConvertError::NoJournal.into()), Err(ConvertError::NoJournal.into()), Ok(None::<()>)]
                .into_iter();
        assert!(matches!(again_while_moving(9, || seen.next().expect("no more looks")), Ok(None)));
        let lost = again_while_moving(2, || Err::<(), _>(ConvertError::NoJournal.into()));
        assert!(lost.is_err(), "one that is missing stays so");
        let mut looks = 0;
        let failed = again_while_moving(9, || {
            looks += 1;
            Err::<(), _>(Error::Stopped)
        });
        assert!(failed.is_err() && looks == 1);
    }
}
