//! What is to be measured: looked at, and asked about, before the first byte is written.

use crate::changes::Changes;
use crate::error::LabError;
use crate::rig::{Drive, MODEL_WINDOW};
use crate::target::{PathKind, Target};
use crate::workload::{self, Operation, Procedure, Timed, Workload};
use keyway_attach::session::{Need, Wish};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Bytes of a volume for workloads that do not say how many they touch.
const OTHER_SPAN: u64 = 1 << 30;
/// Bytes of a volume for workloads that copy files in folders: no volume is touched directly.
const FILES_SPAN: u64 = 1 << 20;
/// What is measured where nothing else is asked for.
const DEFAULT_WORKLOAD: &str = "cdm";

/// What is wanted of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentRequest {
    /// What is compared; the first is what the others are held against.
    pub targets: Vec<Target>,
    /// The drive that volumes are made on.
    pub drive: Drive,
    /// How requests reach the volumes.
    pub path: PathKind,
    /// Workloads' names, or files that describe them; the usual one where there are none.
    pub workloads: Vec<String>,
    /// What is changed in them.
    pub changes: Changes,
    /// Go through the page cache where a file is read.
    pub buffered: bool,
    /// Measure the drive without our code between as well.
    pub bare: bool,
    /// Files and devices that are named may be overwritten.
    pub destroy_data: bool,
    /// What was asked for, in the front's words: the document keeps it.
    pub command: String,
}

impl ExperimentRequest {
    /// The usual workload on the targets, called in this process.
    pub fn new(targets: Vec<Target>, drive: Drive) -> Self {
        Self {
            targets,
            drive,
            path: PathKind::InProcess,
            workloads: Vec::new(),
            changes: Changes::default(),
            buffered: false,
            bare: false,
            destroy_data: false,
            command: String::new(),
        }
    }

    /// What will be done. Everything that can be refused is refused here.
    ///
    /// # Errors
    /// There is no such workload, or nothing is left of it; it does not go with the drive; this machine lacks what the path
    /// needs; what would be overwritten is in use.
    pub fn plan(&self) -> Result<ExperimentPlan, LabError> {
        let names = if self.workloads.is_empty() { &[DEFAULT_WORKLOAD.to_owned()] } else { &*self.workloads };
        let find = |name: &String| {
            let original = workload::find(name)?;
            let changed = self.changes.apply(&original)?;
            Ok((original, changed))
        };
        let (originals, workloads): (Vec<Workload>, Vec<Workload>) =
            names.iter().map(find).collect::<Result<Vec<_>, LabError>>()?.into_iter().unzip();
        if matches!(self.drive, Drive::Model(_)) {
            fits_a_model(&workloads)?;
        }
        // Keyway's own operations are timed on volumes alone, and files are copied in folders.
        let bare = |w: &Workload| {
            matches!(w.kind, Procedure::Requests(_) | Procedure::Positions(_) | Procedure::Traces(_))
        };
        let needs: &[Need] = match self.path {
            PathKind::InProcess | PathKind::Nbd => &[],
            PathKind::Fuse => &[Need::Fuse],
            PathKind::FuseLoop => &[Need::Fuse, Need::LoopDevice],
        };
        needs.iter().try_for_each(|need| need.check(Wish::default()))?;
        let span = |w: &Workload| match w.kind {
            Procedure::Tree(_) | Procedure::Copy(_) => FILES_SPAN,
            // Of these the workload says how many, and the scale changes it.
            Procedure::Timed(_) => w.span_bytes().unwrap_or(OTHER_SPAN),
            _ => self.changes.span_bytes.or(w.span_bytes()).unwrap_or(OTHER_SPAN),
        };
        Ok(ExperimentPlan {
            overwrites: self.overwrites()?,
            targets: self.targets.clone(),
            drive: self.drive.clone(),
            path: self.path,
            span_bytes: workloads.iter().map(span).max().unwrap_or(OTHER_SPAN),
            bare: self.bare && workloads.iter().all(bare),
            buffered: self.buffered,
            reads_only: self.changes.reads_only,
            destroy_data: self.destroy_data,
            workloads,
            originals,
            command: self.command.clone(),
        })
    }

    /// The files and devices whose bytes will be lost.
    fn overwrites(&self) -> Result<Vec<PathBuf>, LabError> {
        let drive = match &self.drive {
            Drive::Path(path) if self.targets.iter().any(Target::is_made_here) => Some(path),
            _ => None,
        };
        let named = self.targets.iter().filter(|_| !self.changes.reads_only).filter_map(Target::path);
        let all = drive.map(PathBuf::as_path).into_iter().chain(named);
        let lost = all.filter(|path| self.destroy_data && path.exists() && !path.is_dir());
        let free = |path: &Path| match keyway_sys::uses(path).unwrap_or_default().first() {
            Some(first) => Err(LabError::InUse { what: path.display().to_string(), how: first.to_string() }),
            None => Ok(path.to_owned()),
        };
        lost.map(free).collect()
    }
}

/// A modelled drive does not keep more than a part of what is written to it.
fn fits_a_model(workloads: &[Workload]) -> Result<(), LabError> {
    let large = |is: &dyn Fn(&Procedure) -> bool| {
        workloads.iter().filter(|w| is(&w.kind)).any(|w| w.span_bytes() > Some(MODEL_WINDOW))
    };
    let kept = "a modelled drive keeps 1 GiB of what is written to it: add";
    if large(&|kind| matches!(kind, Procedure::Requests(r) if r.verify)) {
        return Err(LabError::Unsuited(format!("{kept} --size 1G to verify")));
    }
    let in_place =
        |kind: &Procedure| matches!(kind, Procedure::Timed(Timed { operation: Operation::InPlace, .. }));
    if large(&in_place) {
        return Err(LabError::Unsuited(format!(
            "{kept} --scale 0.005 (0.0035 for in-place-used-time) to encrypt in place"
        )));
    }
    Ok(())
}

/// What will be measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExperimentPlan {
    /// Files and devices whose bytes will be lost: their owner is asked first.
    #[serde(with = "keyway_attach::path_text")]
    pub overwrites: Vec<PathBuf>,
    /// What is compared; the first is what the others are held against.
    pub targets: Vec<Target>,
    /// The drive that volumes are made on.
    pub drive: Drive,
    /// How requests reach the volumes.
    pub path: PathKind,
    /// What is done, as it was changed.
    pub workloads: Vec<Workload>,
    /// Bytes of a volume that are touched.
    pub span_bytes: u64,
    /// The drive is measured without our code between as well.
    pub bare: bool,
    /// Requests go through the page cache where a file is read.
    pub buffered: bool,
    /// Nothing is written.
    pub reads_only: bool,
    /// Files and devices that are named may be overwritten.
    pub destroy_data: bool,
    /// The workloads as they were.
    #[serde(skip)]
    pub(crate) originals: Vec<Workload>,
    /// What was asked for, in the front's words.
    pub(crate) command: String,
}
