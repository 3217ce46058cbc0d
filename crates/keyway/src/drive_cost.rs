//! What encryption costs on a drive: found out by a short measurement that only reads, and kept with its date, in
//! `$XDG_STATE_HOME/keyway/drive-costs.json` or the same in `~/.local/state`, for whoever asks again.

use crate::encrypted::{self, EncryptedDevice, EncryptedWith};
use crate::lab::{
    Changes, Comparison, Document, Drive, ExperimentPlan, ExperimentRequest, LabError, MARGIN, OutputFile,
    PathKind, Target, Watch, bitlocker_method, drive_identity, encrypt_in_place, report, told,
};
use crate::shown::shown;
use crate::told::duration;
use crate::users_folder::{alone_in, users_folder};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_volume::bitlocker::Method;
use serde::{Deserialize, Serialize};
use std::fs::read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What is held against the bare drive: what most people would switch on …
const CIPHER: &str = "aes";
/// … and what most BitLocker volumes have.
const METHOD: &str = "aes-xts-128";
/// What is read of a drive that has so much.
const SPAN: u64 = 1 << 30;
/// Whoever waits for the answer has a minute.
const TIME: Duration = Duration::from_secs(60);
/// What takes so many times what was planned had no machine to itself.
const LATE: u32 = 2;

/// What encryption was found to cost on a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DriveCost {
    /// The drive, partition or file that was read.
    #[serde(with = "keyway_attach::path_text")]
    pub device: PathBuf,
    /// By what the drive is known again, whatever it is called then.
    pub identity: String,
    /// When, as ISO 8601 UTC.
    pub date: String,
    /// On which processor.
    pub processor: String,
    /// How requests reached the volume.
    pub path: PathKind,
    /// Each test, held against the bare drive.
    pub cells: Vec<Comparison>,
    /// What it comes to, in a few sentences.
    pub answer: Vec<String>,
    /// It was encrypted already, as far as was seen.
    #[serde(default)]
    pub encrypted: bool,
}

impl DriveCost {
    fn of(device: &Path, already: Option<&Already>, found: Document) -> Self {
        let answer = match already {
            None => report::answer(&found),
            Some(already) => report::answer_of_encrypted(&found, &already.words, already.is_its_own),
        };
        Self {
            device: device.to_owned(),
            identity: drive_identity(device),
            date: found.date,
            processor: found.machine.processor,
            path: found.path,
            cells: found.cells.into_iter().filter(|row| row.primary && row.target != row.baseline).collect(),
            answer,
            encrypted: already.is_some(),
        }
    }

    /// That the drive has been encrypted since, where it still goes by that name.
    fn outdated(&self) -> Option<String> {
        let is_it = !self.encrypted && drive_identity(&self.device) == self.identity;
        let words =
            "It is encrypted by now, or looks so: `keyway doctor DRIVE --measure` finds out what that costs.";
        (is_it && subject(&self.device).1.is_some()).then(|| words.to_owned())
    }
}

/// What a drive is encrypted with before it is measured.
struct Already {
    /// So in words, as a sentence begins.
    words: String,
    /// It is measured itself.
    is_its_own: bool,
}

/// What is held against the bare drive, and what that is to the drive: what it is encrypted with already, where that can be told and
/// had here. Of a disk the first partition that is encrypted counts.
fn subject(device: &Path) -> (Target, Option<Already>) {
    use EncryptedWith as With;
    // What can't be looked at says so when it is read.
    let found = encrypted::on(device).unwrap_or_default();
    let is_one = |one: &&EncryptedDevice| !matches!(one.with, With::Nothing | With::Unread);
    let software = found.iter().filter(is_one).find(|one| one.with != With::Drive);
    let usual = Target::VeraCrypt(CIPHER.to_owned());
    let Some(one) = software.or_else(|| found.iter().find(is_one)) else { return (usual, None) };
    let is_not = |words: String| {
        let words = format!("{words}: what is told is what AES costs, as a VeraCrypt volume has it");
        Some(Already { words, is_its_own: false })
    };
    match (one.with, one.method) {
        (With::BitLocker, Some(method)) if bitlocker_method(method.name()).is_some() => {
            let words = format!("It is a BitLocker volume already ({})", method.name());
            let target = Target::BitLocker(method.name().to_owned());
            (target, Some(Already { words, is_its_own: true }))
        }
        (With::BitLocker, method) => {
            let own = method.map_or("not known", Method::name);
            let words = format!(
                "It is a BitLocker volume already, whose cipher ({own}) is not measured here: what is told is what {METHOD} costs"
            );
            (Target::BitLocker(METHOD.to_owned()), Some(Already { words, is_its_own: false }))
        }
        (With::Noise, _) => {
            (usual, is_not("It may be encrypted already, with what only a secret tells".to_owned()))
        }
        (With::Drive, _) => (
            usual,
            is_not("The drive encrypts by itself already, and more would come on top of that".to_owned()),
        ),
        (With::DmCrypt, _) => (
            usual,
            is_not("It is decrypted by dm-crypt already, and more would come on top of that".to_owned()),
        ),
        (other, _) => (
            usual,
            is_not(format!("It is encrypted already, with what is not measured here ({})", other.name())),
        ),
    }
}

/// A measurement that reads a drive, encrypted and bare in turns. Nothing is written to it, and no secret is needed: what
/// is decrypted is whatever lies there.
pub struct Measurement {
    device: PathBuf,
    already: Option<Already>,
    plan: ExperimentPlan,
}

impl Measurement {
    /// Of that drive, partition or file; for so many minutes at most.
    ///
    /// # Errors
    /// It is a folder, too small, or can't be read.
    pub fn of(device: &Path, minutes: Option<f64>) -> Result<Self, LabError> {
        if device.is_dir() {
            return Err(LabError::Folder(device.to_owned()));
        }
        let bytes = FileStore::open(device, OpenMode::ReadOnly, Caching::Buffered)?.size();
        let span = (bytes.saturating_sub(MARGIN) / MARGIN * MARGIN).min(SPAN);
        if span == 0 {
            let what = device.display().to_string();
            return Err(LabError::SmallDrive { what, present: bytes, needed: 2 * MARGIN });
        }
        let (target, already) = subject(device);
        let mut request = ExperimentRequest::against_bare([target], Drive::Path(device.to_owned()));
        request.changes =
            Changes { span_bytes: Some(span), quick: true, reads_only: true, ..Changes::default() };
        request.time = Some(minutes.map_or(TIME, |minutes| Duration::from_secs_f64(60.0 * minutes)));
        Ok(Self { device: device.to_owned(), already, plan: request.plan()? })
    }

    /// Measures, and keeps what was found in the place of what was found before. `watch` is made for the time that it takes,
    /// where that is known.
    ///
    /// # Errors
    /// It was stopped, the drive failed, or it can't be kept.
    pub fn run<W: Watch>(
        &self,
        stop: &AtomicBool,
        watch: impl FnOnce(Option<Duration>) -> W,
    ) -> Result<DriveCost, LabError> {
        let (planned, begun) = (self.plan.planned(), Instant::now());
        let watch = watch(planned);
        let (found, error) = self.plan.run(encrypt_in_place, stop, &watch)?;
        error.map_or(Ok(()), Err)?;
        let mut cost = DriveCost::of(&self.device, self.already.as_ref(), found);
        cost.answer.extend(planned.and_then(|planned| took_longer(planned, begun.elapsed())));
        keep(&cost)?;
        Ok(cost)
    }
}

/// That something else was at work meanwhile, as what it took tells.
fn took_longer(planned: Duration, took: Duration) -> Option<String> {
    (took > LATE * planned).then(|| {
        let (took, planned) = (duration(took.as_secs()), duration(planned.as_secs()));
        format!(
            "It took {took}, where {planned} were planned: the machine or the drive was busy, and what is told is less sure \
             than it could be."
        )
    })
}

/// What was found of these drives, on whichever day.
pub fn known<'a>(devices: impl IntoIterator<Item = &'a Path>) -> Vec<DriveCost> {
    let identities: Vec<String> = devices.into_iter().map(drive_identity).collect();
    kept().into_iter().filter(|cost| identities.contains(&cost.identity)).collect()
}

/// The same, and of what was measured and is no drive of this machine's, as a loop device or a file is: while it is there.
pub fn known_here<'a>(devices: impl IntoIterator<Item = &'a Path>) -> Vec<DriveCost> {
    let identities: Vec<String> = devices.into_iter().map(drive_identity).collect();
    let is_there = |cost: &DriveCost| cost.device.exists() && drive_identity(&cost.device) == cost.identity;
    kept().into_iter().filter(|cost| identities.contains(&cost.identity) || is_there(cost)).collect()
}

/// In words: of each drive when and how it was measured, and what came of it.
pub fn in_words(costs: &[DriveCost]) -> String {
    let one = |cost: &DriveCost| {
        let day = cost.date.split('T').next().unwrap_or_default();
        let (device, processor, path) = (shown(&cost.device), shown(&cost.processor), cost.path.name());
        let head = format!("{device}, read on {day} by {path} ({processor}):");
        let lines = std::iter::once(head).chain(cost.answer.iter().cloned()).chain(cost.outdated());
        told::answer(&lines.collect::<Vec<_>>())
    };
    costs.iter().map(one).collect()
}

/// All that is kept. What can't be read, or isn't what it was, is measured anew: nothing depends on it.
fn kept() -> Vec<DriveCost> {
    let text = place().and_then(|place| read(place).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// In the place of what was found of that drive before.
fn keep(cost: &DriveCost) -> Result<(), LabError> {
    // Without a home it is told, and forgotten.
    let Some(place) = place() else { return Ok(()) };
    let failed = |e| LabError::system("write", &place, e);
    let _alone = place.parent().map(|folder| alone_in(folder, 0o700)).transpose().map_err(failed)?;
    let mut all = kept();
    all.retain(|other| other.identity != cost.identity);
    all.push(cost.clone());
    let text = serde_json::to_vec_pretty(&all).map_err(|e| failed(e.into()))?;
    OutputFile::at(&place)?.write(&text)
}

fn place() -> Option<PathBuf> {
    Some(users_folder("XDG_STATE_HOME", ".local/state")?.join("keyway/drive-costs.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_much_longer_than_was_said_is_told() {
        let took = |seconds| took_longer(Duration::from_secs(12), Duration::from_secs(seconds));
        assert_eq!(took(12), None);
        assert_eq!(took(24), None);
        let told = took(150).expect("told");
        assert!(told.starts_with("It took ") && told.contains("where 12 s"), "{told}");
    }
}
