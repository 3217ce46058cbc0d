//! What encryption costs on a drive: found out by a short measurement that only reads, and kept with its date, in
//! `$XDG_STATE_HOME/keyway/drive-costs.json` or the same in `~/.local/state`, for whoever asks again.

use crate::lab::{
    Changes, Comparison, Document, Drive, ExperimentPlan, ExperimentRequest, LabError, MARGIN, OutputFile,
    PathKind, Target, Watch, drive_identity, encrypt_in_place, report, told,
};
use crate::shown::shown;
use crate::users_folder::{alone_in, users_folder};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use serde::{Deserialize, Serialize};
use std::fs::read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is held against the bare drive: what most people would switch on.
const CIPHER: &str = "aes";
/// What is read of a drive that has so much.
const SPAN: u64 = 1 << 30;
/// Whoever waits for the answer has a minute.
const TIME: Duration = Duration::from_secs(60);

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
}

impl DriveCost {
    fn of(device: &Path, found: Document) -> Self {
        let answer = report::answer(&found);
        Self {
            device: device.to_owned(),
            identity: drive_identity(device),
            date: found.date,
            processor: found.machine.processor,
            path: found.path,
            cells: found.cells.into_iter().filter(|row| row.primary && row.target != row.baseline).collect(),
            answer,
        }
    }
}

/// A measurement that reads a drive, encrypted and bare in turns. Nothing is written to it, and no secret is needed: what
/// is decrypted is whatever lies there.
pub struct Measurement {
    device: PathBuf,
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
        let mut request = ExperimentRequest::against_bare(
            [Target::VeraCrypt(CIPHER.to_owned())],
            Drive::Path(device.to_owned()),
        );
        request.changes =
            Changes { span_bytes: Some(span), quick: true, reads_only: true, ..Changes::default() };
        request.time = Some(minutes.map_or(TIME, |minutes| Duration::from_secs_f64(60.0 * minutes)));
        Ok(Self { device: device.to_owned(), plan: request.plan()? })
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
        let watch = watch(self.plan.planned());
        let (found, error) = self.plan.run(encrypt_in_place, stop, &watch)?;
        error.map_or(Ok(()), Err)?;
        let cost = DriveCost::of(&self.device, found);
        keep(&cost)?;
        Ok(cost)
    }
}

/// What was found of these drives, on whichever day.
pub fn known<'a>(devices: impl IntoIterator<Item = &'a Path>) -> Vec<DriveCost> {
    let identities: Vec<String> = devices.into_iter().map(drive_identity).collect();
    kept().into_iter().filter(|cost| identities.contains(&cost.identity)).collect()
}

/// In words: of each drive when and how it was measured, and what came of it.
pub fn in_words(costs: &[DriveCost]) -> String {
    let one = |cost: &DriveCost| {
        let day = cost.date.split('T').next().unwrap_or_default();
        let (device, processor, path) = (shown(&cost.device), shown(&cost.processor), cost.path.name());
        let head = format!("{device}, read on {day} by {path} ({processor}):");
        told::answer(&std::iter::once(head).chain(cost.answer.iter().cloned()).collect::<Vec<_>>())
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
