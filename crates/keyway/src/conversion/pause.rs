//! Asks a process that converts to stop in good order.

use super::claim::is_under_way;
use super::ending::recovery_password_with;
use super::outcome::Made;
use crate::error::Error;
use crate::log_file;
use crate::medium;
use crate::under_way::{
    ConversionError, ConversionRefusal, Description, at_rest, describe, has_left_work, is_paused_volume,
    resume_with, running,
};
use keyway_volume::bitlocker::{EncryptionState, look};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a segment may take on the slowest drive.
const PATIENCE: Duration = Duration::from_secs(120);

/// Nobody waits longer than this without a word.
const FIRST_WORD: Duration = Duration::from_secs(2);

/// What was paused.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Paused {
    /// A conversion: nobody but that opens it.
    HalfConverted(Box<Description>),
    /// A volume that is whole, and opens here and elsewhere.
    Volume(PausedVolume),
    /// Nothing: the conversion had come to its end.
    Ended,
}

/// A volume that is whole, of which a part is encrypted.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct PausedVolume {
    /// The file or device.
    #[serde(with = "keyway_attach::path_text")]
    pub volume: PathBuf,
    /// Its format.
    pub format: &'static str,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// How far it is: the words of `manage-bde -status`.
    pub conversion_status: String,
    /// How much of it is encrypted.
    pub percentage_encrypted: f64,
    /// What goes on with it, as it is typed.
    pub resume_with: String,
    /// What tells the recovery password of one that is being encrypted, as it is typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_password_with: Option<String>,
}

/// Asks the process that converts it to stop, and waits until it has. The journal is where `named` says, else where that
/// process says. `waiting` is told after a while for which process.
///
/// # Errors
/// Nobody converts it; the process may not be asked, or does not stop.
pub fn pause(path: &Path, named: Option<&Path>, waiting: impl FnOnce(i32)) -> Result<Paused, Error> {
    log_file::step("pause", path, || stop(path, named, waiting), |_| "it has stopped".to_owned())
}

fn stop(path: &Path, named: Option<&Path>, waiting: impl FnOnce(i32)) -> Result<Paused, Error> {
    medium::must_exist(path)?;
    let Some(process) = running(path)? else {
        // What was paused before is not begun anew to be paused.
        let rests = medium::look(path).is_ok_and(|store| is_under_way(&store).unwrap_or_default());
        let path = path.to_owned();
        return Err(match rests {
            true => ConversionRefusal::PausedAlready(path),
            false => ConversionRefusal::NotConverted(path),
        }
        .into());
    };
    let asked = Pid::from_raw(process.pid).map(|pid| kill_process(pid, Signal::TERM));
    if let Some(Err(e)) = asked {
        return Err(Error::system("stop the conversion of", path, e.into()));
    }
    let (began, mut waiting) = (Instant::now(), Some(waiting));
    while running(path)?.is_some() {
        if began.elapsed() > FIRST_WORD
            && let Some(tell) = waiting.take()
        {
            tell(process.pid);
        }
        if began.elapsed() > PATIENCE {
            return Err(ConversionRefusal::DoesNotStop(process.pid).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // Asked before anything clears that away.
    let has_left_work = has_left_work(path, process.pid);
    if let Some(half) = describe(path, named.or(process.journal.as_deref()))? {
        return Ok(Paused::HalfConverted(Box::new(half)));
    }
    // What else is paused of a BitLocker volume is a whole one.
    let store = medium::look(path)?;
    if !is_paused_volume(&store)? {
        return match has_left_work {
            true => Err(ConversionError::TakenAway(path.to_owned()).into()),
            false => Ok(Paused::Ended),
        };
    }
    let seen = look(&store)?;
    let is_new = seen.metadata.block().next_state != EncryptionState::Decrypted;
    let (info, with) = (seen.info, recovery_password_with(path, is_new, &Made::default(), &store));
    Ok(Paused::Volume(PausedVolume {
        volume: path.to_owned(),
        format: "bitlocker",
        size_bytes: info.data_bytes,
        conversion_status: at_rest(info.conversion_status.words()),
        percentage_encrypted: info.percentage_encrypted,
        resume_with: resume_with(path, None),
        recovery_password_with: with,
    }))
}
